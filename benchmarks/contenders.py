"""What is compared, each set up as its own documentation says, in a process of its own.

A contender is a context manager that yields a function: `work(n)` does so many units of work, calls
or pieces of a stream. Every call takes one dict of three fields and returns a dict.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

TOOL = "lookup_order"
ORDER = {"order_id": "A9128", "customer": "ann@example.com", "express": True}
PIECES = 50
"""Of one stream."""
Work = Callable[[int], None]
Contender = Callable[[], AbstractContextManager[Work]]


def lookup_order(order: dict[str, Any]) -> dict[str, Any]:
    return {"id": order["order_id"], "total": 84.0, "eligible": True}


async def lookup_order_later(order: dict[str, Any]) -> dict[str, Any]:
    return lookup_order(order)


async def answer(order: dict[str, Any]) -> AsyncGenerator[str, None]:
    for _ in range(PIECES):
        yield "piece "


def calling(function: Callable[[dict[str, Any]], Any]) -> Work:
    """So many calls."""

    def work(calls: int) -> None:
        for _ in range(calls):
            function(ORDER)

    return work


def awaiting(function: Callable[[dict[str, Any]], Awaitable[Any]]) -> Work:
    """So many calls that are awaited, in one task."""

    async def work(calls: int) -> None:
        for _ in range(calls):
            await function(ORDER)

    return lambda calls: asyncio.run(work(calls))


def streaming(function: Callable[[dict[str, Any]], AsyncIterator[str]]) -> Work:
    """So many pieces, in streams of `PIECES`, in one task."""

    async def work(pieces: int) -> None:
        for _ in range(pieces // PIECES):
            async for _ in function(ORDER):
                pass

    return lambda pieces: asyncio.run(work(pieces))


def is_scoped(decorate: Callable[[Any], Any]) -> bool:
    """Whether a stream is inside its span, and what its reader does between pieces outside it."""
    inside: list[object] = []

    async def stream(order: dict[str, Any]) -> AsyncGenerator[str, None]:
        for _ in range(3):
            inside.append(trace.get_current_span().get_span_context().span_id)
            yield "piece "

    async def read() -> bool:
        around = trace.get_current_span().get_span_context().span_id
        between = [
            trace.get_current_span().get_span_context().span_id
            async for _ in decorate(stream)(ORDER)
        ]
        return set(between) == {around} and len(set(inside)) == 1 and around not in inside

    return asyncio.run(read())


class Discard(SpanExporter):
    """Takes spans and throws them away."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


