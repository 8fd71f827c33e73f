"""Is there a value that meets all demands made of one argument?

A path that is demanded has at least one value, and each of its values meets every demand: one that
is listed by some demand must meet the others, ranges must overlap, and what must be absent may not
be demanded. Two paths that are written differently are not held against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trackway_analyzer.rules.values import shown
from trackway_analyzer.rules.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Demands:
    """What some calls' arguments must be, by path."""

    equals: Mapping[str, Any] = field(default_factory=dict)
    one_of: Mapping[str, Iterable[Any]] = field(default_factory=dict)
    within: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    regex: Mapping[str, str] = field(default_factory=dict)
    absent: Iterable[str] = ()

    def at(self, path: str) -> list[tuple[Wanted, list[Any] | None]]:
        """What is demanded at a path, each with the only values that meet it, where it has some."""
        found: list[tuple[Wanted, list[Any] | None]] = []
        if path in self.equals:
            found.append((Wanted.equal(self.equals[path]), [self.equals[path]]))
        if path in self.one_of:
            found.append((Wanted.listed(self.one_of[path]), list(self.one_of[path])))
        if path in self.within:
            found.append((Wanted.near(*self.within[path]), None))
        if path in self.regex:
            found.append((Wanted.like(self.regex[path]), None))
        return found

    @property
    def paths(self) -> list[str]:
        """Paths at which something is demanded."""
        return list(dict.fromkeys((*self.equals, *self.one_of, *self.within, *self.regex)))


def clash(*demands: Demands) -> str | None:
    """Why no arguments meet all these demands; None: some may."""
    absent = {path for one in demands for path in one.absent}
    for path in dict.fromkeys(path for one in demands for path in one.paths):
        wanted = [pair for one in demands for pair in one.at(path)]
        texts = " and ".join(dict.fromkeys(one.text for one, _ in wanted))
        if path in absent:
            return f"{path} must be {texts}, and must be absent"
        listed = next((values for _, values in wanted if values is not None), None)
        if listed is not None:
            if not any(all(one.fits(value) for one, _ in wanted) for value in listed):
                return f"{path} must be {texts}"
        elif reason := _apart([one.within[path] for one in demands if path in one.within]):
            return f"{path} must be {reason}"
    return None


def _apart(ranges: list[tuple[float, float]]) -> str | None:
    """Say that no number is within all ranges."""
    lows = [number - tolerance for number, tolerance in ranges]
    highs = [number + tolerance for number, tolerance in ranges]
    if not ranges or max(lows) <= min(highs):
        return None
    return " and ".join(f"{shown(number)} ± {shown(tolerance)}" for number, tolerance in ranges)
