"""Calls that a run is expected to make, and whether a call is one of them.

1. A call is expected as a tool's name, as a dict with `tool`, `arguments` and `ok`, or as an
   `ExpectedCall`. A list of these is a group without order.
2. `matches(actual, expected)` is asked in this direction only. `exact`: the arguments are the
   expected ones. `subset`: every expected argument is there with its value, at every depth; more
   may be. `ignore`: the tool alone counts. A call without `arguments` expects any.
3. A value may be expected as a function of the actual value: true means that it fits.
4. `ok` true asks for a call that took effect, false for one that did not. Without it a call will do
   that did not fail; where nobody knows whether it failed, nobody knows whether it will do.
5. Nobody knows whether a call fits whose arguments were not recorded or were cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from trackway_analyzer.json_text import canonical
from trackway_analyzer.model import NOT_RECORDED, JsonValue, NotRecorded
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.field_kinds import check_kinds
from trackway_analyzer.rules.pattern import one_of
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.rules.values import ABSENT, Absent, same

How: TypeAlias = Literal["exact", "subset", "ignore"]
HOW: Final = ("exact", "subset", "ignore")

Predicate: TypeAlias = Callable[[JsonValue], object]
Expectation: TypeAlias = "ExpectedCall | Mapping[str, Any] | str"
Group: TypeAlias = "tuple[ExpectedCall, ...]"


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One expected call; see the rules above."""

    tool: str
    arguments: JsonValue | NotRecorded = NOT_RECORDED
    ok: bool | None = None
    known: bool = True
    """False: a reference run made this call with arguments that were not recorded."""

    @classmethod
    def of(cls, given: object) -> ExpectedCall:
        """Read a tool's name or a dict. Raises ValueError or TypeError for anything else."""
        if isinstance(given, ExpectedCall):
            return given
        if isinstance(given, str):
            check_kinds(cls, (given,), {})
            return cls(given)
        if not isinstance(given, Mapping):
            raise TypeError(f"expected a call as a dict or a tool's name, found {given!r}")
        known = ("tool", "arguments", "ok")
        for key in given:
            one_of(key, known, "key")
        if "tool" not in given:
            raise ValueError(f"an expected call needs `tool`, found {sorted(given)}")
        check_kinds(cls, (), given)
        return cls(**given)

    @property
    def text(self) -> str | None:
        """The arguments as canonical JSON; None: any will do, or a predicate decides."""
        if isinstance(self.arguments, NotRecorded) or _has_predicate(self.arguments):
            return None
        return canonical(self.arguments)


def groups_of(calls: Iterable[Expectation | Iterable[Expectation]]) -> tuple[Group, ...]:
    """Read expected calls; a list or tuple among them is a group without order.

    Raises TypeError or ValueError for what is no list of calls.
    """
    if isinstance(calls, (str, Mapping)) or not isinstance(calls, Iterable):
        raise TypeError(f"expected a list of calls, found {calls!r}")
    return tuple(
        tuple(ExpectedCall.of(call) for call in given)
        if isinstance(given, (list, tuple))
        else (ExpectedCall.of(given),)
        for given in calls
    )


def matches(actual: JsonValue | Absent, expected: JsonValue | Predicate, how: How) -> bool:
    """Whether an actual value is an expected one; never asked the other way round."""
    if callable(expected):
        return actual is not ABSENT and bool(expected(actual))
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping) or (how == "exact" and actual.keys() - expected.keys()):
            return False
        return all(
            matches(actual.get(key, ABSENT), wanted, how) for key, wanted in expected.items()
        )
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return False
        return all(matches(*pair, how) for pair in zip(actual, expected, strict=True))
    return actual is not ABSENT and same(actual, expected)


def fit(evidence: Evidence, row: int, expected: ExpectedCall, how: How) -> bool | None:
    """Whether a call of the record is the expected one; None: a gap hides it."""
    if evidence.tool[row] != expected.tool:
        return False
    truths = (_succeeded(evidence, row, expected), _fitting(evidence, row, expected, how))
    if False in truths:
        return False
    return None if None in truths else True


def _succeeded(evidence: Evidence, row: int, expected: ExpectedCall) -> bool | None:
    ok = evidence.ok[row]
    return None if ok is None else ok is (expected.ok is not False)


def _fitting(evidence: Evidence, row: int, expected: ExpectedCall, how: How) -> bool | None:
    if how == "ignore":
        return True
    if isinstance(expected.arguments, NotRecorded):
        return True if expected.known else None
    source = evidence.arguments(row)
    if isinstance(source, Hidden) or source.cut is not None or source.redacted is not None:
        return None
    return matches(source.value, expected.arguments, how)


def first_difference(
    actual: JsonValue, expected: JsonValue, how: How
) -> tuple[str, JsonValue | Absent, Any] | None:
    """Argument, actual and expected value of the first argument that does not fit."""
    if not isinstance(actual, Mapping) or not isinstance(expected, Mapping):
        return None if matches(actual, expected, how) else ("arguments", actual, expected)
    for name, wanted in expected.items():
        found = actual.get(name, ABSENT)
        if not matches(found, wanted, how):
            return name, found, wanted
    more = [name for name in actual if name not in expected]
    return (more[0], actual[more[0]], ABSENT) if more and how == "exact" else None


def _has_predicate(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_predicate(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_has_predicate(item) for item in value)
    return callable(value)
