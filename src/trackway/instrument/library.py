"""What is known of a library that calls models, and of the ways in which it can be recorded.

1. A library has ways in the order of preference. The first that fits what is installed is taken,
   and no other: two ways for one library record every call twice.
2. A way is an instrumentor (a distribution with a class that patches the library) or native: the
   library writes spans by itself and at most needs a switch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

Undo = Callable[[], object]
"""Puts back what a switch changed."""


class Origin(StrEnum):
    """Who keeps an instrumentor."""

    OFFICIAL = "OpenTelemetry"
    OPENINFERENCE = "OpenInference"
    OPENLLMETRY = "OpenLLMetry"
    NATIVE = "native"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to record a library."""

    origin: Origin
    distribution: str
    """The distribution to install; of a native way the library's own."""
    target: str
    """`module:Class` of an instrumentor; the name in `switches` of a native way."""
    why: str
    """One sentence for the documentation."""
    since: str = "0"
    """The library's version from which this way works."""
    before: str | None = None
    """The library's version from which it no longer does."""
    tools: bool = True
    """Whether it writes a span for each tool call, where the library runs the tools."""

    @property
    def is_native(self) -> bool:
        """Whether the library writes the spans itself."""
        return self.origin is Origin.NATIVE

    @property
    def label(self) -> str:
        """What a report calls it."""
        return "native" if self.is_native else self.distribution

    @property
    def scope(self) -> str | None:
        """The instrumentation scope of its spans; None: `Library.scopes` says it."""
        return None if self.is_native else self.target.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Library:
    """A library, how it is found, and how it is recorded."""

    name: str
    """What people type: the extra's name, and the argument of `instrument()`."""
    module: str
    """The module whose presence says that the library can be imported."""
    distribution: str
    """The distribution that tells its version."""
    ways: tuple[Way, ...]
    records: str
    """What its spans show: `model calls`, `agents, tools and model calls`, …"""
    rivals: tuple[str, ...] = ()
    """`module:Class` of instrumentors of the same library that are never turned on here."""
    scopes: tuple[str, ...] = ()
    """Instrumentation scopes of the spans that the library writes by itself."""
    needs: tuple[str, ...] = ()
    """Libraries without which the model calls of this one stay unseen."""
    extra: tuple[str, ...] = ()
    """Requirements of `trackway[NAME]`."""
    import_is_costly: bool = False
    """Whether importing it does more than import: it is turned on once the program imports it."""
    note: str = ""
    """What a user has to know, for the documentation and the report."""
