"""What a session line of Claude Code says: whose turn it is, what it asks for, what it answers.

1. A line of the assistant is one of a turn of the model, which its message id names.
2. A user's line answers calls (`tool_result`) and says the rest. What the provider carried out is
   answered by a block of the model's own line.
3. A call that a person or the settings did not let through is told by the words that the model
   reads of it, and fails. So does one that was interrupted (`toolUseResult.interrupted`); one that
   was only launched, in the background, came to nothing yet.
4. A block of a type that nobody knows is a call if it has a name and an input, and an answer if it
   has the id of a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from trackway.schema import GenAI
from trackway_analyzer.dialects.parts import parts_of_exchange
from trackway_analyzer.dialects.provider_calls import Asked, Exchange, Told, exchange_of
from trackway_analyzer.dialects.values import json_of, text

Line = dict[str, Any]
"""A line of a session, decoded."""

SPOKEN: Final = ("user", "assistant")
"""Types of the lines in which somebody says something."""
OTHERS: Final = frozenset(
    [
        "system",
        "summary",
        "attachment",
        "progress",
        "queue-operation",
        "file-history-snapshot",
        "last-prompt",
        "custom-title",
        "ai-title",
        "agent-name",
        "permission-mode",
    ]
)
"""Types of the lines that tell of the session, and not of what it did."""
_KNOWN: Final = frozenset(
    [
        *("text", "thinking", "redacted_thinking", "image", "document", "search_result"),
        *("tool_use", "tool_result", "tool_reference", "container_upload", "fallback"),
    ]
)
_ARGUMENTS: Final = ("input", "arguments", "args")


def is_turn(line: Line) -> bool:
    """Tell whether the model speaks in a line."""
    return line.get("type") == "assistant" and isinstance(line.get("message"), dict)


def turn_of(line: Line) -> str:
    """Return the id of the turn that a line of the model belongs to."""
    return text(line["message"].get("id")) or text(line.get("uuid")) or ""


def call_in(part: Line) -> Asked | None:
    """Return the call that a block of the model asks for."""
    if part.get("type") == "tool_use":
        return Asked(part.get("id"), part.get("name"), part.get("input"))
    exchange = exchange_of(part)
    if exchange is None and is_of_unknown_type(part) and isinstance(part.get("name"), str):
        given = next((part[name] for name in _ARGUMENTS if name in part), None)
        called = part.get("id") or part.get("call_id")
        return None if given is None else Asked(called, part["name"], json_of(given))
    return None if exchange is None else exchange.asked


def is_of_unknown_type(part: Line) -> bool:
    """Tell whether a block is of a type that nobody knows."""
    kind = part.get("type")
    known = isinstance(kind, str) and kind in _KNOWN
    return not known and exchange_of(part) is None


def answer_in(line: Line, part: Line) -> Told | None:
    """Return the answer that a block holds: a user's line answers, and the provider's own block."""
    if line.get("type") == "user" and part.get("type") == "tool_result":
        content = _content(part.get("content"))
        refused = isinstance(content, str) and _REFUSED.match(content) is not None
        about = line.get("toolUseResult")
        interrupted = isinstance(about, dict) and about.get("interrupted") is True
        failed = part.get("is_error") is True
        told = Told(part.get("tool_use_id"), None, content, failed, refused and failed)
        return told._replace(failed=failed or interrupted)
    exchange = exchange_of(part) if line.get("type") == "assistant" else None
    if exchange is None and is_of_unknown_type(part):
        answered = part.get("tool_use_id") or part.get("tool_call_id")
        if isinstance(answered, str):
            failed = part.get("is_error") is True
            return Told(answered, None, _content(part.get("content", part.get("output"))), failed)
    return None if exchange is None else exchange.told


_REFUSED: Final = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action right now)\b"
    r"|Permission to use .{0,2000} has been denied\b"
    r"|Claude requested permissions? to .{0,2000}, but you haven't granted it yet\b"
    r"|PreToolUse:\S{1,200} hook error\b|\S{1,200} operation blocked by hook\b"
    r"|Hook PreToolUse:\S{1,200} denied this tool\b"
    r"|<tool_use_error>(?!Sibling|Cancell?ed|Error calling tool)",
    re.DOTALL,
)
"""What the model is told of a call that a person, the settings or a hook did not let through, or
that no tool took: it was not there, or its input was wrong."""
_BROKEN_OFF: Final = re.compile(
    r"\[Request interrupted by user|<tool_use_error>(?:Sibling|Cancell?ed)\b"
)
"""What stands for the result of a call of which nobody knows whether it had begun."""


def was_broken_off(told: Told) -> bool:
    """Tell whether nobody knows if a call was carried out: something stopped it before its end."""
    return isinstance(told.response, str) and _BROKEN_OFF.match(told.response) is not None


def was_launched(asked: Asked, line: Line) -> bool:
    """Tell whether a call was only started, by the call and the line with its result."""
    about = line.get("toolUseResult")
    about = about if isinstance(about, dict) else {}
    status, given = about.get("status"), asked.arguments
    behind = isinstance(given, dict) and given.get("run_in_background") is True
    launched = isinstance(status, str) and status.endswith("launched")
    return behind or launched or bool(about.get("backgroundTaskId")) or about.get("isAsync") is True


def kind_of(part: Line) -> str:
    """Return the name of a block's type, or of what stands in its place."""
    kind = part.get("type")
    return kind if isinstance(kind, str) else type(kind).__name__


def readable(part: Line) -> Line:
    """Return a block in the form in which messages are read."""
    if part.get("type") == "thinking":
        return {"type": "reasoning", "content": part.get("thinking")}
    call = call_in(part) if is_of_unknown_type(part) else None
    if call is not None:
        return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments}
    return part


def api_error(line: Line) -> dict[str, Any]:
    """Return the attributes of a turn that the provider's interface refused."""
    error = line.get("error")
    error = error if isinstance(error, dict) else {}
    kind = error.get("type")
    return {
        GenAI.ERROR_TYPE: kind if isinstance(kind, str) else "api_error",
        "claude_code.error": error or None,
        "claude_code.retry_attempt": line.get("retryAttempt"),
        GenAI.PROVIDER_NAME: "anthropic",
    }


def heard(line: Line) -> Iterator[Line]:
    """Return what the next turn reads of a user's line."""
    content = parts_in(line)
    for part in content:
        told = answer_in(line, part)
        if told is not None and was_broken_off(told):
            yield {"role": "user", "parts": [{"type": "text", "text": told.response}]}
        elif told is not None:
            yield {"role": "tool", "parts": list(parts_of_exchange(Exchange(told=told)))}
    rest = [part for part in content if answer_in(line, part) is None]
    if rest:
        yield {"role": "user", "parts": rest}


def parts_in(line: Line) -> list[Line]:
    """Return the blocks of a line; a bare text is one."""
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, dict):
        return [content]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _content(value: Any) -> Any:
    """Return a result: parts of texts alone are one text."""
    if not isinstance(value, list):
        return value
    texts = [part.get("text") for part in value if isinstance(part, dict)]
    words = [text for text in texts if isinstance(text, str)]
    return "\n".join(words) if words and len(words) == len(value) else value


def words(parts: list[Line]) -> str:
    """Return the texts of blocks, line by line."""
    return "\n".join(text(part.get("text")) or "" for part in parts if part.get("type") == "text")


def first(lines: list[Line], name: str) -> Any:
    """Return the first value that a line has under a name."""
    return next((line[name] for line in lines if line.get(name) is not None), None)
