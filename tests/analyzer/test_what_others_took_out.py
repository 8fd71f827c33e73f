"""What another recorder took out of a value is no value: in every dialect, and in plain lists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer import Policy
from trackway_analyzer.recorder_marks import TAKEN_OUT, in_our_marks, is_taken_out
from trackway_analyzer.records import trajectory_of

RECORDINGS = sorted((Path(__file__).parents[1] / "data" / "frameworks").glob("*/fail.json"))
MARKS = [
    "__REDACTED__",
    "[REDACTED]",
    "<redacted>",
    "<REDACTED>",
    "[Filtered]",
    "[Scrubbed due to 'password']",
    "<fully masked due to failed mask function>",
    "[User input redacted.]",
    "[EMAIL_REDACTED]",
    "<elided>",
    "<not specified>",
    "[hidden]",
    "(content omitted)",
    "*** REDACTED ***",
    "REDACTED",
    "***",
    "•••••••",
]
CONTENT = re.compile(
    r"(?:input|output)\.value|.*message\.content|.*message_content\.text|.*function\.arguments"
    r"|gen_ai\.(?:input|output)\.messages|gen_ai\.tool\.call\.(?:arguments|result)"
    r"|traceloop\.entity\.(?:input|output)|gen_ai\.task\.(?:input|output)|input|output|response"
    r"|raw_input|events|tool_arguments|tool_response|tool\.parameters|pydantic_ai\.all_messages"
    r"|gen_ai\.(?:prompt|completion)\..*content|.*tool_(?:call_args|response)|message|content"
)


def rewritten(path: Path, of: Callable[[str, str], str]) -> dict[str, Any]:
    """A recording with the texts of its attributes changed, those of events too."""
    document: dict[str, Any] = json.loads(path.read_text())
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                holders = [span, *span.get("events", [])]
                for attribute in (a for each in holders for a in each.get("attributes", [])):
                    value = attribute["value"]
                    if "stringValue" in value:
                        value["stringValue"] = of(attribute["key"], value["stringValue"])
    return document


def loaded(document: dict[str, Any], folder: Path) -> list[ta.Trajectory]:
    path = folder / "trace.json"
    path.write_text(json.dumps(document))
    return list(ta.load(path))


@pytest.mark.parametrize("mark", ["__REDACTED__", "[Scrubbed due to 'order']", "***"])
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_content_that_was_switched_off_is_not_recorded(
    path: Path, mark: str, tmp_path: Path
) -> None:
    hidden = rewritten(path, lambda key, text: mark if CONTENT.fullmatch(key) else text)
    for run in loaded(hidden, tmp_path):
        said = [run.final_text, *(v for s in run.tool_steps for v in (s.arguments, s.result))]
        assert {json.dumps(each, default=str) for each in said} <= {
            *("null", '"NOT_RECORDED"', json.dumps(TAKEN_OUT)),
            json.dumps(str(ta.NOT_RECORDED)),
        }


@pytest.mark.parametrize("mark", ["[REDACTED]", "__REDACTED__", "***"])
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_a_name_that_was_taken_out_of_a_trace_is_no_name(
    path: Path, mark: str, tmp_path: Path
) -> None:
    hidden = rewritten(path, lambda _, text: re.sub(r"A-100\d(?=[\"'.,\s\\]|\Z)", mark, text))
    policy = Policy.from_yaml(
        """version: 1
rules:
  - grounded: {tool: refund_create, argument: order_id, from: lookup_order}
"""
    )
    for run in loaded(hidden, tmp_path):
        if any(mark in str(step.arguments) for step in run.tool_steps):
            raise AssertionError(run.tool_steps)
        states = {str(finding.state) for finding in policy.findings(run.batch)}
        assert states <= {"insufficient"}


TOOLS = """version: 1
tools:
  look_up: {kind: lookup, entity: {type: order, result: $.id}}
  refund: {kind: mutate, success: '$.status == "done"', entity: {type: order, argument: order_id}}
rules:
"""
WHOLE = [
    *("called: [refund]", "sequence: [look_up, refund]", "before: [look_up, refund]"),
    *("claim: {says: refunded, needs: refund}", "answer: {grounded: true}", "no_secrets: {}"),
    "grounded: {tool: refund, argument: order_id, from: look_up}",
    "arguments: {tool: refund, regex: {order_id: '^A'}}",
    "count: {tool: refund, max: 1, per: order_id}",
    "result_used: {tool: look_up}",
    "admits_failure: {}",
]
WITHIN = [
    *("sequence: [look_up, refund]", "answer: {grounded: true}", "no_secrets: {}"),
    "grounded: {tool: refund, argument: order_id, from: look_up}",
    "arguments: {tool: refund, regex: {order_id: '^A'}}",
    r"claim: {says: 'refunded (?P<order_id>\S+)', needs: refund}",
]


def states(rule: str, run: ta.Trajectory) -> set[str]:
    return {str(f.state) for f in Policy.from_yaml(f"{TOOLS}  - {rule}\n").findings(run.batch)}


@pytest.mark.parametrize("rule", WHOLE)
@pytest.mark.parametrize("mark", MARKS)
def test_rules_leave_open_what_a_list_has_a_mark_for(mark: str, rule: str) -> None:
    calls = [
        {"tool": "look_up", "arguments": mark, "result": mark},
        {"tool": "refund", "arguments": mark, "result": mark},
        {"tool": "refund", "arguments": mark, "result": mark},
    ]
    run = trajectory_of(calls, final_text=mark, input=mark)
    assert states(rule, run) == {"insufficient"}


@pytest.mark.parametrize("rule", WITHIN)
@pytest.mark.parametrize("mark", ["__REDACTED__", "[REDACTED]", "[Filtered]", "<redacted>", "***"])
def test_rules_leave_open_what_stands_behind_a_mark_in_a_value(mark: str, rule: str) -> None:
    call = {"tool": "refund", "arguments": {"order_id": mark}, "result": {"status": "done"}}
    calls = [{"tool": "look_up", "arguments": {"id": mark}, "result": {"id": mark}}, call]
    run = trajectory_of(calls, final_text=f"I refunded {mark} for you.")
    assert states(rule, run) == {"insufficient"}
    twice = trajectory_of([*calls, call])
    assert states("count: {tool: refund, max: 1, per: order_id}", twice) == {"insufficient"}


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("mark", MARKS)
def test_what_another_recorder_writes_in_place_of_a_value_is_a_mark(mark: str) -> None:
    assert is_taken_out(mark)
    assert in_our_marks(written({"a": [mark], "b": 1})) == written({"a": [TAKEN_OUT], "b": 1})
    nested = in_our_marks(written({"a": written({"b": mark})}))
    assert nested == written({"a": written({"b": TAKEN_OUT})})


@pytest.mark.parametrize(
    "text",
    [
        *("redacted", "hidden", "masked", "The name was redacted by the court.", "[1, 2]", "{}"),
        *("[redacted:card]", "**** **** **** 4242", "***so***", "a\n***\nb", "x = rows[masked]"),
        *("[filtered by price]", "[3 rows hidden]", '{"status":"hidden"}', '{"***":1}', "---", "*"),
        *("see [Filtered view](u)", '<b class="redacted">x</b>', 'const REDACTED = "x"'),
    ],
)
def test_words_that_look_like_a_mark_were_said(text: str) -> None:
    assert not is_taken_out(text)
    assert in_our_marks(text) == text
