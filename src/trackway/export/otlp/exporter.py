"""How do spans reach an OTLP receiver that may be slow, away or full?

1. `export` never sends and never waits: a thread of its own sends, in order. A few batches wait in
   memory; while more than that waits, or the receiver is away, batches go to a disk spool.
2. Oldest first: memory is older than the spool, and what an earlier process left is older still.
   What the receiver has accepted is marked done in the spool at once and not sent again.
3. A message is kept below `message_bytes`. One that is too large all the same is halved; a single
   span that is too large is counted as failed, and so is what the receiver refuses for good.
4. While the receiver is away it is tried again after what it asked for, else after 1, 2, 4 … 30
   seconds. A message that it breaks on eight times running (HTTP 500) is given up, so that it does
   not hold up the rest for ever.
5. The spool holds `spool_bytes` at most. What it has no room for, and what a full disk refuses,
   waits in memory behind it, 256 batches at most. Beyond that new batches are counted as failed.
   The log says so.
6. `force_flush` tries at once and returns True only if nothing waits any more and nothing has been
   lost since the last flush. It returns False as soon as a try has failed: a dead receiver does not
   hold up an exit.
7. A flush that fails, `shutdown`, and `memory_seconds` without an answer put what waits in memory
   into the spool: whatever happens then, the next start sends it.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, set_value
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from trackway.export.counts import ExportCounts
from trackway.export.fork import in_forked_child
from trackway.export.otlp.delivery import Answer, Delivery, Sender
from trackway.export.otlp.endpoint import Endpoint, endpoint_of
from trackway.export.otlp.wire import decode, encode
from trackway.export.size import pieces
from trackway.export.spool import Segment, claim_abandoned, state_directory

_LOG: Final = logging.getLogger(__name__)
_SEGMENT_BYTES: Final = 16 * 2**20
_LONGEST_PAUSE: Final = 30.0
_MOST_TRIES: Final = 8
_LATE_BATCHES: Final = 256


@dataclass(slots=True, eq=False)
class _Batch:
    """Spans that wait in memory."""

    spans: list[ReadableSpan]
    arrived: int = field(default_factory=time.time_ns)
    inherited: bool = False
    since: float = field(default_factory=time.monotonic)
    kept: tuple[Segment, int] | None = None
    """Where it ends in the spool, once it has been put there."""


@dataclass(slots=True, eq=False)
class _Frame:
    """Spans that wait in the spool, read for sending."""

    kept: tuple[Segment, int]
    payload: bytes
    inherited: bool
    """Left by an earlier process."""

    @property
    def spans(self) -> list[ReadableSpan]:
        return decode(self.payload)

    @property
    def arrived(self) -> int:
        return self.kept[0].born


class OtlpSpanExporter(SpanExporter):
    """Send spans to an OTLP receiver, and keep them on disk while it is away.

    Args:
        target: "otlp", "otlp+http://host:4318", "otlp+grpc://host:4317" and the like.
        spool: local directory of the spool; by default a folder of the user's state directory that
            belongs to this receiver. False: no spool.
        spool_bytes: what the spool may take on the disk.
        message_bytes: size of a message at most; receivers take 4 MiB over gRPC by default.
        memory_batches: batches that wait in memory before the spool is used; by default 8, and 256
            where there is no spool.
        memory_seconds: how long they wait there before they go to the spool too: what `kill -9` can
            cost while the receiver hangs.
    """

    def __init__(
        self,
        target: str = "otlp",
        *,
        spool: str | Path | bool = True,
        spool_bytes: int = 512 * 2**20,
        message_bytes: int = 4_000_000,
        memory_batches: int | None = None,
        memory_seconds: float = 0.5,
    ) -> None:
        self._endpoint: Endpoint = endpoint_of(target)
        self._spool = _spool_directory(self._endpoint, spool)
        self._spool_bytes = spool_bytes
        self._message_bytes = message_bytes
        usual = 256 if self._spool is None else 8
        self._memory_batches = usual if memory_batches is None else memory_batches
        self._memory_seconds = memory_seconds
        self._start_empty()
        in_forked_child(self, OtlpSpanExporter._forget_parent)

    def _start_empty(self) -> None:
        self.counts = ExportCounts()
        self._changed = threading.Condition()
        self._memory: deque[_Batch] = deque()
        self._segments: deque[Segment] = deque()
        self._late: deque[_Batch] = deque()
        """Newer than the spool, which has no room for them."""
        self._inherited: set[Path] = set()
        self._recovered = False
        self._sending = False
        self._closed = False
        self._broken = False
        self._lost_before = 0
        self._pause = 1.0
        self._retry_at = 0.0
        self._failures = 0
        """Tries that failed, in all: a flush sees that one has failed since it began."""
        self._tries = 0
        """Times in a row that the receiver broke on the oldest message."""
        self._complained: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="trackway-otlp", daemon=True)
        self._thread.start()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take a batch over for sending."""
        with self._changed:
            if self._closed:
                return SpanExportResult.FAILURE
            self._recover()
            self.counts.ended += len(spans)
            batch = _Batch(list(spans))
            if self._segments or self._late or len(self._memory) >= self._memory_batches:
                self._late.append(batch)
                self._spill()
            else:
                self._memory.append(batch)
            self._changed.notify_all()
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what waits. True: the receiver has accepted all that came since the last flush."""
        with self._changed:
            failures = self._failures
            self._retry_at = 0.0
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._is_empty() or self._failures > failures or self._stopped(),
                timeout_millis / 1000,
            )
            if not self._is_empty():
                self._keep_memory()
                self._spill()
            lost, self._lost_before = self._lost_before, self.counts.failed
            return self._is_empty() and lost == self.counts.failed

    def poll(self) -> None:
        """Put into the spool what has waited for long: the receiver may hang."""
        with self._changed:
            if self._memory and time.monotonic() - self._memory[0].since >= self._memory_seconds:
                self._keep_memory()

    def shutdown(self, timeout_millis: int = 5_000) -> None:
        """Send what waits; what the receiver does not take within the timeout goes to the spool."""
        self.force_flush(timeout_millis)
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._keep_memory()
            self._spill()
            self.counts.failed += sum(len(batch.spans) for batch in (*self._memory, *self._late))
            for segment in self._segments:
                segment.close()
            self._changed.notify_all()

    def _is_empty(self) -> bool:
        return self._recovered and not (self._something_waits() or self._sending)

    def _something_waits(self) -> bool:
        return bool(self._memory or self._segments or self._late)

    def _stopped(self) -> bool:
        return self._closed or self._broken

    # What waits, and where. Callers hold the lock.

    def _spill(self) -> None:
        """Put new batches at the end of the spool; some may wait in memory until it has room."""
        try:
            while self._late:
                last = self._segments[-1] if self._segments else None
                if last is None or last.path in self._inherited or last.size >= _SEGMENT_BYTES:
                    self._segments.append(self._new_segment(self._late[0]))
                self._append(self._segments[-1], self._late[0])
                self._late.popleft()
        except OSError as error:
            self._complain("spool", f"cannot keep spans for a receiver that is away: {error}")
            while len(self._late) > (0 if self._spool is None else _LATE_BATCHES):
                self.counts.failed += len(self._late.pop().spans)

    def _keep_memory(self) -> None:
        """Put what waits in memory before the rest of the spool, where there is one."""
        if self._spool is None or not self._memory:
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
            self._complain("spool", f"cannot keep spans for a receiver that is away: {error}")

    def _new_segment(self, first: _Batch) -> Segment:
        if self._spool is None:
            raise OSError("there is no spool")
        if sum(segment.size for segment in self._segments) >= self._spool_bytes:
            raise OSError(f"the spool has reached its limit of {self._spool_bytes} bytes")
        return Segment.create(self._spool, born=first.arrived)

    def _append(self, segment: Segment, batch: _Batch) -> None:
        before = segment.size
        try:
            for piece in pieces(batch.spans, self._message_bytes):
                segment.append(encode(piece))
        except OSError:
            segment.cut(before)
            raise

    def _recover(self) -> None:
        if self._recovered:
            return
        if self._spool is not None:
            abandoned = list(claim_abandoned(self._spool))
            self._inherited = {segment.path for segment in abandoned}
            self._segments.extendleft(reversed(abandoned))
        self._recovered = True

    # The thread that sends.

    def _work(self) -> None:
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        with self._changed:
            self._recover()
            self._changed.notify_all()
        try:
            sender = Sender(self._endpoint)
        except Exception as error:  # noqa: BLE001 - of upstream's many ways to reject its settings
            self._complain("settings", f"cannot send, spans go to the spool: {error}")
            with self._changed:
                self._broken = True
                self._changed.notify_all()
            return
        while True:
            with self._changed:
                self._sending = False
                self._changed.notify_all()
                while not self._closed and not self._due():
                    self._changed.wait(self._seconds_to_wait())
                if self._closed:
                    break
                waiting = self._oldest()
                self._sending = waiting is not None
            if waiting is not None:
                self._send(sender, waiting)
        sender.close()

    def _due(self) -> bool:
        return self._something_waits() and time.monotonic() >= self._retry_at

    def _seconds_to_wait(self) -> float | None:
        if not self._something_waits():
            return None
        return max(0.0, self._retry_at - time.monotonic())

    def _oldest(self) -> _Batch | _Frame | None:
        if not (self._memory or self._segments):
            self._memory, self._late = self._late, self._memory
        if self._memory:
            return self._memory[0]
        segment = self._segments[0]
        for end, payload in segment.unread():
            return _Frame((segment, end), payload, segment.path in self._inherited)
        segment.discard()
        self._segments.popleft()
        return None

    def _send(self, sender: Sender, waiting: _Batch | _Frame) -> None:
        spans = waiting.spans
        rest: list[ReadableSpan] = []
        for piece in pieces(spans, self._message_bytes):
            rest += piece if rest else self._settle(sender, piece, waiting.inherited)
        with self._changed:
            if not self._closed:
                self._note_sent(waiting, len(spans), rest)

    def _note_sent(self, waiting: _Batch | _Frame, spans: int, rest: list[ReadableSpan]) -> None:
        """Take out of memory and spool what the receiver has; keep the rest in front."""
        kept = waiting.kept
        if kept is not None and len(rest) < spans:
            segment, end = kept
            segment.mark_done(end)
        elif isinstance(waiting, _Batch) and kept is None:
            self._memory.popleft()
        if rest and (kept is None or len(rest) < spans):
            self._memory.appendleft(_Batch(rest, waiting.arrived, waiting.inherited))
            self._keep_memory()

    def _settle(
        self, sender: Sender, spans: list[ReadableSpan], inherited: bool
    ) -> list[ReadableSpan]:
        """Send until each span's fate is known; return those that the receiver was away for."""
        delivery = sender.send(spans)
        match delivery.answer:
            case Answer.UNAVAILABLE if self._put_off(delivery):
                return spans
            case Answer.DELIVERED:
                self._note_delivered(delivery, len(spans), inherited)
            case Answer.TOO_LARGE | Answer.UNENCODABLE if len(spans) > 1:
                middle = len(spans) // 2
                rest = self._settle(sender, spans[:middle], inherited)
                if rest:
                    return rest + spans[middle:]
                return self._settle(sender, spans[middle:], inherited)
            case _:
                self._give_up(delivery, len(spans))
        return []

    def _note_delivered(self, delivery: Delivery, spans: int, inherited: bool) -> None:
        with self._changed:
            self._tries, self._pause, self._retry_at = 0, 1.0, 0.0
            self._complained.discard("away")
            self.counts.failed += delivery.rejected
            if inherited:
                self.counts.recovered += spans - delivery.rejected
            else:
                self.counts.delivered += spans - delivery.rejected
            if delivery.rejected:
                self._complain("rejected", f"the receiver rejected spans: {delivery.reason}")

    def _put_off(self, delivery: Delivery) -> bool:
        """Note that the receiver is away. False: it broke on this message once too often."""
        with self._changed:
            self._tries = self._tries + 1 if delivery.failed_on_it else 0
            if self._tries >= _MOST_TRIES:
                return False
            self._failures += 1
            pause = self._pause if delivery.retry_after is None else delivery.retry_after
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            self._retry_at = time.monotonic() + pause
            self._complain("away", f"{delivery.reason}; spans wait and are sent later")
            return True

    def _give_up(self, delivery: Delivery, spans: int) -> None:
        with self._changed:
            self._tries = 0
            self.counts.failed += spans
            why = f"{delivery.answer.value}, {delivery.reason}"
            self._complain("refused", f"{spans} spans are lost: {why}")

    def _complain(self, what: str, sentence: str) -> None:
        if what not in self._complained:
            self._complained.add(what)
            _LOG.warning("trackway, OTLP %s: %s", self._endpoint.identity, sentence)

    def _forget_parent(self) -> None:
        """In a forked child: what waits belongs to the parent."""
        for segment in self._segments:
            segment.close()
        self._start_empty()


def _spool_directory(endpoint: Endpoint, spool: str | Path | bool) -> Path | None:
    if spool is False:
        return None
    if spool is not True:
        return Path(spool)
    return state_directory() / f"otlp-{hashlib.sha256(endpoint.identity.encode()).hexdigest()[:16]}"
