"""What did each model turn decide, and where was its context cut? Recorded, else derived.

1. Every model step whose output or whose calls are known is a decision: it chose the calls that it
   asked for, or none. A recorded `trackway.decision` event stands in its place.
2. A model step was cut if it stopped for `length`, if it read fewer tokens than the agent's turn
   before it, or if its input does not begin with that turn's input. A recorded `trackway.context`
   event that says so stands too.
   Model steps of transcripts hold only what was said since the turn before: nothing can be told of
   their inputs.
3. What was derived says so: a framework that shortens its history on purpose looks the same.

Both are functions of a run batch to a small table, computed when somebody asks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import Operation, Trackway
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.dialects.transcript import TRANSCRIPT
from trackway_analyzer.json_text import canonical, parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.times import decoded

DECISION_SCHEMA: Final = pa.schema(
    [
        ("run", pa.int32()),
        ("position", pa.int32()),
        ("chosen", pa.list_(pa.string())),  # tools that were asked for, in order
        ("reason", pa.string()),
        ("derived", pa.bool_()),
    ]
)
CUT_SCHEMA: Final = pa.schema(
    [
        ("run", pa.int32()),
        ("position", pa.int32()),
        ("sign", pa.string()),  # recorded, length, tokens, messages
        ("derived", pa.bool_()),
    ]
)


def decisions(batch: RunBatch) -> pa.Table:
    """Return one row a decision (`DECISION_SCHEMA`), in order of runs and steps."""
    asked = _asked(batch)
    rows: list[dict[str, Any]] = []
    for step in _models(batch, "output", "events"):
        place = {"run": step["run"], "position": step["position"]}
        recorded = list(_events(step, Trackway.EVENT_DECISION))
        for event in recorded:
            chosen, reason = event.get("chosen"), event.get("reason")
            rows.append({**place, "chosen": _names(chosen), "reason": reason, "derived": False})
        calls = asked.get((step["run"], step["position"]))
        if not recorded and (calls is not None or step["output"] is not None):
            rows.append({**place, "chosen": calls or [], "reason": None, "derived": True})
    return pa.Table.from_pylist(rows, schema=DECISION_SCHEMA)


def cuts(batch: RunBatch) -> pa.Table:
    """Return one row a sign that a model's context was cut (`CUT_SCHEMA`), in order."""
    rows: list[dict[str, Any]] = []
    before: dict[tuple[int, str | None], dict[str, Any]] = {}
    transcripts = {
        run
        for run, sources in enumerate(batch.runs.column("sources").to_pylist())
        if sources and TRANSCRIPT.name in sources
    }
    for step in _models(batch, "input", "tokens_in", "finish_reasons", "agent_path", "events"):
        agent = step["run"], step["agent_path"]
        for sign in _signs(step, before.get(agent), whole=step["run"] not in transcripts):
            place = {"run": step["run"], "position": step["position"]}
            rows.append({**place, "sign": sign, "derived": sign != "recorded"})
        before[agent] = step
    return pa.Table.from_pylist(rows, schema=CUT_SCHEMA)


def _signs(step: dict[str, Any], before: dict[str, Any] | None, *, whole: bool) -> Iterator[str]:
    if any(event.get("truncated") is True for event in _events(step, Trackway.EVENT_CONTEXT)):
        yield "recorded"
    if "length" in (step["finish_reasons"] or ()):
        yield "length"
    if before is None:
        return
    tokens = before["tokens_in"], step["tokens_in"]
    if None not in tokens and tokens[1] < tokens[0]:
        yield "tokens"
    if not whole:
        return
    earlier, told = (parsed(each["input"] or "null") for each in (before, step))
    lists = isinstance(earlier, list) and isinstance(told, list)
    if lists and told[: len(earlier)] != earlier:
        yield "messages"


def _models(batch: RunBatch, *names: str) -> Iterator[dict[str, Any]]:
    """Yield these columns of the model steps, with run and position."""
    is_model = pc.equal(batch.steps.column("operation"), Operation.LLM.value)
    yield from decoded(batch.steps.select(["run", "position", *names]).filter(is_model))


def _asked(batch: RunBatch) -> dict[tuple[int, int], list[str]]:
    """Return the tools that each turn asked for, by run and position, in order."""
    columns = batch.steps.select(["run", "turn", "tool", "tool_alias", "retry_of"])
    asked: dict[tuple[int, int], list[str]] = defaultdict(list)
    for step in columns.filter(pc.is_valid(columns.column("turn"))).to_pylist():
        if step["retry_of"] is None:
            asked[step["run"], step["turn"]].append(step["tool_alias"] or step["tool"] or "?")
    return asked


def _events(step: dict[str, Any], name: str) -> Iterator[dict[str, JsonValue]]:
    """Yield the attributes of a step's events of this name."""
    for event in step["events"] or ():
        attributes = parsed(event["attributes"] or "{}") if event["name"] == name else None
        if isinstance(attributes, dict):
            yield attributes


def _names(chosen: JsonValue) -> list[str]:
    """Return what was chosen: a name, or a list that the recorder wrote as JSON."""
    value = parsed(chosen) if isinstance(chosen, str) else chosen
    names = value if isinstance(value, list) else [] if value is None else [value]
    return [name if isinstance(name, str) else canonical(name) for name in names]
