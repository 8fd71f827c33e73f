"""What did the candidate do differently from the reference?

1. Compared are executed tool calls (`calls`), paired by `align`. Model calls, timestamps, call ids
   and declared masks are not compared.
2. A call without partner is missing or unexpected, one entry a call.
3. Paired calls differ by argument, by result, by whether they took effect (`happened`), and by
   order if the move crosses a dependency (`order`). Volatile values are left out (`volatile`).
4. The final action is the recorded one, else the last executed tool, several where the last calls
   were parallel. It changed if the sets of categories differ: a declared one, else the name up to
   the first dot. Where only the candidate recorded one, its last tools may stand in for it.
5. How grave a difference is stands in `severity`; the status is the gravest.
6. Missing evidence is no equality. Arguments that are not recorded or were cut, a success that is
   not recorded, steps hidden by a gap, two runs without a call: each is an entry of `insufficient`,
   and the status at least a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trackway.schema import GapName, StepKind
from trackway_analyzer.diff import sentences
from trackway_analyzer.diff.align import Alignment, Pair, align
from trackway_analyzer.diff.calls import Call, Masked, Masks, calls_of, kinds_of
from trackway_analyzer.diff.order import Move, moves
from trackway_analyzer.diff.result import (
    BaselineDriftError,
    Difference,
    Row,
    Terminal,
    TrajectoryDiff,
)
from trackway_analyzer.diff.severity import Level, Levels, Severity, What
from trackway_analyzer.diff.values import Change, changes
from trackway_analyzer.diff.volatile import Renaming, argument_changes, renaming, shape
from trackway_analyzer.model import NotRecorded, Trajectory
from trackway_analyzer.records import Records, as_trajectory

_HIDES_STEPS = frozenset(
    {GapName.MISSING_STEPS, GapName.TOOLS_NOT_OBSERVABLE, GapName.UNFINISHED_SPAN}
)


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs."""

    name: str
    run: Trajectory
    calls: list[Call]

    @property
    def hides_steps(self) -> bool:
        return any(gap.name in _HIDES_STEPS for gap in self.run.gaps)

    @property
    def clock_skew(self) -> bool:
        return any(gap.name == GapName.CLOCK_SKEW for gap in self.run.gaps)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Everything that a difference is found in."""

    reference: _Side
    candidate: _Side
    aligned: Alignment
    names: Renaming
    severity: Severity


def diff_trajectories(
    reference: Trajectory | Records,
    candidate: Trajectory | Records,
    strict: bool = False,
    *,
    kinds: Mapping[str, str] | None = None,
    masks: Masks | None = None,
    severity: Levels | None = None,
    categories: Mapping[str, str] | None = None,
) -> TrajectoryDiff:
    """Compare two runs call by call after aligning them.

    `kinds`: tool → lookup, mutate, notify or other, over what the record says. `masks`: tool or
    `*` → JSONPaths of arguments and results that are not compared. `severity`: see `severity`.
    `categories`: tool or final action → category of the final action.
    `strict`: raises BaselineDriftError where the status is `fail`.
    """
    runs = as_trajectory(reference), as_trajectory(candidate)
    known, masked = kinds_of(*runs, kinds), Masked(masks)
    left, right = (
        _Side(name, run, calls_of(run, known, masked))
        for name, run in zip(("reference", "candidate"), runs, strict=True)
    )
    aligned = align(left.calls, right.calls)
    inputs = [run.input for run in runs if run.input]
    names = renaming(aligned.pairs, left.calls, right.calls, inputs)
    comparison = _Comparison(left, right, aligned, names, Severity(severity))
    found = _report(comparison, categories or {})
    if strict and found.status == Level.FAIL:
        raise BaselineDriftError(found)
    return found


def _report(comparison: _Comparison, categories: Mapping[str, str]) -> TrajectoryDiff:
    rows = tuple(_rows(comparison))
    ends = _terminal(comparison.reference), _terminal(comparison.candidate)
    last = _terminal_difference(comparison, ends, categories)
    whole_run = [*last, *_hidden(comparison)]
    return TrajectoryDiff(
        reference_run=comparison.reference.run.run_id,
        candidate_run=comparison.candidate.run.run_id,
        rows=rows,
        differences=(*(d for row in rows for d in row.differences), *whole_run),
        reference_terminal=ends[0],
        candidate_terminal=ends[1],
        terminal_action_changed=any(d.decided for d in last),
        masked=tuple(text for pair in comparison.aligned.pairs for text in _masked(pair)),
    )


def _rows(comparison: _Comparison) -> Iterator[Row]:
    """The alignment in the candidate's order; a missing call stands behind its predecessor."""
    aligned = comparison.aligned
    moved = list(moves(aligned.pairs, comparison.reference.calls, comparison.candidate.calls))
    position = {id(call): i for i, call in enumerate(comparison.reference.calls)}
    waiting = list(aligned.missing)
    paired = {id(pair.candidate): pair for pair in aligned.pairs}
    for call in comparison.candidate.calls:
        pair = paired.get(id(call))
        if pair is not None and pair.in_place:
            before = position[id(pair.reference)]
            while waiting and position[id(waiting[0])] < before:
                yield _missing_row(comparison, waiting.pop(0))
        if pair is None:
            yield Row(None, call.step, (_unexpected(comparison, call),))
        else:
            mine = [move for move in moved if move.moved is pair]
            yield Row(pair.reference.step, call.step, tuple(_of_pair(comparison, pair, mine)))
    for call in waiting:
        yield _missing_row(comparison, call)


