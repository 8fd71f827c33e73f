"""Tool steps meet the requests of their models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from analyzer.span_builder import (
    Message,
    Recording,
    answered,
    asked,
    call,
    gaps,
    outline,
    said,
    user,
)
from trackway_analyzer.model import Trajectory
from trackway_analyzer.rules import Called, Executed, Never, Rule, State

LOOKUP = call("lookup", {"id": 7}, "c1")
POLICY = call("policy", {"id": 7}, "c2")


def test_a_call_id_joins_a_tool_to_its_turn():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP])
    record.tool("lookup", {"id": 7}, "done", agent, call_id="c1")
    model, tool = record.run()
    assert (tool.turn, tool.requested, tool.id_inferred) == (model.position, True, False)


def test_calls_of_one_turn_are_a_group_in_the_order_of_the_request():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP, POLICY])
    record.tool("policy", {"id": 7}, "fine", agent, call_id="c2")
    record.tool("lookup", {"id": 7}, "done", agent, call_id="c1")
    record.model(agent, says="bye")
    assert outline(record.run()) == ["llm", "(lookup policy)", "llm"]


def test_without_call_ids_name_and_arguments_join_and_say_so():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("lookup", {"id": 1}, "c1"), call("lookup", {"id": 2}, "c2")])
    record.tool("lookup", {"id": 2}, "two", agent)
    record.tool("lookup", {"id": 1.0}, "one", agent)
    _, one, two = record.run()
    assert [(s.call_id, s.result, s.id_inferred) for s in (one, two)] == [
        ("c1", "one", True),
        ("c2", "two", True),
    ]


def test_without_arguments_the_name_joins_within_the_latest_turn():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP])
    record.tool("lookup", None, "done", agent)
    _, tool = record.run()
    assert (tool.arguments, tool.call_id, tool.id_inferred) == ({"id": 7}, "c1", True)


def test_arguments_that_lost_their_names_come_from_the_request():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP])
    record.tool("lookup", {"input": "7"}, "done", agent)
    assert record.run().tool_steps[0].arguments == {"id": 7}


def test_an_older_request_of_the_same_name_does_not_license_a_later_call():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("refund", {"id": 7}, "c1")])
    record.model(agent, asks=[call("lookup", {"id": 7}, "c2")])
    record.tool("lookup", {"id": 7}, "done", agent)
    record.tool("refund", {"id": 8}, "done", agent)
    run = record.run()
    assert outline(run) == ["llm", "refund-", "llm", "lookup", "refund"]
    assert run.tool_steps[-1].requested is False


def test_the_name_that_the_model_saw_joins():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("refund_create", {"id": 7}, "c1")])
    record.tool("refund_api.create", {"id": 7}, "done", agent, tool_alias="refund_create")
    _, tool = record.run()
    assert (tool.tool, tool.requested, tool.executed) == ("refund_api.create", True, True)


def test_a_call_id_used_twice_belongs_to_the_latest_open_request():
    record = Recording()
    agent = record.agent("support")
    for number in (1, 2):
        record.model(agent, asks=[call("lookup", {"id": number}, "same")])
        record.tool("lookup", {"id": number}, f"found {number}", agent, call_id="same")
    run = record.run()
    assert [(step.turn, step.result) for step in run.tool_steps] == [(0, "found 1"), (2, "found 2")]


def test_requested_but_never_executed_is_kept():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP, call("refund", {"id": 7}, "c2")])
    record.tool("lookup", {"id": 7}, "done", agent, call_id="c1")
    record.model(agent, says="Your refund is on its way.")
    run = record.run()
    assert outline(run) == ["llm", "(lookup refund-)", "llm"]
    refund = run.steps[2]
    assert (refund.executed, refund.requested, refund.ok) == (False, True, False)
    assert (refund.arguments, refund.synthesised, refund.span_id) == ({"id": 7}, True, None)
    assert run.tools == ["lookup"]


@pytest.mark.parametrize(
    "refusal",
    [
        "The tool call was denied.",
        "Tool execution was not approved.",
        "Error: Tool call invocation was rejected by user.",
        "User rejected the tool call for `refund` with reason: not before Monday",
        "User rejected the tool call for `refund` with id c2. The tool was not executed.",
    ],
)
def test_a_request_that_a_person_refused_was_never_executed(refusal: str):
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP])
    record.tool("lookup", {"id": 7}, "done", agent, call_id="c1")
    record.model(agent, asks=[call("refund", {"id": 7}, "c2")])
    record.model(
        agent,
        told=[asked(call("refund", {"id": 7}, "c2")), answered("c2", refusal)],
        says="Somebody said no.",
    )
    lookup, refund = (step for step in record.run().steps if step.tool)
    assert (lookup.executed, lookup.ok) == (True, True)
    assert (refund.tool, refund.executed, refund.ok) == ("refund", False, False)


REFUSED = "Ann says: not before Monday."
SHOWING_TOOLS = [
    "ai",  # the Vercel AI SDK, which no instrumentor of ours records
    "agent_framework",
    "gcp.vertex.agent",
    "openinference.instrumentation.claude_agent_sdk",
    "openinference.instrumentation.crewai",
    "openinference.instrumentation.smolagents",
    "opentelemetry.instrumentation.genai.agno",
    "opentelemetry.instrumentation.genai.dspy",
    "opentelemetry.instrumentation.genai.langchain",
    "opentelemetry.instrumentation.genai.llama_index",
    "opentelemetry.instrumentation.genai.openai_agents",
    "pydantic-ai",
    "strands.telemetry.tracer",
]
"""The first choice of every framework of the registry, and one beside it."""


def refused_in_words(agent_scope: str | None, *, lookup: bool = True, **answer: Any) -> Trajectory:
    """A run in which the refund is answered in somebody's own words, and has no span."""
    record = Recording()
    agent = record.agent("support", scope=agent_scope)
    if lookup:
        record.model(agent, asks=[LOOKUP])
        record.tool("lookup", {"id": 7}, "done", agent, call_id="c1")
    record.model(agent, asks=[call("refund", {"id": 7}, "c2")])
    told = [asked(call("refund", {"id": 7}, "c2")), answered("c2", REFUSED, **answer)]
    record.model(agent, told=told, says="Somebody said no.")
    return record.run()


