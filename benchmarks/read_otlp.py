"""How quick and how large is reading OTLP JSON? Tables to print, with what they were measured on.

    python -m benchmarks.read_otlp CORPUS [--peer PATH/agentevals] [--megabytes 100 2000]

1. CORPUS holds `public/replay-taubench-6-dialects`: files of 10 to 18 KB a span, one a run. They
   are converted to Parquet, plain and as .gz, with dialects, typed columns and canonical arguments.
   A megabyte is one of plain JSON either way. Every conversion runs in a process of its own: one to
   warm up, then the median and the best of the rounds; processor time, and wall time beside it.
   Between the rounds the yardstick: the same plain files parsed by orjson, the attributes of each
   span written back, five columns as Parquet, nothing understood: how quick the machine is.
2. Against agentevals-cli 0.11.0 (`--peer`, an environment of its own): both commands score the same
   files for an exact match of tools and arguments, end to end, start of the process included
   (`trackway check` with a policy of one rule). Two sizes tell the start from the cost of one more
   trace. Both must pass every trace. Modules are compiled beforehand on both sides, as installers
   do it.
3. Memory: the files of one dialect, linked as often as it takes to reach so many megabytes, are
   converted; the peak is that of the whole process.
4. Start (`--start`): commands on one small trace, the best of five.
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
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.report import setting, table
from trackway_analyzer import load

DIALECTS = ("otel-genai", "openinference", "openllmetry", "pydantic-ai")
PACKAGES = ("trackway-analyzer", "msgspec", "orjson", "pyarrow")
TRACES = (
    "recorded/frameworks/langgraph-otel-genai/fail.json",
    "public/replay-taubench-6-dialects/otel-genai/task00_trial0.json.gz",
)
"""A small trace and a large one, in a dialect that both sides read."""
MEGABYTE = 1_000_000
COMPILED = Path(tempfile.gettempdir()) / "trackway-benchmarks-compiled"
KEYS = ("traceId", "spanId", "name", "startTimeUnixNano")


@dataclass(frozen=True, slots=True)
class Conversion:
    """What one process took."""

    spans: int
    wall: list[float]
    cpu: list[float]
    bare: list[float]
    """Processor time of the yardstick."""
    peak_mb: int


def convert(source: Path, rounds: int, bare: Path | None) -> Conversion:
    """Convert a folder in this process: once to warm up, then so many times.

    `bare` holds the same files, plain, for the yardstick.
    """
    wall, cpu, yardstick, spans = [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            started = time.perf_counter(), time.process_time()
            spans = load(source).to_parquet(Path(folder) / "spans.parquet")
            wall.append(time.perf_counter() - started[0])
            cpu.append(time.process_time() - started[1])
            if bare is not None:
                began = time.process_time()
                parse_only(bare, Path(folder) / "bare.parquet")
                yardstick.append(time.process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Conversion(spans, wall[1:] or wall, cpu[1:] or cpu, yardstick[1:], peak)


def parse_only(source: Path, target: Path) -> None:
    """Parse files and write each span's ids, name, start and attributes as Parquet."""
    rows: dict[str, list[Any]] = {name: [] for name in (*KEYS, "attributes")}
    for path in sorted(source.iterdir()):
        for group in orjson.loads(path.read_bytes())["resourceSpans"]:
            for part in group["scopeSpans"]:
                for span in part["spans"]:
                    for key in KEYS:
                        rows[key].append(span[key])
                    rows["attributes"].append(orjson.dumps(span.get("attributes")))
    pq.write_table(pa.table(rows), target, compression="zstd")


def kept(source: Path, policy: Path) -> int:
    """Check a folder by the command and return how many runs keep the policy."""
    return int(
        json.loads(command("check", str(source), "--policy", str(policy), "--json"))["runs_kept"]
    )


def command(*arguments: str) -> str:
    """Run `trackway` in a process of its own and return what it prints."""
    return _run("trackway_analyzer", *arguments)


def apart(*arguments: str) -> Any:
    """Run a part of this program in a process of its own and return what it says."""
    return json.loads(_run("benchmarks.read_otlp", *arguments))


def _run(module: str, *arguments: str) -> str:
    # A module that is compiled anew in each process takes longer than what is measured.
    compiled = {**os.environ, "PYTHONPYCACHEPREFIX": str(COMPILED)}
    compiled.pop("PYTHONDONTWRITEBYTECODE", None)
    called = [sys.executable, "-m", module, *arguments]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        called, cwd=root, check=True, capture_output=True, text=True, env=compiled
    )
    return done.stdout


def start_table(trace: Path, folder: Path) -> str:
    """Processor seconds of commands on one small trace."""
    policy = folder / "policy.yaml"
    policy.write_text("version: 1\nrules:\n  - before: [lookup_order, refund_create]\n")
    calls = {
        "--help": [],
        "convert": [str(trace), str(folder / "spans.parquet")],
        "steps": [str(trace)],
        "gaps": [str(trace)],
        "stats": [str(trace)],
        "check": [str(trace), "--policy", str(policy)],
    }
    rows = []
    for name, arguments in calls.items():
        took = []
        for _ in range(6):
            began = Took.now()
            command(name, *arguments)
            took.append((Took.now() - began).cpu)
        rows.append((f"trackway {name}", f"{min(took[1:]):.2f}", f"{median(took[1:]):.2f}"))
    return table(("command on one small trace", "CPU s, best", "median"), rows)


