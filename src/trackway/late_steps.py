"""Whose is a step, where more than one run could be meant? It leaves a hole in each clock.

1. A thread or a task keeps the run in which it was started. What it does after the end is a step of
   that run still: the usual background task.
2. A worker that was started on first use, inside a run, keeps that run as well, and serves others.
   Nothing tells the two apart. So each run that began after that end, and is open, gets a hole: the
   step may be its own, and nothing is concluded from not seeing it there.
3. A place that a carrier names is meant, whether its run has ended here or not.
4. A block inside a generator is open while its reader does other things. If it ends where another
   run is current, or none, then steps of either may stand in the other, or in none.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Final

from trackway.run import Place, Run, is_over, open_runs

_LOGGER: Final = logging.getLogger("trackway")


def next_step(place: Place | None, run: Run) -> int:
    """Take the next value of the run's logical clock."""
    if is_over(place):
        _leave_holes(run)
    return run.tick()


def _leave_holes(over: Run) -> None:
    end = getattr(over.span, "end_time", None)
    for run in open_runs():
        began = getattr(run.span, "start_time", None)
        if end is not None and began is not None and began >= end:
            run.tick()
            _tell_of_step()


def leave_open(*runs: Run | None) -> None:
    """Leave a hole in the clock of each of them that goes on: a block was left out of turn."""
    for run in runs:
        if run is not None and run.recording and not run.ended:
            run.tick()
            _tell_of_block()


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
        "trackway: a step began after its run had ended, in a thread or a task that was started "
        "inside that run, while another run was open. If a worker serves them all, it may be the "
        "other run's, which has the gap 'missing_steps' now. Start workers outside runs, or hand "
        "the run over with each job: trackway.carrier(), and trackway.carried(...) in the worker"
    )
