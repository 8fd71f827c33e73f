"""Which calls are tries of one operation?"""

from __future__ import annotations

from analyzer.span_builder import Recording, call

BUSY = {"error": "busy"}


def tries(record: Recording) -> list[tuple[str | None, int | None, int | None]]:
    return [(step.tool, step.attempt, step.retry_of) for step in record.run().tool_steps]


def test_the_same_call_after_a_failure_is_the_next_try():
    record = Recording()
    agent = record.agent("support")
    record.tool("refund", {"id": 7}, BUSY, agent)
    record.tool("refund", {"id": 7}, None, agent, raises="TimeoutError")
    record.tool("refund", {"id": 7}, "done", agent)
    assert tries(record) == [("refund", 1, None), ("refund", 2, 0), ("refund", 3, 0)]


def test_the_same_call_after_a_success_is_a_call_of_its_own():
    record = Recording()
    record.tool("refund", {"id": 7}, "done")
    record.tool("refund", {"id": 7}, "done")
    assert tries(record) == [("refund", 1, None), ("refund", 1, None)]


def test_other_arguments_are_another_operation():
    record = Recording()
    record.tool("refund", {"id": 7}, BUSY)
    record.tool("refund", {"id": 8}, "done")
    assert tries(record) == [("refund", 1, None), ("refund", 1, None)]


def test_another_call_in_between_ends_the_tries():
    record = Recording()
    record.tool("refund", {"id": 7}, BUSY)
    record.tool("lookup", {"id": 7}, "done")
    record.tool("refund", {"id": 7}, "done")
    assert [attempt for _, attempt, _ in tries(record)] == [1, 1, 1]


def test_calls_of_the_same_turn_do_not_end_the_tries():
    record = Recording()
    agent = record.agent("support")
    pair = [call("refund", {"id": 7}, "c1"), call("lookup", {"id": 7}, "c2")]
    record.model(agent, asks=pair)
    record.tool("refund", {"id": 7}, BUSY, agent, call_id="c1")
    record.tool("lookup", {"id": 7}, "done", agent, call_id="c2")
    record.model(agent, asks=[call("refund", {"id": 7}, "c3")])
    record.tool("refund", {"id": 7}, "done", agent, call_id="c3")
    assert tries(record) == [("refund", 1, None), ("lookup", 1, None), ("refund", 2, 1)]


def test_one_operation_id_makes_tries_wherever_they_stand():
    record = Recording()
    record.tool("refund", {"id": 7}, BUSY, operation_id="op-1")
    record.tool("lookup", {"id": 7}, "done")
    record.tool("refund", {"id": 7, "note": "again"}, "done", operation_id="op-1")
    assert tries(record) == [("refund", 1, None), ("lookup", 1, None), ("refund", 2, 0)]


def test_different_operation_ids_are_different_operations():
    record = Recording()
    record.tool("refund", {"id": 7}, BUSY, operation_id="op-1")
    record.tool("refund", {"id": 7}, "done", operation_id="op-2")
    assert [attempt for _, attempt, _ in tries(record)] == [1, 1]


def test_a_recorded_number_stands_even_where_the_first_try_is_lost():
    record = Recording()
    record.tool("refund", {"id": 7}, "done", attempt=3)
    assert tries(record) == [("refund", 3, None)]
    assert record.run().batch.runs["retries"].to_pylist() == [1]