@pytest.mark.parametrize(
    ("agent_scope", "lookup"),
    [(None, True), ("pydantic-ai", True), *((scope, False) for scope in SHOWING_TOOLS)],
)
def test_an_answer_alone_does_not_show_that_a_call_ran_where_calls_have_spans(
    agent_scope: str | None, lookup: bool
) -> None:
    run = refused_in_words(agent_scope, lookup=lookup)
    refund = next(step for step in run if step.tool == "refund")
    assert (refund.executed, refund.ok, refund.result) == (False, None, REFUSED)
    assert run.tools == ["lookup"] * lookup
    assert [(gap.name, gap.position, gap.detail) for gap in run.gaps] == [
        (
            "tools_not_observable",
            refund.position,
            "answered in the messages, and no span shows that it ran",
        )
    ]


@pytest.mark.parametrize("rule", [Called("refund"), Never("refund"), Executed("refund")])
def test_no_rule_takes_a_call_that_only_an_answer_tells_of_for_made_or_not_made(rule: Rule) -> None:
    results = rule.check(refused_in_words("pydantic-ai").batch)
    assert [result.state for result in results] == [State.INSUFFICIENT]


def asked_without_a_span(
    *, status: str = "OK", scope: str | None = None, later: Sequence[Message] | None = None
) -> Trajectory:
    """The second of two calls has neither a span nor an answer that is read."""
    record = Recording(scope=scope)
    agent = record.agent("support", status=status)
    record.model(agent, told=[], asks=[call("lookup", {}, "c1")])
    record.tool("lookup", {}, "done", agent, call_id="c1")
    record.model(agent, told=[], asks=[call("refund", {}, "c2")])
    if later is not None:
        record.model(agent, told=later, says="Done.")
    return record.run()


RULES = [Never("refund"), Called("refund"), Executed("refund")]
OPEN = [State.INSUFFICIENT] * 3


def states(run: Trajectory) -> list[State]:
    return [result.state for rule in RULES for result in rule.check(run.batch)]


def test_a_call_in_which_an_agent_may_have_failed_may_have_been_made():
    assert states(asked_without_a_span(status="ERROR")) == OPEN
    assert states(asked_without_a_span()) == [State.VIOLATED, State.VIOLATED]


