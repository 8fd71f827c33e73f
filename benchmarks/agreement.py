"""Do recordings of one run agree, and do they agree with what really happened? Three tables.

    python benchmarks/agreement.py CORPUS

1. *Same runs*: runs that five SDKs recorded at once. A view of a run is its tool steps in order,
   each with name, whether it was executed, arguments, result and error. Views are equal, or one
   that differs from the most frequent view has a gap (`EXPLAINS`); everything else is unexplained.
2. *Replays*: runs of tau-bench that six SDKs recorded, against the calls that were made. A run
   whose loop ended early, by its own truth, is compared with the calls before that: no more were
   made.
3. *Truth*: files of agentevals against the turns that their authors wrote beside them. Their calls
   are the client's: what the provider ran is a step of ours and no call of theirs.

Anything unexplained is printed and ends the program with 1.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from trackway_analyzer import NOT_RECORDED, Step, Trajectories, Trajectory, load
from trackway_analyzer.dialects import tool_values
from trackway_analyzer.json_text import canonical, parsed

SDKS: Final = ("openllmetry", "openinference", "otel-genai", "langfuse", "mlflow")
REPLAYS: Final = (*SDKS, "pydantic-ai")
PARTIAL: Final = "partial_in_langchain_replay"
EXPLAINS: Final = frozenset({"content_off", "missing_value", "tools_not_observable"})
"""Gaps that say that something of a call is not in the file."""

View = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class SameRun:
    """One run, seen by all SDKs."""

    name: str
    views: Mapping[str, View]
    gaps: Mapping[str, frozenset[str]]

    @property
    def deviating(self) -> tuple[str, ...]:
        """SDKs whose view is not the most frequent one."""
        common = Counter(self.views.values()).most_common(1)[0][0]
        return tuple(sdk for sdk, view in self.views.items() if view != common)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """Deviating SDKs without a gap that says why."""
        return tuple(sdk for sdk in self.deviating if not self.gaps[sdk])


def same_runs(folder: Path) -> Iterator[SameRun]:
    """Read every run of `same-run-5-dialects` as each SDK recorded it."""
    for name in sorted(path.name for path in (folder / SDKS[0]).glob("*.json")):
        loaded = {sdk: load(folder / sdk / name) for sdk in SDKS}
        yield SameRun(
            name.removesuffix(".json"),
            {sdk: _view(runs) for sdk, runs in loaded.items()},
            {sdk: _explaining(runs) for sdk, runs in loaded.items()},
        )


def _view(runs: Trajectories) -> View:
    return tuple(
        (step.tool, step.executed, _text(step.arguments), _text(step.result), step.error_type)
        for run in runs
        for step in run.steps
        if step.operation == "tool"
    )


def _explaining(runs: Trajectories) -> frozenset[str]:
    return frozenset(gap.name for run in runs for gap in run.gaps) & EXPLAINS


def _text(value: Any) -> str | None:
    return None if value is NOT_RECORDED else canonical(value)


@dataclass
class Replay:
    """How one SDK's recordings of the replays agree with the truth."""

    sdk: str
    runs: int = 0
    partial: int = 0
    order: int = 0
    calls: int = 0
    arguments: int = 0
    results: int = 0
    errors: int = 0
    missed: list[tuple[str, int, str, tuple[str, ...]]] = field(default_factory=list)
    """Run, step, what differs, and the gaps at that step."""

    @property
    def unexplained(self) -> list[str]:
        """Misses without a gap, and runs with other calls than were made."""
        lines = [f"{run} step {step}: {what}" for run, step, what, gaps in self.missed if not gaps]
        return lines if self.order == self.runs else [*lines, "calls in another order"]


def replay(folder: Path, sdk: str) -> Replay:
    """Compare the runs of one SDK with `truth.tasks00-24.jsonl`."""
    lines = (folder / "truth.tasks00-24.jsonl").read_text().splitlines()
    found = Replay(sdk)
    runs = {run.session_id: run for run in load(folder / sdk, by="session")}
    for truth in map(json.loads, lines):
        run = runs[truth["session_id"]]
        calls = truth["tool_calls"]
        steps = run.tool_steps
        if truth[PARTIAL] and len(steps) < len(calls):
            found.partial += 1
            calls = calls[: len(steps)]
        found.runs += 1
        found.order += [step.tool for step in steps] == [call["name"] for call in calls]
        for step, call in zip(steps, calls, strict=False):
            _compare(found, run, step, call)
    return found


def _compare(found: Replay, run: Trajectory, step: Step, call: Mapping[str, Any]) -> None:
    says = {
        "arguments": step.arguments == call["arguments"],
        "results": step.result == parsed(call["result"]),
        "errors": (step.ok is False) == call["is_error"],
    }
    found.calls += 1
    for what, agrees in says.items():
        setattr(found, what, getattr(found, what) + agrees)
        if not agrees:
            there = tuple(gap.name for gap in run.gaps if gap.position in (None, step.position))
            gaps = tuple(name for name in there if name in EXPLAINS)
            found.missed.append((run.run_id, step.number, what, gaps))


def truth_files(folder: Path) -> list[Path]:
    """The truth files of agentevals' OTLP fixtures."""
    return sorted(folder.rglob("*.truth.json"))


