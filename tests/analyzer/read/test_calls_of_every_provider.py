"""Calls in the forms that providers and clients have for them are steps; none is lost silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.model import Step, Trajectory
from trackway_analyzer.rules import Allowed, Count, Forbidden, Never, Rule

USER = {"role": "user", "content": "Go."}
SAYS = {"role": "assistant", "content": "Done."}
WORDS = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Done."}],
}
SEARCH = {"type": "search", "query": "q"}


def only(tmp_path: Path, document: Any, name: str = "run.json") -> Trajectory:
    path = tmp_path / name
    lines = isinstance(document, str)
    path.write_text(document if lines else json.dumps(document))
    (trajectory,) = ta.load(path)
    return trajectory


def calls(trajectory: Trajectory) -> list[tuple[Any, ...]]:
    """Tool, arguments, result, executed and ok of each call."""
    steps = [step for step in trajectory.steps if step.operation == "tool"]
    return [(s.tool, s.arguments, _told(s), s.executed, s.ok) for s in steps]


def _told(step: Step) -> Any:
    return step.error_message if step.result is ta.NOT_RECORDED else step.result


def says(*parts: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts)}


FOUND = [{"type": "web_search_result", "url": "u"}]
DENIED = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
RAN = {"type": "code_execution_result", "stdout": "", "stderr": "no", "return_code": 1}

TRANSCRIPTS: dict[str, tuple[list[Any], list[tuple[Any, ...]]]] = {
    "anthropic web search": (
        [
            says(
                {
                    "type": "server_tool_use",
                    "id": "s",
                    "name": "web_search",
                    "input": {"query": "q"},
                },
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": FOUND},
                {"type": "text", "text": "Done."},
            )
        ],
        [("web_search", {"query": "q"}, FOUND, True, True)],
    ),
    "anthropic web search that failed": (
        [
            says(
                {
                    "type": "server_tool_use",
                    "id": "s",
                    "name": "web_search",
                    "input": {"query": "q"},
                },
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": DENIED},
                {"type": "text", "text": "Done."},
            )
        ],
        [("web_search", {"query": "q"}, DENIED, True, False)],
    ),
    "anthropic code execution that failed": (
        [
            says(
                {
                    "type": "server_tool_use",
                    "id": "s",
                    "name": "code_execution",
                    "input": {"code": "x"},
                },
                {"type": "code_execution_tool_result", "tool_use_id": "s", "content": RAN},
                {"type": "text", "text": "Done."},
            )
        ],
        [("code_execution", {"code": "x"}, RAN, True, False)],
    ),
    "anthropic mcp": (
        [
            says(
                {"type": "mcp_tool_use", "id": "m", "name": "rm", "server_name": "fs", "input": {}},
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "m",
                    "is_error": True,
                    "content": [{"type": "text", "text": "bad"}],
                },
                {"type": "text", "text": "Done."},
            )
        ],
        [("rm", {}, "bad", True, False)],
    ),
    "genai": (
        [
            {
                "role": "assistant",
                "parts": [
                    {
                        "type": "server_tool_call",
                        "id": "s",
                        "name": "web_search",
                        "server_tool_call": {"type": "web_search", "query": "q"},
                    },
                    {
                        "type": "server_tool_call_response",
                        "id": "s",
                        "server_tool_call_response": {"type": "web_search", "results": ["u"]},
                    },
                    {"type": "text", "content": "Done."},
                ],
            }
        ],
        [("web_search", {"query": "q"}, {"type": "web_search", "results": ["u"]}, True, True)],
    ),
    "langchain": (
        [
            {
                "type": "ai",
                "content": [
                    {
                        "type": "server_tool_call",
                        "id": "s",
                        "name": "web_search",
                        "args": {"query": "q"},
                    },
                    {
                        "type": "server_tool_result",
                        "tool_call_id": "s",
                        "status": "success",
                        "output": "u",
                    },
                    {"type": "text", "text": "Done."},
                ],
            }
        ],
        [("web_search", {"query": "q"}, "u", True, True)],
    ),
    "langchain, arguments that are no JSON": (
        [
            {
                "type": "ai",
                "content": "",
                "tool_calls": [{"name": "a", "args": {"x": 1}, "id": "q", "type": "tool_call"}],
                "invalid_tool_calls": [{"name": "b", "args": "{x", "id": "q2", "error": "bad"}],
            },
            {"type": "tool", "content": "ok", "tool_call_id": "q", "name": "a"},
            {"type": "ai", "content": "Done."},
        ],
        [("a", {"x": 1}, "ok", True, True), ("b", "{x", None, False, False)],
    ),
    "gemini code execution": (
        [
            {
                "role": "model",
                "parts": [
                    {"executableCode": {"language": "PYTHON", "code": "1/0"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
                    {"text": "Done."},
                ],
            }
        ],
        [("code_execution", {"language": "PYTHON", "code": "1/0"}, "no", True, False)],
    ),
    "bedrock, a system tool": (
        [
            says(
                {"toolUse": {"toolUseId": "s", "name": "nova_grounding", "input": {"q": "q"}}},
                {"toolResult": {"toolUseId": "s", "content": [{"text": "u"}], "status": "success"}},
                {"text": "Done."},
            )
        ],
        [("nova_grounding", {"q": "q"}, "u", True, True)],
    ),
    "responses, mcp that failed": (
        [
            {
                "type": "mcp_call",
                "id": "m",
                "name": "rm",
                "server_label": "fs",
                "arguments": '{"p":1}',
                "output": None,
                "error": "denied",
            },
            WORDS,
        ],
        [("rm", {"p": 1}, "denied", True, False)],
    ),
    "responses, hosted tools": (
        [
            {"type": "web_search_call", "id": "w", "status": "completed", "action": SEARCH},
            {"type": "file_search_call", "id": "f", "queries": ["q"], "results": ["u"]},
            {
                "type": "code_interpreter_call",
                "id": "c",
                "container_id": "x",
                "code": "1",
                "outputs": [{"type": "logs", "logs": "1"}],
                "status": "completed",
            },
            {"type": "image_generation_call", "id": "i", "status": "failed", "result": None},
            {"type": "web_search_call", "id": "v", "status": "incomplete", "action": SEARCH},
            WORDS,
        ],
        [
            ("web_search", SEARCH, {"status": "completed"}, True, True),
            ("file_search", {"queries": ["q"]}, ["u"], True, True),
            ("code_interpreter", {"code": "1"}, [{"type": "logs", "logs": "1"}], True, True),
            ("image_generation", ta.NOT_RECORDED, {"status": "failed"}, True, False),
            ("web_search", SEARCH, {"status": "incomplete"}, True, False),
        ],
    ),
    "responses, tools that the client runs": (
        [
            {"type": "custom_tool_call", "call_id": "k", "name": "run_sql", "input": "DROP"},
            {"type": "custom_tool_call_output", "call_id": "k", "output": "ok"},
            {"type": "local_shell_call", "id": "l", "call_id": "l1", "action": {"command": ["ls"]}},
            {"type": "local_shell_call_output", "id": "l1", "output": "a"},
            {"type": "shell_call", "call_id": "h", "action": {"commands": ["false"]}},
            {
                "type": "shell_call_output",
                "call_id": "h",
                "output": [{"stdout": "", "outcome": {"type": "exit", "exit_code": 1}}],
            },
            {"type": "apply_patch_call", "call_id": "p", "operation": {"path": "a"}},
            {"type": "apply_patch_call_output", "call_id": "p", "status": "failed", "output": "no"},
            {"type": "computer_call", "call_id": "o", "action": {"type": "click"}},
            {"type": "computer_call_output", "call_id": "o", "output": {"image_url": "u"}},
            WORDS,
        ],
        [
            ("run_sql", {"input": "DROP"}, "ok", True, True),
            ("local_shell", {"command": ["ls"]}, "a", True, True),
            (
                "shell",
                {"commands": ["false"]},
                [{"stdout": "", "outcome": {"type": "exit", "exit_code": 1}}],
                True,
                False,
            ),
            ("apply_patch", {"path": "a"}, "no", True, False),
            ("computer", {"type": "click"}, {"image_url": "u"}, True, True),
        ],
    ),
    "responses, leave that was given": (
        [
            {"type": "mcp_approval_request", "id": "r", "name": "rm", "arguments": '{"p":1}'},
            {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True},
            {
                "type": "mcp_call",
                "id": "m",
                "approval_request_id": "r",
                "name": "rm",
                "arguments": '{"p":1}',
                "output": "gone",
            },
            WORDS,
        ],
        [("rm", {"p": 1}, "gone", True, True)],
    ),
    "responses, leave that was denied": (
        [
            {"type": "mcp_approval_request", "id": "r", "name": "rm", "arguments": '{"p":1}'},
            {"type": "mcp_approval_response", "approval_request_id": "r", "approve": False},
            WORDS,
        ],
        [("rm", {"p": 1}, None, False, False)],
    ),
    "vercel, a call that failed": (
        [
            says({"type": "tool-call", "toolCallId": "v", "toolName": "rm", "input": {"p": 1}}),
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "v",
                        "toolName": "rm",
                        "output": {"type": "error-text", "value": "no"},
                    }
                ],
            },
            SAYS,
        ],
        [("rm", {"p": 1}, "no", True, False)],
    ),
    "openai, a custom tool": (
        [
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "custom", "custom": {"name": "run_sql", "input": "DROP"}}
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "ok"},
            SAYS,
        ],
        [("run_sql", {"input": "DROP"}, "ok", True, True)],
    ),
    "openai, the functions of 2023": (
        [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "lookup", "arguments": '{"id": 1}'},
            },
            {"role": "function", "name": "lookup", "content": "{}"},
            SAYS,
        ],
        [("lookup", {"id": 1}, {}, True, True)],
    ),
    "openai, empty arguments": (
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": ""}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "ok"},
            SAYS,
        ],
        [("x", {}, "ok", True, True)],
    ),
}


@pytest.mark.parametrize("form", TRANSCRIPTS)
def test_a_transcript_tells_every_call(form: str, tmp_path: Path) -> None:
    messages, wanted = TRANSCRIPTS[form]
    trajectory = only(tmp_path, [USER, *messages])
    assert calls(trajectory) == wanted
    assert trajectory.final_text == "Done."
    assert Forbidden([call[0] for call in wanted]).check(trajectory.batch)[0].state == "violated"


@pytest.mark.parametrize("form", TRANSCRIPTS)
@pytest.mark.parametrize("placed", ["in the output", "in the next input"])
def test_spans_tell_every_call(form: str, placed: str, tmp_path: Path) -> None:
    messages, wanted = TRANSCRIPTS[form]
    told, said = (
        ([USER, *messages], [SAYS]) if placed == "in the next input" else ([USER], messages)
    )
    trajectory = only(tmp_path, otlp(told, said))
    # In an output, what a client answers is no answer yet.
    assert [call[:2] for call in calls(trajectory)] == [
        (tool, arguments) for tool, arguments, *_ in wanted
    ]
    if placed == "in the next input":
        assert [call[3] for call in calls(trajectory)] == [call[3] for call in wanted]
    assert Forbidden([call[0] for call in wanted]).check(trajectory.batch)[0].state == "violated"


def otlp(told: Any, said: Any) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(told),
        "gen_ai.output.messages": json.dumps(said),
    }
    span = {
        "traceId": "1" * 32,
        "spanId": "2" * 16,
        "name": "chat m",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
    }
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "x"}, "spans": [span]}]}]}


def test_what_the_provider_ran_is_of_the_turn_that_goes_on(tmp_path: Path) -> None:
    search = {"type": "web_search_call", "id": "w", "status": "completed", "action": SEARCH}
    steps = only(tmp_path, [USER, search, WORDS]).steps
    assert [step.operation for step in steps] == ["llm", "tool"]
    assert steps[1].turn == 0


def test_a_call_of_the_provider_behind_which_the_model_goes_on_was_executed(tmp_path: Path) -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    words = {"type": "text", "text": "Done."}
    assert [call[3] for call in calls(only(tmp_path, [USER, says(use, words)]))] == [True]
    paused = only(tmp_path, [USER, says(use)], "paused.json")
    assert [call[3] for call in calls(paused)] == [False]
    assert "tools_not_observable" in [gap.name for gap in paused.gaps]


def test_arguments_that_are_no_json_are_a_gap(tmp_path: Path) -> None:
    messages, _ = TRANSCRIPTS["langchain, arguments that are no JSON"]
    gaps = only(tmp_path, [USER, *messages]).gaps
    assert "unparsable_arguments" in [gap.name for gap in gaps]


@pytest.mark.parametrize(
    "said",
    [
        {"role": "assistant", "content": None, "refusal": "I cannot."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "I cannot."}],
        },
    ],
    ids=["chat", "chat, parts", "responses"],
)
def test_a_refusal_is_what_the_model_said(said: dict[str, Any], tmp_path: Path) -> None:
    assert only(tmp_path, [USER, said]).final_text == "I cannot."


UNKNOWN: dict[str, Any] = {
    "a transcript's answer without its call": [
        USER,
        {"role": "tool", "tool_call_id": "z", "content": "{}"},
        SAYS,
    ],
    "a span's answer without its call": otlp(
        [USER, {"role": "tool", "tool_call_id": "z", "content": "{}"}], [SAYS]
    ),
    "a call without a name": [
        USER,
        {"role": "assistant", "tool_calls": [{"id": "z", "function": {"arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "z", "content": "{}"},
        SAYS,
    ],
}
RULES: tuple[Rule, ...] = (
    Forbidden(["rm"]),
    Never("rm"),
    Count("rm", exactly=0),
    Count("rm", max=0),
)


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("what", UNKNOWN)
def test_a_call_of_an_unknown_tool_leaves_undecided_which_tools_were_called(
    what: str, rule: Rule, tmp_path: Path
) -> None:
    trajectory = only(tmp_path, UNKNOWN[what])
    assert [call[0] for call in calls(trajectory)] == [None]
    assert [f.state.value for f in rule.check(trajectory.batch)] == ["insufficient"]


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_call_of_an_unknown_tool_is_none_that_is_allowed(what: str, tmp_path: Path) -> None:
    found = Allowed(["lookup"]).check(only(tmp_path, UNKNOWN[what]).batch)
    assert [finding.state.value for finding in found] == ["violated"]