def test_a_call_that_is_left_to_the_client_may_have_been_made():
    assert states(asked_without_a_span(scope="ai")) == OPEN
    told = [asked(call("refund", {}, "c2")), user("and?")]
    assert states(asked_without_a_span(scope="ai", later=told)) == [State.VIOLATED] * 2


def test_a_call_may_have_been_made_where_the_next_turn_was_told_of_none_that_is_read():
    assert states(asked_without_a_span(later=[user("Observation: done")])) == OPEN
    told = [asked(call("refund", {}, "c2")), user("and?")]
    assert states(asked_without_a_span(later=told)) == [State.VIOLATED, State.VIOLATED]


def test_an_error_without_a_span_is_a_call_that_did_not_run():
    run = refused_in_words("pydantic-ai", is_error=True)
    refund = next(step for step in run if step.tool == "refund")
    assert (refund.executed, refund.ok) == (False, False)
    assert run.gaps == ()


@pytest.mark.parametrize(
    "scope",
    [
        None,
        "opentelemetry.instrumentation.genai.openai",
        "com.anthropic.sdk.python",
        "opentelemetry.instrumentation.genai.smolagents",  # writes the root span alone
    ],
)
def test_where_no_call_has_a_span_an_answer_shows_that_it_ran(scope: str | None):
    run = refused_in_words(scope, lookup=False)
    refund = next(step for step in run if step.tool == "refund")
    assert (refund.executed, refund.synthesised, refund.result) == (True, True, REFUSED)


def test_what_a_provider_runs_itself_was_executed_though_calls_have_spans():
    record = Recording()
    agent = record.agent("support", scope="pydantic-ai")
    parts = [call("web_search", {"q": "x"}, "s1"), answered("s1", "found")["parts"][0]]
    record.model(agent, asks=parts)
    (search,) = record.run().tool_steps
    assert (search.tool, search.executed, search.ok) == ("web_search", True, True)


def test_a_handover_that_was_answered_was_executed_though_calls_have_spans():
    record = Recording()
    workflow = record.span("workflow", lasts=10_000)
    triage = record.agent("triage", workflow)
    hand_over = call("transfer_to_billing_desk", {}, "c1")
    record.model(triage, told=[user("go")], asks=[hand_over])
    billing = record.agent("Billing desk", workflow)
    record.model(
        billing,
        told=[user("go"), asked(hand_over), answered("c1", {"assistant": "Billing desk"})],
        asks=[call("refund", {}, "c2")],
    )
    record.tool("refund", {}, "done", billing, call_id="c2")
    run = record.run()
    assert run.tools == ["transfer_to_billing_desk", "refund"]
    assert all(step.ok for step in run.tool_steps)


def test_executed_without_a_request_is_marked():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP])
    record.tool("lookup", {"id": 7}, "done", agent, call_id="c1")
    record.tool("delete_account", {"id": 7}, "done", agent)
    assert [step.requested for step in record.run().tool_steps] == [True, False]


def test_without_recorded_requests_nothing_is_said_about_them():
    record = Recording()
    record.tool("lookup", {"id": 7}, "done", record.agent("support"))
    assert record.run().tool_steps[0].requested is None


def test_a_second_execution_under_one_call_id_is_another_try_not_unasked():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP])
    record.tool("lookup", {"id": 7}, None, agent, call_id="c1", raises="TimeoutError")
    record.tool("lookup", {"id": 7}, "done", agent, call_id="c1")
    run = record.run()
    assert [(s.requested, s.attempt, s.retry_of) for s in run.tool_steps] == [
        (True, 1, None),
        (True, 2, 1),
    ]


def test_a_retry_after_a_failure_needs_no_request_of_its_own():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[LOOKUP])
    record.tool("lookup", {"id": 7}, {"error": "busy"}, agent)
    record.tool("lookup", {"id": 7}, "done", agent)
    assert [step.requested for step in record.run().tool_steps] == [True, True]


def test_a_second_execution_after_a_success_was_not_asked_for():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("refund", {"id": 7}, "c1")])
    record.tool("refund", {"id": 7}, {"status": "succeeded"}, agent)
    record.tool("refund", {"id": 7}, {"status": "succeeded"}, agent)
    assert [step.requested for step in record.run().tool_steps] == [True, False]


