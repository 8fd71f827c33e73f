"""A streamed result, put together again from its pieces.

Pieces are kept up to a bound, so that an endless stream costs bounded memory; what came after is
counted, and the whole is cut. A stream of texts becomes one text, any other a list.
"""

from __future__ import annotations

from typing import Any, Final

from trackway.fields import text_of

MAX_ITEMS: Final = 10_000
MAX_CHARACTERS: Final = 1 << 20


class Collector:
    """Pieces of one stream."""

    __slots__ = ("_characters", "_items", "_left_out", "count")

    def __init__(self) -> None:
        self.count = 0
        self._items: list[Any] = []
        self._characters = 0
        self._left_out = False

    def add(self, item: Any) -> None:
        """Take one piece."""
        self.count += 1
        if len(self._items) < MAX_ITEMS and self._characters < MAX_CHARACTERS:
            text = text_of(item)
            self._items.append(item if text is None else text)
            self._characters += 0 if text is None else len(text)
        else:
            self._left_out = True

    @property
    def cut(self) -> bool:
        """Whether pieces came after the bound."""
        return self._left_out

    def result(self) -> Any:
        """Return the whole: a text, or a list."""
        if self._items and all(type(item) is str for item in self._items):
            return "".join(self._items)
        return self._items
