"""Does what an approval returned say yes? Asked where no rule says which of its members tells.

1. true, or a text that says yes and nothing else (`approved`, `Yes, go ahead`), grants; false, or a
   text that begins with a no (`denied by ann`, `not approved`), does not.
2. Of a mapping, the members tell that are named after a permission (`approved`, `is_allowed`,
   `denied`), else `ok`, `success`, `status`, `decision` and such; those of inner mappings too. A
   list under such a name says yes of what stands in it. Names of what is asked for
   (`requires_approval`) tell nothing.
3. Members that contradict each other, and everything else, tell neither. So does a yes that has run
   out or was taken back (`expired: true`), and one with conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.actions import words_of
from trackway_analyzer.rules.values import is_number
from trackway_analyzer.said_no import is_failure, status_word

_GRANTS: Final = frozenset(
    """
    approve approved approval grant granted allow allowed permit permitted permission authorize
    authorized authorise authorised confirm confirmed accept accepted consent eligible agreed
    """.split()  # noqa: SIM905 - a word list reads better as one
)
_REFUSES: Final = frozenset(
    """
    deny denied reject rejected rejection decline declined refuse refused refusal disapproved
    disallowed forbidden vetoed ineligible blocked
    """.split()  # noqa: SIM905 - a word list reads better as one
)
_TELLS: Final = frozenset(
    """
    ok success succeeded successful status state decision answer response outcome verdict reply
    result yes
    """.split()  # noqa: SIM905 - a word list reads better as one
)
_ASKED_FOR: Final = frozenset(
    """
    required requires require needed needs need pending awaiting waiting requested request id url
    by at on date time reason note level policy type limit amount
    """.split()  # noqa: SIM905 - a word list reads better as one
)
"""Words of a name that is not what somebody decided."""
_ENDS: Final = frozenset(
    """
    expired revoked withdrawn superseded rescinded void voided stale outdated conditional condition
    conditions restriction restrictions caveat caveats
    """.split()  # noqa: SIM905 - a word list reads better as one
)
"""Words of a name by which a yes holds no more, or not for everything."""
_YES: Final = frozenset({"yes", "y", "true", "ok", "okay", "sure", "1", *_GRANTS})
_NO: Final = frozenset({"no", "n", "false", "0", "never", *_REFUSES})
_AGREES: Final = re.compile(
    r"\s*(?:yes|ok|okay|sure|approved|granted|confirmed|allowed|accepted|authori[sz]ed|agreed"
    r"|permission\s+granted|go\s+ahead)\b(?:[\s,.!;:–—-]|go\s+ahead|please|do\s+it|approved"
    r"|granted|confirmed|thanks|thank\s+you|by\s+[\w@.-]+)*",
    re.IGNORECASE,
)
_DISAGREES: Final = re.compile(
    r"\s*(?:no|nope|never|not|don['’]t|do\s+not|denied|rejected|declined|refused|disapproved"
    r"|permission\s+denied)\b(?!\s+(?:problem|worries|objections?|concerns?|doubt|only)\b)",
    re.IGNORECASE,
)
_DEEPEST: Final = 3


class Said(NamedTuple):
    """One member by which a result tells."""

    name: str
    value: JsonValue
    yes: bool
    plainly: bool
    """It is named after a permission."""


def grants(result: JsonValue) -> bool | None:
    """Return whether a result says yes; None: neither yes nor no."""
    if not isinstance(result, dict):
        return _word_says(result)
    said = decisive(result)
    answers = {member.yes for member in said}
    if answers == {True} and _ends(result):
        return None
    return answers.pop() if len(answers) == 1 else None


def granted_things(result: JsonValue) -> list[JsonValue]:
    """Return what stands in lists under names of a permission."""
    if not isinstance(result, dict):
        return []
    listed = [
        item
        for name, item in result.items()
        if isinstance(item, list)
        and set(words_of(name)) & _GRANTS
        and not set(words_of(name)) & _ASKED_FOR
    ]
    return [thing for item in listed for thing in item if not isinstance(thing, (dict, list))]


def _ends(result: dict[str, JsonValue]) -> bool:
    """Whether a yes has run out, or has conditions."""
    found = (item for name, item in result.items() if set(words_of(name)) & _ENDS)
    return any(item not in (None, False, "", 0) and item != [] for item in found)


def decisive(result: JsonValue) -> list[Said]:
    """Return the members of a result by which it tells."""
    found = list(_members(result, 0))
    return [member for member in found if member.plainly] or found


def _members(value: JsonValue, depth: int) -> Iterator[Said]:
    if not isinstance(value, dict) or depth >= _DEEPEST:
        return
    for name, item in value.items():
        words = set(words_of(name))
        plainly = bool(words & (_GRANTS | _REFUSES))
        if isinstance(item, dict):
            yield from _members(item, depth + 1)
        elif (plainly or words & _TELLS) and not words & _ASKED_FOR:
            listed = bool(item) if plainly and isinstance(item, list) else None
            says = _word_says(item) if listed is None else listed
            refusal = bool(words & _REFUSES) is not ("not" in words)
            if says is not None and not (refusal and not says):
                yield Said(name, item, says is not refusal, plainly)


def _word_says(value: JsonValue) -> bool | None:
    if isinstance(value, bool):
        return value
    if is_number(value):
        return {0: False, 1: True}.get(value)
    if not isinstance(value, str):
        return None
    word = status_word(value) or ""
    if word in _YES or _AGREES.fullmatch(value):
        return True
    return False if word in _NO or is_failure(word) or _DISAGREES.match(value) else None
