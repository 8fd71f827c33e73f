"""What did the candidate do differently from the reference?

1. Compared are executed tool calls (`calls`), paired by `align`. Model calls, timestamps, call ids
   and declared masks are not compared.
2. A call without partner is missing or unexpected, one entry a call.
3. Paired calls differ by argument, by result, by whether they took effect (`happened`), and by
   order if the move crosses a dependency (`order`). Volatile values are left out (`volatile`).
4. The final action changed if its category did (`terminal`).
5. How grave a difference is stands in `severity`; the status is the gravest.
6. Missing evidence is no equality. Arguments that are not recorded or were cut, a success that is
   not recorded, steps hidden by a gap, a run of which nothing was recorded: each is an entry of
   `insufficient`, and the status at least a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trackway_analyzer.diff import differences, sentences
from trackway_analyzer.diff.align import align, common_subsequence
from trackway_analyzer.diff.calls import Call, Masked, Masks, calls_of, settled_tools
from trackway_analyzer.diff.differences import HIDES_STEPS, Comparison, Side
from trackway_analyzer.diff.order import moves
from trackway_analyzer.diff.result import BaselineDriftError, Difference, Row, TrajectoryDiff
from trackway_analyzer.diff.severity import Level, Levels, LevelsOf, What
from trackway_analyzer.diff.terminal import End, changed, end_of, terminal_text
from trackway_analyzer.diff.volatile import renaming
from trackway_analyzer.model import Trajectory
from trackway_analyzer.records import Records, as_trajectory
from trackway_analyzer.rules.finding import Finding, Layer, Severity, State
from trackway_analyzer.rules.rule import InsufficientEvidenceError
from trackway_analyzer.rules.tools import Tools


def diff_trajectories(
    reference: Trajectory | Records,
    candidate: Trajectory | Records,
    strict: bool = False,
    *,
    kinds: Mapping[str, str] | None = None,
    tools: Tools | None = None,
    masks: Masks | None = None,
    severity: Levels | None = None,
    categories: Mapping[str, str] | None = None,
) -> TrajectoryDiff:
    """Compare two runs call by call after aligning them.

    `kinds`: tool → lookup, mutate, notify or other, over what the record says. `tools`: the same
    and more, as rules and policies declare it. `masks`: tool or `*` → JSONPaths of arguments and
    results that are not compared. `severity`: see `severity`. `categories`: tool or final action →
    category of the final action.

    `strict`: raises BaselineDriftError where the status is `fail`, else InsufficientEvidenceError
    where missing evidence may hide a difference that fails. Raises ValueError for an option that is
    none, TypeError or ValueError for records that are none.
    """
    runs = as_trajectory(reference), as_trajectory(candidate)
    known, masked = settled_tools(runs, tools, kinds), Masked(masks)
    left, right = (
        Side(name, run, calls_of(run, known, masked))
        for name, run in zip(("reference", "candidate"), runs, strict=True)
    )
    aligned = align(left.calls, right.calls)
    inputs = [run.input for run in runs if run.input]
    names = renaming(aligned.pairs, left.calls, right.calls, inputs)
    comparison = Comparison(left, right, aligned, names, LevelsOf(severity))
    found = _report(comparison, categories or {})
    if strict:
        _raise_for(found)
    return found


def _raise_for(found: TrajectoryDiff) -> None:
    if found.status == Level.FAIL:
        raise BaselineDriftError(found)
    hiding = [d.sentence for d in found.differences if not d.decided and d.level is Level.FAIL]
    if hiding:
        raise InsufficientEvidenceError(
            Finding(
                rule="diff",
                layer=Layer.TRAJECTORY,
                severity=Severity.ERROR,
                state=State.INSUFFICIENT,
                run_id=found.candidate_run,
                sentence="; ".join(hiding),
            )
        )


def _report(comparison: Comparison, categories: Mapping[str, str]) -> TrajectoryDiff:
    reference, candidate = comparison.reference, comparison.candidate
    rows = tuple(_rows(comparison))
    ends = end_of(reference.run, reference.calls), end_of(candidate.run, candidate.calls)
    last = [_last(comparison, *ends)] if changed(*ends, categories) else []
    whole_run = [*last, *_hidden(comparison)]
    return TrajectoryDiff(
        reference_run=reference.run.run_id,
        candidate_run=candidate.run.run_id,
        rows=rows,
        differences=(*(d for row in rows for d in row.differences), *whole_run),
        reference_terminal=ends[0].action,
        candidate_terminal=ends[1].action,
        terminal_action_changed=any(difference.decided for difference in last),
        masked=tuple(
            text for pair in comparison.aligned.pairs for text in differences.masked_results(pair)
        ),
    )


def _rows(comparison: Comparison) -> Iterator[Row]:
    """The alignment in the candidate's order; a missing call stands where the reference has it,
    among the pairs that did not move.
    """
    aligned = comparison.aligned
    moved = list(moves(aligned.pairs, comparison.reference.calls, comparison.candidate.calls))
    pairs = {pair.candidate.number: pair for pair in aligned.pairs}
    order = [pairs[number].reference.number for number in sorted(pairs)]
    in_place = {order[place] for place, _ in common_subsequence(order, sorted(order))}
    waiting = sorted(aligned.missing, key=lambda call: call.number)
    for call in sorted(comparison.candidate.calls, key=lambda call: call.number):
        pair = pairs.get(call.number)
        if pair is None:
            yield Row(None, call.step, (differences.unexpected(comparison, call),))
            continue
        if pair.reference.number in in_place:
            while waiting and waiting[0].number < pair.reference.number:
                yield _missing_row(comparison, waiting.pop(0))
        mine = [move for move in moved if move.moved is pair]
        yield Row(
            pair.reference.step, call.step, tuple(differences.of_pair(comparison, pair, mine))
        )
    for call in waiting:
        yield _missing_row(comparison, call)


def _missing_row(comparison: Comparison, call: Call) -> Row:
    return Row(call.step, None, (differences.missing(comparison, call),))


def _last(comparison: Comparison, reference: End, candidate: End) -> Difference:
    recorded = reference.recorded is not None and candidate.recorded is not None
    hidden = not recorded and (comparison.reference.hides_steps or comparison.candidate.hides_steps)
    texts = terminal_text(reference.action), terminal_text(candidate.action)
    sentence = sentences.terminal(*texts)
    return Difference(
        what=What.TERMINAL,
        tool=texts[1],
        level=Level.FAIL,
        sentence=f"{sentence}, but a gap hides steps" if hidden else sentence,
        decided=not hidden,
        reference_step=_last_number(comparison.reference),
        candidate_step=_last_number(comparison.candidate),
    )


def _last_number(side: Side) -> int | None:
    return side.calls[-1].number if side.calls else None


def _hidden(comparison: Comparison) -> Iterator[Difference]:
    """What of the whole run cannot be known."""
    for side in (comparison.reference, comparison.candidate):
        if side.no_trace:
            yield _undecided(f"nothing was recorded of the {side.name}")
        for gap in side.run.gaps:
            if gap.name in HIDES_STEPS:
                yield _undecided(
                    f"the {side.name} may have made calls that are not recorded ({gap.name})"
                )


def _undecided(sentence: str) -> Difference:
    return Difference(
        what=What.EVIDENCE, tool="", level=Level.FAIL, sentence=sentence, decided=False
    )
