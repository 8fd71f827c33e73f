"""Whatever is missing has a name, a count and a place."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.span_builder import Recording, asked, call, gaps, outline, said, user
from trackway_analyzer.model import Trajectory
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.rules import Never, State
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.spans import NO_TIME

RUN_SPAN = {"trackway.schema.version": "1"}
"""What our SDK writes on a run span and on no other."""


def test_a_whole_record_has_no_gap():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[], asks=[call("lookup", {"id": 7}, "c1")])
    record.tool("lookup", {"id": 7}, "found", agent, call_id="c1")
    record.model(agent, told=[], says="done")
    assert record.run().gaps == ()


def test_missing_parents_are_counted():
    record = Recording()
    record.tool("a", {}, "done", "lost")
    record.tool("b", {}, "done", "lost too")
    record.wrapper()
    assert gaps(record.run()) == {"missing_parent": 2}


def test_a_span_that_ended_before_it_started_is_of_a_broken_clock():
    record = Recording()
    agent = record.agent("support")
    record.tool("a", {}, "done", agent, lasts=-5)
    record.tool("b", {}, "done", agent, lasts=0)
    assert gaps(record.run()) == {"clock_skew": 1}


def test_no_root_at_all():
    record = Recording()
    record.tool("a", {}, "done", record.agent("support", "lost"))
    assert gaps(record.run()) == {"missing_parent": 1, "no_root": 1}


def test_a_run_below_a_span_of_another_run_has_a_root():
    record = Recording()
    server = record.wrapper()
    agent = record.agent("support", server, run_id="r1", attributes=RUN_SPAN)
    record.tool("a", {}, "done", agent, run_id="r1")
    other = record.agent("support", server, run_id="r2", attributes=RUN_SPAN)
    record.tool("b", {}, "done", other, run_id="r2")
    assert [gaps(run) for run in record.runs()] == [{}, {}]


def test_a_run_whose_span_stands_below_one_that_is_not_there_has_a_root():
    record = Recording()
    inner = record.agent("title", "a run that was dropped", run_id="r", attributes=RUN_SPAN)
    record.tool("a", {}, "done", inner, run_id="r")
    assert gaps(record.run()) == {}


def test_a_step_below_a_lost_span_of_such_a_run_is_missed_all_the_same():
    record = Recording()
    record.agent("title", "a run that was dropped", run_id="r", attributes=RUN_SPAN, lasts=1000)
    record.tool("a", {}, "done", "lost", run_id="r")
    assert gaps(record.run()) == {"missing_parent": 1}


def test_a_self_parent_is_cut():
    record = Recording()
    record.tool("a", {}, "done", "s1")
    run = record.run()
    assert outline(run) == ["a"]
    assert gaps(run) == {"parent_cycle": 1, "no_root": 1}


def test_a_cycle_is_cut_above_its_earliest_span():
    record = Recording()
    record.tool("a", {}, "done", "s3")
    record.tool("b", {}, "done", "s1")
    record.tool("c", {}, "done", "s2")
    record.tool("below", {}, "done", "s3")
    run = record.run()
    assert outline(run) == ["a", "b", "c", "below"]
    assert gaps(run) == {"parent_cycle": 1, "no_root": 1}


def test_an_unfinished_step_has_its_place_and_no_verdict():
    record = Recording()
    agent = record.agent("support", lasts=None)
    record.tool("lookup", {}, "done", agent)
    record.tool("refund", {"id": 7}, None, agent, lasts=None)
    run = record.run()
    assert outline(run) == ["lookup", "refund?"]
    assert [(gap.name, gap.position, gap.count) for gap in run.gaps] == [
        ("unfinished_span", None, 1),
        ("unfinished_span", 1, 1),
    ]


def test_truncated_values_name_their_fields():
    record = Recording()
    record.tool("lookup", {}, "done", truncated=["result", "arguments"])
    (gap,) = record.run().gaps
    assert (gap.name, gap.position, gap.count, gap.detail) == (
        "truncated_value",
        0,
        2,
        "arguments, result",
    )


def test_dropped_attributes_are_added_up():
    record = Recording()
    record.tool("a", {}, "done", dropped_attributes=3)
    record.tool("b", {}, "done", dropped_attributes=4)
    assert gaps(record.run()) == {"dropped_attributes": 7}


def test_content_off_everywhere_is_one_gap_of_the_run():
    record = Recording()
    record.tool("a")
    record.tool("b")
    (gap,) = record.run().gaps
    assert (gap.name, gap.position, gap.count) == ("content_off", None, 2)


def test_content_off_here_and_there_is_a_gap_of_the_step():
    record = Recording()
    record.tool("a", {}, "done")
    record.tool("b")
    record.tool("c", {"id": 7}, "done")
    (gap,) = record.run().gaps
    assert (gap.name, gap.position, gap.count) == ("content_off", 1, 1)


def test_half_of_a_call_is_a_gap_of_the_step_that_says_which():
    record = Recording()
    record.tool("a", {}, "done")
    record.span("tool", tool="b", result='"done"')
    record.tool("c", {"id": 7})
    found = [(gap.name, gap.position, gap.detail) for gap in record.run().gaps]
    assert found == [("missing_value", 1, "arguments"), ("missing_value", 2, "result")]


def test_half_of_every_call_is_one_gap_of_the_run():
    record = Recording()
    record.tool("a", {"id": 1})
    record.tool("b", {"id": 2})
    (gap,) = record.run().gaps
    assert (gap.name, gap.position, gap.count, gap.detail) == ("missing_value", None, 2, "result")


def test_a_call_that_failed_or_never_ran_needs_no_result():
    record = Recording()
    agent = record.agent("support")
    calls = call("a", {}, "c1"), call("b", {}, "c2")
    record.model(agent, told=[user("go")], asks=calls)
    record.tool("a", {}, inside=agent, call_id="c1", raises="TimeoutError")
    record.model(agent, told=[user("go"), asked(*calls)], says="It failed.")
    run = record.run()
    assert len(run.steps) == 4
    assert gaps(run) == {}


def test_times_that_were_not_recorded_are_a_gap_and_no_skew():
    record = Recording()
    agent = record.agent("support")
    for step in (1, 2):
        record.tool("a", {"id": step}, "done", agent, step_index=step)
    record.rows[1]["start"] = record.rows[2]["start"] = NO_TIME
    record.rows[2]["end"] = NO_TIME
    run = record.run()
    assert [(gap.name, gap.count, gap.detail) for gap in run.gaps] == [
        ("missing_timestamps", 2, "start and end")
    ]
    assert [(step.start, step.end is None) for step in run.steps] == [(None, False), (None, True)]
    assert [step.arguments for step in run.steps] == [{"id": 1}, {"id": 2}]


def test_a_run_without_any_time_has_none():
    record = Recording()
    record.tool("b", {}, "done", step_index=2)
    record.tool("a", {}, "done", step_index=1)
    for row in record.rows:
        row["start"] = row["end"] = NO_TIME
    run = record.run()
    assert run.tools == ["a", "b"]
    assert [run.run[name] for name in ("start", "end", "duration_s")] == [None, None, None]


@pytest.mark.parametrize("turned", [False, True])
def test_steps_without_times_stand_behind_their_turns_and_their_order_is_not_known(turned: bool):
    record = Recording()
    for name in ("a", "b"):
        record.model(asks=[call(name, {}, f"c-{name}")])
        record.tool(name, {}, "done", call_id=f"c-{name}")
    for row in record.rows:
        row["start"] = row["end"] = NO_TIME
    if turned:
        record.rows.reverse()
    run = record.run()
    assert [step.tool for step in run.steps] == [None, "a", None, "b"]
    assert [(gap.name, gap.count) for gap in run.gaps] == [
        ("clock_skew", 4),
        ("missing_timestamps", 4),
    ]


def test_of_calls_without_times_that_no_turn_orders_nobody_knows_which_was_earlier():
    record = Recording()
    record.tool("a", {}, "done")
    record.tool("b", {}, "done")
    for row in record.rows:
        row["start"] = row["end"] = NO_TIME
    evidence = Evidence.of(reconstruct(record.table()))
    assert evidence.earlier(0, 1) == evidence.earlier(1, 0) == Hidden("clock_skew")


def test_model_calls_without_messages_have_their_content_off():
    record = Recording()
    record.model(model_answered="gpt-4o")
    record.model(model_answered="gpt-4o")
    gap, unseen = record.run().gaps
    assert (gap.name, gap.count, gap.detail) == ("content_off", 2, "model calls")
    assert (unseen.name, unseen.count, unseen.position) == ("tools_not_observable", 1, None)


def test_with_content_off_no_call_is_no_evidence_that_none_was_made():
    record = Recording()
    record.model(model_answered="gpt-4o")
    (finding,) = Never("refund").check(record.run().batch)
    assert finding.state is State.INSUFFICIENT


@pytest.mark.parametrize("source", ["trackway", "otel-genai"])
def test_with_content_off_the_recorder_would_show_a_call(source: str):
    record = Recording()
    agent = record.agent("support", source=source)
    record.model(agent, model_answered="gpt-4o")
    found = Never("refund").check(record.run().batch)
    assert [finding.state for finding in found] == (
        [] if source == "trackway" else [State.INSUFFICIENT]
    )


def test_with_content_off_an_instrumentor_that_writes_calls_would_show_one():
    record = Recording()
    agent = record.agent("support", scope="agent_framework")
    record.model(agent, model_answered="gpt-4o")
    assert gaps(record.run()) == {"content_off": 1}


def test_with_content_off_a_recorded_call_shows_that_calls_are_seen():
    record = Recording()
    record.model(model_answered="gpt-4o")
    record.tool("lookup", {}, "done")
    record.model(model_answered="gpt-4o")
    assert "tools_not_observable" not in gaps(record.run())


def test_a_later_input_tells_what_an_earlier_output_asked_for():
    record = Recording()
    record.model(told=[user("go")])
    record.model(told=[user("go"), said("Which?"), user("A-1")], says="Done.")
    assert gaps(record.run()) == {}


@pytest.mark.parametrize("text", ['{"id": 7', '"{\\"id\\": 7"', "{'id': 7}"])
def test_malformed_arguments_are_named(text: str):
    record = Recording()
    record.span("tool", tool="lookup", arguments=text, result='"done"')
    (gap,) = record.run().gaps
    assert (gap.name, gap.position) == ("unparsable_arguments", 0)


@pytest.mark.parametrize("text", ['"A-1001"', "7", "[1, 2]", "A-1001", "null", "{}"])
def test_arguments_that_are_no_object_are_no_gap(text: str):
    record = Recording()
    record.span("tool", tool="lookup", arguments=text, result='"done"')
    assert record.run().gaps == ()


def native(
    *indices: int, last_step: int | None = None, more: dict[str, list[str]] | None = None
) -> Recording:
    record = Recording(run_id="r1")
    attributes = {} if last_step is None else {"trackway.run.last_step": last_step, **(more or {})}
    root = record.span("workflow", lasts=10_000, attributes=attributes)
    for index in indices:
        record.tool("step", {"index": index}, "done", root, step_index=index)
    return record


def test_holes_in_the_logical_clock_up_to_the_last_step():
    (gap,) = native(1, 3, 7, last_step=9).run().gaps
    assert (gap.name, gap.position, gap.count, gap.detail) == (
        "missing_steps",
        None,
        6,
        "2, 4-6, 8-9",
    )


def test_a_clock_without_holes_is_whole():
    assert native(2, 1, 3, last_step=3).run().gaps == ()


def test_a_lost_run_span_leaves_the_holes_below_the_highest_step():
    hole, unfinished = native(1, 4).run().gaps
    assert (hole.count, hole.detail) == (2, "2-3")
    assert unfinished.name == "unfinished_span"


def test_a_run_of_ours_without_its_run_span_is_not_finished():
    record = Recording(run_id="r1")
    record.tool("lookup", {}, "done", "never exported", step_index=1)
    gap = next(gap for gap in record.run().gaps if gap.name == "unfinished_span")
    assert (gap.position, gap.count, gap.detail) == (
        None,
        1,
        "the run span is missing: the run did not end, or its span was lost",
    )


def test_a_run_span_inside_a_value_is_none():
    record = Recording(run_id="r1")
    quoted = {"gen_ai.prompt": '{"trackway.schema.version":"1"}'}
    record.tool("lookup", {}, "done", record.wrapper(attributes=quoted))
    assert gaps(record.run()) == {"unfinished_span": 1}


def test_a_step_is_no_run_span():
    record = Recording(run_id="r1")
    record.tool("lookup", {}, "done", record.wrapper(), attributes=RUN_SPAN)
    assert gaps(record.run()) == {"unfinished_span": 1}


def test_spans_without_a_run_id_need_no_run_span():
    record = Recording()
    record.tool("lookup", {}, "done", record.agent("support"))
    assert record.run().gaps == ()


def test_of_runs_joined_to_a_conversation_those_without_a_run_span_are_counted():
    record = Recording(session_id="s1")
    for number in (1, 2, 3):
        own = {"run_id": f"r{number}"}
        marks = RUN_SPAN if number == 2 else {}
        record.tool("step", {}, "done", record.span("workflow", attributes=marks, **own), **own)
    assert gaps(record.run(by="session")) == {"unfinished_span": 2}


def test_a_run_that_lost_all_of_its_steps():
    record = native(last_step=2)
    (gap,) = record.run().gaps
    assert (gap.name, gap.count, gap.detail) == ("missing_steps", 2, "1-2")


def test_an_action_that_never_was_is_no_missing_step():
    assert native(1, 2, last_step=2).run().gaps == ()


def test_joined_to_a_conversation_each_run_keeps_its_own_clock():
    record = Recording(session_id="s1")
    for length in (1, 2):
        marks = {"trackway.run.last_step": length}
        own = {"run_id": f"r{length}"}
        root = record.span("workflow", attributes=marks, **own)
        for index in range(1, length + 1):
            record.tool("step", {"index": index}, "done", root, step_index=index, **own)
    assert record.run(by="session").gaps == ()


def test_offered_tools_without_a_recorded_output_are_not_observable():
    record = Recording()
    record.model(told=[], attributes={"gen_ai.tool.definitions": "[]"})
    assert gaps(record.run()) == {"tools_not_observable": 1}


def test_offered_tools_with_recorded_outputs_were_not_called():
    record = Recording()
    record.model(told=[], says="hello", attributes={"gen_ai.tool.definitions": "[]"})
    assert record.run().gaps == ()


def test_a_model_that_stopped_for_a_call_that_is_not_recorded():
    record = Recording()
    record.model(told=[], finish_reasons=["tool_call"])
    assert gaps(record.run()) == {"tools_not_observable": 1}


def with_a_turn_that_shows_no_call(*, tool: bool) -> dict[str, int]:
    """Content is off: of two turns that stopped for a call, the first is followed by its tool."""
    record = Recording()
    agent = record.agent("support")
    for turn in range(2):
        record.model(agent, finish_reasons=["tool_call"])
        if turn == 0 or tool:
            record.tool("lookup", {}, "done", agent)
    record.model(agent, finish_reasons=["stop"])
    found = gaps(record.run())
    found.pop("content_off")
    return found


def test_a_turn_that_stopped_for_a_call_of_which_no_span_follows_hides_it():
    assert with_a_turn_that_shows_no_call(tool=True) == {}
    assert with_a_turn_that_shows_no_call(tool=False) == {"tools_not_observable": 1}


def test_an_agent_that_ended_well_without_a_call_was_not_watched():
    record = Recording()
    record.agent("support")
    assert gaps(record.run()) == {"tools_not_observable": 1}


def test_an_agent_of_ours_that_did_nothing_did_nothing():
    assert native(last_step=0).run().gaps == ()


def test_a_library_that_was_cut_off_is_told_of():
    record = Recording()
    said = {"trackway.instrumentation.lost": ["openai: turned off", "mcp: replaced"]}
    record.model(told=[], says="hello", attributes=said)
    run = record.run()
    assert [(gap.name, gap.count, gap.detail) for gap in run.gaps] == [
        ("instrumentation_lost", 2, "mcp: replaced; openai: turned off")
    ]


def test_a_library_that_came_and_went_inside_the_run_is_one_library():
    said = {"trackway.instrumentation.lost": ["openai: turned off", "openai: turned on"]}
    (gap,) = native(1, 2, last_step=2, more=said).run().gaps
    assert (gap.name, gap.count) == ("instrumentation_lost", 1)


ON = {"trackway.instrumentation.on": ["openai"]}


def test_a_run_that_was_watched_and_has_no_step_was_not_seen():
    (gap,) = native(last_step=0, more=ON).run().gaps
    assert (gap.name, gap.position, gap.count, gap.detail) == (
        "tools_not_observable",
        None,
        1,
        "instrument() was on, and no step of the run is recorded",
    )


@pytest.mark.parametrize("step", ["llm", "tool", "retrieval"])
def test_a_run_that_was_watched_and_has_one_step_was_seen(step: str):
    record = native(last_step=0, more=ON)
    shape = {"tool": {"tool": "find", "arguments": "{}", "result": "1"}, "llm": {"output": "o"}}
    record.span(step, **shape.get(step, {}))
    assert "tools_not_observable" not in gaps(record.run())


def test_a_wait_is_nothing_that_a_library_was_seen_to_do():
    record = native(last_step=0, more=ON)
    record.span("wait")
    assert gaps(record.run()) == {"tools_not_observable": 1}


def usage(record: Recording) -> list[tuple[str, int | None, str | None]]:
    return [(gap.name, gap.position, gap.detail) for gap in record.run().gaps]


def test_a_model_call_without_tokens_makes_the_sum_too_small():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[], asks=[call("lookup", {"id": 7}, "c1")], tokens_in=10, tokens_out=2)
    record.tool("lookup", {"id": 7}, "found", agent, call_id="c1")
    record.model(agent, told=[], says="done", tokens_in=20)
    record.model(agent, told=[], says="bye")
    run = record.run()
    assert usage(record) == [
        ("missing_tokens", 2, "tokens_out"),
        ("missing_tokens", 3, "tokens_in, tokens_out"),
    ]
    assert (run.run["tokens_in"], run.run["tokens_out"]) == (30, 2)
    assert run.run["calls_without_tokens"] == 2


def test_where_nobody_recorded_tokens_there_is_no_sum_to_be_too_small():
    record = Recording()
    agent = record.agent("support")
    for text in ("one", "two"):
        record.model(agent, told=[], says=text, tokens_in=10)
    run = record.run()
    assert usage(record) == []
    assert (run.run["tokens_in"], run.run["tokens_out"]) == (20, None)
    assert run.run["calls_without_tokens"] == 0
    assert run.run["calls_without_cost"] is None


def test_a_model_call_that_failed_without_an_answer_used_nothing_that_is_known():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[], status="ERROR", error_type="RateLimitError")
    record.model(agent, told=[], says="done", tokens_in=10, tokens_out=2)
    assert usage(record) == []
    record.model(agent, told=[], says="half an ans", status="ERROR", error_type="Cut")
    assert usage(record) == [("missing_tokens", 2, "tokens_in, tokens_out")]


def test_a_model_call_without_cost_makes_the_sum_too_small():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[], says="one", cost=0.25)
    record.model(agent, told=[], says="two")
    assert usage(record) == [("missing_cost", 1, "cost")]
    assert record.run().run["calls_without_cost"] == 1


def said_so(record: Recording, error: str, **columns: Any) -> Trajectory:
    attributes = {"trackway.capture_error": error}
    record.tool("refund", {"id": 7}, {"amount": 402}, attributes=attributes, **columns)
    return record.run()


def test_where_the_predicate_of_success_raised_nobody_knows_whether_the_call_took_effect():
    run = said_so(Recording(), "success: KeyError")
    assert [(gap.name, gap.position, gap.detail) for gap in run.gaps] == [
        ("capture_error", 0, "success: KeyError")
    ]
    assert run.steps[0].ok is None


def test_what_else_could_not_be_recorded_does_not_speak_of_the_effect():
    run = said_so(Recording(), "operation_id: KeyError")
    assert gaps(run) == {"capture_error": 1}
    assert run.steps[0].ok is True


@pytest.mark.parametrize("ok", [True, False])
def test_a_declared_outcome_stands_whatever_could_not_be_recorded(ok: bool):
    assert said_so(Recording(), "success: KeyError", ok=ok).steps[0].ok is ok


def test_a_call_that_raised_had_no_result_to_be_judged():
    run = said_so(Recording(), "success: KeyError", raises="ValueError")
    assert run.steps[0].ok is False


def test_what_a_run_could_not_record_is_a_gap_of_the_run():
    record = Recording()
    agent = record.agent("support", attributes={"trackway.capture_error": "result: TypeError"})
    record.tool("refund", {"id": 7}, "done", agent)
    assert [(gap.name, gap.position) for gap in record.run().gaps] == [("capture_error", None)]


def test_a_predicate_outside_another_instrumentor_s_span_of_the_call_counts():
    record = Recording()
    attributes = {"trackway.capture_error": "success: KeyError"}
    outer = record.tool("refund", {"id": 7}, {"amount": 402}, attributes=attributes)
    record.tool("refund", {"id": 7}, {"amount": 402}, outer, scope="openinference")
    (step,) = record.run().steps
    assert step.ok is None


def resumed_runs(second_run_span: bool) -> Recording:
    record = Recording()
    first = record.agent("support", run_id="r", attributes=RUN_SPAN, lasts=20)
    record.tool("lookup", {}, "done", first, run_id="r")
    later = "lost"
    if second_run_span:
        later = record.agent("support", run_id="r", attributes=RUN_SPAN, at=100)
    record.tool("lookup", {}, "done", later, run_id="r", at=200)
    return record


def test_a_part_of_a_resumed_run_that_never_ended_is_unfinished():
    run = resumed_runs(second_run_span=False).run()
    assert gaps(run) == {"missing_parent": 1, "unfinished_span": 1}
    assert [gap.detail for gap in run.gaps if gap.name == "unfinished_span"] == [
        "the run span of a part is missing: it did not end, or its span was lost"
    ]
    (finding,) = Never("delete").check(run.batch)
    assert finding.state is State.INSUFFICIENT


def test_a_resumed_run_whose_parts_ended_has_no_gap():
    assert gaps(resumed_runs(second_run_span=True).run()) == {}


def handed_over(*marks: str, told: str) -> Recording:
    record = Recording()
    agent = record.agent(
        "support", run_id="r", attributes={**RUN_SPAN, "trackway.handed_over": told}
    )
    record.tool("lookup", {}, "done", agent, run_id="r")
    for mark in marks:
        said = {"trackway.handed_over.part": mark}
        record.wrapper(agent, run_id="r", attributes=said)
    return record


def test_a_part_that_left_no_mark_of_its_end_is_unfinished():
    run = handed_over("c0ffee:1", "c0ffee:1", "c0ffee:3", "beef:2", told="c0ffee:3").run()
    assert gaps(run) == {"unfinished_span": 1}
    (finding,) = Never("delete").check(run.batch)
    assert finding.state is State.INSUFFICIENT


def test_parts_that_each_left_a_mark_are_no_gap():
    assert gaps(handed_over("c0ffee:2", "c0ffee:1", told="c0ffee:2").run()) == {}


@pytest.mark.parametrize("told", ["", "c0ffee", "c0ffee:", "c0ffee:-1", "c0ffee:1.5", "7", ":7"])
def test_what_is_no_count_of_parts_is_none(told: str):
    assert gaps(handed_over(told=told).run()) == {}


def test_a_call_below_a_missing_span_within_the_run_is_of_the_part_that_ended():
    record = Recording()
    agent = record.agent("support", run_id="r", attributes=RUN_SPAN, lasts=1000)
    record.tool("lookup", {}, "done", agent, run_id="r")
    record.tool("remote", {}, "done", "a client's span", run_id="r")
    assert gaps(record.run()) == {"missing_parent": 1}


def test_a_step_on_another_clock_of_the_run_fills_no_hole():
    record = Recording()
    ends = {**RUN_SPAN, "trackway.run.last_step": 1}
    agent = record.agent("support", run_id="r", attributes=ends)
    child = {"trackway.step.clock": "c0ffee:0"}
    record.tool("lookup", {}, "done", agent, run_id="r", step_index=1, attributes=child)
    run = record.run()
    assert gaps(run) == {"missing_steps": 1}
    assert [gap.detail for gap in run.gaps] == ["1"]


def test_a_clock_that_went_on_has_no_hole_before_it_began():
    record = Recording()
    first = record.agent(
        "support", run_id="r", attributes={**RUN_SPAN, "trackway.run.last_step": 2}, lasts=30
    )
    record.tool("lookup", {}, "done", first, run_id="r", step_index=1)
    record.tool("lookup", {}, "done", first, run_id="r", step_index=2)
    on = {"trackway.step.clock": "c0ffee:2"}
    later = record.agent(
        "support",
        run_id="r",
        attributes={**RUN_SPAN, **on, "trackway.run.last_step": 5},
        at=100,
    )
    record.tool("lookup", {}, "done", later, run_id="r", step_index=3, attributes=on)
    record.tool("lookup", {}, "done", later, run_id="r", step_index=5, attributes=on)
    run = record.run()
    assert gaps(run) == {"missing_steps": 1}
    assert [gap.detail for gap in run.gaps] == ["4"]
