"""May a text say in other words that a tool did its work? It is then no claim, and not nothing.

1. A deed without its thing ("Done!", "all set").
2. Of a tool about money: money that came back, was sent or is on its way ("I've sent the money
   back", "the $84 has been returned to your card"), or will arrive ("you'll get your $84 back").
3. A deed beside a value of the call's arguments ("A1 is now closed"), unless another tool that did
   its work is claimed by that sentence. What happens to an order anyway (delivered, paid, received)
   and what an agent reads or says (checked, noted) is no deed.
What counts as said stands in `claim_clauses`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.actions import claim_pattern, words_of
from trackway_analyzer.rules.claim_clauses import is_claim
from trackway_analyzer.rules.claim_language import claims, implied, sentences
from trackway_analyzer.rules.values import is_number, members

DONE: Final = (
    r"\b(?:done|all\s+set|taken\s+care\s+of|sorted|completed|finished|went\s+through|handled"
    r"|successful(?:ly)?)\b|[✅✔☑]"
)
_OF_MONEY: Final = frozenset(
    """
    refund refunds reimburse reimbursement pay payment payout payback charge charges credit debit
    transfer deposit withdraw withdrawal return chargeback compensate compensation
    """.split()  # noqa: SIM905 - a word list reads better as one
)
_MONEY: Final = (
    r"(?:\b(?:money|funds?|payments?|charges?|amount|sum|cash|balance|purchase\s+price)\b"
    r"|[$€£]\s?\d[\d.,]*|\b\d[\d.,]*\s?(?:€|£|(?:dollars?|euros?|pounds?|usd|eur|gbp)\b))"
)
_MOVED: Final = (
    r"\b(?:back|returned|reversed|restored|credit(?:ed)?|repaid|reimbursed|sent|transferred"
    r"|deposited|released|issued|given|gave|put|posted|refunded|on\s+(?:its|the|their)\s+way"
    r"|in\s+your\s+account|on\s+your\s+card)\b"
)
_MONEY_MOVED: Final = rf"{_MONEY}.*?{_MOVED}|{_MOVED}.*?{_MONEY}"
_ANYWAY: Final = (
    r"(?:delivered|shipped|placed|ordered|purchased|bought|paid|received|charged|found|located"
    r"|checked|reviewed|looked|verified|noted|requested|asked|mentioned|seen|described|listed"
    r"|tried|attempted|escalated|explained|discussed|declined|rejected|failed|denied|expired"
    r"|confirmed|identified|informed|retrieved)\b"
)
_DEED: Final = re.compile(
    rf"(?:\b(?:has|have)|['’]ve)\s+(?:(?:now|already|just|also|been)\s+)*(?!{_ANYWAY}|been\b)"
    r"\w+(?:ed|en|nt|id|de|ne)\b"
    r"|\b(?:is|are)\s+(?:now|already|back|on\s+(?:its|the)\s+way|in\s+your)\b"
    r"|\bnow\s+(?:shows?|has|reads?)\b",
    re.IGNORECASE,
)
_SMALLEST: Final = 10


def may_say_it_was_done(
    text: str, tool: str, arguments: Iterable[JsonValue], others: Iterable[str]
) -> bool:
    """Whether a text may say so of a tool called with these arguments; `others` did their work."""
    if claims(text, DONE):
        return True
    about_money = not _OF_MONEY.isdisjoint(words_of(tool))
    if about_money and (claims(text, _MONEY_MOVED) or implied(text, _MONEY_MOVED)):
        return True
    values = [word for value in arguments for word in _telling(value)]
    said_by_others = [claim_pattern(other) for other in others]
    return bool(values) and any(
        _is_named(sentence.text, values)
        and not any(claims(sentence.text, pattern) for pattern in said_by_others)
        for sentence in sentences(text)
        if _DEED.search(sentence.text)
    )


def _telling(value: JsonValue) -> Iterator[str]:
    """Values inside arguments by which a text may name a call, as patterns."""
    for _, _, item in members(value):
        if is_number(item) and abs(item) >= _SMALLEST:
            yield rf"(?<![\w.,]){re.escape(f'{item:g}')}(?:\.0+)?(?![\w]|[.,]\d)"
        elif isinstance(item, str) and re.search(r"\d", item) and len(item.strip()) > 1:
            yield rf"(?<![\w-]){re.escape(item.strip())}(?![\w-])"


def _is_named(sentence: str, values: list[str]) -> bool:
    return any(
        is_claim(sentence, *named.span())
        for value in values
        for named in re.finditer(value, sentence, re.IGNORECASE)
    )
