"""What is installed, and what records it already? Answered without importing a library."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from trackway.instrument.library import Library, Way


def version_of(distribution: str) -> str | None:
    """Return the installed version of a distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def can_import(module: str) -> bool:
    """Whether a module could be imported; its parents are, the module is not."""
    if module in sys.modules:
        return sys.modules[module] is not None
    try:
        return find_spec(module) is not None
    except (ImportError, AttributeError, ValueError):
        return False


def fits(way: Way, version: str | None) -> bool:
    """Whether a way serves this version of its library; an unknown one is taken for new."""
    if version is None:
        return way.before is None
    numbers = _numbers(version)
    return numbers >= _numbers(way.since) and (way.before is None or numbers < _numbers(way.before))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def active_instrumentors(library: Library) -> list[str]:
    """Return `module:Class` of each instrumentor of the library that is on already."""
    return [target for target in _targets(library) if _is_active(target)]


def _targets(library: Library) -> Iterator[str]:
    yield from (way.target for way in library.ways if not way.is_native)
    yield from library.rivals


def _is_active(target: str) -> bool:
    module, _, name = target.partition(":")
    cls: Any = getattr(sys.modules.get(module), name, None)
    instrumentor = getattr(cls, "_instance", None)  # `BaseInstrumentor` keeps one a class
    return bool(getattr(instrumentor, "is_instrumented_by_opentelemetry", False))
