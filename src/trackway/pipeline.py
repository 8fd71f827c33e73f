"""The one processor that Trackway adds to a tracer provider, and what it does to a span.

1. At start a span gets its run's identity (`processors`). At end it goes to every target, through
   the tail decision (`sampling`) where runs are sampled.
2. Targets can be replaced: a provider can't remove a processor, and `configure()` may be called
   again. What is said of the producer of the spans (service, resource) replaces on the way to them
   what the provider says.
3. `force_flush` returns within its timeout; True only if every target said so in time. Targets
   flush and close side by side: one that is stuck takes no time from the others. What a tail
   decision still holds back is not lost and not waited for; `close` hands it on.
4. What ends once it is closed is counted as lost (`late`), and the next flush is not True. So it is
   with what earlier targets had not delivered when others took their place; and where `close` did
   not deliver all, no flush after it says otherwise.
5. A span is told by the process in which it started. A forked child has copies of what was open:
   it may leave their blocks, and says nothing of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

from trackway.capture import record_capture_error
from trackway.export import BatchingProcessor
from trackway.export.background import in_background
from trackway.export.fields import with_resource
from trackway.export.fork import in_forked_child
from trackway.export.words import listen, word_of
from trackway.faults import goes_on
from trackway.late import LateSpans
from trackway.processors import completed, stamp
from trackway.sampling import TailSampler

DEFAULT_TIMEOUT: Final = 5.0
"""Seconds that a flush takes at most unless it is told otherwise."""
_KNOWN_RESOURCES: Final = 64


_NO_STARTS: Final = {
    kind.on_start
    for kind in (SpanProcessor, BatchingProcessor, BatchSpanProcessor, SimpleSpanProcessor)
}


class Pipeline(SpanProcessor):
    """Identity at start, targets at end."""

    def __init__(self) -> None:
        self._targets: tuple[SpanProcessor, ...] = ()
        self._starting: tuple[SpanProcessor, ...] = ()
        """Targets that do something when a span starts."""
        self._sampler: TailSampler | None = None
        self._told: Resource | None = None
        """What is said of the producer of the spans, and the provider does not say."""
        self._resources: dict[int, tuple[Resource, Resource]] = {}
        """Each resource of a span so far, with what is told."""
        self._shut: tuple[SpanProcessor, ...] = ()
        """The targets that `close` has shut down."""
        self._replaced: tuple[BatchingProcessor, ...] = ()
        """Earlier targets that were still at work when their time was over."""
        self._owes = False
        """Whether earlier targets did not deliver all, and no flush has said so."""
        self._closed_owing = False
        """Whether the targets were shut down before they had delivered all."""
        self._started: set[int] | None = None
        """In a forked child: spans that started there and have not ended."""
        self.late = LateSpans()
        in_forked_child(self, Pipeline._forget)

    def _forget(self) -> None:
        self._started = set()
        self._owes = self._closed_owing = False
        if self._sampler is not None:
            self._sampler.forget()

    def replace(
        self,
        targets: Sequence[SpanProcessor],
        tail_share: float | None = None,
        told: Resource | None = None,
    ) -> None:
        """Send spans to these targets from now on; the old ones are flushed and shut down.

        `tail_share`: the share of runs that is kept beside the failed ones; None keeps every run.
        `told`: attributes that take the place of those of the provider's resource.
        """
        deadline = time.monotonic() + DEFAULT_TIMEOUT
        sampler = None if tail_share is None else TailSampler(tail_share, self._emit)
        held_back, self._sampler = self._sampler, sampler
        if held_back is not None:
            held_back.release()
        self._resources, self._told = {}, told
        before, self._targets = self._targets, tuple(targets)
        self._starting = tuple(
            target for target in targets if type(target).on_start not in _NO_STARTS
        )
        for target in targets:
            listen(target)
        self._shut, self._closed_owing = (), False
        self._owes = self.late.fresh() > 0 or self._owes
        self.late.disarm()
        delivered = _flush(before, deadline)
        self._owes = not (_shut_down(before, deadline) and delivered) or self._owes
        self._replaced = tuple(
            target
            for target in (*self._replaced, *before)
            if isinstance(target, BatchingProcessor) and target.is_hanging()
        )

    def set_aside(self) -> Callable[[], None]:
        """Send spans nowhere, and leave the targets at work; what is returned puts them back."""
        self.release()
        held = self._targets, self._starting, self._sampler, self._told
        self._targets, self._starting, self._sampler, self._told = (), (), None, None

        def put_back() -> None:
            self._resources = {}
            self._targets, self._starting, self._sampler, self._told = held

        return put_back

    def close(self, timeout: float = DEFAULT_TIMEOUT, *, leaving: bool = False) -> bool:
        """Hand on what is held back, flush, shut the targets down; True if all was delivered.

        leaving: the process goes, and somebody asks for the `last_word`.
        """
        deadline = time.monotonic() + timeout
        self.release()
        delivered = self.force_flush(int(timeout * 1000))
        if self._targets:
            self.late.arm(leaving=leaving)
            self.release()
            self._shut, self._targets, self._starting = self._targets, (), ()
            delivered = _shut_down(self._shut, deadline) and delivered
            self._closed_owing = not delivered
        return delivered

    def retire(self) -> bool:
        """Close, and leave what still ends to another pipeline; True if nothing is owed."""
        self._closed_owing = False  # `close` has said so
        delivered = self.close() and self.late.fresh() == 0
        self._closed_owing = False
        self.late.disarm()
        return delivered

    def owe(self) -> None:
        """Take over from another pipeline that its last spans were not all delivered."""
        self._owes = True

    def last_word(self) -> None:
        """Say what is lost with the process, at the latest moment that there is."""
        for target in self._replaced:
            target.last_word()
        batching = (target for target in self._shut if isinstance(target, BatchingProcessor))
        self.late.last_word(max((target.last_word() for target in batching), default=0))

    def keep_whole(self, run_id: str) -> None:
        """Keep a run of which another process has a part."""
        if self._sampler is not None:
            self._sampler.keep(run_id)

    def release(self) -> None:
        """Hand on what the tail decision holds back."""
        if self._sampler is not None:
            self._sampler.release()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Stamp the span, be it for the run's clock alone; one that was retired leaves that."""
        if self._started is not None:
            self._started.add(_id_of(span))
        if self._targets or self.late.is_armed:
            stamp(span, parent_context)
        for target in self._starting:
            target.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        """Complete the span, decide on it, and hand it on."""
        if self._started is not None:
            if _id_of(span) not in self._started:
                return
            self._started.discard(_id_of(span))
        if not self._targets:
            if span.context is not None and span.context.trace_flags.sampled:
                self.late.note()
            return
        whole = completed(span)
        if whole is None:
            return
        if self._sampler is None:
            self._emit(whole)
        else:
            self._sampler.take(whole)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush every target within the timeout; True only if each of them delivered."""
        delivered = _flush(self._targets, time.monotonic() + timeout_millis / 1000)
        owes, self._owes = self._owes, False
        return self.late.fresh() == 0 and delivered and not owes and not self._closed_owing

    def flush_each(
        self, seconds: Callable[[SpanProcessor], float]
    ) -> Iterator[tuple[SpanProcessor, bool]]:
        """Flush every target within its own seconds; yield whether it delivered, as it is known."""
        now = time.monotonic()
        waits = [(target, _begin_flush(target, now + seconds(target))) for target in self._targets]
        for target, wait in waits:
            yield target, wait()

    def shutdown(self) -> None:
        """Release, flush and shut down; the provider's own end."""
        self.close()

    def _emit(self, span: ReadableSpan) -> None:
        targets = self._targets
        if not targets:
            self.late.note()
        if self._told is not None:
            span = with_resource(span, self._as_told(span.resource, self._told))
        for target in targets:
            try:
                target.on_end(span)
            except BaseException as error:  # a target may be the user's own
                if goes_on(error):
                    raise
                record_capture_error(f"target {type(target).__name__}", error)

    def _as_told(self, resource: Resource, told: Resource) -> Resource:
        known = self._resources.get(id(resource))
        if known is not None and known[0] is resource:
            return known[1]
        if len(self._resources) >= _KNOWN_RESOURCES:
            self._resources.clear()
        merged = resource.merge(told)
        self._resources[id(resource)] = resource, merged
        return merged


