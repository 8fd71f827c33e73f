"""A run that is put down as spans, message by message."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Final

import orjson

from trackway.schema import GenAI, Trackway
from trackway_analyzer.dialects.transcript import SCOPE, UNREAD, USER_CALL
from trackway_analyzer.dialects.values import number
from trackway_analyzer.json_text import canonical, compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.any_value import BrokenValueError, bounded
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_spans import all_kept
from trackway_analyzer.read.source import STDIN
from trackway_analyzer.spans import NO_TIME, Attributes, Origin, RawSpan

KEPT: Final = "transcript."
"""What a record says beside its messages stands under this prefix on the agent span."""
SUCCESSFUL: Final = 1 - 1e-6
"""A reward from here on is a success, as tau-bench has it."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to."""

    call_id: str | None
    """None: the file does not say which call was answered."""
    tool: str | None
    arguments: JsonValue
    value: JsonValue
    failed: bool = False
    error_type: str | None = None
    by_user: bool = False
    """The simulated user made the call: it is no step of the agent."""
    start: int = NO_TIME
    end: int = NO_TIME
    attributes: Attributes = field(default_factory=dict)


def names_of(file: str) -> tuple[str, str]:
    """Return the names that tell a file from one of the same content: its folder's and its own.

    What stands behind the first dot is its format, in which nothing is told apart.
    """
    path = PurePath("" if file == STDIN else file)
    return path.parent.name, path.name.partition(".")[0]


class WrittenRun:
    """Spans of one run on their way: model turns and calls in the order of the transcript."""

    def __init__(
        self,
        kind: str,
        record: JsonValue,
        place: int,
        *,
        model: str | None = None,
        named: Sequence[str | None] = (),
    ) -> None:
        """Begin a run: of equal records, those that are `named` otherwise are other runs."""
        digest = hashlib.sha256(_one_form([*named, record] if any(named) else record)).hexdigest()
        # The place first: runs without times and ids come in the order of the file.
        self._trace = f"{place & 0xFFFFFFFF:08x}{digest[:24]}"
        self._origin = Origin(scope=f"{SCOPE}.{kind}")
        self._model = model
        self._spans: list[RawSpan] = []
        self._steps = 0
        self._heard: list[JsonValue] = []
        self._holes: dict[str, None] = {}
        self.called: set[str] = set()
        """Tools of which the messages hold a call."""
        self.names: set[str] = set()
        """Words beside the messages that may name a tool (`names_held`)."""

    def hole(self, what: str) -> None:
        """Note what the record holds of the run and nobody could read (`named_holes`)."""
        if len(self._holes) < _MOST_HOLES:
            self._holes[what] = None

    def hear(self, message: JsonValue) -> None:
        """Take in a message that the next model turn reads."""
        self._heard.append(message)

    def turn(
        self,
        messages: Sequence[JsonValue],
        attributes: Mapping[str, JsonValue] | None = None,
        *,
        start: int = NO_TIME,
        end: int = NO_TIME,
        aside: bool = False,
    ) -> None:
        """Put down what the assistant said: a model turn that read what was said before it.

        `aside`: the turn of another, who read something else.
        """
        own: Attributes = {
            GenAI.OPERATION_NAME: "chat",
            GenAI.OUTPUT_MESSAGES: list(messages),
            **self._step(),
        }
        if self._heard and not aside:
            own[GenAI.INPUT_MESSAGES] = self._heard
            self._heard = []
        if self._model is not None:
            own[GenAI.REQUEST_MODEL] = self._model
        self._add("chat", own | dict(attributes or {}), start, end)

    def result(self, result: Result) -> None:
        """Put down a call that was carried out."""
        own: Attributes = {
            GenAI.TOOL_CALL_ARGUMENTS: result.arguments,
            GenAI.TOOL_CALL_RESULT: result.value,
            GenAI.TOOL_CALL_ID: result.call_id,
        }
        if result.by_user:
            own |= {USER_CALL: result.tool or "", GenAI.OPERATION_NAME: "user_tool_call"}
        else:
            own |= {GenAI.OPERATION_NAME: "execute_tool", GenAI.TOOL_NAME: result.tool}
            own |= self._step()
        own |= result.attributes
        status, said = "UNSET", None
        if result.failed:
            own[GenAI.ERROR_TYPE] = result.error_type or "tool_error"
            status = "ERROR"
            said = result.value if isinstance(result.value, str) else None
        self._add(result.tool or "tool", own, result.start, result.end, status, said)

    def ended(
        self, attributes: Mapping[str, JsonValue], *, start: int = NO_TIME, end: int = NO_TIME
    ) -> list[RawSpan]:
        """Return the spans of the run, its agent span last, as a recorder would write it."""
        own: Attributes = {
            GenAI.OPERATION_NAME: "invoke_agent",
            Trackway.RUN_LAST_STEP: self._steps,
            **attributes,
        }
        if self._heard:
            own[UNREAD] = self._heard
        if self._holes:
            own[Trackway.HOLES] = [{"what": what} for what in self._holes]
        root = RawSpan(
            self._trace, _ROOT, "run", start, self._origin, all_kept(own), kind="INTERNAL", end=end
        )
        run_id = own.get(Trackway.RUN_ID)
        if run_id is None:
            return [*self._spans, root]
        for span in self._spans:
            span.attributes[Trackway.RUN_ID] = run_id
        return [*self._spans, root]

    def _step(self) -> Attributes:
        self._steps += 1
        return {Trackway.STEP_INDEX: self._steps}

    def _add(
        self,
        name: str,
        attributes: Attributes,
        start: int,
        end: int,
        status: str = "UNSET",
        said: str | None = None,
    ) -> None:
        self._spans.append(
            RawSpan(
                self._trace,
                f"{len(self._spans) + 2:016x}",
                name,
                start,
                self._origin,
                all_kept(attributes),
                _ROOT,
                "INTERNAL",
                end,
                status,
                said,
            )
        )


