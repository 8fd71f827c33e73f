"""Vercel AI SDK up to version 6, and version 7 with its legacy integration: `ai.*`."""

from __future__ import annotations

from typing import Final

from trackway.schema import Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.sources import assistant
from trackway_analyzer.dialects.values import filled

_CALLS: Final = ("generateText", "streamText", "generateObject", "streamObject")
_TEXTS: Final = ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")

VERCEL: Final = Dialect(
    name="vercel",
    marks=Marks(keys=("ai.operationId",)),
    operations=(
        (
            "ai.operationId",
            {f"ai.{call}": Operation.AGENT for call in _CALLS}
            | {f"ai.{call}.doGenerate": Operation.LLM for call in _CALLS}
            | {f"ai.{call}.doStream": Operation.LLM for call in _CALLS}
            | {
                "ai.toolCall": Operation.TOOL,
                "ai.embed": Operation.OTHER,
                "ai.embedMany": Operation.OTHER,
                "ai.embed.doEmbed": Operation.EMBEDDING,
                "ai.embedMany.doEmbed": Operation.EMBEDDING,
            },
        ),
    ),
    fields={
        "agent": ("ai.telemetry.functionId",),
        "model_requested": ("ai.model.id",),
        "model_answered": ("ai.response.model",),
        "provider": ("ai.model.provider",),
        "finish_reasons": ("ai.response.finishReason", "ai.finishReason"),
        "tokens_in": ("ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"),
        "tokens_out": ("ai.usage.outputTokens", "ai.usage.completionTokens"),
        "tokens_cache_read": (
            "ai.usage.inputTokenDetails.cacheReadTokens",
            "ai.usage.cachedInputTokens",
        ),
        "tokens_cache_write": ("ai.usage.inputTokenDetails.cacheWriteTokens",),
        "tokens_reasoning": (
            "ai.usage.outputTokenDetails.reasoningTokens",
            "ai.usage.reasoningTokens",
        ),
    },
    of={
        Operation.LLM: {
            "input": ("ai.prompt.messages", "ai.prompt"),
            "output": (assistant(_TEXTS, ("ai.response.toolCalls", "ai.result.toolCalls")),),
        },
        Operation.TOOL: {
            "tool": ("ai.toolCall.name",),
            "tool_call_id": ("ai.toolCall.id",),
            "arguments": ("ai.toolCall.args",),
            "result": ("ai.toolCall.result",),
        },
        Operation.AGENT: {
            "input": ("ai.prompt",),
            "output": tuple((key, filled) for key in _TEXTS),
        },
    },
)
