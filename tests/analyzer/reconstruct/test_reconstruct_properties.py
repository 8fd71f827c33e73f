"""What holds for any spans: rows may be shuffled, repeated and renamed, and nothing recurses."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.span_builder import (
    EPOCH,
    MS,
    Recording,
    Row,
    answered,
    asked,
    call,
    spans_of,
    user,
)
from trackway_analyzer.reconstruct import reconstruct

OPERATIONS = ["llm", "tool", "agent", "workflow", "other", "retrieval", "wait", None]
NAMES = ["lookup", "refund", None]
ARGUMENTS = ["{}", '{"id":7}', '{"id":8}', "not json", '{"input":"7"}', None]
RESULTS = ['"done"', '{"error":"busy"}', '{"status":"pending"}', None]


def messages(draw: st.DrawFn) -> str | None:
    """Messages that may ask, answer or only speak."""
    parts = draw(
        st.lists(
            st.one_of(
                st.builds(
                    call,
                    st.sampled_from(["lookup", "refund"]),
                    st.sampled_from([{}, {"id": 7}, None]),
                    st.sampled_from(["c1", "c2", None]),
                ).map(asked),
                st.builds(answered, st.sampled_from(["c1", "c2", None]), st.just("found")),
                st.just(user("go")),
            ),
            max_size=4,
        )
    )
    return draw(st.sampled_from([None, json.dumps(parts)]))


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    """Spans of a few traces, with parents, cycles, orphans, clocks and messages of any kind."""
    count = draw(st.integers(1, 10))
    found: list[Row] = []
    for number in range(count):
        parent = draw(st.one_of(st.none(), st.integers(0, count)))
        start = draw(st.integers(0, 6))
        lasts = draw(st.one_of(st.none(), st.integers(0, 6)))
        found.append(
            {
                "trace_id": draw(st.sampled_from(["t1", "t2"])),
                "span_id": f"s{number}",
                "parent_span_id": None if parent is None else f"s{parent}",
                "operation": draw(st.sampled_from(OPERATIONS)),
                "name": draw(st.sampled_from(["one", "other"])),
                "scope": draw(st.sampled_from(["a", "b", None])),
                "resource": draw(st.sampled_from(["{}", '{"pid":1}'])),
                "run_id": draw(st.sampled_from(["r1", "r2", None, None])),
                "session_id": draw(st.sampled_from(["x", None])),
                "agent": draw(st.sampled_from(["support", "expert", None])),
                "start": EPOCH + start * 5 * MS,
                "end": None if lasts is None else EPOCH + (start + lasts) * 5 * MS,
                "status": draw(st.sampled_from(["OK", "UNSET", "ERROR"])),
                "step_index": draw(st.one_of(st.none(), st.integers(1, 5))),
                "attempt": draw(st.sampled_from([None, 1, 2])),
                "operation_id": draw(st.sampled_from([None, "op"])),
                "tool": draw(st.sampled_from(NAMES)),
                "tool_call_id": draw(st.sampled_from(["c1", "c2", None])),
                "arguments": draw(st.sampled_from(ARGUMENTS)),
                "result": draw(st.sampled_from(RESULTS)),
                "input": messages(draw),
                "output": messages(draw),
                "tokens_in": draw(st.sampled_from([None, 5, 10])),
                "attributes": draw(st.sampled_from(["{}", '{"trackway.run.last_step":4}', None])),
                "truncated": draw(st.sampled_from([None, ["result"]])),
            }
        )
    return found


def contents(table: pa.Table) -> dict[str, list[Any]]:
    return {name: table.column(name).to_pylist() for name in table.schema.names}


def everything(spans: pa.Table, by: Any) -> tuple[Any, Any]:
    batch = reconstruct(spans, by=by)
    batch.validate()
    return contents(batch.runs), contents(batch.steps)


@given(rows(), st.randoms(use_true_random=False), st.sampled_from(["trace", "session"]))
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_changes_nothing(found: list[Row], shuffle: random.Random, by: str):
    expected = everything(spans_of(found), by)
    mixed = list(found)
    shuffle.shuffle(mixed)
    assert everything(spans_of(mixed), by) == expected


@given(rows(), st.sampled_from(["trace", "session"]))
@settings(max_examples=60, deadline=None)
def test_a_batch_that_was_exported_twice_changes_only_the_count_of_duplicates(
    found: list[Row], by: str
):
    runs, steps = everything(spans_of(found), by)
    runs_again, steps_again = everything(spans_of([*found, *found]), by)
    assert steps_again == steps
    for gaps in runs_again["gaps"]:
        gaps[:] = [gap for gap in gaps if gap["name"] != "duplicate_span_id"]
    assert runs_again == runs


@given(rows())
@settings(max_examples=60, deadline=None)
def test_renamed_ids_give_the_same_runs_under_the_new_names(found: list[Row]):
    """Spans of one instant that are equal in all but their ids stand in the order of these."""
    for number, row in enumerate(found):
        row["start"] += number
    names = {f"s{number}": f"z{97 - number}" for number in range(len(found) + 1)}
    renamed = [
        {
            **row,
            "span_id": names[row["span_id"]],
            "parent_span_id": names.get(row["parent_span_id"]),
        }
        for row in found
    ]
    runs, steps = everything(spans_of(found), "trace")
    runs_renamed, steps_renamed = everything(spans_of(renamed), "trace")
    assert twins(runs_renamed, steps_renamed) == twins(runs, steps)


def twins(runs: dict[str, list[Any]], steps: dict[str, list[Any]]) -> list[str]:
    """Runs with their steps, without ids, in an order that no id decides."""
    step_rows = [
        dict(zip(steps, values, strict=True)) for values in zip(*steps.values(), strict=True)
    ]
    found = []
    for number, values in enumerate(zip(*runs.values(), strict=True)):
        run = {**dict(zip(runs, values, strict=True)), "run_id": None}
        own = [{**step, "run": 0, "span_id": None} for step in step_rows if step["run"] == number]
        found.append(repr((run, own)))
    return sorted(found)


@given(rows())
@settings(max_examples=60, deadline=None)
def test_every_call_is_one_step_and_every_step_one_run(found: list[Row]):
    batch = reconstruct(spans_of(found))
    spans = [span for span in batch.steps["span_id"].to_pylist() if span is not None]
    assert len(spans) == len(set(spans))
    executed = [run["tool_calls"] for run in batch.runs.to_pylist()]
    assert executed == [len(run.tool_steps) for run in batch]
    for run in batch:
        for step in run:
            assert step.group <= step.position
            assert step.turn is None or run.steps[step.turn].operation == "llm"
            assert step.retry_of is None or step.retry_of < step.position


def chain(length: int, operation: str, **columns: Any) -> pa.Table:
    record = Recording()
    parent = None
    for number in range(length):
        values = {name: value(number) for name, value in columns.items()}
        parent = record.span(operation, parent, at=number / 1000, lasts=1000, **values)
    record.tool("lookup", {}, "done", parent)
    return record.table()


LONG = 20_000


@pytest.mark.parametrize(
    ("operation", "columns", "steps"),
    [
        ("other", {}, 1),
        ("agent", {"agent": lambda number: f"agent {number % 3}"}, 1),
        ("tool", {"tool": lambda number: f"tool {number % 3}"}, LONG + 1),
        ("tool", {"tool": lambda number: "same"}, 2),
        ("llm", {"model_answered": lambda number: "gpt"}, 2),
    ],
)
def test_depth_is_no_matter(operation: str, columns: dict[str, Any], steps: int):
    batch = reconstruct(chain(LONG, operation, **columns))
    assert len(batch) == 1
    assert len(batch.steps) == steps


def test_breadth_is_no_matter():
    record = Recording()
    agent = record.agent("support")
    calls = [call("lookup", {"id": number}, f"c{number}") for number in range(5_000)]
    record.model(agent, told=[user("go")], asks=calls)
    for number in range(5_000):
        record.tool("lookup", {"id": number}, number, agent, at=20, call_id=f"c{number}")
    batch = reconstruct(record.table())
    group = batch.steps["group"].to_pylist()
    assert group == [0, *[1] * 5_000]
    assert batch.steps["result"].to_pylist()[1:] == [str(number) for number in range(5_000)]


def test_one_ring_of_a_whole_trace_is_cut_once():
    record = Recording()
    for number in range(LONG):
        record.tool("lookup", {}, "done", f"s{(number - 1) % LONG + 1}", at=number)
    (gaps,) = reconstruct(record.table()).runs["gaps"].to_pylist()
    assert {gap["name"]: gap["count"] for gap in gaps}["parent_cycle"] == 1


def test_no_spans_are_no_runs():
    batch = reconstruct(spans_of([]))
    assert (len(batch), len(batch.steps)) == (0, 0)


def test_another_table_is_refused_with_its_columns():
    with pytest.raises(ValueError, match=r"expected a table of SPAN_SCHEMA, found a: int64"):
        reconstruct(pa.table({"a": [1]}))
