"""One refund agent in every framework: does the analyzer give back what the agent did?

`make frameworks` lets the agents play and then runs this file. A test is a column of the matrix in
docs/frameworks.md.
"""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

import trackway_analyzer as ta
from frameworks.catalogue import FRAMEWORKS
from frameworks.features import HANDOFFS, NOTES, asked_of_all
from frameworks.recordings import ANSWERS_BY_TOOL, Recording, recording
from frameworks.script import AGENT, POLICIES, QUESTION

TOOLS = ["lookup_order", "check_policy", "refund_create", "send_email"]
REQUEST = "Refund order {}"


def the_same(reference: Recording, candidate: Recording) -> None:
    """Equal by our own differ: no difference, and nothing that the record leaves open."""
    diff = ta.diff_trajectories(reference.run, candidate.run)
    assert diff.status == "ok", str(diff)
    assert not diff.differences, str(diff)


def as_without(framework: str, variant: str) -> None:
    """The variant gives the trajectory, the tokens and the answer of the plain run."""
    played = recording(framework, variant)
    the_same(recording(framework, "happy"), played)
    tokens_are_right(played)
    assert played.run.final_text == played.scenario.turns[-1].text


def tokens_are_right(played: Recording) -> None:
    expected = [(turn.tokens_in, turn.tokens_out) for turn in played.scenario.turns]
    assert [(step.tokens_in, step.tokens_out) for step in played.model_calls] == expected
    run = played.run.run
    total = (played.scenario.tokens_in, played.scenario.tokens_out)
    assert (run["tokens_in"], run["tokens_out"]) == total


def several_agents_are_told(played: Recording) -> None:
    """Who asked for what, in order, with ids, values, turns and tokens; in one run."""
    turns = played.scenario.turns
    expected = [
        (turn.agent, name) for turn in turns for name in ("llm", *(c.tool for c in turn.calls))
    ]
    tools = {step.position for step in played.tools}
    shown = [s for s in played.run.steps if s.operation == "llm" or s.position in tools]
    assert [(step.agent, step.tool or step.operation) for step in shown] == expected
    calls = played.scenario.calls
    assert [step.call_id for step in played.tools] == [call.id for call in calls]
    assert [step.arguments for step in played.tools] == [call.arguments for call in calls]
    assert [step.result for step in played.tools] == [call.result for call in calls]
    assert all(step.executed and step.ok for step in played.tools)
    asked = [step.position for step in played.model_calls]
    turn_of = [at for at, turn in zip(asked, turns, strict=True) for _ in turn.calls]
    assert [step.turn for step in played.tools] == turn_of
    tokens_are_right(played)
    assert played.run.gaps == ()
    assert set(played.spans["run_id"].to_pylist()) == {played.run.run_id}
    assert played.run.final_text == turns[-1].text


@asked_of_all("order")
def test_four_tools_in_order(framework: str) -> None:
    played = recording(framework, "happy")
    assert [step.tool for step in played.tools] == TOOLS
    assert all(step.executed and step.ok for step in played.tools)
    assert {step.synthesised for step in played.tools} == {(framework, "order") in NOTES}


@asked_of_all("arguments")
def test_arguments(framework: str) -> None:
    played = recording(framework, "happy")
    expected = [call.arguments for call in played.scenario.calls]
    assert [step.arguments for step in played.tools] == expected


@asked_of_all("results")
def test_results(framework: str) -> None:
    played = recording(framework, "happy")
    assert [step.result for step in played.tools] == [call.result for call in played.scenario.calls]


@asked_of_all("ids")
def test_call_ids(framework: str) -> None:
    played = recording(framework, "happy")
    assert [step.call_id for step in played.tools] == [call.id for call in played.scenario.calls]
    assert {step.id_inferred for step in played.tools} == {(framework, "ids") in NOTES}


@asked_of_all("models")
def test_one_span_a_model_call(framework: str) -> None:
    played = recording(framework, "happy")
    assert len(played.model_calls) == len(played.scenario.turns)
    spans = pc.sum(pc.equal(played.spans["operation"], "llm")).as_py()
    assert spans == len(played.scenario.turns)


