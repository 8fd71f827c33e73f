"""What of a result decides whether its call took effect, in SQL.

1. Of a call that raised nothing and declared nothing, `happened` decides: from members of its
   result where it is an object, from the words of a text. An object with nothing that may tell is
   like any other; the one look at its text for all that may is `told`.
2. Usual members are taken as they are; an object with a member that says so in another spelling or
   that may read like a failure, and a text in which one of those words occurs, are taken whole.
3. A word that says no may be what the call's own arguments asked for: these are compared, too.
4. A member that the check itself takes exactly is not looked for.
"""

from __future__ import annotations

from typing import Final

from trackway_analyzer.answers_no import MAY_ANSWER_NO
from trackway_analyzer.engine.read_values import ReadValues
from trackway_analyzer.engine.sql_text import cases, quoted
from trackway_analyzer.reads_as_failure import DOUBTED, DOUBTED_LIST
from trackway_analyzer.said_no import FAILED, KNOWN_GOOD, LEFT_OPEN, PENDING, SAYING, TELLING, USUAL

_WORDS: Final = quoted(rf'(?i){SAYING}|{MAY_ANSWER_NO}|…|\\|^"\s*[\[{{<]')
"""One of them stands in every text by which a call may say that it took no effect, or nothing."""
_SPELT: Final = "|".join(name for name in TELLING if name not in USUAL)
_BEYOND: Final = rf'"(?:{_SPELT}|…)":|"sha256|{DOUBTED}|{MAY_ANSWER_NO}'
"""Objects of which more decides than their usual members: cut ones, digests, other spellings, and
those that may read like a failure."""
_OBJECT, _LIST, _TEXT = (ord(sign) for sign in '{["')
_NUMBER: Final = ", ".join(str(ord(sign)) for sign in "-0123456789")
"""With what a number begins."""


_STATUS: Final = quoted('(?i)"status":"')
_WELL_KNOWN: Final = quoted(rf'(?i)"status":"(?:{"|".join(sorted(KNOWN_GOOD))})"')
_SAYS_NO: Final = quoted(
    rf'(?i)"(?:status|state)":"(?:{"|".join((*LEFT_OPEN, *sorted(FAILED | PENDING)))})'
    rf'|^".*(?:{SAYING})'
)
_ASKED_FOR: Final = (
    f"regexp_matches(result, {_SAYS_NO}) OR (regexp_matches(result, {_STATUS})"
    f" AND NOT regexp_matches(result, {_WELL_KNOWN}))"
)
"""Whether a result says no, or may, by what the call's own arguments may have asked for."""


def told(values: ReadValues) -> str:
    """Whether a result is an object of which more than that has to be known."""
    whens = ""
    for which, tool in enumerate(values.tools):
        looked_for = quoted(rf'"(?:{"|".join(values.names(tool))})"|{_BEYOND}')
        whens += f" WHEN which = {which} THEN regexp_matches(result, {looked_for})"
    return f"CASE WHEN which < 0 OR opens IS DISTINCT FROM {_OBJECT} THEN false {whens} END"


def outcome(values: ReadValues) -> str:
    """What decides whether a call took effect, and the exact values of its result."""
    plain = "CASE WHEN told THEN hash(says) ELSE 2 END"
    exact = {}
    for which, read in values.exact("result").items():
        lost = " AND ".join(f"{value} IS NULL" for value in read)
        exact[which] = (
            f"CASE WHEN {lost} AND NOT json_valid(result) THEN hash(result)"
            f" ELSE hash({', '.join(read)}, says) END"
        )
    says = f"""CASE WHEN which < 0 THEN 0
        WHEN told AND (says IS NULL OR regexp_matches(result, {quoted(_BEYOND)})) THEN hash(result)
        WHEN opens = {_OBJECT} THEN {cases("which", exact, plain)}
        WHEN result IS NULL THEN 1
        WHEN opens IN ({_NUMBER}) THEN 3
        WHEN opens = {_LIST} AND NOT regexp_matches(result, {quoted(DOUBTED_LIST)}) THEN 3
        WHEN opens = {_TEXT} AND NOT regexp_matches(result, {_WORDS}) THEN 4
        ELSE hash(result) END"""
    asked_for = f"which >= 0 AND ({_ASKED_FOR})"
    return f"(CASE WHEN {asked_for} THEN hash({says}, arguments) ELSE {says} END)::UBIGINT"
