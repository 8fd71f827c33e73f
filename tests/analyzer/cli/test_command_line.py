"""The `trackway` command, as a person or a script calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from trackway_analyzer.cli.program import COMMANDS, run

Write = Callable[..., Path]

HAPPY = "a" * 32
SECOND = "b" * 32
ORDER = ("lookup_order", {"order_id": "A-17"}, {"id": "A-17", "total": 84.0})
REFUND = ("refund", {"order_id": "A-17", "amount": 84.0}, {"status": "succeeded"})
FAILED = ("refund", {"order_id": "A-17", "amount": 84.0}, {"error": "declined"})


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command and return its exit code and what it printed."""

    def called(*arguments: str | Path) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return called


Call = Callable[..., tuple[int, str, str]]


def test_steps_prints_one_run_a_line(call: Call, otlp: Write) -> None:
    code, out, err = call("steps", otlp({HAPPY: [ORDER, REFUND], SECOND: [ORDER, FAILED]}))
    assert code == 0
    assert out.splitlines() == [
        f"{HAPPY}  lookup_order → refund",
        f"{SECOND}  lookup_order → refund ✗",
    ]
    assert err == ""


def test_steps_as_json_lines(call: Call, otlp: Write) -> None:
    code, out, _ = call("steps", "--json", otlp({HAPPY: [ORDER], SECOND: [REFUND]}, session="s"))
    assert code == 0
    first, second = (json.loads(line) for line in out.splitlines())
    assert first["run_id"] == HAPPY
    assert first["session_id"] == "s"
    assert first["tools"] == ["lookup_order"]
    assert first["steps"][0]["arguments"] == {"order_id": "A-17"}
    assert first["steps"][0]["result"] == {"id": "A-17", "total": 84.0}
    assert second["tools"] == ["refund"]


def test_steps_of_one_run(call: Call, otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER], SECOND: [REFUND]})
    expected = f"{SECOND}  refund\n"
    assert call("steps", path, "--run", SECOND)[:2] == (0, expected)
    assert call("steps", f"{path}#bbb")[:2] == (0, expected)


def test_a_session_over_several_traces_is_hinted_at_and_joined(call: Call, otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER], SECOND: [REFUND]}, session="s")
    _, _, err = call("steps", path)
    assert err == (
        "note: 2 runs belong to 1 session: --by session joins the traces of a session into one"
        " run\n"
    )
    code, out, err = call("steps", path, "--by", "session", "--json")
    assert (code, err) == (0, "")
    (joined,) = (json.loads(line) for line in out.splitlines())
    assert joined["tools"] == ["lookup_order", "refund"]


def test_show_prints_one_run(call: Call, otlp: Write) -> None:
    code, out, err = call("show", f"{otlp({HAPPY: [ORDER, FAILED], SECOND: []})}#aaa")
    assert (code, err) == (0, "")
    assert f"run      {HAPPY}" in out
    assert 'lookup_order  order_id="A-17"  → {"id": "A-17", "total": 84.0}' in out
    assert "✗ failed" in out


def test_show_of_a_source_with_several_runs_lists_them(call: Call, otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER], SECOND: [REFUND]})
    code, out, err = call("show", path)
    assert (code, out) == (4, "")
    assert err == (
        f"error: {path} holds 2 runs; name one of them:\n  {path}#{HAPPY}\n  {path}#{SECOND}\n"
    )


def test_diff_exits_by_its_status(call: Call, otlp: Write) -> None:
    reference = otlp({HAPPY: [ORDER, REFUND]}, name="reference.json")
    same = otlp({SECOND: [ORDER, REFUND]}, name="same.json")
    shorter = otlp({SECOND: [ORDER]}, name="shorter.json")
    assert call("diff", reference, same)[0] == 0
    code, out, _ = call("diff", reference, shorter)
    assert code == 1
    assert "refund" in out
    code, out, _ = call("diff", reference, shorter, "--json")
    assert code == 1
    assert json.loads(out)["missing_in_candidate"] == ["refund"]


def test_diff_with_warnings_fails_only_when_strict(call: Call, otlp: Write) -> None:
    reference = otlp({HAPPY: [ORDER, REFUND]}, name="reference.json")
    halved = ("refund", {"order_id": "A-17", "amount": 42.0}, {"status": "succeeded"})
    changed = otlp({SECOND: [ORDER, halved]}, name="changed.json")
    assert call("diff", reference, changed)[0] == 0
    assert call("diff", reference, changed, "--strict")[0] == 1


def test_convert_writes_parquet_that_loads_the_same(
    call: Call, otlp: Write, tmp_path: Path
) -> None:
    source, target = otlp({HAPPY: [ORDER, REFUND]}), tmp_path / "all.parquet"
    code, out, err = call("convert", source, target)
    assert (code, out, err) == (0, f"3 spans to {target}\n", "")
    assert call("steps", "--json", target)[1] == call("steps", "--json", source)[1]
    metadata = pq.read_metadata(target).metadata
    assert metadata[b"trackway.spans"] == b"3"
    assert metadata[b"trackway.runs"] == b"1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.parquet", "traces.json"]


