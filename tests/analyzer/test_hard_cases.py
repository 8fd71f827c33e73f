"""Every hard case that was seen in real traces has a test; those that no other file holds are here.

`CASES` names the tests of each case, in the words of the corpus's README.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

import pytest

import trackway_analyzer as ta
from analyzer.read import otlp_text

TESTS: Final = Path(__file__).parent
TRACE: Final = otlp_text.TRACE
START: Final = 1_700_000_000_000_000_000

CASES: Final[dict[str, list[str]]] = {
    "A tool labelled AGENT because its name contains": [
        "a_tool_labelled_agent_because_of_its_name_is_a_tool"
    ],
    "call ids reused within a run": ["a_call_id_used_twice_belongs_to_the_latest_open_request"],
    "missing parents, no root at all, duplicate span ids, self-parents and cycles": [
        "missing_parents_are_counted",
        "no_root_at_all",
        "different_spans_under_one_id_both_stay",
        "a_self_parent_is_cut",
        "a_cycle_is_cut_above_its_earliest_span",
    ],
    "one conversation over many traces": [
        "by_session_all_traces_of_a_conversation_are_one_run_in_order_of_time"
    ],
    "an extra `create_agent` trace per run": [
        "a_trace_without_a_call_and_without_an_agent_is_no_run"
    ],
    "several services in a trace": ["several_services_in_a_trace_are_one_run"],
    "agents nested up to 17 deep": ["agents_nested_17_deep_are_one_run"],
    "handoffs": ["a_handoff_under_a_workflow_is_one_run"],
    "an LLM span inside an LLM span (double counting)": [
        "a_client_span_inside_a_framework_span_is_the_same_model_call",
        "tokens_are_summed_over_model_calls_only",
    ],
    "tool calls that exist only in the LLM span": [
        "calls_that_only_the_messages_tell_of_become_steps"
    ],
    "tool spans without any LLM span": ["without_recorded_requests_nothing_is_said_about_them"],
    "argument names lost": ["arguments_that_lost_their_names_come_from_the_request"],
    "Python-repr arguments in a wrapper": ["arguments_are_the_same_object_in_every_wrapper"],
    "a merged span with `N/A` arguments": ["the_span_that_stands_for_a_batch_of_calls_is_none"],
    "arguments that are valid JSON but no object": [
        "arguments_that_are_no_object_are_named",
        "arguments_that_are_no_object_are_no_gap",
    ],
    "parallel calls": ["calls_of_one_turn_are_a_group_in_the_order_of_the_request"],
    "calls made by the simulated user, not the agent": [
        "a_simulated_users_calls_are_not_the_agents",
        "what_the_simulated_user_called_is_no_step_and_is_not_lost",
    ],
    "errors returned as plain strings": ["a_result_says_whether_the_call_took_effect"],
    "retries": ["the_same_call_after_a_failure_is_the_next_try"],
    "runs cut off": ["a_run_of_ours_without_its_run_span_is_not_finished"],
    "the 128-attribute limit dropping the oldest keys": [
        "dropped_attributes_are_added_up",
        "attributes_beyond_the_limit_are_a_gap",
    ],
    "double-encoded values": [
        "mlflow_values_are_json_even_where_they_are_texts",
        "a_result_that_is_a_json_text_is_read_as_that_once",
    ],
    "the session id in five places, or absent from tool spans": [
        "the_session_is_the_conversation_then_what_frameworks_call_it",
        "a_span_that_nobody_stamped_joins_the_run_around_it",
    ],
    "empty AnyValue": ["an_empty_value_is_null_and_costs_nothing"],
    "content only in log records, some without span ids": [
        "messages_in_log_records_of_the_same_document_are_the_spans",
        "records_without_a_span_id_belong_to_the_only_model_call",
    ],
    "content capture off": ["content_off_everywhere_is_one_gap_of_the_run"],
    "spans of 2.2 MB": ["a_span_of_several_megabytes_is_whole"],
    "truncated outputs": [
        "truncated_values_name_their_fields",
        "an_output_that_was_cut_is_named",
    ],
    "non-Latin text": ["text_of_any_script_survives"],
    "file order that is not start order": ["time_orders_whatever_the_order_of_the_rows"],
    "a child that outlives its parent": ["a_child_that_outlives_its_parent_is_no_skew"],
    "zero duration, missing end time": [
        "a_call_without_duration_has_its_place",
        "an_unfinished_step_has_its_place_and_no_verdict",
    ],
    "an exception event without ERROR status and the reverse": [
        "an_exception_that_was_caught_is_no_failure",
        "an_error_without_an_exception_is_a_failure",
    ],
    "a number stored as text": ["a_value_of_another_type_is_read_or_missing_never_an_error"],
    "a `trial` field that is not a repetition index": [
        "trials_that_all_have_one_index_are_told_apart"
    ],
    "an upload without task ids (must be refused with a reason)": [
        "a_run_of_a_benchmark_without_a_task_is_read_and_named"
    ],
    "null reward": ["a_null_judges_nothing"],
    "an empty file": [
        "an_empty_file_is_an_empty_result",
        "an_upload_without_runs_is_an_empty_result",
    ],
    "JSON Lines named `.json`": ["json_lines_may_be_called_json"],
    "true clock skew": ["a_skewed_clock_is_moved_to_its_parent_and_named"],
    "several roots in one OTLP trace": [
        "several_root_agents_in_a_trace_are_several_runs_of_one_session"
    ],
    "malformed JSON in tool arguments": ["malformed_arguments_are_named"],
    "duplicated export batches": ["exported_twice_is_recorded_once_and_counted"],
    "spans split over files": ["a_run_whose_spans_lie_in_several_files_is_whole"],
}


def test_every_hard_case_names_tests_that_exist() -> None:
    sources = "".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    there = set(re.findall(r"^def test_(\w+)", sources, re.MULTILINE))
    named = {name for names in CASES.values() for name in names}
    assert named - there == set()


@pytest.mark.corpus
@pytest.mark.skipif("TRACKWAY_CORPUS" not in os.environ, reason="TRACKWAY_CORPUS is not set")
def test_no_hard_case_of_the_corpus_is_left_out() -> None:
    page = (Path(os.environ["TRACKWAY_CORPUS"]) / "README.md").read_text()
    section = page.partition("## Hard cases, all seen in these files\n")[2]
    seen, _, synthesised = section.partition("Not seen, to be synthesised:")
    listed = [*seen.strip().split(" · "), *synthesised.strip().split(", ")]
    cases = [case.strip().rstrip(".") for case in listed]
    assert [case for case in cases if not any(case.startswith(known) for known in CASES)] == []


def spans_of(*spans: dict[str, Any]) -> str:
    return json.dumps(otlp_text.document(*spans))


def span(
    number: int,
    operation: str,
    parent: int | None = None,
    *,
    at: int = 0,
    lasts: int | None = 5,
    attributes: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    start = START + at * 1_000_000
    return otlp_text.span(
        spanId=f"{number:016x}",
        parentSpanId="" if parent is None else f"{parent:016x}",
        startTimeUnixNano=str(start),
        endTimeUnixNano=... if lasts is None else str(start + lasts * 1_000_000),
        attributes={"gen_ai.operation.name": operation, **(attributes or {})},
        **fields,
    )


def tool(number: int, name: str, parent: int | None = None, **more: Any) -> dict[str, Any]:
    content = {"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": '"found"'}
    attributes = {"gen_ai.tool.name": name, **content, **more.pop("attributes", {})}
    return span(number, "execute_tool", parent, attributes=attributes, **more)


def only(folder: Path, text: str, name: str = "spans.json") -> ta.Trajectory:
    path = folder / name
    path.write_text(text)
    trajectories = ta.load(path)
    assert len(trajectories.quarantined) == 0
    (trajectory,) = trajectories
    return trajectory


def test_agents_nested_17_deep_are_one_run(tmp_path: Path) -> None:
    agents = [
        span(n, "invoke_agent", n - 1 or None, attributes={"gen_ai.agent.name": f"a{n}"}, lasts=900)
        for n in range(1, 18)
    ]
    trajectory = only(tmp_path, spans_of(*agents, tool(99, "lookup", 17, at=1)))
    assert trajectory.tools == ["lookup"]
    assert trajectory.steps[0].agent_path == "/".join(f"a{n}" for n in range(1, 18))
    assert trajectory.run["agent"] == "a1"


def test_attributes_beyond_the_limit_are_a_gap(tmp_path: Path) -> None:
    trajectory = only(tmp_path, spans_of(tool(1, "lookup", droppedAttributesCount=7)))
    assert [(gap.name, gap.count) for gap in trajectory.gaps] == [("dropped_attributes", 7)]


def test_an_empty_value_is_null_and_costs_nothing(tmp_path: Path) -> None:
    one = tool(1, "lookup")
    one["attributes"] += [
        {"key": "gen_ai.tool.call.result", "value": {}},
        {"key": "list", "value": {"arrayValue": {}}},
        {"key": "absent"},
    ]
    trajectory = only(tmp_path, spans_of(one))
    attributes = json.loads(ta.load(tmp_path / "spans.json").span_table["attributes"][0].as_py())
    assert (attributes["list"], attributes["absent"]) == ([], None)
    assert trajectory.tools == ["lookup"]


def test_a_span_of_several_megabytes_is_whole(tmp_path: Path) -> None:
    result = json.dumps({"page": "x" * 2_500_000})
    attributes = {"gen_ai.tool.call.result": result, "gen_ai.tool.call.arguments": "{}"}
    trajectory = only(tmp_path, spans_of(tool(1, "fetch", attributes=attributes)))
    assert trajectory.steps[0].result == json.loads(result)
    assert trajectory.gaps == ()


def test_an_output_that_was_cut_is_named(tmp_path: Path) -> None:
    attributes = {"gen_ai.tool.call.result": '{"rows": [1, 2', "gen_ai.tool.call.arguments": "{}"}
    trajectory = only(tmp_path, spans_of(tool(1, "query", attributes=attributes)))
    assert trajectory.steps[0].truncated == ("result",)
    assert [gap.name for gap in trajectory.gaps] == ["truncated_value"]


@pytest.mark.parametrize("text", ["退款 订单", "возврат", "استرداد", "रिफंड", "返金🙏", "a\u0301"])
def test_text_of_any_script_survives(text: str, tmp_path: Path) -> None:
    arguments = json.dumps({text: text}, ensure_ascii=False)
    attributes = {"gen_ai.tool.call.arguments": arguments}
    for escaped in (True, False):
        document = otlp_text.document(tool(1, text, attributes=attributes))
        written = json.dumps(document, ensure_ascii=escaped)
        trajectory = only(tmp_path, written)
        assert (trajectory.tools, trajectory.steps[0].arguments) == ([text], {text: text})


def test_a_child_that_outlives_its_parent_is_no_skew(tmp_path: Path) -> None:
    agent = span(1, "invoke_agent", lasts=10)
    trajectory = only(tmp_path, spans_of(agent, tool(2, "late", 1, at=5, lasts=100)))
    assert trajectory.tools == ["late"]
    assert trajectory.gaps == ()


def test_a_call_without_duration_has_its_place(tmp_path: Path) -> None:
    agent = span(1, "invoke_agent", lasts=100)
    calls = [tool(n + 2, name, 1, at=n, lasts=0) for n, name in enumerate("abc")]
    trajectory = only(tmp_path, spans_of(agent, *reversed(calls)))
    assert trajectory.tools == ["a", "b", "c"]
    assert trajectory.gaps == ()


EXCEPTION: Final = {
    "name": "exception",
    "timeUnixNano": str(START),
    "attributes": otlp_text.attributes({"exception.type": "Timeout", "exception.message": "slow"}),
}


@pytest.mark.parametrize("status", [{}, {"code": 1}])
def test_an_exception_that_was_caught_is_no_failure(status: Any, tmp_path: Path) -> None:
    attributes = {"gen_ai.tool.call.result": '"found"'}
    call = tool(1, "lookup", attributes=attributes, status=status, events=[EXCEPTION])
    step = only(tmp_path, spans_of(call)).steps[0]
    assert (step.error_type, step.ok) == (None, True)


def test_an_error_without_an_exception_is_a_failure(tmp_path: Path) -> None:
    call = tool(1, "lookup", status={"code": 2, "message": "no such order"})
    step = only(tmp_path, spans_of(call)).steps[0]
    assert (step.error_message, step.ok) == ("no such order", False)
    assert step.error_type is not None


def test_trials_that_all_have_one_index_are_told_apart(tmp_path: Path) -> None:
    attributes = {"trackway.task.id": "7", "trackway.trial.index": 0}
    runs = [
        {**span(n, "invoke_agent", attributes=attributes), "traceId": f"{n:032x}"} for n in (1, 2)
    ]
    (tmp_path / "spans.json").write_text(spans_of(*runs))
    trajectories = ta.load(tmp_path / "spans.json")
    assert len(trajectories) == 2
    assert [run.run["trial"] for run in trajectories] == [0, 0]


def test_json_lines_may_be_called_json(tmp_path: Path) -> None:
    lines = (
        spans_of(span(1, "invoke_agent", lasts=9)) + "\n" + spans_of(tool(2, "lookup", 1)) + "\n"
    )
    assert only(tmp_path, lines, "spans.json").tools == ["lookup"]


@pytest.mark.parametrize("names", [("a.json", "b.json"), ("b.json", "a.json")])
def test_a_run_whose_spans_lie_in_several_files_is_whole(
    names: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / names[0]).write_text(spans_of(span(1, "invoke_agent", lasts=9)))
    (tmp_path / names[1]).write_text(spans_of(tool(2, "lookup", 1, at=1)))
    (trajectory,) = ta.load(tmp_path)
    assert trajectory.tools == ["lookup"]
    assert trajectory.gaps == ()
