"""What a diff compares: the executed tool calls of a run, each with what alignment looks at.

1. Calls that one model turn asked for share a rank: they are unordered.
2. The kind of a tool is the declared one, else what either record says; where the records
   disagree, the one with the gravest consequences (mutate, other, notify, lookup). Whether a call
   took effect is settled as for rules: by the declared `success`, else by `happened`.
3. A mask is a JSONPath; what it selects in the arguments or the result of the tool is not
   compared. Under `arguments` or `result` it holds for that side only, under the tool `*` for every
   tool.
4. The ids by which the record itself knows a call (`call_id`, `operation_id`) are not compared,
   also where they are passed under a name such as `idempotency_key`. Under any other name they are:
   a key made from an order id must not hide the wrong order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import jsonpath

from trackway.schema import StepKind
from trackway_analyzer.diff.values import NOTHING, Leaf, Location, Mentions, leaves, mentions
from trackway_analyzer.model import JsonValue, NotRecorded, Step, Trajectory
from trackway_analyzer.rules.rule import evidence_of
from trackway_analyzer.rules.tools import Tools, ToolSpec, merged_tools
from trackway_analyzer.rules.values import reader

ANY_TOOL: Final = "*"
SIDES: Final = ("arguments", "result")

Sides = Mapping[str, Sequence[str]]
Masks = Mapping[str, Sequence[str] | Sides]
"""Tool or `*` → paths, or `arguments` and `result` → paths."""
Leaves = frozenset[tuple[Location, Leaf]]

_CALL_ID: Final = re.compile(
    r"idempoten|operation|request|call|correlation|dedup|token", re.IGNORECASE
)
_GRAVEST_FIRST: Final = (StepKind.MUTATE, StepKind.OTHER, StepKind.NOTIFY, StepKind.LOOKUP)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One executed tool call."""

    step: Step
    rank: int
    """Ordinal of the call's parallel group."""
    tool: str
    kind: str | None
    content: str = field(repr=False)
    """The whole call as text: a fixed order for calls that have none."""
    masked: frozenset[Location] = field(repr=False)
    """Places in the arguments that are not compared."""
    masked_result: frozenset[Location] = field(repr=False)
    argument_leaves: Leaves | None = field(repr=False)
    """None: the arguments are not recorded."""
    entity: frozenset[Location] = field(repr=False)
    """Places in the arguments that are declared to name the thing that the call is about."""
    given: Mentions = field(repr=False)
    """Identifiers and numbers of the arguments."""
    answered: Mentions = field(repr=False)
    """Identifiers and numbers of the result."""

    @property
    def may_mutate(self) -> bool:
        """Whether the call changes data as far as anybody said."""
        return self.kind not in (StepKind.LOOKUP, StepKind.NOTIFY)

    @property
    def number(self) -> int:
        """The step as a person counts it, from 1."""
        return self.step.number


class Masked:
    """Masks, compiled. Raises ValueError for a path that is no JSONPath and for an unknown side."""

    def __init__(self, masks: Masks | None) -> None:
        self._queries: dict[tuple[str, str], list[jsonpath.JSONPath]] = {}
        for tool, given in (masks or {}).items():
            sides = given if isinstance(given, Mapping) else dict.fromkeys(SIDES, given)
            for side, paths in sides.items():
                if side not in SIDES:
                    raise ValueError(f"masks[{tool!r}]: expected one of {SIDES}, found {side!r}")
                if isinstance(paths, str):
                    raise ValueError(f"masks[{tool!r}]: expected a list of paths, found {paths!r}")
                self._queries[tool, side] = [compiled_path(path) for path in paths]

    def places(self, tool: str, side: str, value: JsonValue | NotRecorded) -> frozenset[Location]:
        """Locations of the arguments or the result of this tool that are not compared."""
        if not self._queries:
            return frozenset()
        queries = (q for name in (tool, ANY_TOOL) for q in self._queries.get((name, side), ()))
        return frozenset(location for query in queries for location in selected(query, value))


def compiled_path(path: str) -> jsonpath.JSONPath:
    """Compile an RFC 9535 path; raises ValueError that quotes it."""
    try:
        compiled = jsonpath.compile(path)
    except jsonpath.JSONPathError as error:
        raise ValueError(f"expected a JSONPath such as $.id, found {path!r}: {error}") from error
    if not isinstance(compiled, jsonpath.JSONPath):
        raise ValueError(f"expected one JSONPath, found the compound {path!r}")
    return compiled


