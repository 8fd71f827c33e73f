"""Which spans may be calls of a tool, although nothing says that they are?

Some instrumentors trace any function that is decorated, and call it a tool only where the program
says so: Langfuse's `@observe()`, `mlflow.trace`, Traceloop's `@task`, a chain of OpenInference.

1. Such a span has an input or an output (a function may return nothing, or fail), no kind that
   makes it a step, and no step below it.
2. It may be a call of the tool of its name, and of no other; so may a span that names a tool among
   its attributes (`tool.name`), with or without input and output, of that tool. Where a step of the
   run has that tool, the run tells its calls, and the span is what stands around one.
3. So may what a model answered, where no message was read from it and an object in it bears a name
   beside arguments: of any tool that it names (`names_held`).
4. So may a call that stands in the arguments of another, in a list of them
   (`multi_tool_use.parallel`) or for a tool that calls others (`call_tool`), unless a step of the
   run has its tool and arguments.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import SCOPE_NAME, GapName, Operation
from trackway_analyzer.dialects.call_like import exchange_like, is_surely_a_call
from trackway_analyzer.dialects.provider_calls import Asked
from trackway_analyzer.dialects.values import json_of
from trackway_analyzer.json_text import canonical
from trackway_analyzer.model import MORE_NAMES, NAMES_PARTED, JsonValue
from trackway_analyzer.read.names_held import ANY, last_part, names_held
from trackway_analyzer.read.unread_forms import tells_of_a_call
from trackway_analyzer.reconstruct.columns import LLM, NONE, Ints, Mask, SpanColumns
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap
from trackway_analyzer.reconstruct.messages import quickly_parsed
from trackway_analyzer.reconstruct.tree import Tree

_TELLING: Final = (
    r'"(langfuse\.observation\.(input|output)|mlflow\.span(Inputs|Outputs)'
    r"|traceloop\.entity\.(input|output)|(input|output)\.value|gen_ai\.(prompt|completion))"
    r'":\s*[^n\s]'
)
"""An input or an output among the attributes, that is not null."""
_NAMING: Final = r'"tool[._]name":\s*"(?P<tool>[^"\\]+)"'
"""The name of a tool among the attributes of a span that somebody wrote by hand."""
_KINDS: Final = (".task", ".tool")
_MOST: Final = 200
_DEEPEST: Final = 1000


def gaps_of_possible_calls(evidence: Evidence) -> Found:
    """One gap for the spans of a run that may be calls, with their names."""
    columns, run = evidence.columns, evidence.run
    other = pc.equal(columns.array("operation"), Operation.OTHER.value).fill_null(False)
    ours = pc.equal(columns.array("source"), SCOPE_NAME).fill_null(False)
    flags: Mask = other.to_numpy(zero_copy_only=False) & ~ours.to_numpy(zero_copy_only=False)
    flags = flags & (run != NONE)
    rows = np.flatnonzero(flags & ~_above_steps(columns, evidence.tree))
    attributes = columns.array("attributes").take(pa.array(rows))
    named = pc.struct_field(pc.extract_regex(attributes, _NAMING), "tool")
    own = pc.coalesce(columns.array("tool").take(pa.array(rows)).cast(pa.string()), named)
    telling = _tell(attributes) & own.is_null().to_numpy(zero_copy_only=False)
    naming = own.is_valid().to_numpy(zero_copy_only=False)
    found = list(zip(run[rows[naming]].tolist(), own.drop_null().to_pylist(), strict=True))
    rows = rows[telling]
    found += zip(run[rows].tolist(), columns.values("name", rows), strict=True)
    found += _unread_answers(columns, run)
    found += _inner_calls(evidence.steps)
    known = _tools(evidence) if found else set()
    names: dict[int, dict[str, int]] = defaultdict(dict)
    for number, name in found:
        bare = _bare(name or "")
        if bare and (number, bare) not in known:
            names[number][bare] = names[number].get(bare, 0) + 1
    for number, counted in sorted(names.items()):
        listed = [*sorted(counted)[:_MOST], *([MORE_NAMES] if len(counted) > _MOST else [])]
        detail = NAMES_PARTED.join(name.replace(NAMES_PARTED, " ") for name in listed)
        yield number, gap(GapName.POSSIBLE_CALLS, sum(counted.values()), detail=detail)


def _above_steps(columns: SpanColumns, tree: Tree) -> Mask:
    """Where a span has a step below it, or an agent."""
    above = np.zeros(len(columns), dtype=bool)
    rows: Ints = np.flatnonzero(columns.is_step | columns.is_agent)
    for _ in range(_DEEPEST):
        rows = tree.parent[rows]
        rows = np.unique(rows[rows != NONE])
        rows = rows[~above[rows]]
        if not len(rows):
            break
        above[rows] = True
    return above


def _tell(attributes: pa.Array) -> Mask:
    """Where an input or an output stands among the attributes."""
    told = pc.match_substring_regex(attributes, _TELLING).fill_null(False)
    found: Mask = told.to_numpy(zero_copy_only=False)
    return found


def _unread_answers(columns: SpanColumns, run: Ints) -> Iterator[tuple[int, str]]:
    """Return run and name of the tools that answers of models name of which nothing was read."""
    silent: Mask = (columns.operation == LLM) & (run != NONE)
    rows = np.flatnonzero(silent)
    unread = columns.array("output").take(pa.array(rows)).is_null()
    rows = rows[unread.to_numpy(zero_copy_only=False)]
    rows = rows[_tell(columns.array("attributes").take(pa.array(rows)))]
    for number, text in zip(run[rows].tolist(), columns.values("attributes", rows), strict=True):
        attributes = quickly_parsed(text)
        told = attributes if isinstance(attributes, dict) else {}
        for key in _ANSWERS & told.keys():
            answer = json_of(told[key])
            if _asks(answer):
                named = names_held(answer)
                yield from ((number, MORE_NAMES if name == ANY else name) for name in named)


def _asks(value: JsonValue, depth: int = 0) -> bool:
    """Tell whether an object in a value bears a name beside arguments."""
    if depth > _MOST_NESTED:
        return True
    if isinstance(value, dict):
        keys = value.keys()
        if not (keys.isdisjoint(_NAMES) or keys.isdisjoint(_GIVEN)) or tells_of_a_call(value):
            return True
        return any(_asks(each, depth + 1) for each in value.values())
    return isinstance(value, list) and any(_asks(each, depth + 1) for each in value)


def _inner_calls(steps: pa.Table) -> Iterator[tuple[int, str]]:
    """Return run and name of the tools of the calls that stand in the arguments of calls."""
    given = steps.column("arguments").combine_chunks()
    told = pc.match_substring_regex(given, _INNER).fill_null(False)
    rows = np.flatnonzero(told.to_numpy(zero_copy_only=False))
    if not len(rows):
        return
    made = {
        (run, last_part(tool or ""), text)
        for run, tool, text in zip(
            *(steps.column(name).to_pylist() for name in ("run", "tool", "arguments")), strict=True
        )
    }
    columns = (steps.column(name).take(pa.array(rows)).to_pylist() for name in ("run", "tool"))
    texts = given.take(pa.array(rows)).to_pylist()
    for run, tool, text in zip(*columns, texts, strict=True):
        for call in _listed_calls(quickly_parsed(text), _CALLER.search(tool or "") is not None):
            name = last_part(str(call.name))
            if (run, name, canonical(call.arguments)) not in made:
                yield run, name


def _listed_calls(value: JsonValue, by_itself: bool, depth: int = 0) -> Iterator[Asked]:
    """Return the calls in a list, or what is one by itself where that is wanted."""
    if isinstance(value, list):
        for each in value:
            yield from _listed_calls(each, by_itself=True, depth=depth)
    elif isinstance(value, dict) and depth < _DEEPEST_CALL:
        found = exchange_like(value) if by_itself and is_surely_a_call(value) else None
        if found is not None and found.asked is not None and found.asked.name is not None:
            yield found.asked
            return
        for each in value.values():
            yield from _listed_calls(each, by_itself=by_itself and depth == 0, depth=depth + 1)


_INNER: Final = r'"(?:name|tool|tool_?[nN]ame|function_?[nN]ame|recipient_name)":'
_CALLER: Final = re.compile(r"(?:call|use|run|invoke|execute)_?(?:\w*_)?(?:tool|function)", re.I)
_DEEPEST_CALL: Final = 8


_ANSWERS: Final = frozenset(
    [
        *("langfuse.observation.output", "mlflow.spanOutputs", "traceloop.entity.output"),
        *("output.value", "gen_ai.completion", "gen_ai.output.messages"),
    ]
)
_NAMES: Final = ("name", "tool", "tool_name", "action", "function")
_GIVEN: Final = (
    *("arguments", "args", "kwargs", "parameters", "params", "input"),
    *("action_input", "tool_input", "tool_args"),
)
_MOST_NESTED: Final = 64


def _tools(evidence: Evidence) -> set[tuple[int, str]]:
    """Return run and tool of the steps, under each name of the tool."""
    steps = evidence.steps
    run = steps.column("run").to_pylist()
    columns = (steps.column(name).to_pylist() for name in ("tool", "tool_alias"))
    return {
        (number, _bare(name))
        for column in columns
        for number, name in zip(run, column, strict=True)
        if name
    }


def _bare(name: str) -> str:
    for kind in _KINDS:
        name = name.removesuffix(kind)
    return name
