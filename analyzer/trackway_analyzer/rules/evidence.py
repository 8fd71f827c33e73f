"""What rules look at: a batch whose kinds and successes are settled, and what its gaps hide.

A gap makes a rule insufficient only if closing it could change the answer:

1. What was seen stands.
2. A conclusion from absence ("never called") is hidden by `missing_steps`, `unfinished_span`,
   `tools_not_observable` and `instrumentation_lost`, where the hidden step could stand at the place
   in question, and of the tool in question (`gaps`).
3. A value is hidden by `content_off`, `unparsable_arguments` and `truncated_value` at the step that
   it is read from, or by the recorder's own mark inside it (`…[truncated 9 chars]`), wherever it
   comes from. What a truncated value still shows stands; what it does not show is hidden.
   A value with the marker of a redaction in it is hidden. Of arguments without their names, it is
   hidden which is which.
4. The order of two steps is hidden by `clock_skew` where neither step index nor model turn orders
   them.
5. Two calls of one model turn (one group) are unordered: neither is earlier.
6. Other gaps change nothing.

A call that is not known to change anything (kind lookup, other or unknown) *answered* if it did not
fail; its `status` is that of what it found. Whether it *succeeded* is another question: of an
unknown kind, a `status` that speaks against it leaves that open.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import REDACTION_MARKER, GapName
from trackway_analyzer.answers_no import MAY_ANSWER_NO, answers_no
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.happened import happened
from trackway_analyzer.recorder_marks import NOTHING_LEFT
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP
from trackway_analyzer.rules.positional import names_lost
from trackway_analyzer.rules.recorded_events import WithEvents
from trackway_analyzer.rules.terms import Hidden, NoSource, Source
from trackway_analyzer.rules.tools import LOOKUP, MUTATE, NOTIFY, Tools, ToolSpec
from trackway_analyzer.rules.values import CUT_MARK, loses_members, shows_a_cut
from trackway_analyzer.stretches import Small
from trackway_analyzer.tables import STEP_SCHEMA
from trackway_analyzer.tool_names import meant_by

CONTENT: Final = frozenset({GapName.CONTENT_OFF, GapName.UNPARSABLE_ARGUMENTS})
UNKNOWN: Final = 2
PENDING_GAP: Final = "pending"
"""Name for what hides an effect whose result says that it is still to come."""
UNKNOWN_KIND: Final = "unknown_kind"
"""Name for what hides an effect of a call of which nobody says whether it changes anything."""
OPERATION_ARGUMENTS: Final = ("operation_id", "idempotency_key")
_BLANK: Final = ToolSpec()


@dataclass(frozen=True)
class Evidence(WithEvents):
    """A batch as rules see it. `Evidence.of` settles kinds and successes by what is declared."""

    tools: Tools
    unnamed: Evidence | None = None
    """The same with the tools' own names, where they bear those that a rule gives them."""

    @classmethod
    def of(cls, batch: RunBatch | Evidence, tools: Tools | None = None) -> Evidence:
        """Settle a batch; evidence that is already settled is returned as it is."""
        if isinstance(batch, Evidence):
            return batch
        from trackway_analyzer.rules.settle import settled  # it looks at evidence itself

        return settled(batch, tools or {})

    def __len__(self) -> int:
        return len(self.batch)

    def spec(self, tool: str | None) -> ToolSpec:
        """What is declared of a tool."""
        return self.tools.get(tool or "", _BLANK)

    def spec_of(self, row: int) -> ToolSpec:
        """What is declared of the tool of a call."""
        return self.spec(self.own_name(row))

    def own_name(self, row: int) -> str | None:
        """The name of a call's tool, whatever a rule calls it."""
        return (self.unnamed or self).tool[row]

    def named(self, names: frozenset[str]) -> Evidence:
        """The same with each tool named as a rule with these names names it (`tool_names`)."""
        names -= self.entity_types - self.tools.keys()
        if self.unnamed is not None or not names:
            return self
        return self.memo(("named", names), lambda: self._named(names))

    def _named(self, names: frozenset[str]) -> Evidence:
        tool, alias = self.codes("tool"), self.codes("tool_alias")
        width = len(alias.names) + 1
        pairs = (tool.codes.astype(np.int64) + 1) * width + alias.codes + 1
        distinct, which = np.unique(pairs, return_inverse=True)
        own = [(tool.name(p // width - 1), alias.name(p % width - 1)) for p in distinct.tolist()]
        given = [meant_by(names, *pair) or pair[0] for pair in own]
        if given == [pair[0] for pair in own]:
            return self
        index = STEP_SCHEMA.get_field_index("tool")
        column = pa.array(given, pa.string()).take(pa.array(which)).dictionary_encode()
        steps = self.batch.steps.set_column(index, STEP_SCHEMA.field("tool"), column)
        return Evidence(RunBatch(self.batch.runs, steps, self.batch.offsets), self.tools, self)

    @cached_property
    def entity_types(self) -> frozenset[str]:
        """Types of entities that are declared."""
        types = (spec.entity.type for spec in self.tools.values())
        return frozenset(name for name in types if name is not None)

    def operation(self, row: int) -> str | None:
        """Idempotency key of a call: recorded, else its argument of one of these names."""
        if self.operation_id[row] is not None:
            return self.operation_id[row]
        source = self.arguments(row)
        if isinstance(source, Hidden) or not isinstance(source.value, dict):
            return None
        for name in OPERATION_ARGUMENTS:
            key = source.value.get(name)
            if key is not None and source.hides(key) is None:
                return str(key)
        return None

    def answered(self, row: int) -> bool | None:
        """Whether a later step may build on what this call returned."""
        ok = self.ok[row]
        declared = self.spec_of(row).success is not None
        if ok or declared or self.kind[row] in (MUTATE, NOTIFY, LOOKUP):
            return ok
        result, raised = self.batch.decode(self._results[row]), self.error_type[row] is not None
        judged = partial(happened, result, raised=raised, tool=self.own_name(row))
        if judged() is not ok:
            return ok  # somebody declared it
        return judged(lookup=True)

    def found(self, row: int) -> bool | None:
        """Whether a call answered with what a later step needs; None also where it says no."""
        answered = self.answered(row)
        if not answered or self.spec_of(row).success is not None:
            return answered
        text = self._results[row]
        says_no = text is not None and answers_no(self.batch.decode(text)) is not None
        return None if says_no else True

    def doubting(self, tools: Collection[str]) -> Evidence:
        """The same, where calls of these tools that answered no may not have succeeded."""
        return self.memo(("doubting", tuple(tools)), lambda: self._doubting(tools))

    def _doubting(self, tools: Collection[str]) -> Evidence:
        results = self.batch.steps.column("result").combine_chunks()
        doubted = []
        for tool in tools:
            rows = self.codes("tool").where(tool)
            may = pc.match_substring_regex(results.take(pa.array(rows)), MAY_ANSWER_NO)
            some = rows[pc.fill_null(may, False).to_numpy(zero_copy_only=False)]
            doubted += [row for row in some.tolist() if self.ok[row] and self.found(row) is None]
        if not doubted:
            return self
        ok = np.array(self.ok, dtype=object)
        ok[doubted] = None
        index = STEP_SCHEMA.get_field_index("ok")
        column = pa.array(ok.tolist(), pa.bool_())
        steps = self.batch.steps.set_column(index, STEP_SCHEMA.field("ok"), column)
        batch = RunBatch(self.batch.runs, steps, self.batch.offsets)
        return Evidence(batch, self.tools, self.unnamed)

    def succeeded(self, row: int) -> bool | None:
        """Whether a call did what it was asked to. A lookup did if it answered.

        Of a call of unknown kind whose `status` alone speaks against it, nobody knows whether that
        is the status of the call or of what it found.
        """
        ok, kind = self.ok[row], self.kind[row]
        if kind == LOOKUP:
            return self.answered(row)
        if ok or kind is not None:
            return ok
        answered = self.answered(row)
        return answered if answered is ok else None

    @cached_property
    def success_codes(self) -> Small:
        """`succeeded` of each row as a number: 0, 1 or `UNKNOWN`."""
        ok = self.batch.steps.column("ok").combine_chunks()
        known = pc.fill_null(ok.cast(pa.int8()), UNKNOWN).to_numpy(zero_copy_only=False)
        codes: Small = known.astype(np.int32)
        for row in np.flatnonzero(codes != 1).tolist():
            succeeded = self.succeeded(row)
            codes[row] = UNKNOWN if succeeded is None else int(succeeded)
        return codes

    def why_unknown(self, row: int) -> Hidden:
        """What hides whether a call succeeded."""
        result = self.result(row)
        if isinstance(result, Hidden):
            return result
        gap = PENDING_GAP if self.ok[row] is None else UNKNOWN_KIND
        return Hidden(gap, self.position(row))

    def earlier(self, first: int, second: int) -> bool | Hidden:
        """Whether one row of a run comes before another."""
        if self.group[first] == self.group[second]:
            return False
        skew = self._skew(first) or self._skew(second)
        if skew and not self._linked(first, second):
            return skew
        return first < second

    def _skew(self, row: int) -> Hidden | None:
        if not self.gaps:
            return None
        position = self.position(row)
        for gap in self.gaps.get(self.run[row], ()):
            if gap.name == GapName.CLOCK_SKEW and gap.position in (None, position):
                return Hidden(gap.name, gap.position)
        return None

    def _linked(self, first: int, second: int) -> bool:
        """Whether something else than clocks orders two rows."""
        indices = self._ordering["step_index"], self._ordering["turn"]
        return any(
            column[first] is not None
            and column[second] is not None
            and column[first] != column[second]
            for column in indices
        )

    @cached_property
    def _ordering(self) -> dict[str, list[int | None]]:
        return {name: self._column(name) for name in ("step_index", "turn")}

    def arguments(self, row: int) -> Source | Hidden:
        """Recorded arguments of a call."""
        return self._value(row, "arguments", self._arguments[row])

    def result(self, row: int) -> Source | Hidden:
        """Recorded result of a call."""
        return self._value(row, "result", self._results[row])

    def asked(self, row: int) -> tuple[str | None, str | None]:
        """Tool and recorded arguments of a call: equal for equal questions; hidden: None."""
        return self.tool[row], _whole(self._arguments[row])

    def got(self, row: int) -> tuple[str | None, str | None]:
        """Tool and recorded result of a call: equal for equal answers; hidden: None."""
        return self.tool[row], _whole(self._results[row])

    def arguments_text(self, row: int) -> str | None:
        """Arguments of a call as recorded; None: they were not."""
        return self._arguments[row]

    def result_text(self, row: int) -> str | None:
        """Result of a call as recorded; None: it was not."""
        return self._results[row]

    def _value(self, row: int, name: str, text: str | None) -> Source | Hidden:
        if text is None:
            return self._why_hidden(row)
        value = self.batch.decode(text)
        if name == "arguments" and isinstance(value, str) and value == text:
            return Hidden(GapName.UNPARSABLE_ARGUMENTS, self.position(row))
        redacted = REDACTION_MARKER.search(text) is not None
        hidden = Hidden(REDACTED_GAP, self.position(row)) if redacted else None
        if hidden is not None and isinstance(value, str) and REDACTION_MARKER.fullmatch(value):
            return hidden  # nothing is left of it
        cut = self._cut(row, name)
        if cut is None and shows_a_cut(text, value):
            cut = Hidden(GapName.TRUNCATED_VALUE, self.position(row))
        if cut is not None and isinstance(value, str) and loses_members(value):
            return cut  # nothing is left of it
        unnamed = None
        if name == "arguments" and names_lost(value):
            unnamed = Hidden(GapName.UNPARSABLE_ARGUMENTS, self.position(row))
        return Source(value, None, cut, hidden, unnamed)

    def _why_hidden(self, row: int) -> Hidden:
        position = self.position(row)
        for gap in self.gaps.get(self.run[row], ()):
            if gap.name in CONTENT | {GapName.TRUNCATED_VALUE} and gap.position in (None, position):
                return Hidden(gap.name, position)
        return Hidden(NOT_RECORDED_GAP, position)

    def _cut(self, row: int, name: str) -> Hidden | None:
        fields = self._truncated[row] if self._truncated is not None else None
        position = self.position(row)
        cut = any(field.startswith(name) for field in fields or ())
        if not fields and self.gaps:
            cut = any(
                gap.name == GapName.TRUNCATED_VALUE and gap.position == position
                for gap in self.gaps.get(self.run[row], ())
            )
        return Hidden(GapName.TRUNCATED_VALUE, position) if cut else None


_NOTHING: Final = f'"{NOTHING_LEFT}"'


def _whole(text: str | None) -> str | None:
    """A text in which nothing was taken out or cut away."""
    if text is None or REDACTION_MARKER.search(text) or CUT_MARK in text or _NOTHING in text:
        return None
    return text


@dataclass(frozen=True, slots=True)
class OwnValues:
    """The scope of `success`: a call's own arguments and result, nothing before it."""

    evidence: Evidence
    row: int

    def arguments(self) -> Source | Hidden:
        """The call's arguments."""
        return self.evidence.arguments(self.row)

    def result(self) -> Source | Hidden:
        """The call's result."""
        return self.evidence.result(self.row)

    def earlier(self, name: str) -> Source | Hidden | NoSource | None:
        """Nothing: a success is read from the call itself."""
        return None
