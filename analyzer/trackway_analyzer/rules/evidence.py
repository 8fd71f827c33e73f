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

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import REDACTION_MARKER, GapName, Operation, Trackway
from trackway_analyzer.batch import Ints, RunBatch
from trackway_analyzer.happened import happened
from trackway_analyzer.rules.columns import Codes, Flags, is_null, listed
from trackway_analyzer.rules.gaps import NOT_RECORDED_GAP, REDACTED_GAP, WithGaps
from trackway_analyzer.rules.positional import names_lost
from trackway_analyzer.rules.terms import Hidden, NoSource, Source
from trackway_analyzer.rules.tools import LOOKUP, MUTATE, NOTIFY, Tools, ToolSpec
from trackway_analyzer.rules.values import CUT_MARK, shows_a_cut
from trackway_analyzer.stretches import Small

CONTENT: Final = frozenset({GapName.CONTENT_OFF, GapName.UNPARSABLE_ARGUMENTS})
UNKNOWN: Final = 2
PENDING_GAP: Final = "pending"
"""Name for what hides an effect whose result says that it is still to come."""
UNKNOWN_KIND: Final = "unknown_kind"
"""Name for what hides an effect of a call of which nobody says whether it changes anything."""
OPERATION_ARGUMENTS: Final = ("operation_id", "idempotency_key")
T = TypeVar("T")
_BLANK: Final = ToolSpec()


@dataclass(frozen=True, slots=True)
class Effect:
    """A change in the world that a step recorded."""

    operation: str | None
    operation_id: str | None
    entity: str | None
    applied: bool | None
    """None: nobody knows whether it took place."""

    @classmethod
    def of(cls, attributes: Any) -> Effect:
        """Read the attributes of an effect event."""
        said = attributes if isinstance(attributes, dict) else {}
        return cls(*(said.get(name) for name in cls.__slots__))


