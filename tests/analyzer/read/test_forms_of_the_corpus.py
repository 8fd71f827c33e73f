"""Published traces in other forms: twins load equal, exports tell their calls, nothing is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import trackway_analyzer as ta
from trackway_analyzer.read import read

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not os.environ.get("TRACKWAY_CORPUS"), reason="TRACKWAY_CORPUS names no folder of traces"
    ),
]

CORPUS = Path(os.environ.get("TRACKWAY_CORPUS") or ".") / "public"
LANGFUSE = CORPUS / "langfuse-framework-traces" / "seeder"
CLAUDE = CORPUS / "agentpile" / "fixtures" / "claude_code"


def table_of(path: Path) -> pa.Table:
    return pa.concat_tables([batch.spans for batch in read(path)])


def test_the_twins_of_protobuf_and_json_load_equal() -> None:
    listed = json.loads((CORPUS / "otlp-protobuf" / "pairs.json").read_text())
    pairs = [pair for pair in listed if (CORPUS / "otlp-protobuf" / pair["pb"]).exists()]
    assert len(pairs) >= 18
    for pair in pairs:
        binary = table_of(CORPUS / "otlp-protobuf" / pair["pb"])
        assert len(binary) == pair["spans"]
        spans = {row["span_id"]: row for row in table_of(CORPUS / pair["json"]).to_pylist()}
        for row in binary.to_pylist():
            assert without_logs(row) == without_logs(spans[row["span_id"]]), pair["pb"]


def without_logs(row: dict[str, Any]) -> dict[str, Any]:
    """The twins have no logs; in JSON they stand beside the spans and fill these columns."""
    filled = ("events", "input", "output")
    return {name: value for name, value in row.items() if name not in filled}


def test_what_langfuse_exports_tells_its_calls() -> None:
    told = {
        "agno-2025-06-11": ["duckduckgo_search"],
        "google-adk-2025-08-28": ["say_hello"],
        "koog-2025-08-26": ["HelloTool", "ByeTool"],
        "langgraph-2025-08-22": ["Web-Search"],
        "microsoft-agent-2025-10-14": ["get_weather"],
        "openai-agents-2025-09-30": ["get_weather"],
        "pydantic-ai-tools-2025-12-04": [
            "get_dad_joke_suggestion",
            "get_one_liner_suggestion",
            "get_pun_suggestion",
        ],
    }
    for name, tools in told.items():
        (trajectory,) = ta.load(LANGFUSE / f"{name}.json")
        found = trajectory.tools if len(tools) < 3 else sorted(trajectory.tools)
        assert found == tools, name


def test_every_export_of_langfuse_is_a_run() -> None:
    for path in sorted(LANGFUSE.glob("*.json")):
        trajectories = ta.load(path)
        count = len(json.loads(path.read_text())["observations"])
        # One more where the trace alone says what it was told and what it answered.
        assert len(trajectories) == 1, path
        assert len(trajectories.span_table) - count in (0, 1), path
        assert len(trajectories.quarantined) == 0


def test_trajectories_of_others_are_read() -> None:
    trajectories = ta.load(CORPUS / "agentpile" / "fixtures" / "atif_two.jsonl")
    assert [trajectory.session_id for trajectory in trajectories] == ["fx-1", "fx-2"]
    for trajectory in trajectories:
        assert trajectory.tools == ["search_flights", "read_calendar", "book_flight"]
        assert trajectory.tool_steps[1].result == "No events."
        assert trajectory.final_text == "I could not complete the booking."


def test_sessions_of_claude_code_in_their_edge_cases() -> None:
    told = {
        "api_error": [],
        "attachment_beside_result": ["Bash"],
        "compaction": [],
        "duplicates": ["Bash"],
        "early_result": ["Bash"],
        "edit_branch": [],
        "images": ["Inspect"],
        "split_interleaved": ["Bash", "Bash"],
        "unknown": [],
        "unpaired": [],
    }
    for name, tools in told.items():
        (trajectory,) = ta.load(CLAUDE / f"{name}.jsonl")
        assert trajectory.tools == tools, name
    whole = [run for run in ta.load(CLAUDE) if run.session_id and run.session_id.endswith("99")]
    assert len(whole) == 1
    paths = {step.agent_path for step in whole[0].steps}
    assert {"claude-code", "claude-code/afx0000000000001"} <= paths
    assert "claude-code/afx0000000000003/afx0000000000004" in paths


def files() -> list[Path]:
    found = [
        *sorted((CORPUS / "agentevals" / "otlp").glob("*/*.json")),
        *sorted((CORPUS / "same-run-5-dialects").glob("*/*.json"))[::8],
        *sorted((CORPUS / "replay-taubench-6-dialects").glob("*/task0[02]_trial1.json.gz")),
        *sorted(CLAUDE.glob("*.jsonl")),
        *sorted(LANGFUSE.glob("*.json")),
    ]
    return [path for path in found if len(ta.load(path))]


def test_runs_come_back_whole_from_atif_and_from_parquet(tmp_path: Path) -> None:
    runs = 0
    for path in files():
        trajectories = ta.load(path)
        batch = trajectories.batch
        runs += len(batch)
        trajectories.to_atif(tmp_path / "runs.jsonl")
        trajectories.to_parquet(tmp_path / "runs.parquet")
        for name in ("runs.jsonl", "runs.parquet"):
            again = ta.load(tmp_path / name).batch
            assert again.steps.to_pylist() == batch.steps.to_pylist(), (path, name)
            assert again.runs.to_pylist() == batch.runs.to_pylist(), (path, name)
    assert runs > 140
