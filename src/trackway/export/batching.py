"""How do ended spans reach an exporter without holding up the agent?

1. `on_end` appends to a bounded queue and returns. A full queue makes it wait, `max_block` seconds
   at most, for the worker to make room; then the span is dropped and counted, and until there is
   room again later spans are dropped without waiting.
2. One worker thread hands batches to the exporter: at `batch_size`, and every `delay` seconds.
3. `force_flush` returns True only if everything that had ended is delivered, by the exporter's own
   word, and nothing has been lost since the last flush. It returns at the timeout at the latest.
4. A forked child starts with an empty queue and a worker of its own.
5. `on_end` takes no lock, so that a signal handler may flush at any point of the program.
6. Losses are said in the log and counted (`losses`), whatever the worker is held up by.
7. Where the system gives no thread, a flush exports in the thread that calls it. Every flush tries
   again to start the worker, and so do full batches, once a second.
"""

from __future__ import annotations

import inspect
import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Final

from opentelemetry.context import (
    _SUPPRESS_INSTRUMENTATION_KEY,
    Context,
    attach,
    detach,
    set_value,
)
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from trackway.capture.errors import ask_before_counts
from trackway.export.background import in_background
from trackway.export.counts import ExportCounts
from trackway.export.fork import in_forked_child
from trackway.export.losses import Losses, Standing
from trackway.export.shown import shown
from trackway.faults import goes_on

_LOG: Final = logging.getLogger(__name__)
_NAP: Final = 0.0005


@dataclass(slots=True, eq=False)
class _Flush:
    deadline: float
    done: threading.Event = field(default_factory=threading.Event)
    delivered: bool = False


