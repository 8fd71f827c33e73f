"""What could not be read, or was never recorded, is no pass of `trackway check`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

import trackway_analyzer as ta
from trackway_analyzer.cli.program import run

Write = Callable[..., Path]
Check = Callable[..., tuple[int, str, str]]

RUN = "a" * 32
ORDER = ("lookup_order", {"order_id": "A-17"}, {"id": "A-17", "total": 84.0})
REFUND = ("refund", {"order_id": "A-17", "amount": 84.0}, {"status": "succeeded"})
NOTE = "note: 1 thing could not be read: trackway quarantine"
KILLED = """
import os, signal, sys
import trackway

@trackway.tool(kind="lookup")
def lookup_order(order_id):
    return {"id": order_id}

trackway.configure(export=sys.argv[1])
with trackway.run(task="refund"):
    lookup_order("A-17")
    trackway.flush()
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
trackway.shutdown()
"""


@pytest.fixture
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text("version: 1\nrules:\n  - forbid: [delete_account]\n")
    return path


@pytest.fixture
def check(policy: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    def checked(*arguments: Any) -> tuple[int, str, str]:
        code = run(["check", *map(str, arguments), "--policy", str(policy)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return checked


def cut_line(spans: str) -> str:
    return spans + "\n" + spans[: len(spans) // 2]


def blank_id(spans: str) -> str:
    found = json.loads(spans)
    found["resourceSpans"][0]["scopeSpans"][0]["spans"][-1]["spanId"] = ""
    return json.dumps(found)


def unknown_form(spans: str) -> str:
    return spans.replace('{"stringValue": "refund"}', '{"text": "refund"}')


def spans_no_list(spans: str) -> str:
    found = json.loads(spans)
    found["resourceSpans"][0]["scopeSpans"].append({"spans": {"spanId": "1"}})
    return json.dumps(found)


@pytest.mark.parametrize("damage", [cut_line, blank_id, unknown_form, spans_no_list])
def test_what_could_not_be_read_is_no_pass(
    damage: Callable[[str], str], otlp: Write, check: Check, policy: Path
) -> None:
    traces = otlp({RUN: [ORDER, REFUND]}, name="traces.jsonl")
    traces.write_text(damage(traces.read_text()))
    code, out, err = check(traces)
    assert (code, err) == (2, f"{NOTE} {traces}\n")
    undecided = int(damage is unknown_form)  # the call has lost its name: it may be any tool's
    assert out.splitlines()[-1] == (
        f"insufficient evidence: do not read this as a pass  1 run, {1 - undecided} without a "
        f"finding; 0 violated, {undecided} undecided; "
        "1 thing that may have held spans could not be read"
    )
    code, out, _ = check(traces, "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["unread"]) == (2, "insufficient", 1)
    report = ta.load(traces).check(ta.Policy.from_yaml(policy))
    with pytest.raises(ta.InsufficientEvidenceError) as error:
        report.raise_for_violations()
    assert str(error.value) == (
        "delete_account was not seen, but tools_not_observable may hide it"
        if undecided
        else "1 thing that may have held spans could not be read: no evidence is no pass"
    )


@pytest.mark.parametrize("ending", ["parquet", "json", "pb"])
def test_a_cut_copy_beside_a_whole_file_is_no_pass(
    ending: str, otlp: Write, check: Check, tmp_path: Path
) -> None:
    whole = otlp({RUN: [ORDER, REFUND]})
    body = whole.read_bytes()
    if ending == "parquet":
        ta.load(whole).to_parquet(tmp_path / "whole.parquet")
        body = (tmp_path / "whole.parquet").read_bytes()
    elif ending == "pb":
        body = ParseDict(with_base64_ids(whole), TracesData()).SerializeToString()
    (tmp_path / f"cut.{ending}").write_bytes(body[: len(body) // 2])
    code, _, err = check(tmp_path)
    assert (code, err) == (2, f"{NOTE} {tmp_path}\n")


def with_base64_ids(traces: Path) -> Any:
    """A document as protobuf's own JSON wants it: these hex ids are base64 too, of other bytes."""
    found = json.loads(traces.read_text())
    for span in found["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["spanId"] = f"{span['spanId'][:10]}="
    return found


def test_a_document_of_spans_with_a_damaged_middle_is_no_pass(
    otlp: Write, check: Check, tmp_path: Path
) -> None:
    whole = otlp({RUN: [ORDER, REFUND]})
    (tmp_path / "damaged.json").write_text(whole.read_text().replace('"kind": 1', '"kind" 1', 1))
    assert check(tmp_path)[0] == 2


def test_files_that_are_no_traces_leave_a_pass(otlp: Write, check: Check, tmp_path: Path) -> None:
    otlp({RUN: [ORDER, REFUND]})
    (tmp_path / "settings.json").write_text('{"colour": "red"}')
    (tmp_path / "notes.json").write_text("neither JSON nor a trace")
    (tmp_path / "empty.jsonl").write_text("")
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"eventName": "gen_ai.choice"}]}]}]}
    (tmp_path / "logs.json").write_text(json.dumps(logs))
    record = {"timeUnixNano": "5", "traceId": "qqqqqqqqqqqqqqqqqqqqqg==", "eventName": "started"}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (tmp_path / "logs.pb").write_bytes(ParseDict(logs, LogsData()).SerializeToString())
    assert check(tmp_path)[0] == 0


