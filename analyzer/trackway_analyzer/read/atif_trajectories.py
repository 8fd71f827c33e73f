"""ATIF trajectories, versions 1.0 to 1.8, as spans.

1. A trajectory is one trace: an agent span, a model span for each agent step, a tool span for each
   call that was answered. A call without an answer was asked for and not run.
2. A result without `source_call_id` answers the calls of its step in their order; the span then has
   no call id, for nobody wrote one.
3. A step that says `llm_call_count` 0 has no model span. Steps of copied context are no steps; they
   are what the next model turn was told. So is what the system and the user say.
4. A sub-agent's trajectory stands below the call that refers to it, else below the agent; a
   continuation goes on with the same agent. Both may lie in other files (`atif_references`). One
   that is named and not there is a hole of the run; so are steps that numbers or a count tell of,
   and copied calls that no trajectory of the source made.
5. Times are the steps' own; where there is none, none is made up. The order is that of the steps.
6. What has no place in a span stays in attributes under `atif.`.
7. A result that answers no call of its step is heard by the next turn, and put aside, unless it
   only refers to a sub-agent: nobody says what was carried out. So is what looks like a call where
   none is expected. A version that is not known is read all the same, and told of.
8. A trajectory whose list of steps is empty is a run without steps; one without that list is put
   aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from trackway_analyzer.dialects.values import text
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.atif_agents import (
    about,
    about_continuation,
    missing_numbers,
    subagents_of,
    total_steps_of,
)
from trackway_analyzer.read.atif_references import (
    MOST_STEPS,
    Held,
    References,
    references_in,
    references_of,
    shown,
)
from trackway_analyzer.read.atif_steps import (
    Object,
    answer,
    calls_of_step,
    content,
    holds_calls_elsewhere,
    id_of,
    left,
    list_of,
    paired,
    results_of_step,
    turn_of_step,
)
from trackway_analyzer.read.foreign_values import made_id, time_of
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_spans import SessionSpans
from trackway_analyzer.spans import RawSpan

_VERSION: Final = "ATIF-v"
_KNOWN: Final = frozenset(f"ATIF-v1.{minor}" for minor in range(9))
_MAX_DEPTH: Final = 32
_SHOWN: Final = 32


def atif_trajectories(document: Any) -> list[Any] | None:
    """Return the trajectories of a document; None where it holds none."""
    items = document if isinstance(document, list) else [document]
    return items if any(map(_is_trajectory, items)) else None


def _is_trajectory(item: Any) -> bool:
    version = item.get("schema_version") if isinstance(item, dict) else None
    return isinstance(version, str) and version.startswith(_VERSION)


class Trajectories:
    """Trajectories that wait for those that name them."""

    def __init__(self) -> None:
        self._waiting: list[Held] = []
        self._quarantines: dict[Held, Quarantine] = {}
        self._put_aside: list[Quarantine] = []
        self._steps = 0

    def take(
        self, items: list[Any], quarantine: Quarantine, offset: int | None
    ) -> Iterator[RawSpan]:
        """Take in the trajectories of a document; return the spans of those that waited long."""
        for place, item in enumerate(items):
            if not _is_trajectory(item) or not isinstance(item.get("steps"), list):
                quarantine.add(Reason.BROKEN_SPAN, "a trajectory without steps", offset)
                continue
            if item["schema_version"] not in _KNOWN:
                detail = f"read as ATIF-v1.8: {item['schema_version'][:_SHOWN]}"
                quarantine.add(Reason.UNKNOWN_VERSION, detail, offset)
            held = Held(item, quarantine.file, offset, place)
            self._waiting.append(held)
            self._quarantines[held] = quarantine
            self._steps += len(item["steps"])
        if self._steps > MOST_STEPS:
            yield from self.rest()

    @property
    def quarantines(self) -> list[Quarantine]:
        """What was put aside of those that waited, a file each."""
        return self._put_aside

    def rest(self) -> Iterator[RawSpan]:
        """Return the spans of those that wait: first of those that nobody names."""
        waiting, self._waiting, self._steps = self._waiting, [], 0
        quarantines, self._quarantines = self._quarantines, {}
        self._put_aside += {id(each): each for each in quarantines.values()}.values()
        references = References.of(waiting)
        named = {
            id(found)
            for held in waiting
            for reference in references_of(held.item)
            if (found := references.named(reference, held)) is not None
        }
        keys: set[str] = set()
        made = cache(partial(_made_in, waiting))
        for held in sorted(waiting, key=lambda held: id(held) in named):
            if id(held) in references.used:
                continue
            references.used.add(id(held))
            quarantine = quarantines[held]
            key = _key(held, keys, quarantine)
            if key is not None:
                session = SessionSpans("atif", key)
                _Reading(session, references, quarantines, made).trajectory(held, held.item)
                yield from session.ended()


def _key(held: Held, keys: set[str], quarantine: Quarantine) -> str | None:
    """Return the trace id of a trajectory."""
    try:
        content_id = made_id(compact(held.item), digits=24)
    except UnencodableError as error:
        quarantine.add(Reason.TOO_DEEP, f"a trajectory {error}", held.offset)
        return None
    # The place first: runs without times come in the order of the file.
    key = f"{(held.offset or 0) + held.place & 0xFFFFFFFF:08x}{content_id}"
    unnamed = not any(id_of(held.item.get(name)) for name in ("session_id", "trajectory_id"))
    if key in keys and unnamed:
        key = key[:8] + made_id(held.file, content_id, digits=24)
    keys.add(key)
    return key


def _made_in(waiting: Iterable[Held]) -> frozenset[str]:
    """Return the calls that these trajectories and their sub-agents made themselves."""
    found: set[str] = set()
    items = [held.item for held in waiting]
    while items:
        item = items.pop()
        found |= _calls_in(item, copied=False)
        inner = list_of(item, "subagent_trajectories")
        items += [each for each in inner if isinstance(each, dict)]
    return frozenset(found)


def _calls_in(item: Object, *, copied: bool) -> set[str]:
    """Return the calls of the steps of a trajectory that are copies, or of those that are none."""
    return {
        _call_key(call)
        for step in list_of(item, "steps")
        if isinstance(step, dict) and (step.get("is_copied_context") is True) is copied
        for call in calls_of_step(step)[0]
    }


def _call_key(call: Object) -> str:
    """Return what a call and its copy have in common."""
    named = id_of(call.get("tool_call_id"))
    return named or made_id(text(call.get("function_name")), call.get("arguments"))


def atif_spans(items: list[Any], quarantine: Quarantine, offset: int | None) -> Iterator[RawSpan]:
    """Return the trajectories of one document as spans."""
    trajectories = Trajectories()
    yield from trajectories.take(items, quarantine, offset)
    yield from trajectories.rest()


@dataclass(slots=True)
class _Part:
    """A trajectory that is being put down, and the agent that it belongs to."""

    held: Held
    agent: Object
    head: str
    embedded: dict[str, Object]
    depth: int


class _Reading:
    """One trajectory, with its sub-agents and continuations, on its way into spans."""

    def __init__(
        self,
        session: SessionSpans,
        references: References,
        quarantines: dict[Held, Quarantine],
        made: Callable[[], frozenset[str]],
    ) -> None:
        """`made`: the calls that are no copies, in all trajectories of the source."""
        self._made = made
        self._session = session
        self._references = references
        self._quarantines = quarantines

    def trajectory(
        self, held: Held, item: Object, parent: str | None = None, depth: int = 0
    ) -> int:
        """Put a trajectory of a file down as spans below a span; return how many steps it has."""
        if depth > _MAX_DEPTH:
            detail = "sub-agents nested too deep"
            self._quarantines[held].add(Reason.TOO_DEEP, detail, held.offset)
            return 0
        agent = item.get("agent")
        agent = agent if isinstance(agent, dict) else {}
        parts = self._parts(held, item)
        steps = [step for _, part in parts for step in part["steps"] if isinstance(step, dict)]
        times = [time for step in steps if (time := time_of(step.get("timestamp"))) is not None]
        own = about(item, agent)
        own["atif.continuations"] = [about_continuation(part) for _, part in parts[1:]] or None
        head = self._session.agent(
            text(agent.get("name")) or "",
            own,
            parent,
            start=min(times, default=None),
            end=max(times, default=None),
        )
        count = sum(
            self._part(_Part(lying, agent, head, subagents_of(part), depth), part)
            for lying, part in parts
        )
        totals = [total_steps_of(part) for _, part in parts]
        if sum(totals[:1]) > count:
            self._session.hole(head, {"what": f"{totals[0] - count} of {totals[0]} steps"})
        copied = _calls_in(item, copied=True)
        if copied and parent is None and (unmade := copied - self._made()):
            what = f"the trajectory that {len(unmade)} copied calls come from"
            self._session.hole(head, {"what": what})
        following = parts[-1][1].get("continued_trajectory_ref")
        if id_of(following) is not None:
            self._session.hole(head, {"what": f"the continuation {shown(following)}"})
        return count

    def _parts(self, held: Held, item: Object) -> list[tuple[Held, Object]]:
        """Return a trajectory and those that continue it, as far as they are there."""
        parts = [(held, item)]
        while id_of(following := parts[-1][1].get("continued_trajectory_ref")) is not None:
            found = self._other(following, parts[-1][0])
            if found is None:
                break
            parts[-1] = (parts[-1][0], {**parts[-1][1], "continued_trajectory_ref": None})
            parts.append((found, found.item))
        return parts

    def _other(self, reference: Any, by: Held) -> Held | None:
        """Return the trajectory of another file that a reference names, once."""
        found = self._references.named(reference, by)
        if found is None or id(found) in self._references.used:
            return None
        self._references.used.add(id(found))
        return found

    def _part(self, part: _Part, item: Object) -> int:
        """Put down the steps of one trajectory; return how many there are, in sub-agents too."""
        steps = [step for step in item["steps"] if isinstance(step, dict)]
        if len(steps) < len(item["steps"]):
            self._broken(part, "a step must be an object", len(item["steps"]) - len(steps))
        if len(part.embedded) < len(list_of(item, "subagent_trajectories")):
            self._broken(part, "a sub-agent's trajectory without steps", 1)
        count = len(steps)
        for step in steps:
            count += self._step(part, step)
        for inner in part.embedded.values():
            count += self.trajectory(part.held, inner, part.head, part.depth + 1)
        lacking = missing_numbers(steps)
        if lacking:
            self._session.hole(part.head, {"what": f"the steps {lacking}"})
        return count

    def _step(self, part: _Part, step: Object) -> int:
        calls, unread = calls_of_step(step)
        if unread:
            self._broken(part, "a tool call must be an object", unread)
        results, unread = results_of_step(step)
        if unread:
            self._broken(part, "a result must be an object", unread)
        if holds_calls_elsewhere(step):
            self._broken(part, "what looks like a call where a step has none", 1)
        message = content(step.get("message"))
        copied = step.get("is_copied_context") is True
        if step.get("source") != "agent" or copied:
            return self._heard(part, step, message, calls, results)
        time = time_of(step.get("timestamp"))
        if step.get("llm_call_count") != 0:
            attributes = turn_of_step(step, part.agent, message, calls)
            self._session.model(part.head, attributes, start=time)
        elif message:
            self._session.hear(part.head, {"role": "assistant", "content": message})
        count = 0
        for call, result in paired(calls, results):
            if result is not None:
                span = self._session.tool(part.head, answer(call, result), start=time)
                count += self._referred(part, result, span)
        for result in left(calls, results):
            count += self._stray(part, result)
        return count

    def _referred(self, part: _Part, result: Object, span: str) -> int:
        """Put down the sub-agents that a result refers to, below a span."""
        count = 0
        for reference in references_in(result):
            told = reference if isinstance(reference, dict) else {}
            names = (id_of(told.get(key)) for key in ("trajectory_id", "session_id"))
            name = next((name for name in names if name in part.embedded), None)
            held, item = part.held, part.embedded.pop(name, None) if name is not None else None
            if item is None:
                found = self._other(reference, part.held)
                if found is None:
                    what = f"the sub-agent's trajectory {shown(reference)}"
                    self._session.hole(part.head, {"what": what})
                    continue
                held, item = found, found.item
            count += self.trajectory(held, item, span, part.depth + 1)
        return count

    def _heard(
        self, part: _Part, step: Object, message: JsonValue, calls: list[Any], results: list[Any]
    ) -> int:
        role = "assistant" if step.get("source") == "agent" else text(step.get("source")) or "user"
        said: Object = {"role": role, "content": message}
        copied = step.get("is_copied_context") is True
        if copied and (calls or results):
            # No calls of this trajectory: they are told, and nothing is to be made of them.
            beside = {"type": "copied_context", "calls": calls, "results": results}
            said = {"role": role, "parts": [{"type": "text", "content": message}, beside]}
        elif calls:
            self._broken(part, f"a call in a step of {role}", len(calls))
        self._session.hear(part.head, said)
        return 0 if copied else sum(self._stray(part, result) for result in results)

    def _stray(self, part: _Part, result: Object) -> int:
        """Let a result that answers no call of its step be heard."""
        if references_in(result) and id_of(result.get("source_call_id")) is None:
            if result.get("content") is not None:
                said = {"role": "user", "content": content(result.get("content"))}
                self._session.hear(part.head, said)
            return self._referred(part, result, part.head)
        self._broken(part, "a result that answers no call of its step", 1)
        said = {"role": "tool", "content": content(result.get("content"))}
        self._session.hear(part.head, said)
        return self._referred(part, result, part.head)

    def _broken(self, part: _Part, detail: str, count: int) -> None:
        quarantine = self._quarantines[part.held]
        quarantine.add(Reason.BROKEN_VALUE, detail, part.held.offset, count=count)
