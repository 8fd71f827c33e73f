"""Which moves matter? Those that cross a dependency.

A move is two paired calls that stand in another order in the candidate than in the reference;
asking for both in one model turn is no order at all. It matters if one of the two needed the other:

1. Value flow: the earlier call's result holds an identifier or number that the later call was given
   and that the earlier call was not given itself. For a read the value must also be news: known
   from an earlier call, it would not have needed this one.
2. One entity: both were given the same identifier, and one of them changes data. Where nobody
   declared what a tool does, it may change data; then only a true exchange counts, not that two
   calls became parallel or stopped being it.
3. A declared lookup that names no entity at all (a policy, a limit) bears on every declared
   mutation.

Every other move is no difference, nor is the order of a call whose arguments changed, unless it is
a declared mutation: it is another call in another place. Dependencies are looked for in both runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trackway.schema import StepKind
from trackway_analyzer.diff.align import Pair
from trackway_analyzer.diff.calls import Call


@dataclass(frozen=True, slots=True)
class Move:
    """A pair that stands on the other side of something that it depends on."""

    moved: Pair
    across: Pair
    together: bool
    """In the candidate one model turn asked for both."""
    because: str
    """What ties the two, for the sentence."""


def moves(
    pairs: Sequence[Pair], reference: Sequence[Call], candidate: Sequence[Call]
) -> Iterator[Move]:
    """Yield the moves across a dependency, in the candidate's order."""
    comparable = (pair for pair in pairs if _is_one_call(pair))
    ordered = sorted(comparable, key=lambda pair: (pair.reference.rank, pair.candidate.rank))
    if _same_order(ordered):
        return
    for i, first in enumerate(ordered):
        for second in ordered[i + 1 :]:
            before = _sign(second.reference.rank - first.reference.rank)
            after = _sign(second.candidate.rank - first.candidate.rank)
            if before == after:
                continue
            exchanged = before == -after
            because = _reason(first, second, before, exchanged, reference, side="reference")
            because = because or _reason(
                first, second, after, exchanged, candidate, side="candidate"
            )
            if because:
                # The call that came too early moved; in one turn, the one that should have waited.
                early = second if before > 0 or after < 0 else first
                yield Move(early, first if early is second else second, after == 0, because)


def _is_one_call(pair: Pair) -> bool:
    unchanged = pair.reference.argument_leaves == pair.candidate.argument_leaves
    return unchanged or pair.reference.kind == StepKind.MUTATE


def _same_order(ordered: Sequence[Pair]) -> bool:
    """Whether neighbours stand to each other on both sides alike: then so do all."""
    return all(
        _sign(second.reference.rank - first.reference.rank)
        == _sign(second.candidate.rank - first.candidate.rank)
        for first, second in pairwise(ordered)
    )


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _reason(
    first: Pair, second: Pair, order: int, exchanged: bool, run: Sequence[Call], side: str
) -> str | None:
    if order == 0:
        return None
    earlier, later = (first, second) if order > 0 else (second, first)
    return dependency(getattr(earlier, side), getattr(later, side), run, exchanged=exchanged)


def dependency(earlier: Call, later: Call, run: Sequence[Call], *, exchanged: bool) -> str | None:
    """Say why `later` depends on `earlier`, in words; None if it does not."""
    flowing = [v for v in earlier.answered.shared(later.given) if not _given(earlier, v)]
    if not later.may_mutate:
        flowing = [value for value in flowing if not _known_before(earlier, value, run)]
    if flowing:
        return f"{later.tool} was given {_quoted(flowing[0])} from the result of {earlier.tool}"
    shared = sorted(earlier.given.identifiers & later.given.identifiers)
    kinds = {earlier.kind, later.kind}
    changes_data = StepKind.MUTATE in kinds or StepKind.OTHER in kinds
    if shared and (changes_data or (None in kinds and exchanged)):
        return f"both concern {_quoted(shared[0])}"
    if kinds == {StepKind.LOOKUP, StepKind.MUTATE}:
        lookup = earlier if earlier.kind == StepKind.LOOKUP else later
        if not lookup.given.identifiers:
            return f"{lookup.tool} names no entity, so it bears on every mutation"
    return None


def _given(call: Call, value: str | float) -> bool:
    return value in call.given.identifiers or value in call.given.numbers


def _known_before(call: Call, value: str | float, run: Sequence[Call]) -> bool:
    earlier = (other for other in run if other.rank < call.rank)
    return any(
        value in mention.identifiers or value in mention.numbers
        for other in earlier
        for mention in (other.given, other.answered)
    )


def _quoted(value: str | float) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"
