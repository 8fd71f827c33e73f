"""What stands on the page when somebody looks at one run.

1. One line a step, numbered as findings number it: all steps count, from 1.
2. `∥` marks steps without an order among them: one model turn asked for them together.
3. A model turn says what it answered and what it asked for.
4. A mark is printed only where something is not plain: failed, never executed, not requested,
   read from the messages, a later attempt, cut or missing values. How many calls were joined to
   their requests without a call id is said once, at the end.
5. Waits and resumes stand at their place between the steps (`pauses`): who was waited for and why,
   how long, and what was said when the run went on.
6. What the run was asked, what it said last, the outcome and every gap stand around the steps.
   Missing evidence is said, never left out.
7. Terminal, notebook and plain text print this one view; none of them decides anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from trackway.schema import Operation
from trackway_analyzer.happened import UNNAMED_ERRORS
from trackway_analyzer.model import Gap, JsonValue, NotRecorded, Outcome, Step, Trajectory
from trackway_analyzer.report.pauses import Pause, pause_text, pauses_of
from trackway_analyzer.report.shorten import arguments_text, one_line, value_text

VALUE_WIDTH = 200


class Tone(StrEnum):
    """How loud a piece of text is."""

    PLAIN = "plain"
    QUIET = "quiet"
    BAD = "bad"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class Mark:
    """Something about a step that is not plain."""

    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step, ready to print."""

    number: int
    parallel: bool
    operation: str
    title: str
    kind: str | None
    call: str
    result: str | None
    """None: a step that has no result of its own."""
    marks: tuple[Mark, ...]

    @property
    def tone(self) -> Tone:
        """The loudest tone of its marks; a model turn is quiet."""
        tones = {mark.tone for mark in self.marks}
        for tone in (Tone.BAD, Tone.DOUBTFUL):
            if tone in tones:
                return tone
        return Tone.QUIET if self.operation == Operation.LLM else Tone.PLAIN


@dataclass(frozen=True, slots=True)
class TrajectoryView:
    """One run, ready to print."""

    run_id: str
    facts: tuple[tuple[str, str], ...]
    asked: str | None
    steps: tuple[StepLine, ...]
    said: str | None
    outcome: Mark
    gaps: tuple[str, ...]
    joined: str | None
    """How many calls were joined to their requests without a call id; None: none was."""
    pauses: tuple[tuple[int, Mark], ...] = ()
    """Waits and resumes, each with the number of the step that it stands behind."""

    def rows(self, steps: Iterable[StepLine]) -> Iterator[StepLine | Mark]:
        """These steps, with the waits and resumes between them."""
        left = list(self.pauses)
        for line in steps:
            while left and left[0][0] < line.number:
                yield left.pop(0)[1]
            yield line
        yield from (mark for _, mark in left)


def trajectory_view(trajectory: Trajectory) -> TrajectoryView:
    """Lay out one run."""
    sizes = Counter(step.group for step in trajectory.steps)
    asked_for = _requests(trajectory.steps)
    return TrajectoryView(
        run_id=trajectory.run_id,
        facts=tuple(_facts(trajectory.run)),
        asked=_line(trajectory.input),
        steps=tuple(
            _step_line(step, sizes[step.group] > 1, asked_for.get(step.position, ()))
            for step in trajectory.steps
        ),
        said=_line(trajectory.final_text),
        outcome=outcome_mark(trajectory.outcome),
        gaps=tuple(gap_text(gap) for gap in trajectory.gaps),
        joined=_joined(sum(step.id_inferred for step in trajectory.steps)),
        pauses=tuple((pause.after, _pause_mark(pause)) for pause in pauses_of(trajectory)),
    )


def _pause_mark(pause: Pause) -> Mark:
    open_end = pause.event == "wait" and not pause.resumed
    return Mark(pause_text(pause, VALUE_WIDTH), Tone.DOUBTFUL if open_end else Tone.PLAIN)


def _joined(count: int) -> str | None:
    words = "calls joined to the model's requests by name and arguments"
    return f"{words}: {count}" if count else None


def outcome_mark(outcome: Outcome) -> Mark:
    """Say in words what the task's oracle said."""
    more = ", ".join(part for part in (outcome.label, outcome.failure_mode) if part)
    words = f" ({one_line(more)})" if more else ""
    if outcome.censored:
        return Mark(f"cut off by the harness{words}", Tone.DOUBTFUL)
    if outcome.success is None:
        return Mark(f"not judged{words}", Tone.QUIET)
    return Mark(f"{'success' if outcome.success else 'failure'}{words}", _tone(outcome.success))


def gap_text(gap: Gap) -> str:
    """Say a gap in one line: its name, how often, where, and what was found."""
    times = f" ×{gap.count}" if gap.count > 1 else ""
    place = f" at step {gap.position + 1}" if gap.position is not None else ""
    detail = f": {one_line(gap.detail)}" if gap.detail else ""
    return f"{gap.name}{times}{place}{detail}"


