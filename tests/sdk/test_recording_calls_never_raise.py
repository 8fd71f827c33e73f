"""A call that records, given whatever a program holds at run time, never raises into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

import trackway


class Hostile:
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("mine")

    def __len__(self) -> int:
        raise RuntimeError("mine")

    def __str__(self) -> str:
        raise RuntimeError("mine")

    __repr__ = __bool__ = __eq__ = __hash__ = __format__ = __str__  # type: ignore[assignment]


class Leaving:
    def __repr__(self) -> str:
        raise SystemExit

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise SystemExit

    __hash__ = None  # type: ignore[assignment]


def work_in(carrier: Any) -> None:
    with trackway.carried(carrier):
        pass


def take_up(carrier: Any) -> None:
    with trackway.run("again", resume_from=carrier):
        pass


def step_of(kind: Any) -> None:
    with trackway.step("s", kind=kind):
        pass


def step_named(name: Any) -> None:
    with trackway.step(name):
        pass


def run_until(deadline: Any) -> None:
    with trackway.run("t", deadline=deadline):
        pass


CALLS: dict[str, Callable[[Any], object]] = {
    "carried": work_in,
    "run: resume_from": take_up,
    "run: deadline": run_until,
    "step: kind": step_of,
    "step: name": step_named,
    "continuity: required": lambda value: trackway.continuity(value, ["a"]),
    "continuity: present": lambda value: trackway.continuity(["a"], value),
    "wait": lambda value: trackway.wait(value, deadline=value, resume_token=value),
    "effect": lambda value: trackway.effect(value, operation_id=value, entity=value),
    "context": lambda value: trackway.context(value, value),
    "decision": lambda value: trackway.decision(value, value, value),
    "outcome": lambda value: trackway.outcome(value, value, value, value),
    "final": lambda value: trackway.final(value, value, value),
}
VALUES = [
    None,
    5,
    "x",
    b"x",
    [],
    {},
    {"trackway-run": 5, "traceparent": 7},
    object(),
    Hostile(),
    10**5000,
]
VALUES += [[Hostile()], Leaving(), [Leaving()]]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("value", [*VALUES, datetime.min], ids=lambda value: type(value).__name__)
def test_no_value_raises(call: str, value: Any, recorded: Any) -> None:
    CALLS[call](value)
    with trackway.run("t"):
        CALLS[call](value)


def counted(call: str, value: Any) -> dict[str, int]:
    before = trackway.capture_errors()
    with trackway.run("t"):
        CALLS[call](value)
    after = trackway.capture_errors()
    return {place: n - before.get(place, 0) for place, n in after.items() if n != before.get(place)}


def test_what_is_no_carrier_is_counted_and_none_is_not(recorded: Any) -> None:
    assert counted("carried", None) == counted("carried", {}) == {}
    assert counted("carried", "x") == counted("run: resume_from", 5) == {"carrier": 1}


def test_an_unknown_kind_is_counted_and_recorded_as_other(recorded: Any) -> None:
    assert counted("step: kind", "zz") == {"step: kind": 1}
    assert recorded.tool("s").attributes["trackway.step.kind"] == "other"


def test_a_name_that_is_no_text_is_told_as_far_as_it_can_be(recorded: Any) -> None:
    assert counted("step: name", 7) == {}
    assert counted("step: name", Leaving()) == {"step: name": 1}
    assert {"execute_tool 7", "execute_tool Leaving"} <= {
        name.replace(f"{__name__}.", "") for name in recorded.names
    }


def test_an_argument_may_have_any_name(recorded: Any) -> None:
    with trackway.run("t", self=2), trackway.step("x", self=1):
        pass
    assert recorded.arguments("x") == {"self": 1}
    assert recorded.one("run t").attributes["trackway.fingerprint.self"] == "2"


def test_what_nobody_says_of_continuity_is_absent(recorded: Any) -> None:
    with trackway.run("t"):
        trackway.continuity(required=None, present=["a"])
    (event,) = recorded.one("run t").events
    assert dict(event.attributes) == {"present": '["a"]'}
