"""Claude Code's own telemetry: `span.type`, bare names, content only where somebody opted in."""

from __future__ import annotations

from typing import Final

from trackway.schema import Operation
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.dialects.sources import event
from trackway_analyzer.dialects.values import integer
from trackway_analyzer.model import JsonValue
from trackway_analyzer.spans import RawSpan

TYPE: Final = "span.type"
_OPERATIONS: Final = {
    "interaction": Operation.AGENT,
    "llm_request": Operation.LLM,
    "tool": Operation.TOOL,
    "tool.execution": Operation.OTHER,
    "tool.blocked_on_user": Operation.OTHER,
    "hook": Operation.OTHER,
}
_TYPES: Final = _OPERATIONS | {f"claude_code.{name}": what for name, what in _OPERATIONS.items()}
_INPUTS: Final = ("input_tokens", "cache_read_tokens", "cache_creation_tokens")


def _all_input(span: RawSpan) -> JsonValue:
    """Input tokens, cached ones included; the recorded number leaves them out."""
    counts = [integer(span.attributes.get(name)) for name in _INPUTS]
    return None if counts[0] is None else sum(count for count in counts if count is not None)


def _named_argument(span: RawSpan) -> JsonValue:
    """The one argument that stands under a name of its own."""
    named = {"command": "full_command", "file_path": "file_path"}
    found = {name: span.attributes.get(key) for name, key in named.items()}
    return {name: value for name, value in found.items() if value is not None} or None


CLAUDE_CODE: Final = Dialect(
    name="claude-code",
    marks=Marks(
        keys=("response.model_output", "new_context", "user_prompt"),
        scopes=("com.anthropic.claude_code",),
        values={TYPE: tuple(_TYPES)},
    ),
    operations=((TYPE, _TYPES),),
    fields={
        "session_id": ("session.id",),
        "model_requested": ("model",),
        "model_answered": ("response.model", "model"),
        "finish_reasons": ("response.finish_reason", "stop_reason"),
        "tokens_in": (_all_input,),
        "tokens_out": ("output_tokens",),
        "tokens_cache_read": ("cache_read_tokens",),
        "tokens_cache_write": ("cache_creation_tokens",),
        "error_message": ("error", "error.message"),
    },
    of={
        Operation.LLM: {"input": ("new_context",), "output": ("response.model_output",)},
        Operation.AGENT: {"input": ("user_prompt",), "output": ("response.model_output",)},
        Operation.TOOL: {
            "tool": ("tool_name", "tool.name"),
            "tool_call_id": ("tool_use_id",),
            "arguments": ("tool_input", _named_argument),
            "result": (event("tool.output", "output"), event("tool.output", "content")),
        },
    },
)