@asked_of_all("parents")
def test_parents(framework: str) -> None:
    played = recording(framework, "happy")
    assert played.run.gaps == ()
    asked = [step.position for step in played.model_calls]
    assert [step.turn for step in played.tools] == asked[: len(played.tools)]
    agent = None if played.framework.own_loop else "refund_agent"
    assert {step.agent for step in played.run.steps} == {agent}
    roots = [parent for parent in played.spans["parent_span_id"].to_pylist() if not parent]
    assert len(roots) == 1


@asked_of_all("tokens")
def test_tokens(framework: str) -> None:
    tokens_are_right(recording(framework, "happy"))


@asked_of_all("identity")
def test_one_run_id(framework: str) -> None:
    played = recording(framework, "happy")
    assert set(played.spans["run_id"].to_pylist()) == {played.run.run_id}


@asked_of_all("said")
def test_request_and_answer(framework: str) -> None:
    played = recording(framework, "happy")
    assert played.run.input == REQUEST.format(played.scenario.order)
    assert played.run.final_text == played.scenario.turns[-1].text


@asked_of_all("fail")
def test_a_failing_tool(framework: str) -> None:
    played = recording(framework, "fail")
    assert [step.tool for step in played.tools] == TOOLS[:3]
    assert [bool(step.ok) for step in played.tools] == [True, True, False]
    refund = played.tools[2]
    assert refund.ok is False
    assert played.framework.error_text in f"{refund.error_message} {refund.result}"
    if not played.framework.aborts:
        assert played.run.final_text == played.scenario.turns[-1].text


@asked_of_all("parallel")
@pytest.mark.parametrize("variant", ["parallel", "streaming-parallel"])
def test_parallel_calls(framework: str, variant: str) -> None:
    played = recording(framework, variant)
    assert [step.tool for step in played.tools] == TOOLS
    assert [step.call_id for step in played.tools] == [call.id for call in played.scenario.calls]
    groups = [step.group for step in played.tools]
    assert groups[0] == groups[1] != groups[2] == groups[3]
    first, second, _ = (step.position for step in played.model_calls)
    assert [step.turn for step in played.tools] == [first, first, second, second]
    tokens_are_right(played)


@asked_of_all("streaming")
def test_streaming(framework: str) -> None:
    as_without(framework, "streaming")


@asked_of_all("retry")
def test_retries_of_the_client(framework: str) -> None:
    played = recording(framework, "retry")
    assert [step.tool for step in played.tools] == TOOLS
    answered = [(step.tokens_in, step.tokens_out) for step in played.model_calls if step.ok]
    assert answered == [(turn.tokens_in, turn.tokens_out) for turn in played.scenario.turns]


@asked_of_all("attempts")
def test_refused_requests_are_seen(framework: str) -> None:
    played = recording(framework, "retry")
    refused = sum(len(turn.refused) for turn in played.scenario.turns)
    assert played.run.run["retries"] == refused


@asked_of_all("decorated")
def test_decorated_by_hand(framework: str) -> None:
    by_hand, instrumented = recording(framework, "decorated"), recording(framework, "happy")
    if not by_hand.framework.final_tool:
        the_same(by_hand, instrumented)
        return
    diff = ta.diff_trajectories(by_hand.run, instrumented.run)
    assert diff.unexpected_in_candidate == (ANSWERS_BY_TOOL,), str(diff)
    assert {difference.tool for difference in diff.differences} == {ANSWERS_BY_TOOL}, str(diff)
    assert diff.matched_steps == len(TOOLS)


@asked_of_all("two-lines")
def test_two_lines(framework: str) -> None:
    as_without(framework, "two-lines")


@asked_of_all("zero-code")
def test_zero_code(framework: str) -> None:
    as_without(framework, "zero-code")


@asked_of_all("reset")
def test_taking_off_the_librarys_own_tracing(framework: str) -> None:
    as_without(framework, "reset")


@asked_of_all("cut-off")
def test_a_library_whose_tracing_is_turned_off(framework: str) -> None:
    played = recording(framework, "cut-off")
    assert all(step.synthesised for step in played.tools)
    (lost,) = (gap for gap in played.run.gaps if gap.name == "instrumentation_lost")
    assert lost.detail == f"{framework}: {played.framework.cut_off_by}"


