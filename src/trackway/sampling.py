"""Runs are kept or dropped whole, and failed ones are kept.

1. The share is drawn by run id, so that every process of a run decides alike. Spans of no run are
   drawn by trace id; a step among them that failed is kept beside the share, as a failed run is.
2. Spans of a run that was not drawn wait until its run span ends. If the run failed, or any of its
   spans did, all of them go on; else all are dropped, and so are those that come later, unless one
   of these failed: then the run goes on after all, with what was dropped of it. That is held for
   this within `MAX_RECALLED`, of the last `MAX_REMEMBERED` runs; what no longer is there is counted
   and said. The decision itself is never forgotten before the run's last span (`fates`).
3. Failed: a span with status ERROR, an outcome of success=False, censored or with a failure mode, a
   step not ok, an effect that was not applied. What only a reader would take for a failure, in a
   result that nothing is declared of, does not count.
4. What waits is bounded by its size: beyond `MAX_WAITING`, the run that has waited longest is kept
   rather than cut, and counted.
5. A run that is handed over to another process is kept: nobody there learns how it ended, and runs
   are never kept in part.
6. With `keep_failed=False` a run is dropped at its head and costs next to nothing.
7. A run that comes by a carrier is kept or dropped as in the process that it comes from, whatever
   is drawn here.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Any, Final

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import StatusCode

from trackway.capture import count_capture_errors
from trackway.fates import KEPT, Fate, fate_of
from trackway.foreign import operation_of
from trackway.schema import STEP_OPERATIONS, Trackway

MAX_WAITING: Final = 64 << 20
"""Characters in spans that wait for the end of their runs, at most; a bare span is 1,000."""
MAX_RECALLED: Final = 32 << 20
"""Characters in spans that were dropped and may be called back, at most."""
MAX_REMEMBERED: Final = 4096
"""Runs whose dropped spans may be called back, at most."""
LOST_OF_DROPPED: Final = "spans of runs that failed after they were dropped"
"""The place of `capture_errors()` that counts what could not be called back."""
_BARE: Final = 1000
_BITS: Final = 52
_MAX_TOLD: Final = 16_384
_NONE: Final[Mapping[str, Any]] = {}
_LOGGER: Final = logging.getLogger("trackway")


def drawn(hex_id: str, share: float) -> bool:
    """Whether an id of hex digits falls into the share (0 to 1) that is kept."""
    return int(hex_id[-_BITS // 4 :], 16) < share * (1 << _BITS)


_told: Final[dict[str, bool]] = {}
"""What carriers said of their runs: whether the process that has the beginning records it."""


def tell_kept(run_id: str, *, kept: bool) -> None:
    """Take a carrier's word on whether its run is recorded."""
    _told[run_id] = kept
    while len(_told) > _MAX_TOLD:
        with suppress(RuntimeError, StopIteration):  # another thread changes it just now
            _told.pop(next(iter(_told)), None)


def is_kept(run_id: str, share: float) -> bool:
    """Whether a run is recorded, decided at its head."""
    said = _told.get(run_id)
    return drawn(run_id, share) if said is None else said


def is_dropped_elsewhere(span: ReadableSpan) -> bool:
    """Whether the process that the span's run comes from records nothing of it."""
    if not _told:
        return False
    run_id = (span.attributes or _NONE).get(Trackway.RUN_ID)
    return isinstance(run_id, str) and _told.get(run_id) is False


def is_drawn_alone(span: ReadableSpan, keep: Callable[[str], bool]) -> bool:
    """Whether a span of no run falls into the share."""
    return span.context is not None and keep(f"{span.context.trace_id:032x}")


def failed(span: ReadableSpan) -> bool:
    """Whether a span tells of a failure."""
    attributes = span.attributes or _NONE
    return (
        span.status.status_code is StatusCode.ERROR
        or attributes.get(Trackway.OUTCOME_SUCCESS) is False
        or attributes.get(Trackway.OUTCOME_CENSORED) is True
        or Trackway.OUTCOME_FAILURE_MODE in attributes
        or attributes.get(Trackway.STEP_OK) is False
        or any(map(_is_not_applied, span.events))
    )


def _is_not_applied(event: Event) -> bool:
    return (
        event.name == Trackway.EVENT_EFFECT and (event.attributes or _NONE).get("applied") is False
    )


class _Recallable:
    """Spans of runs that were dropped, as long as there is room for them."""

    def __init__(self) -> None:
        self._spans: OrderedDict[str, list[ReadableSpan]] = OrderedDict()
        self._size = 0

    def add(self, run_id: str, spans: Sequence[ReadableSpan]) -> None:
        """Take spans of a run; those of the runs that were dropped first make room."""
        self._spans.setdefault(run_id, []).extend(spans)
        self._size += sum(map(_size, spans))
        while self._size > MAX_RECALLED:
            self.take(next(iter(self._spans)))

    def take(self, run_id: str) -> list[ReadableSpan]:
        """Return what is there of a run, and forget it."""
        spans = self._spans.pop(run_id, [])
        self._size -= sum(map(_size, spans))
        return spans


