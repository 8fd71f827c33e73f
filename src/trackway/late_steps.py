"""Whose is a step, where more than one run could be meant? It leaves a hole in each clock.

1. A thread or a task keeps the run in which it was started. What it does after the end is a step of
   that run still: the usual background task, the body of a streamed answer.
2. A thread that was started on first use, inside a run, to serve all that come, keeps that run as
   well. It tells itself by its second job: it has taken a step, a run began, and now it takes
   another, while its own run is over. Each such run that is open gets a hole: the step may be its
   own, and nothing is concluded from not seeing it there. Tasks are not judged so, for servers
   stream and work on in tasks whose runs are over.
3. A place that a carrier names is meant, whether its run has ended here or not.
4. A block inside a generator is open while its reader does other things. If it ends where another
   run is current, steps of either may stand in the other. If it ends where none is, in another
   context, it has lost those that were taken outside any run and any trace meanwhile, as far as
   there are any.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextvars import Token
from functools import cache
from typing import Any, Final
from weakref import WeakSet

from opentelemetry import context as otel_context
from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span

from trackway.driving import detach
from trackway.run import PLACE, Place, Run, is_over, open_runs

_LOGGER: Final = logging.getLogger("trackway")


def next_step(place: Place | None, run: Run) -> int:
    """Take the next value of the run's logical clock."""
    if _last_steps:
        thread = threading.get_ident()
        if thread in _last_steps:
            before, _last_steps[thread] = _last_steps[thread], time.time_ns()
            if before and is_over(place):
                _leave_holes(run, before)
    return run.tick()


def started_in_run(function: Callable[[], object]) -> None:
    """Run what a thread does that was started inside a run."""
    thread = threading.get_ident()
    _last_steps[thread] = 0
    try:
        function()
    finally:
        _last_steps.pop(thread, None)


def note_outside(parent: Span) -> None:
    """Take note of a step outside any run. One below a span is placed by its trace."""
    if not parent.get_span_context().is_valid:
        _Outside.steps += 1


def steps_outside() -> int:
    """Return how many steps outside any run and any trace there were in this process."""
    return _Outside.steps


class _Outside:
    steps = 0


_last_steps: dict[int, int] = {}
"""Threads that were started inside a run, with the time (ns) of their last step; 0: none yet."""


def _leave_holes(over: Run, before: int) -> None:
    end = getattr(over.span, "end_time", None)
    for run in open_runs():
        began = getattr(run.span, "start_time", None)
        if end is not None and began is not None and began >= max(end, before):
            run.tick()
            _tell_of_step()


def leave(live: Any, token: Token[Context], outside: int) -> None:
    """Go back to where a block began, unless another run is there by now.

    outside: what `steps_outside` gave when it began.
    """
    here: Any = get_current().get(PLACE)
    of, now = (None if place is None else place.run for place in (live, here))
    if of is not now and (not is_over(here) or steps_outside() > outside):
        for run in (of, now):
            if run is not None and run.recording and not run.ended:
                run.tick()
                _tell_of_block()
    if of is now or is_over(here):
        detach(token)
    elif of is not None:
        _left_out_of_turn.add(of)
    back: Any = get_current().get(PLACE)
    if back is not None and back.run in _left_out_of_turn:
        otel_context.attach(Context())


_left_out_of_turn: WeakSet[Run] = WeakSet()
"""Runs whose context stayed where another run was current."""


@cache
def _tell_of_block() -> None:
    _LOGGER.warning(
        "trackway: a block `with trackway.run(...)` ended where it is not the current run, as one "
        "does inside a generator whose reader opens other runs or reads on elsewhere. Steps may be "
        "recorded in the wrong run or in none: each run concerned has the gap 'missing_steps'. "
        "Decorate the generator with @trackway.agent in place of the block"
    )


@cache
def _tell_of_step() -> None:
    _LOGGER.warning(
        "trackway: a thread that was started inside a run takes steps after its end, and began one "
        "while another run was open. If it serves them all, the step may be the other run's, which "
        "has the gap 'missing_steps' now. Start workers outside runs, or hand the run over with "
        "each job: trackway.carrier(), and trackway.carried(...) in the worker"
    )
