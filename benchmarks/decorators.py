"""What does a decorated call cost over the bare call?

1. Every contender records the same call: one dict argument with three fields, a dict as result,
   both on the span as JSON, inside an open span. Spans end in a batch processor whose exporter
   discards them.
2. `raw` is what a careful person writes by hand with OpenTelemetry: one span that starts with the
   attributes of ours, and `json.dumps` of arguments and result.
3. Each round runs every contender in a process of its own, one after the other, so that none
   patches another and all share the machine's mood. A figure is the median of the rounds, without
   the bare call; time of the calling thread on the processor stands beside wall time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

WARM_UP = 2_000
TOOL = "lookup_order"
ORDER = {"order_id": "A9128", "customer": "ann@example.com", "express": True}
Call = Callable[[dict[str, Any]], dict[str, Any]]


def lookup_order(order: dict[str, Any]) -> dict[str, Any]:
    return {"id": order["order_id"], "total": 84.0, "eligible": True}


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
def bare() -> Iterator[Call]:
    yield lookup_order


@contextmanager
def raw() -> Iterator[Call]:
    attributes = our_attributes()
    tracer = provider().get_tracer("raw")

    def call(order: dict[str, Any]) -> dict[str, Any]:
        started = {**attributes, "gen_ai.tool.call.arguments": json.dumps({"order": order})}
        with tracer.start_as_current_span(f"execute_tool {TOOL}", attributes=started) as span:
            result = lookup_order(order)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
        return result

    with tracer.start_as_current_span("root"):
        yield call


@contextmanager
def trackway() -> Iterator[Call]:
    import trackway as ours

    ours.configure("bench", export=batch())
    with ours.run(task="bench"):
        yield ours.tool(TOOL, kind="lookup")(lookup_order)


@contextmanager
def openinference() -> Iterator[Call]:
    from openinference.instrumentation import TracerProvider as Provider

    made = Provider()
    made.add_span_processor(batch())
    tracer = made.get_tracer("bench")
    with tracer.start_as_current_span("root"):
        yield tracer.tool(name=TOOL)(lookup_order)


@contextmanager
def langfuse() -> Iterator[Call]:
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
        yield observe(name=TOOL, as_type="tool")(lookup_order)


@contextmanager
def logfire() -> Iterator[Call]:
    import logfire as peer

    peer.configure(
        send_to_logfire=False,
        console=False,
        metrics=False,
        inspect_arguments=False,
        additional_span_processors=[batch()],
    )
    with peer.span("root"):
        yield peer.instrument(TOOL, record_return=True)(lookup_order)


CONTENDERS = {
    "bare": bare,
    "raw": raw,
    "trackway": trackway,
    "openinference": openinference,
    "logfire": logfire,
    "langfuse": langfuse,
}
TITLES = {
    "raw": "OpenTelemetry span by hand + 2 × `json.dumps`",
    "trackway": "`trackway.tool`",
    "openinference": "`openinference` `tracer.tool`",
    "logfire": "`logfire.instrument(record_return=True)`",
    "langfuse": '`langfuse.observe(as_type="tool")`',
}


def our_attributes() -> dict[str, Any]:
    """The attributes of the span that `trackway.tool` writes, without arguments and result."""
    code = "from benchmarks.decorators import print_our_attributes; print_our_attributes()"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    attributes: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return attributes


def print_our_attributes() -> None:
    """Record one call with `trackway.tool` and print what its span says."""
    import trackway as ours

    kept = Keep()
    ours.configure("bench", export=kept)
    with ours.run(task="bench"):
        ours.tool(TOOL, kind="lookup")(lookup_order)(ORDER)
    (span,) = [span for span in kept.spans if span.name == f"execute_tool {TOOL}"]
    attributes = dict(span.attributes or {})
    assert json.loads(str(attributes.pop("gen_ai.tool.call.arguments"))) == {"order": ORDER}
    assert json.loads(str(attributes.pop("gen_ai.tool.call.result"))) == lookup_order(ORDER)
    print(json.dumps(attributes))


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds a call takes over the bare call."""

    contender: str
    wall: float
    cpu: float
    rounds: tuple[float, ...]
    """Wall time of each round."""


def measure(rounds: int = 5, calls: int = 20_000) -> list[Cost]:
    """Run every contender once a round; return the medians."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTENDERS}
    for _ in range(rounds):
        for name in CONTENDERS:
            seen[name].append(_in_a_process(name, calls))
    bare_wall, bare_cpu = (median(side) for side in zip(*seen.pop("bare"), strict=True))
    return [
        Cost(
            name,
            median(wall for wall, _ in figures) - bare_wall,
            median(cpu for _, cpu in figures) - bare_cpu,
            tuple(wall - bare_wall for wall, _ in figures),
        )
        for name, figures in seen.items()
    ]


def _in_a_process(name: str, calls: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.decorators", name, str(calls)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr}")
    wall, cpu = json.loads(done.stdout.splitlines()[-1])
    return wall, cpu


def run_one(name: str, calls: int) -> tuple[float, float]:
    """Microseconds a call of one contender, wall time and thread time."""
    with CONTENDERS[name]() as call:
        for _ in range(WARM_UP):
            call(ORDER)
        started, started_cpu = time.perf_counter(), time.thread_time()
        for _ in range(calls):
            call(ORDER)
        wall, cpu = time.perf_counter() - started, time.thread_time() - started_cpu
    return wall / calls * 1e6, cpu / calls * 1e6


if __name__ == "__main__":
    print(json.dumps(run_one(sys.argv[1], int(sys.argv[2]))), flush=True)
