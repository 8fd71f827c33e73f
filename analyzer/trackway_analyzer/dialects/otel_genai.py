"""The OpenTelemetry GenAI conventions, current names first, retired ones after them."""

from __future__ import annotations

from typing import Final

from trackway.schema import OPERATION_OF_GENAI_NAME, GenAI, Operation
from trackway_analyzer.dialects.dialect import Dialect, Fields, Marks
from trackway_analyzer.dialects.sources import after_system, event, message_events

OPERATIONS: Final = OPERATION_OF_GENAI_NAME | {
    "llm_call": Operation.LLM,
    "completion": Operation.LLM,
    "responses": Operation.LLM,
    "tool_call": Operation.TOOL,
    "agent_call": Operation.AGENT,
    "embedding": Operation.EMBEDDING,
    "plan": Operation.OTHER,
    "agent_step": Operation.OTHER,
    "execute_task": Operation.OTHER,
    "execute_event_loop_cycle": Operation.OTHER,
    "chain": Operation.OTHER,
}

INPUT_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
OUTPUT_EVENTS: Final = {"gen_ai.choice": "assistant"}
DETAILS: Final = frozenset(["gen_ai.client.inference.operation.details"])

TOKENS: Final[Fields] = {
    "tokens_in": (GenAI.INPUT_TOKENS, "gen_ai.usage.prompt_tokens"),
    "tokens_out": (GenAI.OUTPUT_TOKENS, "gen_ai.usage.completion_tokens"),
    "tokens_cache_read": (GenAI.CACHE_READ_TOKENS, "gen_ai.usage.cache_read_input_tokens"),
    "tokens_cache_write": (
        GenAI.CACHE_WRITE_TOKENS,
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
    ),
    "tokens_reasoning": (
        GenAI.REASONING_TOKENS,
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "llm.usage.reasoning_tokens",
    ),
}

MODEL: Final[Fields] = {
    "model_requested": (GenAI.REQUEST_MODEL,),
    "model_answered": (GenAI.RESPONSE_MODEL,),
    "provider": (GenAI.PROVIDER_NAME, "gen_ai.system"),
    "finish_reasons": (GenAI.RESPONSE_FINISH_REASONS, "gen_ai.response.finish_reason"),
    "agent": (GenAI.AGENT_NAME,),
}

INPUT_MESSAGES: Final = after_system(
    (GenAI.SYSTEM_INSTRUCTIONS, event(DETAILS, GenAI.SYSTEM_INSTRUCTIONS)),
    GenAI.INPUT_MESSAGES,
    event(DETAILS, GenAI.INPUT_MESSAGES),
    message_events(INPUT_EVENTS),
    "gen_ai.prompt",
    event("gen_ai.content.prompt", "gen_ai.prompt"),
)
OUTPUT_MESSAGES: Final = (
    GenAI.OUTPUT_MESSAGES,
    event(DETAILS, GenAI.OUTPUT_MESSAGES),
    message_events(OUTPUT_EVENTS),
    "gen_ai.completion",
    event("gen_ai.content.completion", "gen_ai.completion"),
)

TOOL: Final[Fields] = {
    "tool": (GenAI.TOOL_NAME,),
    "tool_call_id": (GenAI.TOOL_CALL_ID,),
    "arguments": (GenAI.TOOL_CALL_ARGUMENTS, event("gen_ai.tool.message", "content")),
    "result": (GenAI.TOOL_CALL_RESULT, event("gen_ai.choice", "message")),
}

OTEL_GENAI: Final = Dialect(
    name="otel-genai",
    marks=Marks(
        keys=(
            GenAI.OPERATION_NAME,
            GenAI.TOOL_NAME,
            GenAI.REQUEST_MODEL,
            GenAI.RESPONSE_MODEL,
            GenAI.INPUT_MESSAGES,
        ),
    ),
    operations=(
        (GenAI.OPERATION_NAME, OPERATIONS),
        (GenAI.TOOL_NAME, Operation.TOOL),
        (GenAI.REQUEST_MODEL, Operation.LLM),
        (GenAI.RESPONSE_MODEL, Operation.LLM),
    ),
    fields=MODEL | TOKENS,
    of={
        Operation.LLM: {"input": (INPUT_MESSAGES,), "output": OUTPUT_MESSAGES},
        Operation.TOOL: TOOL,
        Operation.AGENT: {"input": (INPUT_MESSAGES,), "output": OUTPUT_MESSAGES},
        Operation.WORKFLOW: {
            "input": (GenAI.INPUT_MESSAGES,),
            "output": OUTPUT_MESSAGES,
            "agent": (GenAI.WORKFLOW_NAME,),
        },
        Operation.RETRIEVAL: {
            "input": (GenAI.RETRIEVAL_QUERY,),
            "output": (GenAI.RETRIEVAL_DOCUMENTS,),
        },
    },
)