def test_a_violation_stays_one_whatever_could_not_be_read(otlp: Write, check: Check) -> None:
    traces = otlp({RUN: [("delete_account", {}, "done")]}, name="traces.jsonl")
    traces.write_text(cut_line(traces.read_text()))
    assert check(traces)[0] == 1


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ("", "2 things were read, with something missing"),
        ("\n{broken", "1 thing could not be read; 2 things were read, with something missing"),
    ],
)
def test_what_was_read_is_not_said_to_be_unread(
    more: str, note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    lines = [json.dumps({"reward": 1.0, "trial": trial, "traj": talk}) for trial in (0, 1)]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines) + more)
    assert run(["steps", str(tmp_path / "runs.jsonl")]) == 0
    said = f"note: {note}: trackway quarantine {tmp_path / 'runs.jsonl'}\n"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", ["steps", "show", "diff"])
def test_other_commands_say_what_could_not_be_read(
    command: str, otlp: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = otlp({RUN: [ORDER, REFUND]})
    traces = otlp({RUN: [ORDER, REFUND]}, name="traces.jsonl")
    traces.write_text(cut_line(traces.read_text()))
    run([command, str(traces), *([str(whole)] if command == "diff" else [])])
    assert capsys.readouterr().err == f"{NOTE} {traces}\n"


@pytest.mark.parametrize(
    ("end", "died", "code", "words"),
    [
        ("killed", -signal.SIGKILL, 2, "was not seen, but unfinished_span may hide it"),
        ("ended", 0, 0, "held in every run: forbidden"),
    ],
)
def test_a_run_that_was_killed_is_no_pass(
    end: str, died: int, code: int, words: str, check: Check, tmp_path: Path
) -> None:
    script = [sys.executable, "-c", KILLED, str(tmp_path / "traces"), end]
    assert subprocess.run(script, check=False).returncode == died
    found, out, _ = check(tmp_path / "traces")
    assert (found, words in out) == (code, True)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_closed_pipe_is_no_verdict(more: list[str], otlp: Write, policy: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = ["check", str(otlp({RUN: [ORDER]})), "--policy", str(policy), *more]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "trackway_analyzer", *command],
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_path_is_no_policy(otlp: Write) -> None:
    with pytest.raises(TypeError) as error:
        ta.load(otlp({RUN: [ORDER]})).check("policy.yaml")  # type: ignore[arg-type]
    assert str(error.value) == (
        "expected a Policy, found str: read a policy file with Policy.from_yaml(path)"
    )


def test_a_policy_checks_no_single_trajectory(otlp: Write, policy: Path) -> None:
    (trajectory,) = ta.load(otlp({RUN: [ORDER]}))
    with pytest.raises(TypeError) as error:
        ta.Policy.from_yaml(policy).check(trajectory)  # type: ignore[arg-type]
    assert str(error.value) == (
        "expected a RunBatch, found Trajectory: check many runs with load(source).check(policy), "
        "one with rule.assert_holds(trajectory)"
    )


@pytest.mark.parametrize("source", [123, None])
def test_a_source_holds_traces(source: object) -> None:
    with pytest.raises(TypeError) as error:
        ta.load(source)
    assert str(error.value) == (
        "expected a path, a URL, a list of them, a table or finished spans, "
        f"found {type(source).__name__} {source!r}: give load() what holds the traces"
    )
