"""Log records of coding agents name the tools they called: what no span shows is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.rules import Forbidden

TRACE = "5b8efff798038103d269b633813fc60c"


def pairs(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def span(number: int, tool: str) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "name": "execute_tool",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": pairs({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}),
    }


def source(folder: Path, name: str, values: dict[str, str], **ids: str) -> Path:
    record = {
        "timeUnixNano": "1700000000000000000",
        "body": {"stringValue": name},
        "attributes": pairs({"event.name": name, **values}),
        **ids,
    }
    document = {
        "resourceSpans": [{"scopeSpans": [{"scope": {"name": "s"}, "spans": [span(2, "lookup")]}]}],
        "resourceLogs": [{"scopeLogs": [{"scope": {"name": "l"}, "logRecords": [record]}]}],
    }
    file = folder / "traces.json"
    file.write_text(json.dumps(document))
    return file


def asked(file: Path, tool: str = "delete_account") -> tuple[str, list[str]]:
    loaded = ta.load(file)
    verdict = loaded.check(ta.Policy(Forbidden(tool))).verdict
    return verdict, loaded.quarantined["reason"].to_pylist()


RECORDS = [
    ("claude_code.tool_result", "tool_name"),
    ("codex.tool_result", "tool_name"),
    ("gemini_cli.tool_call", "function_name"),
    ("gen_ai.tool.call", "gen_ai.tool.name"),
]


@pytest.mark.parametrize(("name", "key"), RECORDS)
def test_a_record_that_names_a_tool_is_a_call_that_nobody_can_place(
    name: str, key: str, tmp_path: Path
) -> None:
    file = source(tmp_path, name, {key: "delete_account"})
    assert asked(file) == ("insufficient", ["unjoined_call"])


@pytest.mark.parametrize("ids", [{"traceId": TRACE}, {"traceId": TRACE, "spanId": f"{2:016x}"}])
def test_one_of_a_trace_whose_spans_do_not_speak_of_the_tool_is_one_too(
    ids: dict[str, str], tmp_path: Path
) -> None:
    file = source(tmp_path, "claude_code.tool_result", {"tool_name": "delete_account"}, **ids)
    assert asked(file) == ("insufficient", ["unjoined_call"])


def test_one_of_which_a_span_of_its_trace_speaks_lost_nothing(tmp_path: Path) -> None:
    ids = {"traceId": TRACE, "spanId": f"{2:016x}"}
    file = source(tmp_path, "claude_code.tool_result", {"tool_name": "lookup"}, **ids)
    assert asked(file) == ("pass", [])


def test_a_decision_on_a_call_is_none_but_names_the_tool(tmp_path: Path) -> None:
    file = source(tmp_path, "claude_code.tool_decision", {"tool_name": "delete_account"})
    assert asked(file) == ("insufficient", [])
    assert asked(file, "close_account") == ("pass", [])


def test_records_of_an_application_count_for_whoever_asks_about_their_words(
    tmp_path: Path,
) -> None:
    file = source(tmp_path, "job", {"step": "delete_account"})
    assert asked(file) == ("insufficient", [])
    assert asked(file, "close_account") == ("pass", [])
