"""The differences of one call, or of one pair of calls, with level and sentence.

A comparison that the record does not allow is a difference that is not decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trackway.schema import GapName, StepKind
from trackway_analyzer.diff import sentences
from trackway_analyzer.diff.align import Alignment, Pair
from trackway_analyzer.diff.calls import Call
from trackway_analyzer.diff.order import Move
from trackway_analyzer.diff.result import Difference
from trackway_analyzer.diff.severity import Level, LevelsOf, What
from trackway_analyzer.diff.values import Change, changes, is_hidden, path_text
from trackway_analyzer.diff.volatile import Renaming, argument_changes, shape
from trackway_analyzer.model import NotRecorded, Trajectory

HIDES_STEPS = frozenset(
    {
        GapName.MISSING_STEPS,
        GapName.TOOLS_NOT_OBSERVABLE,
        GapName.UNFINISHED_SPAN,
        GapName.INSTRUMENTATION_LOST,
    }
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs."""

    name: str
    run: Trajectory
    calls: list[Call]

    @property
    def hides_steps(self) -> bool:
        """Whether a gap may hide calls of the run."""
        return any(gap.name in HIDES_STEPS for gap in self.run.gaps)

    @property
    def no_trace(self) -> bool:
        """Whether nothing at all was recorded of the run."""
        run = self.run
        return not (run.steps or run.run["spans"] or run.final_text is not None or run.gaps)

    @property
    def clock_skew(self) -> bool:
        """Whether the order of the run's calls is not certain."""
        return any(gap.name == GapName.CLOCK_SKEW for gap in self.run.gaps)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that a difference is found in."""

    reference: Side
    candidate: Side
    aligned: Alignment
    names: Renaming
    severity: LevelsOf


def missing(comparison: Comparison, call: Call) -> Difference:
    """A call of the reference that has no partner."""
    hidden = comparison.candidate.hides_steps
    sentence = sentences.missing(call)
    return Difference(
        what=What.MISSING,
        tool=call.tool,
        level=comparison.severity.level(What.MISSING, call),
        sentence=f"{sentence}, but a gap hides steps there" if hidden else sentence,
        decided=not hidden,
        reference_step=call.number,
    )


def unexpected(comparison: Comparison, call: Call) -> Difference:
    """A call of the candidate that has no partner."""
    hidden = comparison.reference.hides_steps
    sentence = sentences.unexpected(call, _repeated(comparison, call))
    return Difference(
        what=What.UNEXPECTED,
        tool=call.tool,
        level=comparison.severity.level(What.UNEXPECTED, call),
        sentence=f"{sentence}, but a gap hides steps of the reference" if hidden else sentence,
        decided=not hidden,
        candidate_step=call.number,
    )


def _repeated(comparison: Comparison, call: Call) -> Call | None:
    for pair in comparison.aligned.pairs:
        other = pair.candidate
        if other.tool == call.tool and call.argument_leaves == other.argument_leaves is not None:
            return other
    return None


def of_pair(comparison: Comparison, pair: Pair, moved: Sequence[Move]) -> Iterator[Difference]:
    """What differs between two paired calls; `moved` are the moves of this pair."""
    for move in moved:
        yield _reordered(comparison, move)
    yield from _argument_differences(comparison, pair)
    yield from _effect_differences(comparison, pair)
    yield from _result_differences(comparison, pair)


def _reordered(comparison: Comparison, move: Move) -> Difference:
    pair = move.moved
    skewed = comparison.reference.clock_skew or comparison.candidate.clock_skew
    sentence = sentences.reordered(move)
    return Difference(
        what=What.REORDERED,
        tool=pair.candidate.tool,
        level=comparison.severity.level(What.REORDERED, pair.reference),
        sentence=f"{sentence}; clocks are skewed, so the order is not certain"
        if skewed
        else sentence,
        decided=not skewed,
        reference_step=pair.reference.number,
        candidate_step=pair.candidate.number,
        across=move.across.candidate.tool,
        across_step=move.across.candidate.number,
    )


def _argument_differences(comparison: Comparison, pair: Pair) -> Iterator[Difference]:
    unknown = _why_unknown(pair)
    redacted = _hidden_arguments(pair) if unknown is None else None
    if unknown is not None or redacted is not None:
        grave = pair.reference.kind == StepKind.MUTATE
        yield Difference(
            what=What.ARGUMENT,
            tool=pair.candidate.tool,
            level=Level.FAIL if grave else Level.WARNING,
            sentence=sentences.not_comparable(pair, unknown or redacted or ""),
            decided=False,
            reference_step=pair.reference.number,
            candidate_step=pair.candidate.number,
        )
    for change in argument_changes(pair, comparison.names) if unknown is None else ():
        if is_hidden(change.reference) or is_hidden(change.candidate):
            continue
        level = comparison.severity.level(What.ARGUMENT, pair.reference, change, pair.candidate)
        sentence = sentences.drift(pair, change, comparison.reference.calls)
        yield _value_difference(What.ARGUMENT, pair, change, level, sentence)


def _why_unknown(pair: Pair) -> str | None:
    sides = (("reference", pair.reference), ("candidate", pair.candidate))
    silent = [name for name, call in sides if call.argument_leaves is None]
    if silent:
        return f"not recorded in the {' and the '.join(silent)}"
    cut = [name for name, call in sides if "arguments" in call.step.truncated]
    return f"cut in the {' and the '.join(cut)}" if cut else None


def _hidden_arguments(pair: Pair) -> str | None:
    """Where values of either call that are compared are hidden; None: nowhere."""
    masked = pair.reference.masked | pair.candidate.masked
    hidden = sorted(
        {
            path_text(at)
            for call in (pair.reference, pair.candidate)
            for at, (_, value) in call.argument_leaves or ()
            if at not in masked and is_hidden(value)
        }
    )
    return f"{', '.join(hidden)} redacted or cut" if hidden else None


def _effect_differences(comparison: Comparison, pair: Pair) -> Iterator[Difference]:
    reference, candidate = pair.reference.step, pair.candidate.step
    if reference.ok == candidate.ok and (reference.ok is not None or _both_answered(pair)):
        return
    unknown = reference.ok is None or candidate.ok is None
    if unknown and pair.reference.kind != StepKind.MUTATE:
        return
    yield Difference(
        what=What.EFFECT,
        tool=pair.candidate.tool,
        level=comparison.severity.level(What.EFFECT, pair.reference),
        sentence=sentences.effect_unknown(pair) if unknown else sentences.effect(pair),
        decided=not unknown,
        reference_step=pair.reference.number,
        candidate_step=pair.candidate.number,
    )


def _both_answered(pair: Pair) -> bool:
    """Both results are recorded, and leave open in the same words whether the call took effect."""
    results = pair.reference.step.result, pair.candidate.step.result
    return not any(isinstance(result, NotRecorded) for result in results)


def _result_differences(comparison: Comparison, pair: Pair) -> Iterator[Difference]:
    for change in _result_changes(pair):
        same = comparison.names.same(change.reference, change.candidate)
        same = same or is_hidden(change.reference) or is_hidden(change.candidate)
        if not same and shape(change) is None:
            level = comparison.severity.level(What.RESULT, pair.reference)
            sentence = sentences.result_drift(pair, change)
            yield _value_difference(What.RESULT, pair, change, level, sentence)


def _result_changes(pair: Pair) -> Iterator[Change]:
    reference, candidate = pair.reference, pair.candidate
    results = reference.step.result, candidate.step.result
    if any(isinstance(result, NotRecorded) for result in results):
        return iter(())
    return changes(*results, reference.masked_result | candidate.masked_result)


def masked_results(pair: Pair) -> Iterator[str]:
    """Places of two results that differ in a volatile value only."""
    for change in _result_changes(pair):
        name = shape(change)
        if name is not None:
            call = pair.candidate
            yield f"step {call.number} {call.tool}: result {change.path} ({name})"


def _value_difference(
    what: What, pair: Pair, change: Change, level: Level, sentence: str
) -> Difference:
    return Difference(
        what=what,
        tool=pair.candidate.tool,
        level=level,
        sentence=sentence,
        reference_step=pair.reference.number,
        candidate_step=pair.candidate.number,
        path=change.path,
        reference_value=change.reference,
        candidate_value=change.candidate,
    )