_ROOT: Final = f"{1:016x}"
_MOST_HOLES: Final = 100


def judged(reward: JsonValue) -> Attributes:
    """Return what a reward says of a run: 1 is a success; a missing one judges nothing."""
    value = 1.0 if reward is True else 0.0 if reward is False else number(reward)
    if value is None:
        return {}
    return {
        Trackway.OUTCOME_SUCCESS: value >= SUCCESSFUL,
        Trackway.OUTCOME_STATE: compact({"reward": value}),
    }


def kept(record: Mapping[str, JsonValue], known: Sequence[str]) -> Attributes:
    """Return what a record says beside its known keys, as attributes."""
    return {
        f"{KEPT}{key}": value
        for key, value in record.items()
        if key not in known and value is not None
    }


def task_and_trial(record: Mapping[str, JsonValue]) -> Attributes:
    """Return task id and trial of a record that has them under these names."""
    found: Attributes = {}
    task, trial = record.get("task_id"), record.get("trial")
    if isinstance(task, str | int) and not isinstance(task, bool) and task != "":
        found[Trackway.TASK_ID] = str(task)
    if isinstance(trial, int) and not isinstance(trial, bool):
        found[Trackway.TRIAL_INDEX] = trial
    return found


def note_no_task(
    record: Mapping[str, JsonValue], quarantine: Quarantine, offset: int | None
) -> None:
    """Put aside that a benchmark's run names no task: its reward is of nothing."""
    if Trackway.TASK_ID not in task_and_trial(record):
        detail = "a benchmark's run without task_id: its reward is of no task"
        quarantine.add(Reason.NO_TASK_ID, detail, offset)


def nanoseconds(value: JsonValue) -> int:
    """Return an ISO 8601 time in ns; one without a zone is taken for UTC. `NO_TIME`: none."""
    if not isinstance(value, str):
        return NO_TIME
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return NO_TIME
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    since = time - _EPOCH
    whole = since.days * 86_400 + since.seconds
    found = whole * 1_000_000_000 + since.microseconds * 1_000
    return found if 0 < found < 2**63 else NO_TIME


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _one_form(record: JsonValue) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return canonical(record).encode()


def within_bounds(record: JsonValue, quarantine: Quarantine, offset: int | None) -> bool:
    """Tell whether a record can be written; one that is nested too deep is put aside."""
    try:
        bounded(record)
    except BrokenValueError as error:
        quarantine.add(Reason.TOO_DEEP, f"a run {error}", offset)
        return False
    return True


def text_at(value: JsonValue, *path: str) -> str | None:
    """Return the text at the end of a path of keys; None where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value else None
