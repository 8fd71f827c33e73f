"""Google ADK: GenAI names; in schema 1 requests, responses and tool values under its own."""

from __future__ import annotations

from typing import Final, TypeGuard

from trackway.schema import GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.otel_genai import (
    INPUT_MESSAGES,
    MODEL,
    OPERATIONS,
    OUTPUT_MESSAGES,
    TOKENS,
)
from trackway_analyzer.dialects.values import filled, json_of, only
from trackway_analyzer.model import JsonValue

_REQUEST: Final = ("gcp.vertex.agent.llm_request", filled)
_RESPONSE: Final = ("gcp.vertex.agent.llm_response", filled)


def chunks_joined(messages: JsonValue) -> JsonValue:
    """Return output messages with a stream's chunks in one: ADK records a message a chunk.

    Only a stream's last chunk has a finish reason.
    """
    decoded = json_of(messages)
    if not isinstance(decoded, list):
        return messages
    found: list[JsonValue] = []
    for message in decoded:
        chunk = found[-1] if found else None
        if _has_parts(message) and _has_parts(chunk) and not chunk.get("finish_reason", True):
            found[-1] = {**message, "parts": _joined([*chunk["parts"], *message["parts"]])}
        else:
            found.append(message)
    return found


def _has_parts(message: JsonValue) -> TypeGuard[dict[str, JsonValue]]:
    return isinstance(message, dict) and isinstance(message.get("parts"), list)


def _joined(parts: list[JsonValue]) -> list[JsonValue]:
    found: list[JsonValue] = []
    for part in parts:
        before = found[-1] if found else None
        if _is_text(part) and _is_text(before):
            found[-1] = {**before, "content": before["content"] + part["content"]}
        else:
            found.append(part)
    return found


def _is_text(part: JsonValue) -> TypeGuard[dict[str, JsonValue]]:
    is_part = isinstance(part, dict) and part.get("type") == "text"
    return is_part and isinstance(part.get("content"), str)


_OUTPUT: Final = ((GenAI.OUTPUT_MESSAGES, chunks_joined), *OUTPUT_MESSAGES)

ADK: Final = Dialect(
    name="adk",
    marks=Marks(
        keys=(
            "gcp.vertex.agent.llm_request",
            "gcp.vertex.agent.tool_call_args",
            "gcp.vertex.agent.event_id",
        ),
        scopes=("gcp.vertex.agent",),
    ),
    operations=(
        # One more span for every batch of parallel calls, with nothing of its own.
        (GenAI.TOOL_NAME, {"(merged tools)": Operation.OTHER}),
        (GenAI.OPERATION_NAME, OPERATIONS),
        (GenAI.REQUEST_MODEL, Operation.LLM),
    ),
    fields=MODEL | TOKENS,
    of={
        Operation.LLM: {
            "input": (INPUT_MESSAGES, _REQUEST),
            "output": (*_OUTPUT, _RESPONSE),
        },
        Operation.TOOL: {
            "tool": (GenAI.TOOL_NAME,),
            "tool_call_id": (GenAI.TOOL_CALL_ID,),
            "arguments": (GenAI.TOOL_CALL_ARGUMENTS, "gcp.vertex.agent.tool_call_args"),
            "result": (
                (GenAI.TOOL_CALL_RESULT, only("result")),
                ("gcp.vertex.agent.tool_response", only("result")),
            ),
        },
        Operation.AGENT: {"input": (INPUT_MESSAGES,), "output": _OUTPUT},
        Operation.WORKFLOW: {"agent": (GenAI.WORKFLOW_NAME,)},
    },
)
