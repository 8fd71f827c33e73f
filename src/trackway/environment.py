"""What the environment says, decoded once.

1. `TRACKWAY_*` wins over `OTEL_*`. A variable that is unset or empty says nothing.
2. A value that can't be read is ignored with one warning that names what was expected: an
   environment must not stop a service from starting.
3. A `TRACKWAY_*` variable that nobody reads and that has nearly the name of one is told of too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeVar

_LOGGER: Final = logging.getLogger("trackway")
_YES: Final = frozenset({"1", "true", "yes", "on"})
_NO: Final = frozenset({"0", "false", "no", "off"})
_CONTENT: Final = frozenset({"span_only", "event_only", "span_and_event"})
_PREFIX: Final = "TRACKWAY_"
_NAMES: Final = (
    *("AGENT_VERSION", "BAGGAGE", "CAPTURE_CONTENT", "DISABLED", "EXPORT", "FLUSH_AT_RUN_END"),
    *("HAND_OVER", "HASH_KEY", "KEEP_FAILED", "REDACT", "RUN", "RUN_CARRIER", "SAMPLE"),
    *("SERVICE_NAME", "SPOOL_DIR", "TOOLS", "VARIANT"),
)
"""Every variable of ours that something reads."""
_READ: Final = frozenset(_PREFIX + name for name in _NAMES)
OTEL_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Environment:
    """The decoded variables; None where a variable says nothing."""

    disabled: bool
    service_name: str | None
    export: str | None
    content: bool | None
    redact: bool | None
    sample: float | None
    keep_failed: bool | None
    version: str | None
    variant: str | None
    flush_at_run_end: bool | float | None
    """Whether to, or how many seconds it may take."""
    hand_over: bool | None
    baggage: bool | None
    tools: str | None
    """The file that declares tools."""
    exporters: tuple[str, ...] | None
    """What `OTEL_TRACES_EXPORTER` names: `otlp`, `console`; empty for `none`."""
    has_otlp: bool
    """Whether some `OTEL_EXPORTER_OTLP_*` names a receiver."""


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Decode the variables, by default those of the process."""
    source = os.environ if variables is None else variables

    def read(name: str, decode: Callable[[str], Value], expected: str) -> Value | None:
        text = source.get(name, "").strip()
        if not text:
            return None
        try:
            return decode(text)
        except ValueError:
            _LOGGER.warning("trackway: %s: expected %s, found %r; ignored", name, expected, text)
            return None

    def switch(name: str) -> bool | None:
        return read(name, _switch, "true or false")

    _tell_of_slips(source)
    switch("TRACKWAY_DISABLED")
    content = switch("TRACKWAY_CAPTURE_CONTENT")
    if content is None:
        content = read(OTEL_CONTENT, _content, "SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT, NO_CONTENT")
    flush_at_run_end = read(
        "TRACKWAY_FLUSH_AT_RUN_END", _switch_or_seconds, "true, false or a number of seconds"
    )
    if flush_at_run_end is None:
        flush_at_run_end = "AWS_LAMBDA_FUNCTION_NAME" in source
    return Environment(
        disabled=is_disabled(source),
        service_name=read("TRACKWAY_SERVICE_NAME", str, "a name"),
        export=read("TRACKWAY_EXPORT", str, "a directory, URL or otlp"),
        content=content,
        redact=switch("TRACKWAY_REDACT"),
        sample=read("TRACKWAY_SAMPLE", share, "a number from 0 to 1"),
        keep_failed=switch("TRACKWAY_KEEP_FAILED"),
        version=read("TRACKWAY_AGENT_VERSION", str, "a version"),
        variant=read("TRACKWAY_VARIANT", str, "a name"),
        flush_at_run_end=flush_at_run_end,
        hand_over=switch("TRACKWAY_HAND_OVER"),
        baggage=switch("TRACKWAY_BAGGAGE"),
        tools=read("TRACKWAY_TOOLS", str, "a file"),
        exporters=read("OTEL_TRACES_EXPORTER", _exporters, "otlp, console or none"),
        has_otlp=any(
            source.get(f"OTEL_EXPORTER_OTLP_{name}ENDPOINT", "").strip() for name in ("", "TRACES_")
        ),
    )


def _tell_of_slips(source: Mapping[str, str]) -> None:
    for name in sorted(set(source) - _READ):
        if name.startswith(_PREFIX):
            meant = get_close_matches(name.removeprefix(_PREFIX), _NAMES, n=1, cutoff=0.75)
            if meant:
                _LOGGER.warning(
                    "trackway: %s: no such variable; expected %s%s; ignored",
                    *(name, _PREFIX, meant[0]),
                )


def is_disabled(variables: Mapping[str, str] | None = None) -> bool:
    """Whether `TRACKWAY_DISABLED` or `OTEL_SDK_DISABLED` is set to true."""
    source = os.environ if variables is None else variables
    return any(
        source.get(name, "").strip().lower() in _YES
        for name in ("TRACKWAY_DISABLED", "OTEL_SDK_DISABLED")
    )


def share(value: str | float) -> float:
    """Return a share from 0 to 1; ValueError for anything else."""
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError(f"sample: expected a share from 0 to 1, found {value!r}")
    return number


def seconds(number: float) -> float:
    """Return a time from 0 to an hour; ValueError for anything else."""
    if not 0 <= number <= 3600:
        raise ValueError(f"flush_at_run_end: expected seconds from 0 to 3600, found {number!r}")
    return number


def _switch(text: str) -> bool:
    lowered = text.lower()
    if lowered in _YES or lowered in _NO:
        return lowered in _YES
    raise ValueError(text)


def _switch_or_seconds(text: str) -> bool | float:
    if text.lower() in _YES | _NO:
        return _switch(text)
    return seconds(float(text))


def _exporters(text: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in text.split(","))
    if not set(names) <= {"otlp", "console", "none"}:
        raise ValueError(text)
    return tuple(name for name in names if name != "none")


def _content(text: str) -> bool:
    lowered = text.lower()
    if lowered in _CONTENT:
        return True
    return False if lowered == "no_content" else _switch(lowered)
