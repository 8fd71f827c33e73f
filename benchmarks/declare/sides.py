"""Both sides of the comparison, each in a process of its own."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.declare.logs import Trace, batch, event_log
from benchmarks.declare.templates import About, Rules, model_of, rules_of
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.rules.evidence import Evidence

PART = 20_000
"""Traces that pm4py judges at once; each by itself, so that it takes as long for all of them."""
Said = TypeVar("Said")
Broken = npt.NDArray[np.bool_]
"""Of each constraint, the traces that break it."""


def ours(runs: RunBatch, constraints: Mapping[About, Rules]) -> dict[About, pa.Table]:
    """Judge by our rules: findings as a check gives them, by constraint."""
    evidence = Evidence.of(runs, {})
    return {
        about: pa.concat_tables(rule.found(number, evidence) for number, rule in enumerate(rules))
        for about, rules in constraints.items()
    }


def pm4py(log: Any, constraints: Sequence[About]) -> list[dict[str, Any]]:
    """Judge by pm4py: what it says of each trace."""
    from pm4py.algo.conformance.declare import algorithm

    said: list[dict[str, Any]] = algorithm.apply(log, model_of(constraints))
    return said


def timed(work: Callable[[], Said]) -> tuple[float, Said]:
    """CPU seconds, and what was found. What lies in memory beforehand is not looked through."""
    gc.collect()
    gc.freeze()
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


def broken_by_ours(found: Mapping[About, pa.Table], runs: int) -> Broken:
    """Who breaks what."""
    broken = np.zeros((len(found), runs), dtype=bool)
    for number, table in enumerate(found.values()):
        broken[number, table.column("run").to_numpy()] = True
    return broken


def broken_by_pm4py(said: Sequence[Mapping[str, Any]], constraints: Sequence[About]) -> Broken:
    """The same of pm4py."""
    place = {about: number for number, about in enumerate(constraints)}
    broken = np.zeros((len(constraints), len(said)), dtype=bool)
    for run, of in enumerate(said):
        broken[[place[name, activities] for name, activities in of["deviations"]], run] = True
    return broken


def apart(work: Callable[..., Said], *given: object) -> Said:
    """Work in a process of its own: neither side gets the memory that the other left in pieces."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def ours_on(traces: list[Trace], constraints: Sequence[About], rounds: int) -> tuple[float, Broken]:
    """CPU seconds of ours, the median of the rounds, and who breaks what."""
    runs = batch(traces)
    rules = {about: rules_of(about) for about in constraints}
    seconds_of_ours: list[float] = []
    said: dict[About, pa.Table] = {}
    for _ in range(rounds):
        said.clear()  # room for what is found next, as after each part of pm4py's
        seconds, said = timed(lambda: ours(runs, rules))
        seconds_of_ours.append(seconds)
    return median(seconds_of_ours), broken_by_ours(said, len(traces))


def theirs_on(traces: list[Trace], constraints: Sequence[About]) -> tuple[float, Broken]:
    """CPU seconds of pm4py and who breaks what, part by part: what it says of all takes 4 GB."""
    seconds, broken = 0.0, []
    for first in range(0, len(traces), PART):
        log = event_log(traces[first : first + PART])
        more, said = timed(lambda log=log: pm4py(log, constraints))  # type: ignore[misc]  # a default of its own type
        seconds += more
        broken.append(broken_by_pm4py(said, constraints))
    return seconds, np.concatenate(broken, axis=1)