def test_convert_into_a_folder_names_the_file_after_the_source(
    call: Call, otlp: Write, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert call("convert", otlp({HAPPY: [ORDER]}), folder)[0] == 0
    assert [path.name for path in folder.iterdir()] == ["traces.parquet"]


def test_convert_refuses_to_write_into_its_source(call: Call, otlp: Write, tmp_path: Path) -> None:
    otlp({HAPPY: [ORDER]})
    code, _, err = call("convert", tmp_path, tmp_path / "all.parquet")
    assert code == 4
    assert "which would then hold every span twice" in err
    assert not (tmp_path / "all.parquet").exists()


def test_convert_of_a_file_without_traces_leaves_what_was_there(call: Call, tmp_path: Path) -> None:
    source, target = tmp_path / "package.json", tmp_path / "all.parquet"
    source.write_text('{"name": "left-pad"}')
    target.write_bytes(b"old")
    code, _, err = call("convert", source, target)
    assert code == 4
    assert f"nothing in {source} could be read" in err
    assert target.read_bytes() == b"old"


def test_variants_gaps_and_stats(call: Call, otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER, REFUND], SECOND: [ORDER, REFUND]})
    code, out, _ = call("variants", path, "--json")
    assert code == 0
    assert json.loads(out)["sequence"] == "lookup_order → refund"
    assert json.loads(out)["runs"] == 2
    code, out, _ = call("stats", path, "--json")
    assert code == 0
    assert json.loads(out)["runs"] == 2
    assert [tool["calls"] for tool in json.loads(out)["tools"]] == [2, 2]
    assert call("stats", path)[0] == 0
    assert call("gaps", path)[0] == 0


def test_variants_for_people_fold_what_comes_again(call: Call, otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER, ORDER, ORDER, REFUND], SECOND: [REFUND]})
    code, out, _ = call("variants", path)
    assert code == 0
    assert out.splitlines() == [
        "runs  share  succeeded  failed  example                           sequence",
        f"   1  50%            0       0  {HAPPY}  lookup_order ×3 → refund",
        f"   1  50%            0       0  {SECOND}  refund",
    ]


def test_gaps_are_summed_up_at_the_end(call: Call, tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "ok"}]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps({"messages": chat, "n": n}) + "\n" for n in range(3)))
    code, out, _ = call("gaps", path)
    assert code == 0
    assert out.splitlines()[-2:] == [
        "gap                 runs  count  detail",
        "missing_timestamps     3      3  start and end",
    ]
    assert len(call("gaps", path, "--json")[1].splitlines()) == 3


def test_stats_give_pass_rates_of_judged_runs(call: Call, otlp: Write, tmp_path: Path) -> None:
    path = otlp({HAPPY: [ORDER], SECOND: [ORDER]})
    judged = tmp_path / "outcomes.jsonl"
    rows = [
        {"run_id": HAPPY, "task_id": "a", "trial": 0, "reward": 1},
        {"run_id": SECOND, "task_id": "a", "trial": 1, "reward": 0},
        {"run_id": "elsewhere", "task_id": "b", "trial": 0, "reward": 0},
    ]
    judged.write_text("\n".join(map(json.dumps, rows)))
    code, out, err = call("stats", path, "--outcomes", judged)
    assert code == 0
    assert out.endswith(
        "all runs: 1 of 2 runs succeeded; 1 task × 2 trials\nk  pass^k\n1  0.5000\n2  0.0000\n"
    )
    assert err == f"note: 1 outcome in {judged} fits no run of {path}\n"
    _, out, _ = call("variants", path, "--outcomes", judged, "--json")
    assert [json.loads(out)[name] for name in ("succeeded", "failed")] == [1, 1]


def test_stats_refuse_pass_rates_of_runs_without_a_task(
    call: Call, otlp: Write, tmp_path: Path
) -> None:
    path = otlp({HAPPY: [ORDER], SECOND: [ORDER]})
    judged = tmp_path / "outcomes.csv"
    judged.write_text(f"run_id,success\n{HAPPY},true\n")
    code, out, err = call("stats", path, "--outcomes", judged)
    assert code == 2
    said = " ".join(out.split())
    assert "1 of 2 runs succeeded, 1 were not judged; no pass^k, for 2 of 2 runs have" in said
    assert "no pass^k of all runs: 2 of 2 runs have no task id" in err


def test_an_upload_without_task_ids_is_refused_with_a_reason(call: Call, tmp_path: Path) -> None:
    run = {"trial": 0, "reward": 1.0, "traj": [{"role": "assistant", "content": "ok"}]}
    path = tmp_path / "upload.json"
    path.write_text(json.dumps([run, run]))
    code, _, err = call("stats", path)
    assert code == 2
    assert "no pass^k of upload: 2 of 2 runs have no task id" in err
    code, _, err = call("stats", path, "--strict-input")
    assert code == 4
    assert "a benchmark's run without task_id" in err


