"""Messages in the shapes of applications: their calls are steps, or holes with a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.rules import AdmitsFailure, Called, Forbidden

U = {"role": "user", "content": "x"}
D = {"role": "assistant", "content": "done"}
CALL = {"id": "c1", "type": "function", "function": {"name": "delete_account", "arguments": "{}"}}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": '{"gone": true}'}


def only(source: Any) -> ta.Trajectory:
    runs = ta.load(source)
    assert runs.quarantined.to_pylist() == []
    (run,) = runs
    return run


def verdict(source: Any) -> str:
    return str(ta.load(source).check(ta.Policy(Forbidden("delete_account"))).verdict)


def ui(*parts: Any, **more: Any) -> list[Any]:
    return [U, {"role": "assistant", "parts": list(parts), **more}]


def tool(**members: Any) -> dict[str, Any]:
    return {"type": "tool-delete_account", "toolCallId": "t", "input": {"id": 1}, **members}


SAID = {"type": "text", "text": "done"}
EXECUTED: dict[str, Any] = {
    "ui": ui(tool(state="output-available", output={"gone": True}), SAID),
    "ui in steps": ui(
        {"type": "step-start"},
        tool(state="output-available", output={"gone": True}),
        {"type": "step-start"},
        SAID,
    ),
    "ui dynamic": ui(
        {
            **tool(state="output-available", output={"gone": True}),
            "type": "dynamic-tool",
            "toolName": "delete_account",
        },
        SAID,
    ),
    "ui of version 4": ui(
        {
            "type": "tool-invocation",
            "toolInvocation": {
                "state": "result",
                "toolCallId": "t",
                "toolName": "delete_account",
                "args": {"id": 1},
                "result": {"gone": True},
            },
        },
        SAID,
    ),
    "ui beside its parts": ui(
        content="done",
        toolInvocations=[
            {
                "state": "result",
                "toolCallId": "t",
                "toolName": "delete_account",
                "args": {"id": 1},
                "result": {"gone": True},
            }
        ],
    ),
    "a text": [U, {"role": "assistant", "tool_calls": json.dumps([CALL])}, ANSWER, D],
    "an object": [U, {"role": "assistant", "tool_calls": CALL}, ANSWER, D],
    "an object of calls": [U, {"role": "assistant", "tool_calls": {"0": CALL}}, ANSWER, D],
    "texts": [U, {"role": "assistant", "tool_calls": [json.dumps(CALL)]}, ANSWER, D],
    "camelCase": [
        U,
        {"role": "assistant", "content": "", "toolCalls": [CALL]},
        {"role": "tool", "toolCallId": "c1", "content": '{"gone": true}'},
        D,
    ],
    "dumpd": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": U},
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {
                "content": "",
                "type": "ai",
                "tool_calls": [{"name": "delete_account", "args": {}, "id": "c1"}],
            },
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "ToolMessage"],
            "kwargs": {"content": '{"gone": true}', "tool_call_id": "c1", "status": "success"},
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "AIMessage"],
            "kwargs": {"content": "done"},
        },
    ],
    "messages_to_dict": [
        {"type": "human", "data": {"content": "x", "type": "human"}},
        {
            "type": "ai",
            "data": {
                "content": "",
                "tool_calls": [{"name": "delete_account", "args": {}, "id": "c1"}],
            },
        },
        {"type": "tool", "data": {"content": '{"gone": true}', "tool_call_id": "c1"}},
        {"type": "ai", "data": {"content": "done"}},
    ],
    "pydantic-ai": [
        {
            "kind": "request",
            "parts": [
                {"part_kind": "system-prompt", "content": "Be brief."},
                {"part_kind": "user-prompt", "content": "x", "timestamp": "2026-01-01T00:00:00Z"},
            ],
        },
        {
            "kind": "response",
            "parts": [
                {"part_kind": "thinking", "content": "hm"},
                {
                    "part_kind": "tool-call",
                    "tool_name": "delete_account",
                    "args": "{}",
                    "tool_call_id": "c1",
                },
            ],
        },
        {
            "kind": "request",
            "parts": [
                {
                    "part_kind": "tool-return",
                    "tool_name": "delete_account",
                    "content": {"gone": True},
                    "tool_call_id": "c1",
                }
            ],
        },
        {"kind": "response", "parts": [{"part_kind": "text", "content": "done"}]},
    ],
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"parts": [{"text": "x"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "delete_account", "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "name": "delete_account",
                            "response": {"gone": True},
                        }
                    }
                ],
            },
        ],
        "candidates": [{"content": {"role": "model", "parts": [{"text": "done"}]}}],
    },
    "a logged exchange": {
        "request": {
            "model": "gpt-4o",
            "messages": [U, {"role": "assistant", "tool_calls": [CALL]}, ANSWER],
        },
        "response": {"object": "chat.completion", "choices": [{"message": D}]},
    },
}


@pytest.mark.parametrize("name", EXECUTED)
def test_a_call_with_its_answer_is_a_step(name: str) -> None:
    run = only(EXECUTED[name])
    (step,) = run.tool_steps
    assert (step.tool, step.executed, step.result) == ("delete_account", True, {"gone": True})
    assert run.final_text == "done"
    assert [each.operation for each in run.steps] == ["llm", "tool", "llm"]
    assert verdict(EXECUTED[name]) == "violation"


ASKED: dict[str, Any] = {
    "a completion": {
        "object": "chat.completion",
        "model": "gpt-4o",
        "choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}],
    },
    "a line of a batch": {
        "id": "batch_req_1",
        "custom_id": "a",
        "response": {
            "status_code": 200,
            "body": {
                "object": "chat.completion",
                "model": "gpt-4o",
                "choices": [{"message": {"role": "assistant", "tool_calls": [CALL]}}],
            },
        },
        "error": None,
    },
    "a batch of anthropic": {
        "custom_id": "a",
        "result": {
            "type": "succeeded",
            "message": {
                "type": "message",
                "role": "assistant",
                "model": "gpt-4o",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "delete_account", "input": {}}
                ],
            },
        },
    },
    "ollama": {"model": "gpt-4o", "message": {"role": "assistant", "tool_calls": [CALL]}},
    "converse": {
        "model": "gpt-4o",
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "c1", "name": "delete_account", "input": {}}}
                ],
            }
        },
    },
}


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_of_a_model_alone_shows_what_it_asked_for(name: str, tmp_path: Path) -> None:
    run = only(ASKED[name])
    assert [(step.tool, step.executed) for step in run.steps[1:]] == [("delete_account", False)]
    assert run.steps[0].model_requested == "gpt-4o"
    assert "tools_not_observable" in {gap.name for gap in run.gaps}
    path = tmp_path / "lines.jsonl"
    path.write_text(f"{json.dumps(ASKED[name])}\n" * 2)
    assert len(ta.load(path)) == 2
    assert verdict(path) == "violation"


UNKNOWN: dict[str, Any] = {
    "a block": [
        U,
        {"role": "assistant", "content": [{"type": "new_tool_use", "name": "delete_account"}]},
        D,
    ],
    "an item": [U, {"type": "weird_call", "name": "delete_account", "arguments": "{}"}, D],
    "a part of a user": [
        {"role": "user", "content": [{"type": "tool_output", "tool": "delete_account"}]},
        D,
    ],
    "a member": [U, {"role": "assistant", "content": "", "toolUses": 1, "tool_use": {"a": 1}}, D],
    "a text": [U, {"role": "assistant", "content": "", "tool_calls": ["delete_account"]}, D],
    "an entry": [U, "Action: delete_account", D],
    "a message that langchain could not write": [
        U,
        {"lc": 1, "type": "not_implemented", "id": ["a"], "repr": "X()"},
        D,
    ],
    "a part of a ui": ui({"type": "step-start"}, {"type": "tool_call_new", "name": "y"}, SAID),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_looks_like_a_call_and_is_not_read_is_a_hole(name: str) -> None:
    assert verdict(UNKNOWN[name]) == "insufficient"


def test_a_hole_says_what_is_not_read() -> None:
    (gap,) = [gap for gap in only(UNKNOWN["a block"]).gaps if gap.name == "missing_steps"]
    told = "a part of the type new_tool_use that looks like a call, in no form that is known"
    assert gap.detail == told


HARMLESS: dict[str, Any] = {
    "an image": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}]},
        D,
    ],
    "a document": [U, {"role": "assistant", "content": [{"type": "document", "title": "t"}, SAID]}],
    "an answer with its call": [
        {
            "role": "tool",
            "content": "1",
            "tool_call_id": "a",
            "name": "look",
            "tool_call": {"id": "a", "function": {"name": "look", "arguments": "{}"}},
        },
        D,
    ],
    "an unknown part": ui({"type": "step-start"}, SAID, {"type": "source-url", "url": "u"}),
    "empty calls": [U, {**D, "tool_calls": [], "function_call": None, "toolCalls": None}],
    "thoughts": [U, {**D, "content": [{"type": "thinking", "thinking": "t"}, SAID]}],
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_not_look_like_a_call_is_no_hole(name: str) -> None:
    run = only(HARMLESS[name])
    assert "missing_steps" not in {gap.name for gap in run.gaps}
    assert verdict(HARMLESS[name]) == "pass"


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (tool(state="output-error", errorText="no such account"), (True, False)),
        (tool(state="output-denied", approval={"approved": False}), (False, False)),
    ],
)
def test_a_call_of_a_ui_that_failed_or_was_denied_took_no_effect(part: Any, told: Any) -> None:
    step = only(ui(part, SAID)).steps[1]
    assert (step.executed, bool(step.ok)) == told


def test_what_was_denied_and_is_told_as_done_is_not_admitted() -> None:
    claimed = {"type": "text", "text": "I deleted the account."}
    denied = tool(state="output-denied", approval={"approved": False})
    policy = ta.Policy(AdmitsFailure())
    assert str(ta.load(ui(denied, claimed)).check(policy).verdict) == "violation"
    told = {"type": "text", "text": "I may not delete the account."}
    assert str(ta.load(ui(denied, told)).check(policy).verdict) == "pass"


def test_a_result_that_is_only_preliminary_is_no_answer() -> None:
    halfway = ui(tool(state="output-available", output="half", preliminary=True), SAID)
    call = next(step for step in only(halfway).steps if step.tool)
    assert (call.executed, call.ok) == (False, None)
    assert (
        str(ta.load(halfway).check(ta.Policy(Called("delete_account"))).verdict) == "insufficient"
    )
    part = {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "half"}}
    asks = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    told = [U, asks, {"role": "tool", "content": [{**part, "preliminary": True}, part]}, D]
    assert [call.result for call in only(told).tool_steps] == ["half"]


def test_a_retry_of_pydantic_ai_is_a_failed_call() -> None:
    messages = json.loads(json.dumps(EXECUTED["pydantic-ai"]))
    messages[2]["parts"][0] |= {"part_kind": "retry-prompt", "content": "wrong id"}
    (step,) = only(messages).tool_steps
    assert (step.executed, step.ok) == (True, False)


def test_speech_that_was_written_down_is_the_final_text() -> None:
    spoken = {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "said"}}
    assert only([U, spoken]).final_text == "said"


def test_the_actions_of_a_tau_bench_agent_without_functions_are_calls() -> None:
    chat = [
        {"role": "system", "content": "Answer with an Action."},
        U,
        {
            "role": "assistant",
            "content": "Thought:\nI delete it.\nAction:\n"
            '{"name": "delete_account", "arguments": {"id": 1}}',
        },
        {"role": "user", "content": 'API output: {"gone": true}'},
        {"role": "assistant", "content": "Action:\nno object"},
        {"role": "user", "content": "API output: Error: unknown"},
        {
            "role": "assistant",
            "content": 'Action:\n{"name": "respond", "arguments": {"content": "done"}}',
        },
        {"role": "user", "content": "###STOP###"},
    ]
    run = only([{"task_id": 1, "trial": 0, "reward": 1.0, "traj": chat}])
    named, unnamed = run.tool_steps
    assert (named.tool, named.arguments, named.result) == (
        "delete_account",
        {"id": 1},
        {"gone": True},
    )
    assert (named.executed, unnamed.tool) == (True, None)
    assert [step.operation for step in run.steps] == ["llm", "tool", "llm", "tool", "llm"]
    assert run.final_text == "done"
    assert "tools_not_observable" in {gap.name for gap in run.gaps}
