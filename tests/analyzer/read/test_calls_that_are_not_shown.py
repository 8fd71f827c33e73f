"""A model that stopped for a call asked for one, whatever its output shows; and parts without a
type, or beside the messages, are calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.read.test_cut_messages import (
    CHAT,
    SAID,
    VERCEL,
    output,
    runs,
    span,
    unseen,
    verdicts,
)

RULE = "forbid: [delete_account]"
DONE = {"role": "assistant", "content": "Done."}
CHOICES = {"choices": [{"finish_reason": "tool_calls", "message": DONE}]}
ANTHROPIC = {
    "role": "assistant",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "tool_use",
}
PART = {"type": "text", "content": "Done."}
GENAI = [{"role": "assistant", "parts": [PART], "finish_reason": "tool_call"}]
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Done.",
}
OPENLLMETRY = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Done."}
LANGCHAIN = {"content": "Done.", "type": "ai", "response_metadata": {"finish_reason": "tool_calls"}}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
STOPPED: dict[str, dict[str, Any]] = {
    "otel-genai": {**CHAT, **output(SAID), "gen_ai.response.finish_reasons": ["tool_calls"]},
    "otel-genai message": {**CHAT, **output(json.dumps(GENAI))},
    "openllmetry": {**CHAT, **OPENLLMETRY, "gen_ai.completion.0.finish_reason": "tool_calls"},
    "openinference": {**OPENINFERENCE, "llm.finish_reason": "tool_calls"},
    "openinference answer": {**OPENINFERENCE, "output.value": json.dumps(CHOICES)},
    "vercel": {**VERCEL, "ai.response.finishReason": "tool-calls"},
    "mlflow": {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanOutputs": json.dumps(CHOICES)},
    "mlflow anthropic": {"mlflow.spanType": '"LLM"', "mlflow.spanOutputs": json.dumps(ANTHROPIC)},
    "langfuse": {
        "langfuse.observation.type": "generation",
        "langfuse.observation.output": json.dumps(ANTHROPIC),
    },
    "langsmith": {**CHAT, "gen_ai.completion": json.dumps({"generations": [[LANGCHAIN]]})},
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_turn_that_stopped_for_a_call_and_shows_none_hides_it(name: str, tmp_path: Path) -> None:
    found = runs(span(1, **STOPPED[name]))
    assert unseen(found) == ["a model stopped for a call that its output does not show"]
    assert verdicts(found, tmp_path, RULE) == ["insufficient"]


@pytest.mark.parametrize("name", STOPPED)
def test_where_spans_show_tools_it_hides_none(name: str, tmp_path: Path) -> None:
    found = runs(span(1, **STOPPED[name]), span(2, "execute_tool lookup", **TOOL))
    assert verdicts(found, tmp_path, RULE) == ["pass"]


@pytest.mark.parametrize("name", STOPPED)
def test_a_turn_that_ended_by_itself_hides_no_call(name: str, tmp_path: Path) -> None:
    text = json.dumps(STOPPED[name])
    for word in ("tool_calls", "tool_use", "tool-calls", "tool_call"):
        text = text.replace(word, "stop")
    assert verdicts(runs(span(1, **json.loads(text))), tmp_path, RULE) == ["pass"]


@pytest.mark.parametrize("key", ["mlflow.spanOutputs", "gen_ai.completion"])
def test_what_a_text_quotes_is_no_reason(key: str, tmp_path: Path) -> None:
    quoted = {"role": "assistant", "content": json.dumps(CHOICES)}
    kind = {"mlflow.spanType": '"LLM"'} if key.startswith("mlflow") else CHAT
    found = runs(span(1, **kind, **{key: json.dumps({"choices": [{"message": quoted}]})}))
    assert verdicts(found, tmp_path, RULE) == ["pass"]


def test_a_part_without_a_type_is_what_its_keys_say() -> None:
    asked = {"id": "c1", "name": "lookup", "arguments": {}}
    told = [{"role": "assistant", "parts": [asked]}, {"role": "tool", "parts": [{"id": "c1"}]}]
    for key in ("response", "result"):
        told[1]["parts"] = [{"id": "c1", key: {"total": 84}}]
        attributes = {**CHAT, "gen_ai.input.messages": json.dumps(told), **output(SAID)}
        (run,) = runs(span(1, **attributes))
        (step,) = run.tool_steps
        assert (step.tool, step.executed, step.result) == ("lookup", True, {"total": 84})


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("messages", [{}, OPENINFERENCE])
def test_the_call_of_2023_beside_the_messages_is_a_call(
    many: bool, messages: dict[str, str], tmp_path: Path
) -> None:
    asked = {"name": "delete_account", "arguments": '{"id": 7}'}
    call = {"llm.function_call": json.dumps([asked] if many else asked)}
    found = runs(span(1, **{"openinference.span.kind": "LLM"} | messages | call))
    (run,) = found
    assert [step.tool for step in run.steps] == [None, "delete_account"]
    assert run.steps[1].arguments == {"id": 7}
    assert verdicts(found, tmp_path, RULE) == ["violation"]
