"""How quick and how large is reading OTLP JSON? Tables to print, with what they were measured on.

    python -m benchmarks.read_otlp CORPUS [--peer PATH/agentevals] [--megabytes 100 2000]

1. CORPUS holds `public/replay-taubench-6-dialects`: files of 10 to 18 KB a span, one a run. They
   are converted to Parquet, plain and as .gz, with dialects, typed columns and canonical arguments.
   A megabyte is one of plain JSON either way. Every conversion runs in a process of its own: one to
   warm up, then the median and the best of the rounds; processor time, and wall time beside it.
2. Against agentevals-cli 0.11.0 (`--peer`, an environment of its own): both score the same files
   for an exact match of tools and arguments, end to end, start of the process included. Two sizes
   tell the start from the cost of one more trace. Both must pass every trace.
3. Memory: the files of one dialect, linked as often as it takes to reach so many megabytes, are
   converted; the peak is that of the whole process.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import setting, table
from trackway_analyzer import load
from trackway_analyzer.rules import Exact

DIALECTS = ("otel-genai", "openinference", "openllmetry", "pydantic-ai")
PACKAGES = ("trackway-analyzer", "msgspec", "orjson", "pyarrow")
TRACE = Path(__file__).parents[1] / "tests/data/frameworks/langgraph-otel-genai/fail.json"
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Conversion:
    """What one process took."""

    spans: int
    wall: list[float]
    cpu: list[float]
    peak_mb: int


def convert(source: Path, rounds: int) -> Conversion:
    """Convert a folder in this process: once to warm up, then so many times."""
    wall, cpu, spans = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            started = time.perf_counter(), time.process_time()
            spans = load(source).to_parquet(Path(folder) / "spans.parquet")
            wall.append(time.perf_counter() - started[0])
            cpu.append(time.process_time() - started[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Conversion(spans, wall[1:] or wall, cpu[1:] or cpu, peak)


def match(source: Path, calls: Sequence[dict[str, Any]]) -> int:
    """Load a folder and count the runs that make exactly these calls."""
    batch = load(source).batch
    return len(batch) - len(Exact(calls).check(batch))


def apart(*arguments: str) -> Any:
    """Run a part of this program in a process of its own and return what it says."""
    command = [sys.executable, "-m", "benchmarks.read_otlp", *arguments]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def speed_table(corpus: Path, folder: Path, rounds: int) -> str:
    """Megabytes of plain JSON a second, by dialect."""
    rows = []
    for dialect in DIALECTS:
        packed = corpus / "public" / "replay-taubench-6-dialects" / dialect
        plain = unpacked(packed, folder / dialect)
        size = sum(path.stat().st_size for path in plain.iterdir()) / MEGABYTE
        for name, source in (("plain", plain), (".gz", packed)):
            said = Conversion(**apart("--convert", str(source), "--rounds", str(rounds)))
            rows.append(
                (
                    f"{dialect}, {name}",
                    f"{size:.1f}",
                    f"{said.spans:,}",
                    f"{size / median(said.cpu):.0f}",
                    f"{size / min(said.cpu):.0f}",
                    f"{size / median(said.wall):.0f}",
                    f"{said.peak_mb:,}",
                )
            )
    head = ("files", "MB", "spans", "MB a CPU second", "best round", "MB a second", "peak MB")
    return table(head, rows)


def unpacked(packed: Path, folder: Path) -> Path:
    """Write the files of a folder without their compression."""
    folder.mkdir(parents=True)
    for path in packed.glob("*.json.gz"):
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return folder


def memory_table(corpus: Path, folder: Path, megabytes: Sequence[int]) -> str:
    """Peak memory by the size of the input."""
    rows = []
    for dialect in DIALECTS[:1]:
        plain = unpacked(corpus / "public/replay-taubench-6-dialects" / dialect, folder / "once")
        once = sorted(plain.iterdir())
        for most in megabytes:
            source = folder / f"{dialect}-{most}"
            source.mkdir()
            size = place = 0
            while size < most * MEGABYTE:
                path = once[place % len(once)]
                os.link(path, source / f"{place:06d}.json")
                size, place = size + path.stat().st_size, place + 1
            said = Conversion(**apart("--convert", str(source), "--rounds", "0"))
            rows.append(
                (dialect, f"{size / MEGABYTE:,.0f}", f"{said.spans:,}", f"{said.peak_mb:,}")
            )
    return table(("files", "MB", "spans", "peak MB"), rows)


def match_table(peer: Path, folder: Path, traces: Sequence[int]) -> str:
    """Traces a second against agentevals-cli, end to end and for each further trace."""
    text, (run,) = TRACE.read_text(), load(TRACE)
    steps = run.tool_steps
    calls = [{"tool": s.tool, "arguments": s.arguments, "ok": s.ok} for s in steps]
    trace_id = run.run_id
    evaluation = folder / "set.json"
    evaluation.write_text(json.dumps(_eval_set(run.input or "", calls)))
    (folder / "calls.json").write_text(json.dumps(calls))
    took: dict[str, list[float]] = {"trackway": [], "agentevals-cli": []}
    for count in traces:
        source = folder / f"traces-{count}"
        source.mkdir()
        for number in range(count):
            (source / f"{number:05d}.json").write_text(text.replace(trace_id, f"{number + 1:032x}"))
        started = time.perf_counter()
        passed = apart("--match", str(source), "--calls", str(folder / "calls.json"))
        took["trackway"].append(time.perf_counter() - started)
        started = time.perf_counter()
        scored = _scored(peer, source, evaluation)
        took["agentevals-cli"].append(time.perf_counter() - started)
        if passed != count or scored != count:
            raise AssertionError(f"of {count} traces trackway passed {passed}, the peer {scored}")
    few, many = traces
    rows = []
    for name, (first, second) in took.items():
        further = (many - few) / (second - first)
        rows.append(
            (name, f"{first:.2f}", f"{second:.2f}", f"{many / second:,.0f}", f"{further:,.0f}")
        )
    head = ("end to end", f"{few:,} traces, s", f"{many:,} traces, s", "traces a second", "further")
    return table(head, rows)


def _eval_set(asked: str, calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    uses = [{"name": call["tool"], "args": call["arguments"]} for call in calls]
    turn = {
        "invocation_id": "one",
        "user_content": {"role": "user", "parts": [{"text": asked}]},
        "final_response": {"role": "model", "parts": [{"text": ""}]},
        "intermediate_data": {"tool_uses": uses, "tool_responses": []},
    }
    case = {"eval_id": "one", "conversation": [turn]}
    return {"eval_set_id": "set", "name": "set", "eval_cases": [case]}


def _scored(peer: Path, source: Path, evaluation: Path) -> int:
    files = [str(path) for path in sorted(source.iterdir())]
    command = [str(peer), "run", *files, "-e", str(evaluation), "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    text = done.stdout[done.stdout.index("{") :]
    metrics = [metric for one in json.loads(text)["traces"] for metric in one["metrics"]]
    return sum(metric["score"] == 1.0 for metric in metrics)


def main() -> None:
    """Run the command, or one of its parts in this process."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.read_otlp", description=__doc__)
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, nargs="*", default=[])
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--traces", type=int, nargs=2, default=[200, 1000])
    parser.add_argument("--convert", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--match", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.convert is not None:
        said = convert(given.convert, given.rounds)
        fields = {name: getattr(said, name) for name in Conversion.__slots__}
        print(json.dumps(fields))
        return
    if given.match is not None:
        print(json.dumps(match(given.match, json.loads(given.calls.read_text()))))
        return
    if given.corpus is None:
        parser.error("CORPUS is missing")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{speed_table(given.corpus, folder / 'speed', given.rounds)}\n", flush=True)
        if given.megabytes:
            (folder / "memory").mkdir()
            print(f"{memory_table(given.corpus, folder / 'memory', given.megabytes)}\n", flush=True)
        if given.peer is not None:
            (folder / "match").mkdir()
            print(f"{match_table(given.peer, folder / 'match', given.traces)}\n", flush=True)
    print(setting(PACKAGES))


if __name__ == "__main__":
    main()