class Keep(SpanProcessor):
    """Keeps ended spans."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


def batch() -> BatchSpanProcessor:
    return BatchSpanProcessor(Discard(), max_queue_size=1 << 17)


def provider() -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(batch())
    return made


@contextmanager
def bare() -> Iterator[Work]:
    yield calling(lookup_order)


@contextmanager
def bare_awaited() -> Iterator[Work]:
    yield awaiting(lookup_order_later)


@contextmanager
def bare_stream() -> Iterator[Work]:
    yield streaming(answer)


@contextmanager
def by_hand() -> Iterator[Work]:
    """One span that starts with the attributes of ours, and `json.dumps` of both sides."""
    attributes = our_attributes()
    tracer = provider().get_tracer("raw")

    def call(order: dict[str, Any]) -> dict[str, Any]:
        started = {**attributes, "gen_ai.tool.call.arguments": json.dumps({"order": order})}
        with tracer.start_as_current_span(f"execute_tool {TOOL}", attributes=started) as span:
            result = lookup_order(order)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
        return result

    with tracer.start_as_current_span("root"):
        yield calling(call)


@contextmanager
def by_hand_with_entities() -> Iterator[Work]:
    """The same, and who is acted on at the start, and who was found and how it went at the end."""
    attributes = our_attributes()
    tracer = provider().get_tracer("raw")

    def call(order: dict[str, Any]) -> dict[str, Any]:
        refs = [f"order:{order['order_id']}"]
        started = {
            **attributes,
            "gen_ai.tool.call.arguments": json.dumps({"order": order}),
            "trackway.entity.refs": refs,
        }
        with tracer.start_as_current_span(f"execute_tool {TOOL}", attributes=started) as span:
            result = lookup_order(order)
            span.set_attributes(
                {
                    "gen_ai.tool.call.result": json.dumps(result),
                    "trackway.entity.refs": list(dict.fromkeys([*refs, f"order:{result['id']}"])),
                    "trackway.step.ok": bool(result["eligible"]),
                }
            )
        return result

    with tracer.start_as_current_span("root"):
        yield calling(call)


@contextmanager
def by_hand_dropped() -> Iterator[Work]:
    """The same in a trace that the sampler drops; nothing is dumped for nobody."""
    attributes = our_attributes()
    tracer = TracerProvider(sampler=ALWAYS_OFF).get_tracer("raw")

    def call(order: dict[str, Any]) -> dict[str, Any]:
        with tracer.start_as_current_span(f"execute_tool {TOOL}", attributes=attributes) as span:
            if span.is_recording():
                span.set_attribute("gen_ai.tool.call.arguments", json.dumps({"order": order}))
            result = lookup_order(order)
            if span.is_recording():
                span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
        return result

    with tracer.start_as_current_span("root"):
        yield calling(call)


@contextmanager
def _ours(**arguments: Any) -> Iterator[Any]:
    import trackway

    trackway.configure("bench", export=batch(), **arguments)
    with trackway.run(task="bench"):
        yield trackway.tool(TOOL, kind="lookup")


@contextmanager
def ours() -> Iterator[Work]:
    with _ours() as tool:
        yield calling(tool(lookup_order))


@contextmanager
def ours_with_entities() -> Iterator[Work]:
    import trackway

    with _ours():
        tool = trackway.tool(
            TOOL,
            kind="lookup",
            entity="order.order_id",
            entity_type="order",
            returns="id",
            success=lambda result: result["eligible"],
        )
        yield calling(tool(lookup_order))


@contextmanager
def ours_dropped() -> Iterator[Work]:
    with _ours(sample=0, keep_failed=False) as tool:
        yield calling(tool(lookup_order))


@contextmanager
def ours_dropped_runs() -> Iterator[Work]:
    """Each call is a run of its own, and each is dropped."""
    import trackway

    trackway.configure("bench", export=batch(), sample=0, keep_failed=False)
    yield calling(trackway.agent(TOOL)(lookup_order))


@contextmanager
def ours_kept_if_failed() -> Iterator[Work]:
    with _ours(sample=0, keep_failed=True) as tool:
        yield calling(tool(lookup_order))


@contextmanager
def ours_awaited() -> Iterator[Work]:
    with _ours() as tool:
        yield awaiting(tool(lookup_order_later))


@contextmanager
def ours_stream() -> Iterator[Work]:
    with _ours() as tool:
        assert is_scoped(tool)
        yield streaming(tool(answer))


@contextmanager
def openinference() -> Iterator[Work]:
    from openinference.instrumentation import TracerProvider as Provider

    made = Provider()
    made.add_span_processor(batch())
    tracer = made.get_tracer("bench")
    with tracer.start_as_current_span("root"):
        yield calling(tracer.tool(name=TOOL)(lookup_order))


@contextmanager
def _langfuse() -> Iterator[Any]:
    import os

    os.environ["LANGFUSE_MEDIA_UPLOAD_ENABLED"] = "false"
    from langfuse import Langfuse, observe

    client = Langfuse(
        public_key="pk-lf-bench",
        secret_key="sk-lf-bench",
        base_url="http://127.0.0.1:9",
        span_exporter=Discard(),
        tracer_provider=TracerProvider(),
    )
    with client.start_as_current_observation(name="root", as_type="span"):
        yield observe(name=TOOL, as_type="tool")


@contextmanager
def langfuse() -> Iterator[Work]:
    with _langfuse() as observe:
        yield calling(observe(lookup_order))


@contextmanager
def langfuse_stream() -> Iterator[Work]:
    with _langfuse() as observe:
        assert is_scoped(observe)
        yield streaming(observe(answer))


@contextmanager
def logfire() -> Iterator[Work]:
    import logfire as peer

    peer.configure(
        send_to_logfire=False,
        console=False,
        metrics=False,
        inspect_arguments=False,
        additional_span_processors=[batch()],
    )
    with peer.span("root"):
        yield calling(peer.instrument(TOOL, record_return=True)(lookup_order))


def our_attributes() -> dict[str, Any]:
    """The attributes of the span that `trackway.tool` writes, without arguments and result."""
    code = "from benchmarks.contenders import print_our_attributes; print_our_attributes()"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    attributes: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return attributes


def print_our_attributes() -> None:
    """Record one call with `trackway.tool` and print what its span says."""
    import trackway

    kept = Keep()
    trackway.configure("bench", export=kept)
    with trackway.run(task="bench"):
        trackway.tool(TOOL, kind="lookup")(lookup_order)(ORDER)
    (span,) = [span for span in kept.spans if span.name == f"execute_tool {TOOL}"]
    attributes = dict(span.attributes or {})
    assert json.loads(str(attributes.pop("gen_ai.tool.call.arguments"))) == {"order": ORDER}
    assert json.loads(str(attributes.pop("gen_ai.tool.call.result"))) == lookup_order(ORDER)
    print(json.dumps(attributes))
