"""What the agent was told: the run's input and the messages that its model calls were given.

1. Texts count from the moment at which a model call had them; the run's own input counts always.
2. Only `user` texts are the user's; `system` texts are instructions. What the assistant said and
   what tools returned is neither.
3. A text holds a value if it stands in it as a word of its own, in any case; a number, however it
   is written there (`$84.00` holds 84), a debt as what is owed; a day, however it is written
   (`May 3` holds `2026-05-03`); a telephone number by its last digits, from seven on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from typing import Any, Final

from trackway.schema import REDACTION_MARKER, GapName, Operation
from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.amounts import as_number, numbers_in
from trackway_analyzer.rules.dates import Day, days, days_recorded, may_be_one_day
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.gaps import REDACTED_GAP
from trackway_analyzer.rules.terms import Hidden
from trackway_analyzer.rules.values import CUT_MARK, is_number

USER: Final = frozenset({"user", "human"})
INSTRUCTIONS: Final = frozenset({"system", "developer"})
_STAMP: Final = re.compile(r"\d{4}-\d\d-\d\dt\d\d:\d\d")
_PHONE: Final = re.compile(r"\+\d[\d ()./-]{6,20}|(?=\D*\d)[\d(][\d()]*(?:[ ()./-]+\d+){1,5}")
_PHONES: Final = re.compile(r"\+?[\d(][\d ()./-]{5,20}\d")
_SHORTEST_PHONE: Final = 7


@dataclass(frozen=True)
class Text:
    """Something that the agent was told."""

    text: str
    role: str

    @cached_property
    def _folded(self) -> str:
        return self.text.casefold()

    @cached_property
    def _numbers(self) -> frozenset[Decimal]:
        return frozenset(numbers_in(self.text))

    def holds(self, value: JsonValue) -> bool:
        """Whether the value stands in the text."""
        if value is None or isinstance(value, (bool, list, dict)):
            return False
        if is_number(value):
            number = as_number(value)
            return number in self._numbers or (number is not None and -number in self._numbers)
        word = str(value).strip().casefold()
        if not word or word not in self._folded:
            return self._holds_otherwise(word)
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self._folded) is not None

    def _holds_otherwise(self, word: str) -> bool:
        """Whether a day or a telephone number stands there in another way of writing."""
        if not any(map(str.isdigit, word)):
            return False
        if some := days(word.partition("t")[0] if _STAMP.match(word) else word):
            return may_be_one_day(some, self._days)
        return bool(_PHONE.fullmatch(word)) and any(
            _same_ends(_digits(word), _digits(other)) for other in _PHONES.findall(self.text)
        )

    @cached_property
    def _days(self) -> frozenset[Day]:
        return days_recorded(self.text)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _same_ends(one: str, other: str) -> bool:
    short, long = sorted((one.lstrip("0"), other.lstrip("0")), key=len)
    return len(short) >= _SHORTEST_PHONE and long.endswith(short)


def told(evidence: Evidence, run: int, before: int, roles: frozenset[str] = USER) -> Iterator[Text]:
    """What the agent had been told before a row of a run, by these roles."""
    first, _ = evidence.batch.bounds(run)
    models = (row for row in range(first, before) if evidence.operation_of[row] == Operation.LLM)
    for text in (evidence.text(run, "input"), *(evidence.inputs[row] for row in models)):
        yield from (said for said in texts_of(evidence, text) if said.role in roles)


def texts_of(evidence: Evidence, recorded: str | None) -> list[Text]:
    """Texts of one recorded input, read once."""
    if not recorded:
        return []
    return evidence.memo(("told", recorded), partial(_texts, recorded))


def hidden_input(evidence: Evidence, run: int) -> Hidden | None:
    """Why nobody can know all that the agent was told; None: it was recorded."""
    first, last = evidence.batch.bounds(run)
    recorded = evidence.text(run, "input") or any(evidence.inputs[first:last])
    if not recorded:
        return evidence.why_not_recorded(run)
    texts = (evidence.text(run, "input"), *evidence.inputs[first:last])
    seen = [text for text in texts if text is not None]
    gaps = evidence.gaps.get(run, ())
    cut = (gap for gap in gaps if gap.name == GapName.TRUNCATED_VALUE)
    if any("input" in (gap.detail or "") for gap in cut) or any(CUT_MARK in t for t in seen):
        return Hidden(GapName.TRUNCATED_VALUE)
    return Hidden(REDACTED_GAP) if any(map(REDACTION_MARKER.search, seen)) else None


def _texts(text: str) -> list[Text]:
    value = parsed(text)
    if isinstance(value, dict) and "messages" in value:
        value = value["messages"]
    if isinstance(value, list) and any(isinstance(item, dict) and "role" in item for item in value):
        return [t for message in value if isinstance(message, dict) for t in _message(message)]
    return [Text(text, "user")]


def _message(message: dict[str, Any]) -> Iterator[Text]:
    role = str(message.get("role"))
    content = message.get("parts", message.get("content"))
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        said = part.get("content", part.get("text")) if isinstance(part, dict) else part
        if isinstance(said, str) and said:
            yield Text(said, role)
