"""Which values do the steps of a run lack? Rules 7, 9, 10, 11 and, for steps, 6 of `gaps`."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import GapName, Operation
from trackway_analyzer.reconstruct.columns import Mask
from trackway_analyzer.reconstruct.effect import took_effect
from trackway_analyzer.reconstruct.faults import unjudged_steps
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap, of_steps, places
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.reconstruct.streamed import left_early_steps, returning_steps
from trackway_analyzer.spans import NO_TIME

_LEFT_EARLY: Final = "result: its stream was left before its end"
_ANOTHER_S_WORDS: Final = "result: what a person answered to the wait stands in its place"


def gaps_of_values(evidence: Evidence) -> Found:
    """Values that steps lack."""
    steps = evidence.steps
    operation = steps.column("operation").combine_chunks()
    is_tool = pc.equal(operation, Operation.TOOL.value).to_numpy(zero_copy_only=False)
    is_model = pc.equal(operation, Operation.LLM.value).to_numpy(zero_copy_only=False)
    spanned = ~steps.column("synthesised").to_numpy()
    bare = {
        name: steps.column(name).combine_chunks().is_null().to_numpy(zero_copy_only=False)
        for name in ("arguments", "result", "input", "output", "end", "ok")
    }
    off = (is_tool & bare["arguments"] & bare["result"], is_model & bare["input"] & bare["output"])
    for kind, silent, word in ((is_tool, off[0], "tool calls"), (is_model, off[1], "model calls")):
        yield from of_steps(evidence, GapName.CONTENT_OFF, silent, of=kind, detail=word)
    unfinished = spanned & bare["end"] & ~_end_unknown(evidence)
    executed = spanned & is_tool & ~unfinished
    for name in ("arguments", "result"):
        lacking = executed & bare[name] & ~off[0]
        if name == "result":
            lacking &= ~_failed(steps)
        yield from of_steps(evidence, GapName.MISSING_VALUE, lacking, of=executed, detail=name)
    given = executed & ~bare["result"] & ~unjudged_steps(evidence)
    left = left_early_steps(evidence)
    yield from of_steps(
        evidence, GapName.MISSING_VALUE, given & left & bare["ok"], detail=_LEFT_EARLY
    )
    answered = _answered_by_a_person(steps, given & ~left & ~returning_steps(evidence))
    yield from of_steps(evidence, GapName.MISSING_VALUE, answered, detail=_ANOTHER_S_WORDS)
    yield from of_steps(evidence, GapName.UNFINISHED_SPAN, unfinished)
    yield from of_steps(evidence, GapName.UNPARSABLE_ARGUMENTS, _unparsable(steps, is_tool))
    truncated = steps.column("truncated").combine_chunks()
    lengths = pc.list_value_length(truncated).fill_null(0).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(lengths)
    for (run, position), fields in zip(
        places(steps, rows), truncated.take(pa.array(rows)).to_pylist(), strict=True
    ):
        detail = ", ".join(sorted(fields))
        yield run, gap(GapName.TRUNCATED_VALUE, len(fields), position, detail)


def _answered_by_a_person(steps: pa.Table, called: Mask) -> Mask:
    """Calls whose result says that they took effect, and of which a resume left it open."""
    unknown = steps.column("ok").combine_chunks().is_null().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(called & unknown)
    flags = np.zeros(len(steps), dtype=bool)
    names = ("result", "kind", "tool")
    values = (steps.column(name).take(pa.array(rows)).to_pylist() for name in names)
    for row, result, kind, tool in zip(rows.tolist(), *values, strict=True):
        flags[row] = bool(took_effect(result, kind, raised=False, tool=tool))
    return flags


def _failed(steps: pa.Table) -> Mask:
    errors = (steps.column(name).combine_chunks() for name in ("error_type", "error_message"))
    masks = [error.is_valid().to_numpy(zero_copy_only=False) for error in errors]
    failed: Mask = masks[0] | masks[1]
    return failed


def _end_unknown(evidence: Evidence) -> Mask:
    """Steps that ended at a time which the source does not hold."""
    columns, steps = evidence.columns, evidence.steps
    rows = np.flatnonzero((columns.end == NO_TIME) & columns.is_step)
    if not len(rows):
        return np.zeros(len(steps), dtype=bool)
    ended = set(zip(evidence.run[rows].tolist(), columns.values("span_id", rows), strict=True))
    names = ("run", "span_id")
    own = zip(*(steps.column(name).to_pylist() for name in names), strict=True)
    return np.fromiter((place in ended for place in own), dtype=bool, count=len(steps))


def _unparsable(steps: pa.Table, is_tool: Mask) -> Mask:
    """Arguments that are a text which holds names and values, and is no object as a whole."""
    texts = steps.column("arguments").combine_chunks()
    doubtful = pc.match_substring_regex(texts, _ONE_TEXT).fill_null(False)
    rows = np.flatnonzero(doubtful.to_numpy(zero_copy_only=False) & is_tool)
    flags = np.zeros(len(steps), dtype=bool)
    flags[rows] = [_is_unparsed(text) for text in texts.take(pa.array(rows)).to_pylist()]
    return flags


_ONE_TEXT: Final = (
    r'^\s*(?:[{\[]|"\s*[{\[])|^"|^\{"(?:input|args|arguments|kwargs|params|tool_input)":"'
)
"""A text, or the only member that stands for all arguments (`rules.positional`)."""
_NAMED: Final = re.compile(
    r"\s*(?:[{\[]|```|<(\w+)>.*</\1>|[A-Za-z_]\w*\s*=\s*\S+\s*\Z"
    r"|[A-Za-z_]\w*\s*[=:][^,;&\n]+[,;&\n]\s*[A-Za-z_]\w*\s*[=:])",
    re.DOTALL,
)
"""Names and values in a text: JSON, a fence around it, tags, `id=7, force=true`."""


def _is_unparsed(text: str) -> bool:
    value = quickly_parsed(text)
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return isinstance(value, str) and _NAMED.match(value) is not None
