"""What waits for the receiver, in which order, and where?

1. Oldest first: memory is older than the spool, and what an earlier process left is older still.
   New batches wait in memory; behind a full memory, or behind anything in the spool, in the spool.
2. The spool holds `spool_bytes` at most. What it has no room for, and what a full disk refuses,
   waits in memory behind it, `LATE_BATCHES` at most. Beyond that new batches are counted as failed.
3. What the receiver has accepted is marked done in the spool at once and not sent again.
4. A frame that cannot be decoded is passed over, and its segment is set aside in the end.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from trackway.export.counts import ExportCounts
from trackway.export.leftovers import retire
from trackway.export.otlp.wire import decode, encode
from trackway.export.size import pieces
from trackway.export.spool import Segment, claim_abandoned

LATE_BATCHES: Final = 256
_SEGMENT_BYTES: Final = 16 * 2**20


@dataclass(slots=True, eq=False)
class Batch:
    """Spans that wait in memory."""

    spans: list[ReadableSpan]
    arrived: int = field(default_factory=time.time_ns)
    inherited: bool = False
    since: float = field(default_factory=time.monotonic)
    kept: tuple[Segment, int] | None = None
    """Where it ends in the spool, once it has been put there."""


@dataclass(slots=True, eq=False)
class Frame:
    """Spans that wait in the spool, read for sending."""

    kept: tuple[Segment, int]
    payload: bytes
    inherited: bool
    """Left by an earlier process."""

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans, decoded."""
        return decode(self.payload)

    @property
    def arrived(self) -> int:
        """Nanoseconds since 1970."""
        return self.kept[0].born


@dataclass(frozen=True, slots=True)
class Room:
    """Where batches may wait, and how many."""

    spool: Path | None
    spool_bytes: int
    message_bytes: int
    memory_batches: int


class Waiting:
    """Batches on their way to one receiver. Not thread-safe: callers hold a lock."""

    def __init__(self, room: Room, counts: ExportCounts, complain: Callable[[str], None]) -> None:
        """Take where batches may wait, where losses are counted, and who says what is wrong."""
        self._room: Final = room
        self._counts: Final = counts
        self._complain: Final = complain
        self._memory: deque[Batch] = deque()
        self._segments: deque[Segment] = deque()
        self._late: deque[Batch] = deque()
        """Newer than the spool, which has no room for them."""
        self._inherited: set[Path] = set()
        self._unreadable: dict[Path, str] = {}
        """What is wrong with a frame of a segment."""
        self.recovered = False
        """What earlier processes left has been found."""

    def __bool__(self) -> bool:
        return bool(self._memory or self._segments or self._late)

    def add(self, spans: list[ReadableSpan]) -> None:
        """Let a new batch wait."""
        batch = Batch(spans)
        if self._segments or self._late or len(self._memory) >= self._room.memory_batches:
            self._late.append(batch)
            self.spill()
        else:
            self._memory.append(batch)

    def has_waited(self, seconds: float) -> bool:
        """Tell whether something has waited in memory for so long."""
        return bool(self._memory) and time.monotonic() - self._memory[0].since >= seconds

    def close(self) -> None:
        """Put all into the spool, for the next start; count what does not fit as failed."""
        self.keep_memory()
        self.spill()
        self._counts.failed += sum(len(batch.spans) for batch in (*self._memory, *self._late))
        self.give_up_locks()

    def give_up_locks(self) -> None:
        """Close the files of the spool and keep them."""
        for segment in self._segments:
            segment.close()

    def spill(self) -> None:
        """Put new batches at the end of the spool; some may wait in memory until it has room."""
        try:
            while self._late:
                last = self._segments[-1] if self._segments else None
                if last is None or last.path in self._inherited or last.size >= _SEGMENT_BYTES:
                    self._segments.append(self._new_segment(self._late[0]))
                self._append(self._segments[-1], self._late[0])
                self._late.popleft()
        except OSError as error:
            self._complain(f"cannot keep spans for a receiver that is away: {error}")
            while len(self._late) > (0 if self._room.spool is None else LATE_BATCHES):
                self._counts.failed += len(self._late.pop().spans)

    def keep_memory(self) -> None:
        """Put what waits in memory before the rest of the spool, where there is one."""
        if self._room.spool is None or not self._memory:
            return
        try:
            segment = self._new_segment(self._memory[0])
            self._segments.appendleft(segment)
            while self._memory:
                batch = self._memory[0]
                self._append(segment, batch)
                batch.kept = (segment, segment.size)
                self._memory.popleft()
        except OSError as error:
            self._complain(f"cannot keep spans for a receiver that is away: {error}")

    def _new_segment(self, first: Batch) -> Segment:
        if self._room.spool is None:
            raise OSError("there is no spool")
        if sum(segment.size for segment in self._segments) >= self._room.spool_bytes:
            raise OSError(f"the spool has reached its limit of {self._room.spool_bytes} bytes")
        return Segment.create(self._room.spool, born=first.arrived)

    def _append(self, segment: Segment, batch: Batch) -> None:
        before = segment.size
        try:
            for piece in pieces(batch.spans, self._room.message_bytes):
                segment.append(encode(piece))
        except OSError:
            segment.cut(before)
            raise

    def recover(self) -> None:
        """Find what earlier processes left."""
        if self.recovered:
            return
        if self._room.spool is not None:
            abandoned = list(claim_abandoned(self._room.spool))
            self._inherited = {segment.path for segment in abandoned}
            self._segments.extendleft(reversed(abandoned))
        self.recovered = True

    def oldest(self) -> Batch | Frame | None:
        """Return what is to be sent first; None: look again."""
        if not (self._memory or self._segments):
            self._memory, self._late = self._late, self._memory
        if self._memory:
            return self._memory[0]
        segment, wrong = self._segments[0], None
        try:
            for end, payload in segment.unread():
                return Frame((segment, end), payload, segment.path in self._inherited)
        except OSError as error:  # the disk fails at it
            wrong = str(error)
        retire(segment, self._unreadable.pop(segment.path, wrong))
        self._segments.popleft()
        return None

    def pass_over(self, frame: Batch | Frame, error: Exception) -> None:
        """Go on behind a frame that cannot be decoded."""
        if frame.kept is None:
            return
        segment, end = frame.kept
        segment.mark_done(end)
        self._unreadable[segment.path] = f"a frame is no OTLP message ({error})"

    def note_sent(self, waiting: Batch | Frame, spans: int, rest: list[ReadableSpan]) -> None:
        """Take out of memory and spool what the receiver has; keep the rest in front."""
        kept = waiting.kept
        if kept is not None and (not rest or len(rest) < spans):
            segment, end = kept
            segment.mark_done(end)
        elif isinstance(waiting, Batch) and kept is None:
            self._memory.popleft()
        if rest and (kept is None or len(rest) < spans):
            self._memory.appendleft(Batch(rest, waiting.arrived, waiting.inherited))
            self.keep_memory()
