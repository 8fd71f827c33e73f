"""One row a run: what it was, what it was asked, said and used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.span_builder import Recording, asked, call, said, user


def row(record: Recording, **options: Any) -> dict[str, Any]:
    run = record.run(**options)
    return run.batch.runs.to_pylist()[0]


def test_identity_comes_from_the_run():
    record = Recording(
        run_id="r1", suite_id="refunds", task_id="refund_7", trial=2, seed=11, variant="candidate"
    )
    root = record.span("workflow", lasts=10_000, agent_version="abc", service="shop")
    record.tool("lookup", {}, "done", record.agent("support", root), service="orders")
    found = row(record)
    names = ("run_id", "suite_id", "task_id", "trial", "seed", "variant", "agent_version")
    assert [found[name] for name in names] == [
        "r1",
        "refunds",
        "refund_7",
        2,
        11,
        "candidate",
        "abc",
    ]
    assert (found["service"], found["agent"]) == ("shop", "support")


def test_what_the_run_span_declares_stands():
    record = Recording(run_id="r1", source="trackway")
    attributes = {
        "trackway.outcome.success": False,
        "trackway.outcome.label": "no refund",
        "trackway.outcome.failure_mode": "silent",
        "trackway.outcome.censored": True,
        "trackway.outcome.state": '{"refunds":0}',
        "trackway.final.action": "send_email",
        "trackway.final.arguments": '{"to":"a"}',
        "trackway.deadline": "2030-01-01T00:00:00Z",
        "trackway.fingerprint.model": "gpt-4o",
        "trackway.fingerprint.prompt": "sha256:1",
    }
    text = "Refund of $84.00 was processed."
    record.span("workflow", attributes=attributes, input="Refund 7", output=text)
    found = row(record)
    assert (found["input"], found["final_text"]) == ("Refund 7", text)
    assert (found["outcome_success"], found["outcome_label"]) == (False, "no refund")
    assert (found["outcome_failure_mode"], found["outcome_censored"]) == ("silent", True)
    assert (found["final_action"], found["final_arguments"]) == ("send_email", '{"to":"a"}')
    assert (found["outcome_state"], found["deadline"]) == ('{"refunds":0}', "2030-01-01T00:00:00Z")
    assert json.loads(found["fingerprint"]) == {"model": "gpt-4o", "prompt": "sha256:1"}


def test_nobody_judged_is_null():
    record = Recording()
    record.tool("lookup", {}, "done")
    found = row(record)
    nothing = (
        "outcome_success",
        "outcome_censored",
        "final_action",
        "deadline",
        "tokens_in",
        "cost",
    )
    assert {found[name] for name in nothing} == {None}


def test_a_verdict_that_is_no_boolean_is_none():
    record = Recording(run_id="r1")
    record.span("workflow", attributes={"trackway.outcome.success": "yes"})
    assert row(record)["outcome_success"] is None


@pytest.mark.parametrize(
    ("recorded", "text"),
    [
        ("All done.", "All done."),
        ('"All done."', "All done."),
        (json.dumps([said("All done.")]), "All done."),
        (json.dumps([user("go"), said("All done.")]), "All done."),
        (json.dumps([user("go"), asked(call("lookup"))]), None),
        ("null", None),
        ('{"state": 7}', '{"state": 7}'),
    ],
)
def test_the_final_text_of_an_agent_that_recorded_its_output(recorded: str, text: str | None):
    record = Recording()
    record.agent("support", output=recorded)
    assert row(record)["final_text"] == text


def test_a_models_last_words_win_over_a_state_that_a_framework_recorded():
    record = Recording()
    agent = record.agent("support", output='{"messages": []}')
    record.model(agent, told=[user("go")], says="All done.")
    assert row(record)["final_text"] == "All done."


def test_an_agent_that_answers_through_a_tool_speaks_for_the_run_around_it():
    record = Recording()
    run = record.span("workflow", lasts=10_000)
    agent = record.agent("support", run, output="All done.")
    record.model(agent, told=[user("go")], asks=[call("final_answer", {"answer": "All done."})])
    assert row(record)["final_text"] == "All done."


def test_the_agent_of_a_tool_does_not_speak_for_the_run():
    record = Recording()
    run = record.span("workflow", lasts=10_000)
    boss = record.agent("boss", run)
    record.model(boss, told=[user("go")], asks=[call("ask_expert", {}, "c1")])
    record.agent("expert", record.tool("ask_expert", {}, "hm", boss), output="Expert words.")
    assert row(record)["final_text"] is None


def test_words_before_a_call_are_no_final_text():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[], says="First.")
    record.model(agent, told=[], says="Let me look.", asks=[call("lookup", {}, "c1")])
    assert row(record)["final_text"] == "First."


def test_the_model_of_a_tool_does_not_speak_for_the_run():
    record = Recording()
    agent = record.agent("boss")
    record.model(agent, told=[user("go")], says="All done.")
    expert = record.agent("expert", record.tool("ask_expert", {}, "hm", agent))
    record.model(expert, told=[user("sub task")], says="Expert words.")
    found = row(record)
    assert (found["input"], found["final_text"]) == ("go", "All done.")


def test_what_was_said_before_the_assistant_spoke_belongs_to_earlier_runs():
    record = Recording()
    history = [user("one"), said("1."), user("two")]
    record.model(told=history, says="Which?")
    record.model(told=[*history, said("Which?"), user("the second")], says="2.")
    assert row(record)["input"] == "two\nthe second"


def test_what_one_agent_tells_the_next_is_no_word_of_the_user():
    record = Recording()
    workflow = record.span("workflow", lasts=10_000)
    for name, told in (("triage", "go"), ("billing", "For context: triage said so")):
        agent = record.agent(name, workflow)
        record.model(agent, told=[user(told)], says="ok")
    assert row(record)["input"] == "go"


def test_by_session_input_is_everything_that_the_user_said_once():
    record = Recording(session_id="s1")
    record.model(told=[user("hello")], says="Hi.", trace="t1")
    record.model(told=[user("hello"), said("Hi."), user("bye")], says="Bye.", trace="t2")
    found = row(record, by="session")
    assert (found["input"], found["final_text"]) == ("hello\nbye", "Bye.")


def test_tokens_are_summed_over_model_calls_only():
    record = Recording()
    agent = record.agent("support", tokens_in=999, tokens_out=999)
    record.model(agent, told=[], tokens_in=10, tokens_out=1, cost=0.5)
    record.model(agent, told=[], tokens_in=20, tokens_out=None, cost=0.25)
    found = row(record)
    assert (found["tokens_in"], found["tokens_out"], found["cost"]) == (30, 1, 0.75)
    assert (found["model_calls"], found["tool_calls"], found["steps"]) == (2, 0, 2)


def test_where_no_step_counted_the_agents_own_count_stands():
    record = Recording()
    agent = record.agent("support", tokens_in=70, tokens_out=7)
    record.model(agent, told=[], says="hm")
    found = row(record)
    assert (found["tokens_in"], found["tokens_out"]) == (70, 7)


def test_times_and_errors_of_the_run():
    record = Recording()
    agent = record.agent(
        "support", lasts=2000, status="ERROR", error_type="ValueError", error_message="no order"
    )
    record.tool("lookup", {}, "done", agent)
    found = row(record)
    assert found["duration_s"] == 2.0
    assert (found["error_type"], found["error_message"]) == ("ValueError", "no order")


def test_a_run_that_never_ended_has_no_duration():
    record = Recording()
    record.tool("lookup", {}, None, lasts=None)
    found = row(record)
    assert (found["end"], found["duration_s"]) == (None, None)


def test_sequence_counts_and_sources():
    record = Recording()
    agent = record.agent("support", source="trackway")
    record.tool("lookup", {}, {"error": "busy"}, agent)
    record.tool("lookup", {}, "done", agent)
    record.tool("refund", {}, "done", agent)
    found = row(record)
    assert found["tools"] == ["lookup", "lookup", "refund"]
    assert (found["tool_calls"], found["retries"], found["spans"]) == (3, 1, 4)
    assert found["sources"] == ["trackway", "otel-genai"]


def test_what_a_provider_ran_parts_the_words_around_it():
    record = Recording()
    parts = [
        {"type": "text", "content": "Search first."},
        {"type": "server_tool_call", "name": "web_search"},
        {"type": "text", "content": "Found it."},
    ]
    output = json.dumps([{"role": "assistant", "parts": parts}])
    record.span("llm", output=output)
    assert row(record)["final_text"] == "Found it."


def test_events_of_ours_on_no_step_are_the_runs_in_order_of_time():
    record = Recording()
    names = ["trackway.wait", "exception", "trackway.decision"]
    events = [
        {"name": name, "time": 1_000 - number, "attributes": "{}"}
        for number, name in enumerate(names)
    ]
    agent = record.agent("support", events=events)
    record.tool("lookup", {}, "done", agent, events=[{**events[0], "name": "trackway.effect"}])
    assert [event["name"] for event in row(record)["events"]] == [
        "trackway.decision",
        "trackway.wait",
    ]
    (step,) = record.run().batch.steps["events"].to_pylist()
    assert [event["name"] for event in step] == ["trackway.effect"]


def test_what_other_traces_of_a_run_answered_before_is_kept():
    record = Recording(run_id="r1")
    for number, (trace, text) in enumerate([("t1", "One."), ("t2", "Two."), ("t3", "Three.")]):
        record.agent("support", trace=trace, at=number * 20, lasts=10, output=text)
    record.agent("planner", trace="t3", at=41, lasts=1, output="A plan.")
    found = row(record)
    assert (found["said"], found["final_text"]) == (["One.", "Two."], "Three.")