def differences(path: Path) -> list[str]:
    """Return where the runs of a fixture are not the turns of its truth file."""
    truth = json.loads(path.read_text())
    runs = list(load(path.with_name(path.name.replace(".truth.json", ".json"))))
    turns = truth["turns"]
    found = []
    if len(runs) != len(turns) and not truth.get("extra_turns_allowed"):
        found.append(f"{len(runs)} runs for {len(turns)} turns")
    for number, turn in enumerate(turns):
        asked = [run for run in runs if run.input == turn["user_text"]]
        run = asked[0] if turn["user_text"] and asked else next(iter(runs[number:]), None)
        if run is None:
            found.append(f"no run for turn {number}")
            continue
        found += [f"turn {number}: {what}" for what in _differing(run, turn)]
    return found


def _differing(run: Trajectory, turn: Mapping[str, Any]) -> Iterator[str]:
    if turn["user_text"] not in (None, run.input):
        yield f"user text {run.input!r}"
    if turn["final_text"] not in (None, run.final_text):
        yield f"final text {run.final_text!r}"
    steps = _of_the_client(run)
    ours = [_call_of(step) for step in steps]
    theirs = [
        (c["name"], c.get("args"), _result(c.get("result")), bool(c.get("is_error")))
        for c in turn["tool_calls"]
    ]
    if ours != theirs:
        yield f"calls {ours}"
    errors = [call.get("error_type") for call in turn["tool_calls"]]
    if [step.error_type for step in steps] != errors:
        yield "error types"
    tokens = turn.get("tokens") or {}
    used = (run.run["tokens_in"] or 0, run.run["tokens_out"] or 0)
    if tokens and used != (tokens["input"], tokens["output"]):
        yield f"tokens {used}"
    if turn.get("agents") and not {s.agent for s in run.steps if s.agent} <= set(turn["agents"]):
        yield "agents"


def _of_the_client(run: Trajectory) -> list[Step]:
    """Return the tool steps without those that the provider ran: these truths leave them out."""
    hosted: set[str] = set()
    for step in run.steps:
        if step.operation == "llm" and step.output is not NOT_RECORDED:
            messages = parsed(step.output) if isinstance(step.output, str) else step.output
            parts = [part for message in messages for part in message["parts"]]
            hosted |= {part["name"] for part in parts if part.get("by_provider")}
    tools = [step for step in run.steps if step.operation == "tool"]
    return [step for step in tools if not (step.synthesised and step.tool in hosted)]


def _call_of(step: Step) -> tuple[Any, ...]:
    arguments = None if step.arguments is NOT_RECORDED else step.arguments
    result = None if step.result is NOT_RECORDED else _result(step.result)
    return step.tool, arguments, result, step.ok is False


def _result(value: Any) -> Any:
    """Undo envelopes on both sides: ADK's `{"result": …}` and MCP's content blocks."""
    value = parsed(value) if isinstance(value, str) else value
    while isinstance(value, dict) and value.keys() == {"result"}:
        value = parsed(value["result"]) if isinstance(value["result"], str) else value["result"]
    return None if value is None else tool_values.result(value).value


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def same_run_rows(runs: Sequence[SameRun]) -> list[tuple[object, ...]]:
    """One row for what all agree on, then one for each run that they do not."""
    rows: list[tuple[object, ...]] = []
    equal = [run for run in runs if not run.deviating]
    calls = sum(len(next(iter(run.views.values()))) for run in equal)
    rows.append((f"{len(equal)} of {len(runs)} runs", "all five", "–", f"equal, {calls} calls"))
    for run in runs:
        for sdk in run.deviating:
            why = ", ".join(sorted(run.gaps[sdk])) or "**nothing**"
            rows.append((run.name, sdk, why, "explained" if run.gaps[sdk] else "unexplained"))
    return rows


def replay_row(found: Replay) -> tuple[object, ...]:
    """One row of the table of replays."""
    gaps = Counter(name for *_, names in found.missed for name in names)
    return (
        found.sdk,
        f"{found.order} of {found.runs}",
        found.partial,
        found.calls,
        *(f"{100 * n / found.calls:.2f}%" for n in (found.arguments, found.results, found.errors)),
        ", ".join(f"{name} {count}" for name, count in sorted(gaps.items())) or "–",
    )


def main() -> None:
    corpus = Path(sys.argv[1]) if len(sys.argv) == 2 else Path()
    public = corpus / "public"
    if not public.is_dir():
        sys.exit(f"usage: agreement.py CORPUS; {corpus} lacks public")
    runs = list(same_runs(public / "same-run-5-dialects"))
    print_table(("run", "SDK", "gaps", ""), same_run_rows(runs))
    replays = [replay(public / "replay-taubench-6-dialects", sdk) for sdk in REPLAYS]
    header = ("SDK", "names and order", "ended early", "calls")
    print_table((*header, "arguments", "results", "errors", "gaps"), list(map(replay_row, replays)))
    files = truth_files(public / "agentevals" / "otlp")
    unmet = {path: found for path in files if (found := differences(path))}
    print_table(("truth files", "met"), [(len(files), len(files) - len(unmet))])
    wrong = [f"{run.name}: {', '.join(run.unexplained)}" for run in runs if run.unexplained]
    wrong += [f"{found.sdk}: {line}" for found in replays for line in found.unexplained]
    wrong += [f"{path}: {line}" for path, lines in unmet.items() for line in lines]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