def speed_table(corpus: Path, folder: Path, rounds: int) -> str:
    """Megabytes of plain JSON a second, by dialect."""
    rows = []
    for dialect in DIALECTS:
        packed = corpus / "public" / "replay-taubench-6-dialects" / dialect
        plain = unpacked(packed, folder / dialect)
        size = sum(path.stat().st_size for path in plain.iterdir()) / MEGABYTE
        for name, source in (("plain", plain), (".gz", packed)):
            options = ("--rounds", str(rounds), "--bare", str(plain))
            said = Conversion(**apart("--convert", str(source), *options))
            rows.append(
                (
                    f"{dialect}, {name}",
                    f"{size:.1f}",
                    f"{said.spans:,}",
                    f"{size / median(said.cpu):.0f}",
                    f"{size / min(said.cpu):.0f}",
                    f"{size / median(said.wall):.0f}",
                    f"{size / median(said.bare):.0f}",
                    f"{median(said.bare) / median(said.cpu):.2f}",
                    f"{size / min(said.bare):.0f}",
                    f"{min(said.bare) / min(said.cpu):.2f}",
                )
            )
    head = (
        "files",
        "MB",
        "spans",
        "MB a CPU second",
        "best round",
        "MB a second",
        "yardstick",
        "of yardstick",
        "best yardstick",
        "of best",
    )
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


def match_table(peer: Path, folder: Path, trace: Path, traces: Sequence[int]) -> str:
    """Seconds against agentevals-cli, end to end and for each further trace."""
    run = max(load(trace), key=lambda run: len(run.tool_steps))
    text = _only(trace, run.run_id)
    calls = [{"tool": s.tool, "arguments": s.arguments, "ok": s.ok} for s in run.tool_steps]
    evaluation = folder / "set.json"
    evaluation.write_text(json.dumps(_eval_set(run.input or "", calls)))
    policy = folder / "policy.json"
    policy.write_text(json.dumps({"version": 1, "rules": [{"exact": calls}]}))
    took: dict[str, list[Took]] = {"trackway": [], "agentevals-cli": []}
    for count in traces:
        source = folder / f"traces-{count}"
        source.mkdir()
        for number in range(count):
            copied = text.replace(run.run_id, f"{number + 1:032x}")
            (source / f"{number:05d}.json").write_text(copied)
        if count == min(traces):
            kept(source, policy)  # compiles the modules
        began = Took.now()
        passed = kept(source, policy)
        took["trackway"].append(Took.now() - began)
        began = Took.now()
        scored = _scored(peer, source, evaluation)
        took["agentevals-cli"].append(Took.now() - began)
        if passed != count or scored != count:
            raise AssertionError(f"of {count} traces trackway passed {passed}, the peer {scored}")
    few, many = traces
    rows = []
    for name, (first, second) in took.items():
        further = (second.cpu - first.cpu) / (many - few)
        rows.append(
            (
                name,
                f"{first.wall:.2f}",
                f"{second.wall:.2f}",
                f"{first.cpu:.2f}",
                f"{second.cpu:.2f}",
                f"{1000 * further:.2f}",
            )
        )
    ours, theirs = took["trackway"], took["agentevals-cli"]
    times = [b.wall / a.wall for a, b in zip(ours, theirs, strict=True)]
    times += [b.cpu / a.cpu for a, b in zip(ours, theirs, strict=True)]
    times.append((theirs[1].cpu - theirs[0].cpu) / (ours[1].cpu - ours[0].cpu))
    few_wall, many_wall, few_cpu, many_cpu, each = (f"{ratio:.1f}" for ratio in times)
    rows.append(("times as quick", few_wall, many_wall, few_cpu, many_cpu, each))
    head = (
        f"{len(text) / 1000:,.0f} KB a trace",
        f"{few:,} traces, s",
        f"{many:,} traces, s",
        f"{few:,} traces, CPU s",
        f"{many:,} traces, CPU s",
        "each further trace, CPU ms",
    )
    return table(head, rows)


def _only(path: Path, trace_id: str) -> str:
    """Return the document of a file with the spans of one trace."""
    content = path.read_bytes()
    document = orjson.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    for group in document["resourceSpans"]:
        for part in group["scopeSpans"]:
            part["spans"] = [span for span in part["spans"] if span["traceId"] == trace_id]
    return orjson.dumps(document).decode()


class Took(NamedTuple):
    """Seconds, of the clock and of the processor in processes that have ended."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Took:
        """The clocks as they stand."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(time.perf_counter(), used.ru_utime + used.ru_stime)

    def __sub__(self, began: Took) -> Took:
        return Took(self.wall - began.wall, self.cpu - began.cpu)


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
    parser.add_argument("--rounds", type=int, default=3, help="0: no speed table")
    parser.add_argument("--megabytes", type=int, nargs="*", default=[])
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--traces", type=int, nargs=2, default=[200, 1000])
    parser.add_argument("--convert", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--bare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--start", action="store_true")
    given = parser.parse_args()
    if given.convert is not None:
        said = convert(given.convert, given.rounds, given.bare)
        fields = {name: getattr(said, name) for name in Conversion.__slots__}
        print(json.dumps(fields))
        return
    if given.corpus is None:
        parser.error("CORPUS is missing")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.rounds:
            speed = speed_table(given.corpus, folder / "speed", given.rounds)
            print(f"{speed}\n", flush=True)
        if given.start:
            print(f"{start_table(given.corpus / TRACES[0], folder)}\n", flush=True)
        if given.megabytes:
            (folder / "memory").mkdir()
            print(f"{memory_table(given.corpus, folder / 'memory', given.megabytes)}\n", flush=True)
        if given.peer is not None:
            for number, trace in enumerate(TRACES):
                inside = folder / f"match-{number}"
                inside.mkdir()
                compared = match_table(given.peer, inside, given.corpus / trace, given.traces)
                print(f"{compared}\n", flush=True)
    print(setting(PACKAGES))


if __name__ == "__main__":
    main()
