"""What nobody reads keeps the words that may name a tool, and is lost to whoever asks about it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import trackway_analyzer as ta
from trackway_analyzer.read.names_held import (
    ANY,
    MAX_NAMES,
    is_of_the_expected,
    named_of,
    names_held,
    names_in_file,
    names_in_text,
)
from trackway_analyzer.read.quarantine import Quarantine, Reason, losses_naming, quarantine_table

POLICY = "version: 1\nrules:\n  - never: [delete_account]\n"
GOOD = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": "lookup", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "x"},
    {"role": "assistant", "content": "bye"},
]
UNKNOWN = {"steps": [{"uses": "delete_account", "with": {"user": 7}}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.json").write_text(json.dumps(GOOD))
    return tmp_path / "in"


def checked(source: Path, policy: str = POLICY) -> Any:
    path = source.parent / "policy.yaml"
    path.write_text(policy)
    return ta.load(source).check(ta.Policy.from_yaml(path))


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "refund", "arguments": {}}</tool_call>',
        "Thought: go\nAction: refund\nAction Input: {}",
        '<function_calls><invoke name="refund">',
        "<function=refund>{}",
        "[TOOL_CALLS] refund{}",
        "to=functions.refund <|message|>",
        r"{\"toolName\":\"refund\"}",
        "tool_name=refund took 3 ms",
        "gen_ai.tool.name: Str(refund)",
        "we call refund(7)",
        "refund,3",
    ],
)
def test_words_where_a_call_or_a_value_stands_may_name_a_tool(text: str) -> None:
    assert named_of(names_in_text(text), {"refund"}) == "refund"


def test_a_text_that_speaks_of_a_tool_names_none() -> None:
    assert names_in_text("You may refund an order once. A refund takes a day.") == ()


@pytest.mark.parametrize(
    "value",
    [
        {"t": "refund"},
        {"runs": {"refund": [{"took": 3}]}},
        {"tools": [{"name": "refund", "arguments": {}}]},
        {"tools_used": ["refund"]},
        {"log": '{"a": {"b": "refund"}}'},
        {"said": "Action: refund"},
        {"t": "shop.refund"},
        {"t": "mcp__shop__refund"},
    ],
)
def test_values_keys_and_calls_within_texts_may_name_a_tool(value: object) -> None:
    assert named_of(names_held(value), {"refund"}) == "refund"


@pytest.mark.parametrize(
    "value",
    [
        {"tools": ["refund"]},
        {"allowed_tools": ["refund"]},
        {"tools": [{"name": "refund", "description": "Refunds", "parameters": {}}]},
        {"tools": [{"type": "function", "function": {"name": "refund", "parameters": {}}}]},
        {"mine": {"name": "refund", "inputSchema": {}}},
        {"expected_actions": [{"name": "refund"}]},
        {"ground_truth": "refund"},
        {"system_prompt": "call refund(id)"},
        {"rules": [{"never": ["refund"]}]},
        {"trace_id": "t", "score": 1, "name": "refund"},
        {"sentence": "nobody did refund that"},
        {"refund": 3},
    ],
)
def test_descriptions_expectations_prompts_settings_and_judgements_name_no_call(
    value: object,
) -> None:
    assert "refund" not in names_held(value)


def test_ids_addresses_and_media_types_are_no_names() -> None:
    assert names_held(["W2378156", "deadbeef", "https://a.b", "text/plain", "2026-01-01"]) == ()


def test_what_holds_too_many_words_may_name_any_tool() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [f"w_{a}{b}{c}" for a in letters for b in letters for c in letters]
    assert len(words) > MAX_NAMES
    assert names_held(words) == (ANY,)
    assert named_of((ANY,), {"refund"}) == "refund"
    assert named_of((ANY,), ()) is None


def test_the_name_of_a_file_tells_what_was_expected_and_what_was_written_to_a_model() -> None:
    assert is_of_the_expected("a/expected.json")
    assert is_of_the_expected("ground-truth_1.jsonl")
    assert not is_of_the_expected("expected/run.json")
    assert not is_of_the_expected("unexpected.json")
    assert names_in_file("a/prompts.txt", b"call refund(id)") == ()
    assert names_in_file("a/run.txt", b"call refund(7)") == ("refund",)
    assert "refund" in names_in_file("a/run.bin", b"\0\1refund\0\2")


def test_equal_losses_keep_the_words_of_all() -> None:
    quarantine = Quarantine("f")
    quarantine.add(Reason.NOT_A_TRACE, "x", names=("a",))
    quarantine.add(Reason.NOT_A_TRACE, "x", names=("b",))
    quarantine.add(Reason.NOT_A_TRACE, "x")
    table = quarantine_table(quarantine.take())
    assert table["names"].to_pylist() == [["a", "b"]]
    assert [str(loss) for loss in losses_naming(table, {"b", "c"})] == [
        "f names b and is not read (not_a_trace: x): it may hold a call of it; convert it to a"
        " format that is read, or leave it out"
    ]
    assert losses_naming(table, {"c"}) == ()
    assert losses_naming(table, ()) == ()


def test_a_document_that_names_a_tool_of_the_policy_keeps_a_check_from_passing(
    folder: Path,
) -> None:
    (folder / "other.json").write_text(json.dumps(UNKNOWN))
    report = checked(folder)
    assert (report.verdict, report.unread) == ("insufficient", 0)
    assert [(loss.tool, Path(loss.place).name) for loss in report.naming] == [
        ("delete_account", "other.json at byte 0")
    ]
    with pytest.raises(
        ta.InsufficientEvidenceError, match=r"other.json at byte 0 names delete_acc"
    ):
        report.raise_for_violations()


def test_a_document_that_names_none_of_them_lets_it_pass(folder: Path) -> None:
    (folder / "other.json").write_text(json.dumps(UNKNOWN))
    assert checked(folder, POLICY.replace("delete_account", "close_account")).verdict == "pass"


def test_only_rules_that_count_ask(folder: Path) -> None:
    (folder / "other.json").write_text(json.dumps(UNKNOWN))
    rule = "version: 1\nrules:\n  - called: [lookup]\n  - never: [delete_account]\n"
    assert checked(folder, f"{rule}    severity: warning\n").verdict == "pass"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.log", b'INFO started\n{"resourceSpans":[{"x":{"stringValue":"delete_account"}}]}'),
        ("t.out", b"gen_ai.tool.name: Str(delete_account)"),
        ("t.out", gzip.compress(b"tool_name=delete_account", mtime=0)),
        ("t.xyz", b"\0\0delete_account\0"),
        ("t.yml.json", b"- role: tool\n  name: delete_account"),
    ],
)
def test_a_file_that_was_passed_over_does_so_too(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    report = checked(folder)
    assert report.verdict == "insufficient"
    assert [loss.tool for loss in report.naming] == ["delete_account"]
    (folder / name).write_bytes(content.replace(b"delete_account", b"close_account"))
    if not content.startswith(b"\x1f"):
        assert checked(folder).verdict == "pass"


def test_what_was_expected_of_runs_lets_it_pass(folder: Path) -> None:
    told = [{"task_id": 1, "actions": [{"name": "delete_account", "arguments": {}}]}]
    (folder / "expected.json").write_text(json.dumps(told))
    assert checked(folder).verdict == "pass"
    (folder / "expected.json").rename(folder / "others.json")
    assert checked(folder).verdict == "insufficient"


def test_a_judgement_with_the_ids_of_a_span_lets_it_pass(folder: Path) -> None:
    told = {"trace_id": "a", "span_id": "b", "score": 1, "comment": "delete_account(7) was right"}
    (folder / "feedback.jsonl").write_text(json.dumps(told))
    assert checked(folder).verdict == "pass"


@pytest.mark.parametrize("name", ["other.json", "other.log"])
def test_the_words_go_with_a_converted_file(folder: Path, name: str) -> None:
    (folder / name).write_text(json.dumps(UNKNOWN))
    loaded = ta.load(folder)
    loaded.to_parquet(folder.parent / "out.parquet")
    loaded.to_atif(folder.parent / "out.jsonl")
    for converted in ("out.parquet", "out.jsonl"):
        report = checked(folder.parent / converted)
        assert report.verdict == "insufficient", converted
        assert [loss.tool for loss in report.naming] == ["delete_account"]
        policy = POLICY.replace("delete_account", "close_account")
        assert checked(folder.parent / converted, policy).verdict == "pass", converted


def test_the_command_says_which_file_and_which_tool(folder: Path) -> None:
    (folder / "other.json").write_text(json.dumps(UNKNOWN))
    (folder.parent / "policy.yaml").write_text(POLICY)
    command = [sys.executable, "-m", "trackway_analyzer", "check", "in", "--policy", "policy.yaml"]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "in/other.json at byte 0 names delete_account and is not read" in done.stdout
    done = subprocess.run(
        [*command, "--json"], cwd=folder.parent, capture_output=True, text=True, check=False
    )
    assert len(json.loads(done.stdout)["not_read_and_named"]) == 1


def test_a_table_of_losses_without_words_is_what_it_was() -> None:
    quarantine = Quarantine("f")
    quarantine.add(Reason.EMPTY_FILE, "x")
    table = quarantine_table(quarantine.take())
    assert table["names"].to_pylist() == [None]
    assert table.schema.field("names").type == pa.list_(pa.string())