def _missing_row(comparison: _Comparison, call: Call) -> Row:
    hidden = comparison.candidate.hides_steps
    sentence = sentences.missing(call)
    difference = Difference(
        what=What.MISSING,
        tool=call.tool,
        level=comparison.severity.level(What.MISSING, call),
        sentence=f"{sentence}, but a gap hides steps there" if hidden else sentence,
        decided=not hidden,
        reference_step=call.number,
    )
    return Row(call.step, None, (difference,))


def _unexpected(comparison: _Comparison, call: Call) -> Difference:
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


def _repeated(comparison: _Comparison, call: Call) -> Call | None:
    for pair in comparison.aligned.pairs:
        other = pair.candidate
        if other.tool == call.tool and call.argument_leaves == other.argument_leaves is not None:
            return other
    return None


def _of_pair(comparison: _Comparison, pair: Pair, moved: Sequence[Move]) -> Iterator[Difference]:
    for move in moved:
        yield _reordered(comparison, move)
    yield from _argument_differences(comparison, pair)
    yield from _effect_differences(comparison, pair)
    yield from _result_differences(comparison, pair)


def _reordered(comparison: _Comparison, move: Move) -> Difference:
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


def _argument_differences(comparison: _Comparison, pair: Pair) -> Iterator[Difference]:
    unknown = _why_unknown(pair)
    if unknown is not None:
        grave = pair.reference.kind == StepKind.MUTATE
        yield Difference(
            what=What.ARGUMENT,
            tool=pair.candidate.tool,
            level=Level.FAIL if grave else Level.WARNING,
            sentence=sentences.not_comparable(pair, unknown),
            decided=False,
            reference_step=pair.reference.number,
            candidate_step=pair.candidate.number,
        )
        return
    for change in argument_changes(pair, comparison.names):
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


def _effect_differences(comparison: _Comparison, pair: Pair) -> Iterator[Difference]:
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


def _result_differences(comparison: _Comparison, pair: Pair) -> Iterator[Difference]:
    for change in _result_changes(pair):
        same = comparison.names.same(change.reference, change.candidate)
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


def _masked(pair: Pair) -> Iterator[str]:
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


def _terminal(side: _Side) -> Terminal:
    recorded = side.run.run["final_action"]
    return str(recorded) if recorded is not None else _last_tools(side)


def _last_tools(side: _Side) -> Terminal:
    names = sorted({c.tool for c in side.calls if c.rank == side.calls[-1].rank})
    if len(names) > 1:
        return tuple(names)
    return names[0] if names else None


def _terminal_difference(
    comparison: _Comparison, ends: tuple[Terminal, Terminal], categories: Mapping[str, str]
) -> Iterator[Difference]:
    reference, candidate = comparison.reference, comparison.candidate
    if _categories(ends[0], categories) == _categories(ends[1], categories):
        return
    recorded = [side.run.run["final_action"] is not None for side in (reference, candidate)]
    if recorded == [False, True]:
        stand_in = _last_tools(candidate)
        if _categories(ends[0], categories) == _categories(stand_in, categories):
            return
    hidden = not all(recorded) and (reference.hides_steps or candidate.hides_steps)
    sentence = sentences.terminal(_terminal_text(ends[0]), _terminal_text(ends[1]))
    yield Difference(
        what=What.TERMINAL,
        tool=_terminal_text(ends[1]),
        level=Level.FAIL,
        sentence=f"{sentence}, but a gap hides steps" if hidden else sentence,
        decided=not hidden,
        reference_step=_last_number(reference),
        candidate_step=_last_number(candidate),
    )


def _last_number(side: _Side) -> int | None:
    return side.calls[-1].number if side.calls else None


def _categories(terminal: Terminal, declared: Mapping[str, str]) -> frozenset[str]:
    names = (terminal,) if isinstance(terminal, str) else terminal or ()
    return frozenset(declared.get(name, name.split(".", 1)[0]) for name in names)


def _terminal_text(terminal: Terminal) -> str:
    names = (terminal,) if isinstance(terminal, str) else terminal
    return " and ".join(names) if names else "none"


def _hidden(comparison: _Comparison) -> Iterator[Difference]:
    """What of the whole run cannot be known."""
    for side in (comparison.reference, comparison.candidate):
        if not side.calls:
            yield _undecided(f"the {side.name} has no tool call")
        for gap in side.run.gaps:
            if gap.name in _HIDES_STEPS:
                yield _undecided(
                    f"the {side.name} may have made calls that are not recorded ({gap.name})"
                )


def _undecided(sentence: str) -> Difference:
    return Difference(
        what=What.MISSING, tool="", level=Level.FAIL, sentence=sentence, decided=False
    )