def test_a_tool_inside_a_tool_takes_no_request():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("outer", {}, "c1"), call("lookup", {"id": 7}, "c2")])
    outer = record.tool("outer", {}, "done", agent)
    record.tool("lookup", {"id": 7}, "for outer", outer)
    record.tool("lookup", {"id": 7}, "for the model", agent)
    run = record.run()
    assert [(s.tool, s.requested, s.result) for s in run.tool_steps] == [
        ("outer", True, "done"),
        ("lookup", False, "for outer"),
        ("lookup", True, "for the model"),
    ]


def test_calls_that_only_the_messages_tell_of_become_steps():
    record = Recording()
    told = [user("Where is order 7?")]
    record.model(told=told, asks=[LOOKUP, POLICY])
    told += [
        asked(LOOKUP, POLICY),
        answered("c1", {"total": 84}),
        answered("c2", {"error": "down"}),
    ]
    record.model(told=told, asks=[call("refund", {"id": 7}, "c3")])
    told += [asked(call("refund", {"id": 7}, "c3")), answered("c3", "Error: gateway timeout")]
    record.model(told=told, says="Sorry.")
    run = record.run()
    assert outline(run) == ["llm", "(lookup policy!)", "llm", "refund!", "llm"]
    assert all(step.synthesised and step.executed for step in run.tool_steps)
    assert run.steps[1].result == {"total": 84}
    assert (run.steps[1].start, run.steps[1].turn) == (None, 0)
    assert gaps(run) == {}


def test_a_history_told_again_and_again_adds_no_call():
    record = Recording()
    told = [user("go")]
    for number in range(1, 6):
        request = call("step", {"number": number}, f"c{number}")
        record.model(told=told, asks=[request])
        told = [*told, asked(request), answered(f"c{number}", f"did {number}")]
    record.model(told=told, says="done")
    run = record.run()
    assert [step.result for step in run.tool_steps] == [f"did {number}" for number in range(1, 6)]


def test_the_same_request_twice_without_ids_is_two_calls():
    record = Recording()
    told = [user("go")]
    for number in (1, 2):
        record.model(told=told, asks=[call("poll", {"id": 7})])
        told = [*told, asked(call("poll", {"id": 7})), answered(None, f"answer {number}")]
    record.model(told=told, says="done")
    run = record.run()
    assert [step.result for step in run.tool_steps] == ["answer 1", "answer 2"]


def test_a_shortened_history_gives_each_answer_to_its_own_call():
    record = Recording()
    record.model(told=[user("go")], asks=[call("poll", {"id": 7}, "same")])
    first = [asked(call("poll", {"id": 7}, "same")), answered("same", "one")]
    record.model(told=[user("go"), *first], asks=[call("poll", {"id": 7}, "same")])
    second = [asked(call("poll", {"id": 7}, "same")), answered("same", "two")]
    record.model(told=[user("go"), *second], says="done")
    assert [step.result for step in record.run().tool_steps] == ["one", "two"]


def test_a_lost_turn_is_known_from_the_next_input():
    record = Recording()
    record.model(
        told=[user("go"), asked(LOOKUP), answered("c1", "found"), asked(POLICY)],
        says="done",
    )
    run = record.run()
    assert outline(run) == ["lookup", "policy-", "llm"]
    assert run.steps[0].turn is None


def test_a_turn_whose_output_is_off_asked_for_what_the_next_input_tells():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[user("go")])
    record.tool("lookup", {"id": 7}, None, agent)
    record.model(agent, told=[user("go"), asked(LOOKUP), answered("c1", "found")], says="done")
    model, tool, _ = record.run()
    assert (tool.turn, tool.result, tool.requested) == (model.position, "found", True)


def test_calls_before_the_last_word_of_the_user_belong_to_earlier_runs():
    record = Recording()
    history = [
        user("hello"),
        asked(LOOKUP),
        answered("c1", "found"),
        said("Found."),
        user("thanks"),
    ]
    record.model(told=history, says="Welcome.")
    assert outline(record.run()) == ["llm"]


