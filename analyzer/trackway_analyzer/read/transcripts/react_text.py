"""Runs whose calls stand in what the model said: `Action:` and an object of name and arguments.

1. So write the agents of tau-bench that call no functions (ReAct, act): the object is the call,
   what stands before `Action:` is a thought, and the next message of the user begins with
   `API output:` and is the answer.
2. A call of `respond` is no call: its `content` is what was said to the user.
3. An action whose object cannot be read is a call without a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trackway_analyzer.json_text import parsed

_ACTION: Final = "Action:"
_OUTPUT: Final = "API output:"
_RESPOND: Final = "respond"


def with_actions(chat: list[Any]) -> list[Any]:
    """Return a chat with the calls that its texts tell of; other chats as they are."""
    acts = any(_text(each, "user").startswith(_OUTPUT) for each in chat)
    return list(_messages(chat)) if acts else chat


def _messages(chat: list[Any]) -> Iterator[Any]:
    open_call: dict[str, Any] | None = None
    for place, message in enumerate(chat):
        said, heard = _text(message, "assistant"), _text(message, "user")
        before, mark, action = said.rpartition(_ACTION)
        if mark:
            call = _call(action.strip(), f"action-{place}")
            spoken = _spoken(call)
            thought = [{"type": "reasoning", "content": before.strip()}] if before.strip() else []
            told = {"type": "text", "content": spoken} if spoken is not None else call
            open_call = None if spoken is not None else call
            yield {**message, "content": [*thought, told]}
        elif heard.startswith(_OUTPUT) and open_call is not None:
            output = heard.removeprefix(_OUTPUT).strip()
            answered = {"role": "tool", "tool_call_id": open_call["id"], "content": output}
            yield {**message, **answered}
            open_call = None
        else:
            yield message


def _call(action: str, call_id: str) -> dict[str, Any]:
    told = parsed(action)
    told = told if isinstance(told, dict) else {"name": None, "arguments": {"input": action}}
    arguments = told.get("arguments", told.get("kwargs"))
    return {
        "type": "tool_call",
        "id": call_id,
        "name": told.get("name"),
        "arguments": arguments,
    }


def _spoken(call: dict[str, Any]) -> str | None:
    given = call["arguments"]
    said = given.get("content") if isinstance(given, dict) else None
    return said if call["name"] == _RESPOND and isinstance(said, str) else None


def _text(message: Any, role: str) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) and message.get("role") == role else ""