def _facts(run: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    named = (
        ("task", "task_id"),
        ("trial", "trial"),
        ("variant", "variant"),
        ("version", "agent_version"),
        ("session", "session_id"),
        ("service", "service"),
        ("agent", "agent"),
    )
    for label, column in named:
        if run[column] is not None:
            yield label, one_line(str(run[column]))
    if run["start"] is not None:
        yield "started", f"{run['start']:%Y-%m-%d %H:%M:%S} UTC"
    if run["duration_s"] is not None:
        yield "took", f"{run['duration_s']:.1f} s"
    if run["tokens_in"] is not None or run["tokens_out"] is not None:
        used = f"{_count(run['tokens_in'])} in, {_count(run['tokens_out'])} out"
        yield "tokens", used + _lacking(run["calls_without_tokens"])
    if run["cost"] is not None:
        yield "cost", f"${run['cost']:.4f}" + _lacking(run["calls_without_cost"])


def _lacking(calls: int | None) -> str:
    """What a sum is short of."""
    if not calls:
        return ""
    return f" without {calls:,} model call{'s' if calls > 1 else ''}"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _requests(steps: tuple[Step, ...]) -> dict[int, tuple[str, ...]]:
    """Names of the calls that each model step asked for, by its position."""
    asked: dict[int, tuple[str, ...]] = {}
    for step in steps:
        if step.turn is not None and step.turn != step.position:
            asked[step.turn] = (*asked.get(step.turn, ()), step.name)
    return asked


def _step_line(step: Step, parallel: bool, asked_for: tuple[str, ...]) -> StepLine:
    model = step.operation == Operation.LLM
    return StepLine(
        number=step.number,
        parallel=parallel,
        operation=step.operation,
        title=one_line(step.name if not model else f"model {step.name}".replace(" llm", "")),
        kind=step.kind,
        call=_model_call(asked_for) if model else arguments_text(_asked(step), VALUE_WIDTH),
        result=_model_text(step.output) if model else _result(step),
        marks=tuple(_marks(step)),
    )


def _model_call(asked_for: tuple[str, ...]) -> str:
    return f"asks for {', '.join(one_line(name) for name in asked_for)}" if asked_for else ""


def _model_text(output: JsonValue | NotRecorded) -> str | None:
    """What the model said in a turn; None where it said nothing in words."""
    if isinstance(output, NotRecorded):
        return value_text(output, VALUE_WIDTH)
    words = " ".join(_texts(output)).strip()
    return value_text(words, VALUE_WIDTH) if words else None


def _texts(output: JsonValue) -> Iterator[str]:
    """Text parts of messages, whichever of the known spellings they have."""
    if isinstance(output, str):
        yield output
    elif isinstance(output, list):
        for message in output:
            yield from _texts(message)
    elif isinstance(output, Mapping) and output.get("type", "text") in ("text", "message"):
        for key in ("parts", "content", "text"):
            if key in output:
                yield from _texts(output[key])


def _result(step: Step) -> str | None:
    if not step.executed or step.ok is False:
        return None  # a mark says it
    return value_text(_given(step), VALUE_WIDTH)


def _asked(step: Step) -> JsonValue | NotRecorded:
    """What went in: a call's arguments; of a retrieval and whatever is no call, the input."""
    return step.arguments if step.operation == Operation.TOOL else step.input


def _given(step: Step) -> JsonValue | NotRecorded:
    return step.result if step.operation == Operation.TOOL else step.output


def _marks(step: Step) -> Iterator[Mark]:
    if not step.executed and step.ok is None and not isinstance(step.result, NotRecorded):
        answer = value_text(step.result, VALUE_WIDTH)
        yield Mark(f"no span shows that it ran; the model was told {answer}", Tone.DOUBTFUL)
    elif not step.executed:
        yield Mark("requested, never executed", Tone.BAD)
    elif step.ok is False:
        yield Mark(_failure(step), Tone.BAD)
    if step.requested is False:
        yield Mark("ran without a request", Tone.DOUBTFUL)
    if step.synthesised and step.executed:
        yield Mark("no span, read from the messages", Tone.QUIET)
    if step.retry_of is not None:
        attempt = f"attempt {step.attempt}" if step.attempt else "a later attempt"
        yield Mark(f"{attempt} of step {step.retry_of + 1}", Tone.DOUBTFUL)
    if step.truncated:
        yield Mark(f"cut when recorded: {', '.join(step.truncated)}", Tone.DOUBTFUL)


def _failure(step: Step) -> str:
    unnamed = step.error_type in UNNAMED_ERRORS
    named = None if unnamed else step.error_type
    said = ": ".join(part for part in (named, step.error_message) if part)
    if said:
        return f"failed: {one_line(said)}"
    if unnamed:
        return "failed; the kind of error was not recorded"
    return f"failed: it answered {value_text(step.result, VALUE_WIDTH)}"


def _line(text: str | None) -> str | None:
    return None if text is None else one_line(text)


def _tone(success: bool) -> Tone:
    return Tone.PLAIN if success else Tone.BAD
