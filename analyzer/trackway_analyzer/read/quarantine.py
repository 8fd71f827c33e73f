"""What could not be read, and why: a broken line, span or value costs itself, never the file.

1. An entry names the file, the byte offset of the first case, the reason and how many there were.
2. Reasons are few and fixed (`Reason`); `detail` says what was found.
3. In strict mode the first entry raises `QuarantineError` instead; an empty file loses nothing,
   and files that were passed over for their names (`NOTES`) are only named.
4. Of what was put aside, `lost` counts what may have held spans or what a span did. A file that is
   no trace, log records of no span that tell of no tool, a missing time or task id (`_HARMLESS`)
   are no such loss.
5. A trace that a file names and of which it holds no span is lost (`empty_trace`): nobody knows
   what it did. A record that is a run by itself (a benchmark's, a transcript, a session) and holds
   no step is a run without steps, with the gap `tools_not_observable`. A list of no traces loses
   nothing. So is what an answer of a store says that it lacks (`partial_answer`), and
   what looks like calls or spans in a form that is not read (`unread_form`).
6. What lost nothing may name a tool all the same (`names_held`): to whoever asks about that tool it
   is lost (`losses_naming`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.read.names_held import bounded_names, named_of


class Reason(StrEnum):
    """Why something was put aside."""

    BROKEN_LINE = "broken_line"
    BROKEN_SPAN = "broken_span"
    BROKEN_VALUE = "broken_value"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    DECOMPRESSION_RATIO = "decompression_ratio"
    BROKEN_COMPRESSION = "broken_compression"
    TRUNCATED_FILE = "truncated_file"
    NO_START_TIME = "no_start_time"
    NO_TASK_ID = "no_task_id"
    EMPTY_TRACE = "empty_trace"
    PARTIAL_ANSWER = "partial_answer"
    UNREAD_FORM = "unread_form"
    NOT_A_TRACE = "not_a_trace"
    UNJOINED_LOG = "unjoined_log"
    UNJOINED_CALL = "unjoined_call"
    EMPTY_FILE = "empty_file"
    PASSED_OVER = "passed_over"
    UNKNOWN_VERSION = "unknown_version"
    UNREADABLE = "unreadable"
    UNREAD_WORDS = "unread_words"
    """Words beside what was read that may name a tool: no loss, and nothing that a person is told
    of who does not ask about that tool."""


QUARANTINE_SCHEMA: pa.Schema = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        ("offset", pa.int64()),  # in the decompressed file; null: the whole file
        pa.field("reason", pa.string(), nullable=False),
        ("detail", pa.string()),
        pa.field("count", pa.int64(), nullable=False),
        ("names", pa.list_(pa.string())),  # words that may name a tool; null: nobody looked
    ]
)


_HARMLESS: Final = frozenset(
    [
        *(Reason.NOT_A_TRACE, Reason.EMPTY_FILE, Reason.UNJOINED_LOG),
        *(Reason.NO_START_TIME, Reason.NO_TASK_ID, Reason.PASSED_OVER, Reason.UNKNOWN_VERSION),
        Reason.UNREAD_WORDS,
    ]
)
READ: Final = frozenset([Reason.NO_START_TIME, Reason.NO_TASK_ID, Reason.UNKNOWN_VERSION])
"""What was read, and of which something is missing or not known."""
NOTES: Final = frozenset(
    [Reason.EMPTY_FILE, Reason.PASSED_OVER, Reason.UNKNOWN_VERSION, Reason.UNREAD_WORDS]
)
"""What a person should know, and nothing that was looked for and could not be read."""


def told(quarantine: pa.Table) -> pa.Table:
    """Return the rows of a table of `QUARANTINE_SCHEMA` that a person is told of."""
    return quarantine.filter(pc.not_equal(quarantine.column("reason"), Reason.UNREAD_WORDS.value))


def lost(quarantine: pa.Table) -> int:
    """Count the things in a table of `QUARANTINE_SCHEMA` that may have held what a run did."""
    rows = zip(*(quarantine.column(name).to_pylist() for name in ("reason", "count")), strict=True)
    return sum(count for reason, count in rows if reason not in _HARMLESS)


@dataclass(frozen=True, slots=True)
class NamingLoss:
    """Something that is not read, lost nothing that is known, and names a tool."""

    place: str
    what: str
    tool: str

    def __str__(self) -> str:
        return (
            f"{self.place} names {self.tool} and is not read ({self.what}): it may hold a call of"
            " it; convert it to a format that is read, or leave it out"
        )


def losses_naming(quarantine: pa.Table, tools: Collection[str]) -> tuple[NamingLoss, ...]:
    """Return what else is lost of a table of `QUARANTINE_SCHEMA` for a question on these tools."""
    if not tools:
        return ()
    held = pc.greater(pc.list_value_length(quarantine.column("names")), 0)
    named = quarantine.filter(held.fill_null(False)).to_pylist()
    found = []
    for row in named:
        tool = named_of(row["names"], tools) if row["reason"] in _HARMLESS else None
        if tool is not None:
            place = _place(row["file"], row["offset"])
            found.append(NamingLoss(place, f"{row['reason']}: {row['detail']}", tool))
    return tuple(found)


def _place(file: str, offset: int | None) -> str:
    return file if offset is None else f"{file} at byte {offset}"


class QuarantineError(ValueError):
    """Strict mode met something that it would have put aside."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One kind of loss in one file."""

    file: str
    reason: Reason
    detail: str
    offset: int | None = None
    count: int = 1
    names: tuple[str, ...] | None = None
    """Words of it that may name a tool (`names_held`)."""

    def __str__(self) -> str:
        place = _place(self.file, self.offset)
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{place}: {self.reason}: {self.detail}{times}"


