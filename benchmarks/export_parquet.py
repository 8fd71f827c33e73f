"""How many spans a second does the Parquet exporter take, what does one weigh, who waits for it?

1. Spans are made beforehand by the SDK. *Lean*: twelve attributes, no content. *Full*: the same and
   4 KB of messages. *Foreign* spans carry another instrumentor's scope, so that they are searched
   for secrets and bounded on export; *own* ones were cleaned when they were captured. The search
   is Vectorscan's where `hyperscan` is installed (the extra `fast-redaction`), and RE2's otherwise:
   foreign spans are measured with each that is there, own ones with the first.
2. The clock runs from the first export to the end of the flush: every span in a complete file, the
   write-ahead spool on. One process a row, on one core, warmed up; a figure is the median of the
   rounds. The garbage collector does not see the spans made beforehand: a process that records
   holds no more of them than its queue.
3. The yardstick is OTLP protobuf, of the same spans in the same rounds: encoding alone, in messages
   of 512, and its bytes under zstd level 3. Where the targets were set, it encoded 27,000 lean
   and 17,000 full spans a second: so much slower a machine may be, so much less is asked in
   *times OTLP*.
4. The queue: one thread ends spans as fast as it can, or 2,000 a second, while the worker exports.
   What `on_end` takes is measured call by call.
5. Memory is what the process takes at its peak above what it took with the spans made.

`python -m benchmarks.export_parquet [--rounds N] [--spans N]` prints the tables, then each target
that is missed, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from benchmarks.report import setting, table
from trackway.export import BatchingProcessor, processors_for
from trackway.export.parquet import ParquetSpanExporter
from trackway.export.parquet.row_search import RowSearch

BATCH = 1024
"""Spans in an export, as `configure(export=FOLDER)` sets it."""
MESSAGE = 512
STEPS = 9
SCOPES = {"own": "trackway", "foreign": "opentelemetry.instrumentation.openai"}
RATE = {False: 100_000, True: 55_000}
"""Spans a second that lean and full spans are to reach."""
OTLP_RATE = {False: 27_000, True: 17_000}
"""What OTLP encoding did where these targets were set."""
P99_MS, MAX_MS = 1.0, 20.0
WORDS = [
    *("the", "customer", "wants", "a", "refund", "since", "order", "came", "late", "agent"),
    *("reads", "policy", "then", "pays", "ticket"),
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
        encode_spans(spans[first : first + MESSAGE]).SerializeToString()
        for first in range(0, len(spans), MESSAGE)
    ]
    busy = time.process_time() - busy
    codec = pa.Codec("zstd", compression_level=3)
    return busy, sum(len(codec.compress(message, asbytes=True)) for message in messages)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one kind of span costs."""

    name: str
    engine: str
    """What searched for secrets."""
    full: bool
    rate: float
    """Spans a second of wall time."""
    cpu: float
    """Microseconds a span."""
    otlp_cpu: float
    bytes: float
    """A span in the files."""
    otlp_bytes: float
    memory: int
    """MB."""

    def row(self) -> tuple[str, ...]:
        return (
            self.name,
            self.engine,
            f"{self.rate:,.0f}",
            f"{self.cpu:.1f}",
            f"{self.otlp_cpu:.1f}",
            f"{self.otlp_cpu / self.cpu:.1f}×",
            f"{self.bytes:.1f}",
            f"{self.otlp_bytes:.1f}",
            f"{self.memory}",
        )

    def missed(self) -> list[str]:
        found = []
        name = f"{self.name} ({self.engine})"
        if self.rate < RATE[self.full]:
            asked = RATE[self.full] / OTLP_RATE[self.full]
            found.append(
                f"{name}: {self.rate:,.0f} spans/s < {RATE[self.full]:,}; this machine "
                f"encodes OTLP at {1e6 / self.otlp_cpu / OTLP_RATE[self.full]:.2f} of the speed "
                f"the target was set at, and {self.otlp_cpu / self.cpu:.2f} times OTLP "
                f"{'is the' if self.otlp_cpu / self.cpu >= asked else 'falls short of the'} "
                f"{asked:.2f} times that it stands for"
            )
        if self.bytes > self.otlp_bytes:
            found.append(f"{name}: {self.bytes:.1f} bytes a span > {self.otlp_bytes:.1f}")
        return found


