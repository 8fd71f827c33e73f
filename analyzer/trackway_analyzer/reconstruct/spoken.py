"""What a stream said in all, whose pieces are no plain text.

1. The pieces are the items of a JSON list, or the `data` of server-sent events.
2. Texts go one after the other; of objects, the texts at one path do (`choices[0].delta.content`),
   path by path in the order of their first text. Numbers and flags are about the stream.
3. Anything else is said as it stands, and so is a stream with a piece that the recorder could not
   read: its name or digest is no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trackway.schema import Trackway
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.recorder_marks import UNREADABLE_MARKS

STREAMED: Final = f'"{Trackway.STREAM_CHUNKS}":'
"""Stands in the attributes of a span whose result came in pieces."""
IN_PIECES: Final = r"^\s*(?:\[|:|(?:data|event|id|retry):)"
"""How output begins that may be one of pieces."""
_BEGINS: Final = re.compile(IN_PIECES)
_END: Final = "[DONE]"
_DEEPEST: Final = 64

_Path = tuple[str | int, ...]


def spoken(output: str) -> str:
    """Return what a streamed output says."""
    if not _BEGINS.match(output) or any(mark in output for mark in UNREADABLE_MARKS):
        return output
    pieces = _events(output) if output.lstrip()[:1] != "[" else parsed(output)
    if not isinstance(pieces, list):
        return output
    said: dict[_Path, list[str]] = {}
    for piece in pieces:
        for path, text in _texts(piece, ()):
            said.setdefault(path, []).append(text)
    return "\n".join("".join(texts) for texts in said.values()) or output


def _events(output: str) -> list[JsonValue] | None:
    """Return the data of server-sent events; None where a line is of something else."""
    pieces: list[JsonValue] = []
    data: list[str] = []
    for line in [*output.splitlines(), ""]:
        field, colon, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            text = "\n".join(data)
            data.clear()
            if text != _END:
                pieces.append(parsed(text) if text[:1] in ("{", "[", '"') else text)
        elif line and not (colon and field in ("", "event", "id", "retry")):
            return None
    return pieces or None


def _texts(value: JsonValue, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Yield each text in a piece, with its path."""
    if isinstance(value, str):
        yield path, value
    elif len(path) >= _DEEPEST:
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _texts(item, (*path, place))