class Quarantine:
    """Collects the losses of one file; equal reasons are counted, not repeated."""

    def __init__(
        self, file: str, *, strict: bool = False, adopted: set[Quarantined] | None = None
    ) -> None:
        self.file = file
        self._strict = strict
        self._found: dict[tuple[Reason, str], Quarantined] = {}
        self._adopted: set[Quarantined] = set() if adopted is None else adopted
        self._carried: list[Quarantined] = []

    def add(
        self,
        reason: Reason,
        detail: str,
        offset: int | None = None,
        *,
        count: int = 1,
        names: tuple[str, ...] | None = None,
    ) -> None:
        """Put a loss aside. Raises QuarantineError in strict mode."""
        entry = Quarantined(self.file, reason, detail, offset, count, names)
        if self._strict and reason not in NOTES:
            raise QuarantineError(str(entry))
        key = (reason, detail if len(self._found) < _DETAILS else "others")
        known = self._found.get(key)
        if known is None:
            self._found[key] = entry
        else:
            both = (known.names, names)
            held = None if both == (None, None) else bounded_names(n for b in both for n in b or ())
            times = known.count + count
            self._found[key] = Quarantined(
                self.file, reason, known.detail, known.offset, times, held
            )

    def adopt(self, entry: Quarantined) -> None:
        """Put a loss aside that a converted file tells of, once however often it is told.

        Raises QuarantineError in strict mode.
        """
        if self._strict and entry.reason not in NOTES:
            raise QuarantineError(str(entry))
        if entry not in self._adopted:
            self._adopted.add(entry)
            self._carried.append(entry)

    def add_empty(self, name: object, offset: int | None, *, parts: str = "spans") -> None:
        """Put a trace aside that is named and of which nothing is there."""
        shown = f"the trace {str(name)[:_NAME]!r}" if isinstance(name, str | int) else "a trace"
        self.add(Reason.EMPTY_TRACE, f"{shown} without {parts}", offset)

    def take(self) -> tuple[Quarantined, ...]:
        """Return what was collected since the last call."""
        found = (*self._found.values(), *self._carried)
        self._found.clear()
        self._carried.clear()
        return found


_DETAILS: Final = 100
_NAME: Final = 64


def quarantine_table(entries: Sequence[Quarantined] = ()) -> pa.Table:
    """Return entries as a table."""
    return pa.Table.from_pylist(
        [
            {
                "file": entry.file,
                "offset": entry.offset,
                "reason": entry.reason.value,
                "detail": entry.detail,
                "count": entry.count,
                "names": entry.names,
            }
            for entry in entries
        ],
        schema=QUARANTINE_SCHEMA,
    )
