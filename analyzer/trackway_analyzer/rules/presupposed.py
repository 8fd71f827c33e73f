"""Does a sentence say of something that its author did it? Or does it only speak of what is so?

1. General: a word before a thing without an article ("refunds for cancelled bookings"), or behind
   things in general with a verb of the present tense ("bookings cancelled within a day are free").
2. Somebody else's: what `you` or another did ("you booked it"), wanted or said, and what was so
   before ("as previously booked").
3. Taken for granted or quoted: a word between an article and a thing ("your cancelled booking"), a
   few words in quotes, what records show ("according to our system it was cancelled"), what is so
   already or since some day ("it was already cancelled", "its status is cancelled"), what a cross
   stands beside.
None of it is a claim. The last leaves open whether it was done.
"""

from __future__ import annotations

import re
from typing import Final

_WORDS = re.IGNORECASE
_PARTICIPLE: Final = re.compile(r"(?:ed|id|nt|wn|en|made|done)\Z", _WORDS)
_OF_A_THING: Final = re.compile(
    r"\A\s+(?!(?:and|or|but|to|in|on|by|for|from|with|at|as|via|the|your|an?|this|that|it|you|today"
    r"|now|yesterday|earlier|already|successfully|within|after|before|because|since|per|so|under"
    r"|using|through|without|if|when|once|due|right|just|back|free|again|is|are|was|were|has|have"
    r"|will|would|can|could|may|might|should|must)\b)[a-z]{3,}",
    _WORDS,
)
"""A thing right behind a word: `cancelled bookings`."""
_WITHOUT_ARTICLE: Final = re.compile(
    r"\b(?:for|of|on|with|about|from|against|than|between|including|like|any|most|such|only|each"
    r"|every|an?|no)\s+\Z",
    _WORDS,
)
_WITH_ARTICLE: Final = re.compile(
    r"\b(?:the|your|this|that|these|those|my|his|her|their|its|previously|already|newly|recently"
    r"|originally)\s+\Z",
    _WORDS,
)
_PRESENT: Final = (
    r"(?:are|is|get|gets|cost|costs|have|has|incur|incurs|carry|carries|do|does|must|can|cannot|may"
    r"|receive|receives|need|needs|require|requires|go|goes|take|takes|appear|count|lose|loses"
    r"|qualify|remain|usually|typically|normally|generally|always)\b"
)
_THINGS_BEFORE: Final = re.compile(
    r"\A\s*(?:(?:all|most|any|some|only|such|and|but)\s+)*(?:(?:an?|any|each|every)\s+[\w-]+"
    r"|(?!this|its|his|hers|was|is|has)[a-z-]+s)\s+\Z",
    _WORDS,
)
_THINGS_BEHIND: Final = re.compile(rf"\A\s+[a-z-]+s\s+(?:\w+\s+)?{_PRESENT}", _WORDS)
_OTHERS: Final = (
    r"(?:you|they|he|she|(?:the|your|another|an?)\s+(?:\w+\s+)?(?:airline|hotel|bank|merchant"
    r"|seller|shop|store|customer|user|client|carrier|passenger|owner|courier|vendor|supplier))"
)
_BY_OTHERS: Final = re.compile(
    rf"\b{_OTHERS}(?:['’](?:ve|d)|\s+(?:have|has|had))?(?:\s+(?:already|just|also|\w+ly))*\s+\Z",
    _WORDS,
)
_BEFORE_THAT: Final = re.compile(r"\b(?:previously|originally|formerly|initially)\s+\Z", _WORDS)
_NOT_REACHED: Final = re.compile(
    r"\b(?:wants?|wanted|wish(?:es)?|prefer(?:s|red)?|would\s+like|expects?|refus(?:es?|ed)\s+to"
    r"|stopped\s+short\s+of|far\s+from)\s+(?:have\s+|having\s+|being\s+)?(?:(?:it|this|that|them"
    r"|(?:the|your|my|his|her|their|an?)(?:\s+[\w#-]+){1,3})\s+)?\Z",
    _WORDS,
)
_SHOWN: Final = re.compile(
    r"\baccording\s+to\b|\b(?:records?|systems?|database|dashboard|history|logs?|file|page"
    r"|documentation|polic(?:y|ies)|invoice|agent|bank|airline|hotel|merchant|seller|colleague)\s+"
    r"(?:shows?|says?|said|indicates?|states?|stated|lists?|told\s+(?:me|us|you)|claims?|claimed"
    r"|wrote)\b|\bI\s+(?:can\s+)?(?:see|found|find|notice)\s+(?:that\s+)?(?!(?:I|we)\b)",
    _WORDS,
)
_ALREADY: Final = re.compile(
    r"(?<!\bI\s)(?<!\bwe\s)(?<!\bhave\s)(?<!['’]ve\s)\balready\s+(?:been\s+)?\Z"
    r"|(?<!\bI\s)(?<!\bwe\s)\b(?:have|has|had|was|were)\s+already\s+been\s+\Z"
    r"|\bstat(?:us|e)\s+(?:is|was|shows?)\s+(?:now\s+|already\s+)?\Z",
    _WORDS,
)
_PASSIVE: Final = re.compile(r"(?:\b(?:is|are|was|were|been|got)\s+|:\s*)\Z", _WORDS)
_SINCE_A_DAY: Final = re.compile(
    r"\A\s*\(?(?:(?:back\s+)?(?:on|in)\s+)?(?:(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?:"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b|\d{4}-\d\d|last\s+\w+|yesterday"
    r"|(?:a|an|\d+|some)\s+(?:days?|weeks?|months?|years?)\s+ago)",
    _WORDS,
)
_OWN: Final = re.compile(r"\b(?:I|we)(?:['’]ve)?\b", _WORDS)
_QUOTE: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_QUOTED_WORDS: Final = 4
_CROSS: Final = r"(?:[✗✘❌✖🚫⛔☐]\ufe0f?|\[\s?\])"
_CROSS_BEFORE: Final = re.compile(rf"{_CROSS}\s*(?:[\w'’$]+\s+){{0,2}}\Z")
_CROSS_BEHIND: Final = re.compile(rf"\A\w*\s*{_CROSS}")