def _id_of(span: ReadableSpan) -> int:
    return 0 if span.context is None else span.context.span_id


def _flush(targets: Sequence[SpanProcessor], deadline: float) -> bool:
    delivered = [wait() for wait in [_begin_flush(target, deadline) for target in targets]]
    return all(delivered)


def _shut_down(targets: Sequence[SpanProcessor], deadline: float) -> bool:
    """Shut them down; False if one that is listened to lost something on the way."""
    for wait in [_begin(target.shutdown, deadline) for target in targets]:
        wait()
    words = [word_of(target) for target in targets]
    return sum(word.fresh() for word in words if word is not None) == 0


def _begin_flush(target: SpanProcessor, deadline: float) -> Callable[[], bool]:
    if isinstance(target, BatchingProcessor):  # keeps to its deadline by itself
        return target.begin_flush(deadline)
    told: list[object] = []

    def left() -> int:
        return max(0, int((deadline - time.monotonic()) * 1000))

    def flush() -> None:
        told.append(target.force_flush(left()))
        word = word_of(target)
        if word is not None:
            told.append(word.flushed(left()))

    wait = _begin(flush, deadline)
    return lambda: wait() and False not in told


def _begin(action: Callable[[], object], deadline: float) -> Callable[[], bool]:
    """Run the action on a thread of its own; the wait says whether it ended well in time."""
    done: list[bool] = []

    def act() -> None:
        try:
            action()
        except BaseException as error:  # a target may be the user's own
            if goes_on(error):
                raise
            record_capture_error("flush", error)
        else:
            done.append(True)

    def wait() -> bool:
        if thread.ident is not None:
            thread.join(max(0.0, deadline - time.monotonic()))
        return bool(done)

    thread = in_background(act, "trackway-flush")
    try:
        thread.start()
    except RuntimeError:  # the interpreter is too far gone for a new thread
        act()
    return wait
