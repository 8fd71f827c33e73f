"""Which of many sequences break a rule, and where: verdicts by sequence, findings by run.

1. A verdict is a number: the index of the call that breaks the rule, `NOWHERE` where what is
   missing breaks it, `HOLDS`. Beside it may stand a text, what a result keeps as its detail.
2. Runs that lie alike have one position for one index. It is looked up once for all of them, and
   only then spread over the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from trackway_analyzer.batch import Ints
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.columns import Flags
from trackway_analyzer.rules.finding import Violations, detail_text
from trackway_analyzer.rules.shapes import Layouts, Seen
from trackway_analyzer.rules.words import FAR
from trackway_analyzer.stretches import Small

NOWHERE: Final = -1
"""Stands for a rule that is broken by what is missing."""
HOLDS: Final = -2
_NO_DETAIL: Final = -1


@dataclass(frozen=True, slots=True)
class Broken:
    """Which call breaks a rule; None: none of those that were made."""

    index: int | None
    what: str = ""

    @property
    def detail(self) -> dict[str, JsonValue]:
        """What a result keeps of it."""
        return {"what": self.what} if self.what else {}

    @property
    def text(self) -> str | None:
        """The same as text."""
        return detail_text(self.detail)


@dataclass(frozen=True)
class Verdicts:
    """Which of several sequences break a rule, and where."""

    index: Small
    """Of each sequence the call that breaks it, `NOWHERE` or `HOLDS`."""
    detail: Small | None = None
    """Of each sequence, the place of what a result keeps in `details`; -1: nothing."""
    details: Sequence[str] = ()

    @classmethod
    def of(cls, verdicts: Sequence[Broken | None]) -> Verdicts:
        """Put single verdicts together."""
        indices = [
            HOLDS if found is None else NOWHERE if found.index is None else found.index
            for found in verdicts
        ]
        texts = [None if found is None else found.text for found in verdicts]
        listed = list(dict.fromkeys(text for text in texts if text is not None))
        places = {text: place for place, text in enumerate(listed)}
        detail = [_NO_DETAIL if text is None else places[text] for text in texts]
        return cls(np.array(indices, np.int32), np.array(detail, np.int32), listed)

    @classmethod
    def where(cls, broken: Flags, index: Small | int) -> Verdicts:
        """Those that are broken, at an index or at the index of each."""
        return cls(chosen(broken, index, HOLDS))

    @classmethod
    def first(cls, index: Small) -> Verdicts:
        """Broken at the index of each, unless that is `FAR`."""
        return cls.where(index != FAR, index)

    def spread(self, which: Ints, seen: Seen, words: Ints) -> Verdicts:
        """Verdicts on whole sequences, by those on what is seen of them."""
        index = self.index[which]
        there = np.flatnonzero(index >= 0)
        index[there] = seen.places[seen.cuts[words[there]] + index[there]]
        return Verdicts(index, None if self.detail is None else self.detail[which], self.details)

    def but(self, words: Ints, others: Verdicts) -> Verdicts:
        """The same with other verdicts on some sequences."""
        index, detail = self.index.copy(), self._detail.copy()
        index[words] = others.index
        own = others._detail
        detail[words] = np.where(own < 0, own, own + len(self.details))
        return Verdicts(index, detail, (*self.details, *others.details))

    @property
    def _detail(self) -> Small:
        none = np.full(len(self.index), _NO_DETAIL, dtype=np.int32)
        return none if self.detail is None else self.detail

    def found(self, layouts: Layouts, among: Flags | None = None) -> Violations:
        """The runs that break the rule; `among`: of these alone."""
        positions = layouts.place(self.index).take(layouts.of_run)
        broken = positions != HOLDS
        if among is not None:
            broken &= among
        runs = np.flatnonzero(broken)
        details = None
        if self.detail is not None and self.details:
            detail = layouts.of_words(self.detail).take(layouts.of_run.take(runs))
            details = pa.DictionaryArray.from_arrays(
                nullable(detail), pa.array(self.details, pa.string()), safe=False
            )
        return Violations.of(runs, nullable(positions.take(runs)), details)


def chosen(flags: Flags, one: Small | int, other: int) -> Small:
    """The one where a flag is set, else the other. Flags without order make `np.where` slow."""
    found: Small = np.subtract(one, other, dtype=np.int32) * flags + np.int32(other)
    return found


def nullable(values: Small) -> pa.Array:
    """Small integers, null where they are negative."""
    if not len(values) or values.min() >= 0:
        return pa.array(values)
    known = pa.py_buffer(np.packbits(values >= 0, bitorder="little"))
    return pa.Array.from_buffers(pa.int32(), len(values), [known, pa.py_buffer(values)])
