"""Calls of Codex that events tell of alone: no item of the session asks for them.

1. Events of one `call_id` are one call: its name and arguments are those of the first that has
   them, its outcome that of `…_end`. Without an end, it was only started.
2. A command that a person ran (`source` `user_shell`) is no call of the agent. A search of the web
   is told by its item, which need not have the id of its events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from trackway_analyzer.dialects.values import json_of, text

Item = dict[str, Any]

_IDS: Final = ("call_id", "callId", "tool_call_id")
_ENDS: Final = ("_end", "_response", "_completed", "_output")
_TOOLS: Final = {"exec_command": "exec_command", "patch_apply": "apply_patch"}
_ASKS_FIRST: Final = "_approval_request"
_BY_ITEM: Final = frozenset(["web_search", "image_generation"])
_NO_RESULT: Final = frozenset(["type", "invocation", "name", "tool", "arguments", "turn_id", *_IDS])
_STAGE: Final = (
    *("_begin", "_end", "_request", "_response", "_completed", "_output_delta", "_output"),
    *("_started", "_updated"),
)


@dataclass(slots=True)
class EventCall:
    """A call as far as events tell of it."""

    call_id: str
    place: int
    start: int | None
    tool: str = ""
    alias: str | None = None
    arguments: Any = None
    result: Any = None
    failed: bool = False
    ended: bool = False
    end: int | None = None
    by_person: bool = False


@dataclass(slots=True)
class EventCalls:
    """The calls that events tell of, by their ids."""

    found: dict[str, EventCall] = field(default_factory=dict)

    def take(self, kind: str, event: Item, time: int | None, place: int) -> None:
        """Take in an event, if it tells of a call."""
        call_id = next((name for key in _IDS if (name := text(event.get(key)))), None)
        if not call_id or kind.endswith(_ASKS_FIRST):
            return
        call = self.found.setdefault(call_id, EventCall(call_id, place, time))
        invocation = event.get("invocation")
        about = invocation if isinstance(invocation, dict) else event
        stem = next((kind.removesuffix(end) for end in _STAGE if kind.endswith(end)), kind)
        stem = stem.removesuffix("_tool_call")  # of `view_image_tool_call`, which has no stages
        named = text(about.get("tool")) or text(about.get("name"))
        server = text(about.get("server"))
        call.tool = call.tool or named or _TOOLS.get(stem, stem)
        call.alias = call.alias or (f"mcp__{server}__{named}" if server and named else None)
        given = next(((about[k], k) for k in _GIVEN if about.get(k) is not None), (None, ""))
        call.arguments = given_as(*given) if call.arguments is None else call.arguments
        call.by_person |= event.get("source") == "user_shell"
        if kind.endswith(_ENDS):
            call.ended, call.end = True, time
            call.result = {k: v for k, v in event.items() if k not in _NO_RESULT} or None
            call.failed = _failed(event)

    def failed(self, call_id: str | None) -> bool:
        """Tell whether an event says that a call failed."""
        call = self.found.get(call_id or "")
        return call is not None and call.failed

    def alone(self, asked: set[str], tools: set[str]) -> list[EventCall]:
        """Return the agent's calls that no item asks for, by ids and tools of the items."""
        return [
            call
            for call in self.found.values()
            if call.call_id not in asked
            and not call.by_person
            and not (call.tool in _BY_ITEM and call.tool in tools)
        ]


_GIVEN: Final = ("arguments", "input", "command", "changes", "query", "path")


_OF_THEIR_OWN: Final = ("path", "query")
"""Arguments that an event names as the tool does."""


def given_as(value: Any, name: str = "") -> Any:
    """Return arguments: an object, or one with what was given."""
    value = json_of(value)
    if isinstance(value, dict) or value is None:
        return value
    return {name if name in _OF_THEIR_OWN else "command": value}


def _failed(event: Item) -> bool:
    code, result = event.get("exit_code"), event.get("result")
    if isinstance(code, int) and not isinstance(code, bool) and code != 0:
        return True
    if event.get("success") is False or event.get("status") in ("failed", "declined"):
        return True
    if not isinstance(result, dict):
        return False
    told = result.get("Ok")
    refused = isinstance(told, dict) and (told.get("isError") or told.get("is_error")) is True
    return "Err" in result or refused