def _size(span: ReadableSpan) -> int:
    events = (event.attributes or _NONE for event in span.events)
    members = chain((span.attributes or _NONE).values(), *(event.values() for event in events))
    return _BARE + sum(len(value) for value in members if isinstance(value, str))


class TailSampler:
    """Holds spans back until their run is decided, then hands them on or drops them."""

    def __init__(self, share: float, emit: Callable[[ReadableSpan], None]) -> None:
        self._share = share
        self._emit = emit
        self.forget()

    def forget(self) -> None:
        """Start anew in a forked child: what waits is the parent's."""
        # Reentrant, because a signal handler may release while its own thread decides.
        self._lock = threading.RLock()
        self._waiting: OrderedDict[str, list[ReadableSpan]] = OrderedDict()
        self._size = 0
        self._decided: OrderedDict[str, Fate] = OrderedDict()
        """Runs that were decided last: held here too, since spans may come of which no `Run` is."""
        self._dropped = _Recallable()
        self.kept_undecided = 0
        """Runs that went on because too much was waiting."""

    def take(self, span: ReadableSpan) -> None:
        """Take an ended span."""
        attributes = span.attributes or _NONE
        run_id = attributes.get(Trackway.RUN_ID)
        if not isinstance(run_id, str):
            if is_drawn_alone(span, lambda trace_id: drawn(trace_id, self._share)) or (
                operation_of(attributes) in STEP_OPERATIONS and failed(span)
            ):
                self._emit(span)
            return
        if drawn(run_id, self._share):
            self._emit(span)
            return
        for ready in self._decide(run_id, span, ended=Trackway.RUN_LAST_STEP in attributes):
            self._emit(ready)

    def keep(self, run_id: str) -> None:
        """Keep this run, whatever becomes of it: another process has a part of it."""
        with self._lock:
            fate = fate_of(run_id)
            if fate.dropped in (None, KEPT):
                ready = self._close(run_id, keep=True)
            else:
                ready = self._call_back(run_id, fate)
        for span in ready:
            self._emit(span)

    def release(self) -> None:
        """Hand on what still waits: the process goes, and a run without an end did not end well."""
        with self._lock:
            open_runs = list(self._waiting)
            left = [span for run_id in open_runs for span in self._close(run_id, keep=True)]
        for span in left:
            self._emit(span)

    def _decide(self, run_id: str, span: ReadableSpan, *, ended: bool) -> list[ReadableSpan]:
        with self._lock:
            fate = fate_of(run_id)
            if fate.dropped == KEPT:
                return [*self._no_longer_waiting(run_id), span]
            if fate.dropped is not None:
                return self._take_late(run_id, fate, span)
            spans = self._waiting.setdefault(run_id, [])
            spans.append(span)
            self._size += _size(span)
            if ended:
                return self._close(run_id, keep=any(map(failed, spans)))
            if self._size > MAX_WAITING:
                self.kept_undecided += 1
                return self._close(next(iter(self._waiting)), keep=True)
            return []

    def _take_late(self, run_id: str, fate: Fate, span: ReadableSpan) -> list[ReadableSpan]:
        """Take a span of a run that was dropped: if it failed, the run did."""
        if failed(span):
            return [*self._call_back(run_id, fate), span]
        self._drop(run_id, fate, [span])
        return []

    def _call_back(self, run_id: str, fate: Fate) -> list[ReadableSpan]:
        """Keep a run after all, with what is there of its spans; tell of the others."""
        spans = self._dropped.take(run_id)
        gone = (fate.dropped or 0) - len(spans)
        self._remember(run_id, fate, KEPT)
        if gone:
            count_capture_errors(LOST_OF_DROPPED, gone)
            _tell_of_gone()
        return spans

    def _close(self, run_id: str, *, keep: bool) -> list[ReadableSpan]:
        spans = self._no_longer_waiting(run_id)
        if keep:
            self._remember(run_id, fate_of(run_id), KEPT)
            return spans
        self._drop(run_id, fate_of(run_id), spans)
        return []

    def _no_longer_waiting(self, run_id: str) -> list[ReadableSpan]:
        spans = self._waiting.pop(run_id, [])
        self._size -= sum(map(_size, spans))
        return spans

    def _drop(self, run_id: str, fate: Fate, spans: Sequence[ReadableSpan]) -> None:
        self._remember(run_id, fate, (fate.dropped or 0) + len(spans))
        self._dropped.add(run_id, spans)

    def _remember(self, run_id: str, fate: Fate, dropped: int) -> None:
        fate.dropped = dropped
        self._decided[run_id] = fate
        self._decided.move_to_end(run_id)
        while len(self._decided) > MAX_REMEMBERED:
            self._dropped.take(self._decided.popitem(last=False)[0])


@cache
def _tell_of_gone() -> None:
    _LOGGER.warning(
        "trackway: a step failed after its run had ended and been dropped; it is kept, but not "
        "all of the run was still there: the run has a gap, and what is missing is counted in "
        "trackway.capture_errors() under %r",
        LOST_OF_DROPPED,
    )
