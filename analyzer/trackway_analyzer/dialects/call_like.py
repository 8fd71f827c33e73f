"""A block or message in a form that nobody knows: is it a call of a tool, or the answer to one?

1. It is a call where it bears a name beside arguments or the id of a call. Where it bears a name
   and nothing that calls do not have (a type, an id, a status), it may be one: of which tool,
   nobody can tell.
2. What it gave back, where it holds that, is the answer. One that gave something back and tells no
   arguments is the answer alone.
3. Code that is to be run is a call of `code_execution`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from trackway_analyzer.dialects.provider_calls import CODE, Asked, Exchange, Item, Told
from trackway_analyzer.dialects.values import json_of, says_it_failed

TOOL_NAMES: Final = (
    *("tool_name", "toolName", "function_name", "functionName", "tool", "recipient_name"),
)
NAMES: Final = (*TOOL_NAMES, "name")
"""Under what the name of a tool stands."""
ARGUMENTS: Final = (
    *("arguments", "args", "input", "parameters", "params", "kwargs"),
    *("tool_input", "toolInput", "tool_args", "toolArgs", "tool_kwargs", "function_args"),
)
"""Under what the arguments of a call stand."""
IDS: Final = (
    *("id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId"),
    "tool_id",
)
_TOLD: Final = ("output", "result", "response")
_ANSWERS: Final = re.compile(r"(result|response|output|return)s?$", re.IGNORECASE)
_RUNS_CODE: Final = re.compile(r"execut|interpret|run", re.IGNORECASE)
_OF_A_CALL: Final = frozenset(
    [*NAMES, *ARGUMENTS, *IDS, *_TOLD, "type", "kind", "status", "state", "index", "role"]
)


def first_of(item: Item, names: tuple[str, ...]) -> Any:
    """Return the first member under these names that is there."""
    return next((item[name] for name in names if item.get(name) is not None), None)


def name_of(item: Item, names: tuple[str, ...] = NAMES) -> str | None:
    """Return the first text under these names."""
    return next((said for name in names if isinstance(said := item.get(name), str) and said), None)


def _describes(item: Item) -> bool:
    """Tell whether an object describes a tool: what it would be called with, and what for."""
    given = first_of(item, ARGUMENTS)
    return "description" in item or (isinstance(given, dict) and "properties" in given)


def is_surely_a_call(item: Item) -> bool:
    """Tell a call also where objects with names stand that are none: by the names it uses."""
    named = name_of(item, TOOL_NAMES if item.keys().isdisjoint(_SURE) else NAMES)
    return (
        named is not None
        and not _describes(item)
        and (first_of(item, ARGUMENTS) is not None or item.keys() <= _OF_A_CALL)
    )


_SURE: Final = frozenset(["arguments", "args", "tool_input", "tool_args"])


def exchange_like(item: Item) -> Exchange | None:
    """Return the call that an object of no known form looks like, its answer, or both."""
    kind = item.get("type")
    kind = kind if isinstance(kind, str) else ""
    code = item.get("code")
    if isinstance(code, str) and _RUNS_CODE.search(kind):
        return Exchange(Asked(first_of(item, IDS), CODE, {"code": code}, by_provider=True))
    name, given, told = name_of(item), first_of(item, ARGUMENTS), first_of(item, _TOLD)
    if told is None and _ANSWERS.search(kind):
        told = item.get("content")
    if name is None or _describes(item):
        return None
    call_id = first_of(item, IDS)
    if given is None and told is None and first_of(item, IDS[1:]) is None:
        return Exchange(Asked(call_id, None, None)) if item.keys() <= _OF_A_CALL else None
    failed = says_it_failed(item) or item.get("status") == "error"
    answer = None if told is None else Told(call_id, name, told, failed)
    if given is None and answer is not None:
        return Exchange(told=answer) if call_id is not None else None
    return Exchange(Asked(call_id, name, {} if given == "" else json_of(given)), answer)
