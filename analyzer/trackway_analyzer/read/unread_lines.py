"""Lines of a session of a kind that nobody knows: the words in them may name a tool.

1. What in them has the form of a call is a hole of the session (`call_shapes`).
2. Of everything else the words are kept that may name a tool (`names_held`), but for the tools that
   the session calls where everybody can see it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from trackway_analyzer.read.names_held import bounded_names, last_part, names_held
from trackway_analyzer.read.quarantine import Quarantine, Reason

_DETAIL: Final = "lines of a session, of kinds that nobody knows"
_FIXED: Final = frozenset(
    ["uuid", "parentUuid", "sessionId", "timestamp", "cwd", "gitBranch", "version", "userType"]
)
"""Members of every line, which hold no call."""


def tell_of_unread_lines(
    lines: Iterable[Mapping[str, Any]], called: Collection[str], quarantine: Quarantine
) -> None:
    """Keep the words of lines that nobody reads."""
    found: set[str] = set()
    count = 0
    for line in lines:
        rest = {key: value for key, value in line.items() if key not in _FIXED}
        names = {n for n in names_held(rest) if not {n, last_part(n)} & set(called)}
        found |= names
        count += bool(names)
    if found:
        quarantine.add(Reason.UNREAD_WORDS, _DETAIL, count=count, names=bounded_names(found))


def names_called(value: Any) -> set[str]:
    """Return the names of the tools that parts of messages ask for."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            name = node.get("name")
            if isinstance(name, str) and str(node.get("type")).endswith(("use", "call")):
                found.add(name)
    return found
