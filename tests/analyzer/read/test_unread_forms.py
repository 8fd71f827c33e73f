"""Files that hold calls or spans in a form that is not read are refused by name, and count."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import pickle
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.analyzer.engine.odd_populations import population, write

import trackway_analyzer as ta
from trackway_analyzer.read import read
from trackway_analyzer.read.quarantine import QuarantineError
from trackway_analyzer.rules import Forbidden
from trackway_analyzer.source import SpanSource

GOOD = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "done"}]
ZIPKIN = [
    {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "id": "eee19b7ec3c1b174",
        "name": "delete_account",
        "timestamp": 1700000000000000,
        "duration": 5,
        "localEndpoint": {"serviceName": "s"},
    }
]
CALLS: dict[str, Any] = {
    "zipkin": ZIPKIN,
    "langsmith": {"id": "1", "run_type": "tool", "name": "delete_account", "trace_id": "2"},
    "chunks": {"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": []}}]},
    "codex exec": {"type": "item.completed", "item": {"type": "command_execution"}},
    "mlflow infos": {"traces": [{"trace_info": {"trace_id": "tr-1", "state": "OK"}}]},
    "hits": {"hits": {"total": {"value": 1}, "hits": [{"_source": {"traceID": "a"}}]}},
    "spans of a vendor": [{"trace_id": "a", "span_id": "b", "resource": "delete", "duration": 5}],
    "nested spans": {"export": {"items": [{"spanId": "b", "startTime": 5}]}},
    "named calls": {"log": [{"name": "delete_account", "arguments": {"id": 1}}]},
    "typed calls": {"steps": [{"type": "tool_invocation", "tool": "delete_account"}]},
    "spans of openai agents": {
        "object": "trace.span",
        "id": "span_1",
        "trace_id": "trace_1",
        "span_data": {"type": "function", "name": "delete_account"},
    },
    "spans of braintrust": {
        "span_id": "a",
        "root_span_id": "a",
        "span_attributes": {"name": "delete_account", "type": "tool"},
    },
    "test cases": {"test_cases": [{"input": "x", "tools_called": [{"name": "delete_account"}]}]},
    "a result of claude": {"type": "result", "session_id": "s", "num_turns": 5, "result": "Done."},
    "an answer in a text": {"entries": [{"body": json.dumps({"tool_calls": [{"id": "c"}]})}]},
    "share gpt": {"turns": [{"from": "gpt", "value": "I deleted it."}]},
}
NO_CALLS: dict[str, Any] = {
    "settings": {"model": "gpt-4o", "temperature": 0, "servers": {"a": {"command": "x"}}},
    "tools": {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
    "a log": {"level": "info", "msg": "up", "trace_id": "a", "span_id": "b", "duration": 1},
    "expected calls": {"id": 1, "expected_actions": [{"name": "f", "arguments": {}}]},
    "metrics": {"accuracy": 0.5, "runs": 12},
    "a list of texts": ["a", "b"],
}


def beside(folder: Path, name: str, content: bytes) -> tuple[str, list[tuple[str, str]]]:
    """Check a folder with a good transcript and one other file."""
    (folder / "good.json").write_text(json.dumps(GOOD))
    (folder / name).write_bytes(content)
    runs = ta.load(folder)
    verdict = runs.check(ta.Policy(Forbidden("delete_account"))).verdict
    return str(verdict), [(r["reason"], r["detail"]) for r in runs.quarantined.to_pylist()]


@pytest.mark.parametrize("name", CALLS)
def test_calls_in_a_form_that_is_not_read_keep_a_check_from_passing(
    name: str, tmp_path: Path
) -> None:
    verdict, ((reason, detail),) = beside(tmp_path, "b.json", json.dumps(CALLS[name]).encode())
    assert (verdict, reason) == ("insufficient", "unread_form")
    assert "not read" in detail


@pytest.mark.parametrize("name", NO_CALLS)
def test_what_plainly_is_no_trace_loses_nothing(name: str, tmp_path: Path) -> None:
    verdict, aside = beside(tmp_path, "b.json", json.dumps(NO_CALLS[name]).encode())
    assert verdict == "pass"
    assert [reason for reason, _ in aside] == ["not_a_trace"]


def test_a_known_form_is_named_with_what_to_do(tmp_path: Path) -> None:
    _, ((_, detail),) = beside(tmp_path, "b.json", json.dumps(ZIPKIN).encode())
    assert detail == (
        "spans of Zipkin, which are not read: export them as OTLP or Jaeger JSON, or send them "
        "through a collector"
    )


def test_columns_of_calls_in_parquet_and_csv_count(tmp_path: Path) -> None:
    table = pa.table({"trace_id": ["a"], "start_time": [1], "tool": ["delete_account"]})
    packed = io.BytesIO()
    pq.write_table(table, packed)
    assert beside(tmp_path, "b.parquet", packed.getvalue())[1][0][0] == "unread_form"
    (tmp_path / "b.parquet").unlink()
    verdict, (_, (reason, detail)) = beside(
        tmp_path, "b.csv", b"trace_id,start_time,tool\na,1,delete_account\n"
    )
    assert (verdict, reason) == ("insufficient", "unread_form")
    assert detail.startswith("a table as text, something like spans")
    (tmp_path / "b.csv").write_bytes(b"run_id,success\na,1\n")
    assert ta.load(tmp_path).quarantined["reason"].to_pylist() == ["passed_over"]


def _pickled() -> bytes:
    return pickle.dumps([{"tool_calls": [1]}], protocol=4)


def _zipped(name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "{}")
    return packed.getvalue()


OVERLOOKED = {
    "b.log": (json.dumps({"a": ZIPKIN}) + "\n" + "x").encode(),
    "b.txt": json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": ZIPKIN}]}]}).encode(),
    "b.pkl": _pickled(),
    "b.zip": _zipped("runs/a.jsonl"),
    "b.jsonl.lz4": b"\x04\x22\x4d\x18",
    "b.json.zstd": pa.compress(json.dumps(ZIPKIN).encode(), codec="zstd", asbytes=True),
    "b.bz": bz2.compress(json.dumps(ZIPKIN).encode()),
    "b.dat": b"\x04\x22\x4d\x18" + b"a" * 50,
    "b.7z": b"7z\xbc\xaf\x27\x1c" + b"\0" * 50,
    "b.sz": b"\xff\x06\x00\x00sNaPpY" + b"a" * 50,
    "b.orc": b"ORC" + b"a" * 50,
    "b.avro": b"Obj\x01" + b"a" * 50,
    "b.duckdb": b"\0" * 8 + b"DUCK" + b"\0" * 50,
    "b.xlsx": _zipped("xl/worksheets/sheet1.xml"),
    "b.tgz": _zipped("a.txt")[:40],
    "b.events": b'event: delta\ndata: {"choices": [{"delta": {"tool_calls": []}}]}\n\n',
}


@pytest.mark.parametrize("name", OVERLOOKED)
def test_a_file_whose_name_ends_like_no_format_is_looked_at(name: str, tmp_path: Path) -> None:
    verdict, aside = beside(tmp_path, name, OVERLOOKED[name])
    assert verdict == "insufficient"
    assert [reason for reason, _ in aside] == ["passed_over", "unread_form"]
    with pytest.raises(QuarantineError):
        list(read(tmp_path, strict=True))


def test_a_database_of_traces_is_told_from_any_other(tmp_path: Path) -> None:
    for table, reasons in (("spans(span_id)", ["passed_over", "unread_form"]), ("a(b)", None)):
        path = tmp_path / table[0] / "b.db"
        path.parent.mkdir()
        with sqlite3.connect(path) as database:
            database.execute(f"CREATE TABLE {table}")
        database.close()
        _, aside = beside(path.parent, "b.db", path.read_bytes())
        assert [reason for reason, _ in aside] == (reasons or ["passed_over"])


@pytest.mark.parametrize("name", ["notes.txt", "shots.zip", "outcomes.csv", "plot.png"])
def test_other_files_are_passed_over(name: str, tmp_path: Path) -> None:
    content = _zipped("a.png") if name.endswith(".zip") else b"run_id,success\na,1\n"
    verdict, aside = beside(tmp_path, name, content)
    assert (verdict, [reason for reason, _ in aside]) == ("pass", ["passed_over"])


def test_large_files_of_ours_are_read_with_what_lies_beside_them(tmp_path: Path) -> None:
    write(population(5, [], 0, 3), tmp_path)

    def source() -> SpanSource:
        return SpanSource(str(tmp_path), format=None, dialect=None, strict=False)

    assert source().native is not None
    (tmp_path / "b.txt").write_text(json.dumps(ZIPKIN))
    assert source().native is None


@pytest.mark.parametrize("packed", ["feather", "arrow", "stream", "lz4"])
def test_arrow_files_of_spans_are_read(packed: str, tmp_path: Path) -> None:
    table = ta.load(GOOD).span_table
    path = tmp_path / "spans.feather"
    if packed in ("feather", "lz4"):
        compression = "uncompressed" if packed == "feather" else "lz4"
        feather.write_feather(table, str(path), compression=compression)
    else:
        new = pa.ipc.new_file if packed == "arrow" else pa.ipc.new_stream
        with new(str(path), table.schema) as sink:
            sink.write_table(table)
    runs = ta.load(tmp_path)
    assert (len(runs), len(runs.quarantined)) == (1, 0)
    assert next(iter(runs)).final_text == "done"


def test_a_damaged_arrow_file_is_unreadable(tmp_path: Path) -> None:
    feather.write_feather(ta.load(GOOD).span_table, str(tmp_path / "a.arrow"))
    whole = (tmp_path / "a.arrow").read_bytes()
    (tmp_path / "a.arrow").write_bytes(whole[: len(whole) // 2])
    assert ta.load(tmp_path).quarantined["reason"].to_pylist() == ["unreadable"]


@pytest.mark.parametrize("module", [bz2, lzma], ids=["bzip2", "xz"])
def test_bzip2_and_xz_are_undone(module: Any, tmp_path: Path) -> None:
    ending = ".bz2" if module is bz2 else ".xz"
    whole = module.compress(json.dumps(GOOD).encode())
    path = tmp_path / f"chat.json{ending}"
    path.write_bytes(whole)
    runs = ta.load(tmp_path)
    assert (len(runs), len(runs.quarantined)) == (1, 0)
    path.write_bytes(whole[: len(whole) // 2])
    (reason,) = ta.load(tmp_path).quarantined["reason"].to_pylist()
    assert reason in ("truncated_file", "broken_compression")
    path.write_bytes(module.compress(whole))
    assert ta.load(tmp_path).quarantined["reason"].to_pylist() == ["unreadable"]
