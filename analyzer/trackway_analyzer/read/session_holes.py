"""What a session names and does not hold, in words (`reconstruct.named_holes`).

1. A call that nobody answered may have run: the session was cut off, or waits for a person. Nobody
   knows what came of it, and where it starts a sub-agent or asks in a form that nobody knows, not
   what it did either.
2. A fork lacks what it copied: that counts in the session that it was forked from.
"""

from __future__ import annotations

from trackway_analyzer.read.session_spans import Hole


def unanswered_hole(
    tool: str, call_id: str | None, unknown: str | None, *, starts_agent: bool
) -> Hole:
    """Return the hole that a call leaves which nobody answered; `unknown` names its form."""
    if unknown is not None:
        return {"what": f"what came of {tool}, {unknown}"}
    if starts_agent:
        return {"what": f"what the sub-agent did that {tool} started, which nobody answered"}
    return {"what": "asked for, and nobody answered", "call": call_id or ""}


def forked_hole(session: str | None) -> Hole:
    """Return the hole at the beginning of a fork."""
    return {"what": f"what came before the session was forked from {session}"}
