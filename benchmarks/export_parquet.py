"""How many spans a second does the Parquet exporter take, and what does a span weigh?

1. Spans are made beforehand by the SDK. *Lean*: twelve attributes, no content. *Full*: the same and
   4 KB of messages. *Foreign* spans carry another instrumentor's scope, so that they are redacted
   and bounded on export; *own* ones are skipped, for they were cleaned when they were captured.
2. The clock runs from the first export to the end of the flush: every span in a complete file, the
   write-ahead spool on. One process on one core, warmed up; a figure is the median of the rounds.
3. Beside it OTLP protobuf, in messages of 512: the encoding alone, and its bytes under zstd level
   3. Processor time and bytes are a span's.

4. The queue: one thread ends spans as fast as it can, or 2,000 a second, while the worker exports.
   What `on_end` takes is measured call by call.

`python -m benchmarks.export_parquet [ROUNDS] [SPANS]` prints the tables.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from trackway.export import BatchingProcessor
from trackway.export.parquet import ParquetSpanExporter

BATCH = 512
STEPS = 9
SCOPES = {"own": "trackway", "foreign": "opentelemetry.instrumentation.openai"}
WORDS = [
    "the",
    "customer",
    "wants",
    "a",
    "refund",
    "since",
    "order",
    "came",
    "late",
    "agent",
    "reads",
    "policy",
    "then",
    "pays",
    "ticket",
]


def make_spans(count: int, scope: str, *, full: bool) -> list[ReadableSpan]:
    """Runs of an agent: a root, then four model calls and four tool calls in turn."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource({"service.name": "refund-agent", "service.version": "1.2.3"}),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer(scope, "0.1")
    chance = random.Random(1)
    policy = " ".join(chance.choices(WORDS, k=450))
    for _ in range(-(-count // STEPS)):
        identity = {"trackway.run.id": f"{chance.getrandbits(128):032x}", "trackway.task.id": "T-7"}
        history = " ".join(chance.choices(WORDS, k=180))
        with tracer.start_as_current_span("refund", attributes=identity):
            for step in range(1, STEPS):
                attributes = {**identity, **_step(step, chance)}
                if full:
                    fresh = " ".join(chance.choices(WORDS, k=90))
                    text = f'[{{"role":"system","content":"{policy}"}},"{history}","{fresh}"]'
                    attributes[_CONTENT[step % 2]] = text
                with tracer.start_as_current_span(f"step {step}", attributes=attributes):
                    pass
    return list(memory.get_finished_spans())[:count]


_CONTENT = ("gen_ai.tool.call.result", "gen_ai.input.messages")


def _step(step: int, chance: random.Random) -> dict[str, Any]:
    common = {"trackway.step.index": step, "trackway.variant": "stable", "app.tenant": "acme"}
    if step % 2:
        return {
            **common,
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.model": "gpt-4o-2024-08-06",
            "gen_ai.response.id": f"resp_{chance.getrandbits(64):016x}",
            "gen_ai.usage.input_tokens": chance.randrange(5000),
            "gen_ai.usage.output_tokens": chance.randrange(500),
        }
    return {
        **common,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": f"tool_{step}",
        "gen_ai.tool.type": "function",
        "trackway.step.kind": "lookup",
        "gen_ai.tool.call.id": f"call_{chance.getrandbits(64):016x}",
        "gen_ai.tool.call.arguments": f'{{"order_id":"A-{chance.randrange(10**6):06d}"}}',
        "gen_ai.tool.call.result": '{"status":"ok","amount":42.5}',
    }


def export(spans: Sequence[ReadableSpan]) -> tuple[float, float, int]:
    """Return (wall seconds, processor seconds, bytes of the files)."""
    with tempfile.TemporaryDirectory() as folder:
        exporter = ParquetSpanExporter(folder)
        started, busy = time.perf_counter(), time.process_time()
        for first in range(0, len(spans), BATCH):
            exporter.export(spans[first : first + BATCH])
        delivered = exporter.force_flush()
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        assert delivered
        assert exporter.counts.delivered == len(spans)
        exporter.shutdown()
        return seconds, busy, sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))


def otlp(spans: Sequence[ReadableSpan]) -> tuple[float, float]:
    """Return (processor seconds of encoding alone, bytes compressed)."""
    busy = time.process_time()
    messages = [
        encode_spans(spans[first : first + BATCH]).SerializeToString()
        for first in range(0, len(spans), BATCH)
    ]
    busy = time.process_time() - busy
    codec = pa.Codec("zstd", compression_level=3)
    return busy, sum(len(codec.compress(message, asbytes=True)) for message in messages)


class Timed(SpanProcessor):
    """Measures what another processor takes."""

    def __init__(self, inner: SpanProcessor) -> None:
        self._inner = inner
        self.delays: list[float] = []

    def on_end(self, span: ReadableSpan) -> None:
        started = time.perf_counter()
        self._inner.on_end(span)
        self.delays.append(time.perf_counter() - started)


def queue_delays(count: int, per_second: float | None) -> str:
    """Record spans and return a row: delays of `on_end` in ms, and how many were dropped."""
    chance = random.Random(1)
    attributes = [_step(1 + number % 8, chance) for number in range(1000)]
    with tempfile.TemporaryDirectory() as folder:
        processor = BatchingProcessor(ParquetSpanExporter(folder))
        timed = Timed(processor)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(timed)
        tracer = provider.get_tracer(SCOPES["own"])
        due = time.perf_counter()
        for number in range(count):
            if per_second is not None:
                due += 1 / per_second
                while time.perf_counter() < due:
                    time.sleep(0.0001)
            tracer.start_span("step", attributes=attributes[number % 1000]).end()
        delivered = processor.force_flush()
        dropped = processor.counts.dropped
        assert delivered is (dropped == 0)
        processor.shutdown()
    delays = sorted(timed.delays)
    figures = [delays[len(delays) // 2], delays[int(len(delays) * 0.99)], delays[-1]]
    rate = "saturated" if per_second is None else f"{per_second:,.0f}/s"
    return f"| {rate} | {' | '.join(f'{1e3 * delay:.3f}' for delay in figures)} | {dropped} |"


def main(rounds: int = 5, count: int = 100_000) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("| spans | spans/s | CPU µs | OTLP encoding CPU µs | bytes | OTLP zstd bytes | RSS MB |")
    print("|---|---|---|---|---|---|---|")
    for full in (False, True):
        for owner, scope in SCOPES.items():
            spans = make_spans(count, scope, full=full)
            export(spans[:5_000])
            found = [export(spans) for _ in range(rounds)]
            rate = len(spans) / median(seconds for seconds, _, _ in found)
            cost = median(busy for _, busy, _ in found) / len(spans) * 1e6
            sample = spans[:20_000]
            encoding, size = (figure / len(sample) for figure in otlp(sample))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            name = f"{'full' if full else 'lean'}, {owner}"
            print(
                f"| {name} | {rate:,.0f} | {cost:.1f} | {encoding * 1e6:.1f} "
                f"| {found[0][2] / len(spans):.1f} | {size:.1f} | {peak} |",
                flush=True,
            )

    print("\n| spans ended | on_end p50 ms | p99 ms | max ms | dropped |\n|---|---|---|---|---|")
    print(queue_delays(count, None), flush=True)
    print(queue_delays(10_000, 2_000))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
