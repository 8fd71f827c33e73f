"""How many trajectories a second can be matched, from Parquet, against agentevals?

1. Both sides get the same pairs. agentevals gets messages that are ready in memory, for it reads no
   files; we read Parquet, reconstruct the runs and match: loading is in our figure, not in its.
2. Each mode is timed alone, each of ours with loading; then several over one loading, and the
   checks that agentevals lacks.
3. Both must pass equally many pairs, or there is no figure.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.generate import Pair, messages
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.load import load
from trackway_analyzer.rules import (
    AnyOrder,
    AtLeast,
    Exact,
    Forbidden,
    Grounded,
    InOrder,
    References,
    Rule,
)
from trackway_analyzer.rules.evidence import Evidence

MODES = {"strict": "exact", "unordered": "any order", "superset": "at least"}


@dataclass(frozen=True, slots=True)
class Speed:
    """Pairs a second of one operation."""

    operation: str
    wall: float
    """Pairs a second of wall time."""
    cpu: float
    """Pairs a second of processor time, all threads."""
    passed: int
    note: str = ""


class UnequalCountsError(AssertionError):
    """The two sides do not agree on how many pairs match."""


def agentevals(pairs: Sequence[Pair]) -> list[Speed]:
    """Time agentevals over ready messages, as its documentation calls it."""
    os.environ["LANGSMITH_TRACING"] = "false"
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    ready = [(messages(pair.candidate), messages(pair.reference)) for pair in pairs]
    found = []
    for mode in MODES:
        evaluate = create_trajectory_match_evaluator(trajectory_match_mode=mode)
        evaluate(outputs=ready[0][0], reference_outputs=ready[0][1])
        started = _clocks()
        passed = sum(
            bool(evaluate(outputs=outputs, reference_outputs=reference)["score"])
            for outputs, reference in ready
        )
        wall, cpu = _since(started)
        speed = Speed(
            f"agentevals {mode}",
            len(pairs) / wall,
            len(pairs) / cpu,
            passed,
            "one pass, no loading",
        )
        found.append(speed)
    return found


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(started: tuple[float, float]) -> tuple[float, float]:
    wall, cpu = _clocks()
    return wall - started[0], cpu - started[1]


def trackway(directory: Path, rounds: int = 5) -> list[Speed]:
    """Time loading, reconstruction and matching of all pairs; a figure includes the loading."""
    operations = _operations()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in operations}
    passed: dict[str, int] = {}
    count = 0
    for number in range(rounds + 1):
        started = _clocks()
        candidates, references = _load(directory)
        loading = _since(started)
        count = len(candidates)
        for name, make in operations.items():
            started = _clocks()
            passed[name] = _passed(candidates, make(References(references)))
            wall, cpu = _since(started)
            if number:  # the first round warms up
                times[name].append((loading[0] + wall, loading[1] + cpu))
    note = f"with loading, median of {rounds}"
    found = []
    for name, figures in times.items():
        wall, cpu = (count / median(side) for side in zip(*figures, strict=True))
        found.append(Speed(f"trackway {name}", wall, cpu, passed[name], note))
    return found


def _load(directory: Path) -> tuple[RunBatch, RunBatch]:
    runs = load(directory)
    return runs.filter(variant="candidate").batch, runs.filter(variant="reference").batch


def _operations() -> dict[str, Callable[[References], list[Rule]]]:
    forbidden = Forbidden("delete_account")
    grounded = [
        Grounded("refund_api.create", "order_id", source="lookup_order.id"),
        Grounded("refund_api.create", "amount", source="lookup_order.total"),
    ]

    def three(given: References) -> list[Rule]:
        return [Exact(references=given), AnyOrder(references=given), AtLeast(references=given)]

    return {
        "load and reconstruct only": lambda _: [],
        "exact": lambda given: [Exact(references=given)],
        "any order": lambda given: [AnyOrder(references=given)],
        "at least": lambda given: [AtLeast(references=given)],
        "exact + any order + at least": three,
        "subsequence": lambda given: [InOrder(references=given)],
        "forbidden": lambda _: [forbidden],
        "grounding of order and amount": lambda _: [*grounded],
        "all of these together": lambda given: [
            *three(given),
            InOrder(references=given),
            forbidden,
            *grounded,
        ],
    }


def _passed(candidates: RunBatch, rules: Sequence[Rule]) -> int:
    """Runs that keep all rules; every rule looks at the same evidence."""
    evidence = Evidence.of(candidates)
    broken = {result.run for rule in rules for result in rule.check(evidence)}
    return len(candidates) - len(broken)


def assert_equal_counts(peer: Sequence[Speed], ours: Sequence[Speed]) -> None:
    """Raise unless each mode passed equally many pairs on both sides."""
    counts = {speed.operation: speed.passed for speed in [*peer, *ours]}
    for mode, name in MODES.items():
        theirs, mine = counts[f"agentevals {mode}"], counts[f"trackway {name}"]
        if theirs != mine:
            raise UnequalCountsError(f"{mode}: agentevals passed {theirs}, trackway {name} {mine}")
