"""What counts of what is said to `configure()`, and what a later call changes.

1. An explicit argument, else the environment, else the default.
2. A later call replaces the whole configuration, apart from what must not change by saying nothing:
   content that was switched off, redaction that was asked for, and what was said of the service
   (its name, each attribute of its resource) stay until a call names them.
3. What changes what is recorded, or where, is told in one warning.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from opentelemetry.sdk.resources import SERVICE_NAME

from trackway.capture import Limits, Redactor
from trackway.environment import Environment
from trackway.export.shown import shown

_LOGGER: Final = logging.getLogger("trackway")


def carried(arguments: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a call, with what stays of the arguments of the one before."""
    earlier = before or {}
    given = dict(arguments)
    resource = {**(earlier.get("resource") or {}), **(given["resource"] or {})}
    named = (given["resource"] or {}).get(SERVICE_NAME)
    given["service_name"] = first(given["service_name"], named, earlier.get("service_name"))
    given["resource"] = resource or None
    if given["capture_content"] is None and earlier.get("capture_content") is False:
        given["capture_content"] = False
    if given["redact"] is None and earlier.get("redact") is not False:
        given["redact"] = earlier.get("redact")
    return given


def settled(arguments: Mapping[str, Any], found: Environment) -> dict[str, Any]:
    """Return what counts, by the names of the arguments; None where OpenTelemetry decides."""
    said_there = {
        "service_name": found.service_name,
        "export": first(found.export, found.exporters, "otlp" if found.has_otlp else None),
        "redact": first(found.redact, True),
        "capture_content": first(found.content, True),
        "sample": first(found.sample, 1.0),
        "keep_failed": first(found.keep_failed, True),
        "version": found.version,
        "variant": found.variant,
        "limits": Limits(),
        "hand_over": first(found.hand_over, True),
        "baggage": first(found.baggage, False),
        "flush_at_run_end": found.flush_at_run_end,
        "tools": found.tools,
    }
    return {name: first(value, said_there.get(name)) for name, value in arguments.items()}


def tell_of_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Warn of what a later call changes, if anything."""
    changes = [
        f"{name} is {_told(now[name], before[name])} (was {_told(before[name])})"
        for name in now
        if now[name] != before[name]
    ]
    if changes:
        _LOGGER.warning(
            "trackway: configure() was called again, which replaces the whole configuration: %s; "
            "give every call what is to stay, or call it once",
            ", ".join(changes),
        )


def first(*values: Any) -> Any:
    """Return the first value that says something: argument, environment, default."""
    return next((value for value in values if value is not None), None)


def _told(value: Any, before: Any = None) -> str:
    """Return a setting as it may stand in the log."""
    text = _shown(value)
    return "another" if value is not None and text == _shown(before) else text


def _shown(value: Any) -> str:
    if value is None:
        return "the default"
    if isinstance(value, str | Path):
        return f"'{shown(value)}'"
    if isinstance(value, bool | int | float | Limits):
        return repr(value)
    if isinstance(value, Redactor):
        return "a redactor"
    if isinstance(value, Mapping):
        return f"of {', '.join(map(shown, value))}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_shown, value))}]"
    return type(value).__name__
