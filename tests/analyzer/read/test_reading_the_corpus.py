"""Published traces of many kinds: no file raises, and the replays tell what really happened."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from trackway_analyzer import dialects
from trackway_analyzer.read import read

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not os.environ.get("TRACKWAY_CORPUS"), reason="TRACKWAY_CORPUS names no folder of traces"
    ),
]

CORPUS = Path(os.environ.get("TRACKWAY_CORPUS") or ".") / "public"
REPLAYS = CORPUS / "replay-taubench-6-dialects"
PARTIAL = "partial_in_langchain_replay"
"""Runs that the LangChain loop ended early: the replay holds fewer calls than the run."""


def test_no_file_of_the_corpus_raises_and_each_gives_spans_or_a_reason() -> None:
    files = [path for path in sorted(CORPUS.rglob("*")) if path.is_file()]
    assert len(files) > 2000
    for path in files:
        spans = reasons = 0
        for batch in read(path):
            spans += len(batch.spans)
            reasons += len(batch.quarantine)
        assert spans or reasons or _holds_no_spans(path), path


def _holds_no_spans(path: Path) -> bool:
    """An instrumentor's test that produced log records or nothing at all."""
    return path.suffix == ".json" and b'"spans":[{' not in path.read_bytes().replace(b" ", b"")


def truth() -> Iterator[dict[str, Any]]:
    with (REPLAYS / "truth.tasks00-24.jsonl").open() as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize(
    ("dialect", "source", "named_arguments"),
    [
        ("openinference", "openinference", False),  # LangChain: a single argument loses its name
        ("openllmetry", "openllmetry", True),
        ("otel-genai", "otel-genai", True),
        ("pydantic-ai", "pydantic-ai", True),
        ("langfuse", "langfuse", True),
        ("mlflow", "mlflow", True),
    ],
)
def test_the_replays_hold_the_calls_that_were_made(
    dialect: str, source: str, named_arguments: bool
) -> None:
    runs = 0
    for run in truth():
        if run[PARTIAL] and dialect != "pydantic-ai":
            continue
        name = f"task{run['task_id']:02d}_trial{run['trial']}.json.gz"
        table = pa.concat_tables([batch.spans for batch in read(REPLAYS / dialect / name)])
        rows = table.sort_by("start").to_pylist()
        calls = [row for row in rows if row["operation"] == "tool"]
        assert [row["tool"] for row in calls] == [call["name"] for call in run["tool_calls"]]
        for row, call in zip(calls, run["tool_calls"], strict=True):
            assert row["source"] == source
            assert row["tool_call_id"] == call["id"]
            assert json.loads(row["result"]) == _decoded(call["result"])
            if named_arguments:
                assert json.loads(row["arguments"]) == call["arguments"]
        sessions = {row["session_id"] for row in rows} - {None}
        assert sessions <= {run["session_id"]}
        runs += 1
    assert runs >= 97


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


AGREEING = ("otel-genai", "langfuse", "mlflow")


def test_the_same_run_recorded_by_three_sdks_has_the_same_tool_calls() -> None:
    folder = CORPUS / "same-run-5-dialects"
    names = sorted(path.name for path in (folder / "mlflow").glob("*.json"))
    assert len(names) == 49
    compared = 0
    for name in names:
        views = [_calls(folder / dialect / name) for dialect in AGREEING]
        assert views[0] == views[1] == views[2], name
        compared += len(views[0])
    assert compared


def _calls(path: Path) -> list[tuple[Any, ...]]:
    table = pa.concat_tables([batch.spans for batch in read(path)]).sort_by("start")
    columns = ("tool", "arguments", "result", "error_type")
    return [
        tuple(row[name] for name in columns)
        for row in table.to_pylist()
        if row["operation"] == "tool"
    ]


def test_spans_of_the_recorded_instrumentations_are_known() -> None:
    known = unknown = 0
    for path in sorted((CORPUS / "recorded-otlp").rglob("*.json")):
        for batch in read(path):
            sources = batch.spans["source"].to_pylist()
            unknown += sources.count(dialects.UNKNOWN)
            known += len(sources) - sources.count(dialects.UNKNOWN)
    assert known > 20 * unknown
