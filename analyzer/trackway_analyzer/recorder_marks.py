"""How does a record say that it does not hold a value, or not all of it?

1. Where the recorder cut something, its mark stands there: at the end of a text, as the last item
   of a list, under the key `…` of an object, or in place of a value that had no room.
2. What the recorder cannot read stands there by its name, in quotes: an iterator, a response, an
   object without values of its own; of bytes and large arrays stand their kind and digest. Other
   recorders write Python's `<… object at 0x…>`.
3. What other recorders took out stands there as signs without a letter (`***`), or as a word that
   says so between brackets, underscores or asterisks: `__REDACTED__` (OpenInference), `[Filtered]`
   (Sentry), `[Scrubbed due to 'password']` (Logfire), `<elided>`, `<not specified>` (ADK), `<fully
   masked due to failed mask function>` (Langfuse), `[User input redacted.]` (Strands). As a whole
   value such a text is no value; within one our own mark of a redaction takes its place, so that
   nobody after the door needs to know theirs. Within a longer text only words count that say
   nothing else, and signs between words: `[removed]` and `***so***` there may be what was said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trackway.schema import redaction_marker
from trackway_analyzer.model import JsonValue

NOTHING_LEFT: Final = "…"
"""What is left of a value without any room, and the key under which cut keys are counted."""
CUT: Final = re.compile(
    r"\[truncated(?: \d+ (?:chars|items|keys)|: too deep| integer of \d+ bits)?\]"
)
"""The mark of a cut, wherever it stands in a text."""
_NAME: Final = r"<[A-Za-z_](?:[^\"<>]|<locals>|<lambda>)*>"
_OBJECT: Final = r"<[\w.<>]+ (?:object )?(?:[\w.<>]+ )?at 0x[0-9a-fA-F]+>"
UNREADABLE: Final = re.compile(rf'"{_NAME}"|{_OBJECT}|"sha256(?:_ends)?":"[0-9a-f]{{64}}"')
"""What stands for a value that could not be read, wherever it stands in a JSON text."""
UNREADABLE_MARKS: Final = ('"<', " at 0x", '"sha256')
"""One of them stands in every JSON text with such a value."""
_NAMED: Final = re.compile(f"{_NAME}|{_OBJECT}")
_DIGESTS: Final = ("sha256", "sha256_ends")


def is_unreadable(value: JsonValue) -> bool:
    """Whether a value as a whole is only the name or the digest of what could not be read."""
    if isinstance(value, str):
        return value.startswith("<") and _NAMED.fullmatch(value.strip()) is not None
    return isinstance(value, Mapping) and "type" in value and any(map(value.__contains__, _DIGESTS))


TAKEN_OUT: Final = redaction_marker("elsewhere")
"""Stands for what another recorder took out."""
_SURELY: Final = "redacted|scrubbed|elided|censored|withheld|anonymi[sz]ed"
_PERHAPS: Final = (
    "filtered|masked|hidden|sanitized|obfuscated|omitted|removed"
    "|not (?:specified|recorded|captured)"
)
_SIGNS: Final = r"\*{3,}|[•●█]{3,}"
_OURS: Final = r"(?-i:(?!\[redacted:[^\[\]\s]+\]))"
_OTHER: Final = r"[^\[\]<>{}\"\\\n=]"
_SAYS_SO: Final = (
    rf"(?:{_OTHER}{{0,40}}(?<![a-z])(?:{_SURELY})(?![a-z]){_OTHER}{{0,60}}"
    rf"|(?:[a-z]+ ){{0,3}}(?:{_PERHAPS})(?:[.!]|(?: due to | because ){_OTHER}{{0,60}})?)"
)
_WHOLE: Final = rf"(?:{_OURS}[\[<({{_*]{{1,4}}{_SAYS_SO}[\])>}}_*]{{1,4}}|(?-i:REDACTED)|{_SIGNS})"
_BEGINS: Final = frozenset("[<({_*•●█R")
_is_whole: Final = re.compile(_WHOLE, re.IGNORECASE).fullmatch
_LONGEST_WHOLE: Final = 128
_TAKEN: Final = re.compile(
    rf"(?<!\\)(?P<quote>\\{{0,31}}\"){_WHOLE}(?P=quote)(?!\s*:)"
    rf"|__redacted__|{_OURS}[\[<]{_OTHER}{{0,24}}(?<![a-z])(?:{_SURELY})(?![a-z]){_OTHER}{{0,60}}[\]>]"
    r"|(?-i:\[(?:Filtered|FILTERED|MASKED)\]|(?<![\w\"'/.=-])REDACTED(?! *[\w\"'/=(-]| *=))"
    r"|(?<=[\w,:] )(?:\*{3,}|[•●█]{3,})(?=[\s.,;:!?\"\\]|\Z)",
    re.IGNORECASE,
)
_ANY: Final = f"{_SURELY}|{_PERHAPS}|{_SIGNS}"
_may_be_in: Final = re.compile(_ANY).search
_may_be_in_bytes: Final = re.compile(_ANY.encode()).search


def is_taken_out(text: str) -> bool:
    """Whether a text as a whole only says that another recorder took the value out."""
    if len(text) > _LONGEST_WHOLE:
        return False
    text = text.strip()
    return text[:1] in _BEGINS and _is_whole(text) is not None


def may_be_taken_out(text: str | bytes) -> bool:
    """Whether marks of other recorders may stand in a text, or JSON text: a quick look."""
    if isinstance(text, bytes):
        return _may_be_in_bytes(text.lower()) is not None
    return _may_be_in(text.lower()) is not None


def in_our_marks(text: str) -> str:
    """Return a text, or JSON text, with our mark in place of those of other recorders."""
    return _TAKEN.sub(_in_ours, text) if may_be_taken_out(text) else text


def _in_ours(match: re.Match[str]) -> str:
    quote = match["quote"] or ""
    return f"{quote}{TAKEN_OUT}{quote}"
