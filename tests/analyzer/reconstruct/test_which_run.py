"""Which run does a span belong to?"""

from __future__ import annotations

from analyzer.span_builder import Recording, gaps, outline


def test_spans_with_one_run_id_are_one_run_over_several_traces():
    record = Recording(run_id="r1")
    first = record.agent("support")
    record.tool("ask_approval", {}, "waiting", first)
    second = record.agent("support", trace="t2")
    record.tool("refund", {}, "done", second, trace="t2")
    run = record.run()
    assert run.run_id == "r1"
    assert run.tools == ["ask_approval", "refund"]
    assert run.batch.runs["trace_ids"].to_pylist() == [["t1", "t2"]]


def test_several_run_ids_in_a_trace_are_several_runs():
    record = Recording()
    batch_job = record.wrapper()
    for number in (1, 2):
        agent = record.agent("support", batch_job, run_id=f"r{number}")
        record.tool(f"tool_{number}", {}, "done", agent, run_id=f"r{number}")
    assert [(run.run_id, run.tools) for run in record.runs()] == [
        ("r1", ["tool_1"]),
        ("r2", ["tool_2"]),
    ]


def test_a_span_that_nobody_stamped_joins_the_run_around_it():
    record = Recording()
    for number in (1, 2):
        agent = record.agent("support", run_id=f"r{number}")
        wrapper = record.wrapper(agent)
        record.tool(f"tool_{number}", {}, "done", wrapper)
    assert [run.tools for run in record.runs()] == [["tool_1"], ["tool_2"]]


def test_a_span_outside_the_tree_joins_the_only_run_of_its_trace():
    record = Recording()
    record.agent("support", run_id="r1")
    record.tool("refund", {}, "done")
    assert record.run().tools == ["refund"]


def test_without_run_ids_a_trace_is_a_run():
    record = Recording()
    record.tool("one", {}, "done", trace="t1")
    record.tool("two", {}, "done", trace="t2")
    assert [(run.run_id, run.tools) for run in record.runs()] == [("t1", ["one"]), ("t2", ["two"])]


def test_several_root_agents_in_a_trace_are_several_runs_of_one_session():
    record = Recording(session_id="s1")
    script = record.wrapper(scope="my-script")
    for number in (1, 2):
        agent = record.agent("support", script, scope="some.instrumentor")
        record.tool(f"tool_{number}", {}, "done", agent, scope="some.instrumentor")
    one, two = record.runs()
    assert (one.run_id, one.tools, one.session_id) == ("t1/s2", ["tool_1"], "s1")
    assert (two.run_id, two.tools, two.session_id) == ("t1/s4", ["tool_2"], "s1")


def test_agents_under_one_span_of_their_instrumentor_are_one_run():
    record = Recording(scope="openinference.instrumentation.langchain")
    graph = record.wrapper()
    for number in (1, 2):
        record.model(record.agent("agent", graph), says="hm")
        record.tool(f"tool_{number}", {}, "done", record.wrapper(graph))
    assert record.run().tools == ["tool_1", "tool_2"]


def test_a_handoff_under_a_workflow_is_one_run():
    record = Recording()
    workflow = record.span("workflow", lasts=10_000)
    record.model(record.agent("triage", workflow), says="billing, please")
    record.tool("issue_refund", {}, "done", record.agent("billing", workflow))
    run = record.run()
    assert [step.agent for step in run] == ["triage", "billing"]


def test_sub_agents_stay_inside_their_parents_run_with_their_path():
    record = Recording()
    boss = record.agent("boss")
    delegate = record.tool("ask_expert", {}, "done", boss)
    expert = record.agent("expert", delegate)
    record.tool("look", {}, "done", expert)
    run = record.run()
    assert [(step.tool, step.agent_path) for step in run] == [
        ("ask_expert", "boss"),
        ("look", "boss/expert"),
    ]


def test_a_missing_parent_above_an_agent_never_splits_a_run():
    record = Recording()
    for number in (1, 2):
        agent = record.agent("support", "lost")
        record.tool(f"tool_{number}", {}, "done", agent)
    run = record.run()
    assert run.tools == ["tool_1", "tool_2"]
    assert gaps(run) == {"missing_parent": 2, "no_root": 1}


def test_a_trace_without_a_call_and_without_an_agent_is_no_run():
    record = Recording()
    record.span("other", trace="create_agent")
    record.tool("refund", {}, "done", record.agent("support"))
    assert [run.run_id for run in record.runs()] == ["t1"]


def test_an_agent_that_died_before_its_first_call_is_a_run():
    record = Recording()
    record.agent("support", status="ERROR", error_type="KeyError", lasts=1)
    run = record.run()
    assert len(run) == 0
    assert run.batch.runs["error_type"].to_pylist() == ["KeyError"]


def test_a_run_id_alone_makes_a_run():
    record = Recording()
    record.span("other", run_id="r1")
    assert [run.run_id for run in record.runs()] == ["r1"]


def test_by_session_all_traces_of_a_conversation_are_one_run_in_order_of_time():
    record = Recording()
    for number in (3, 1, 2):
        trace = f"t{number}"
        agent = record.agent("support", session_id="s1", trace=trace, at=number * 1000)
        record.tool(f"tool_{number}", {}, "done", agent, trace=trace)
    run = record.run(by="session")
    assert run.run_id == "s1"
    assert run.tools == ["tool_1", "tool_2", "tool_3"]


def test_by_session_a_trace_without_a_session_stays_a_run_of_its_own():
    record = Recording()
    record.tool("one", {}, "done", session_id="s1")
    record.tool("two", {}, "done", trace="t2")
    assert [run.run_id for run in record.runs(by="session")] == ["s1", "t2"]


def test_several_services_in_a_trace_are_one_run():
    record = Recording(service="front")
    agent = record.agent("support")
    outer = record.tool("lookup", {"id": 1}, "done", agent)
    record.wrapper(outer, service="back")
    assert outline(record.run()) == ["lookup"]


def test_a_model_call_beside_the_agents_is_kept_and_is_nobodys_step():
    record = Recording()
    root = record.wrapper(scope="my-script")
    simulator = record.model(root, asks=[{"type": "tool_call", "id": "u1", "name": "check_mail"}])
    record.tool("check_mail", {}, "empty", root, call_id="u1")
    agent = record.agent("support", root, scope="some.instrumentor")
    record.tool("refund", {}, "done", agent)
    run = record.run()
    assert run.tools == ["refund"]
    assert [(step.operation, step.agent) for step in run] == [
        ("llm", None),
        ("other", None),
        ("tool", "support"),
    ]
    assert run.steps[0].span_id == simulator


def test_a_lost_parent_puts_nothing_outside_the_agents():
    record = Recording()
    record.tool("lookup", {}, "done", record.agent("support"))
    record.model("lost", asks=[{"type": "tool_call", "id": "c1", "name": "refund"}])
    record.tool("refund", {}, "done", "lost", call_id="c1")
    assert record.run().tools == ["lookup", "refund"]
