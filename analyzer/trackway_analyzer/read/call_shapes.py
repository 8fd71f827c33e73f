"""Does a value that no reader understands look like a call of a tool, or like an answer to one?"""

from __future__ import annotations

from typing import Any, Final

_ARGUMENTS: Final = ("input", "arguments", "args")
_IDS: Final = ("tool_use_id", "tool_call_id", "source_call_id")


def tells_of_a_call(value: Any) -> bool:
    """Tell whether something in a value looks like a call or an answer."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, list):
            left += item
        elif isinstance(item, dict):
            named = any(isinstance(item.get(key), str) for key in ("name", "function_name"))
            if named and any(isinstance(item.get(key), dict) for key in _ARGUMENTS):
                return True
            if any(isinstance(item.get(key), str) for key in _IDS):
                return True
            left += item.values()
    return False