def selected(query: jsonpath.JSONPath, value: JsonValue | NotRecorded) -> list[Location]:
    """Locations that a path selects in a value."""
    if not isinstance(value, (Mapping, list)):
        return []
    return [tuple(match.parts) for match in query.finditer(value)]


def settled_tools(
    runs: Sequence[Trajectory], tools: Tools | None, kinds: Mapping[str, str] | None
) -> dict[str, ToolSpec]:
    """What is declared of tools, with the kind that the runs record where nobody declared one.

    Raises ValueError for a kind that is none, or that is said to be two things.
    """
    for tool, kind in (kinds or {}).items():
        if kind not in set(StepKind):
            known = [known.value for known in StepKind]
            raise ValueError(f"kinds[{tool!r}]: expected one of {known}, found {kind!r}")
    specs = merged_tools(
        tools or {}, {tool: ToolSpec(kind) for tool, kind in (kinds or {}).items()}
    )
    said: dict[str, set[str]] = {}
    for run in runs:
        for step in run.tool_steps:
            if step.kind is not None:
                said.setdefault(step.tool or "", set()).add(step.kind)
    for tool, recorded in said.items():
        spec = specs.get(tool, ToolSpec())
        specs[tool] = replace(spec, kind=spec.kind or _gravest(recorded))
    return specs


def _gravest(kinds: set[str]) -> str:
    for kind in _GRAVEST_FIRST:
        if kind in kinds:
            return kind
    return min(kinds)


def calls_of(run: Trajectory, tools: Tools, masked: Masked) -> list[Call]:
    """The executed tool calls of a run in order, those of one group in a fixed order."""
    settled = evidence_of(run, tools).batch.trajectory(0)
    ranks: dict[int, int] = {}
    calls = []
    for step in settled.tool_steps:
        rank = ranks.setdefault(step.group, len(ranks))
        calls.append(_call(step, rank, tools.get(step.tool or "", ToolSpec()), masked))
    return sorted(calls, key=lambda call: (call.rank, call.content))


def _call(step: Step, rank: int, spec: ToolSpec, masked: Masked) -> Call:
    tool = step.tool or ""
    arguments, result = step.arguments, step.result
    places = masked.places(tool, "arguments", arguments) | _own_ids(step)
    recorded = not isinstance(arguments, NotRecorded)
    return Call(
        step=step,
        rank=rank,
        tool=tool,
        kind=spec.kind,
        content=f"{tool} {_text(arguments)} {step.ok} {_text(result)}",
        masked=places,
        masked_result=masked.places(tool, "result", result),
        argument_leaves=frozenset(leaves(arguments, places).items()) if recorded else None,
        entity=_entity(step, spec),
        given=_given(step, spec),
        answered=NOTHING if isinstance(result, NotRecorded) else mentions(result),
    )


def _own_ids(step: Step) -> frozenset[Location]:
    own = {("text", value) for value in (step.call_id, step.operation_id) if value}
    if not own or isinstance(step.arguments, NotRecorded):
        return frozenset()
    found = leaves(step.arguments).items()
    return frozenset(at for at, leaf in found if leaf in own and _CALL_ID.search(str(at[-1:])))


def _entity(step: Step, spec: ToolSpec) -> frozenset[Location]:
    argument = spec.entity.argument
    if argument is None:
        return frozenset()
    query = compiled_path(argument if argument.startswith("$") else f"$.{argument}")
    return frozenset(selected(query, step.arguments))


def _given(step: Step, spec: ToolSpec) -> Mentions:
    found = NOTHING if isinstance(step.arguments, NotRecorded) else mentions(step.arguments)
    if spec.entity.argument is not None and not isinstance(step.arguments, NotRecorded):
        named = reader(spec.entity.argument)(step.arguments)
        found = Mentions(found.identifiers | {str(value) for value in named}, found.numbers)
    entities = frozenset(ref.partition(":")[2] or ref for ref in step.entity_refs)
    return Mentions(found.identifiers | entities, found.numbers)


def _text(value: JsonValue | NotRecorded) -> str:
    return (
        repr(value)
        if isinstance(value, NotRecorded)
        else repr(sorted(leaves(value).items(), key=repr))
    )
