"""Attributes as a file wrote them: each text stays a JSON literal until somebody asks for it.

Most of what a span carries is stored and never looked at, and most of the time of reading JSON goes
into texts. So a text is kept as its literal (bytes, with its quotes), is decoded on first access,
and is copied as it stands into the span table.

1. To everybody but `literal` this is a plain dict of decoded values, to be read, not written to.
2. `text` is the JSON object of all attributes, as `json_text.compact` would write it: literals are
   in the form in which `orjson` writes them (`is_written`), so that to decode and encode them again
   would change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import orjson

from trackway_analyzer.model import JsonValue

_ESCAPES: Final = tuple(int.from_bytes(pair, "little") for pair in (rb"\u", rb"\/"))
"""Escapes that JSON allows and `orjson` does not write, but for control characters."""


def is_written(json: bytes) -> bool:
    """Tell whether every text of a valid JSON document is escaped as `orjson` would escape it."""
    codes = np.frombuffer(json, np.uint8)
    for start in (0, 1):
        pairs = np.frombuffer(json, "<u2", (len(json) - start) // 2, start)
        for escape in _ESCAPES:
            found = pairs == escape
            if found.any():
                places = 2 * np.flatnonzero(found) + start
                before = codes[places - 1] == _BACKSLASH  # no document begins with a backslash
                if not before.all():
                    return False
                several = places[codes[places - 2] == _BACKSLASH]
                if any(_is_escape(json, int(place)) for place in several):
                    return False
    return True


def _is_escape(json: bytes, place: int) -> bool:
    """Tell whether the backslash at a place is not itself escaped."""
    before = place
    while before > 0 and json[before - 1] == _BACKSLASH:
        before -= 1
    return (place - before) % 2 == 0


_BACKSLASH: Final = 0x5C


class WrittenAttributes(dict[str, JsonValue]):
    """Attributes whose texts are decoded when they are asked for."""

    __slots__ = ("names", "text")

    def __init__(self, values: dict[str, Any], names: tuple[str, ...], text: bytes) -> None:
        super().__init__(values)
        self.names: Final = names
        """The keys, in order."""
        self.text: Final = text
        """The JSON object of all of them."""

    def literal(self, name: str) -> Any:
        """Return the JSON literal of a text that nobody asked for yet, else the value."""
        return dict.get(self, name)

    def __getitem__(self, name: str) -> JsonValue:
        value: Any = dict.__getitem__(self, name)
        if value.__class__ is bytes:
            value = orjson.loads(value)
            dict.__setitem__(self, name, value)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """As `dict.get`."""
        value: Any = dict.get(self, name, default)
        if value.__class__ is bytes:
            value = orjson.loads(value)
            dict.__setitem__(self, name, value)
        return value

    def __iter__(self) -> Iterator[str]:
        # What is no dict's own iterator keeps dict(...) and {**...} from taking the literals.
        return iter(self.names)

    def items(self) -> Any:
        """As `dict.items`."""
        return self._decoded().items()

    def values(self) -> Any:
        """As `dict.values`."""
        return self._decoded().values()

    def copy(self) -> dict[str, JsonValue]:
        """As `dict.copy`."""
        return self._decoded()

    def __or__(self, other: Any) -> Any:
        return self._decoded() | other

    def __ror__(self, other: Any) -> Any:
        return other | self._decoded()

    def __eq__(self, other: object) -> bool:
        return self._decoded() == other

    __hash__ = None

    def _decoded(self) -> dict[str, JsonValue]:
        return {name: self[name] for name in self.names}
