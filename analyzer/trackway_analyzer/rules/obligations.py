"""What does a run owe: to earlier decisions, to those it waits for, to the clock?

1. `Continuity`: what a step needs of earlier decisions it still sees; each id in `required` was
   present in the last such record.
2. `Routed`: each wait names who it waits for, until when, and how it is taken up again; with
   `resumed`, it was taken up.
3. `Deadline`: the run ended by its deadline.
4. A record that hangs on the agent or the run counts where it was made, after the steps before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from trackway.schema import Trackway
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP
from trackway_analyzer.rules.rule import (
    Rule,
    RunRule,
    Said,
    insufficient,
    may_hide_a_call,
    violated,
)
from trackway_analyzer.rules.sentences import number
from trackway_analyzer.times import decoded

WAIT_FIELDS: Final = ("owner", "deadline", "resume_token")


class _Record(NamedTuple):
    """What was recorded at a step, or on the agent or the run after a step had begun."""

    row: int
    between: bool
    said: dict[str, Any]

    def position(self, evidence: Evidence) -> int | None:
        """Which step of the run it hangs on; None: on none."""
        return None if self.between else evidence.position(self.row)


def _where(evidence: Evidence, result: Result) -> str:
    """Name the step of a finding, or the run."""
    if result.position is None:
        return "the run"
    row = int(evidence.batch.offsets[result.run]) + result.position
    return f"step {number(evidence, row)} {evidence.tool[row] or evidence.operation_of[row]}"


@dataclass(frozen=True)
class _EventRule(RunRule):
    """A rule about events that hang on steps."""

    layer = Layer.OUTCOME

    def _events(self, evidence: Evidence, run: int, name: str) -> list[_Record]:
        """Records of this name in their order, those on no step after the row before them."""
        on_steps = [
            _Record(row, False, said if isinstance(said, dict) else {})
            for row in range(*evidence.batch.bounds(run))
            for said in evidence.events(row, name)
        ]
        on_none = [
            _Record(row, True, said if isinstance(said, dict) else {})
            for row, said in evidence.run_events(run, name)
        ]
        return sorted([*on_steps, *on_none], key=lambda record: record[:2])


@dataclass(frozen=True)
class Continuity(_EventRule):
    """A step that needs earlier decisions still sees them."""

    required: str | Iterable[str] = ()
    """Ids that must be present in the last record; those that a step names itself always are."""

    short = ("required",)

    def __post_init__(self) -> None:
        ids = (self.required,) if isinstance(self.required, str) else tuple(self.required)
        object.__setattr__(self, "required", ids)

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run."""
        records = self._events(evidence, run, Trackway.EVENT_CONTINUITY)
        if not records:
            return insufficient(run, NOT_RECORDED_GAP)
        for record in records:
            last = record[:2] == records[-1][:2]
            wanted = [*_names(record.said.get("required")), *(self.required if last else ())]
            lost = [name for name in wanted if name not in _names(record.said.get("present"))]
            if lost:
                return violated(run, record.position(evidence), lost=lost)
        return None

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(sentence="no record of continuity: nobody knows which decisions were seen")
        lost = result.detail["lost"]
        listed = ", ".join(lost)
        return Said(sentence=f"{_where(evidence, result)} no longer saw {listed}", expected=lost)


@dataclass(frozen=True)
class Routed(_EventRule):
    """Each wait says who it waits for, until when, and how it is taken up again."""

    resumed: bool = False
    """Each wait must have been taken up."""

    def judge(self, evidence: Evidence, run: int) -> Result | None:
        """Judge one run."""
        taken_up = self._events(evidence, run, Trackway.EVENT_RESUME)
        for wait in self._events(evidence, run, Trackway.EVENT_WAIT):
            missing = [name for name in WAIT_FIELDS if not _tells(wait.said, name)]
            position = wait.position(evidence)
            if missing:
                return violated(run, position, missing=missing)
            token = wait.said["resume_token"]
            if self.resumed and not any(
                resume.said.get("resume_token") == token and resume.row >= wait.row
                for resume in taken_up
            ):
                gap = evidence.hides_step(run, after=wait.row - evidence.first_row(run))
                return (
                    violated(run, position, token=token)
                    if gap is None
                    else insufficient(run, gap.gap)
                )
        return may_hide_a_call(evidence, run)

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(
                sentence=f"no unrouted wait was seen, but {result.detail['gap']} may hide one"
            )
        name = _where(evidence, result)
        if "token" in result.detail:
            return Said(sentence=f"{name} waits and was never taken up again")
        return Said(
            sentence=f"{name} waits without {' and '.join(result.detail['missing'])}",
            expected=result.detail["missing"],
        )


def _tells(said: dict[str, Any], name: str) -> bool:
    """Whether a field was recorded; with content off its hash stands in its place."""
    return bool(said.get(name) or said.get(f"{Trackway.CONTENT_SHA256}.{name}"))


@dataclass(frozen=True)
class Deadline(Rule):
    """The run ended by its deadline."""

    layer = Layer.OUTCOME

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run that ended too late, or nobody knows when."""
        evidence = self.evidence(batch)
        ends = decoded(evidence.batch.runs.column("end"))
        deadlines = evidence.batch.runs.column("deadline").to_pylist()
        results = []
        for run, (end, text) in enumerate(zip(ends, deadlines, strict=True)):
            deadline = _time(text)
            if end is None or deadline is None:
                what = "end" if end is None else "deadline"
                results.append(insufficient(run, NOT_RECORDED_GAP, what=what))
            elif end > deadline:
                late = (end - deadline).total_seconds()
                results.append(violated(run, seconds=round(late, 3)))
        return results

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if "gap" in result.detail:
            return Said(sentence=f"the {result.detail['what']} of the run was not recorded")
        late = result.detail["seconds"]
        return Said(sentence=f"the run ended {late:g} seconds after its deadline", got=late)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _names(value: JsonValue) -> list[str]:
    """A list of names that may have been recorded as JSON text."""
    if isinstance(value, str):
        read = parsed(value)
        value = read if isinstance(read, list) else [value]
    return [str(item) for item in value] if isinstance(value, list) else []
