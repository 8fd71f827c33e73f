"""Was each thing that a call failed on made up for?

1. What a call is about is known where its tool is declared to be about an entity
   (`entity: {argument: order_id}`), else by an operation id among its own arguments.
2. A failed call about a thing is made up for by a later successful call about the same thing, or
   about a thing that is not known or of another type. A call with the same operation id is about
   the same, and one that asks for the same under another id.
3. Calls about nothing known are judged by tool alone (`status.Recovered`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.entities import fits, subjects, things
from trackway_analyzer.rules.evidence import OPERATION_ARGUMENTS, Evidence
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.tools import MUTATE, Tools
from trackway_analyzer.rules.values import frozen


class Subject(NamedTuple):
    """What a call is about."""

    name: str
    """The argument that names it."""
    values: dict[Hashable, JsonValue]


class Unmade(NamedTuple):
    """A failed call that nothing made up for, or nobody knows whether anything did."""

    row: int
    subject: str
    value: JsonValue
    hidden: Hidden | None = None


_NOTHING: Final = Subject("", {})


def arguments_about(tools: Tools, tool: str) -> Sequence[str]:
    """Arguments of a tool that may say what a call is about."""
    argument = tools[tool].entity.argument if tool in tools else None
    return OPERATION_ARGUMENTS if argument is None else (argument,)


def subject_of(evidence: Evidence, row: int) -> Subject | Hidden:
    """What a call is about; without values where nobody says."""
    argument = evidence.spec_of(row).entity.argument
    if argument is not None:
        named = subjects(evidence, row, argument)
        if isinstance(named, Hidden):
            return named
        return Subject(argument, {frozen(value): value for value in things(named)})
    source = evidence.arguments(row)
    if evidence.kind[row] not in (MUTATE, None) or not isinstance(source, Source):
        return _NOTHING
    if isinstance(source.value, dict):
        for name in OPERATION_ARGUMENTS:
            key = source.value.get(name)
            if key is not None and source.hides(key) is None:
                return Subject(name, {frozen(key): key})
    return _NOTHING


def unmade(
    evidence: Evidence, run: int, wanted: Callable[[str | None], bool], by: Iterable[str]
) -> Unmade | None:
    """Find the first failed call of a wanted tool, about a known thing, that nothing mended."""
    calls = evidence.calls(run)
    unknown: Unmade | None = None
    for row in calls:
        if not wanted(evidence.tool[row]) or evidence.succeeded(row) is not False:
            continue
        subject = subject_of(evidence, row)
        amends = [c for c in calls if c > row and evidence.tool[c] in (evidence.tool[row], *by)]
        values = {None: None} if isinstance(subject, Hidden) else subject.values
        for key, value in values.items():
            made = _made_up_for(evidence, row, subject, key, amends)
            if made is True:
                continue
            name = "" if isinstance(subject, Hidden) else subject.name
            if made is False:
                return Unmade(row, name, value)
            unknown = unknown or Unmade(row, name, value, made)
    return unknown


def _made_up_for(
    evidence: Evidence, row: int, subject: Subject | Hidden, key: Hashable, amends: list[int]
) -> bool | Hidden:
    hidden = subject if isinstance(subject, Hidden) else None
    for other in amends:
        in_order, succeeded = evidence.earlier(row, other), evidence.succeeded(other)
        if in_order is False or succeeded is False:
            continue
        about = subject_of(evidence, other)
        if isinstance(about, Hidden):
            hidden = hidden or about
        elif _fits(evidence, row, other, subject, key, about):
            if in_order is True and succeeded and not isinstance(subject, Hidden):
                return True
            unsure = in_order if isinstance(in_order, Hidden) else None
            hidden = hidden or unsure or evidence.why_unknown(other)
    tools = {evidence.tool[row] or "", *(evidence.tool[other] or "" for other in amends)}
    after = evidence.position(row)
    return hidden or evidence.hides_step(evidence.run[row], after=after, tools=tools) or False


def _fits(
    evidence: Evidence,
    row: int,
    other: int,
    subject: Subject | Hidden,
    key: Hashable,
    about: Subject,
) -> bool:
    """Whether a call may be about a thing of another."""
    if isinstance(subject, Hidden) or not about.values or key in about.values:
        return True
    one, two = (evidence.spec_of(call).entity.type for call in (row, other))
    if (subject.name in OPERATION_ARGUMENTS) is not (about.name in OPERATION_ARGUMENTS):
        return True
    if not fits(one, two) or _same_aside_from_operation(evidence, row, other):
        return True
    operation = evidence.operation(row)
    return operation is not None and operation == evidence.operation(other)


def _same_aside_from_operation(evidence: Evidence, row: int, other: int) -> bool:
    """Whether two calls of one tool ask for the same under different operation ids."""
    asked = []
    for call in (row, other):
        source = evidence.arguments(call)
        if isinstance(source, Hidden) or not isinstance(source.value, dict):
            return False
        asked.append({k: v for k, v in source.value.items() if k not in OPERATION_ARGUMENTS})
    return asked[0] == asked[1] != {} and evidence.tool[row] == evidence.tool[other]
