"""Values that differ from run to run and mean nothing by it.

1. In results, two values of one volatile shape are no difference: UUIDs, times of day, long hex
   digits, ULIDs, and numbers under a name such as `created_at` that count seconds since 1970. In
   arguments a shape excuses nothing: the agent chose them.
2. An id that a mutation or notification generated is compared by what it stands for. Both sides
   made the same call, and its result has an identifier at one place that neither run had seen
   before: from there on the reference's id and the candidate's id are the same one, in arguments
   and inside texts, and passing the other side's id would be a difference. Results of lookups
   rename nothing: an order found under another id is another order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from trackway.schema import StepKind
from trackway_analyzer.diff.align import Pair
from trackway_analyzer.diff.calls import Call
from trackway_analyzer.diff.values import Change, changes, is_identifier
from trackway_analyzer.model import JsonValue, NotRecorded
from trackway_analyzer.rules.values import Absent

_TEXT_SHAPES: Final = {
    "UUID": re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE),
    "time": re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?\Z"
    ),
    "hex digits": re.compile(r"(?:0x)?[0-9a-f]{16,}\Z", re.IGNORECASE),
    "ULID": re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z"),
}
_TIME_NAME: Final = re.compile(
    r"(?:^|_)(?:at|ts|time|timestamp|epoch|created|updated)$|timestamp|(?:At|Time)$"
)
_EPOCHS: Final = ((1e9, 4e9), (1e12, 4e12), (1e15, 4e15), (1e18, 4e18))
_CREATING: Final = frozenset({StepKind.MUTATE, StepKind.NOTIFY})
_LEAST_ID: Final = 4


def shape(change: Change) -> str | None:
    """The volatile shape that both values of a difference have; None: they mean something."""
    reference, candidate = change.reference, change.candidate
    if isinstance(reference, str) and isinstance(candidate, str):
        for name, pattern in _TEXT_SHAPES.items():
            if pattern.match(reference) and pattern.match(candidate):
                return name
        return None
    name = str(change.at[-1]) if change.at else ""
    if _TIME_NAME.search(name) and _same_epoch(reference, candidate):
        return "time"
    return None


def _same_epoch(reference: JsonValue | Absent, candidate: JsonValue | Absent) -> bool:
    numbers = [
        value
        for value in (reference, candidate)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    ]
    return any(len([n for n in numbers if low <= n <= high]) == 2 for low, high in _EPOCHS)


@dataclass
class Renaming:
    """Generated ids of the reference by those of the candidate, both ways; rule 2."""

    forward: dict[str, str] = field(default_factory=dict)
    backward: dict[str, str] = field(default_factory=dict)

    def same(self, reference: JsonValue | Absent, candidate: JsonValue | Absent) -> bool:
        """Whether two values are the same once generated ids have one name."""
        if not isinstance(reference, str) or not isinstance(candidate, str):
            return False
        if reference in self.forward or candidate in self.backward:
            return self.forward.get(reference) == candidate
        text = reference
        for theirs, ours in self.forward.items():
            text = text.replace(theirs, ours)
        return text == candidate

    def add(self, reference: str, candidate: str) -> None:
        """Take two ids as one, unless either already stands for another."""
        if reference not in self.forward and candidate not in self.backward:
            self.forward[reference] = candidate
            self.backward[candidate] = reference


def renaming(
    pairs: Iterable[Pair],
    reference: Sequence[Call],
    candidate: Sequence[Call],
    inputs: Sequence[str],
) -> Renaming:
    """Learn which generated ids of two runs are the same id."""
    names = Renaming()
    for pair in pairs:
        if pair.reference.kind in _CREATING and _made_alike(pair, names):
            for left, right in _new_ids(pair):
                fresh = _unseen(left, pair.reference, reference, inputs) and _unseen(
                    right, pair.candidate, candidate, inputs
                )
                if fresh:
                    names.add(left, right)
    return names


def argument_changes(pair: Pair, names: Renaming) -> list[Change]:
    """The places at which two recorded argument values differ, under masks and renaming."""
    reference, candidate = pair.reference, pair.candidate
    masked = reference.masked | candidate.masked
    found = changes(reference.step.arguments, candidate.step.arguments, masked)
    kept = [change for change in found if not names.same(change.reference, change.candidate)]
    return kept + list(_stale(pair, names))


def _stale(pair: Pair, names: Renaming) -> Iterable[Change]:
    """Ids of the reference that the candidate passed although its own has another name."""
    theirs = pair.candidate.argument_leaves or frozenset()
    for at, leaf in sorted(pair.reference.argument_leaves or (), key=repr) if names.forward else ():
        value = leaf[1]
        if (at, leaf) in theirs and isinstance(value, str) and value in names.forward:
            yield Change(at, value, value)


def _made_alike(pair: Pair, names: Renaming) -> bool:
    left, right = pair.reference, pair.candidate
    recorded = left.argument_leaves is not None and right.argument_leaves is not None
    return recorded and left.step.ok == right.step.ok and not argument_changes(pair, names)


def _new_ids(pair: Pair) -> Iterable[tuple[str, str]]:
    left, right = pair.reference.step.result, pair.candidate.step.result
    if isinstance(left, NotRecorded) or isinstance(right, NotRecorded):
        return
    for change in changes(left, right):
        ours, theirs = change.reference, change.candidate
        if isinstance(ours, str) and isinstance(theirs, str):
            identifiers = is_identifier(change.at, ours) and is_identifier(change.at, theirs)
            if identifiers and min(len(ours), len(theirs)) >= _LEAST_ID:
                yield ours, theirs


def _unseen(value: str, call: Call, run: Sequence[Call], inputs: Sequence[str]) -> bool:
    """Whether a value turns up for the first time in the result of `call`."""
    if any(value in text for text in inputs) or value in call.given.identifiers:
        return False
    return not any(
        value in other.given.identifiers or value in other.answered.identifiers
        for other in run
        if other.rank < call.rank
    )
