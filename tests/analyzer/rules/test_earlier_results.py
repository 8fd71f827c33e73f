"""Which earlier result an expression reads at a step, and which things a call is about."""

from __future__ import annotations

from typing import Any

import pytest

from trackway_analyzer.model import Gap
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules.entities import (
    Established,
    Ground,
    established,
    fits,
    ground,
    looked_up,
    sources,
    subjects,
)
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.scope import StepScope
from trackway_analyzer.rules.terms import Hidden, NoSource, Source
from trackway_analyzer.rules.tools import EntitySpec, ToolSpec
from trackway_analyzer.rules.values import ABSENT

MARK = "[redacted:key_name]"
TOOLS = {
    "find": ToolSpec("lookup", EntitySpec("order", "order_id", "$.id")),
    "user": ToolSpec("lookup", EntitySpec("customer")),
    "pay": ToolSpec("mutate", EntitySpec("order", "order_id")),
    "never": ToolSpec(),
}


def find(order: Any, **more: Any) -> dict[str, Any]:
    return {"tool": "find", "arguments": {"order_id": order}, "result": {"id": order}} | more


def pay(order: Any, **more: Any) -> dict[str, Any]:
    return {"tool": "pay", "arguments": {"order_id": order}, "result": "ok"} | more


def evidence_of(*calls: dict[str, Any]) -> Evidence:
    return Evidence.of(trajectory_of(list(calls)).batch, TOOLS)


def seen(name: str, *calls: dict[str, Any]) -> Any:
    """What the last call reads of a name: the row, or why there is none."""
    evidence = evidence_of(*calls)
    found = StepScope(evidence, len(calls) - 1).earlier(name)
    return found.row if isinstance(found, Source) else found


@pytest.mark.parametrize(
    ("name", "calls", "expected"),
    [
        ("find", [find("A"), find("A"), pay("A")], 1),
        ("find", [find("A"), find("B"), pay("A")], 0),
        ("find", [find("B"), pay("A")], NoSource("find")),
        ("find", [pay("A")], NoSource("find")),
        ("find", [find("A", ok=False, error="gone"), pay("A")], NoSource("find")),
        ("find", [find("A", group="g"), pay("A", group="g")], NoSource("find")),
        ("find", [find("A"), {"tool": "find"}, pay("A")], Hidden("not_recorded", 1)),
        ("order", [find("A"), pay("A")], 0),
        ("order", [find("B"), pay("A")], NoSource("order")),
        ("order", [{"tool": "user", "result": {"id": "A"}}, pay("A")], NoSource("order")),
        ("customer", [{"tool": "user", "result": {"id": "U"}}, pay("A")], 0),
        ("never", [find("A"), pay("A")], NoSource("never")),
        ("unknown", [find("A"), pay("A")], None),
        ("other", [{"tool": "other", "result": 1}, find("A"), pay("A")], 0),
        (
            "other",
            [{"tool": "other", "result": 1}, {"tool": "other"}, pay("A")],
            Hidden("not_recorded", 1),
        ),
        ("other", [{"tool": "other", "ok": True}, pay("A")], Hidden("not_recorded", 0)),
        ("pay", [pay("A"), pay("A")], 0),
        ("find", [find(MARK), pay("A")], Hidden("redacted", 0)),
        ("order", [find(MARK), pay("A")], Hidden("redacted", 0)),
        ("find", [find("A"), find(MARK), pay("A")], Hidden("redacted", 1)),
        ("find", [find(MARK), find("A"), pay("A")], 1),
        ("find", [find(MARK), find("B"), pay("A")], Hidden("redacted", 0)),
        ("find", [find("A"), pay(MARK)], Hidden("redacted", 1)),
        ("other", [{"tool": "other", "result": 1}, pay(MARK)], 0),
    ],
)
def test_the_nearest_earlier_result_about_the_same_thing(
    name: str, calls: list[dict[str, Any]], expected: Any
) -> None:
    assert seen(name, *calls) == expected


@pytest.mark.parametrize("name", ["find", "order", "unknown"])
def test_a_hidden_step_may_be_the_one_that_is_read(gapped: Any, name: str) -> None:
    run = gapped([pay("A")], Gap("missing_steps", position=0))
    for tools in (TOOLS, {}):
        scope = StepScope(Evidence.of(run.batch, tools), 0)
        assert scope.earlier(name) == Hidden("missing_steps", 0)
        assert scope.earlier("order_id") is None


