"""What an agent left behind, read by the analyzer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property

import pyarrow as pa
import pytest

import trackway_analyzer as ta
from frameworks.catalogue import FRAMEWORKS, Framework
from frameworks.record import VARIANTS, runs_of
from frameworks.script import SCENARIOS, Scenario
from trackway_analyzer.model import Step
from trackway_analyzer.read import read

ANSWERS_BY_TOOL = "final_answer"


@dataclass(frozen=True)
class Recording:
    """One variant of one framework, played and recorded."""

    framework: Framework
    scenario: Scenario
    status: int
    spans: pa.Table
    runs: tuple[ta.Trajectory, ...]

    @cached_property
    def run(self) -> ta.Trajectory:
        """The one run that was played."""
        assert len(self.runs) == 1, f"{len(self.runs)} runs"
        return self.runs[0]

    @cached_property
    def tools(self) -> tuple[Step, ...]:
        """The executed tool calls, without the one that only carries the answer."""
        steps = self.run.tool_steps
        if self.framework.final_tool and steps and steps[-1].tool == ANSWERS_BY_TOOL:
            return steps[:-1]
        return steps

    @property
    def model_calls(self) -> tuple[Step, ...]:
        """The model steps."""
        return tuple(step for step in self.run.steps if step.operation == "llm")

    def inside(self, inner: Step, outer: Step) -> bool:
        """Whether a step's span lies below another's."""
        spans, parents = (self.spans[name].to_pylist() for name in ("span_id", "parent_span_id"))
        above = dict(zip(spans, parents, strict=True))
        at = above.get(inner.span_id)
        while at is not None and at != outer.span_id:
            at = above.get(at)
        return at is not None


@cache
def recording(framework: str, variant: str) -> Recording:
    """Read a recording; fails where nobody made it."""
    folder = runs_of(framework, variant)
    status = folder / "status.json"
    if not status.exists():
        pytest.fail(f"{framework} {variant} was not played: make frameworks")
    traces = folder / "traces"
    spans = pa.concat_tables(batch.spans for batch in read(traces)) if traces.exists() else None
    return Recording(
        framework=FRAMEWORKS[framework],
        scenario=SCENARIOS[VARIANTS[variant].scenario],
        status=json.loads(status.read_text())["status"],
        spans=spans,
        runs=tuple(ta.load(traces)) if traces.exists() else (),
    )
