"""Words that all findings share: steps, values, gaps, reasons.

A sentence names the tool, the argument, both values, the step, and what was recorded instead:
`step 3 refund_api.create: amount 42.0, expected 84.0 (order.total from lookup_order at step 1)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP
from trackway_analyzer.rules.terms import (
    ABOUT_GAP,
    ABSENT_GAP,
    ALIKE_GAP,
    DENIED_GAP,
    NEITHER_GAP,
    NO_ORDER_GAP,
    OTHERWISE_GAP,
    TOO_SHORT_GAP,
    Because,
    Hidden,
    NoSource,
    Read,
)
from trackway_analyzer.rules.values import ABSENT, Absent, shown, shown_apart

_WHY: Final = {
    NOT_RECORDED_GAP: "not recorded",
    ABSENT_GAP: "absent where it was looked for (is its name right?)",
    NO_ORDER_GAP: "no plain number and no date, so that nobody knows its order",
    TOO_SHORT_GAP: "too short to be told from others",
    NEITHER_GAP: "neither a yes nor a no",
    DENIED_GAP: "said not to be so",
    OTHERWISE_GAP: "written otherwise or worked out, if it was shown at all",
    ABOUT_GAP: "about something that may be another",
    ALIKE_GAP: "written like another one, and may be the same",
    "content_off": "not recorded (content_off)",
    "truncated_value": "cut off (truncated_value)",
    REDACTED_GAP: "redacted",
    "unparsable_arguments": "no JSON object (unparsable_arguments)",
}
_OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def step(evidence: Evidence, row: int) -> str:
    """Name a step at the beginning of a sentence: `step 3 refund_api.create`."""
    return f"step {number(evidence, row)} {evidence.own_name(row) or 'unnamed tool'}"


def at_step(evidence: Evidence, row: int) -> str:
    """Name a step inside a sentence: `refund_api.create at step 3`."""
    return f"{evidence.own_name(row) or 'unnamed tool'} at step {number(evidence, row)}"


def number(evidence: Evidence, row: int) -> int:
    """Number of a step as a person counts, from 1."""
    return evidence.position(row) + 1


def hidden_value(gap: Hidden, what: str) -> str:
    """Say that a value cannot be seen: `the result of step 3 was not recorded (content_off)`."""
    if gap.gap in _WHY:
        return f"{what} was {_WHY[gap.gap]}"
    return f"{gap.gap} hides {what}"


def cannot_judge(evidence: Evidence, result: Result, what: str | None = None) -> str:
    """Say why a result is insufficient: `step 3 refund: amount cannot be judged: a value …`."""
    gap, at = result.detail["gap"], result.detail.get("at")
    subject = what or "the run"
    if result.position is not None:
        row = int(evidence.batch.offsets[result.run]) + result.position
        subject = f"{step(evidence, row)}: {what}" if what else step(evidence, row)
    reason = _hidden_value_of(gap, at) or f"{gap} hides what decides"
    return f"{subject} cannot be judged: {reason}"


def may_hide_it(gap: Hidden, what: str) -> str:
    """Say what hides a call: `missing_steps at step 3 may hide a call of refund`."""
    at = "" if gap.position is None else f" at step {gap.position + 1}"
    return _hidden_value_of(gap.gap, gap.position) or f"{gap.gap}{at} may hide a call of {what}"


def _hidden_value_of(gap: str, at: int | None) -> str | None:
    """Say that a value is not there; None: the gap hides no value."""
    where = "" if at is None else f" of step {at + 1}"
    return f"a value{where} was {_WHY[gap]}" if gap in _WHY else None


def because(evidence: Evidence, reason: Because) -> str:
    """Say what an expression found: `amount 42.0, expected 84.0 (order.total from …)`."""
    left, right = reason.left, reason.right
    for side in (left, right):
        if side is not None and isinstance(side.value, NoSource):
            other = side.value.of_another
            but = "" if other is None else f" of the same entity: {at_step(evidence, other)} was of"
            but += "" if other is None else " another"
            return f"{side.text} cannot be read: no earlier successful {side.value.name}{but}"
    operator = reason.operator or "=="
    if reason.negated:
        operator = _OPPOSITE.get(operator, f"not {operator}")
    if right is None:
        expected = "false" if reason.negated else "true"
        return f"{left.text} is {shown(_seen(left))}{_origin(evidence, left)}, expected {expected}"
    got, wanted = _both(operator, left, right)
    if ((left.row is not None and right.row is None) or left.literal) and not right.literal:
        operator, left, right = _mirrored(operator), right, left
        got, wanted = wanted, got
    if isinstance(_seen(right), Absent) and not isinstance(_seen(left), Absent):
        missing = f"{right.text} is absent{_origin(evidence, right)}"
        return f"{left.text} {got}{_origin(evidence, left)}, but {missing}"
    relation = "" if operator == "==" else f"{operator} "
    origin = _origin(evidence, right, named=not right.literal)
    return f"{left.text} {got}{_origin(evidence, left)}, expected {relation}{wanted}{origin}"


def _both(operator: str, left: Read, right: Read) -> tuple[str, str]:
    if operator in ("==", "!="):
        return shown_apart(_seen(left), _seen(right))
    got, wanted = (r.text if r.literal else shown(_seen(r)) for r in (left, right))
    return got, wanted


def _mirrored(operator: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)


def _seen(read: Read) -> object | Absent:
    return ABSENT if isinstance(read.value, (Hidden, NoSource)) else read.value


def _origin(evidence: Evidence, read: Read, *, named: bool = False) -> str:
    """Where a value came from: `(order.total from lookup_order at step 1)`."""
    if read.row is None:
        return f" ({read.text})" if named else ""
    place = at_step(evidence, read.row)
    return f" ({read.text} from {place})" if named else f" (from {place})"


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """The recorded name that looks most like one that is missing."""
    found = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return found[0] if found else None
