"""How do spans reach an OTLP receiver that may be slow, away or full?

1. `export` never sends and never waits: a thread of its own sends, oldest first. A few batches wait
   in memory, the rest in a disk spool of limited size (`waiting`).
2. A message is kept below `message_bytes`. One that is too large all the same is halved; a single
   span that is too large is counted as failed, and so is what the receiver refuses for good.
3. While the receiver is away it is tried again after what it asked for, and never before, else
   after 1, 2, 4 … 30 seconds. A message that it breaks on eight times running (HTTP 500) is given
   up, so that it does not hold up the rest for ever.
4. `force_flush` returns True only if nothing waits any more and nothing has been lost since the
   last flush. It cuts a pause of ours short, and waits for a time that the receiver has asked for
   where that is within its timeout. Else it returns False as soon as a try has failed: a dead
   receiver does not hold up an exit.
5. A flush that fails, `shutdown`, and `memory_seconds` without an answer put what waits in memory
   into the spool: whatever happens then, the next start sends it.
6. What is wrong is said once, in the log; also that a receiver does not answer at all.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, set_value
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from trackway.export.background import in_background
from trackway.export.counts import ExportCounts
from trackway.export.fork import in_forked_child
from trackway.export.otlp.delivery import Answer, Delivery, Sender
from trackway.export.otlp.endpoint import Endpoint, endpoint_of
from trackway.export.otlp.waiting import Batch, Frame, Room, Waiting
from trackway.export.shown import shown
from trackway.export.size import pieces
from trackway.export.spool import state_directory

_LOG: Final = logging.getLogger(__name__)
_LONGEST_PAUSE: Final = 30.0
_LONGEST_ASKED: Final = 3600.0
_SILENCE: Final = 5.0
"""Seconds without an answer after which it is said, where no flush has said so before."""
_MOST_TRIES: Final = 8


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
        directory = _spool_directory(self._endpoint, spool)
        usual = 256 if directory is None else 8
        batches = usual if memory_batches is None else memory_batches
        self._room = Room(directory, spool_bytes, message_bytes, batches)
        self._memory_seconds = memory_seconds
        self._start_empty()
        in_forked_child(self, OtlpSpanExporter._forget_parent)

    def _start_empty(self) -> None:
        self.counts = ExportCounts()
        self._changed = threading.Condition()
        self._waiting = Waiting(self._room, self.counts, partial(self._complain, "spool"))
        self._sending = False
        self._sending_since = 0.0
        self._closed = False
        self._broken = False
        self._lost_before = 0
        self._pause = 1.0
        self._retry_at = 0.0
        self._not_before = 0.0
        """Until then the receiver has asked for no more requests."""
        self._failures = 0
        """Tries that failed, in all: a flush sees that one has failed since it began."""
        self._tries = 0
        """Times in a row that the receiver broke on the oldest message."""
        self._complained: set[str] = set()
        self._has_thread = False
        self._start_thread()

    def _start_thread(self) -> None:
        """Start the thread that sends, once the system gives one."""
        with self._changed:
            if self._has_thread or self._closed:
                return
            try:
                in_background(self._work, "trackway-otlp").start()
                self._has_thread = True
            except RuntimeError as error:
                self._complain("thread", f"cannot send yet, spans go to the spool: {error}")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take a batch over for sending."""
        with self._changed:
            if self._closed:
                return SpanExportResult.FAILURE
            self._waiting.recover()
            self.counts.ended += len(spans)
            self._waiting.add(list(spans))
            self._changed.notify_all()
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what waits. True: the receiver has accepted all that came since the last flush."""
        self._start_thread()
        timeout = timeout_millis / 1000
        deadline = time.monotonic() + timeout
        with self._changed:
            failures = self._failures
            self._retry_at = self._not_before
            self._changed.notify_all()

            def is_over() -> bool:
                """Whether waiting longer changes nothing."""
                if self._is_empty() or self._stopped() or self._not_before > deadline:
                    return True
                return self._failures > failures and self._not_before == 0

            self._changed.wait_for(is_over, timeout)
            if not self._is_empty():
                self._note_silence(0.8 * timeout)
                self._waiting.keep_memory()
                self._waiting.spill()
            lost, self._lost_before = self._lost_before, self.counts.failed
            return self._is_empty() and lost == self.counts.failed

    def poll(self) -> None:
        """Put into the spool what has waited for long: the receiver may hang."""
        self._start_thread()
        with self._changed:
            self._note_silence(_SILENCE)
            if self._waiting.has_waited(self._memory_seconds):
                self._waiting.keep_memory()

    def shutdown(self, timeout_millis: int = 5_000) -> None:
        """Send what waits; what the receiver does not take within the timeout goes to the spool."""
        self.force_flush(timeout_millis)
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._waiting.close()
            self._changed.notify_all()

    def _is_empty(self) -> bool:
        return self._waiting.recovered and not (self._waiting or self._sending)

    def _stopped(self) -> bool:
        return self._closed or self._broken or not self._has_thread

    # The thread that sends.

    def _work(self) -> None:
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        with self._changed:
            self._waiting.recover()
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
                waiting = self._waiting.oldest()
                self._sending = waiting is not None
                self._sending_since = time.monotonic()
            if waiting is not None:
                self._send(sender, waiting)
        sender.close()

    def _due(self) -> bool:
        return bool(self._waiting) and time.monotonic() >= self._retry_at

    def _seconds_to_wait(self) -> float | None:
        if not self._waiting:
            return None
        return max(0.0, self._retry_at - time.monotonic())

    def _send(self, sender: Sender, waiting: Batch | Frame) -> None:
        try:
            spans = waiting.spans
        except Exception as error:  # noqa: BLE001 - the bytes of another process may be anything
            with self._changed:
                if not self._closed:
                    self._waiting.pass_over(waiting, error)
            return
        rest: list[ReadableSpan] = []
        for piece in pieces(spans, self._room.message_bytes):
            rest += piece if rest else self._settle(sender, piece, waiting.inherited)
        with self._changed:
            if not self._closed:
                self._waiting.note_sent(waiting, len(spans), rest)

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
            self._tries, self._pause, self._retry_at, self._not_before = 0, 1.0, 0.0, 0.0
            self._complained.discard("away")
            # Whatever a receiver says, it rejected some of those that it got.
            rejected = min(max(0, delivery.rejected), spans)
            self.counts.failed += rejected
            if inherited:
                self.counts.recovered += spans - rejected
            else:
                self.counts.delivered += spans - rejected
            if rejected:
                self._complain("rejected", f"the receiver rejected spans: {delivery.reason}")

    def _put_off(self, delivery: Delivery) -> bool:
        """Note that the receiver is away. False: it broke on this message once too often."""
        with self._changed:
            self._tries = self._tries + 1 if delivery.failed_on_it else 0
            if self._tries >= _MOST_TRIES:
                return False
            self._failures += 1
            now, asked = time.monotonic(), delivery.retry_after
            if asked is None:
                self._retry_at, self._not_before = now + self._pause, 0.0
            else:  # for one that asks for nothing for ever, a little more each time
                pause = max(min(asked, _LONGEST_ASKED), self._pause / 20)
                self._retry_at = self._not_before = now + pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            self._changed.notify_all()
            self._complain("away", f"{delivery.reason}; spans wait and are sent later")
            return True

    def _give_up(self, delivery: Delivery, spans: int) -> None:
        with self._changed:
            self._tries = 0
            self.counts.failed += spans
            why = ", ".join(filter(None, (delivery.answer.value, delivery.reason)))
            self._complain("refused", f"{spans} spans are lost: {why}")

    def _note_silence(self, longest: float) -> None:
        """Say that the message on its way has no answer, after so many seconds."""
        silent = time.monotonic() - self._sending_since
        if self._sending and silent >= longest:
            self._complain("away", f"no answer for {silent:.1f} s; spans wait and are sent later")

    def _complain(self, what: str, sentence: str) -> None:
        if what not in self._complained:
            self._complained.add(what)
            _LOG.warning("trackway, OTLP %s: %s", shown(self._endpoint.identity), shown(sentence))

    def _forget_parent(self) -> None:
        """In a forked child: what waits belongs to the parent."""
        self._waiting.give_up_locks()
        self._start_empty()


def _spool_directory(endpoint: Endpoint, spool: str | Path | bool) -> Path | None:
    if spool is False:
        return None
    if spool is not True:
        return Path(spool).absolute()
    return state_directory() / f"otlp-{hashlib.sha256(endpoint.identity.encode()).hexdigest()[:16]}"