def test_a_broken_line_is_put_aside_and_counted(call: Call, otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER]}, name="traces.jsonl")
    path.write_text(path.read_text() + "\n{broken\n" + "{}\n")
    code, out, err = call("steps", path)
    assert code == 0
    assert out == f"{HAPPY}  lookup_order\n"
    assert f"could not be read: trackway quarantine {path}" in err
    code, out, _ = call("quarantine", path, "--json")
    assert code == 0
    assert "broken_line" in [json.loads(line)["reason"] for line in out.splitlines()]
    code, out, err = call("steps", path, "--strict-input")
    assert (code, out) == (4, "")
    assert "broken_line" in err


def test_standard_input(otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER]})
    done = subprocess.run(
        [sys.executable, "-m", "trackway_analyzer", "steps", "-"],
        input=path.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == f"{HAPPY}  lookup_order\n"


def test_a_closed_pipe_is_no_error(otlp: Write) -> None:
    path = otlp({f"{n:032x}": [ORDER] for n in range(1, 500)})
    steps = f"{sys.executable} -m trackway_analyzer steps --json {path}"
    command = f"{steps} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 141
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["steps", "no-such-file.json"], "no such file or folder: no-such-file.json"),
        (["steps"], "Missing argument 'SRC'"),
        (["stps"], "no command 'stps'; did you mean 'steps'?"),
        (["steps", "x", "--frob"], "No such option"),
        (["check", "x"], "Missing option '--policy'"),
        (["show", "x", "--by", "day"], "'day' is not one of 'trace', 'session'"),
    ],
)
def test_wrong_usage_and_missing_input_exit_with_four(
    call: Call, arguments: list[str], words: str
) -> None:
    code, out, err = call(*arguments)
    assert (code, out) == (4, "")
    assert words in err
    assert "Traceback" not in err


def test_a_folder_without_traces_says_what_was_looked_for(call: Call, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    code, _, err = call("steps", tmp_path)
    assert code == 4
    assert ".parquet" in err
    assert "notes.txt" in err


def test_spans_that_no_dialect_knows_are_kept_and_said(call: Call, http_span: Path) -> None:
    code, out, err = call("steps", http_span)
    assert (code, out) == (0, "")
    assert err == (f"note: {http_span} holds spans but no run: no model call, tool call or agent\n")
    code, out, _ = call("gaps", http_span, "--json")
    assert code == 0
    assert json.loads(out) == {
        "run_id": None,
        "name": "unknown_dialect",
        "step": None,
        "count": 1,
        "detail": "no dialect knows these spans, they are in no run; scopes: opentelemetry.example",
    }


def test_a_file_that_ends_in_the_middle_is_a_gap(call: Call, otlp: Write) -> None:
    path = otlp({HAPPY: [ORDER]}, name="traces.jsonl")
    whole = path.read_text()
    path.write_text(whole + "\n" + whole[: len(whole) // 2])
    code, out, _ = call("gaps", path, "--json")
    assert code == 0
    gaps = [json.loads(line) for line in out.splitlines()]
    assert [(gap["run_id"], gap["name"]) for gap in gaps] == [(None, "truncated_file")]


def test_a_file_that_holds_no_trace_is_an_error(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    path.write_text('{"name": "left-pad"}')
    code, out, err = call("steps", path)
    assert (code, out) == (4, "")
    assert err == (
        f"error: nothing in {path} could be read: not_a_trace: JSON of no known format;"
        " its keys are name\n"
    )


def test_an_empty_but_valid_file_is_an_empty_result(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text('{"resourceSpans": []}')
    assert call("steps", path) == (0, "", "")
    assert call("variants", path) == (0, "this source holds no run\n", "")


def test_help_and_version(call: Call) -> None:
    code, out, _ = call("--help")
    assert code == 0
    assert all(name in out for name in COMMANDS)
    for name in COMMANDS:
        code, out, _ = call(name, "--help")
        assert code == 0
        assert "--debug" in out
    code, out, _ = call("--version")
    assert code == 0
    assert out.startswith("trackway, version ")
    assert call()[0] == 4


def test_an_error_of_the_program_exits_with_four_and_no_traceback(
    call: Call, otlp: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("trackway_analyzer.cli.variants.variant_table", broken)
    path = otlp({HAPPY: [ORDER]})
    code, _, err = call("variants", path)
    assert code == 4
    assert err == (
        "internal error: ZeroDivisionError: division by zero\n"
        "This is a bug of trackway; the same command with --debug prints where.\n"
    )
    code, _, err = call("variants", path, "--debug")
    assert code == 4
    assert "Traceback" in err
