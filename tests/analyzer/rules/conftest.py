"""Builders of small runs for the tests of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Rule
from trackway_analyzer.tables import GAP_TYPE, RUN_SCHEMA, STEP_SCHEMA, table_of

Call = dict[str, Any]


class Refund:
    """Calls of a refund agent, healthy unless told otherwise."""

    @staticmethod
    def lookup(order: Any = "A1", total: Any = 84.0, **more: Any) -> Call:
        result = {"id": order, "total": total}
        arguments = {"order_id": order}
        return {"tool": "lookup_order", "arguments": arguments, "result": result, **more}

    @staticmethod
    def policy(eligible: bool = True, order: Any = "A1", **more: Any) -> Call:
        result = {"eligible": eligible, "refundable": 84.0}
        arguments = {"order_id": order}
        return {"tool": "check_policy", "arguments": arguments, "result": result, **more}

    @staticmethod
    def refund(
        order: Any = "A1", amount: Any = 84.0, status: str = "succeeded", **more: Any
    ) -> Call:
        arguments = {"order_id": order, "amount": amount}
        result = {"id": "re_1", "status": status}
        return {"tool": "refund_api.create", "arguments": arguments, "result": result, **more}

    @staticmethod
    def email(**more: Any) -> Call:
        return {"tool": "send_email", "arguments": {"to": "a@b.c"}, "result": "sent", **more}

    @classmethod
    def healthy(cls) -> list[Call]:
        return [cls.lookup(), cls.policy(), cls.refund(), cls.email()]


@pytest.fixture(scope="session")
def refund() -> type[Refund]:
    return Refund


@pytest.fixture(scope="session")
def gapped() -> Callable[..., Trajectory]:
    """A plain list of records whose run has these gaps."""

    def build(records: Sequence[Mapping[str, Any]], *gaps: Gap, **about: Any) -> Trajectory:
        return with_gaps(trajectory_of(list(records), **about), gaps)

    return build


def with_gaps(trajectory: Trajectory, gaps: Sequence[Gap]) -> Trajectory:
    batch = trajectory.batch
    rows = [
        [
            {"name": g.name, "position": g.position, "count": g.count, "detail": g.detail}
            for g in gaps
        ]
    ]
    column = pa.array(rows, pa.list_(GAP_TYPE))
    index = RUN_SCHEMA.get_field_index("gaps")
    runs = batch.runs.set_column(index, RUN_SCHEMA.field("gaps"), column)
    return RunBatch(runs, batch.steps, batch.offsets).trajectory(0)


@pytest.fixture(scope="session")
def run_of() -> Callable[..., RunBatch]:
    """A batch of one run from columns of steps and of the run."""

    def build(steps: Sequence[Mapping[str, Any]], **run: Any) -> RunBatch:
        rows = [
            {
                "run": 0,
                "position": position,
                "group": position,
                "operation": "tool",
                "executed": True,
                "ok": True,
                **step,
            }
            for position, step in enumerate(steps)
        ]
        columns = {name: [row.get(name) for row in rows] for name in STEP_SCHEMA.names}
        about = {"run_id": "r1", "gaps": [], "spans": len(rows) + 1, **run}
        return RunBatch.of(
            table_of(RUN_SCHEMA, {name: [value] for name, value in about.items()}, 1),
            table_of(STEP_SCHEMA, columns, len(rows)),
        )

    return build


@pytest.fixture(scope="session")
def behind() -> Callable[[RunBatch], RunBatch]:
    """The same run as the second of a batch, behind a run with a model call and two calls."""

    def build(batch: RunBatch) -> RunBatch:
        steps = [
            {"run": 0, "position": 0, "group": 0, "operation": "llm", "executed": True},
            {"run": 0, "position": 1, "group": 1, "operation": "tool", "tool": "other"},
            {"run": 0, "position": 2, "group": 2, "operation": "tool", "tool": "another"},
        ]
        columns = {name: [step.get(name) for step in steps] for name in STEP_SCHEMA.names}
        about = {"run_id": ["other"], "gaps": [[]], "spans": [4], "final_text": [""]}
        numbers = pa.array([1] * len(batch.steps), STEP_SCHEMA.field("run").type)
        index = STEP_SCHEMA.get_field_index("run")
        moved = batch.steps.set_column(index, STEP_SCHEMA.field("run"), numbers)
        runs = [table_of(RUN_SCHEMA, about, 1), batch.runs]
        both = [table_of(STEP_SCHEMA, columns, len(steps)), moved]
        return RunBatch.of(
            *(pa.concat_tables(t).unify_dictionaries().combine_chunks() for t in (runs, both))
        )

    return build


def call(tool: str, arguments: Any = None, result: Any = "ok", **more: Any) -> Call:
    return {"tool": tool, "arguments": arguments or {}, "result": result, **more}


@pytest.fixture(scope="session", name="call")
def call_fixture() -> Callable[..., Call]:
    """A record of a call."""
    return call


Said = Callable[..., list[tuple[str, str]]]


@pytest.fixture(scope="session")
def said() -> Said:
    """(state, sentence) of each run that does not keep a rule."""

    def say(rule: Rule, run: Any, **about: Any) -> list[tuple[str, str]]:
        batch = run
        if isinstance(run, list):
            batch = trajectory_of(run, **{"final_text": "", **about}).batch
        elif isinstance(run, Trajectory):
            batch = run.batch
        results = rule.check(batch)
        return [(result.state.value, rule.explain(batch, result).sentence) for result in results]

    return say