def test_a_step_that_is_hidden_afterwards_was_not_read(gapped: Any) -> None:
    run = gapped([pay("A"), pay("A"), pay("A")], Gap("missing_steps", position=2))

    assert StepScope(Evidence.of(run.batch), 0).earlier("find") is None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (find("A"), Established(("A",), frozenset({"A"}))),
        (find(["A", "B"]), (["A", "B"], "A", "B")),
        (find(None), ()),
        ({"tool": "user", "result": {"id": 7}}, (7,)),
        ({"tool": "other", "result": [{"id": 1}, {"id": 2}]}, (1, 2)),
        ({"tool": "other", "result": {"name": "x"}}, ()),
    ],
)
def test_the_ids_that_a_call_returned(call: dict[str, Any], expected: Any) -> None:
    found = established(evidence_of(call), 0)

    if isinstance(expected, Established):
        assert found == expected
    else:
        assert found.values == expected
    assert all(found.has(value) for value in found.values)
    assert not found.has("Z")


def test_ids_that_were_recorded_beside_hidden_content_are_known(run_of: Any) -> None:
    steps = [{"tool": "find", "entity_refs": ["order:A", "order:B"]}, {"tool": "find"}]
    evidence = Evidence.of(run_of(steps), TOOLS)

    assert established(evidence, 0) == Established(("A", "B"), frozenset({"A", "B"}))
    assert established(evidence, 1) == Established((), frozenset(), Hidden("not_recorded", 1))
    assert subjects(evidence, 0, "order_id") == ["A", "B"]
    assert subjects(evidence, 1, "order_id") == Hidden("not_recorded", 1)


def test_the_things_that_a_call_names() -> None:
    evidence = evidence_of(pay("A"), pay(["A", "B"]), {"tool": "pay", "arguments": {"x": 1}})

    assert [subjects(evidence, row, "order_id") for row in range(3)] == [["A"], [["A", "B"]], []]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("a", "a", True), ("a", "b", False), (None, "a", True), ("a", None, True), (None, None, True)],
)
def test_types_that_nobody_told_fit(left: str | None, right: str | None, expected: bool) -> None:
    assert fits(left, right) is expected


def test_what_may_establish_a_thing() -> None:
    other = {"tool": "other", "result": 1}
    evidence = evidence_of(find("A"), pay("A"), {"tool": "user"}, other, find("B"))

    assert sources(evidence, 1, "order") == [0, 3, 4]
    assert sources(evidence, 1, None) == [0, 2, 3, 4]
    assert sources(evidence, 0, "customer") == [2, 3]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([find("A"), pay("A")], Ground(True, "A", 0)),
        ([find("A"), find("A"), pay("A")], Ground(True, "A", 1)),
        ([find("B"), pay("A")], Ground(False, "A")),
        ([find("A", error="gone"), pay("A")], Ground(False, "A", 0)),
        ([find("A", group="g"), pay("A", group="g")], Ground(False, "A", 0)),
        ([find(["A", "B"]), pay(["A", "B"])], Ground(True, ["A", "B"], 0)),
        ([find("A"), find("B"), pay(["A", "B"])], Ground(True, "A", 0)),
        ([find("A"), pay(["A", "B"])], Ground(False, "B")),
        ([find("A"), {"tool": "find", "ok": True}, pay(["A", "B"])], (Hidden, "B")),
        ([find("A"), {"tool": "pay", "arguments": {}}], Ground(False, ABSENT)),
        ([find("A"), {"tool": "pay"}], Ground(Hidden("not_recorded", 1), ABSENT)),
        ([{"tool": "find", "ok": True}, pay("A")], Ground(Hidden("not_recorded", 0), "A")),
    ],
)
def test_where_a_thing_comes_from(calls: list[dict[str, Any]], expected: Any) -> None:
    found = ground(evidence_of(*calls), len(calls) - 1, "order_id", "order")

    if isinstance(expected, Ground):
        assert found == expected
    else:
        assert (type(found.holds), found.value) == expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([find("A"), pay("B")], True),
        ([{"tool": "other", "result": 1}, pay("B")], True),
        ([find("A", error="gone"), pay("B")], False),
        ([pay("A"), pay("B")], False),
        ([pay("B")], False),
        ([find("A", group="g"), pay("B", group="g")], False),
        ([{"tool": "other", "arguments": {}}, pay("B")], Hidden("not_recorded", 0)),
    ],
)
def test_whether_anything_was_looked_up_before(calls: list[dict[str, Any]], expected: Any) -> None:
    assert looked_up(evidence_of(*calls), len(calls) - 1) == expected
