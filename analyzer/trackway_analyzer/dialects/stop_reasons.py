"""Does a recorded answer say that the model stopped for a call of a tool?

Providers say it beside what the model said, in the same JSON: `finish_reason` of a choice,
`stop_reason` of a message. Some instrumentors record it nowhere else.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from trackway_analyzer.dialects.flat_list import FlatList
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.model import JsonValue

STOPPED_FOR_A_CALL: Final = "tool_call"
_SAID: Final = r"""(?:finish|stop)_?[rR]eason{0}"\s*:\s*(?:\[\s*)?{0}"
(?:tool_calls?|tool_use|tool-calls|function_call){0}\""""
_IN_TEXT: Final = re.compile(_SAID.format(""), re.VERBOSE)
_IN_LITERAL: Final = re.compile(_SAID.format(r"\\").encode(), re.VERBOSE)
_WORDS: Final = frozenset(["tool_calls", "tool_call", "tool_use", "tool-calls", "function_call"])
_NAMES: Final = ("finish_reason", "stop_reason", "finishReason", "stopReason")


def stopped_for_a_call(content: Any) -> bool:
    """Tell whether a content (`messages.Content`) says so. What a text in it quotes is no such."""
    if content.__class__ is bytes:
        return b"eason" in content and _IN_LITERAL.search(content) is not None
    if content.__class__ is FlatList:
        return _in_keys(content)
    if not isinstance(content, str):
        try:
            content = compact(content)
        except UnencodableError:
            return False
    return "eason" in content and _IN_TEXT.search(content) is not None


def reason_in(value: JsonValue) -> JsonValue:
    """Return the reason for which a recorded answer says that it stopped, if it was a call."""
    return STOPPED_FOR_A_CALL if stopped_for_a_call(value) else None


def _in_keys(flat: FlatList) -> bool:
    for path, value in zip(flat.paths.below, flat.values, strict=True):
        if path.endswith(_NAMES):
            plain = orjson.loads(value) if value.__class__ is bytes else value
            if isinstance(plain, str) and plain in _WORDS:
                return True
    return False
