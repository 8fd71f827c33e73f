"""Calls beside the plain function call: tools that the provider runs, items of Responses.

1. A block or item is told by its `type`. Of a tool that the provider ran, call and result are two
   blocks (GenAI parts, Anthropic, LangChain, Gemini) or one item (Responses): it was executed, for
   its answer stands in the output that asks.
2. An item without a name is a call of the tool that its type names: `web_search_call` of
   `web_search`. Its arguments are what it was asked; bare text is `{"input": text}`.
3. It failed if it bears an error, or its status, its outcome or an exit code says so. Where the
   record holds nothing of the result but a final status, that status is the result.
4. An approval that was denied answers the request for it: the call was refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from trackway_analyzer.dialects.values import json_of, says_it_failed
from trackway_analyzer.model import JsonValue

Item = Mapping[str, Any]


class Asked(NamedTuple):
    """A call that was asked for."""

    call_id: JsonValue
    name: JsonValue
    arguments: JsonValue
    by_provider: bool = False
    """The provider carries it out, and nobody else is asked."""


class Told(NamedTuple):
    """What a call gave back."""

    call_id: JsonValue
    name: JsonValue
    response: JsonValue
    failed: bool = False
    refused: bool = False


class Exchange(NamedTuple):
    """A call, its answer, or both."""

    asked: Asked | None = None
    told: Told | None = None


def exchange_of(item: Item) -> Exchange | None:
    """Return what a block or item tells of a call; None where it tells of none."""
    kind = item.get("type")
    if isinstance(kind, str):
        reader = _READERS.get(kind)
        if reader is None and kind.endswith(_RESULT) and "tool_use_id" in item:
            reader = _anthropic_result
        return None if reader is None else reader(item)
    if kind is None:
        reader = next(
            (read for key, read in _UNTYPED.items() if isinstance(item.get(key), dict)), None
        )
        return None if reader is None else reader(item)
    return None


def is_item(item: Item) -> bool:
    """Tell whether an object without a role is an item of Responses that tells of a call."""
    kind = item.get("type")
    return isinstance(kind, str) and kind in ITEMS and "role" not in item


def _server_call(item: Item) -> Exchange:
    """Read the call part of the GenAI conventions, or LangChain's block of the same type."""
    inner = item.get("server_tool_call")
    if not isinstance(inner, dict):
        return _call_block(item)
    given = {key: value for key, value in inner.items() if key != "type"}
    if given.keys() <= {"arguments", "name"} and "arguments" in given:
        given = given["arguments"]
    name = item.get("name") or inner.get("name") or inner.get("type")
    return Exchange(Asked(item.get("id"), name, json_of(given), by_provider=True))


def _call_block(item: Item) -> Exchange:
    given = next((item[key] for key in ("input", "args", "arguments") if key in item), None)
    return Exchange(Asked(item.get("id"), item.get("name"), json_of(given), by_provider=True))


def _server_response(item: Item) -> Exchange:
    inner = item.get("server_tool_call_response", item.get("response"))
    if isinstance(inner, dict) and "type" in inner and "content" in inner:
        return Exchange(told=Told(item.get("id"), item.get("name"), *_result(inner["content"])))
    return Exchange(told=Told(item.get("id"), item.get("name"), *_result(inner)))


def _server_result(item: Item) -> Exchange:
    response, failed = _result(item.get("output"))
    failed = failed or item.get("status") == "error"
    return Exchange(told=Told(item.get("tool_call_id"), item.get("name"), response, failed))


def _anthropic_result(item: Item) -> Exchange:
    response, failed = _result(item.get("content"))
    failed = failed or says_it_failed(item)
    return Exchange(told=Told(item.get("tool_use_id"), None, response, failed))


def _result(value: JsonValue) -> tuple[JsonValue, bool]:
    """Return a result, and whether it says that the call failed."""
    if not isinstance(value, dict):
        return value, False
    kind, code = value.get("type"), value.get("return_code")
    failed = isinstance(kind, str) and kind.endswith("_error")
    return value, failed or (isinstance(code, int) and code != 0)


def _item(item: Item) -> Exchange:
    """Read an item that holds call and result."""
    kind = str(item["type"])
    call_id, name = item.get("id"), item.get("name") or kind.removesuffix(_CALL)
    error, status = item.get("error"), item.get("status")
    failed = bool(error) or status in _UNDONE
    response = next((item[key] for key in _RESULTS if item.get(key) is not None), None)
    if error:
        response = error
    elif response is None and status in _FINAL:
        response = {"status": status}
    # What was approved is the call for which approval was asked.
    call_id = item.get("approval_request_id") or call_id
    asked = Asked(call_id, name, _given(item), by_provider=True)
    return Exchange(asked, Told(call_id, name, response, failed))


_UNDONE: Final = ("failed", "incomplete")
_FINAL: Final = ("completed", *_UNDONE)
_RESULTS: Final = ("output", "outputs", "results", "result")
_GIVEN: Final = ("arguments", "input", "action", "actions", "operation", "code")
_NO_ARGUMENTS: Final = frozenset(
    [
        *("type", "id", "call_id", "status", "name", "error", "role", "index", "created_by"),
        *("container_id", "namespace", "caller", "execution"),
        *_RESULTS,
    ]
)


