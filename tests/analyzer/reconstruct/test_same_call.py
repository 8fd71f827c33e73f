"""Several spans of one call are one step."""

from __future__ import annotations

import pytest

from analyzer.span_builder import Recording, answered, asked, call, outline
from trackway_analyzer.model import NOT_RECORDED


def test_wrappers_leave_no_trace():
    record = Recording()
    agent = record.agent("support")
    for name in ("lookup", "refund"):
        record.tool(name, {}, "done", record.wrapper(record.wrapper(agent)))
    assert outline(record.run()) == ["lookup", "refund"]


def test_the_operation_decides_never_the_name():
    record = Recording()
    record.span("tool", name="ChatOpenAI", tool="lookup", result='"done"')
    record.span("llm", name="execute_tool lookup", output="[]")
    assert [(step.operation, step.tool) for step in record.run()] == [
        ("tool", "lookup"),
        ("llm", None),
    ]


def test_a_client_span_inside_a_framework_span_is_the_same_model_call():
    record = Recording()
    outer = record.model(says="hello", tokens_in=10, tokens_out=2, lasts=20)
    inner = record.model(outer, tokens_in=10, tokens_out=2, model_answered="gpt-4o-mini")
    (step,) = record.run()
    assert step.span_id == inner
    assert step.model_answered == "gpt-4o-mini"
    assert step.output == [{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]
    assert record.run().batch.runs["tokens_in"].to_pylist() == [10]


def test_one_response_id_makes_one_model_call_whatever_the_counts_say():
    record = Recording()
    response = {"gen_ai.response.id": "resp_1"}
    outer = record.model(says="hello", tokens_in=10, tokens_out=2, attributes=response, lasts=20)
    record.model(outer, tokens_in=9, tokens_out=2, attributes=response)
    assert outline(record.run()) == ["llm"]


def test_a_model_span_around_several_model_calls_is_a_wrapper():
    record = Recording()
    outer = record.model(tokens_in=30, tokens_out=3, lasts=50)
    record.model(outer, tokens_in=10, tokens_out=1)
    record.model(outer, tokens_in=20, tokens_out=2)
    run = record.run()
    assert outline(run) == ["llm", "llm"]
    assert run.batch.runs["tokens_in"].to_pylist() == [30]


def test_a_failed_try_inside_a_model_span_stays_a_step():
    record = Recording()
    outer = record.model(says="hello", tokens_in=10, tokens_out=2, lasts=50)
    record.model(outer, status="ERROR", error_type="429")
    record.model(outer, tokens_in=10, tokens_out=2)
    failed, answered = record.run()
    assert (failed.ok, failed.output) == (False, NOT_RECORDED)
    assert answered.output is not NOT_RECORDED


def test_a_model_span_around_a_call_with_another_response_id_is_a_wrapper():
    record = Recording()
    outer = record.model(says="outer", attributes={"gen_ai.response.id": "resp_1"}, lasts=20)
    inner = record.model(outer, tokens_in=5, attributes={"gen_ai.response.id": "resp_2"})
    (step,) = record.run()
    assert (step.span_id, step.output) == (inner, NOT_RECORDED)


def test_a_model_inside_the_tool_of_a_model_is_a_call_of_its_own():
    record = Recording()
    outer = record.model(says="hello", tokens_in=10, tokens_out=2, lasts=50)
    tool = record.tool("ask_expert", {}, "done", outer)
    record.model(tool, tokens_in=10, tokens_out=2)
    assert outline(record.run()) == ["llm", "ask_expert", "llm"]


def test_two_instrumentors_side_by_side_write_one_model_call():
    record = Recording()
    response = {"gen_ai.response.id": "resp_1"}
    agent = record.agent("support")
    record.model(agent, says="hello", attributes=response, scope="one", at=10, lasts=20)
    record.model(agent, tokens_in=5, attributes=response, scope="other", at=12, lasts=10)
    (step,) = record.run()
    assert step.tokens_in == 5
    assert step.output is not None


def test_a_constant_response_id_of_a_fake_model_merges_no_turns():
    record = Recording()
    response = {"gen_ai.response.id": "chatcmpl-123"}
    agent = record.agent("support")
    record.model(agent, says="one", attributes=response, scope="one")
    record.model(agent, says="two", attributes=response, scope="other")
    assert outline(record.run()) == ["llm", "llm"]


def test_two_calls_of_one_instrumentor_at_once_are_two_whatever_their_ids():
    record = Recording()
    response = {"gen_ai.response.id": "chatcmpl-123"}
    agent = record.agent("support")
    record.model(agent, says="one", attributes=response, scope="one", at=10, lasts=20)
    record.model(agent, says="two", attributes=response, scope="one", at=12, lasts=10)
    assert outline(record.run()) == ["llm", "llm"]


def test_client_and_server_of_one_tool_call_are_one_step_with_the_inner_times():
    record = Recording()
    outer = record.tool("lookup", {"id": 7}, None, call_id="c1", lasts=50)
    client = record.span("tool", outer, lasts=30)
    server = record.tool("lookup", None, {"total": 84}, client, service="orders")
    (step,) = record.run()
    assert (step.span_id, step.call_id) == (server, "c1")
    assert (step.arguments, step.result) == ({"id": 7}, {"total": 84})


def test_tools_of_different_names_are_never_one_call():
    record = Recording()
    outer = record.tool("ask_expert", {"id": 7}, "done")
    record.tool("lookup", {"id": 7}, "done", outer)
    assert outline(record.run()) == ["ask_expert", "lookup"]


def test_a_tool_that_calls_itself_with_other_arguments_is_called_twice():
    record = Recording()
    outer = record.tool("walk", {"depth": 1}, "done")
    record.tool("walk", {"depth": 2}, "done", outer)
    assert outline(record.run()) == ["walk", "walk"]


def test_hidden_tries_inside_a_tool_span_are_shown():
    record = Recording()
    outer = record.tool("refund", {"id": 7}, "done", call_id="c1", lasts=100)
    record.tool("refund", {"id": 7}, None, outer, raises="TimeoutError")
    record.tool("refund", {"id": 7}, "done", outer)
    run = record.run()
    assert outline(run) == ["refund?", "refund"]
    assert [(step.attempt, step.retry_of) for step in run] == [(1, None), (2, 0)]


def test_a_call_failed_if_one_of_its_spans_did():
    record = Recording()
    outer = record.tool("lookup", {"id": 7}, "sorry")
    record.tool("lookup", {"id": 7}, None, outer, raises="ValueError")
    assert outline(record.run()) == ["lookup!"]


def test_nested_spans_of_one_agent_are_one_agent():
    record = Recording()
    outer = record.agent("support")
    inner = record.agent("support", outer)
    record.tool("lookup", {}, "done", inner)
    (step,) = record.run()
    assert step.agent_path == "support"


def test_the_span_that_stands_for_a_batch_of_calls_is_none():
    record = Recording()
    agent = record.agent("support")
    record.tool("lookup", {}, "done", agent)
    record.tool("(merged tools)", None, None, agent)
    assert outline(record.run()) == ["lookup"]


def waits_for_approval(scope="opentelemetry.instrumentation.genai.openai_agents"):
    """A refund that was asked for; its span ended at once, without a result."""
    record = Recording(run_id="r1")
    agent = record.agent("support", scope=scope)
    record.model(agent, asks=[call("refund", {"id": 7}, "c1")])
    record.tool("refund", {"id": 7}, None, agent, scope=scope)
    return record


def confirmed_in_adk(*results, scope="gcp.vertex.agent"):
    """A refund that Google ADK gives a span for each time that it looks at it."""
    record = Recording(scope=scope)
    agent = record.agent("support")
    record.model(agent, asks=[call("lookup", {"id": 7}, "c0")])
    record.tool("lookup", {"id": 7}, "found", agent, call_id="c0")
    record.model(agent, asks=[REFUND_IN_ADK])
    for result in results:
        record.tool("refund", {"id": 7}, result, agent, call_id="c1")
    told = [asked(REFUND_IN_ADK), answered("c1", results[-1])]
    record.model(agent, told=told, says="Done.")
    return record.run()


REFUND_IN_ADK = call("refund", {"id": 7}, "c1")
WAITS_IN_ADK = {"error": "This tool call requires confirmation, please approve or reject."}
REFUSED_IN_ADK = {"error": "This tool call is rejected."}


def test_a_confirmed_call_of_adk_is_one_call():
    run = confirmed_in_adk(WAITS_IN_ADK, {"status": "paid"})
    _, refund = (step for step in run.steps if step.tool)
    assert (refund.executed, refund.ok, refund.result) == (True, True, {"status": "paid"})
    assert run.gaps == ()


@pytest.mark.parametrize("scope", ["gcp.vertex.agent", "openinference.instrumentation.google_adk"])
def test_a_refused_call_of_adk_was_never_executed(scope: str):
    run = confirmed_in_adk(WAITS_IN_ADK, REFUSED_IN_ADK, scope=scope)
    _, refund = (step for step in run.steps if step.tool)
    assert (refund.executed, refund.ok) == (False, False)
    assert run.gaps == ()


@pytest.mark.parametrize(
    "result",
    [{"error": "This tool call is rejected.", "by": "bank"}, "This tool call is rejected."],
)
def test_what_a_tool_says_itself_in_such_words_is_its_result(result: object):
    _, refund = (step for step in confirmed_in_adk(result).steps if step.tool)
    assert (refund.executed, refund.result) == (True, result)


def test_a_call_in_such_words_elsewhere_was_carried_out():
    _, refund = (s for s in confirmed_in_adk(REFUSED_IN_ADK, scope="another").steps if s.tool)
    assert (refund.executed, refund.ok) == (True, False)


def test_a_call_that_waits_for_approval_was_not_carried_out():
    assert outline(waits_for_approval().run()) == ["llm", "refund-"]


def test_an_approved_call_is_carried_out_once():
    record = waits_for_approval()
    scope = "opentelemetry.instrumentation.genai.openai_agents"
    agent = record.agent("support", trace="t2")
    record.tool("refund", {"id": 7}, "done", agent, scope=scope, trace="t2")
    record.model(agent, says="Done.", trace="t2")
    run = record.run()
    assert outline(run) == ["llm", "refund", "llm"]
    assert run.tool_steps[0].call_id == "c1"


def test_a_tool_that_gave_nothing_and_was_read_did_not_wait():
    record = waits_for_approval()
    record.model(says="Done.")
    assert outline(record.run())[:2] == ["llm", "refund?"]


def test_other_instrumentors_leave_out_the_result_of_a_tool_that_gave_nothing():
    assert outline(waits_for_approval("another").run()) == ["llm", "refund?"]


def test_a_span_that_prepares_a_model_call_is_none():
    record = Recording()
    record.model(model_answered="gpt-4o")
    record.model(says="hello", model_answered="gpt-4o")
    assert outline(record.run()) == ["llm"]


def test_with_content_off_every_model_span_is_a_call():
    record = Recording()
    record.model(model_answered="gpt-4o")
    record.model(model_answered="gpt-4o")
    assert outline(record.run()) == ["llm", "llm"]


def test_a_tool_that_was_labelled_an_agent_is_a_tool():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("transfer_to_human_agents", {}, "c1")])
    record.span("agent", agent, tool="transfer_to_human_agents", result='"done"')
    assert outline(record.run()) == ["llm", "transfer_to_human_agents"]


