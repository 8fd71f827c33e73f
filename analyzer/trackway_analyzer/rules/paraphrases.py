"""May a text say in other words that a tool did its work? It is then no claim, and not nothing.

First, what nobody but a reader who knows the world can tell (`asserts_more`): each sentence of the
final text may say so, unless it asks, offers, greets, says what is to come or only on a condition,
tells what an agent reads or says, repeats what a result holds, or claims another tool's work.
Then, of all that was said:

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
from trackway_analyzer.rules.amounts import numbers_in
from trackway_analyzer.rules.claim_clauses import is_claim
from trackway_analyzer.rules.claim_forms import CONDITION
from trackway_analyzer.rules.claim_language import claims, implied, sentences
from trackway_analyzer.rules.dates import days_in
from trackway_analyzer.rules.english import is_english
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.identifiers import words
from trackway_analyzer.rules.terms import Source
from trackway_analyzer.rules.told import Text
from trackway_analyzer.rules.values import is_number, members

UNNAMED_GAP: Final = "unnamed_claim"
"""Name for what hides of what a text says that it was done."""
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
_TALK: Final = re.compile(
    r"\s*(?:and\s+|but\s+|so\s+|then\s+)?(?:please|thanks?|thank\s+you|hello|hi|hey|dear|good\s+(?:morning|day"
    r"|afternoon|evening)|bye|goodbye|let\s+me|let['’]s|feel\s+free|you\s+(?:can|could|may|might|asked"
    r"|wanted|want|mentioned|need|have\s+to)|to\s+\w+\s|which|what|who|how|is\s+there|would|could|do"
    r"|sure|ok|okay|yes|no|great|of\s+course|(?:I|we)(?:['’](?:ll|d|m)|\s+(?:will|would|can|could|need|want"
    r"|am|are|see|understand|think|believe|hope|know|have\s+(?:to|no)))|(?:it|there)\s+(?:seems?|looks?"
    r"|appears?))\b",
    re.IGNORECASE,
)
"""How a sentence begins that says nothing of what was done."""
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had)\b|['’](?:s|re|ve)\b", re.IGNORECASE
)
_DAYS_ALONE: Final = re.compile(r"\W*(?:(?:from|on|of|since|dated)\W*)?")
_WORD_OF_PROSE: Final = re.compile(r"[^\W\d_]{4,}")
_LABEL: Final = 3


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


def may_say_it(evidence: Evidence, run: int, text: str, tool: str) -> bool:
    """Whether a final text that does not claim a tool's work may claim it in words of its own."""
    if not text.strip():
        return False
    if not is_english(text):
        return True
    rows = [row for row in evidence.calls(run) if evidence.tool[row] == tool]
    sources = (evidence.arguments(row) for row in rows)
    arguments = [source.value for source in sources if isinstance(source, Source)]
    done = {evidence.tool[row] or "" for row in evidence.calls(run) if evidence.ok[row]}
    others = done - {"", tool}
    return may_say_it_was_done(text, tool, arguments, others) or asserts_more(
        text, others, shown_by_results(evidence, run)
    )


def shown_by_results(evidence: Evidence, run: int) -> list[Text]:
    """What the calls of a run returned that answered."""
    rows = [row for row in evidence.calls(run) if evidence.answered(row)]
    return [Text(text, "tool") for row in rows if (text := evidence.result_text(row)) is not None]


def asserts_more(text: str, others: Iterable[str], shown: list[Text]) -> bool:
    """Whether a text says more than what results show and the tools that did their work did."""
    said_by_others = [claim_pattern(other) for other in others]
    found = list(sentences(text))
    return any(
        not _says_nothing(sentence.text)
        and not any(claims(sentence.text, pattern) for pattern in said_by_others)
        and not _is_shown(sentence.text, shown)
        for sentence in found
    )


def _says_nothing(sentence: str) -> bool:
    bare = sentence.strip()
    if bare.endswith(("?", ":")) or _TALK.match(bare) or CONDITION.search(bare):
        return True
    label = bare[-1:] not in ".!…" and len(bare.split()) <= _LABEL
    return label or re.search(rf"\b{_ANYWAY}", bare, re.IGNORECASE) is not None


def _is_shown(sentence: str, shown: list[Text]) -> bool:
    """Whether what a sentence says of its subject stands in a result."""
    verb = _FINITE.search(sentence)
    said = sentence[verb.end() :] if verb else sentence
    for place, _ in list(days_in(said)):
        said = said[: place.start()] + " " * len(place.group()) + said[place.end() :]
        if _DAYS_ALONE.fullmatch(said):
            return True
    wanted: list[JsonValue] = [word for word in words(f"{said} ") if not word.isalpha()]
    wanted += [float(number) for number in numbers_in(said) if abs(number) >= _SMALLEST]
    wanted = wanted or list(_WORD_OF_PROSE.findall(said))
    return bool(wanted) and all(any(item.holds(w) for item in shown) for w in wanted)


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
