"""Which spans record the same call?

1. A model span inside a model span, no tool or agent between them, is the same call unless their
   response ids, or else their token counts, say otherwise. A model span that holds several model
   calls, or one that is not its own, is a wrapper: the inner ones are the calls.
2. A tool span inside a tool span of the same name, its alias included (or where one of the two lost
   its name), is the same call unless their call ids or the values of their arguments say otherwise.
   Different names are never one call. Of several such spans inside one, the last is the same call,
   those before it are tries.
3. Two model spans side by side in time, by different instrumentors, with one response id are one
   call; so are two tool spans with one call id and one name.
4. The innermost span gives the times and wins each field; what it lacks comes from the next one
   out. Of more than `LAYERS` spans around it the nearest and the outermost count.
5. No call at all: ADK's `(merged tools)` span, which repeats the calls of a batch; and a finished
   model span without messages, tokens, finish reason or error in a run whose other model spans have
   them (a client's preparation); and a tool span of a call that waits for approval (`waiting`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from trackway.schema import GenAI
from trackway_analyzer.json_text import parsed
from trackway_analyzer.reconstruct.columns import LLM, NEVER, NONE, TOOL, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.waiting import waiting_calls

SYNTHETIC_TOOLS: Final = ("(merged tools)", "(merged)")
"""Names of Google ADK's span that stands for a batch of calls (google-adk 2.13)."""
LAYERS: Final = 8
"""Spans around the innermost one that fields are taken from."""
_EVIDENCE: Final = ("output", "input", "tokens_in", "tokens_out", "finish_reasons")


