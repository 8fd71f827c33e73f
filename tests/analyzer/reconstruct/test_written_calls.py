"""A call that a model writes out in its text, and nobody reads, is a gap; talk of one is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.reconstruct.written_calls import written_calls
from trackway_analyzer.rules import Forbidden

WRITTEN = {
    "hermes": '<tool_call>\n{"name": "refund", "arguments": {"id": 7}}\n</tool_call>',
    "qwen coder": "<tool_call>\n<function=refund>\n<parameter=id>\n7\n</parameter>\n</function>",
    "invoke": '<function_calls>\n<invoke name="refund">\n</invoke>\n</function_calls>',
    "mistral": '[TOOL_CALLS] [{"name": "refund", "arguments": {"id": 7}}]',
    "llama": '<|python_tag|>{"name": "refund", "parameters": {"id": 7}}',
    "llama function": '<function=refund>{"id": 7}</function>',
    "react": 'Thought: go\nAction: refund\nAction Input: {"id": 7}',
    "react in bold": "**Action:** refund\n**Action Input:** {}",
    "structured chat": 'Action:\n```json\n{"action": "refund", "action_input": {}}\n```',
    "cline": "<use_mcp_tool><tool_name>refund</tool_name></use_mcp_tool>",
    "roo": "I go on.\n<execute_command>\n<command>refund 7</command>\n</execute_command>",
    "harmony": '<|channel|>commentary to=functions.refund <|constrain|>json<|message|>{"id": 7}',
    "deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>refund",
    "an object": '{"action": "refund", "action_input": {"id": 7}}',
    "an object in a fence": '```json\n{"name": "refund", "arguments": {"id": 7}}\n```',
    "code": "Thought: go\n<code>\nrefund(7)\n</code>",
    "a printed block, cut": "[ToolUseBlock(id='t1', input={'id': 7}, name='refund', type='to",
    "a printed model, cut": "content='' tool_calls=[{'name': 'refund', 'args': {'id': 7",
    "open webui": '<details type="tool_calls" name="refund" arguments="{}">\n</details>',
}
SPOKEN = {
    "talk": "I may call refund for you; shall I?",
    "quoted": "Write `<tool_call>` before the call and `</tool_call>` behind it.",
    "fenced": 'An example:\n```xml\n<tool_call>\n{"name": "refund"}\n</tool_call>\n```',
    "a page": "<ul>\n<li>one</li>\n</ul>\n<p>\n<b>two</b>\n</p>",
    "a thought": "<thinking>\n<step>look</step>\n</thinking>",
    "an answer of react": "Thought: I know.\nAction: Final Answer\nAction Input: it is done",
    "action": "Action: none is needed, all is well.",
    "an object": '{"name": "Ann", "age": 7}',
    "a printed model without calls": "content='All done' tool_calls=[] function_call=None",
}


def chat(text: str, *before: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Refund me."},
        *before,
        {"role": "assistant", "content": text},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ]


def gaps(source: Any) -> list[tuple[str, int | None]]:
    (run,) = ta.load(source)
    return [(gap.name, gap.position) for gap in run.gaps if gap.name == "tools_not_observable"]


def spans(text: str, scope: str, tool: str | None = None) -> dict[str, Any]:
    def span(number: int, **values: str) -> dict[str, Any]:
        return {
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": f"{number:016x}",
            "name": "s",
            "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
            "endTimeUnixNano": str(1_700_000_000_000_000_100 + number),
            "attributes": [
                {"key": key.replace("__", "."), "value": {"stringValue": value}}
                for key, value in values.items()
            ],
        }

    def said(role: str, content: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}])

    model = span(
        1,
        gen_ai__operation__name="chat",
        gen_ai__input__messages=said("user", "Refund me."),
        gen_ai__output__messages=said("assistant", text),
    )
    called = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": tool or ""}
    found = [model] if tool is None else [model, span(2, **called)]
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": found}]}]}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_a_call_in_the_text_of_a_transcript_is_a_gap_of_its_turn(text: str) -> None:
    assert gaps(chat(text)) == [("tools_not_observable", 0)]
    report = ta.load(chat(text)).check(ta.Policy(Forbidden("refund")))
    assert report.verdict == "insufficient"


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_so_it_is_in_the_output_of_a_span(text: str) -> None:
    assert gaps(spans(text, "client")) == [("tools_not_observable", 0)]


@pytest.mark.parametrize("text", SPOKEN.values(), ids=SPOKEN)
def test_a_text_that_speaks_of_calls_is_none(text: str) -> None:
    assert written_calls(text) == set()
    assert gaps(chat(text)) == []


def test_a_framework_that_writes_a_span_for_each_call_shows_what_became_of_it() -> None:
    text = WRITTEN["react"]
    assert gaps(spans(text, "client", tool="refund")) == []
    assert gaps(spans(text, "openinference.instrumentation.langchain")) == []


def test_a_call_of_the_same_tool_that_was_read_tells_of_it() -> None:
    call = {"id": "c", "function": {"name": "refund", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    before = ({"role": "assistant", "content": None, "tool_calls": [call]}, answer)
    assert gaps(chat(WRITTEN["hermes"].replace("refund", "refund"), *before)) == [
        ("tools_not_observable", 2)
    ]
    assert gaps(chat(WRITTEN["react"], *before)) == []
    assert gaps(chat(WRITTEN["react"].replace("refund", "cancel"), *before)) == [
        ("tools_not_observable", 2)
    ]


def test_an_object_alone_is_no_call_where_calls_of_the_run_were_read() -> None:
    call = {"id": "c", "function": {"name": "lookup", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    before = ({"role": "assistant", "content": None, "tool_calls": [call]}, answer)
    assert gaps(chat(WRITTEN["an object"], *before)) == []


def test_a_turn_of_which_a_call_was_read_hides_none() -> None:
    call = {"id": "c", "function": {"name": "lookup", "arguments": "{}"}}
    turn = {"role": "assistant", "content": WRITTEN["hermes"], "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    assert gaps([{"role": "user", "content": "x"}, turn, answer]) == []
