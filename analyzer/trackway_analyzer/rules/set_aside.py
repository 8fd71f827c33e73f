"""Which words of a sentence say nothing about what it claims? They are blotted out, in their place.

1. What a named group caught is a value (`will.smith@mail.com`, `Will`), unless it caught a clause:
   several words with a verb or a person among them; nor is a verb or a `not` one.
2. Names: a word with a capital inside the sentence that another such word stands beside
   ("Never Again Ltd."), `Will` and `May` alone, and where a verb follows them. Of a sentence in
   capitals nothing is a name.
3. Possessives of words that take back otherwise (`Will's`), compounds (`never-used`, `no-name`),
   `No.` before a number, and titles in quotes ("the 'Never Again' shirt").
4. A relative clause about a thing ("the order that was not delivered", "the item you no longer
   need"): up to the verb behind it, or, behind what was done, up to the end of the clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from trackway_analyzer.rules.claim_forms import DEED

Span = tuple[int, int]

_LETTER: Final = re.compile(r"[^\W\d_]")
_CLAUSE: Final = re.compile(
    r"\s(?:.*\s)?(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might"
    r"|should|must|cannot|\w+n['’]t|not|I|you|we|it|they|he|she)\b"
    r"|\b(?:I|you|we|it|they|he|she|It|You|We|They|He|She)\s"
)
"""What makes a clause of several words that a group caught."""
_VERB: Final = re.compile(r"[a-z]+(?:ed|id|nt|de|ne)\Z")
_RESERVED: Final = (
    r"(?:will|may|can|might|must|shall|would|could|should|no|non|not|never|none|nothing|cannot|if"
    r"|once|when|until|till|after|before|without|only|any|every|each|please|failed|declined|wish"
    r"|hope|try|example|pretend|imagine)"
)
_PLAIN_WORD: Final = re.compile(r"\b[a-z]{4,}")
"""Without one a sentence is written in capitals, or as a title."""
_NAME: Final = re.compile(
    r"(?<=[\w'’,&]\s)(?:Will|May)\b(?!['’](?:ll|ve|d)\b)"
    r"|\b(?:Will|May)(?=\s+(?:[A-Z][a-z]+|was|were|is|has|had|got|received|gets)\b)"
    r"|(?<=[\w'’&]\s)(?!(?:Not|Never|No|Cannot)\s+\w+(?:ed|id|nt)\b)[A-Z][a-z]+(?:\s+(?:[A-Z][\w'’]*|&|of|and(?=\s+[A-Z])))*\s+[A-Z][\w'’]+"
)
_POSSESSIVE: Final = re.compile(rf"\b{_RESERVED}['’]s\b", re.IGNORECASE)
_COMPOUND: Final = re.compile(r"(?<![\w'’-])[\w'’]+(?:-[\w'’]+)+")
_TAKES_BACK: Final = re.compile(rf"(?:{_RESERVED}|[a-z]+n['’]t)\Z", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"\bnos?(?:\.\s*|\s+)#?(?=[A-Z]{0,3}[-_]?\d)", re.IGNORECASE)
_QUOTED: Final = re.compile(
    r"(?<!\bis\s)(?<!\bas\s)(?<!\bwas\s)(?<!\bsays\s)(?<!\bstatus\s)(?<!\bshows\s)(?<![:=]\s)(?<!\w)"
    r"(?:'(?=[A-Z])[^']{1,60}'|\"(?=[A-Z])[^\"]{1,60}\"|“(?=[A-Z])[^”]{1,60}”|‘(?=[A-Z])[^’]{1,60}’)"
    r"(?!\w)"
)
_SAYING: Final = (
    r"(?:sa(?:id|ys?)|think|thinks|thought|believed?s?|claim(?:s|ed)?|told|tell|mention(?:s|ed)?"
    r"|agreed?|know|knows|knew|confirm(?:s|ed)?|states?|stated|shows?|see|sees|note|notes|notice"
    r"|noticed|means?|requires?|indicates?|suggests?|asked\s+(?:whether|if))\b"
)
_AUXILIARY: Final = (
    r"(?:was|were|is|are|has|have|had|do|does|did|will|would|can|could|may|might|should|must|shall"
    r"|got|cannot|(?:was|were|is|are|has|have|had|do|does|did|wo|would|ca|could|should)n['’]t)\b"
)
_PERSON: Final = r"(?:you|they|he|she|it)\s"
_THING: Final = (
    r"\b(?:the|your|this|that|these|those|an?|my|our|his|her|their|any|each|every|all|both|no)\s+"
    rf"(?:(?!(?:that|which|who|whom|you|we|they|he|she|I|it|not)\b|{_AUXILIARY}|{_SAYING})"
    r"[\w#$.'’-]+\s+){1,4}?"
)
_WORD_OF_IT: Final = r"\s+(?!(?:and|but|so|because|although|though|however|while)\b)[\w'’-]+"
_ABOUT: Final = (
    rf"{_THING}(?P<about>(?:(?:that|which|who|whom)\s+(?!(?:I|we)\b)(?:{_PERSON}+)?|{_PERSON}+)"
    rf"(?!{_SAYING})(?:{_AUXILIARY}\s+)?"
    r"(?:(?:not|never|no\s+longer|still|also|only|have|be|been|being)\s+)*"
    rf"(?!{_AUXILIARY}|{_SAYING}|(?:not|never|be|been|being)\b)[\w'’-]+"
)
_ABOUT_BEFORE: Final = re.compile(
    rf"{_ABOUT}(?:{_WORD_OF_IT}){{0,8}}?)(?=\s+(?:{_AUXILIARY}|{DEED.pattern}))", re.IGNORECASE
)
_ABOUT_BEHIND: Final = re.compile(rf"{_ABOUT}(?:{_WORD_OF_IT})*)", re.IGNORECASE)
_REST_OF_WORD: Final = re.compile(r"\w*")
_DONE: Final = re.compile(r"\w*(?:ed|id|nt|done|made|given|through|out|back)\Z")


def set_aside(sentence: str, start: int, end: int, values: Iterable[Span] = ()) -> str:
    """Blot out what says nothing about the words from `start` to `end`; its length stays."""
    text = sentence
    for first, last in values:
        if _is_value(sentence[first:last]):
            text = _blotted(text, first, last)
    for first, last in (*_names(text), *_fixed(text)):
        if last <= start or first >= end:
            text = _blotted(text, first, last)
    for first, last in _relatives(text, start, end):
        text = text[:first] + " " * (last - first) + text[last:]
    return text


def _blotted(text: str, first: int, last: int) -> str:
    return text[:first] + _LETTER.sub("x", text[first:last]) + text[last:]


def _is_value(caught: str) -> bool:
    if " " in caught.strip():
        return _CLAUSE.search(caught) is None
    return _VERB.match(caught) is None and re.fullmatch(_RESERVED, caught) is None


def _names(text: str) -> Iterator[Span]:
    if _PLAIN_WORD.search(text):
        yield from (match.span() for match in _NAME.finditer(text))


def _fixed(text: str) -> Iterator[Span]:
    for form in (_POSSESSIVE, _NUMBERED, _QUOTED):
        yield from (match.span() for match in form.finditer(text))
    for match in _COMPOUND.finditer(text):
        if any(map(_TAKES_BACK.match, match.group().split("-"))):
            yield match.span()


def _relatives(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _ABOUT_BEFORE.finditer(text):
        first, last = match.span("about")
        if last <= start or first >= end:
            yield first, last
    word = _REST_OF_WORD.match(text, end)
    if _DONE.search(text[start : word.end() if word else end]) or DEED.search(text, 0, end):
        yield from (match.span("about") for match in _ABOUT_BEHIND.finditer(text, end))
