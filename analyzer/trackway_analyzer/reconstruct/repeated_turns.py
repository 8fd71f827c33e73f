"""Does a later model step repeat what an earlier one was told and said?

A framework sends the whole dialogue again at every turn. What an output lost can then be read from
a later input, but only from one of the same dialogue: a title, a guardrail or a sub-agent has a
dialogue of its own, and tells nothing of another.

1. An input repeats a turn if it begins with what the turn was told, and goes on behind it. A text
   that was cut agrees as far as it goes.
2. Where the turn's own input is not recorded, it must hold something that the assistant said or
   asked for.
3. Model steps of transcripts hold only what was said since the step before: there, every later
   input goes on from the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from trackway_analyzer.dialects.cut_messages import MARK
from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.gap_rows import Evidence
from trackway_analyzer.reconstruct.messages import ASSISTANT, Item, Messages, Text

_SAID: Final = ASSISTANT - {None}


class Dialogues:
    """Inputs of model steps, each read once, and only where somebody asks."""

    def __init__(self, evidence: Evidence) -> None:
        run, columns = evidence.run, evidence.columns
        self._inputs: pa.ChunkedArray = evidence.steps.column("input")
        self._run = evidence.steps.column("run")
        self._messages = Messages()
        self._items: dict[int, Sequence[Item]] = {}
        self._transcripts = set(np.unique(run[columns.transcribed & (run != NONE)]).tolist())

    def goes_on(self, turn: int, later: int) -> bool:
        """Tell whether the input of a step repeats an earlier one, both by their rows."""
        if self._run[later].as_py() in self._transcripts:
            return True
        told, again = self._read(turn), self._read(later)
        if not told:
            return any(not isinstance(item, Text) or item.role in _SAID for item in again)
        return len(again) > len(told) and _agree(told, again)

    def begins_like(self, turn: int, earlier: int) -> bool:
        """Tell whether the input of a step, of which the end may be cut, begins as an earlier."""
        if self._run[turn].as_py() in self._transcripts:
            return True
        told, before = self._read(turn), self._read(earlier)
        return bool(told and before) and _agree(before, told)

    def _read(self, row: int) -> Sequence[Item]:
        if row not in self._items:
            text = self._inputs[row].as_py()
            self._items[row] = () if text is None else self._messages.read(text)
        return self._items[row]


def _agree(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Tell whether two lists are the same as far as both go."""
    return all(map(_is_same, one, other))


def _is_same(one: Item, other: Item) -> bool:
    if one == other:
        return True
    if not (isinstance(one, Text) and isinstance(other, Text)) or one.role != other.role:
        return False
    cut, whole = (one, other) if MARK in one.text else (other, one)
    return MARK in cut.text and whole.text.startswith(cut.text.partition(MARK)[0])
