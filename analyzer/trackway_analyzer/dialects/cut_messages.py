"""Messages whose JSON text ends in the middle: which of them are whole?

SDKs and stores cut a long attribute at a number of characters, wherever that falls.

1. A text is cut if it begins as a JSON list or object, is JSON as far as it goes, and ends before
   its end. Any other text that is no JSON is a text.
2. The whole items of the innermost list of messages or parts that is open at the cut are taken, and
   what stands before them. An object or text in which the cut falls is left out.
3. Of what a model said, the recorder's mark of a cut stands behind what is whole: what it does not
   say it may have said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.json_text import MAX_PARSED, parsed
from trackway_analyzer.model import JsonValue

_TOKEN: Final = re.compile(
    r'\s*(?:("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")'
    r"|([{}\[\]:,])|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d.eE+-])|true|false|null"
    r"|NaN|-?Infinity))"
)
_REST: Final = re.compile(
    r'\s*(?:"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*(?:\\(?:u[0-9a-fA-F]{0,3})?)?'
    r"|-?[\d.eE+-]*|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|N(?:a)?|-?I[a-z]*)\Z"
)
"""What may stand before the cut after the last whole token."""
_HOLDS: Final = frozenset(
    [
        *("messages", "message", "choices", "generations", "contents", "candidates", "output"),
        *("content", "new_message", "parts", "tool_calls", "data", "kwargs", "prompts"),
    ]
)
"""Keys on the way to messages and their parts."""
_OUTERMOST: Final = _HOLDS | {"input", "inputs", "outputs", "request", "response"}
_BEGINS: Final = re.compile(r'\s*(?:\{\s*"|\[\s*[\[{"])')
_MOST_DEPTH: Final = 64


MARK: Final = "…[truncated]"
"""The recorder's mark of a cut, of an unknown length."""


class Cut(NamedTuple):
    """A JSON value of which only a part is there."""

    value: JsonValue
    """What is whole; None where nothing is."""


def json_or_cut(value: JsonValue) -> JsonValue | Cut:
    """Decode a value that may be JSON in a text, as `json_of`, whole or cut."""
    decoded = json_of(value)
    cut = cut_of(decoded) if isinstance(decoded, str) else None
    return decoded if cut is None else cut


def inside(take: Callable[[JsonValue], JsonValue]) -> Callable[[JsonValue], JsonValue | Cut]:
    """Return a function that takes messages out of a JSON object with another, whole or cut."""

    def taken(value: JsonValue) -> JsonValue | Cut:
        found = json_or_cut(value)
        return Cut(take(found.value)) if isinstance(found, Cut) else take(found)

    return taken


def cut_of(text: str) -> Cut | None:
    """Return what is whole of a JSON text that ends in the middle; None for any other text.

    The text must be known not to be JSON.
    """
    if not _BEGINS.match(text) or len(text) > MAX_PARSED:
        return None
    outline = _Outline()
    place = 0
    while (token := _TOKEN.match(text, place)) is not None:
        place = token.end()
        if not outline.take(token[1], token[2], place):
            return None
        if not outline.open:
            return None
    if not _REST.match(text, place):
        return None
    if outline.whole is None:
        return Cut(None)
    end, closers = outline.whole
    return Cut(parsed(text[:end] + closers))


class _Open(NamedTuple):
    closer: str
    leads: bool
    """Whether messages or their parts may stand in it."""


class _Outline:
    """What is open at a place of a JSON text, and where the last whole item ended."""

    def __init__(self) -> None:
        self.open: list[_Open] = []
        self.whole: tuple[int, str] | None = None
        self._key: str | None = None
        self._wants = "value"

    def take(self, text: str | None, sign: str | None, end: int) -> bool:
        """Take a token in; False where no JSON has it there."""
        wants = self._wants
        if sign == ",":
            if wants != "next":
                return False
            self._wants = "key" if self.open[-1].closer == "}" else "value"
            return True
        if sign == ":":
            self._wants = "value"
            return wants == "colon"
        if sign is not None and sign in "}]":
            closes = wants == "next" or wants == f"first {sign}"
            if not closes or self.open[-1].closer != sign:
                return False
            self.open.pop()
            self._ended(end)
            return True
        if wants == "key" or wants == "first }":
            if text is None:
                return False
            self._key, self._wants = text[1:-1], "colon"
            return True
        if wants not in ("value", "first ]"):
            return False
        if sign is not None:
            return self._opened("}" if sign == "{" else "]")
        self._ended(end)
        return True

    def _opened(self, closer: str) -> bool:
        above = self.open[-1] if self.open else None
        known = _OUTERMOST if len(self.open) == 1 else _HOLDS
        leads = above is None or (above.leads and (above.closer == "]" or self._key in known))
        self.open.append(_Open(closer, leads))
        self._wants = f"first {closer}"
        return len(self.open) <= _MOST_DEPTH

    def _ended(self, end: int) -> None:
        self._wants = "next"
        if self.open and self.open[-1].leads and self.open[-1].closer == "]":
            self.whole = end, "".join(level.closer for level in reversed(self.open))


def cut_calls(calls: Any) -> JsonValue:
    """Return the calls of a list that may be cut, and of one that is, a call without a name."""
    found = json_or_cut(calls)
    if not isinstance(found, Cut):
        return found
    whole = found.value if isinstance(found.value, list) else []
    return [*whole, {}]