@dataclass(frozen=True)
class Evidence(WithGaps):
    """A batch as rules see it. `Evidence.of` settles kinds and successes by what is declared."""

    tools: Tools

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

    @cached_property
    def entity_types(self) -> frozenset[str]:
        """Types of entities that are declared."""
        types = (spec.entity.type for spec in self.tools.values())
        return frozenset(name for name in types if name is not None)

    @cached_property
    def tool(self) -> list[str | None]:
        """Tool of each row of `steps`; likewise the columns below."""
        return self._column("tool")

    @cached_property
    def kind(self) -> list[str | None]:
        """Settled kind."""
        return self._column("kind")

    @cached_property
    def ok(self) -> list[bool | None]:
        """Settled success."""
        return self._column("ok")

    @cached_property
    def group(self) -> list[int]:
        """Group; rows of one run with the same group are unordered."""
        return self._column("group")

    @cached_property
    def operation_id(self) -> list[str | None]:
        """Idempotency key."""
        return self._column("operation_id")

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

    @cached_property
    def _arguments(self) -> list[str | None]:
        return self._column("arguments")

    @cached_property
    def _results(self) -> list[str | None]:
        return self._column("result")

    @cached_property
    def entity_refs(self) -> list[tuple[str, ...]]:
        """Recorded `type:id` of each row."""
        return [tuple(refs or ()) for refs in self._column("entity_refs")]

    @cached_property
    def error_type(self) -> list[str | None]:
        """Type of the error that the call raised."""
        return self._column("error_type")

    @cached_property
    def _truncated(self) -> list[list[str] | None] | None:
        if is_null(self.batch.steps, "truncated").all():
            return None
        return self._column("truncated")

    @cached_property
    def run(self) -> list[int]:
        """Run ordinal."""
        return self._column("run")

    def _column(self, name: str) -> list[Any]:
        return listed(self.batch.steps, name)

    def codes(self, column: str) -> Codes:
        """A dictionary column of `steps` as small integers."""
        return self.memo(("codes", column), partial(Codes.of, self.batch.steps, column))

    def is_operation(self, operation: Operation) -> Flags:
        """Which rows have this operation."""
        found = self.codes("operation")
        flags: Flags = found.codes == found.code(operation)
        return flags

    @cached_property
    def operation_of(self) -> list[str]:
        """Operation of each row."""
        return self._column("operation")

    @cached_property
    def inputs(self) -> list[str | None]:
        """What each row was given: the messages of a model call."""
        return self._column("input")

    @cached_property
    def outputs(self) -> list[str | None]:
        """What each row gave: the messages of a model call."""
        return self._column("output")

    @cached_property
    def requested(self) -> list[bool | None]:
        """Whether a model asked for the call."""
        return self._column("requested")

    @cached_property
    def _memos(self) -> dict[Hashable, Any]:
        return {}

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Make something once for this evidence."""
        if key not in self._memos:
            self._memos[key] = make()
        made: T = self._memos[key]
        return made

    @cached_property
    def is_call(self) -> list[bool]:
        """Whether the row is a tool call that was executed: what sequence rules look at."""
        values: list[bool] = self._call_flags.tolist()
        return values

    @cached_property
    def _call_flags(self) -> Flags:
        executed = pc.fill_null(self.batch.steps.column("executed"), True).to_numpy()
        flags: Flags = self.is_operation(Operation.TOOL) & executed.astype(bool)
        return flags

    @cached_property
    def call_rows(self) -> Ints:
        """Rows of all executed tool calls, in order."""
        rows: Ints = np.flatnonzero(self._call_flags)
        return rows

    @cached_property
    def call_cuts(self) -> Ints:
        """Where the executed tool calls of each run begin in `call_rows`, and one past the last."""
        before = np.zeros(len(self._call_flags) + 1, dtype=np.int64)
        np.cumsum(self._call_flags, out=before[1:])
        cuts: Ints = before.take(self.batch.offsets)
        return cuts

    @cached_property
    def _calls(self) -> tuple[list[int], list[int]]:
        return self.call_rows.tolist(), self.call_cuts.tolist()

    def calls(self, ordinal: int) -> list[int]:
        """Rows of the executed tool calls of a run, in order."""
        rows, cuts = self._calls
        return rows[cuts[ordinal] : cuts[ordinal + 1]]

    def rows(self, tool: str) -> dict[int, list[int]]:
        """Rows of the executed calls of a tool, by run."""
        return self.memo(("rows", tool), partial(self._find_rows, tool))

    def _find_rows(self, tool: str) -> dict[int, list[int]]:
        found, cuts = self.rows_of(tool)
        rows = found.tolist()
        runs = np.flatnonzero(np.diff(cuts)).tolist()
        first = cuts.tolist()
        return {run: rows[first[run] : first[run + 1]] for run in runs}

    def rows_of(self, tool: str) -> tuple[Ints, Ints]:
        """Rows of the executed calls of a tool, and where those of each run begin."""
        rows = self.codes("tool").where(tool)
        rows = rows[self._call_flags[rows]]
        return rows, np.searchsorted(rows, self.batch.offsets)

    def position(self, row: int) -> int:
        """Position of a row in its run."""
        return row - self._offsets[self.run[row]]

    def first_row(self, run: int) -> int:
        """Row of the first step of a run."""
        return self._offsets[run]

    @cached_property
    def _offsets(self) -> list[int]:
        offsets: list[int] = self.batch.offsets.tolist()
        return offsets

    def answered(self, row: int) -> bool | None:
        """Whether a later step may build on what this call returned."""
        ok = self.ok[row]
        declared = self.spec(self.tool[row]).success is not None
        if ok or declared or self.kind[row] in (MUTATE, NOTIFY, LOOKUP):
            return ok
        result, raised = self._decoded(self._results[row]), self.error_type[row] is not None
        if happened(result, raised=raised) is not ok:
            return ok  # somebody declared it
        return happened(result, raised=raised, lookup=True)

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

    def _decoded(self, text: str | None) -> Any:
        return self.batch.decode(text)

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
        value = self._decoded(text)
        if name == "arguments" and isinstance(value, str) and value == text:
            return Hidden(GapName.UNPARSABLE_ARGUMENTS, self.position(row))
        redacted = REDACTION_MARKER.search(text) is not None
        hidden = Hidden(REDACTED_GAP, self.position(row)) if redacted else None
        cut = self._cut(row, name)
        if cut is None and shows_a_cut(text, value):
            cut = Hidden(GapName.TRUNCATED_VALUE, self.position(row))
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

    def effects(self, row: int) -> list[Effect]:
        """Effects that a step recorded as events of its own."""
        return [Effect.of(said) for said in self.events(row, Trackway.EVENT_EFFECT)]

    def events(self, row: int, name: str) -> list[Any]:
        """Attributes of a step's events of this name."""
        if self._events is None:
            return []
        named = (e for e in self._events[row] or () if e["name"] == name)
        return [self._decoded(event["attributes"]) for event in named]

    def run_events(self, ordinal: int, name: str) -> list[tuple[int, Any]]:
        """Events of a run that hang on no step: the last row that had begun, and attributes."""
        first, last = self.batch.bounds(ordinal)
        if self._run_events is None:
            return []
        found = []
        for event in self._run_events[ordinal] or ():
            if event["name"] == name:
                moment = event["time"]
                begun = (
                    row
                    for row in range(first, last)
                    if moment is None or self._starts[row] is None or self._starts[row] <= moment
                )
                found.append((max(begun, default=first - 1), self._decoded(event["attributes"])))
        return found

    @cached_property
    def _events(self) -> list[list[dict[str, Any]] | None] | None:
        if is_null(self.batch.steps, "events").all():
            return None
        return self._column("events")

    @cached_property
    def _run_events(self) -> list[list[dict[str, Any]] | None] | None:
        if is_null(self.batch.runs, "events").all():
            return None
        return listed(self.batch.runs, "events")

    @cached_property
    def _starts(self) -> list[Any]:
        return self._column("start")

    def text(self, ordinal: int, column: str) -> str | None:
        """A text column of a run: `input`, `final_text`."""
        return self.texts(column)[ordinal]

    def texts(self, column: str) -> list[str | None]:
        """A text column of all runs."""
        return self.memo(("texts", column), partial(listed, self.batch.runs, column))


def _whole(text: str | None) -> str | None:
    """A text in which nothing was taken out or cut away."""
    if text is None or REDACTION_MARKER.search(text) or CUT_MARK in text:
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
