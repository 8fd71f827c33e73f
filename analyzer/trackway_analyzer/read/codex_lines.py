"""Lines of Codex's sessions: how one is told, what it holds, which of them a fork copied."""

from __future__ import annotations

from typing import Any, Final

from trackway_analyzer.dialects.values import text
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.read.foreign_values import time_of
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_copies import Copies

Line = dict[str, Any]
Unpacked = tuple[str, Line, int | None]
"""The kind of a line, what it holds, and its time."""

_ENVELOPES: Final = frozenset(
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"]
)
HEADS: Final = ("session_meta", "turn_context", "state")
"""Kinds of the lines that tell of the session, not of what it did."""
_BARE_HEAD: Final = frozenset(["id", "timestamp", "instructions", "git", "cwd"])


def begins_codex(document: Any) -> bool:
    """Tell whether a document is a line of a session."""
    if not isinstance(document, dict):
        return False
    if isinstance(document.get("payload"), dict):
        kind = document.get("type")
        return isinstance(kind, str) and kind in _ENVELOPES
    return "record_type" in document or _is_bare_head(document)


def _is_bare_head(line: Line) -> bool:
    """Tell the head of a session of before the envelope."""
    if not line.keys() >= {"id", "timestamp"}:
        return False
    return "instructions" in line or line.keys() <= _BARE_HEAD


def unpacked_line(line: Line) -> Unpacked:
    """Return the kind of a line, what it holds, and its time."""
    time, payload = time_of(line.get("timestamp")), line.get("payload")
    if isinstance(payload, dict):
        return str(text(line.get("type"))), payload, time
    if "record_type" in line:
        return "state", line, time
    return ("session_meta" if _is_bare_head(line) else "response_item"), line, time


def without_copies(
    lines: list[Unpacked], copies: Copies, quarantine: Quarantine
) -> list[Unpacked] | None:
    """Return the lines that a session did not copy; None where nothing is its own."""
    metas = [payload for kind, payload, _ in lines if kind == "session_meta"]
    meta = metas[0] if metas else {}
    session, original = text(meta.get("id")), text(meta.get("forked_from_id")) or None
    places = [place for place, line in enumerate(lines) if line[0] == "response_item"]
    items = [signature_of(lines[place]) for place in places]
    count = copies.copied(session or "", original, items, quarantine.file)
    if not count:
        return lines
    if count == len(items):
        quarantine.add(Reason.EMPTY_FILE, f"every item is a copy of one of the session {original}")
        return None
    # What the events behind the last copied item tell belongs to it, up to the next item.
    heads = [line for line in lines[: places[count]] if line[0] in HEADS]
    return [*heads, *lines[places[count] :]]


def signature_of(line: Unpacked) -> str:
    """Return what a line holds, as a text."""
    try:
        return compact(line[1])
    except UnencodableError:
        return line[0]
