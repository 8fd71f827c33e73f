"""`trackway check` and `CheckReport`: findings, verdicts, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import trackway_analyzer as ta
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.check import check
from trackway_analyzer.cli.program import run
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.report.check import report_json

Write = Callable[..., Path]

HAPPY = "a" * 32
BROKEN = "b" * 32
ORDER = ("lookup_order", {"order_id": "A-17"}, {"id": "A-17", "total": 84.0})
REFUND = ("refund", {"order_id": "A-17", "amount": 84.0}, {"status": "succeeded"})
POLICY = """
version: 1
tools:
  lookup_order: {kind: lookup, entity: {type: order, result: $.id}}
  refund: {kind: mutate, entity: {type: order, argument: order_id}}
rules:
  - before: [lookup_order, refund]
  - forbid: [delete_account]
"""
CLAIM = """
version: 1
rules:
  - claim: {says: refunded, needs: refund}
"""


@pytest.fixture
def policy(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "policy.yaml"
        path.write_text(text)
        return str(path)

    return write


def checked(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = run(["check", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_runs_that_keep_the_policy_pass(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({HAPPY: [ORDER, REFUND]})
    code, out, err = checked(capsys, traces, "--policy", policy(POLICY))
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == ("pass  1 run, 1 without a finding; 0 violated, 0 undecided")


def test_a_violation_names_run_rule_and_layer_and_exits_with_one(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({HAPPY: [ORDER, REFUND], BROKEN: [REFUND]})
    code, out, _ = checked(capsys, traces, "--policy", policy(POLICY))
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == "trajectory"
    assert lines[1].startswith("  ✗ before")
    assert lines[1].endswith("  1 run")
    assert lines[2].startswith(f"      {BROKEN}  ")
    assert "lookup_order" in lines[2]
    assert lines[-1] == "violation  2 runs, 1 without a finding; 1 violated, 0 undecided"


def test_undecided_rules_stand_apart_and_never_pass(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = checked(capsys, otlp({HAPPY: [ORDER]}), "--policy", policy(CLAIM))
    assert code == 2
    assert out.splitlines()[0] == "insufficient evidence"
    assert out.splitlines()[-1].startswith("insufficient evidence: do not read this as a pass")


def test_no_run_is_no_pass(
    tmp_path: Path, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text('{"resourceSpans": []}')
    code, out, _ = checked(capsys, empty, "--policy", policy(POLICY))
    assert code == 2
    assert out.splitlines()[-1].startswith("insufficient evidence: do not read this as a pass")


def test_warnings_alone_pass_unless_strict(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = "version: 1\nrules:\n  - forbidden: {tools: [refund], severity: warning}\n"
    arguments = (otlp({HAPPY: [REFUND]}), "--policy", policy(text))
    code, out, _ = checked(capsys, *arguments)
    assert code == 0
    assert "(warning)" in out
    code, out, _ = checked(capsys, *arguments, "--strict")
    assert code == 1
    assert out.splitlines()[-1].startswith("violation")


def test_a_check_for_machines(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({HAPPY: [ORDER, REFUND], BROKEN: [REFUND]})
    code, out, _ = checked(capsys, traces, "--policy", policy(POLICY), "--json")
    report = json.loads(out)
    assert code == report["exit_code"] == 1
    assert report["verdict"] == "violation"
    assert (report["runs"], report["runs_kept"]) == (2, 1)
    (finding,) = report["findings"]
    assert finding["run_id"] == BROKEN
    assert finding["state"] == "violated"
    assert finding["step"] == 1


def test_long_lists_of_findings_are_cut_unless_all_are_wanted(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({f"{number:032x}": [REFUND] for number in range(1, 14)})
    _, out, _ = checked(capsys, traces, "--policy", policy(POLICY))
    assert "      … and 3 more (--all)" in out
    _, out, _ = checked(capsys, traces, "--policy", policy(POLICY), "--all")
    assert "more (--all)" not in out
    assert f"{13:032x}" in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version: 1\nrules:\n  - forbidd: [a]\n", "policy.yaml:3: unknown rule 'forbidd'"),
        ("rules: [", "policy.yaml"),
    ],
)
def test_a_policy_file_that_is_wrong_says_where(
    text: str,
    words: str,
    otlp: Write,
    policy: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = checked(capsys, otlp({HAPPY: [ORDER]}), "--policy", policy(text))
    assert (code, out) == (4, "")
    assert words in err
    assert "internal error" not in err


def test_a_missing_policy_file_is_an_input_error(
    otlp: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = checked(capsys, otlp({HAPPY: [ORDER]}), "--policy", "none.yaml")
    assert (code, err) == (4, "error: no policy file at none.yaml\n")


def test_a_report_in_python(otlp: Write) -> None:
    trajectories = ta.load(otlp({HAPPY: [ORDER, REFUND], BROKEN: [REFUND]}))
    report = trajectories.check(ta.Policy.from_yaml(POLICY))
    assert report.verdict == "violation"
    assert report.exit_code == 1
    findings = report.findings()
    assert findings["run_id"].tolist() == [BROKEN]
    assert findings["step"].tolist() == [1]
    with pytest.raises(ta.CheckViolationError) as raised:
        report.raise_for_violations()
    assert str(raised.value).startswith(f"{BROKEN}: before")
    assert raised.value.finding.run_id == BROKEN


def test_a_report_that_passes_raises_nothing(otlp: Write) -> None:
    report = ta.load(otlp({HAPPY: [ORDER, REFUND]})).check(ta.Policy.from_yaml(POLICY))
    report.raise_for_violations()
    assert report.verdict is ta.Verdict.PASS
    assert len(report.findings()) == 0


def test_insufficient_evidence_raises_too(otlp: Write) -> None:
    trajectories = ta.load(otlp({HAPPY: [ORDER]}))
    with pytest.raises(ta.InsufficientEvidenceError, match="final text"):
        trajectories.check(ta.Policy.from_yaml(CLAIM)).raise_for_violations()
    nothing = trajectories.filter(run="none")
    with pytest.raises(ta.InsufficientEvidenceError, match="there was no run to check"):
        nothing.check(ta.Policy.from_yaml(POLICY)).raise_for_violations()


def test_runs_that_the_source_names_are_checked_alone(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({HAPPY: [ORDER, REFUND], BROKEN: [REFUND]})
    rules = policy(POLICY)

    assert checked(capsys, traces, "--policy", rules)[0] == 1
    code, out, _ = checked(capsys, f"{traces}#{HAPPY[:6]}", "--policy", rules)
    assert (code, out.splitlines()[-1]) == (
        0,
        "pass  1 run, 1 without a finding; 0 violated, 0 undecided",
    )
    assert checked(capsys, f"{traces}#{BROKEN}", "--policy", rules)[0] == 1
    code, out, _ = checked(capsys, f"{traces}#agent=support", "--policy", rules)
    assert (code, out.splitlines()[-1]) == (
        1,
        "violation  2 runs, 1 without a finding; 1 violated, 0 undecided",
    )


def test_a_name_that_fits_no_run_says_which_runs_there_are(
    otlp: Write, policy: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({HAPPY: [ORDER, REFUND]})
    code, _, err = checked(capsys, f"{traces}#nope", "--policy", policy(POLICY))

    assert (code, err) == (
        4,
        f"error: no run 'nope' in {traces}, which holds:\n  {traces}#{HAPPY}\n",
    )


def test_what_could_not_be_read_belongs_to_no_run(
    otlp: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({HAPPY: [ORDER]})

    assert run(["quarantine", f"{traces}#{HAPPY}"]) == 4
    assert capsys.readouterr().err == (
        "error: what could not be read belongs to no run: name the source alone,"
        f" trackway quarantine {traces}\n"
    )


def test_named_runs_are_converted_alone(
    otlp: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({HAPPY: [ORDER, REFUND], BROKEN: [REFUND]})
    target = tmp_path / "one.parquet"

    assert run(["convert", f"{traces}#{BROKEN}", str(target)]) == 0
    assert capsys.readouterr().out == f"2 spans to {target}\n"
    assert [found.run_id for found in ta.load(target)] == [BROKEN]


def test_each_finding_has_the_task_of_its_run() -> None:
    runs = RunBatch.concat([trajectory_of([{"tool": "refund"}]).batch] * 2)
    index = runs.runs.schema.get_field_index("task_id")
    tasks = pa.array(["t-1", None], runs.runs.schema.field(index).type)
    named = runs.runs.set_column(index, runs.runs.schema.field(index), tasks)
    runs = RunBatch.of(named, runs.steps)
    report = check(runs, ta.Policy.from_yaml(POLICY))

    assert report.findings()["task"].fillna("none").tolist() == ["t-1", "none"]
    assert [found["task"] for found in report_json(report)["findings"]] == ["t-1", None]