def engines() -> tuple[str, ...]:
    """Return what can search for secrets here; the first one is what an exporter takes."""
    return ("RE2",) if importlib.util.find_spec("hyperscan") is None else ("Vectorscan", "RE2")


def measure(full: bool, owner: str, engine: str, rounds: int, count: int) -> Figures:
    """Measure one kind of span; meant for a process of its own."""
    _on_one_core()
    if engine == "RE2":
        sys.modules["hyperscan"] = None  # type: ignore[assignment]  # as if it were not installed
    assert RowSearch(("a",)).engine == engine
    spans = make_spans(count, SCOPES[owner], full=full)
    gc.collect()
    gc.freeze()
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    export(spans[:5_000])
    found, yardstick = [], []
    sample = spans[: count // 4]
    for _ in range(rounds):
        found.append(export(spans))
        yardstick.append(otlp(sample))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Figures(
        name=f"{'full' if full else 'lean'}, {owner}",
        engine=engine,
        full=full,
        rate=count / median(seconds for seconds, _, _ in found),
        cpu=median(busy for _, busy, _ in found) / count * 1e6,
        otlp_cpu=median(busy for busy, _ in yardstick) / len(sample) * 1e6,
        bytes=found[0][2] / count,
        otlp_bytes=yardstick[0][1] / len(sample),
        memory=(peak - before) // 2**20,
    )


class Timed(SpanProcessor):
    """Measures what another processor takes."""

    def __init__(self, inner: SpanProcessor) -> None:
        self._inner = inner
        self.delays: list[float] = []

    def on_end(self, span: ReadableSpan) -> None:
        started = time.perf_counter()
        self._inner.on_end(span)
        self.delays.append(time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class Queue:
    """What `on_end` takes, in milliseconds."""

    rate: str
    half: float
    p99: float
    longest: float
    dropped: int

    def row(self) -> tuple[str, ...]:
        delays = (f"{delay:.3f}" for delay in (self.half, self.p99, self.longest))
        return self.rate, *delays, f"{self.dropped}"

    def missed(self) -> list[str]:
        limits = (("p99", self.p99, P99_MS), ("max", self.longest, MAX_MS))
        return [
            f"on_end, {self.rate}: {what} {found:.1f} ms > {limit:g} ms"
            for what, found, limit in limits
            if found > limit
        ]


def queue(count: int, per_second: float | None) -> Queue:
    """Record spans and time each `on_end`; meant for a process of its own."""
    _on_one_core()
    chance = random.Random(1)
    attributes = [_step(1 + number % 8, chance) for number in range(1000)]
    with tempfile.TemporaryDirectory() as folder:
        (processor,) = processors_for(folder)
        assert isinstance(processor, BatchingProcessor)
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
    delays = [1e3 * delay for delay in sorted(timed.delays)]
    return Queue(
        rate="saturated" if per_second is None else f"{per_second:,.0f}/s",
        half=delays[len(delays) // 2],
        p99=delays[int(len(delays) * 0.99)],
        longest=delays[-1],
        dropped=dropped,
    )


def _on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> int:
    """Print the tables and the targets that are missed; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.export_parquet")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spans", type=int, default=60_000)
    given = parser.parse_args()
    kinds = [
        (full, owner, engine, given.rounds, given.spans)
        for full in RATE
        for owner in SCOPES
        for engine in (engines() if owner == "foreign" else engines()[:1])
    ]
    loads = [(given.spans, None), (10_000, 2_000)]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as alone:
        figures = alone.starmap(measure, kinds, chunksize=1)
        queues = alone.starmap(queue, loads, chunksize=1)
    head = ("spans", "search", "spans/s", "CPU µs", "OTLP CPU µs", "times OTLP")
    print(table((*head, "bytes", "OTLP zstd bytes", "MB"), [found.row() for found in figures]))
    print()
    queue_head = ("spans ended", "on_end p50 ms", "p99 ms", "max ms", "dropped")
    print(table(queue_head, [found.row() for found in queues]))
    packages = ("trackway", "opentelemetry-sdk", "pyarrow", "hyperscan")
    print(f"\n{setting(packages if len(engines()) > 1 else packages[:-1])}\n")
    measured: list[Figures | Queue] = [*figures, *queues]
    missed = [sentence for found in measured for sentence in found.missed()]
    for sentence in missed:
        print(f"short of target: {sentence}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
