"""Does a value that no reader understands look like a call of a tool, or like an answer to one?"""

from __future__ import annotations

from typing import Any, Final

_NAMES: Final = ("name", "function_name", "toolName", "tool_name", "tool")
_ARGUMENTS: Final = ("input", "arguments", "args", "tool_input", "toolInput", "parameters")
_IDS: Final = ("tool_use_id", "tool_call_id", "source_call_id")
_CALL: Final = "_call"
"""How the types of items that ask for a call end."""


def tells_of_a_call(value: Any) -> bool:
    """Tell whether something in a value looks like a call or an answer."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, list):
            left += item
        elif isinstance(item, dict):
            named = any(isinstance(item.get(key), str) for key in _NAMES)
            if named and str(item.get("type")).endswith(_CALL):
                return True
            if named and any(isinstance(item.get(key), dict) for key in _ARGUMENTS):
                return True
            if any(isinstance(item.get(key), str) for key in _IDS):
                return True
            left += item.values()
    return False
