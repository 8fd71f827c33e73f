"""Which call of the candidate is which call of the reference?

1. Only calls of one tool are paired, and of each tool as many as both sides have: what is left over
   is missing or unexpected. Multiplicity counts.
2. Equal calls (same arguments under the masks, same success) are paired first: a longest common
   subsequence in order, then those that moved, first with first.
3. The rest of a tool, calls that changed, is paired so that the most argument values agree; success
   counts before them, and where that ties, position decides.
4. Members of a parallel group have no order, so their order in the record changes nothing.
5. The answer does not depend on which side is called the reference.

Pairing says only which calls are compared. Whether a pair is acceptable is decided elsewhere, value
by value: no similarity is ever an acceptance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from trackway_analyzer.diff.calls import Call

_SUCCESS = 1e6
_AGREEMENT = 1e3
_NEARNESS = 1e-3


@dataclass(frozen=True, slots=True)
class Pair:
    """Two calls that are one, as far as alignment knows."""

    reference: Call
    candidate: Call


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs in the candidate's order, and what has no partner."""

    pairs: tuple[Pair, ...]
    missing: tuple[Call, ...]
    unexpected: tuple[Call, ...]


def align(reference: Sequence[Call], candidate: Sequence[Call]) -> Alignment:
    """Pair the calls of two runs; rules 1 to 5 above."""
    if _sort_key(candidate) < _sort_key(reference):
        pairs = [(left, right) for right, left in _paired(candidate, reference)]
    else:
        pairs = _paired(reference, candidate)
    pairs.sort(key=lambda pair: pair[1])
    left_paired = {left for left, _ in pairs}
    right_paired = {right for _, right in pairs}
    return Alignment(
        tuple(Pair(reference[left], candidate[right]) for left, right in pairs),
        tuple(call for i, call in enumerate(reference) if i not in left_paired),
        tuple(call for i, call in enumerate(candidate) if i not in right_paired),
    )


def _sort_key(calls: Sequence[Call]) -> tuple[int, list[str]]:
    return len(calls), [call.content for call in calls]


def _key(call: Call) -> Hashable:
    """Equal keys: equal calls. Arguments that nobody recorded pair with each other, no more."""
    return call.tool, call.argument_leaves, call.step.ok


def _paired(left: Sequence[Call], right: Sequence[Call]) -> list[tuple[int, int]]:
    left_keys, right_keys = [_key(c) for c in left], [_key(c) for c in right]
    kept = list(common_subsequence(left_keys, right_keys))
    rest_left, rest_right = _rest(left, (i for i, _ in kept)), _rest(right, (j for _, j in kept))
    moved = list(_first_with_first(left_keys, right_keys, rest_left, rest_right))
    rest_left = [i for i in rest_left if i not in {i for i, _ in moved}]
    rest_right = [j for j in rest_right if j not in {j for _, j in moved}]
    changed = _most_agreeing(left, right, rest_left, rest_right)
    return [*kept, *moved, *changed]


def _rest(calls: Sequence[Call], taken: Iterator[int]) -> list[int]:
    used = set(taken)
    return [i for i in range(len(calls)) if i not in used]


def common_subsequence(
    left: Sequence[Hashable], right: Sequence[Hashable]
) -> Iterator[tuple[int, int]]:
    """Index pairs of a longest common subsequence; common ends are stripped first."""
    shorter = min(len(left), len(right))
    start = 0
    while start < shorter and left[start] == right[start]:
        yield start, start
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    middle = _longest(left[start : len(left) - end], right[start : len(right) - end])
    yield from ((start + i, start + j) for i, j in middle)
    yield from ((len(left) - back, len(right) - back) for back in range(end, 0, -1))


def _longest(left: Sequence[Hashable], right: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    codes: dict[Hashable, int] = {}
    left_codes = [codes.setdefault(key, len(codes)) for key in left]
    right_codes = [codes.setdefault(key, len(codes)) for key in right]
    # longest[i][j]: length of the answer for left[i:], right[j:].
    longest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        below, here, code = longest[i + 1], longest[i], left_codes[i]
        for j in range(len(right) - 1, -1, -1):
            if code == right_codes[j]:
                here[j] = below[j + 1] + 1
            else:
                here[j] = below[j] if below[j] >= here[j + 1] else here[j + 1]
    i = j = 0
    while i < len(left) and j < len(right):
        if left_codes[i] == right_codes[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1


def _first_with_first(
    left_keys: Sequence[Hashable],
    right_keys: Sequence[Hashable],
    rest_left: Sequence[int],
    rest_right: Sequence[int],
) -> Iterator[tuple[int, int]]:
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for j in reversed(rest_right):
        waiting[right_keys[j]].append(j)
    for i in rest_left:
        if waiting[left_keys[i]]:
            yield i, waiting[left_keys[i]].pop()


def _most_agreeing(
    left: Sequence[Call], right: Sequence[Call], rest_left: Sequence[int], rest_right: Sequence[int]
) -> list[tuple[int, int]]:
    """Rule 3, tool by tool: an optimal assignment."""
    by_tool: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for i in rest_left:
        by_tool[left[i].tool][0].append(i)
    for j in rest_right:
        by_tool[right[j].tool][1].append(j)
    pairs: list[tuple[int, int]] = []
    for lefts, rights in by_tool.values():
        if len(lefts) == len(rights) == 1:
            pairs.append((lefts[0], rights[0]))
        elif lefts and rights:
            gains = [[pair_gain(left[i], right[j]) for j in rights] for i in lefts]
            pairs += [(lefts[row], rights[column]) for row, column in _assignment(gains)]
    return pairs


def _assignment(gains: list[list[float]]) -> list[tuple[int, int]]:
    # Most diffs pair one call with one; only the others pay for loading scipy.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gains, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def pair_gain(left: Call, right: Call) -> float:
    """How much two calls of one tool look like one call: success, then arguments, then position.

    The terms are far enough apart that a later one only breaks ties of an earlier one.
    """
    success = left.step.ok == right.step.ok
    distance = (left.rank - right.rank) ** 2 / (1 + left.rank + right.rank) ** 2
    return _SUCCESS * success + _AGREEMENT * _agreement(left, right) - _NEARNESS * distance


def _agreement(left: Call, right: Call) -> float:
    """Share of the argument values that both have, 0 to 1."""
    mine, other = left.argument_leaves, right.argument_leaves
    if not mine or not other:
        return 0.0
    return len(mine & other) / len(mine | other)
