"""Is every argument of `configure()` of the kind that it must be? Asked before anything starts.

A text in the place of a switch is an error: `capture_content="false"` would be true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Final

from opentelemetry.sdk.trace import TracerProvider

from trackway.capture import Limits, Redactor
from trackway.environment import seconds

_SWITCH: Final = (bool, "True or False")
_EXPECTED: Final[Mapping[str, tuple[Any, str]]] = {
    "service_name": (str, "a name"),
    "redact": ((bool, Redactor), "True, False or a trackway.redactor(...)"),
    "capture_content": _SWITCH,
    "sample": (Real, "a share from 0 to 1"),
    "keep_failed": _SWITCH,
    "resource": (Mapping, "a mapping of attributes"),
    "limits": (Limits, "a trackway.Limits(...)"),
    "hand_over": _SWITCH,
    "baggage": _SWITCH,
    "version": (str, "a version"),
    "variant": (str, "a name"),
    "tracer_provider": (TracerProvider, "an opentelemetry.sdk.trace.TracerProvider"),
    "flush_at_run_end": (Real, "True, False or a number of seconds"),
    "tools": ((str, Path), "the path of a file"),
}
"""What an argument must be, where it is given."""


def check(arguments: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError for an argument that cannot be meant."""
    for name, (kinds, expected) in _EXPECTED.items():
        found = arguments[name]
        is_switch = name == "sample" and isinstance(found, bool)  # in Python a number, too
        if found is not None and (is_switch or not isinstance(found, kinds)):
            raise TypeError(f"{name}: expected {expected}, found {found!r}")
    export = arguments["export"]
    if isinstance(export, Sequence) and not isinstance(export, str) and not export:
        raise ValueError(
            f"export: expected at least one target, found {export!r}; leave it out for the "
            "default, or set TRACKWAY_DISABLED=true to record nothing"
        )
    if arguments["flush_at_run_end"] is not None:
        seconds(arguments["flush_at_run_end"])