class BatchingProcessor(SpanProcessor):
    """Queue ended spans for one exporter.

    Args:
        exporter: one of ours, whose `counts` and `force_flush` are believed, or any other.
        max_queue: spans that wait at most.
        batch_size: spans an export takes at most.
        delay: seconds that a span waits at most: what `kill -9` can cost.
        max_block: seconds that `on_end` waits at most for room in a full queue.
        clean: what every batch goes through first; spans that it fails on are not exported.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        max_queue: int = 16_384,
        batch_size: int = 512,
        delay: float = 0.2,
        max_block: float = 0.01,
        clean: Callable[[list[ReadableSpan]], Sequence[ReadableSpan]] | None = None,
    ) -> None:
        self.exporter = exporter
        self._clean = clean
        self._max_queue = max_queue
        self._batch_size = batch_size
        self._delay = delay
        self._max_block = max_block
        self._poll = getattr(exporter, "poll", None)
        self._stopped = False
        self._start_empty()
        in_forked_child(self, BatchingProcessor._start_empty)
        ask_before_counts(self._count_losses)

    def _start_empty(self) -> None:
        self._queue: deque[ReadableSpan] = deque()
        self._orders: SimpleQueue[_Flush | None] = SimpleQueue()
        self._drops: deque[None] = deque()
        self._late: deque[None] = deque()
        """Dropped because they ended after `shutdown`."""
        self._losses = Losses(_name_of(self.exporter))
        self._own = ExportCounts()
        self._awake = False
        self._overloaded = False
        self._reported_lost = 0
        self._in_caller = threading.Lock()
        """Held by a flush that does the worker's part."""
        self._worker = in_background(self._work, "trackway-export")
        self._has_worker = False
        self._start_at = 0.0
        self._start_worker()

    def _start_worker(self) -> None:
        """Start it, unless there is one, or somebody does its part just now."""
        if self._stopped or not self._in_caller.acquire(blocking=False):
            return
        try:
            if not self._has_worker:
                worker = in_background(self._work, "trackway-export")
                worker.start()
                self._worker, self._has_worker = worker, True
        except RuntimeError as error:
            if self._start_at == 0.0:
                _LOG.warning(
                    "trackway: %s gets no thread of its own (%s); until it does, spans are "
                    "exported at each flush, by the thread that calls it",
                    _name_of(self.exporter),
                    error,
                )
            self._start_at = time.monotonic() + 1.0
        finally:
            self._in_caller.release()

    @property
    def counts(self) -> ExportCounts:
        """What became of the spans so far; the exporter's own word counts where it keeps counts."""
        own, waiting, late = self._own, *self._queued_and_late()
        dropped = own.dropped + len(self._drops) + late
        theirs = getattr(self.exporter, "counts", None)
        delivered = own.delivered if theirs is None else theirs.delivered
        return ExportCounts(
            ended=own.ended + waiting + dropped,
            delivered=delivered,
            recovered=0 if theirs is None else theirs.recovered,
            dropped=dropped,
            failed=own.failed + (0 if theirs is None else theirs.failed),
        )

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Do nothing."""

    def on_end(self, span: ReadableSpan) -> None:
        """Queue the span, if it is sampled."""
        context = span.context
        if context is None or not context.trace_flags.sampled:
            return
        queue = self._queue
        if self._stopped:
            self._late.append(None)
            return
        if len(queue) >= self._max_queue and not self._wait_for_room():
            self._drops.append(None)
            return
        queue.append(span)
        if len(queue) >= self._batch_size and not (self._awake and self._has_worker):
            self._wake()

    def _wake(self) -> None:
        if not self._awake:
            self._awake = True
            self._orders.put(None)
        if not self._has_worker and time.monotonic() >= self._start_at:
            self._start_worker()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Deliver what has ended. True only if all of it is delivered and none was lost."""
        return self.begin_flush(time.monotonic() + timeout_millis / 1000)()

    def begin_flush(self, deadline: float) -> Callable[[], bool]:
        """Order a flush up to a monotonic time; return the wait for its answer."""
        order = self._order_flush(deadline)

        def wait() -> bool:
            in_time = order.done.wait(max(0.0, deadline - time.monotonic()))
            if not in_time:
                self._losses.tell_of_delay(self._standing())
            return in_time and order.delivered

        return wait

    def shutdown(self, timeout_millis: int = 30_000) -> None:
        """Flush, stop the worker and shut the exporter down, within the timeout."""
        if self._stopped:
            return
        deadline = time.monotonic() + timeout_millis / 1000
        self._order_flush(deadline).done.wait(timeout_millis / 1000)
        self._stopped = True
        self._orders.put(None)
        if self._has_worker:
            self._worker.join(max(0.0, deadline - time.monotonic()))
        self._shut_exporter(deadline)
        self._losses.tell_at_shutdown(self._standing())

    def last_word(self) -> int:
        """Say what the process that ends takes along; return how many came after `shutdown`."""
        now = self._standing()
        self._losses.tell_at_exit(now)
        return now.late

    def is_hanging(self) -> bool:
        """Whether the worker is still at work after `shutdown`."""
        return self._worker.is_alive()

    def _order_flush(self, deadline: float) -> _Flush:
        order = _Flush(deadline)
        if self._stopped or threading.current_thread() is self._worker:
            order.done.set()
            return order
        if not self._has_worker:
            self._start_worker()
        if self._has_worker:
            self._orders.put(order)
        else:
            self._flush_in_caller(order)
        return order

    def _flush_in_caller(self, order: _Flush) -> None:
        if not self._in_caller.acquire(timeout=max(0.0, order.deadline - time.monotonic())):
            order.done.set()
            return
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            if self._has_worker:  # since a moment ago
                self._orders.put(order)
                return
            self._awake = False
            self._serve(order)
            order.done.set()
        finally:
            detach(token)
            self._in_caller.release()

    def _shut_exporter(self, deadline: float) -> None:
        """Shut it down; while it is stuck in the worker, only if it promises not to wait long."""
        if "timeout_millis" in inspect.signature(self.exporter.shutdown).parameters:
            left = max(0, int((deadline - time.monotonic()) * 1000))
            self._guarded(lambda: self.exporter.shutdown(timeout_millis=left))  # type: ignore[call-arg]  # ours does
        elif not self._worker.is_alive():
            self._guarded(self.exporter.shutdown)

    def _wait_for_room(self) -> bool:
        if self._overloaded:
            return False
        deadline = time.monotonic() + self._max_block
        while time.monotonic() < deadline:
            time.sleep(_NAP)
            if len(self._queue) < self._max_queue:
                return True
        self._overloaded = True
        self._losses.tell_of_full_queue(self._max_queue)
        return False

    def _work(self) -> None:
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        while not self._stopped:
            try:
                order = self._orders.get(timeout=self._delay)
            except Empty:
                order = None
            self._awake = False
            self._serve(order)
            if order is not None:
                order.done.set()
            elif self._poll is not None:
                self._guarded(self._poll)
        self._drain(len(self._queue))

    def _serve(self, order: _Flush | None) -> None:
        """Export what has ended, say what was lost, and flush where that is ordered."""
        self._drain(len(self._queue))
        self._count_losses()
        if order is not None:
            order.delivered = self._delivered(order.deadline)
            self._count_losses()  # those of this flush, before anybody has its answer
            if order.delivered:
                self._losses.flushed()

    def _drain(self, spans: int) -> None:
        while spans > 0:
            batch = [self._queue.popleft() for _ in range(min(spans, self._batch_size))]
            spans -= len(batch)
            self._overloaded = False
            self._own.ended += len(batch)
            clean = batch if self._clean is None else self._guarded(self._clean, batch)
            result = None if clean is None else self._guarded(self.exporter.export, clean)
            if result is SpanExportResult.SUCCESS:
                self._own.delivered += len(batch)
            elif result is None or not hasattr(self.exporter, "counts"):
                self._own.failed += len(batch)

    def _count_losses(self) -> None:
        self._losses.count(self.counts.lost)

    def _queued_and_late(self) -> tuple[int, int]:
        """How many spans the worker will still take, and how many came too late for it."""
        queued, late = len(self._queue), len(self._late)
        if self._stopped and not self._worker.is_alive():  # these came when the worker was going
            return 0, queued + late
        return queued, late

    def _standing(self) -> Standing:
        queued, late = self._queued_and_late()
        return Standing(self.counts, queued, late, self._worker.is_alive())

    def _delivered(self, deadline: float) -> bool:
        while self._drops:
            self._drops.popleft()
            self._own.dropped += 1
        # A little less than the caller waits, so that the answer is there in time.
        millis = max(1, int((deadline - time.monotonic()) * 900))
        # An exporter that does not override the base class's flush returns None: nothing to flush.
        flushed = self._guarded(lambda: self.exporter.force_flush(millis) is not False)
        lost = self.counts.lost
        fresh, self._reported_lost = lost - self._reported_lost, lost
        return flushed is True and fresh == 0

    def _guarded(self, call: Any, *arguments: Any) -> Any:
        """Call code that may raise. What it raises is logged and means failure."""
        try:
            return call(*arguments)
        except BaseException as error:  # an exporter may be the user's own
            if goes_on(error):
                raise
            _LOG.error(
                "trackway: export through %s failed\n%s",
                shown(repr(self.exporter)),
                shown(traceback.format_exc()),
            )
            return None


def _name_of(exporter: SpanExporter) -> str:
    return type(exporter).__name__
