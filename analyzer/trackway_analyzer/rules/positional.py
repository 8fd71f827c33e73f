"""Did the record lose the names of a call's arguments?

Some recorders write the values alone: a list, one bare value, or `{"args": [...], "kwargs": {...}}`
as Python passes them on. What stands there may be the argument that a rule names, under no name.
So may a text that is the only member, under a name that stands for all arguments: a bare text is
read as `{"input": text}`, and others keep what the model wrote under such a name.
"""

from __future__ import annotations

from typing import Final

from trackway_analyzer.model import JsonValue

_PASSED_ON: Final = frozenset({"args", "kwargs"})
_ALL_OF_THEM: Final = frozenset({*_PASSED_ON, "input", "arguments", "tool_input", "params"})


def names_lost(arguments: JsonValue) -> bool:
    """Whether some of these arguments stand there without their names."""
    if not isinstance(arguments, dict):
        return arguments is not None and arguments not in ("", [])
    if len(arguments) == 1 and not arguments.keys().isdisjoint(_ALL_OF_THEM):
        (only,) = arguments.values()
        if isinstance(only, str):
            return bool(only)
    passed_on = arguments.get("args")
    return arguments.keys() <= _PASSED_ON and isinstance(passed_on, list) and bool(passed_on)
