"""Bytes, open files, decoded documents and frames are sources; anything else says what to do."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import trackway_analyzer as ta
from analyzer.read import otlp_text
from trackway_analyzer.read import SourceError

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
DOCUMENT = otlp_text.document(otlp_text.span(attributes=TOOL))
TEXT = json.dumps(DOCUMENT).encode()
MESSAGES = [
    {"role": "user", "content": "Hi"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "found"},
]


@pytest.mark.parametrize(
    "source",
    [
        *(DOCUMENT, [DOCUMENT], MESSAGES, {"messages": MESSAGES}, [{"messages": MESSAGES}]),
        *(TEXT, bytearray(TEXT), gzip.compress(TEXT), io.BytesIO(TEXT), io.StringIO(TEXT.decode())),
        {**DOCUMENT, "beside": float("nan")},
    ],
    ids=[
        *("document", "documents", "messages", "transcript", "transcripts", "bytes", "bytearray"),
        *("compressed bytes", "open file", "open text", "document with NaN"),
    ],
)
def test_what_a_program_holds_is_read_as_a_file_would_be(source: Any) -> None:
    (trajectory,) = ta.load(source)
    assert trajectory.tools == ["look"]


def test_the_bytes_of_a_parquet_file_are_a_source(tmp_path: Path) -> None:
    ta.load(DOCUMENT).to_parquet(tmp_path / "spans.parquet")
    (trajectory,) = ta.load((tmp_path / "spans.parquet").read_bytes())
    assert trajectory.tools == ["look"]


def test_an_empty_document_is_an_empty_result() -> None:
    assert len(ta.load({"resourceSpans": []})) == 0


def test_bytes_that_are_no_trace_are_put_aside() -> None:
    (row,) = ta.load(b"xx").quarantined.to_pylist()
    assert (row["file"], row["reason"]) == ("bytes", "not_a_trace")


@pytest.mark.parametrize("source", [[1, 2], {1}, [None], iter([1.5])])
def test_what_is_no_source_says_what_is_one(source: Any) -> None:
    with pytest.raises(SourceError, match=r"expected paths, spans or decoded documents in a "):
        len(ta.load(source))


@pytest.mark.parametrize("trace", ["1" * 32, "00000000000000000000000000000012"])
def test_ids_that_csv_turned_into_numbers_are_refused_with_advice(
    trace: str, tmp_path: Path
) -> None:
    table = {"trace_id": [trace], "span_id": ["0000000000000001"], "name": ["a"], "start": [5]}
    pd.DataFrame(table).to_csv(tmp_path / "spans.csv", index=False)
    with pytest.raises(SourceError, match=r"read_csv\(path, dtype=str\)"):
        len(ta.load(pd.read_csv(tmp_path / "spans.csv")))
    with pytest.raises(SourceError, match="expected texts in the column span_id, found int64"):
        len(ta.load(pl.DataFrame(table | {"span_id": [1]})))
