"""What a diff answers: `TrajectoryDiff`, a list of differences and views of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trackway_analyzer.diff.severity import Level, What
from trackway_analyzer.diff.terminal import Terminal
from trackway_analyzer.model import JsonValue, Step
from trackway_analyzer.rules.values import ABSENT, Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference, or one comparison that the record does not allow."""

    what: What
    tool: str
    level: Level
    sentence: str
    decided: bool = True
    """False: evidence is missing, so that nobody can say whether there is a difference."""
    reference_step: int | None = None
    candidate_step: int | None = None
    path: str | None = None
    reference_value: JsonValue | Absent = None
    candidate_value: JsonValue | Absent = None
    across: str | None = None
    """The tool that a moved step crossed."""
    across_step: int | None = None

    def drift(self, path_key: str) -> dict[str, JsonValue]:
        """A changed value as plain data; a side without the value is null and named in `absent`."""
        sides = {"reference": self.reference_value, "candidate": self.candidate_value}
        row: dict[str, JsonValue] = {
            "step": self.candidate_step,
            "tool": self.tool,
            path_key: self.path,
        }
        row |= {f"{side}_value": None if v is ABSENT else v for side, v in sides.items()}
        absent = [side for side, value in sides.items() if value is ABSENT]
        return row | ({"absent": absent[0]} if absent else {})


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the alignment: a step of the reference, of the candidate, or both."""

    reference: Step | None
    candidate: Step | None
    differences: tuple[Difference, ...]

    @property
    def tool(self) -> str:
        """The tool of the step."""
        step = self.candidate or self.reference
        return (step.tool or "") if step else ""

    def to_dict(self) -> dict[str, JsonValue]:
        """The line as plain data; `change` is null where the step is the same on both sides."""
        return {
            "tool": self.tool,
            "reference_step": self.reference.number if self.reference else None,
            "candidate_step": self.candidate.number if self.candidate else None,
            "change": self.differences[0].what.value if self.differences else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryDiff:
    """What differs between two trajectories, after alignment."""

    reference_run: str
    candidate_run: str
    rows: tuple[Row, ...]
    """The alignment, in the candidate's order."""
    differences: tuple[Difference, ...]
    """All differences, in the order of the rows; those of the whole run come last."""
    reference_terminal: Terminal
    candidate_terminal: Terminal
    terminal_action_changed: bool
    masked: tuple[str, ...] = ()
    """Results that differ in volatile values only, one text each."""

    @property
    def status(self) -> str:
        """`ok`, `warning` or `fail`: the gravest difference; missing evidence warns at least."""
        if self.failures:
            return Level.FAIL.value
        return (Level.WARNING if self.warnings or self.insufficient else Level.OK).value

    @property
    def failures(self) -> tuple[str, ...]:
        """Sentences of the differences that fail."""
        return self._sentences(Level.FAIL)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences of the differences that warn."""
        return self._sentences(Level.WARNING)

    @property
    def insufficient(self) -> tuple[str, ...]:
        """Sentences of the comparisons that the record does not allow."""
        undecided = (d for d in self.differences if not d.decided and d.level != Level.OK)
        return tuple(difference.sentence for difference in undecided)

    def _sentences(self, level: Level) -> tuple[str, ...]:
        return tuple(d.sentence for d in self.differences if d.decided and d.level == level)

    @property
    def missing_in_candidate(self) -> tuple[str, ...]:
        """Tools of the calls that only the reference has, one entry a call."""
        return tuple(difference.tool for difference in self.of(What.MISSING))

    @property
    def unexpected_in_candidate(self) -> tuple[str, ...]:
        """Tools of the calls that only the candidate has, one entry a call."""
        return tuple(difference.tool for difference in self.of(What.UNEXPECTED))

    @property
    def reordered(self) -> tuple[Difference, ...]:
        """Moves across a dependency."""
        return self.of(What.REORDERED)

    @property
    def argument_drift(self) -> tuple[Difference, ...]:
        """Argument values that differ."""
        return tuple(d for d in self.of(What.ARGUMENT) if d.decided)

    @property
    def result_drift(self) -> tuple[Difference, ...]:
        """Result values that differ and are not volatile."""
        return tuple(d for d in self.of(What.RESULT) if d.decided)

    @property
    def first_divergence(self) -> Difference | None:
        """The first difference that counts, in the candidate's order."""
        return next((d for d in self.differences if d.decided and d.level != Level.OK), None)

    @property
    def matched_steps(self) -> int:
        """Paired steps whose arguments are recorded and do not differ."""
        unequal = {difference.candidate_step for difference in self.of(What.ARGUMENT)}
        paired = (row.candidate for row in self.rows if row.reference and row.candidate)
        return sum(1 for step in paired if step.number not in unequal)

    @property
    def drifted_steps(self) -> int:
        """Paired steps of which an argument differs."""
        return len({difference.candidate_step for difference in self.argument_drift})

    def of(self, what: What) -> tuple[Difference, ...]:
        """The differences of one kind, those that cannot be decided included."""
        return tuple(difference for difference in self.differences if difference.what is what)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        first = self.first_divergence
        return {
            "status": self.status,
            "reference_run": self.reference_run,
            "candidate_run": self.candidate_run,
            "matched_steps": self.matched_steps,
            "drifted_steps": self.drifted_steps,
            "missing_in_candidate": list(self.missing_in_candidate),
            "unexpected_in_candidate": list(self.unexpected_in_candidate),
            "reordered": [_reordered(difference) for difference in self.reordered],
            "argument_drift": [difference.drift("arg") for difference in self.argument_drift],
            "result_drift": [difference.drift("path") for difference in self.result_drift],
            "terminal_action_changed": self.terminal_action_changed,
            "reference_terminal": _plain(self.reference_terminal),
            "candidate_terminal": _plain(self.candidate_terminal),
            "first_divergence": None if first is None else _divergence(first),
            "failures": list(self.failures),
            "warnings": list(self.warnings),
            "insufficient": list(self.insufficient),
            "masked": list(self.masked),
            "alignment": [row.to_dict() for row in self.rows],
        }

    def __str__(self) -> str:
        from trackway_analyzer.diff.render import diff_text

        return diff_text(self)


class BaselineDriftError(AssertionError):
    """The candidate drifted from the reference in a way that fails; see `.diff`."""

    def __init__(self, diff: TrajectoryDiff) -> None:
        super().__init__(str(diff))
        self.diff = diff


def _reordered(difference: Difference) -> Mapping[str, JsonValue]:
    return {
        "step": difference.candidate_step,
        "tool": difference.tool,
        "reference_step": difference.reference_step,
        "across": difference.across,
        "across_step": difference.across_step,
    }


def _divergence(difference: Difference) -> Mapping[str, JsonValue]:
    return {
        "step": difference.candidate_step,
        "reference_step": difference.reference_step,
        "tool": difference.tool,
        "what": difference.what.value,
    }


def _plain(terminal: Terminal) -> JsonValue:
    return list(terminal) if isinstance(terminal, tuple) else terminal
