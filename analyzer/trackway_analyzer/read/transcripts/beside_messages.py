"""What stands beside the parts of a message, or beside the messages of a record: calls of tools?

1. What has the form of a call (`unread_forms`), or is a list of tools that were used, and names a
   tool of which no message holds a call, is a hole of the run.
2. Of everything else, the words are kept that may name a tool (`names_held`).
3. What repeats the calls of the messages (`intermediate_steps`, statistics) tells nothing new.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from trackway_analyzer.dialects.call_like import is_surely_a_call
from trackway_analyzer.read.names_held import EXPECTED, bounded_names, last_part, names_held
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.transcripts.written import WrittenRun
from trackway_analyzer.read.unread_forms import names_calls, tells_of_a_call

MESSAGE_KEYS: Final = frozenset(
    [
        *("role", "content", "contents", "parts", "name", "id", "type", "refusal", "audio"),
        *("tool_calls", "function_call", "toolCalls", "functionCall", "toolInvocations"),
        *("tool_call_id", "toolCallId", "tool_use_id", "tool_name", "toolName", "call_id"),
        *("arguments", "output", "input", "result", "status", "error", "is_error", "reasoning"),
        *("reasoning_content", "thinking", "summary", "timestamp", "created_at", "createdAt"),
        *("model", "usage", "stop_reason", "finish_reason", "annotations", "requestor", "data"),
        *("kwargs", "lc", "cost", "turn_idx", "raw_data", "generation_time_seconds", "agent"),
        *("additional_kwargs", "response_metadata", "usage_metadata", "invalid_tool_calls"),
        *("function", "text", "message", "logprobs", "kind", "instructions", "action", "thought"),
    ]
)
"""Members of a message that its readers look at, or that hold no call."""
USED: Final = re.compile(
    r"(used|called|invoked|executed)[_ ]?tools?$|tools?[_ ]?(used|called|invoked|executed)$"
    r"|actions?$",
    re.IGNORECASE,
)
"""Keys of lists of tools that were used, which `tell_of_the_rest` tells of."""
_DESCRIBED: Final = re.compile(r"(tools?|functions?)([_ ]?(schemas?|definitions?|specs?))?$")
_NAMES: Final = ("tool", "tool_name", "toolName", "name", "function_name", "function")
_MOST: Final = 20_000
"""Values that are looked at for calls; of what holds more, any may be one."""


def tell_of_the_rest(run: WrittenRun, beside: Mapping[str, Any], called: Collection[str]) -> None:
    """Tell a run of the calls, and of the words that may name a tool, in what is not read."""
    rest = {key: value for key, value in beside.items() if value and not _is_described(key, value)}
    if not rest:
        return
    for key, value in rest.items():
        if EXPECTED.match(key):
            continue
        names = set(_calls(key, value))
        if any(name is None or not _is_known(name, called) for name in names):
            run.hole(f"calls in {key[:64]}, beside the messages, which are not read")
    run.names.update(names_held(rest, without=called))


def put_words_aside(run: WrittenRun, quarantine: Quarantine, offset: int | None) -> None:
    """Keep the words that a run was told of."""
    if run.names:
        names = bounded_names(run.names)
        quarantine.add(Reason.UNREAD_WORDS, _BESIDE, offset, names=names)


_BESIDE: Final = "what stands beside the messages of a transcript"


def _is_described(key: str, value: Any) -> bool:
    described = _DESCRIBED.fullmatch(key) is not None and isinstance(value, list | dict)
    return described and not any(map(tells_of_a_call, _objects(value)))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    several = value if isinstance(value, list) else [value]
    return (each for each in several if isinstance(each, dict))


def _is_known(name: str, called: Collection[str]) -> bool:
    return name in called or last_part(name) in called


def _calls(key: str, value: Any) -> Iterator[str | None]:
    """Yield the names of the tools of what looks like calls; None for one without a name."""
    waiting, seen = [(value, *_under(key))], 0
    while waiting:
        node, of_calls, of_names = waiting.pop()
        seen += 1
        if seen > _MOST:
            yield None
            return
        if isinstance(node, str) and of_names and node and " " not in node:
            yield node
        elif isinstance(node, list):
            waiting.extend((each, of_calls, of_names) for each in node)
        elif isinstance(node, dict):
            named = next((n for name in _NAMES if (n := _text(node.get(name)))), None)
            inner = [(k, v) for k, v in node.items() if isinstance(v, dict | list)]
            is_call = of_calls or of_names or tells_of_a_call(node) or is_surely_a_call(node)
            if is_call and (named is not None or not inner):
                yield named
                continue
            waiting.extend((v, *_under(k)) for k, v in inner if not EXPECTED.match(str(k)))


def _under(key: object) -> tuple[bool, bool]:
    """Tell whether calls, or names of tools that were used, stand under a key."""
    return names_calls(str(key)), USED.search(str(key)) is not None


def _text(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) and value else None
