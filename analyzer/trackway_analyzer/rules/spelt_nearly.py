"""Does a call have an argument that is spelt nearly as one that a rule names?

A name that no call has may be misspelt: a rule that would hold because of it is undecided, and
says which name was meant. Case, hyphens and underscores do not count.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.terms import Hidden

_NEARLY: Final = 0.8
"""From 0 to 1: how alike two names are of which one may be the other misspelt."""
_OF_IDS: Final = frozenset(
    ("id", "ids", "ref", "reference", "key", "uuid", "guid", "number", "no", "nr", "num", "code")
)
"""Words by which a name says that it is one of an id."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name))


def spelt_nearly(
    evidence: Evidence, row: int, argument: str, known: Collection[str] = ()
) -> str | None:
    """The argument of a call that `argument` may be a misspelling of, other than those known."""
    source = evidence.arguments(row)
    if isinstance(source, Hidden) or not isinstance(source.value, dict):
        return None
    bare = {_bare(name): name for name in source.value if name not in known}
    near = get_close_matches(_bare(argument), bare, n=1, cutoff=_NEARLY)
    return bare[near[0]] if near else None


def named_otherwise(evidence: Evidence, row: int, argument: str) -> str | None:
    """The argument of a call whose name says no more than that of `argument`, and an id's."""
    source = evidence.arguments(row)
    if isinstance(source, Hidden) or not isinstance(source.value, dict):
        return None
    wanted = _words(argument)
    if not wanted & _OF_IDS:
        return None
    return next((name for name in source.value if _words(name) <= wanted | _OF_IDS), None)


def did_you_mean(near: str | None) -> str:
    """The end of a sentence that names it."""
    return "" if near is None else f", did you mean {near}?"


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