def test_exported_twice_is_recorded_once_and_counted():
    record = Recording()
    agent = record.agent("support")
    record.tool("refund", {"id": 7}, "done", agent)
    record.rows += [dict(row) for row in record.rows]
    run = record.run()
    assert outline(run) == ["refund"]
    assert [(gap.name, gap.count) for gap in run.gaps] == [("duplicate_span_id", 2)]


def test_of_two_snapshots_the_finished_one_stays():
    record = Recording()
    record.tool("refund", {"id": 7}, "done")
    early = {**record.rows[0], "end": None, "result": None}
    record.rows.insert(0, early)
    (step,) = record.run()
    assert step.result == "done"
    assert step.end is not None


@pytest.mark.parametrize("first", [0, 1], ids=["poorer first", "richer first"])
def test_of_two_copies_with_the_same_content_the_one_that_says_more_stays(first: int):
    record = Recording()
    record.tool("refund", {"id": 7}, "done")
    poor = record.rows[0]
    copies = [poor, {**poor, "ok": False}]
    record.rows[:] = [copies[first], copies[1 - first]]
    (step,) = record.run()
    assert step.ok is False


@pytest.mark.parametrize(
    ("later", "steps"),
    [(-123, 1), (-123_456, 1), (123, 1), (1_000, 1), (1_000_000, 2), (1_500_001, 2)],
)
def test_a_span_whose_times_a_store_rounded_is_the_same(later: int, steps: int):
    record = Recording()
    record.tool("refund", {"id": 7}, "done")
    start = record.rows[0]["start"] // 1_000_000 * 1_000_000
    record.rows[:] = [{**record.rows[0], "start": start + at} for at in (0, later)]
    assert len(record.run().steps) == steps


def test_different_spans_under_one_id_both_stay():
    record = Recording()
    record.tool("lookup", {}, "done", span_id="same")
    record.tool("refund", {}, "done", span_id="same")
    run = record.run()
    assert outline(run) == ["lookup", "refund"]
    assert [gap.name for gap in run.gaps] == ["duplicate_span_id"]
