"""How often do messages mention calls, answers and errors? Told without parsing them.

The input of a model step repeats the one before it and adds to it. So only what is new is searched.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from trackway_analyzer.reconstruct.messages import CALL_MARK

_CALL: Final = '"tool_call"'
_ANSWER: Final = '"tool_call_response"'
_ERROR: Final = '"is_error"'


class Marks(NamedTuple):
    """How often something is mentioned."""

    mentions: int = 0
    """Of calls or answers."""
    calls: int = 0
    answers: int = 0
    errors: int = 0
    """Of answers that are errors or say that they are none."""

    def and_in(self, text: str, start: int) -> Marks:
        """Add what a text mentions from `start` on."""
        mentions = text.count(CALL_MARK, start)
        calls = text.count(_CALL, start) if mentions else 0
        answers = text.count(_ANSWER, start) if mentions else 0
        errors = text.count(_ERROR, start)
        return Marks(
            self.mentions + mentions,
            self.calls + calls,
            self.answers + answers,
            self.errors + errors,
        )


_NOTHING: Final = Marks()


class Heard:
    """Marks of inputs, each after the one before it of the same listener."""

    def __init__(self) -> None:
        self._before: dict[Hashable, tuple[str, Marks]] = {}

    def marks(self, text: str | None, listener: Hashable) -> Marks:
        """Return what an input mentions."""
        if text is None:
            return _NOTHING
        body, known = self._before.get(listener, ("", _NOTHING))
        if not text.startswith(body):
            body, known = "", _NOTHING
        found = known.and_in(text, len(body))
        if text.endswith("}]"):  # no mark holds the sign at which the next input goes on
            self._before[listener] = (text[:-1], found)
        return found
