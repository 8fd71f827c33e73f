"""The registry as tables of the documentation: written from the rows, so that they can't differ."""

from __future__ import annotations

from trackway.instrument.library import Library, Way
from trackway.instrument.registry import LIBRARIES


def registry_table() -> str:
    """Return one Markdown row a library: what records it, what that shows, and why this one."""
    lines = ["| `instrument(…)` | recorded by | shows | why this one |", "|---|---|---|---|"]
    lines += [_row(library) for library in LIBRARIES]
    return "\n".join(lines)


def alternatives_table() -> str:
    """Return one Markdown row a way that is taken only where the first one is not installed."""
    lines = ["| `instrument(…)` | else by | which |", "|---|---|---|"]
    for library in LIBRARIES:
        lines += [f"| `{library.name}` | {_by(way)} | {way.why} |" for way in library.ways[1:]]
    return "\n".join(lines)


def _row(library: Library) -> str:
    first = library.ways[0]
    why = f"{first.why} {library.note}".strip()
    return f"| `{library.name}` | {_by(first)} | {library.records} | {why} |"


def _by(way: Way) -> str:
    versions = ""
    if way.since != "0":
        versions = f" (from {way.since})"
    if way.before is not None:
        versions = f" (before {way.before})"
    label = "its own spans" if way.is_native else f"`{way.distribution}`"
    return f"{label}{versions}"