def _given(item: Item) -> JsonValue:
    """Return what an item asks its tool."""
    for key in _GIVEN:
        value = item.get(key)
        if value is not None:
            value = json_of(value) if key == "arguments" else value
            if isinstance(value, dict | list):
                return value if isinstance(value, dict) else {key: value}
            named = "input" if key == "arguments" else key
            return {} if value == "" and key == "arguments" else {named: value}
    return {k: v for k, v in item.items() if k not in _NO_ARGUMENTS and v is not None} or None


def _item_call(item: Item) -> Exchange:
    name = item.get("name") or str(item["type"]).removesuffix(_CALL)
    by_provider = item.get("execution") == "server"
    return Exchange(Asked(item.get("call_id") or item.get("id"), name, _given(item), by_provider))


def _item_output(item: Item) -> Exchange:
    output, status = item.get("output", item.get("tools")), item.get("status")
    failed = status in _UNDONE or _exited_badly(output)
    if output is None and status in _FINAL:
        output = {"status": status}
    return Exchange(
        told=Told(item.get("call_id") or item.get("id"), item.get("name"), output, failed)
    )


def _exited_badly(output: JsonValue) -> bool:
    """Tell whether a command among a shell's outputs failed or took too long."""
    ends = (
        [o.get("outcome") for o in output if isinstance(o, dict)]
        if isinstance(output, list)
        else []
    )
    return any(
        isinstance(end, dict)
        and (end.get("type") == "timeout" or end.get("exit_code") not in (None, 0))
        for end in ends
    )


def _approval_request(item: Item) -> Exchange:
    return Exchange(
        Asked(item.get("id"), item.get("name"), _given({"arguments": item.get("arguments")}))
    )


def _approval_response(item: Item) -> Exchange:
    if item.get("approve") is not False:
        return Exchange()
    reason = item.get("reason") or "denied"
    call_id = item.get("approval_request_id")
    return Exchange(told=Told(call_id, None, reason, failed=True, refused=True))


def _gemini_code(item: Item) -> Exchange:
    inner = item.get("executableCode") or item.get("executable_code") or {}
    given = {key: inner[key] for key in ("language", "code") if inner.get(key) is not None}
    return Exchange(Asked(inner.get("id"), CODE, given, by_provider=True))


def _gemini_code_result(item: Item) -> Exchange:
    inner = item.get("codeExecutionResult") or item.get("code_execution_result") or {}
    outcome = inner.get("outcome")
    failed = isinstance(outcome, str) and outcome.rpartition("OUTCOME_")[2] in _BAD_OUTCOMES
    response = inner.get("output")
    response = {"outcome": outcome} if response is None and outcome is not None else response
    return Exchange(told=Told(inner.get("id"), CODE, response, failed))


def _gemini_call(item: Item) -> Exchange:
    inner = item.get("toolCall") or item.get("tool_call") or {}
    return Exchange(
        Asked(inner.get("id"), _gemini_name(inner), inner.get("args"), by_provider=True)
    )


def _gemini_response(item: Item) -> Exchange:
    inner = item.get("toolResponse") or item.get("tool_response") or {}
    return Exchange(told=Told(inner.get("id"), _gemini_name(inner), inner.get("response")))


def _gemini_name(inner: Item) -> JsonValue:
    kind = inner.get("toolType", inner.get("tool_type"))
    return kind.lower() if isinstance(kind, str) else None


CODE: Final = "code_execution"
_BAD_OUTCOMES: Final = ("FAILED", "DEADLINE_EXCEEDED")
_CALL: Final = "_call"
_RESULT: Final = "_tool_result"

Reader = Callable[[Item], Exchange]

_AT_PROVIDER: Final = frozenset(
    [
        *("mcp_call", "web_search_call", "file_search_call", "code_interpreter_call"),
        "image_generation_call",
    ]
)
_CALL_ITEMS: Final = frozenset(
    [
        *("custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"),
        *("computer_call", "tool_search_call"),
    ]
)
_OUTPUT_ITEMS: Final = frozenset(
    [*(f"{kind}_output" for kind in _CALL_ITEMS), "tool_search_output"]
)
_READERS: Final[Mapping[str, Reader]] = {
    **dict.fromkeys(_AT_PROVIDER, _item),
    **dict.fromkeys(_CALL_ITEMS, _item_call),
    **dict.fromkeys(_OUTPUT_ITEMS, _item_output),
    "mcp_approval_request": _approval_request,
    "mcp_approval_response": _approval_response,
    "server_tool_call": _server_call,
    "server_tool_use": _call_block,
    "mcp_tool_use": _call_block,
    "server_tool_call_response": _server_response,
    "server_tool_result": _server_result,
}
ITEMS: Final = (
    _AT_PROVIDER | _CALL_ITEMS | _OUTPUT_ITEMS | {"mcp_approval_request", "mcp_approval_response"}
)
"""Types of Responses items that tell of calls, beside the plain function call."""
_UNTYPED: Final[Mapping[str, Reader]] = {
    "executableCode": _gemini_code,
    "executable_code": _gemini_code,
    "codeExecutionResult": _gemini_code_result,
    "code_execution_result": _gemini_code_result,
    "toolCall": _gemini_call,
    "toolResponse": _gemini_response,
}
