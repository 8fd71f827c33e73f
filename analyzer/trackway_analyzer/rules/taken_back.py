"""Does a later message take back what an earlier one claimed?

1. It does if it says that the same is not so: a match of the pattern that its clause negates ("the
   order has not been refunded"). One about other things takes nothing back: other values of the
   named groups, or names with digits of which none is the same.
2. It does if it says that what was said is wrong ("I was wrong", "that was not correct"), and does
   not claim it again.
3. What is still to come, a condition or a question takes nothing back.
"""

from __future__ import annotations

import re
from typing import Final

from trackway_analyzer.rules.claim_clauses import is_denied
from trackway_analyzer.rules.claim_language import (
    Claimed,
    claims,
    compiled_pattern,
    places,
    sentences,
)

_WRONG: Final = re.compile(
    r"\bI\s+(?:was|am|have\s+been|['’]m)\s+(?:wrong|mistaken|incorrect)\b"
    r"|\bI\s+(?:misspoke|misinformed|misstated|should(?:n['’]t|\s+not)\s+have\s+(?:said|told))\b"
    r"|\b(?:that|this|what\s+I\s+(?:said|told\s+you)"
    r"|my\s+(?:earlier|previous|last)\s+(?:message|statement|answer|reply|confirmation))\s+"
    r"(?:was|is)(?:n['’]t|\s+not)?\s+(?:wrong|incorrect|inaccurate|mistaken|untrue|false"
    r"|(?<=n't\s)(?:right|true|correct|accurate)|(?<=not\s)(?:right|true|correct|accurate))\b"
    r"|\bcontrary\s+to\s+what\s+I\s+(?:said|told|wrote)\b"
    r"|\b(?:disregard|ignore)\s+my\s+(?:earlier|previous|last)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"\b(?=\w*\d)\w+\b")


def taken_back(claim: Claimed, pattern: str, later: str) -> bool:
    """Whether a later message says that a claim of an earlier one is not so."""
    if _WRONG.search(later) and not claims(later, pattern):
        return True
    expression = compiled_pattern(pattern)
    return any(
        is_denied(sentence.text, *match.span(), places(match).values())
        and not _of_another(claim, match, sentence.text)
        for sentence in sentences(later)
        for match in expression.finditer(sentence.text)
        if match.group()
    )


def _of_another(claim: Claimed, match: re.Match[str], sentence: str) -> bool:
    """Whether a denial is about other things than a claim."""
    said = claim.groups
    values = {name: value for name, value in match.groupdict().items() if value is not None}
    if any(said.get(name, value) != value.rstrip(".,;:!?") for name, value in values.items()):
        return True
    own, others = set(_NAME.findall(claim.sentence.text)), set(_NAME.findall(sentence))
    return bool(own and others and not own & others)
