"""Is what a call returned used for anything?

`ResultUsed`: of each successful result, some value comes up again, in the arguments of a later call
or in the final text. Plain words do not count; where only one of them comes up ("shipped"), or a
number that may be worked out of the result, that is undecided. Short ids and small numbers, which
any text may hold, count where a result has nothing else: that they come up is good, that they do
not is undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trackway.schema import REDACTION_MARKER, GapName
from trackway_analyzer.json_text import canonical
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Result
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP
from trackway_analyzer.rules.identifiers import identifiers, short_ones
from trackway_analyzer.rules.named_values import may_be_made_of, named_values
from trackway_analyzer.rules.rule import (
    Said,
    ToolRule,
    another_call,
    insufficient,
    may_hide_a_call,
    violated,
    worst,
)
from trackway_analyzer.rules.sentences import cannot_judge, step
from trackway_analyzer.rules.terms import ABSENT_GAP, OTHERWISE_GAP, TOO_SHORT_GAP, Hidden
from trackway_analyzer.rules.told import Text
from trackway_analyzer.rules.unread import left_out, words_shown
from trackway_analyzer.rules.values import CUT_MARK, members, reader, simple_keys

_SHORTEST: Final = 4
"""Letters of a word that tells something."""


@dataclass(frozen=True)
class ResultUsed(ToolRule):
    """Something of each successful result comes up again later."""

    result: str | None = None
    """Path of the values that must come up; None: any telling value of the result."""
    by: str | None = None
    """Tool whose arguments must hold it; None: any later call, or the final text."""

    short = ("tool",)

    def __post_init__(self) -> None:
        if self.result is not None:
            reader(self.result)

    def names_tools(self) -> frozenset[str]:
        """The tool, and the one that must hold it."""
        return frozenset({self.tool} if self.by is None else {self.tool, self.by})

    def judge(self, evidence: Evidence, run: int, rows: list[int]) -> Result | None:
        """Judge what became of the results of one run."""
        judged = [r for row in rows if (r := self._judge(evidence, run, row))]
        return worst(judged) or may_hide_a_call(evidence, run, self.tool)

    def _judge(self, evidence: Evidence, run: int, row: int) -> Result | None:
        position = evidence.position(row)
        if evidence.answered(row) is False:
            return None
        source = evidence.result(row)
        if isinstance(source, Hidden):
            return insufficient(run, source.gap, position, at=position)
        values = self._values(source.value)
        if not values and not (source.cut or source.redacted) and self._names_one_place:
            return insufficient(run, ABSENT_GAP, position, at=position)
        hidden = source.cut or source.redacted
        if self.result is not None and values:
            hidden = source.hides(*values)
        values = [value for value in values if source.hides(value) is None]
        if not values and hidden is None and self.result is None:
            values = list(short_ones(source.value))
            hidden = Hidden(TOO_SHORT_GAP, position) if values else None
        used = self._used(evidence, run, row, values) if values else hidden is None or False
        if used is False and hidden is not None:
            used = hidden
        if used is True:
            return None
        if used is False and self.result is None and self._may_say_it(evidence, run, source.value):
            used = Hidden(OTHERWISE_GAP, position)
        if used is False:
            return violated(run, position)
        return insufficient(run, used.gap, position, at=used.position)

    def _may_say_it(self, evidence: Evidence, run: int, value: JsonValue) -> bool:
        """Whether the final text has a word of a result, or a number worked out of it."""
        final = None if self.by is not None else evidence.text(run, "final_text")
        if final is None:
            return False
        said, texts = Text(words_shown(final), "assistant"), [item for _, _, item in members(value)]
        if any(
            said.holds(item) for item in texts if isinstance(item, str) and len(item) >= _SHORTEST
        ):
            return True
        shown = [Text(canonical(value), "tool")]
        return any(
            named.numbers and may_be_made_of(named, shown)
            for named in named_values(words_shown(final), [])
        )

    @property
    def _names_one_place(self) -> bool:
        """Whether `result` is a plain name or path that every result has, if it is right."""
        path = self.result or ""
        keys = simple_keys(path if path.startswith("$") else f"$.{path}")
        return (
            self.result is not None and bool(keys) and not any(type(k) is int for k in keys or ())
        )

    def _values(self, result: JsonValue) -> list[JsonValue]:
        if self.result is not None:
            return reader(self.result)(result)
        return [value for _, value in identifiers(result)]

    def _used(
        self, evidence: Evidence, run: int, row: int, values: list[JsonValue]
    ) -> bool | Hidden:
        hidden: Hidden | None = None
        for later in evidence.calls(run):
            if self.by not in (None, evidence.tool[later]) or not evidence.earlier(row, later):
                continue
            text = evidence.arguments_text(later)
            if text is None:
                hidden = hidden or Hidden(NOT_RECORDED_GAP, evidence.position(later))
            elif any(Text(text, "assistant").holds(value) for value in values):
                return True
            elif REDACTION_MARKER.search(text):
                hidden = hidden or Hidden(REDACTED_GAP, evidence.position(later))
            elif CUT_MARK in text:
                hidden = hidden or Hidden(GapName.TRUNCATED_VALUE, evidence.position(later))
        if self.by is None:
            final = evidence.text(run, "final_text")
            if final is None:
                hidden = hidden or evidence.why_not_recorded(run)
            elif any(Text(words_shown(final), "assistant").holds(value) for value in values):
                return True
            elif (gap := left_out(final)) is not None:
                hidden = hidden or Hidden(gap)
        return hidden or evidence.hides_step(run, after=evidence.position(row)) or False

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.position is None:
            return another_call(self.tool, result)
        if "gap" in result.detail:
            return Said(sentence=cannot_judge(evidence, result, "whether its result was used"))
        row = int(evidence.batch.offsets[result.run]) + result.position
        what = f"{self.result} of its result" if self.result else "nothing of its result"
        where = f"by {self.by}" if self.by else "by a later call or in the final text"
        verb = "was not used" if self.result else "was used"
        return Said(sentence=f"{step(evidence, row)}: {what} {verb} {where}")
