"""Texts that were brought to their form before: models, agents and operations come again.

A short text is known by its JSON literal, so that it is decoded once, not once a span. What is kept
is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from trackway_analyzer.dialects.values import is_placeholder
from trackway_analyzer.model import JsonValue

_SHORT: Final = 128
_MOST: Final = 8192


class Formed(dict[bytes, Any]):
    """JSON literal of a text to the value of a column; a placeholder is none."""

    __slots__ = ("form",)

    def __init__(self, form: Callable[[JsonValue], Any]) -> None:
        super().__init__()
        self.form: Final = form

    def __missing__(self, literal: bytes) -> Any:
        value = orjson.loads(literal)
        formed = None if is_placeholder(value) else self.form(value)
        if len(literal) <= _SHORT:
            if len(self) >= _MOST:
                self.clear()
            self[literal] = formed
        return formed
