"""Telemetry of coding agents: Claude Code and Gemini CLI."""

from __future__ import annotations

from typing import Any

from trackway_analyzer.dialects import span_reader
from trackway_analyzer.spans import Origin, RawEvent, RawSpan

READ = span_reader()


def read(attributes: dict[str, Any], *events: RawEvent, scope: str | None = None) -> dict[str, Any]:
    span = RawSpan("t", "s", "name", 1, Origin(scope=scope), attributes, events=events)
    return READ(span)[0]


def test_a_request_of_claude_code_counts_cached_tokens_as_input() -> None:
    typed = read(
        {
            "span.type": "llm_request",
            "model": "claude-x",
            "input_tokens": 10,
            "cache_read_tokens": 80,
            "cache_creation_tokens": 5,
            "output_tokens": 7,
            "new_context": "Fix it",
            "response.model_output": "Done.",
        }
    )
    assert (typed["source"], typed["operation"]) == ("claude-code", "llm")
    assert (typed["tokens_in"], typed["tokens_cache_read"], typed["tokens_out"]) == (95, 80, 7)
    assert (typed["model_requested"], b'"Done."' in typed["output"]) == ("claude-x", True)


def test_a_tool_of_claude_code() -> None:
    output = RawEvent("tool.output", 2, {"output": "ok"})
    typed = read(
        {"span.type": "claude_code.tool", "tool_name": "Bash", "full_command": "ls"}, output
    )
    assert (typed["operation"], typed["tool"]) == ("tool", "Bash")
    assert (typed["arguments"], typed["result"]) == ('{"command":"ls"}', '"ok"')


def test_an_interaction_of_claude_code_is_an_agent_and_what_was_hidden_is_missing() -> None:
    typed = read({"span.type": "interaction", "user_prompt": "<REDACTED>", "session.id": "s1"})
    assert (typed["operation"], typed["session_id"]) == ("agent", "s1")
    assert "input" not in typed


def test_the_type_of_a_span_of_others_is_no_mark() -> None:
    assert read({"span.type": "voltagent"})["source"] == "unknown"
    assert read({"span.type": ["tool"]})["source"] == "unknown"


def test_operations_of_gemini_cli() -> None:
    messages = '[{"role": "user", "parts": [{"text": "Hi"}]}]'
    common = {"gen_ai.agent.name": "gemini-cli"}
    model = read(common | {"gen_ai.operation.name": "llm_call", "gen_ai.input.messages": messages})
    assert (model["operation"], model["agent"]) == ("llm", "gemini-cli")
    assert model["input"] == b'[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]'
    tool = read(common | {"gen_ai.operation.name": "tool_call", "gen_ai.tool.name": "ls"})
    assert (tool["operation"], tool["tool"]) == ("tool", "ls")
    agent = read(common | {"gen_ai.operation.name": "agent_call"})
    assert agent["operation"] == "agent"
    prompt = read(common | {"gen_ai.operation.name": "user_prompt"})
    assert prompt["operation"] == "other"
