"""What a value of an argument should be, and what to say where it is something else.

A value that was cut or redacted is hidden, not wrong; a path that yields nothing is a mismatch,
unless what stood there may have been cut away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.values import (
    is_number,
    lacking,
    reader,
    same,
    shown,
    type_name,
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What is wrong with one argument."""

    text: str
    expected: JsonValue = None
    got: JsonValue = None


Verdict = Mismatch | Hidden | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a value should be: in words, as a value, and whether one is."""

    text: str
    value: JsonValue
    fits: Callable[[JsonValue], bool]
    types: frozenset[str]
    """Types that a value may have; another type is named beside the value."""

    @classmethod
    def equal(cls, value: JsonValue) -> Wanted:
        """Just this value."""
        return cls(shown(value), value, partial(same, value), frozenset({type_name(value)}))

    @classmethod
    def like(cls, pattern: str) -> Wanted:
        """A text in which a pattern is found."""
        search = regex(pattern).search
        return cls(
            f"a text like {pattern}",
            pattern,
            lambda v: isinstance(v, str) and bool(search(v)),
            frozenset({"text"}),
        )

    @classmethod
    def listed(cls, values: Iterable[JsonValue]) -> Wanted:
        """One of these values."""
        listed = list(values)
        return cls(
            " or ".join(map(shown, listed)),
            listed,
            lambda v: any(same(v, item) for item in listed),
            frozenset(map(type_name, listed)),
        )

    @classmethod
    def near(cls, number: float, tolerance: float) -> Wanted:
        """A number, give or take."""
        return cls(
            f"{shown(number)} ± {shown(tolerance)}",
            number,
            lambda v: is_number(v) and abs(_exact(v) - _exact(number)) <= _exact(tolerance),
            frozenset({"number"}),
        )

    def judged(self, source: Source, path: str) -> Iterator[Verdict]:
        """Judge each value at a path; none is a mismatch of its own."""
        values = reader(path)(source.value)
        if not values or lacking(source.value, path):
            where = f"{path} absent" if not values else f"{path} absent in one of its elements"
            yield source.lost or Mismatch(f"{where}, expected {self.text}", self.value)
        for value in values:
            hidden = source.hides(value)
            if hidden is not None:
                yield hidden
            elif not self.fits(value):
                yield Mismatch(f"{path} {self._beside(value)}", self.value, value)

    def _beside(self, value: JsonValue) -> str:
        kind = type_name(value)
        beside = "" if kind in self.types or kind in ("null", "object", "list") else f" ({kind})"
        return f"{shown(value)}{beside}, expected {self.text}"


def _exact(number: float) -> Fraction:
    """A number as it is written: of binary fractions, 1.1 is more than 1 and 0.1."""
    return Fraction(str(number))


def regex(pattern: str) -> re.Pattern[str]:
    """Compile a pattern. Raises ValueError that says what is wrong with it."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
