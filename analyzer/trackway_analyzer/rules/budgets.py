"""Did a run stay within its limits?

1. `steps` counts model calls, tool calls, retrievals and waits that were executed, `tool_calls`
   and `model_calls` their part of it, failed attempts too. `retries` counts attempts after the
   first.
2. `tokens` is input and output of the model calls; `cost_usd` what they cost; `seconds` is from
   the start of the run to its end.
3. Too much is violated, whatever a gap hides. Within the limit holds only if all was recorded: a
   model call without tokens or cost, a run without any model call, or a gap that may hide a step,
   makes it insufficient; for `retries`, a call that may be one (`retried`).
4. With `agent`, only that agent's steps count; `seconds` is of the run and cannot be limited so.
   Steps of which nobody recorded whose they are may be that agent's: where they could make it too
   much, the run is insufficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import accumulate
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import Operation
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.engine.looks import Limit, Looks
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result, State
from trackway_analyzer.rules.gaps import AGENT_GAP, NOT_RECORDED_GAP
from trackway_analyzer.rules.necessary import Altogether, Fact
from trackway_analyzer.rules.retried import retries
from trackway_analyzer.rules.rule import Rule, Said
from trackway_analyzer.rules.tools import Tools

Floats = npt.NDArray[np.float64]

LIMITS: Final = (
    "steps",
    "tool_calls",
    "model_calls",
    "retries",
    "tokens",
    "tokens_in",
    "tokens_out",
    "cost_usd",
    "seconds",
)
"""Fields that hold a limit."""
_ROUNDING: Final = 1e-9
"""Sums of cents are no exact numbers."""
_COLUMNS: Final = {
    "tokens": ("tokens_in", "tokens_out"),
    "tokens_in": ("tokens_in",),
    "tokens_out": ("tokens_out",),
    "cost_usd": ("cost",),
}
_UNITS: Final = {
    "cost_usd": "cost",
    "model_calls": "model calls",
    "tool_calls": "tool calls",
}


@dataclass(frozen=True, slots=True)
class _Spent:
    """What each run spent at least, and whether that is all."""

    least: Floats
    complete: npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Budget(Rule):
    """No limit is exceeded."""

    steps: int | None = None
    tool_calls: int | None = None
    model_calls: int | None = None
    retries: int | None = None
    tokens: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        if not self.limits:
            raise ValueError(f"a budget needs a limit: {', '.join(LIMITS)}")
        for name, limit in self.limits.items():
            if not 0 <= limit < inf:
                raise ValueError(f"the limit of {name} must be a number from 0, found {limit!r}")
        if self.agent is not None and self.seconds is not None:
            raise ValueError("seconds are of the run: leave out `agent` or `seconds`")

    @cached_property
    def limits(self) -> dict[str, float]:
        """The limits that are set."""
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name in LIMITS}
        return {name: limit for name, limit in found.items() if limit is not None}

    @property
    def title(self) -> str:
        """How a report names this rule."""
        return self.key if self.agent is None else f"{self.key}: {self.agent}"

    def looks(self, tools: Tools) -> Looks | None:
        """The shape, and sums of what the steps spent."""
        return Looks(
            limits=frozenset(
                Limit(_COLUMNS.get(name, (name,)), limit)
                for name, limit in self.limits.items()
                if name in _COLUMNS or name == "seconds"
            )
        )

    def necessary(self, tools: Tools) -> Iterator[Fact]:
        """No more calls than steps or tool calls, whoever makes them."""
        limits = (limit for limit in (self.steps, self.tool_calls) if limit is not None)
        if self.agent is None:
            yield from map(Altogether, limits)

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run beyond a limit, or maybe beyond one."""
        evidence = self.evidence(batch)
        over: dict[int, dict[str, float]] = {}
        unsure: dict[int, list[str]] = {}
        for name, limit in self.limits.items():
            spent = self._spent(evidence, name)
            for run in np.flatnonzero(spent.least > limit * (1 + _ROUNDING)):
                over.setdefault(int(run), {})[name] = _plain(spent.least[run])
            whole = spent.complete & ~self._may_be_more(evidence, name, spent.least)
            for run in np.flatnonzero(~whole):
                unsure.setdefault(int(run), []).append(name)
        results = [self._over(evidence, run, spent) for run, spent in over.items()]
        results += [
            Result(
                run, State.INSUFFICIENT, None, {"gap": self._gap(evidence, run), "limits": names}
            )
            for run, names in unsure.items()
            if run not in over
        ]
        return sorted(results, key=lambda result: result.run)

    def _over(self, evidence: Evidence, run: int, spent: dict[str, float]) -> Result:
        positions = [self._crossing(evidence, run, name) for name in spent]
        known = [position for position in positions if position is not None]
        return Result(run, State.VIOLATED, min(known, default=None), {"spent": spent})

    def _crossing(self, evidence: Evidence, run: int, name: str) -> int | None:
        """Position of the step that crossed a limit."""
        if name == "seconds":
            return None
        first, last = evidence.batch.bounds(run)
        amounts: list[float] = self._amounts(evidence, name)[0][first:last].tolist()
        most = self.limits[name] * (1 + _ROUNDING)
        return next((at for at, total in enumerate(accumulate(amounts)) if total > most), 0)

    def _spent(self, evidence: Evidence, name: str) -> _Spent:
        hidden = np.zeros(len(evidence), dtype=bool)
        hidden[[run for run in evidence.gaps if evidence.absence(run)]] = True
        if name == "seconds":
            seconds = evidence.batch.runs.column("duration_s").combine_chunks()
            known = ~_is_null(seconds)
            return _Spent(pc.fill_null(seconds, 0.0).to_numpy(zero_copy_only=False), known)
        amounts, unknown = self._amounts(evidence, name)
        if name in _COLUMNS or name == "model_calls":
            model = evidence.is_operation(Operation.LLM).astype(np.float64)
            hidden |= _per_run(evidence, model) == 0
        return _Spent(_per_run(evidence, amounts), (_per_run(evidence, unknown) == 0) & ~hidden)

    def _may_be_more(self, evidence: Evidence, name: str, least: Floats) -> npt.NDArray[np.bool_]:
        """Runs in which steps of nobody knows whom could exceed the limit of the one agent."""
        if self.agent is None:
            return np.zeros(len(evidence), dtype=bool)
        amounts, unknown = (_per_run(evidence, part) for part in self._sum(evidence, name, None))
        found: npt.NDArray[np.bool_] = (unknown > 0) | (
            (amounts > 0) & (least + amounts > self.limits[name] * (1 + _ROUNDING))
        )
        return found

    def _gap(self, evidence: Evidence, run: int) -> str:
        gap = next((gap.name for gap in evidence.absence(run)), NOT_RECORDED_GAP)
        first, last = evidence.batch.bounds(run)
        nobodys = self.agent is not None and bool(self._counted(evidence, None)[first:last].any())
        return AGENT_GAP if nobodys and gap == NOT_RECORDED_GAP else gap

    def _amounts(self, evidence: Evidence, name: str) -> tuple[Floats, Floats]:
        """Of each step, what it spends, and 1 where nobody recorded it."""
        make = partial(self._sum, evidence, name, self.agent)
        return evidence.memo(("spent", name, self.agent), make)

    def _sum(self, evidence: Evidence, name: str, agent: str | None) -> tuple[Floats, Floats]:
        counted = self._counted(evidence, agent)
        if name == "retries":
            sure, maybe = evidence.memo("retries", partial(retries, evidence))
            return (sure & counted).astype(np.float64), (maybe & counted).astype(np.float64)
        model = evidence.is_operation(Operation.LLM)
        steps = evidence.batch.steps
        if name in _COLUMNS:
            amount, unknown = np.zeros(len(steps)), np.zeros(len(steps))
            for column in _COLUMNS[name]:
                values = steps.column(column).combine_chunks().cast(pa.float64())
                amount += pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False)
                unknown += _is_null(values) & model
            return amount * counted, unknown * counted
        mask = {
            "steps": counted,
            "tool_calls": counted & evidence.is_operation(Operation.TOOL),
            "model_calls": counted & model,
        }[name]
        return mask.astype(np.float64), np.zeros(len(steps))

    def _counted(self, evidence: Evidence, agent: str | None) -> npt.NDArray[np.bool_]:
        """Executed steps; of a rule about one agent, its own and those of nobody knows whom."""
        executed = pc.fill_null(evidence.batch.steps.column("executed"), True)
        counted: npt.NDArray[np.bool_] = executed.to_numpy().astype(bool)
        if self.agent is not None:
            agents = evidence.codes("agent")
            counted &= agents.codes == (-1 if agent is None else agents.code(agent))
        return counted

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.state is State.INSUFFICIENT:
            gap, units = result.detail["gap"], [_unit(name) for name in result.detail["limits"]]
            if gap == AGENT_GAP:
                why = f"whether more is of agent {self.agent} was not recorded"
            elif gap == NOT_RECORDED_GAP:
                verb = "was" if units == [_unit("cost_usd")] else "were"
                why = f"{' and '.join(units)} {verb} not recorded"
            else:
                why = f"{gap} may hide more"
            return Said(sentence=f"no limit was seen exceeded, but {why}")
        spent, limits = result.detail["spent"], self.limits
        parts = [
            f"{_amount(name, value)}, allowed {_bare(name, limits[name])}"
            for name, value in spent.items()
        ]
        who = f"agent {self.agent} spent" if self.agent else "the run took"
        where = "" if result.position is None else f" (reached at step {result.position + 1})"
        name = next(iter(spent))
        return Said(
            sentence=f"{who} {'; '.join(parts)}{where}", expected=limits[name], got=spent[name]
        )


def _per_run(evidence: Evidence, amounts: Floats) -> Floats:
    runs = np.repeat(np.arange(len(evidence)), np.diff(evidence.batch.offsets))
    return np.bincount(runs, weights=amounts, minlength=len(evidence)).astype(np.float64)


def _is_null(values: pa.Array) -> npt.NDArray[np.bool_]:
    nulls: npt.NDArray[np.bool_] = values.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _unit(name: str) -> str:
    return _UNITS.get(name, name.replace("_in", " in").replace("_out", " out"))


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else float(value)


def _amount(name: str, value: float) -> str:
    unit = "" if name == "cost_usd" else f" {_unit(name)}"
    if value == 1:
        unit = unit.replace("retries", "retry").removesuffix("s")
    return _bare(name, value) + unit


def _bare(name: str, value: float) -> str:
    text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
    return f"${text}" if name == "cost_usd" else text


def limit_names() -> Iterator[str]:
    """Names of all limits."""
    yield from LIMITS
