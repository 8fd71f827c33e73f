"""What do earlier calls, and the user, offer to an argument?

A source is a tool with a path (`lookup_order.id`), a tool, an entity type, or the user's input. It
speaks of calls that succeeded in an earlier turn; whether an order or a success is hidden, and
whether the value may stand in what was not recorded, is said with the gap that hides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.entities import established
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.source_path import source_path
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.rules.told import Text, hidden_input, told
from trackway_analyzer.rules.tools import MUTATE, NOTIFY
from trackway_analyzer.rules.values import members, reader, same

INPUT: Final = "input"


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether a value stands at a source, and where."""

    holds: bool | Hidden
    source: int | None = None
    """Row that the value came from; None: the user's input."""


def is_type(evidence: Evidence, name: str) -> bool:
    """Whether a name is that of an entity type and of no tool."""
    return name in evidence.entity_types and name not in evidence.tools


def calls_of(evidence: Evidence, row: int, source: str | None) -> list[int]:
    """Calls of the run that a source speaks of, other than the call itself."""
    calls = [call for call in evidence.calls(evidence.run[row]) if call != row]
    if source is None:
        return calls
    name, path = resolved(evidence, source)
    if path == "$" and is_type(evidence, name):
        return [
            call
            for call in calls
            if evidence.kind[call] not in (MUTATE, NOTIFY)
            and evidence.spec_of(call).entity.type == name
        ]
    return [call for call in calls if evidence.tool[call] == name]


def resolved(evidence: Evidence, source: str) -> tuple[str, str]:
    """A tool whose name has dots may stand without quotes where it is known."""
    if source in evidence.tools or source in evidence.entity_types:
        return source, "$"
    return source_path(source)


def candidates(evidence: Evidence, call: int, source: str | None) -> list[JsonValue]:
    """Values that a call offers to a source."""
    result = evidence.result(call)
    if source is not None:
        name, path = resolved(evidence, source)
        if path == "$" and is_type(evidence, name):
            return list(established(evidence, call).values)
        if path != "$":
            return [] if isinstance(result, Hidden) else reader(path)(result.value)
    return [] if isinstance(result, Hidden) else [v for _, _, v in members(result.value)]


def in_source(evidence: Evidence, row: int, value: JsonValue, source: str | None) -> Seen:
    """Look for a value at a source, the latest call first; None: anywhere in results."""
    run = evidence.run[row]
    if source == INPUT:
        if any(text.holds(value) for text in told(evidence, run, row)):
            return Seen(True)
        return Seen(hidden_input(evidence, run) or False)
    hidden: Hidden | None = None
    for call in reversed(calls_of(evidence, row, source)):
        in_order, answered = evidence.earlier(call, row), evidence.found(call)
        if in_order is False or answered is False:
            continue
        offered = _offers(evidence, call, source, value)
        if offered is False:
            continue
        if offered is True and in_order is True and answered is True:
            return Seen(True, call)
        unknown = next((x for x in (in_order, offered) if isinstance(x, Hidden)), None)
        hidden = hidden or unknown or Hidden(NOT_RECORDED_GAP, evidence.position(call))
    position = evidence.position(row)
    return Seen(hidden or evidence.hides_step(run, before=position) or False)


def _offers(evidence: Evidence, call: int, source: str | None, value: JsonValue) -> bool | Hidden:
    offered = candidates(evidence, call, source)
    if any(same(item, value) for item in offered):
        return True
    result = evidence.result(call)
    if not isinstance(result, Hidden):
        text = result.value
        if isinstance(text, str) and text in offered and Text(text, "tool").holds(value):
            return True
        return result.cut or result.hides(*offered) or False
    refs = established(evidence, call)  # survive where content is off, and tell ids alone
    name, path = ("", "$") if source is None else resolved(evidence, source)
    if path not in ("$", evidence.spec_of(call).entity.result):
        return result
    if refs.has(value) or refs.has(str(value)):
        return True
    return False if refs.values and is_type(evidence, name) else result