def test_by_session_a_history_over_traces_adds_no_call():
    record = Recording(session_id="s1")
    one = record.agent("support", trace="t1")
    record.model(one, told=[user("hello")], asks=[LOOKUP], trace="t1")
    record.tool("lookup", {"id": 7}, "found", one, call_id="c1", trace="t1")
    history = [user("hello"), asked(LOOKUP), answered("c1", "found")]
    record.model(one, told=history, says="Found.", trace="t1")
    two = record.agent("support", trace="t2")
    record.model(two, told=[*history, said("Found."), user("thanks")], says="Bye.", trace="t2")
    assert outline(record.run(by="session")) == ["llm", "lookup", "llm", "llm"]


def test_history_under_other_ids_is_recognised_by_its_content():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[user("go")], asks=[LOOKUP])
    record.tool("lookup", {"id": 7}, None, agent)
    renamed = call("lookup", {"id": 7}, "fc-1")
    record.model(agent, told=[user("go"), asked(renamed), answered("c1", "found")], says="done")
    run = record.run()
    assert outline(run) == ["llm", "lookup", "llm"]
    assert run.tool_steps[0].result == "found"


def test_a_simulated_users_calls_are_not_the_agents():
    record = Recording()
    request = {"role": "user", "parts": [call("check_phone", {}, "u1")]}
    record.model(told=[user("go"), request, answered("u1", "off")], says="Turn it on.")
    assert outline(record.run()) == ["llm"]


def test_results_and_errors_that_spans_lack_come_from_the_answers():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, told=[user("go")], asks=[LOOKUP, POLICY])
    record.tool("lookup", {"id": 7}, None, agent, call_id="c1")
    record.tool("policy", {"id": 7}, None, agent, call_id="c2", status="ERROR")
    answers = [answered("c1", {"total": 84}), answered("c2", "policy server is down")]
    record.model(agent, told=[user("go"), asked(LOOKUP, POLICY), *answers], says="done")
    lookup, policy = record.run().tool_steps
    assert (lookup.result, lookup.ok) == ({"total": 84}, True)
    assert (policy.error_message, policy.ok) == ("policy server is down", False)


def test_an_answer_marked_as_an_error_is_a_failed_call():
    record = Recording()
    record.model(told=[user("go")], asks=[LOOKUP])
    told = [user("go"), asked(LOOKUP), answered("c1", "no such order", is_error=True)]
    record.model(told=told, says="Sorry.")
    (step,) = record.run().tool_steps
    assert (step.ok, step.error_message) == (False, "no such order")


def test_the_last_turns_request_in_a_run_without_tool_spans_is_not_observable():
    record = Recording()
    record.model(told=[user("go")], asks=[LOOKUP])
    run = record.run()
    assert outline(run) == ["llm", "lookup-"]
    assert run.steps[1].ok is None
    assert [(gap.name, gap.position) for gap in run.gaps] == [("tools_not_observable", 1)]


def test_agents_with_the_same_request_get_their_own():
    record = Recording()
    boss = record.agent("boss")
    for name in ("left", "right"):
        agent = record.agent(name, boss)
        record.model(agent, asks=[call("lookup", {"id": 7}, f"c-{name}")])
    for name, parent in (("right", "s4"), ("left", "s2")):
        record.tool("lookup", {"id": 7}, name, parent)
    found = {step.call_id: (step.result, step.agent) for step in record.run().tool_steps}
    assert found == {"c-left": ("left", "left"), "c-right": ("right", "right")}


def test_a_tool_that_the_provider_ran_is_answered_where_it_was_asked_for():
    record = Recording()
    parts = [call("web_search", {"q": "x"}, "srv1"), answered("srv1", "found")["parts"][0]]
    record.model(told=[user("go")], asks=parts, says="Here it is.")
    (step,) = record.run().tool_steps
    assert (step.tool, step.result, step.synthesised) == ("web_search", "found", True)


def test_a_structured_answer_is_no_call_that_was_never_executed():
    record = Recording()
    agent = record.agent("support", output='{"city":"Paris"}')
    record.model(agent, told=[user("go")], asks=[call("final_result", {"city": "Paris"}, "c1")])
    assert outline(record.run()) == ["llm"]


def test_a_chain_that_gives_back_what_was_asked_for_gives_a_structured_answer():
    record = Recording()
    chain = record.span("other", output='{"city":"Paris"}')
    record.model(chain, told=[user("go")], asks=[call("City", {"city": "Paris"})])
    assert outline(record.run()) == ["llm"]


