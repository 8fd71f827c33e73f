"""Two instrumentors that write a span each for one call: told of once a pair, with what to do.

The trajectory has the call once all the same. Other backends count its tokens twice.
"""

from __future__ import annotations

import logging
from typing import Final

from opentelemetry.trace import Span

_LOGGER: Final = logging.getLogger("trackway")
_MOST_PAIRS: Final = 64
_told: set[tuple[str, str]] = set()
_expected: set[str] = set()


def expect(scopes: frozenset[str]) -> None:
    """Say which scopes `instrument()` has turned on together, knowing that they overlap."""
    _expected.clear()
    _expected.update(scopes)


def forget() -> None:
    """Start anew, as in a fresh process."""
    _told.clear()
    _expected.clear()


def note_double(outer: Span, inner: Span) -> None:
    """Take note that a span stands right inside another instrumentor's span of the same call."""
    pair = (scope_of(outer), scope_of(inner))
    if pair[0] == pair[1] or pair in _told or len(_told) >= _MOST_PAIRS:
        return
    _told.add(pair)
    if set(pair) <= _expected:
        return
    _LOGGER.warning(
        "trackway: one call has two spans, of %s and inside it of %s; the trajectory has it once, "
        "but other backends count its tokens twice: leave one of the two out, with "
        "trackway.instrument(exclude=[...]) or where it is turned on",
        *pair,
    )


def scope_of(span: Span) -> str:
    """Return the name of a living span's scope; empty where it has none."""
    scope = getattr(span, "instrumentation_scope", None)
    return "" if scope is None else str(scope.name)
