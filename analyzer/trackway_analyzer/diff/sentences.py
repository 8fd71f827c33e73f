"""The sentences of a diff: where, what was found, what the reference has and got it from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trackway.schema import StepKind
from trackway_analyzer.diff.align import Pair
from trackway_analyzer.diff.calls import Call
from trackway_analyzer.diff.order import Move
from trackway_analyzer.diff.values import (
    Change,
    leaves,
    mentions,
    path_text,
)
from trackway_analyzer.model import NotRecorded
from trackway_analyzer.rules.values import ABSENT, shown, shown_apart

_WIDTH = 120


def missing(call: Call) -> str:
    """A call that only the reference has."""
    text = f"reference step {call.number} {call_text(call)} is missing in the candidate"
    return f"{text}; it had not taken effect there either" if call.step.ok is False else text


def unexpected(call: Call, repeats: Call | None) -> str:
    """A call that only the candidate has; `repeats` is an equal call that the reference has too."""
    role = {
        StepKind.MUTATE: "a new mutation",
        StepKind.LOOKUP: "an extra lookup",
        StepKind.NOTIFY: "an extra notification",
    }.get(call.kind, "an extra call")  # type: ignore[call-overload]  # other kinds take the default
    text = f"step {call.number} {call_text(call)} is {role}"
    if repeats is not None:
        text += f", a repeat of step {repeats.number}"
    if call.step.ok is False:
        text += ", which did not take effect"
    return text if call.kind else f"{text} (nobody declared what it does)"


def reordered(move: Move) -> str:
    """A move across a dependency."""
    moved, across = move.moved.candidate, move.across.candidate
    together = move.moved.reference.rank == move.across.reference.rank
    if move.together:
        how = f"ran in one turn with step {across.number} {across.tool}, after it in the reference"
    elif together:
        how = f"ran before step {across.number} {across.tool}, in one turn with it in the reference"
    else:
        how = f"ran before step {across.number} {across.tool}, after it in the reference"
    return f"step {moved.number} {moved.tool} {how}: {move.because}"


def effect(pair: Pair) -> str:
    """A call that took effect on one side only."""
    took = pair.candidate.step.ok
    verbs = (
        ("took effect", "did not in the reference")
        if took
        else ("did not take effect", "did in the reference")
    )
    answer = _answer(pair.candidate)
    return f"{_where(pair)}: {verbs[0]}{answer}, {verbs[1]}"


def effect_unknown(pair: Pair) -> str:
    """A call of which one side does not say whether it took effect."""
    sides = [
        f"the {name}"
        for name, call in (("reference", pair.reference), ("candidate", pair.candidate))
        if call.step.ok is None
    ]
    verb = "does" if len(sides) == 1 else "do"
    return f"{_where(pair)}: {' and '.join(sides)} {verb} not say whether it took effect"


def drift(pair: Pair, change: Change, reference: Sequence[Call]) -> str:
    """An argument that differs, and where the reference took its value from."""
    source = _source(change, pair.reference, reference)
    return f"{_where(pair)}: {_two_values(change)}{source}"


def result_drift(pair: Pair, change: Change) -> str:
    """A result that differs."""
    return f"{_where(pair)}: result {_two_values(change)}"


def not_comparable(pair: Pair, why: str) -> str:
    """Arguments that cannot be compared."""
    return f"{_where(pair)}: arguments cannot be compared, {why}"


def terminal(reference: str, candidate: str) -> str:
    """Another final action."""
    return f"the final action is {candidate}, in the reference {reference}"


def call_text(call: Call) -> str:
    """A call with its arguments, on one short line."""
    arguments = call.step.arguments
    if isinstance(arguments, NotRecorded):
        return f"{call.tool}(arguments not recorded)"
    if not isinstance(arguments, Mapping):
        return f"{call.tool}({shown(arguments)})"
    return _cut(
        f"{call.tool}({', '.join(f'{k}={shown(v)}' for k, v in arguments.items())})", _WIDTH
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _where(pair: Pair) -> str:
    reference, candidate = pair.reference.number, pair.candidate.number
    note = "" if reference == candidate else f" (reference step {reference})"
    return f"step {candidate}{note} {pair.candidate.tool}"


def _two_values(change: Change) -> str:
    found, expected = shown_apart(change.candidate, change.reference)
    if change.candidate is ABSENT:
        found = "is not given"
    if change.reference is ABSENT:
        expected = "does not give it"
    return f"{change.path} {found}, reference {expected}"


def _answer(call: Call) -> str:
    result = call.step.result
    if call.step.error_type:
        return f" ({call.step.error_type})"
    return "" if isinstance(result, NotRecorded) else f" ({shown(result)})"


def _source(change: Change, call: Call, run: Sequence[Call]) -> str:
    """Where the reference's value was first answered, for a value that can tie two steps."""
    value = change.reference
    if value is ABSENT or isinstance(value, (bool, list, dict)):
        return ""
    name = next((part for part in reversed(change.at) if isinstance(part, str)), "")
    wanted = mentions({name: value})
    for earlier in run:
        if earlier.rank < call.rank and wanted.shared(earlier.answered):
            for at, (kind, leaf) in leaves(earlier.step.result).items():
                if kind != "bool" and leaf == value:
                    return f" (from {earlier.tool} {path_text(at)} at step {earlier.number})"
    return ""
