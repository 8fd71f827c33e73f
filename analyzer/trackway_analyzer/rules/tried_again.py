"""Was a call made again later in its run?

1. It was if a later call of the tool has its operation id, or where neither has one, its arguments.
2. Where an id or an argument is hidden, or a gap may hide a later call of the tool, nobody knows,
   unless another call is known to be it.
"""

from __future__ import annotations

from collections.abc import Sequence

from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.values import same


def tried_again(evidence: Evidence, calls: Sequence[int], row: int) -> bool | None:
    """Whether one of a run's calls was made again; None: nobody knows."""
    tool = evidence.tool[row]
    later = [other for other in calls if other > row and evidence.tool[other] == tool]
    again = [_is_again(evidence, row, other) for other in later]
    if True in again:
        return True
    named = None if tool is None else (tool,)
    unseen = evidence.hides_step(evidence.run[row], evidence.position(row), tools=named)
    return None if None in again or unseen is not None else False


def _is_again(evidence: Evidence, row: int, later: int) -> bool | None:
    first, second = evidence.operation(row), evidence.operation(later)
    if first is not None and second is not None:
        return first == second
    if first is not None or second is not None:
        source = evidence.arguments(row if first is None else later)
        return None if isinstance(source, Hidden) or source.cut or source.redacted else False
    known = same_arguments(evidence.arguments(row), evidence.arguments(later))
    return None if isinstance(known, Hidden) else known


def same_arguments(one: Source | Hidden, other: Source | Hidden) -> bool | Hidden:
    """Whether two calls have the same arguments; what is hidden of them may be the same."""
    if isinstance(one, Hidden):
        return one
    if isinstance(other, Hidden):
        return other
    if same(one.value, other.value):
        return one.cut or one.hides(one.value) or True
    left, right = one.value, other.value
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    differing = (
        (left[name], right[name])
        for name in left
        if name in right
        if not same(left[name], right[name])
    )
    if any(not one.hides(mine) and not other.hides(its) for mine, its in differing):
        return False
    lost = (left.keys() ^ right.keys()) and not (one.lost or other.lost)
    return False if lost else one.cut or other.cut or one.redacted or other.redacted or False
