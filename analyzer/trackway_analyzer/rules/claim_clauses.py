"""Is what a match says asserted by its sentence? Its clause may take it back. In English.

1. A clause ends at a comma, semicolon, dash, colon and before `and`, `but`, `so`, `then`,
   `because`, `since you`, `although`, `that will`. What opens a sentence ("as soon as I saw it",
   "without delay") ends where `I` or `we` did something. "I can confirm that …", "please note that
   …" stand before a clause and are no part of it. A word takes back what its own clause says.
   A heading says what stands behind it ("Refund: $84 (not issued)", "Refund - denied").
2. Negated: `not`, `n't`, `never`, `cannot`, `unable`, `failed to`, `yet to` in the clause; `no`,
   `without`, `none` up to the end of the match; `failed`, `declined`, `rejected`, `on hold` outside
   the match; `doubt`, `unlikely`, `unclear`; `nearly`, `almost`, `non-` right before it; an answer
   behind it ("Refunded: no"). `not only`, `no doubt` negate nothing. Names, values, compounds and
   clauses about a thing are no words of the clause (`set_aside`).
3. Conditional: `if`, `once`, `when`, `unless`, `until`, `after`, `before`, `whether`, `as soon as`,
   `in case` up to the end of the match; after it, or in a clause before, only where the clause is
   in the present tense ("is refunded once we receive it").
4. Still to come: `will`, `shall`, `would`, `can`, `could`, `may`, `might`, `should`, `must`, `need
   to`, `let me`, `please` up to the end of the match or as the verb of what matched; `going to`,
   `scheduled to`, `eligible to` in the clause. `was able to` is done.
   A second verb has the modal of the first ("I will check it and arrange for the refund").
5. A question is no claim, nor what somebody else is said to have said ("you said it was …"), nor
   what is so in general ("only sealed items are refunded"), nor one of several things to choose
   ("reasons are a cancelled flight, or others"). A question that follows asks nothing
   about the claim ("…, is there anything else?"), other than a tag ("…, is that right?").
6. A thing that is only spoken of is not done: what somebody asks for or has a right to ("you asked
   for a refund"), a word before another ("the refund policy", "your refund request"), a thing in
   general ("refunds take 5 days"). A thing that `I` or `we` did, or that was done, is done whatever
   is said about it ("you will see the refund that we issued"). What was undone is not done
   ("I cancelled the refund", "the refund has expired"), nor what is only talked of ("I reviewed
   the refund", "processing a refund takes 5 days").
7. What is so in general, what others did, what is quoted or taken for granted is no claim
   (`presupposed`).
8. `is_implied`: who says of a thing that it will arrive ("your refund will arrive in 5 days")
   without a condition, or speaks of what was done and not by whom, says no claim, and not nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trackway_analyzer.rules.claim_forms import (
    AIMED_AT,
    ALSO_TO_DO,
    ANSWERED_NO,
    ARRIVES,
    ASKED_FOR,
    ASKS,
    ASSURED,
    AWAITED,
    BOUNDARY,
    CHOICE,
    COMPOUND,
    CONDITION,
    CROSSED,
    DEED,
    DONE_WITH_IT,
    FAILED,
    FINITE,
    GENERAL,
    GERUND,
    GOES_ON,
    HANDED_ON,
    IN_GENERAL,
    INSERTED,
    LABEL_ENDS,
    MODAL,
    NEARLY,
    NO,
    NOT,
    NOT_FAILED,
    OF_ANOTHER,
    ONLY_TALKED_OF,
    OPENING,
    OWN_TAG,
    OWN_WORDS,
    PASSIVE,
    PRESENT,
    REPORTED,
    SAME_VERB,
    SAYS_NO,
    STATUS_OF,
    TAKES,
    TO_COME,
    UNDID,
    UNDONE,
    UNTICKED,
    VERB,
    WHICH_WAS_DONE,
)
from trackway_analyzer.rules.presupposed import is_general, is_of_others, is_only_told
from trackway_analyzer.rules.set_aside import Span, set_aside

_OR: Final = re.compile(r"[^.;:!?)]*?,?\s+or\s", re.IGNORECASE)


def is_claim(sentence: str, start: int, end: int, values: Iterable[Span] = ()) -> bool:
    """Whether the words of a sentence from `start` to `end` are said to be so.

    `values` are places of what named groups caught.
    """
    sentence = _set_aside(sentence, start, end, values)
    if CHOICE.search(sentence[:start]) and _OR.match(sentence, end):
        return False
    if ANSWERED_NO.match(sentence, end) or NEARLY.search(sentence[:start]):
        return False
    if _ticked_off(sentence, start, end) or _headed(sentence, start, end):
        return False
    own = max((m.end() for m in OWN_WORDS.finditer(sentence, 0, start)), default=0)
    if _asked(sentence, end) or REPORTED.search(sentence[own:end]):
        return False
    if is_of_others(sentence, start, end) or is_only_told(sentence, start, end):
        return False
    if any(start < done.start() <= end for done in WHICH_WAS_DONE.finditer(sentence, start)):
        return True
    return _is_asserted(sentence, start, end)


def _is_asserted(sentence: str, start: int, end: int) -> bool:
    """Whether no word of the clause takes back what it says."""
    first, last = _clause(sentence, start, end)
    start = max(first, start)
    before, inside, after = sentence[first:start], sentence[start:end], sentence[end:last]
    return not (
        is_general(before, inside, after)
        or _negated(before, inside, after)
        or _still_to_come(before, inside, after)
        or _conditional(sentence[:first], before + inside, after)
        or GENERAL.match(before + inside + after)
        or _only_spoken_of(before, inside, after, sentence[last:])
    )


def is_implied(sentence: str, start: int, end: int, values: Iterable[Span] = ()) -> bool:
    """Whether a sentence that claims nothing says what is so only of what was done."""
    sentence = _set_aside(sentence, start, end, values)
    if _asked(sentence, end) or REPORTED.search(sentence[:end]):
        return False
    if is_only_told(sentence, start, end):
        return not CONDITION.search(sentence)
    first, last = _clause(sentence, start, end)
    start = max(first, start)
    before, inside, after = sentence[first:start], sentence[start:end], sentence[end:last]
    arrives = ARRIVES.match(after) and not ASKED_FOR.search(before)
    if not (arrives or AWAITED.search(before)):
        return False
    negated = NOT.search(before + inside + after) or NO.search(before + inside)
    return not (negated or CONDITION.search(sentence))


def is_denied(sentence: str, start: int, end: int, values: Iterable[Span] = ()) -> bool:
    """Whether the words of a sentence from `start` to `end` are said not to be so."""
    sentence = _set_aside(sentence, start, end, values)
    if _asked(sentence, end):
        return False
    first, last = _clause(sentence, start, end)
    start = max(first, start)
    before, inside, after = sentence[first:start], sentence[start:end], sentence[end:last]
    return _negated(before, inside, after) and not (
        _still_to_come(before, inside, after)
        or _conditional(sentence[:first], before + inside, after)
    )


def _set_aside(sentence: str, start: int, end: int, values: Iterable[Span]) -> str:
    """Blot out what says nothing, and two negations that say yes; its length stays."""
    sentence = INSERTED.sub(_blank, sentence)
    return NOT_FAILED.sub(_blank, set_aside(sentence, start, end, values))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _asked(sentence: str, end: int) -> bool:
    """Whether a sentence asks what it says up to `end`."""
    if not sentence.rstrip("\"')] ").endswith("?") or OWN_TAG.search(sentence, end):
        return False
    later = (b.end() for b in BOUNDARY.finditer(sentence, end))
    return bool(ASKS.match(sentence)) or not any(ASKS.match(sentence, at) for at in later)


def _ticked_off(sentence: str, start: int, end: int) -> bool:
    """Whether a mark says that it is not done."""
    marked = CROSSED.match(sentence, end) or UNTICKED.search(sentence[:start])
    return bool(marked) and not VERB.search(sentence[start:end])


def _headed(sentence: str, start: int, end: int) -> bool:
    """Whether it is a heading, and what stands behind it says no."""
    heading = LABEL_ENDS.search(sentence, start)
    while heading is not None:
        before = sentence[: heading.start()]
        if heading.end() >= end and SAYS_NO.match(sentence, heading.end()):
            return VERB.search(before) is None
        heading = LABEL_ENDS.search(sentence, max(heading.end(), heading.start() + 1))
    return False


def _negated(before: str, inside: str, after: str) -> bool:
    return bool(
        NOT.search(before + inside + after)
        or NO.search(before + inside)
        or FAILED.search(before)
        or FAILED.search(OF_ANOTHER.sub("", after))
        or UNDID.search(before)
        or (UNDONE.match(after) and not VERB.search(inside))
    )


def _still_to_come(before: str, inside: str, after: str) -> bool:
    if AIMED_AT.search(before):
        return True
    if MODAL.search(before + inside) or TO_COME.search(before + inside + after):
        return True
    modal = MODAL.search(after)
    return modal is not None and not FINITE.search(after[: modal.start()])


def _conditional(earlier: str, clause: str, after: str) -> bool:
    if CONDITION.search(clause):
        return True
    opened = any(CONDITION.match(part.strip()) for part in BOUNDARY.split(earlier) if part)
    return bool((opened or CONDITION.search(after)) and PRESENT.search(clause + after))


def _only_spoken_of(before: str, inside: str, after: str, later: str) -> bool:
    """Whether the match is a thing of which nobody says that it was done."""
    if FINITE.search(inside):
        return False
    headed = later if STATUS_OF.match(after) and later.startswith((":", "|", "=")) else ""
    if COMPOUND.match(after) and not DONE_WITH_IT.search(after + headed):
        return True
    if GERUND.match(before) and TAKES.match(after):
        return True
    talked = ONLY_TALKED_OF.search(before) or HANDED_ON.match(after)
    if talked and not DONE_WITH_IT.search(after + later):
        return True
    return bool(ASKED_FOR.search(before) or IN_GENERAL.match(before + inside + after))


def _clause(sentence: str, start: int, end: int) -> tuple[int, int]:
    starts = [0, *(b.end() for b in BOUNDARY.finditer(sentence, 0, start))]
    if GOES_ON.match(sentence, starts[-1]):
        starts = starts[:-2] or [0]
    elif SAME_VERB.match(sentence[starts[-1] : start]) and PASSIVE.search(sentence[: starts[-1]]):
        starts = starts[:-1] or [0]
    while len(starts) > 1 and ALSO_TO_DO.match(sentence, starts[-1]) is not None:
        if not MODAL.search(sentence, starts[-2], starts[-1]):
            break
        starts = starts[:-1]
    first = starts[-1]
    deeds = (deed.start() for deed in DEED.finditer(sentence, first) if deed.start() < end)
    opened = (at for at in deeds if any(OPENING.fullmatch(sentence, s, at) for s in starts))
    first = next(opened, first)
    assured = ASSURED.match(sentence, first)
    if assured is not None and assured.end() < end:
        first = assured.end()
    last = next((b.start() for b in BOUNDARY.finditer(sentence, end)), len(sentence))
    return first, last