def test_a_call_whose_arguments_nobody_gave_back_stays_a_call():
    record = Recording()
    chain = record.span("other", output='{"city":"Rome"}')
    record.model(chain, told=[user("go")], asks=[call("City", {"city": "Paris"})])
    assert outline(record.run()) == ["llm", "City-"]


def test_a_tool_that_a_model_was_told_of_for_its_output_is_no_call():
    record = Recording()
    agent = record.agent("critic")
    told = {"model_request_parameters": {"output_tools": [{"name": "final_result"}]}}
    asks = [call("final_result", {"quality": "good"}, "c1"), call("look_up", {"id": 1}, "c2")]
    record.model(agent, told=[user("go")], asks=asks, attributes=told)
    assert outline(record.run()) == ["llm", "look_up-"]


def test_a_call_that_a_later_model_is_told_of_by_the_id_of_its_item_is_asked_for_once():
    record = Recording()
    workflow = record.span("workflow", lasts=10_000)
    router = record.agent("router", workflow)
    moved = call("transfer_to_desk", {}, "call_1")
    record.model(router, told=[user("go")], asks=[moved])
    item = asked(call("transfer_to_desk", {}, "fc_1"))
    told = [user("go"), item, answered("call_1", {"assistant": "desk"})]
    record.model(workflow, told=told, says="done")
    assert outline(record.run()) == ["llm", "transfer_to_desk", "llm"]


def test_two_agents_with_one_request_do_not_share_a_lost_turn():
    record = Recording()
    boss = record.agent("boss")
    left, right = record.agent("left", boss), record.agent("right", boss)
    record.model(left, told=[user("go")], asks=[call("lookup", {"id": 7}, "c-left")])
    record.tool("lookup", {"id": 7}, "for left", left, call_id="c-left")
    told = [user("go"), asked(call("lookup", {"id": 7}, "c-right")), answered("c-right", "mine")]
    record.model(right, told=told, says="done")
    assert [step.result for step in record.run() if step.tool] == ["for left", "mine"]


def test_an_id_that_an_earlier_run_used_too_is_not_told_twice():
    record = Recording()
    old, new = call("lookup", {"id": 1}, "same"), call("lookup", {"id": 2}, "same")
    history = [user("one"), asked(old), answered("same", "old"), said("1."), user("two")]
    agent = record.agent("support")
    record.model(agent, told=history, asks=[new])
    record.tool("lookup", {"id": 2}, "new", agent, call_id="same")
    record.model(agent, told=[*history, asked(new), answered("same", "new")], says="2.")
    run = record.run()
    assert outline(run) == ["llm", "lookup", "llm"]
    assert run.tool_steps[0].synthesised is False


def test_a_handover_that_another_agent_took_up_was_executed():
    record = Recording()
    workflow = record.span("workflow", lasts=10_000)
    triage = record.agent("triage", workflow)
    record.model(triage, told=[user("go")], asks=[call("transfer_to_billing_desk", {}, "c1")])
    billing = record.agent("Billing desk", workflow)
    record.tool("refund", {}, "done", billing)
    run = record.run()
    assert outline(run) == ["llm", "transfer_to_billing_desk", "refund"]
    assert run.gaps == ()


def test_a_handover_that_nobody_took_up_was_not():
    record = Recording()
    workflow = record.span("workflow", lasts=10_000)
    record.tool("refund", {}, "done", record.agent("billing", workflow))
    triage = record.agent("triage", workflow)
    record.model(triage, told=[user("go")], asks=[call("transfer_to_billing", {}, "c1")])
    assert outline(record.run()) == ["refund", "llm", "transfer_to_billing-"]


def test_a_span_that_holds_several_turns_asks_once():
    record = Recording()
    agent = record.agent("support")
    told = [user("go"), asked(LOOKUP), answered("c1", "found"), asked(POLICY), answered("c2", "ok")]
    record.model(agent, told=told, asks=[POLICY], says="done", lasts=100)
    record.tool("lookup", {"id": 7}, "found", agent, call_id="c1")
    record.tool("policy", {"id": 7}, "ok", agent, call_id="c2")
    run = record.run()
    assert run.tools == ["lookup", "policy"]
    assert not any(step.synthesised for step in run)
