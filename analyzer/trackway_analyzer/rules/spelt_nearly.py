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


def did_you_mean(near: str | None) -> str:
    """The end of a sentence that names it."""
    return "" if near is None else f", did you mean {near}?"


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
