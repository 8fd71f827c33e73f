"""Steps stand in the order of causes, then of the logical clock, then of time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from analyzer.span_builder import Recording, answered, asked, call, gaps, outline, spans_of, user
from trackway_analyzer.reconstruct import reconstruct


def test_time_orders_whatever_the_order_of_the_rows():
    record = Recording()
    agent = record.agent("support")
    for name in "abcdef":
        record.tool(name, {}, "done", agent)
    random.Random(7).shuffle(record.rows)
    assert outline(record.run()) == list("abcdef")


def test_the_logical_clock_wins_over_time():
    record = Recording(run_id="r1", resource="{}")
    record.tool("second", {}, "done", at=10, step_index=2)
    record.tool("first", {}, "done", at=20, step_index=1)
    record.tool("third", {}, "done", at=15, step_index=3)
    assert outline(record.run()) == ["first", "second", "third"]


def test_a_step_without_a_clock_stands_by_its_time():
    record = Recording(run_id="r1", resource="{}")
    record.tool("first", {}, "done", at=10, step_index=1)
    record.tool("second", {}, "done", at=30, step_index=2)
    record.model(says="between", at=20)
    assert outline(record.run()) == ["first", "llm", "second"]


def test_clocks_of_two_processes_do_not_compare():
    record = Recording(run_id="r1")
    record.tool("a1", {}, "done", at=10, step_index=1, resource='{"pid":1}')
    record.tool("b1", {}, "done", at=20, step_index=2, resource='{"pid":2}')
    record.tool("b2", {}, "done", at=30, step_index=3, resource='{"pid":2}')
    record.tool("a2", {}, "done", at=40, step_index=2, resource='{"pid":1}')
    assert outline(record.run()) == ["a1", "b1", "b2", "a2"]


def test_a_clock_that_repeats_itself_decides_nothing():
    record = Recording(run_id="r1", resource="{}")
    record.tool("late", {}, "done", at=30, step_index=1)
    record.tool("early", {}, "done", at=10, step_index=2)
    record.tool("middle", {}, "done", at=20, step_index=2)
    assert outline(record.run()) == ["early", "middle", "late"]


def test_a_parent_stands_before_what_runs_inside_it():
    record = Recording()
    outer = record.tool("outer", {}, "done", at=10, lasts=50)
    record.tool("inner", {}, "done", outer, at=10)
    record.tool("after", {}, "done", at=70)
    assert outline(record.run()) == ["outer", "inner", "after"]


def test_steps_inside_the_calls_of_a_group_follow_the_call_they_run_in():
    record = Recording()
    agent = record.agent("boss")
    record.model(agent, asks=[call("left", {}, "c1"), call("right", {}, "c2")])
    right = record.tool("right", {}, "done", agent, call_id="c2")
    record.tool("inside_right", {}, "done", right)
    left = record.tool("left", {}, "done", agent, call_id="c1")
    record.tool("inside_left", {}, "done", left)
    steps = {step.tool: step for step in record.run()}
    assert steps["left"].group == steps["right"].group
    assert steps["left"].position < steps["right"].position
    assert steps["left"].position < steps["inside_left"].position
    assert steps["right"].position < steps["inside_right"].position


def test_one_after_the_other_is_still_a_group_if_one_turn_asked():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("a", {}, "c1"), call("b", {}, "c2")])
    record.tool("a", {}, "done", agent, call_id="c1", at=100, lasts=5)
    record.tool("b", {}, "done", agent, call_id="c2", at=200, lasts=5)
    assert outline(record.run()) == ["llm", "(a b)"]


def test_the_clock_of_a_group_does_not_undo_the_order_of_the_request():
    record = Recording(run_id="r1", resource="{}")
    agent = record.agent("support")
    record.model(agent, asks=[call("a", {}, "c1"), call("b", {}, "c2")], step_index=1)
    record.tool("b", {}, "done", agent, call_id="c2", step_index=2)
    record.tool("a", {}, "done", agent, call_id="c1", step_index=3)
    record.model(agent, says="done", step_index=4)
    assert outline(record.run()) == ["llm", "(a b)", "llm"]


def test_overlap_makes_a_group_where_no_model_output_is_recorded():
    record = Recording()
    agent = record.agent("support")
    record.tool("a", {}, "done", agent, at=10, lasts=20)
    record.tool("b", {}, "done", agent, at=15, lasts=20)
    record.tool("c", {}, "done", agent, at=40, lasts=5)
    assert outline(record.run()) == ["(a b)", "c"]


def test_overlap_needs_all_of_a_group_at_once():
    record = Recording()
    agent = record.agent("support")
    record.tool("a", {}, "done", agent, at=10, lasts=10)
    record.tool("b", {}, "done", agent, at=15, lasts=20)
    record.tool("c", {}, "done", agent, at=30, lasts=20)
    assert outline(record.run()) == ["(a b)", "c"]


def test_overlap_decides_nothing_where_model_output_is_recorded():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, says="I will look.")
    record.tool("a", {}, "done", agent, at=100, lasts=20)
    record.tool("b", {}, "done", agent, at=105, lasts=20)
    assert outline(record.run()) == ["llm", "a", "b"]


def two_behind_a_turn(reasons: list[str], **model: Any) -> str:
    record = Recording()
    agent = record.agent("support")
    record.model(agent, finish_reasons=reasons, **model)
    record.tool("refund", {}, "done", agent)
    record.tool("mail", {}, "done", agent)
    record.model(agent, told=[user("hi")], says="Done.")
    return " ".join(outline(record.run()))


@pytest.mark.parametrize("reasons", [["tool_call"], []])
def test_calls_behind_a_turn_whose_output_is_off_are_of_it(reasons: list[str]):
    assert two_behind_a_turn(reasons) == "llm (refund mail) llm"


def test_a_call_that_was_cut_from_an_output_is_of_the_turn_of_those_that_were_not():
    asks = [call("refund", {})]
    cut = two_behind_a_turn(["tool_call"], told=[], asks=asks, truncated=["output"])
    assert cut == "llm (refund mail) llm"


def test_a_turn_that_ended_by_itself_asked_for_no_call_behind_it():
    assert two_behind_a_turn(["stop"]) == "llm refund mail llm"
    assert two_behind_a_turn(["stop"], told=[], says="ok") == "llm refund mail llm"


def test_a_turn_of_our_own_that_does_not_say_why_it_ended_may_have_asked_for_none():
    assert two_behind_a_turn([], source="trackway") == "llm refund mail llm"


def test_calls_inside_a_model_call_whose_output_is_off_are_of_it():
    record = Recording()
    model = record.model(record.agent("support"), lasts=100)
    record.tool("refund", {}, "done", model)
    record.tool("mail", {}, "done", model)
    assert outline(record.run()) == ["llm", "(refund mail)"]


def test_a_skewed_clock_is_moved_to_its_parent_and_named():
    record = Recording()
    agent = record.agent("support", at=1000)
    outer = record.tool("outer", {}, "done", agent, at=1010, lasts=50)
    remote = record.wrapper(outer, at=500, service="remote")
    record.tool("inner", {}, "done", remote, at=505, service="remote")
    record.tool("after", {}, "done", agent, at=1100)
    run = record.run()
    assert outline(run) == ["outer", "inner", "after"]
    assert gaps(run) == {"clock_skew": 1}


def test_a_model_that_read_a_result_stands_after_the_call_whatever_its_clock_says():
    record = Recording()
    lookup = call("lookup", {"id": 7}, "c1")
    record.model(told=[user("go")], asks=[lookup], at=1000, service="one")
    told = [user("go"), asked(lookup), answered("c1", "found")]
    record.model(told=told, says="done", at=100, service="two")
    run = record.run()
    assert outline(run) == ["llm", "lookup", "llm"]
    assert run.final_text == "done"


def test_a_linked_call_stands_before_the_call_that_links_to_it():
    record = Recording(run_id="r1")
    record.tool("resume", {}, "done", trace="t2", at=10)
    waited = record.tool("ask", {}, "waiting", at=20)
    link = {"trace_id": "t1", "span_id": waited, "attributes": "{}"}
    record.rows[0]["links"] = [link]
    assert outline(record.run()) == ["ask", "resume"]


def test_contradictory_causes_end_in_the_order_of_time():
    record = Recording(run_id="r1")
    one = record.tool("one", {}, "done", at=10)
    two = record.tool("two", {}, "done", at=20)
    for row, other in zip(record.rows, (two, one), strict=True):
        row["links"] = [{"trace_id": "t1", "span_id": other, "attributes": "{}"}]
    assert outline(record.run()) == ["one", "two"]


def test_equal_times_are_ordered_by_content_not_by_rows():
    record = Recording()
    agent = record.agent("support")
    for name in ("c", "a", "b"):
        record.tool(name, {}, "done", agent, at=50, lasts=0)
    outlines = set()
    for seed in range(5):
        rows = list(record.rows)
        random.Random(seed).shuffle(rows)
        outlines.add(tuple(outline(next(iter(reconstruct(spans_of(rows)))))))
    assert outlines == {("a", "b", "c")}


def test_runs_stand_in_the_order_of_their_starts():
    record = Recording()
    for number in (2, 3, 1):
        record.tool("x", {}, "done", trace=f"t{number}", at=number * 100)
    assert [run.run_id for run in record.runs()] == ["t1", "t2", "t3"]


def test_an_id_of_an_earlier_run_moves_no_model_step():
    record = Recording()
    agent = record.agent("support")
    old, new = call("lookup", {"id": 1}, "same"), call("lookup", {"id": 2}, "same")
    history = [user("one"), asked(old), answered("same", "old"), user("two")]
    record.model(agent, told=history, says="Let me think.")
    record.model(agent, told=history, asks=[new])
    record.tool("lookup", {"id": 2}, None, agent, call_id="same")
    record.model(agent, told=[*history, asked(new), answered("same", "new")], says="done")
    run = record.run()
    assert outline(run) == ["llm", "llm", "lookup", "llm"]
    assert run.tool_steps[0].result == "new"