@asked_of_all("approval")
def test_an_approval_in_another_process(framework: str) -> None:
    played = recording(framework, "approval")
    assert len(set(played.spans["trace_id"].to_pylist())) == 2
    assert set(played.spans["run_id"].to_pylist()) == {played.run.run_id}
    waits = [event["name"] for event in played.run.run["events"] or ()]
    assert waits == ["trackway.wait", "trackway.resume"]
    assert [step.tool for step in played.tools] == TOOLS
    assert [step.call_id for step in played.tools] == [call.id for call in played.scenario.calls]
    tokens_are_right(played)
    assert played.run.final_text == played.scenario.turns[-1].text


@asked_of_all("refusal")
def test_an_approval_that_was_refused(framework: str) -> None:
    played = recording(framework, "refusal")
    assert set(played.spans["run_id"].to_pylist()) == {played.run.run_id}
    waits = [event["name"] for event in played.run.run["events"] or ()]
    assert waits == ["trackway.wait", "trackway.resume"]
    steps = [step for step in played.run.steps if step.tool]
    assert [step.tool for step in steps] == TOOLS[:3]
    assert [step.call_id for step in steps] == [call.id for call in played.scenario.calls]
    assert [step.executed for step in steps] == [True, True, False]
    refund = steps[2]
    in_her_words = not played.framework.refuses_itself
    assert refund.ok is (None if in_her_words else False)
    hidden = [(gap.name, gap.position) for gap in played.run.gaps]
    assert hidden == [("tools_not_observable", refund.position)] * in_her_words
    assert played.run.tools == TOOLS[:2]
    tokens_are_right(played)
    assert played.run.final_text == played.scenario.turns[-1].text


@asked_of_all("sub-agent")
def test_an_agent_as_a_tool(framework: str) -> None:
    managed = "managed" in FRAMEWORKS[framework].plays
    played = recording(framework, "managed" if managed else "sub-agent")
    several_agents_are_told(played)
    (asking,) = (step for step in played.tools if step.tool == "policy_agent")
    sub = [step for step in played.run.steps if step.agent == "policy_agent"]
    own = [step for step in played.run.steps if step.agent == AGENT]
    (path,) = {step.agent_path for step in own}
    assert {step.agent_path for step in sub} == {f"{path}/policy_agent"}
    assert asking.synthesised == managed
    if managed:
        return
    assert all(played.inside(step, asking) for step in sub)
    assert not any(played.inside(step, asking) for step in own)


@asked_of_all("handoff")
def test_another_agent_goes_on(framework: str) -> None:
    variant = next(name for name in HANDOFFS if name in FRAMEWORKS[framework].plays)
    played = recording(framework, variant)
    several_agents_are_told(played)
    before, after = dict.fromkeys(step.agent_path or "" for step in played.run.steps)
    inside = before if variant == "transfer" else before.rpartition("/")[0]
    assert after == "/".join([*filter(None, [inside]), "payment_agent"])
    assert {step.tool: step.agent for step in played.tools} == {
        "lookup_order": AGENT,
        played.scenario.calls[1].tool: AGENT,
        "refund_create": "payment_agent",
        "send_email": "payment_agent",
    }
    assert {step.tool: step.synthesised for step in played.tools} == {
        "lookup_order": False,
        played.scenario.calls[1].tool: variant == "handoff",
        "refund_create": False,
        "send_email": False,
    }


@asked_of_all("retriever")
def test_a_retriever(framework: str) -> None:
    played = recording(framework, "retriever")
    several_agents_are_told(played)
    (found,) = (step for step in played.run.steps if step.operation == "retrieval")
    (searching,) = (step for step in played.tools if step.tool == "search_policies")
    assert found.position == searching.position + 1
    assert played.inside(found, searching)
    assert found.agent == AGENT
    assert found.input == {"query": QUESTION}
    assert isinstance(found.output, list)
    assert [document["id"] for document in found.output] == list(POLICIES)
    assert found.ok
