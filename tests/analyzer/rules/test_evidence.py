"""What rules look at: orders of steps, what gaps hide, who succeeded, recorded events."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.recorded_events import Effect
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.tools import ToolSpec


def gap(name: str, position: int | None = None) -> dict[str, Any]:
    return {"name": name, "position": position, "count": None, "detail": None}


def text(value: Any) -> str:
    return orjson.dumps(value).decode()


@pytest.mark.parametrize(
    ("name", "position", "hidden"),
    [
        ("missing_steps", None, "every place"),
        ("tools_not_observable", None, "every place"),
        ("instrumentation_lost", None, "every place"),
        ("unfinished_span", None, "every place"),
        ("missing_steps", 1, {(-1, 1), (-1, 2), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (-1, 3)}),
        ("unfinished_span", 1, {(-1, 2), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (-1, 3)}),
        ("content_off", None, set()),
        ("clock_skew", None, set()),
        ("truncated_value", 1, set()),
    ],
)
def test_between_which_places_a_gap_may_hide_a_step(
    run_of: Any, name: str, position: int | None, hidden: Any
) -> None:
    evidence = Evidence.of(run_of([{"tool": "a"}] * 3, gaps=[gap(name, position)]))
    places = [(after, before) for after in range(-1, 3) for before in range(after + 1, 4)]
    found = {place for place in places if evidence.hides_step(0, *place)}

    assert found == (set(places) if hidden == "every place" else hidden)
    if found:
        assert evidence.hides_step(0) == Hidden(name, position)


def test_the_first_gap_that_may_hide_a_step_is_named(run_of: Any) -> None:
    gaps = [gap("content_off"), gap("missing_steps", 0), gap("unfinished_span", 1)]
    evidence = Evidence.of(run_of([{"tool": "a"}] * 3, gaps=gaps))

    assert evidence.hides_step(0) == Hidden("missing_steps", 0)
    assert evidence.hides_step(0, after=1) == Hidden("unfinished_span", 1)
    assert [g.name for g in evidence.absence(0)] == ["missing_steps", "unfinished_span"]


def test_a_run_of_which_nothing_was_recorded_has_a_gap_of_its_own(run_of: Any) -> None:
    assert Evidence.of(run_of([], spans=0)).hides_step(0) == Hidden("no_trace")
    assert Evidence.of(run_of([], spans=None)).hides_step(0) == Hidden("no_trace")
    assert Evidence.of(run_of([], spans=1)).hides_step(0) is None
    assert Evidence.of(run_of([], spans=0, final_text="")).hides_step(0) is None
    assert Evidence.of(run_of([{"tool": "a"}], spans=0)).hides_step(0) is None


@pytest.mark.parametrize(
    ("name", "blurred"),
    [
        ("content_off", False),
        ("missing_tokens", False),
        ("missing_cost", False),
        ("capture_error", False),
        ("missing_steps", True),
        ("truncated_value", True),
        ("clock_skew", True),
    ],
)
def test_which_gaps_blur_a_run(run_of: Any, name: str, blurred: bool) -> None:
    evidence = Evidence.of(run_of([{"tool": "a"}], gaps=[gap(name)]))

    assert evidence.blurred == (frozenset({0}) if blurred else frozenset())


@pytest.mark.parametrize(
    ("gaps", "linked", "expected"),
    [
        ([], {}, True),
        ([gap("clock_skew")], {}, Hidden("clock_skew")),
        ([gap("clock_skew", 0)], {}, Hidden("clock_skew", 0)),
        ([gap("clock_skew", 1)], {}, Hidden("clock_skew", 1)),
        ([gap("clock_skew", 2)], {}, True),
        ([gap("content_off"), gap("clock_skew")], {}, Hidden("clock_skew")),
        ([gap("clock_skew")], {"step_index": (0, 1)}, True),
        ([gap("clock_skew")], {"turn": (0, 1)}, True),
        ([gap("clock_skew")], {"turn": (1, 1)}, Hidden("clock_skew")),
        ([gap("clock_skew")], {"turn": (None, 1)}, Hidden("clock_skew")),
        ([gap("clock_skew")], {"turn": (1, None)}, Hidden("clock_skew")),
    ],
)
def test_skewed_clocks_hide_an_order_that_nothing_else_tells(
    run_of: Any, gaps: Any, linked: dict[str, Any], expected: Any
) -> None:
    steps: list[dict[str, Any]] = [{"tool": "a"}, {"tool": "b"}, {"tool": "c"}]
    for name, values in linked.items():
        for step, value in zip(steps, values, strict=False):
            step[name] = value
    evidence = Evidence.of(run_of(steps, gaps=gaps))

    assert evidence.earlier(0, 1) == expected
    assert evidence.earlier(1, 0) == (False if expected is True else expected)


def test_calls_of_one_turn_are_never_earlier(run_of: Any) -> None:
    steps = [{"tool": "a", "group": 0}, {"tool": "b", "group": 0}, {"tool": "c", "group": 1}]
    evidence = Evidence.of(run_of(steps))

    assert [evidence.earlier(*pair) for pair in ((0, 1), (1, 0), (0, 2), (2, 0))] == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("step", "answered", "succeeded"),
    [
        ({"ok": True}, True, True),
        ({"ok": False}, False, False),
        ({"ok": None}, None, None),
        ({"ok": False, "kind": "mutate", "result": text({"status": "failed"})}, False, False),
        ({"ok": False, "kind": "lookup", "result": text({"status": "failed"})}, False, False),
        ({"ok": False, "result": text({"status": "failed"})}, True, None),
        ({"ok": None, "result": text({"status": "pending"})}, True, None),
        ({"ok": False, "kind": "other", "result": text({"status": "failed"})}, True, False),
        ({"ok": False, "result": text({"error": "gone"})}, False, False),
        ({"ok": False, "result": text({"status": "fine"})}, False, False),
        ({"ok": False, "error_type": "E", "result": text({"status": "failed"})}, False, False),
    ],
)
def test_whether_a_call_answered_and_whether_it_succeeded(
    run_of: Any, step: dict[str, Any], answered: bool | None, succeeded: bool | None
) -> None:
    evidence = Evidence.of(run_of([{"tool": "x"}, {"tool": "a", **step}]))

    assert evidence.answered(1) is answered
    assert evidence.succeeded(1) is succeeded
    code = {True: 1, False: 0, None: 2}[succeeded]
    assert evidence.success_codes.tolist() == [1, code]


def test_a_declared_success_is_the_answer(run_of: Any) -> None:
    step = {"tool": "a", "ok": None, "result": text({"status": "failed", "sent": 0})}
    evidence = Evidence.of(run_of([step]), {"a": ToolSpec(success=compiled("$.sent"))})

    assert evidence.ok == [False]
    assert evidence.answered(0) is False


@pytest.mark.parametrize(
    ("step", "gaps", "expected"),
    [
        ({"ok": None, "result": text({"status": "pending"})}, [], Hidden("pending", 1)),
        ({"ok": False, "result": text({"status": "failed"})}, [], Hidden("unknown_kind", 1)),
        ({"ok": None}, [], Hidden("not_recorded", 1)),
        ({"ok": None}, [gap("content_off")], Hidden("content_off", 1)),
    ],
)
def test_why_nobody_knows_whether_a_call_succeeded(
    run_of: Any, step: dict[str, Any], gaps: Any, expected: Hidden
) -> None:
    evidence = Evidence.of(run_of([{"tool": "x"}, {"tool": "a", **step}], gaps=gaps))

    assert evidence.why_unknown(1) == expected


@pytest.mark.parametrize(
    ("step", "gaps", "expected"),
    [
        ({"arguments": text({"a": 1})}, [], Source({"a": 1})),
        ({"arguments": "no json"}, [], Hidden("unparsable_arguments", 1)),
        ({}, [], Hidden("not_recorded", 1)),
        ({}, [gap("content_off")], Hidden("content_off", 1)),
        ({}, [gap("missing_steps"), gap("content_off", 1)], Hidden("content_off", 1)),
        ({}, [gap("content_off", 0)], Hidden("not_recorded", 1)),
        ({}, [gap("unparsable_arguments", 1)], Hidden("unparsable_arguments", 1)),
        ({}, [gap("truncated_value", 1)], Hidden("truncated_value", 1)),
        (
            {"arguments": text({"a": 1}), "truncated": ["arguments.a"]},
            [],
            Source({"a": 1}, None, Hidden("truncated_value", 1)),
        ),
        ({"arguments": text({"a": 1}), "truncated": ["result"]}, [], Source({"a": 1})),
        (
            {"arguments": text({"a": 1})},
            [gap("truncated_value", 1)],
            Source({"a": 1}, None, Hidden("truncated_value", 1)),
        ),
        ({"arguments": text({"a": 1})}, [gap("truncated_value", 0)], Source({"a": 1})),
        (
            {"arguments": text({"a": "[redacted:email]"})},
            [],
            Source({"a": "[redacted:email]"}, None, None, Hidden("redacted", 1)),
        ),
    ],
)
def test_what_is_seen_of_arguments(
    run_of: Any, step: dict[str, Any], gaps: Any, expected: Source | Hidden
) -> None:
    evidence = Evidence.of(run_of([{"tool": "x"}, {"tool": "a", **step}], gaps=gaps))

    assert evidence.arguments(1) == expected


def test_a_text_is_a_result_as_it_stands(run_of: Any) -> None:
    evidence = Evidence.of(run_of([{"tool": "a", "result": "no json", "truncated": ["result"]}]))

    assert evidence.result(0) == Source("no json", None, Hidden("truncated_value", 0))
    assert evidence.got(0) == ("a", "no json")
    assert evidence.result_text(0) == "no json"
    assert evidence.arguments_text(0) is None


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"operation_id": "o"}, "o"),
        ({"operation_id": "o", "arguments": text({"operation_id": "p"})}, "o"),
        ({"arguments": text({"operation_id": "p", "idempotency_key": "k"})}, "p"),
        ({"arguments": text({"idempotency_key": 7})}, "7"),
        ({"arguments": text({"operation_id": None, "idempotency_key": "k"})}, "k"),
        ({"arguments": text({"operation_id": "[redacted:email]"})}, None),
        ({"arguments": text(["operation_id"])}, None),
        ({"arguments": text({"other": 1})}, None),
        ({}, None),
    ],
)
def test_the_operation_id_of_a_call(
    run_of: Any, step: dict[str, Any], expected: str | None
) -> None:
    assert Evidence.of(run_of([{"tool": "a", **step}])).operation(0) == expected


def test_equal_questions_are_equal_and_redacted_ones_are_none(run_of: Any) -> None:
    steps = [
        {"tool": "a", "arguments": text({"x": 1})},
        {"tool": "a", "arguments": text({"x": "[redacted:email]"})},
        {"tool": "a"},
    ]
    evidence = Evidence.of(run_of(steps))

    assert [evidence.asked(row) for row in range(3)] == [("a", '{"x":1}'), ("a", None), ("a", None)]


def test_events_are_found_by_their_name(run_of: Any) -> None:
    def event(name: str, at: int | None = None, **said: Any) -> dict[str, Any]:
        time = None if at is None else datetime(2026, 1, at, tzinfo=UTC)
        return {"name": name, "time": time, "attributes": text(said)}

    effect: dict[str, Any] = {
        "operation": "pay",
        "operation_id": "o",
        "entity": "order:1",
        "applied": True,
    }
    steps = [
        {"tool": "a", "start": datetime(2026, 1, 2, tzinfo=UTC)},
        {
            "tool": "b",
            "start": datetime(2026, 1, 4, tzinfo=UTC),
            "events": [event("other"), event("trackway.effect", **effect)],
        },
    ]
    events = [event("wait", n, n=n) for n in (1, 2, 3, 5)] + [event("wait", n=0), event("other")]
    evidence = Evidence.of(run_of(steps, events=events))

    assert evidence.effects(0) == []
    assert evidence.effects(1) == [Effect("pay", "o", "order:1", True)]
    assert evidence.run_events(0, "wait") == [
        (-1, {"n": 1}),
        (0, {"n": 2}),
        (0, {"n": 3}),
        (1, {"n": 5}),
        (1, {"n": 0}),
    ]
    assert Evidence.of(run_of([{"tool": "a"}])).run_events(0, "wait") == []
    assert Effect.of("damaged") == Effect(None, None, None, None)


def test_calls_are_executed_tools_in_order(run_of: Any, behind: Any) -> None:
    steps = [
        {"operation": "llm"},
        {"tool": "a"},
        {"tool": "b", "executed": False},
        {"tool": "a", "executed": None},
    ]
    evidence = Evidence.of(behind(run_of(steps)))

    assert evidence.calls(0) == [1, 2]
    assert evidence.calls(1) == [4, 6]
    assert evidence.rows("a") == {1: [4, 6]}
    assert evidence.rows("b") == {}
    assert evidence.is_call[3:] == [False, True, False, True]
    assert [evidence.position(row) for row in (0, 3, 6)] == [0, 0, 3]
    assert evidence.first_row(1) == 3
    assert len(evidence) == 2
