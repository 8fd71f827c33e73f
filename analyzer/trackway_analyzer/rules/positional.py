"""Did the record lose the names of a call's arguments?

Some recorders write the values alone: a list, one bare value, or `{"args": [...], "kwargs": {...}}`
as Python passes them on. What stands there may be the argument that a rule names, under no name.
"""

from __future__ import annotations

from typing import Final

from trackway_analyzer.model import JsonValue

_PASSED_ON: Final = frozenset({"args", "kwargs"})


def names_lost(arguments: JsonValue) -> bool:
    """Whether some of these arguments stand there without their names."""
    if not isinstance(arguments, dict):
        return arguments is not None and arguments not in ("", [])
    passed_on = arguments.get("args")
    return arguments.keys() <= _PASSED_ON and isinstance(passed_on, list) and bool(passed_on)
