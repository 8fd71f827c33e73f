"""Whatever in a model's output looks like a call was asked for, under any role and in any form; and
an answer belongs to the call that its id names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.read.test_cut_messages import (
    ASKED,
    CALL,
    CHAT,
    SAID,
    output,
    runs,
    span,
    verdicts,
)
from tests.analyzer.read.test_shapes_of_messages import D, U, only

import trackway_analyzer as ta

FUNCTION = {"name": "delete_account", "arguments": '{"id": 7}'}
CHAT_CALL = {"id": "c1", "type": "function", "function": FUNCTION}
ROLES = (
    *("Assistant", "AI", "MODEL", "bot", "CHATBOT", "AIMessage", "AIMessageChunk"),
    *("MessageRole.ASSISTANT", "refund_agent", "constructor", "tool-call", "developer"),
    *("user", "system", "tool", "function"),
)


def names(run: ta.Trajectory) -> list[str | None]:
    return [step.tool for step in run.steps if step.operation == "tool"]


def of_dialects(role: str) -> dict[str, dict[str, Any]]:
    chat = {"role": role, "content": None, "tool_calls": [CHAT_CALL]}
    below = "llm.output_messages.0.message"
    function = f"{below}.tool_calls.0.tool_call.function"
    first = "gen_ai.completion.0"
    return {
        "otel-genai": {**CHAT, **output(json.dumps([{"role": role, "parts": [CALL]}]))},
        "openinference": {
            "openinference.span.kind": "LLM",
            f"{below}.role": role,
            f"{function}.name": "delete_account",
            f"{function}.arguments": "{}",
        },
        "openllmetry": {
            **CHAT,
            f"{first}.role": role,
            f"{first}.tool_calls.0.name": "delete_account",
            f"{first}.tool_calls.0.arguments": "{}",
        },
        "langfuse": {
            "langfuse.observation.type": "generation",
            "langfuse.observation.output": json.dumps(chat),
        },
    }


@pytest.mark.parametrize("dialect", of_dialects(""))
@pytest.mark.parametrize("role", ROLES)
def test_what_an_output_asks_for_is_asked_for_under_any_role(role: str, dialect: str) -> None:
    (run,) = runs(span(1, **of_dialects(role)[dialect]))
    assert names(run) == ["delete_account"]


@pytest.mark.parametrize("role", ["Assistant", "AIMessage", "ChatRole.ASSISTANT", "refund_agent"])
def test_what_a_model_says_is_the_answer_under_any_name_of_its_own(role: str) -> None:
    said = [{"role": role, "parts": [{"type": "text", "content": "Done."}]}]
    (run,) = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert run.final_text == "Done."


def test_a_call_in_a_history_under_the_name_of_an_agent_is_a_call() -> None:
    told = [ASKED, {"role": "refund_agent", "parts": [CALL]}]
    attributes = {**CHAT, "gen_ai.input.messages": json.dumps(told), **output(SAID)}
    (run,) = runs(span(1, **attributes))
    assert names(run) == ["delete_account"]


PARTS: tuple[dict[str, Any], ...] = (
    {"type": "toolCall", "id": "c", "name": "delete_account", "arguments": {}},
    {"type": "action", "name": "delete_account", "input": {}},
    {"type": "tool_request", "call_id": "c", "tool_name": "delete_account"},
    {"type": "anything", "tool": "delete_account", "kwargs": {"id": 7}},
    {"type": "tool_call", "tool_name": "delete_account", "args": {}},
    {"type": "tool_call", "id": "c", "content": {"name": "delete_account", "arguments": {}}},
    {"tool_call": {"tool_name": "delete_account", "arguments": {}, "id": "c"}},
    {"name": "delete_account", "parameters": {"id": 7}},
)


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_part_that_looks_like_a_call_is_one(part: dict[str, Any]) -> None:
    said = [{"role": "assistant", "parts": [part]}]
    (run,) = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert names(run) == ["delete_account"]


def test_a_part_with_nothing_but_a_name_may_be_a_call_of_any_tool() -> None:
    said = [{"role": "assistant", "parts": [{"type": "custom", "name": "delete_account"}]}]
    found = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert names(found[0]) == [None]
    assert "tools_not_observable" in {gap.name for gap in found[0].gaps}


@pytest.mark.parametrize("kind", ["executable_code", "code_execution"])
def test_code_that_is_run_is_a_call(kind: str) -> None:
    said = [{"role": "assistant", "parts": [{"type": kind, "code": "print(1)"}]}]
    (run,) = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert [(s.tool, s.arguments) for s in run.steps[1:]] == [
        ("code_execution", {"code": "print(1)"})
    ]


NO_CALLS: tuple[dict[str, Any], ...] = (
    {"type": "file", "id": "f1", "name": "a.pdf", "mime_type": "application/pdf"},
    {"type": "resource_link", "name": "readme", "uri": "file:///a"},
    {"type": "code", "code": "print(1)"},
    {"type": "function", "name": "lookup", "description": "Looks.", "parameters": {}},
    {"type": "text", "content": "I call delete_account(id=7)", "name": "bot"},
)


@pytest.mark.parametrize("part", NO_CALLS, ids=str)
def test_other_parts_are_no_calls(part: dict[str, Any]) -> None:
    said = [{"role": "assistant", "parts": [part, {"type": "text", "content": "Done."}]}]
    (run,) = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert names(run) == []
    assert run.gaps == ()


def test_messages_that_are_json_texts_in_a_list_are_messages() -> None:
    message = json.dumps({"role": "assistant", "parts": [CALL]})
    (run,) = runs(span(1, **CHAT, **{"gen_ai.output.messages": [message]}))
    assert names(run) == ["delete_account"]
    (run,) = runs(span(1, **CHAT, **{"gen_ai.output.messages": ['{"answer": 1}', "Done."]}))
    assert run.final_text == '{"answer": 1}\nDone.'


MEMBERS: dict[str, dict[str, Any]] = {
    "tool": {"tool": "delete_account", "tool_input": {}},
    "name": {"name": "delete_account", "arguments": "{}"},
    "steps": {"steps": [{"tool": "delete_account", "input": {}}]},
}


@pytest.mark.parametrize("content", [{}, {"content": "Done."}])
@pytest.mark.parametrize("more", MEMBERS.values(), ids=MEMBERS)
def test_a_message_that_is_a_call_itself_is_one(
    more: dict[str, Any], content: dict[str, str]
) -> None:
    said = [{"role": "assistant", **content, **more}]
    (run,) = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert names(run) == ["delete_account"]
    # A transcript would show the answer, and nobody knows in which form.
    assert "missing_steps" in {gap.name for gap in only([U, *said, D]).gaps}


def test_the_name_of_a_speaker_is_no_call() -> None:
    said = [{"role": "assistant", "content": "Done.", "name": "bot", "input": "x"}]
    run = only([U, *said])
    assert (names(run), run.final_text) == ([], "Done.")


ANSWERED = ("user", "executor", "tool", "functions.delete_account")


@pytest.mark.parametrize("name", ANSWERED)
def test_a_name_beside_an_answer_does_not_overrule_the_call_that_its_id_names(name: str) -> None:
    ask = {"role": "assistant", "content": "", "tool_calls": [CHAT_CALL]}
    run = only([U, ask, {"role": "tool", "tool_call_id": "c1", "name": name, "content": "ok"}, D])
    assert [(s.tool, s.executed) for s in run.tool_steps] == [("delete_account", True)]


def test_a_name_beside_an_answer_that_no_open_call_has_is_a_hole() -> None:
    ask = {"role": "assistant", "content": "", "tool_calls": [CHAT_CALL]}
    run = only([U, ask, {"role": "tool", "name": "user", "content": "ok"}, D])
    assert "missing_steps" in {gap.name for gap in run.gaps}


def test_several_answers_in_one_message_belong_to_their_calls() -> None:
    calls = [CHAT_CALL, {"id": "c2", "function": {"name": "lookup", "arguments": "{}"}}]
    several = [{"tool_call_id": f"c{n}", "role": "tool", "content": f"ok {n}"} for n in (1, 2)]
    ask = {"role": "assistant", "content": "", "tool_calls": calls}
    told = {"role": "tool", "name": "user", "content": "ok 1\n\nok 2", "tool_responses": several}
    run = only([U, ask, told, D])
    found = [(step.tool, step.executed, step.result) for step in run.tool_steps]
    assert found == [("delete_account", True, "ok 1"), ("lookup", True, "ok 2")]


def test_a_call_and_its_answer_of_haystack_are_those_of_its_tool() -> None:
    call = {"tool_name": "lookup", "arguments": {"id": "A1"}, "id": "c1"}
    told = {"result": "ok", "origin": call, "error": False}
    run = only(
        [
            {"role": "user", "content": [{"text": "x"}]},
            {"role": "assistant", "content": [{"tool_call": call}]},
            {"role": "tool", "content": [{"tool_call_result": told}]},
            {"role": "assistant", "content": [{"text": "done"}]},
        ]
    )
    (step,) = run.tool_steps
    assert (step.tool, step.executed, step.result) == ("lookup", True, "ok")
    assert step.arguments == {"id": "A1"}


UNPARSED = (
    '{"id":"ZZ9"}{"id":"B2","force":true}',
    '{"id":"ZZ9","force":true}}',
    '```json\n{"id":"ZZ9","force":true}\n```',
    "id=ZZ9, force=true",
    "id=ZZ9",
    "<id>ZZ9</id><force>true</force>",
    '{"args":"{\\"id\\":\\"ZZ9\\",\\"force\\":true}"}',
)
NAMING = (
    "arguments: {tool: refund, absent: [force]}",
    "grounded: {tool: refund, argument: id, from: lookup.order_id}",
)


def refunded(given: str) -> list[Any]:
    looked = {"id": "c0", "function": {"name": "lookup", "arguments": "{}"}}
    refund = {"id": "c1", "function": {"name": "refund", "arguments": given}}
    return [
        U,
        {"role": "assistant", "tool_calls": [looked]},
        {"role": "tool", "tool_call_id": "c0", "content": '{"order_id": "A1"}'},
        {"role": "assistant", "tool_calls": [refund]},
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
        D,
    ]


@pytest.mark.parametrize("given", UNPARSED)
def test_arguments_that_are_not_parsed_whole_are_a_gap(given: str, tmp_path: Path) -> None:
    run = only(refunded(given))
    assert [gap.position for gap in run.gaps if gap.name == "unparsable_arguments"] == [3]
    assert verdicts(ta.load(refunded(given)), tmp_path, *NAMING) == ["insufficient"] * 2
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}
    (run,) = runs(span(1, **tool, **{"gen_ai.tool.call.arguments": given}))
    assert "unparsable_arguments" in {gap.name for gap in run.gaps}


def test_a_bare_text_may_be_any_argument_and_is_no_gap(tmp_path: Path) -> None:
    run = only(refunded("ZZ9"))
    assert "unparsable_arguments" not in {gap.name for gap in run.gaps}
    found = verdicts(ta.load(refunded("ZZ9")), tmp_path, *NAMING)
    assert found == ["insufficient"] * 2
    rule = "arguments: {tool: refund, equals: {input: ZZ9}}"
    assert verdicts(ta.load(refunded("ZZ9")), tmp_path, rule) == ["pass"]


@pytest.mark.parametrize("given", ["SELECT a FROM b", "https://a.org/b", "note: call her", "a: b"])
def test_a_text_in_plain_words_is_parsed_whole(given: str) -> None:
    run = only(refunded(json.dumps({"input": given})))
    assert "unparsable_arguments" not in {gap.name for gap in run.gaps}


@pytest.mark.parametrize("ids", [(None, None), ("c1", None), (None, "c1"), ("c1", "c1")])
def test_a_call_in_the_content_and_beside_it_is_one(ids: tuple[str | None, str | None]) -> None:
    blocks = [{"type": "tool_use", "id": ids[0], "name": "delete_account", "input": {"id": 7}}]
    beside = [{"id": ids[1], "function": FUNCTION}]
    said = [{"role": "assistant", "content": blocks, "tool_calls": beside}]
    (run,) = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert names(run) == ["delete_account"]


def test_equal_calls_without_ids_are_counted() -> None:
    blocks = [{"type": "tool_use", "name": "delete_account", "input": {"id": 7}}] * 2
    said = [{"role": "assistant", "content": blocks, "tool_calls": [{"function": FUNCTION}] * 2}]
    (run,) = runs(span(1, **CHAT, **output(json.dumps(said))))
    assert names(run) == ["delete_account"] * 2


@pytest.mark.parametrize("flag", [{"is_error": "true"}, {"isError": True}, {"is_error": True}])
def test_the_flag_of_a_failed_call_counts_however_it_is_spelt(flag: dict[str, Any]) -> None:
    ask = {"type": "tool_use", "id": "c1", "name": "delete_account", "input": {}}
    told = {"type": "tool_result", "tool_use_id": "c1", "content": "x", **flag}
    dialogue = [
        U,
        {"role": "assistant", "content": [ask]},
        {"role": "user", "content": [told]},
        D,
    ]
    (step,) = only(dialogue).tool_steps
    assert step.ok is False
