"""Any recorded value, on one short line.

1. Text stands as it is, JSON stands as JSON; line breaks become spaces.
2. What does not fit ends in `…`; nothing is cut silently.
3. A value that the record does not hold reads `not recorded`, which no recorded value can print:
   a recorded text is in quotes, a recorded null is `null`.
4. Control characters print as their escape: a trace cannot paint the reader's terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from trackway_analyzer.model import JsonValue, NotRecorded

ELLIPSIS: Final = "…"
_NOT_RECORDED: Final = "not recorded"
_LEAST_WIDTH: Final = 30


def one_line(text: str) -> str:
    """Replace line breaks and runs of blanks by one space, control characters by their escape."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in joined)


def cut(text: str, width: int) -> str:
    """Cut a line to `width` characters, the last one an ellipsis where something is missing."""
    if len(text) <= width:
        return text
    return text[: max(width - 1, 0)].rstrip(f" {ELLIPSIS}") + ELLIPSIS


def value_text(value: JsonValue | NotRecorded, width: int) -> str:
    """One recorded value as JSON of at most `width` characters."""
    if isinstance(value, NotRecorded):
        return _NOT_RECORDED
    return cut(one_line(_json(value)), width)


def arguments_text(arguments: JsonValue | NotRecorded, width: int) -> str:
    """The arguments of a call as `name=value, …`, at most `width` characters."""
    if isinstance(arguments, NotRecorded):
        return _NOT_RECORDED
    if not isinstance(arguments, Mapping):
        return value_text(arguments, width)
    share = max(width // max(len(arguments), 1), _LEAST_WIDTH)
    parts = [f"{one_line(str(name))}={value_text(v, share)}" for name, v in arguments.items()]
    return cut(", ".join(parts), width)


def _json(value: JsonValue) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return json.dumps(value, ensure_ascii=False, default=str)