def is_general(before: str, inside: str, after: str) -> bool:
    """Whether a clause speaks of things in general, of which none was done by anybody."""
    if not _PARTICIPLE.search(inside):
        return False
    if _WITHOUT_ARTICLE.search(before) and _OF_A_THING.match(after):
        return True
    if not before.strip() and _THINGS_BEHIND.match(after):
        return True
    things = _THINGS_BEFORE.match(before)
    return things is not None and re.search(rf"\b{_PRESENT}", after, _WORDS) is not None


def is_of_others(sentence: str, start: int, end: int) -> bool:
    """Whether a sentence says that others did or wanted it, or that it was so before."""
    before = sentence[:start]
    if _NOT_REACHED.search(before):
        return True
    named = _BY_OTHERS.search(before) or _BEFORE_THAT.search(before)
    return named is not None and _PARTICIPLE.search(sentence, start, end) is not None


def is_only_told(sentence: str, start: int, end: int) -> bool:
    """Whether a sentence takes it for granted, quotes it, or tells what is written somewhere."""
    before, after = sentence[:start], sentence[end:]
    granted = _WITH_ARTICLE.search(before) and _OF_A_THING.match(after)
    crossed = _CROSS_BEFORE.search(before) or _CROSS_BEHIND.match(after)
    old = _ALREADY.search(before) or (_PASSIVE.search(before) and _SINCE_A_DAY.match(after))
    if (granted or crossed or old) and _PARTICIPLE.search(sentence, start, end):
        return True
    shown = _SHOWN.search(before)
    if shown is not None and _OWN.search(before, shown.end()) is None:
        return True
    return any(_mentions(quote, start, end) for quote in _QUOTE.finditer(sentence))


def _mentions(quote: re.Match[str], start: int, end: int) -> bool:
    """Whether what stands from `start` to `end` is one of a few words in quotes."""
    if not quote.start() < start <= end < quote.end() or len(quote.group()) == len(quote.string):
        return False
    return len(quote.group().split()) <= _QUOTED_WORDS and _OWN.search(quote.group()) is None
