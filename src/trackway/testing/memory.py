"""Recorded spans, kept in memory for a test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from trackway.configure import _Configured, configure
from trackway.testing.held import Ours, held, last_said


class _Target(SimpleSpanProcessor):
    """Takes spans after a shutdown too: another `configure()` may give it back its work."""

    def shutdown(self) -> None:
        return


class MemorySpans:
    """The spans that ended, in the order of their ends."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._arguments: Mapping[str, Any] | None = None

    def configure(self, **arguments: Any) -> None:
        """Record into this memory from here on; takes the arguments of `trackway.configure`."""
        said, program = last_said(), _Configured.program
        self.clear()
        configure(export=_Target(self._exporter), **arguments)
        if _Configured.held is not None and _Configured.arguments is not None:
            _Configured.arguments = Ours(_Configured.arguments)
            _Configured.arguments.said = said
            _Configured.program = program
        self._arguments = _Configured.arguments

    @contextmanager
    def held(self) -> Iterator[MemorySpans]:
        """Record into this memory until the end of the block, whoever configures (`held.py`)."""
        with held(_Target(self._exporter)):
            self._arguments = _Configured.arguments
            yield self

    @property
    def all(self) -> list[ReadableSpan]:
        """Every span so far."""
        return list(self._exporter.get_finished_spans())

    @property
    def names(self) -> list[str]:
        """The names of the spans so far."""
        return [span.name for span in self.all]

    def named(self, name: str) -> list[ReadableSpan]:
        """Return the spans of this name."""
        return [span for span in self.all if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        """Return the only span of this name; AssertionError where there is none or another."""
        found = self.named(name)
        assert len(found) == 1, (
            f"expected one span {name!r}, found {len(found)} among {self.names}{self._hint()}"
        )
        return found[0]

    def _hint(self) -> str:
        """Say where the spans went, if somebody has configured since."""
        is_held = _Configured.held is not None and _Configured.arguments is not None
        if is_held or _Configured.arguments is self._arguments:
            return ""
        return (
            "; since then trackway.configure() or shutdown() was called, and spans go elsewhere: "
            "give its arguments to the configure() of this object"
        )

    def tool(self, name: str) -> ReadableSpan:
        """Return the only call of this tool."""
        return self.one(f"execute_tool {name}")

    def value(self, span: ReadableSpan, key: str) -> Any:
        """Return an attribute that holds JSON, decoded; KeyError where it is not recorded."""
        return json.loads(str((span.attributes or {})[key]))

    def clear(self) -> None:
        """Forget the spans so far."""
        self._exporter.clear()
