"""Put what is declared of tools into the columns that rules read: kinds, and who took effect.

1. A declared kind replaces the span's.
2. A declared `success` decides whether a call took effect, unless it raised.
3. A tool that is declared a lookup, where the span said nothing, is judged as a lookup: the
   `status` in its result is that of what it found. What the recorder declared of the call itself
   stands.
4. A tool that is declared a mutation or notification, where the span said nothing, is judged as
   one: a status that nobody knows leaves open whether it took effect.
5. A step's own effect events decide where they say that nothing was applied, or where nobody else
   knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.happened import happened
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.rules.columns import is_null
from trackway_analyzer.rules.evidence import Evidence, OwnValues
from trackway_analyzer.rules.expression import Expression
from trackway_analyzer.rules.terms import Hidden, NoSource, Source
from trackway_analyzer.rules.tools import LOOKUP, MUTATE, NOTIFY, Tools
from trackway_analyzer.tables import STEP_SCHEMA
from trackway_analyzer.tool_names import has_star, meant_by

Success = bool | None
_STATUS: Final = re.compile(r'"status"', re.IGNORECASE)


def settled(batch: RunBatch, tools: Tools) -> Evidence:
    """Return the evidence of a batch under what is declared."""
    tools = _spelt_out(tools, batch)
    kinds = {name: spec.kind for name, spec in tools.items() if spec.kind is not None}
    steps = batch.steps
    if kinds and len(steps):
        steps = _set(steps, "kind", _with_kinds(steps, kinds))
    with_kinds = RunBatch(batch.runs, steps, batch.offsets)
    evidence = Evidence(with_kinds, tools)
    changed = _successes(evidence, is_null(batch.steps, "kind"), tools)
    changed |= _applied(evidence, changed)
    if not changed:
        return evidence
    steps = _set(steps, "ok", _with_successes(evidence, changed))
    return Evidence(RunBatch(batch.runs, steps, batch.offsets), tools)


def _spelt_out(tools: Tools, batch: RunBatch) -> Tools:
    """What is declared of tools with a `*`, for each recorded tool that is not declared itself."""
    if not any(map(has_star, tools)):
        return tools
    recorded = batch.steps.column("tool").combine_chunks().dictionary.to_pylist()
    meant = ((name, meant_by(tools.keys(), name, None)) for name in recorded)
    return {**tools, **{name: tools[by] for name, by in meant if by is not None}}


def _set(steps: pa.Table, name: str, values: Any) -> pa.Table:
    index = STEP_SCHEMA.get_field_index(name)
    return steps.set_column(index, STEP_SCHEMA.field(name), values)


def _with_kinds(steps: pa.Table, kinds: Mapping[str, str]) -> Any:
    tool = steps.column("tool").combine_chunks()
    kind = steps.column("kind").combine_chunks()
    declared = pa.array([kinds.get(name) for name in tool.dictionary.to_pylist()], pa.string())
    merged = pc.coalesce(declared.take(tool.indices), kind.cast(pa.string()))
    return merged.dictionary_encode()


def _with_successes(evidence: Evidence, changed: Mapping[int, Success]) -> pa.Array:
    ok = list(evidence.ok)
    for row, value in changed.items():
        ok[row] = value
    return pa.array(ok, pa.bool_())


def _successes(evidence: Evidence, undeclared: Any, tools: Tools) -> dict[int, Success]:
    """Rows whose success is another than the record says."""
    changed: dict[int, Success] = {}
    for name, spec in tools.items():
        rows = evidence.codes("tool").where(name)
        if spec.success is not None:
            judge = _judge(evidence, spec.success)
        elif spec.kind == LOOKUP:
            rows, judge = rows[undeclared[rows]], _judge_lookup(evidence)
        elif spec.kind in (MUTATE, NOTIFY):
            rows, judge = rows[undeclared[rows]], _judge_mutation(evidence)
        else:
            continue
        for row in rows.tolist():
            success = judge(row)
            if success is not evidence.ok[row]:
                changed[row] = success
    return changed


def _judge_lookup(evidence: Evidence) -> Callable[[int], Success]:
    def judge(row: int) -> Success:
        ok = evidence.ok[row]
        if ok:
            return ok
        source, raised = evidence.result(row), evidence.error_type[row] is not None
        value = source.value if isinstance(source, Source) else NOT_RECORDED
        judged = partial(happened, value, raised=raised, tool=evidence.tool[row])
        if judged() is not ok:
            return ok  # somebody declared it
        return judged(lookup=True)

    return judge


def _judge_mutation(evidence: Evidence) -> Callable[[int], Success]:
    def judge(row: int) -> Success:
        text = evidence.result_text(row)
        if not evidence.ok[row] or text is None or _STATUS.search(text) is None:
            return evidence.ok[row]
        asked = evidence.arguments_text(row)
        return happened(
            evidence.batch.decode(text),
            raised=False,
            mutation=True,
            tool=evidence.tool[row],
            arguments=NOT_RECORDED if asked is None else evidence.batch.decode(asked),
        )

    return judge


def _judge(evidence: Evidence, success: Expression) -> Callable[[int], Success]:
    plain = success.plain_equality

    def judge(row: int) -> Success:
        if evidence.error_type[row] is not None:
            return None if evidence.ok[row] is None else False
        text = evidence.result_text(row)
        if plain is not None and text is not None and plain.is_true_of(parsed(text)):
            return True
        truth = success.truth(OwnValues(evidence, row))
        if isinstance(truth, Hidden):
            return None
        return False if isinstance(truth, NoSource) else truth

    return judge


def _applied(evidence: Evidence, changed: Mapping[int, Success]) -> dict[int, bool]:
    """Calls whose own effect events say whether they took effect."""
    found: dict[int, bool] = {}
    for row in np.flatnonzero(~is_null(evidence.batch.steps, "events")).tolist():
        applied = {effect.applied for effect in evidence.effects(row)}
        ok = changed.get(row, evidence.ok[row])
        if applied == {False} or (ok is None and True in applied):
            found[row] = True in applied
    return found
