"""Plain lists of records become a run batch of one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.records import as_trajectory, batch_of, batch_of_runs, trajectory_of

REFUND = [
    {
        "step": 1,
        "tool": "lookup_order",
        "arguments": {"order_id": "A1"},
        "result": {"id": "A1", "total": 84.0},
        "timestamp": "2026-01-05T10:00:00+00:00",
    },
    {
        "step": 2,
        "tool": "refund_api.create",
        "arguments": {"order_id": "A1", "amount": 84.0},
        "result": {"status": "failed"},
        "timestamp": 1767607201.5,
    },
]


def test_records_become_executed_tool_steps_in_list_order() -> None:
    trajectory = trajectory_of(REFUND, final_text="done", input="refund A1", run_id="r1")

    trajectory.batch.validate()
    assert trajectory.tools == ["lookup_order", "refund_api.create"]
    assert [step.position for step in trajectory] == [0, 1]
    assert [step.ok for step in trajectory] == [True, False]
    assert trajectory.steps[0].arguments == {"order_id": "A1"}
    assert trajectory.steps[0].start == datetime(2026, 1, 5, 10, tzinfo=UTC)
    assert trajectory.steps[1].step_index == 2
    assert (trajectory.run_id, trajectory.input, trajectory.final_text) == (
        "r1",
        "refund A1",
        "done",
    )


def test_a_result_that_is_a_json_text_is_read_as_that_once() -> None:
    texts = (json.dumps({"status": "failed"}), json.dumps(json.dumps({"a": 1})), "plain")
    failed, twice, plain = trajectory_of([{"tool": "a", "result": text} for text in texts])

    assert (failed.result, failed.ok) == ({"status": "failed"}, False)
    assert (twice.result, plain.result) == (texts[1], "plain")


def test_an_absent_result_is_not_recorded_and_a_null_result_is_null() -> None:
    absent, null = trajectory_of([{"tool": "a"}, {"tool": "a", "result": None}])

    assert (absent.result, absent.ok) == (NOT_RECORDED, None)
    assert (null.result, null.ok) == (None, True)


def test_an_error_means_that_the_call_raised_and_a_declared_ok_wins() -> None:
    raised, declared = trajectory_of(
        [
            {"tool": "a", "error": "TimeoutError"},
            {"tool": "a", "ok": True, "result": {"status": "failed"}},
        ]
    )

    assert (raised.ok, raised.error_type) == (False, "TimeoutError")
    assert declared.ok is True


def test_neighbours_of_one_group_are_unordered() -> None:
    records = [{"tool": name, "group": group} for name, group in zip("abcd", "1122", strict=True)]
    records.append({"tool": "e"})

    assert [step.group for step in trajectory_of(records)] == [0, 0, 2, 2, 4]


def test_values_that_json_cannot_hold_become_text_and_long_integers_stay_exact() -> None:
    (step,) = trajectory_of(
        [{"tool": "a", "arguments": {"id": 2**70, "x": float("nan"), "at": (1, 2)}}]
    )

    assert step.arguments == {"id": 2**70, "x": "nan", "at": [1, 2]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"arguments": {}}, "record 1: expected `tool`, found ['arguments']"),
        (
            {"tool": "a", "argments": {}},
            "record 1: unknown key 'argments', did you mean 'arguments'?",
        ),
    ],
)
def test_a_record_that_is_none_is_refused_with_its_number(
    record: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError) as raised:
        trajectory_of([record])
    assert str(raised.value) == message


def test_something_else_than_a_list_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a trajectory or a list of records"):
        as_trajectory("lookup_order")  # type: ignore[arg-type]


def test_several_lists_become_one_batch() -> None:
    batch = batch_of_runs([REFUND, [], REFUND[:1]])

    batch.validate()
    assert [trajectory.tools for trajectory in batch] == [
        ["lookup_order", "refund_api.create"],
        [],
        ["lookup_order"],
    ]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("84.00", '{"a":84.0}'),
        ("84", '{"a":84}'),
        ("1E+2", '{"a":100}'),
        ("0.1", '{"a":0.1}'),
        ("0.12345678901234567890", '{"a":"0.12345678901234567890"}'),
        ("NaN", '{"a":"NaN"}'),
        ("1E+400", '{"a":"1E+400"}'),
    ],
)
def test_a_decimal_number_is_read_as_the_recorder_writes_it(amount: str, text: str) -> None:
    run = batch_of([{"tool": "pay", "arguments": {"a": Decimal(amount)}}])

    assert run.steps.column("arguments")[0].as_py() == text


def test_a_call_that_failed_and_is_made_again_is_a_further_attempt() -> None:
    failed = {"tool": "pay", "arguments": {"n": 1}, "result": {"status": "failed"}}
    steps = batch_of([failed, failed, failed | {"arguments": {"n": 2}}, failed]).steps

    assert steps.column("attempt").to_pylist() == [1, 2, 1, 1]
    assert steps.column("retry_of").to_pylist() == [None, 0, None, None]


def test_lone_surrogates_are_replaced_wherever_they_stand() -> None:
    record = {"tool": "pay\ud800", "arguments": {"a\ud800": "b\udfff"}, "result": "\ud800"}
    run = trajectory_of([record | {"error": "\ud800"}], final_text="\ud800", input="\ud800")

    (step,) = run.tool_steps
    assert (step.tool, step.arguments, step.result) == ("pay?", {"a?": "b?"}, "?")
    assert run.final_text == "?"
