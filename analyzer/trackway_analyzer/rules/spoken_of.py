"""Of which of several results of one tool does a sentence speak?

1. Results are about the same thing if they returned the same ids, where the tool's entity is
   declared or they have an `id`; else if the same was asked. Of each thing the last result counts.
2. A sentence speaks of the things that it names: by an id that was returned, or a name with a digit
   among the arguments. One that names none may speak of any.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.claim_forms import SENTENCE_END
from trackway_analyzer.rules.entities import established
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.terms import Source


def spoken_of(evidence: Evidence, rows: list[int], text: str, place: tuple[int, int]) -> list[int]:
    """Rows of the results that the sentence around a place may speak of, in order."""
    last: dict[Hashable, int] = {}
    for row in rows:
        last[_thing(evidence, row)] = row
    latest = sorted(last.values())
    if len(latest) == 1:
        return latest
    sentence = _sentence_around(text, place)
    named = [row for row in latest if _is_named(evidence, row, sentence)]
    return named or latest


def _thing(evidence: Evidence, row: int) -> Hashable:
    ids = established(evidence, row)
    if ids.keys and ids.hidden is None:
        return ids.keys
    asked = evidence.asked(row)
    return row if asked[1] is None else asked


def _sentence_around(text: str, place: tuple[int, int]) -> str:
    ends = [end.end() for end in SENTENCE_END.finditer(text)]
    first = max((end for end in ends if end <= place[0]), default=0)
    last = min((end for end in ends if end >= place[1]), default=len(text))
    return text[first:last]


def _is_named(evidence: Evidence, row: int, sentence: str) -> bool:
    return any(
        re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", sentence, re.IGNORECASE)
        for name in _names(evidence, row)
    )


def _names(evidence: Evidence, row: int) -> Iterator[str]:
    yield from (str(value) for value in established(evidence, row).values)
    arguments = evidence.arguments(row)
    if isinstance(arguments, Source):
        for value in _texts(arguments.value):
            if any(map(str.isdigit, value)):
                yield value


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