@dataclass(frozen=True)
class Calls:
    """The spans that are steps, each call once."""

    rows: Ints
    """Innermost span of each call."""
    layers: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By innermost row: the spans around it that record the same call, from inside out."""
    absorbed: dict[int, int] = field(default_factory=dict)
    """By absorbed row: the innermost span of its call; `NONE` for a wrapper that is no call."""


def calls_of(columns: SpanColumns, run: Ints, above: Ints, rank: Ints) -> Calls:
    """Find the calls among the spans of runs; `above` is the nearest step or agent of each row."""
    steps = columns.is_step & (run != NONE)
    dropped = _synthetic(columns, steps) | _hollow(columns, steps, run)
    dropped |= waiting_calls(columns, steps)
    rows = np.flatnonzero(steps & ~dropped)
    into: dict[int, int] = dict.fromkeys(np.flatnonzero(dropped & steps).tolist(), NONE)
    _merge_nested(columns, rows, above, rank, into)
    _merge_siblings(columns, rows, run, above, rank, into)
    if not into:
        return Calls(rows)
    layers: dict[int, list[int]] = defaultdict(list)
    final: dict[int, int] = {}
    for row in sorted(into, key=lambda row: -int(rank[row])):
        inner = _innermost(row, into)
        final[row] = inner
        if inner != NONE:
            layers[inner].append(row)
    kept = rows[~np.isin(rows, np.fromiter(final, np.int64))]
    return Calls(kept, {inner: _few(outer) for inner, outer in layers.items()}, final)


def _few(outer: list[int]) -> tuple[int, ...]:
    return tuple(outer if len(outer) <= LAYERS else [*outer[: LAYERS - 1], outer[-1]])


def _innermost(row: int, into: dict[int, int]) -> int:
    """Follow a chain of merges to its end and shorten it on the way."""
    chain = [row]
    while (inner := into.get(chain[-1])) is not None and inner != NONE and inner in into:
        chain.append(inner)
    end = into[chain[-1]]
    for passed in chain:
        into[passed] = end
    return end


def _synthetic(columns: SpanColumns, steps: Mask) -> Mask:
    names = columns.array("tool").dictionary.to_pylist()
    codes = [code for code, name in enumerate(names) if name in SYNTHETIC_TOOLS]
    return steps & np.isin(columns.codes("tool"), codes) if codes else np.zeros_like(steps)


def _hollow(columns: SpanColumns, steps: Mask, run: Ints) -> Mask:
    """Finished model spans that say nothing, in runs where others say something."""
    models = steps & (columns.operation == LLM)
    said = np.zeros_like(models)
    for name in _EVIDENCE:
        said |= columns.recorded(name)
    hollow: Mask = models & ~said & ~columns.failed & (columns.end != NEVER)
    if hollow.any():
        hollow &= np.isin(run, np.unique(run[models & said]))
    return hollow


class _Span(NamedTuple):
    """What two records of one call are compared by."""

    row: int
    tool: str | None
    alias: str | None
    call_id: str | None
    arguments: str | None
    tokens: tuple[int | None, int | None]
    attributes: str | None

    @property
    def response_id(self) -> Any:
        text = self.attributes
        if text is None or GenAI.RESPONSE_ID not in text:
            return None
        value = parsed(text)
        return value.get(GenAI.RESPONSE_ID) if isinstance(value, dict) else None


def _spans(columns: SpanColumns, rows: Ints) -> dict[int, _Span]:
    names = ("tool", "tool_alias", "tool_call_id", "arguments", "attributes")
    tokens = zip(columns.values("tokens_in", rows), columns.values("tokens_out", rows), strict=True)
    values = (columns.values(name, rows) for name in names)
    return {
        row: _Span(row, tool, alias, call_id, arguments, counts, attributes)
        for row, counts, tool, alias, call_id, arguments, attributes in zip(
            rows.tolist(), tokens, *values, strict=True
        )
    }


def _merge_nested(
    columns: SpanColumns, rows: Ints, above: Ints, rank: Ints, into: dict[int, int]
) -> None:
    operation = columns.operation
    outer = above[rows]
    alike = outer != NONE
    alike[alike] = operation[outer[alike]] == operation[rows[alike]]
    alike &= (operation[rows] == LLM) | (operation[rows] == TOOL)
    inner = rows[alike]
    if not len(inner):
        return
    spans = _spans(columns, np.unique(np.concatenate([inner, above[inner]])))
    children: dict[int, list[int]] = defaultdict(list)
    for row in inner[np.argsort(rank[inner])].tolist():
        children[int(above[row])].append(row)
    for parent, held in children.items():
        if parent in into:
            continue
        model = operation[parent] == LLM
        same = _same_model_call if model else _same_tool_call
        alike_rows = [row for row in held if same(spans[parent], spans[row])]
        if model:
            into[parent] = alike_rows[-1] if alike_rows else NONE
        elif alike_rows:
            into[parent] = alike_rows[-1]


def _same_model_call(outer: _Span, inner: _Span) -> bool:
    ids = outer.response_id, inner.response_id
    if None not in ids:
        return bool(ids[0] == ids[1])
    if None in (*outer.tokens, *inner.tokens):
        return True
    return outer.tokens == inner.tokens


def _same_tool_call(outer: _Span, inner: _Span) -> bool:
    if None not in (outer.tool, inner.tool) and not _share_a_name(outer, inner):
        return False
    if None not in (outer.call_id, inner.call_id) and outer.call_id != inner.call_id:
        return False
    if outer.arguments is None or inner.arguments is None or outer.arguments == inner.arguments:
        return True
    one, other = parsed(outer.arguments), parsed(inner.arguments)
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return True
    return one.keys() != other.keys() or one == other


def _share_a_name(one: _Span, other: _Span) -> bool:
    if one.tool == other.tool:
        return True
    return one.tool == other.alias or other.tool == one.alias


def _merge_siblings(
    columns: SpanColumns, rows: Ints, run: Ints, above: Ints, rank: Ints, into: dict[int, int]
) -> None:
    """Merge neighbours in time that two instrumentors wrote of one call."""
    operation, start, end = columns.operation, columns.start, columns.end
    scope = columns.codes("scope")
    for code in (LLM, TOOL):
        members = rows[operation[rows] == code]
        ordered = members[np.lexsort((rank[members], -end[members], start[members], run[members]))]
        first, second = ordered[:-1], ordered[1:]
        meet = (run[first] == run[second]) & (scope[first] != scope[second])
        meet &= (start[second] < end[first]) & (end[second] != NEVER)
        pairs = list(zip(first[meet].tolist(), second[meet].tolist(), strict=True))
        if not pairs:
            continue
        spans = _spans(columns, np.unique(np.array(pairs)))
        for outer, inner in pairs:
            free = outer not in into and inner not in into and above[inner] != outer
            if free and _one_record(code, spans[outer], spans[inner]):
                into[outer] = inner


def _one_record(code: int, one: _Span, other: _Span) -> bool:
    if code == LLM:
        return one.response_id is not None and one.response_id == other.response_id
    same_id = one.call_id is not None and one.call_id == other.call_id
    return same_id and one.tool == other.tool
