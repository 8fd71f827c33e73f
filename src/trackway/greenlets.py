"""How a run reaches greenlets of gevent.

1. A greenlet starts with an empty context. One that is spawned inside a run gets the place of its
   spawner, and nothing else of the spawner's context: other context variables stay as they were.
2. gevent is not imported here: a program that uses it has imported it first, to patch the rest.
3. Threads of a patched program are handed over as threads. What `spawn_raw` and gevent's own pool
   of native threads run starts outside the run.
"""

from __future__ import annotations

import contextvars
import sys
from typing import Any

from opentelemetry import context as otel_context

from trackway.run import current_place


def hand_over_to_greenlets() -> None:
    """Have gevent tell of each greenlet that is spawned; nothing where it is not in use."""
    gevent = sys.modules.get("gevent")
    if gevent is not None:
        gevent.Greenlet.add_spawn_callback(_spawned)


def stop_handing_over_to_greenlets() -> None:
    """Leave gevent as it was."""
    gevent = sys.modules.get("gevent")
    if gevent is not None:
        gevent.Greenlet.remove_spawn_callback(_spawned)


def _spawned(greenlet: Any) -> None:
    place = current_place()
    if place is None or place.run is None or greenlet.gr_context is not None:
        return
    context = contextvars.Context()
    context.run(otel_context.attach, otel_context.get_current())
    greenlet.gr_context = context
