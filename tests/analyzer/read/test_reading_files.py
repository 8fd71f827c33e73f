"""Whatever file a person has: lines or one document, compressed or not, broken or not."""

import gzip
import io
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from otlp_text import document, lines, span

from trackway_analyzer.cli.program import run as trackway
from trackway_analyzer.read import QuarantineError, SourceError, byte_stream, read, span_rows
from trackway_analyzer.tables import SPAN_SCHEMA


def spans(count: int) -> list[dict[str, Any]]:
    return [document(span(spanId=f"{number:016x}")) for number in range(1, count + 1)]


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


def outcome(source: Any, **options: Any) -> tuple[int, list[tuple[str, int]]]:
    """Number of spans, and reason and count of everything that was put aside."""
    found, lost = 0, []
    for batch in read(source, **options):
        assert batch.spans.schema.equals(SPAN_SCHEMA)
        found += len(batch.spans)
        lost += [(row["reason"], row["count"]) for row in batch.quarantine.to_pylist()]
    return found, lost


def written(folder: Path, content: bytes, name: str = "traces.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


FORMS = {
    "lines": lines(spans(3)),
    "lines without the last end": lines(spans(3)).rstrip(b"\n"),
    "lines with blank ones and a BOM": b"\xef\xbb\xbf\n"
    + lines(spans(3)).replace(b"\n", b"\r\n\n"),
    "one document": orjson.dumps(spans(3)),
    "one indented document": orjson.dumps(spans(3), option=orjson.OPT_INDENT_2),
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
def test_json_is_told_by_its_content(tmp_path: Path, content: bytes, name: str) -> None:
    assert outcome(written(tmp_path, content, name)) == (3, [])


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_compression_is_told_by_its_content(tmp_path: Path, content: bytes, pack: Any) -> None:
    assert outcome(written(tmp_path, pack(content), "a.json")) == (3, [])


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("traces.json", content)
    return file.getvalue()


@pytest.mark.parametrize(
    "pack",
    [
        lambda content: gzip.compress(gzip.compress(content)),
        lambda content: gzip.compress(zstd(content)),
        lambda content: zstd(gzip.compress(content)),
        zipped,
    ],
    ids=["gzip in gzip", "zstd in gzip", "gzip in zstd", "zip"],
)
def test_what_is_to_be_unpacked_first_may_have_held_traces(tmp_path: Path, pack: Any) -> None:
    found, lost = outcome(written(tmp_path, pack(lines(spans(1)))))
    assert (found, lost) == (0, [("unreadable", 1)])


def test_gzip_members_written_one_after_the_other_are_one_file(tmp_path: Path) -> None:
    packed = b"".join(gzip.compress(lines([document])) for document in spans(3))
    assert outcome(written(tmp_path, packed)) == (3, [])


def test_a_broken_line_costs_that_line_and_says_where(tmp_path: Path) -> None:
    first, second = lines(spans(2)).splitlines(keepends=True)
    path = written(tmp_path, first + b"{not json}\n" + second + b"[1,2\n")
    (batch,) = read(path)
    assert len(batch.spans) == 2
    (entry,) = batch.quarantine.to_pylist()
    assert entry == {
        "file": str(path),
        "offset": len(first),
        "reason": "broken_line",
        "detail": "a line that is no JSON",
        "count": 2,
        "names": None,
    }


def test_a_broken_first_line_costs_that_line(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"resourceSpans": [\n' + lines(spans(2)))
    assert outcome(path) == (2, [("broken_line", 1)])


def test_a_last_line_cut_short_is_a_truncated_file(tmp_path: Path) -> None:
    assert outcome(written(tmp_path, lines(spans(3))[:-40])) == (2, [("truncated_file", 1)])
    assert outcome(written(tmp_path, FORMS["one document"][:-9])) == (2, [("truncated_file", 1)])
    indented = FORMS["one indented document"][:-9]
    assert outcome(written(tmp_path, indented)) == (2, [("truncated_file", 1)])


@pytest.mark.parametrize("level", [1, 9])
def test_a_compressed_file_cut_short_gives_what_it_holds(tmp_path: Path, level: int) -> None:
    many = lines([document(span(attributes={"x": os.urandom(4000).hex()})) for _ in range(50)])
    packed = gzip.compress(many, level)
    found, lost = outcome(written(tmp_path, packed[: len(packed) // 2]))
    assert 0 < found < 50
    assert ("truncated_file", 1) in lost


def test_a_damaged_compressed_file_is_put_aside(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(os.urandom(5000)))
    packed[100:200] = os.urandom(100)
    found, lost = outcome(written(tmp_path, bytes(packed)))
    assert found == 0
    assert lost[0][0] in ("broken_compression", "truncated_file", "not_a_trace")


def test_a_bomb_is_put_aside_before_it_fills_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_stream, "FREE_BYTES", 1024 * 1024)
    packed = gzip.compress(b" " * (32 * 1024 * 1024))
    assert outcome(written(tmp_path, packed)) == (0, [("decompression_ratio", 1)])


@pytest.mark.parametrize(
    "bomb", [b"[" * 100_000, b"[" * 5000 + b"]" * 5000, b'{"a":' * 3000 + b"1" + b"}" * 3000]
)
def test_a_nesting_bomb_is_put_aside(tmp_path: Path, bomb: bytes) -> None:
    path = written(tmp_path, bomb + b"\n" + lines(spans(1)))
    assert outcome(path) == (1, [("too_deep", 1)])


def test_an_empty_file_is_an_empty_result(tmp_path: Path) -> None:
    for content in (b"", b"\n\n", gzip.compress(b"")):
        path = written(tmp_path, content)
        assert outcome(path) == (0, [("empty_file", 1)])
        assert outcome(path, strict=True) == (0, [("empty_file", 1)])


@pytest.mark.parametrize(
    "content",
    [b'{"observations": []}', b"[1, 2]", b"hello", b"\x00\x01\x02", b"PK\x03\x04", b'"text"', b"7"],
)
def test_a_file_that_is_no_trace_is_put_aside_with_a_reason(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, content)
    assert outcome(path) == (0, [("not_a_trace", 1)])


def test_strict_mode_raises_where_something_would_be_lost(tmp_path: Path) -> None:
    path = written(tmp_path, b"{not json}\n" + lines(spans(1)))
    with pytest.raises(QuarantineError, match=r"traces\.json at byte 0: broken_line"):
        list(read(path, strict=True))


def test_lone_surrogates_and_nan_do_not_break_a_line(tmp_path: Path) -> None:
    text = orjson.dumps(document(span(attributes={"x": "XX", "y": 1.5}))).replace(b"XX", b"\\ud800")
    path = written(tmp_path, text.replace(b"1.5", b"NaN"))
    (batch,) = read(path)
    assert batch.quarantine.num_rows == 0
    attributes = orjson.loads(batch.spans["attributes"][0].as_py())
    assert attributes == {"x": "?", "y": {"doubleValue": "NaN"}}


def test_a_folder_is_read_to_any_depth_in_the_order_of_paths(tmp_path: Path) -> None:
    one, two, three = lines(spans(3)).splitlines(keepends=True)
    written(tmp_path, three, "b/deep/er/c.jsonl")
    written(tmp_path, gzip.compress(two), "b/a.json.gz")
    written(tmp_path, one, "a.json")
    for name in ("notes.md", ".hidden.json", "_index.jsonl", ".git/x.json", "a.tmp"):
        written(tmp_path, one, name)
    tables = [batch.spans for batch in read(tmp_path)]
    assert pa.concat_tables(tables)["span_id"].to_pylist() == [f"{n:016x}" for n in (1, 2, 3)]


def test_a_folder_is_read_whatever_the_case_of_endings_and_with_rotated_files(
    tmp_path: Path,
) -> None:
    content = lines(spans(4)).splitlines(keepends=True)
    names = ["A.JSONL", "b.jsonl.1", "c.Json-20261130", "d.jsonl.gz.3"]
    for name, line in zip(names, content, strict=True):
        written(tmp_path, gzip.compress(line) if ".gz" in name else line, name)
    assert outcome(tmp_path) == (4, [])
    assert outcome(f"file://{tmp_path}") == (4, [])


def test_files_that_a_folder_holds_and_nobody_reads_are_named(tmp_path: Path) -> None:
    written(tmp_path, lines(spans(1)), "a.json")
    for name in ("sub/trace.txt", "b.log", "README", "policy.yaml", "_SUCCESS", ".x", "c/_d/e.txt"):
        written(tmp_path, b"2026-11-30 10:00:00 up\n", name)
    for source in (tmp_path, f"file://{tmp_path}"):
        (batch,) = read(source, strict=True)
        (row,) = batch.quarantine.to_pylist()
        assert (row["file"], row["reason"], row["count"]) == (str(source), "passed_over", 2)
        assert row["detail"] == "names that end like no format: b.log, sub/trace.txt"


def test_traces_under_a_name_that_ends_like_no_format_are_lost(tmp_path: Path) -> None:
    for name in ("a.json", "b.log", "README"):
        written(tmp_path, lines(spans(1)), name)
    for source in (tmp_path, f"file://{tmp_path}"):
        (batch,) = read(source)
        other, row = sorted(batch.quarantine.to_pylist(), key=lambda each: each["reason"])
        assert (other["reason"], other["count"]) == ("passed_over", 1)
        assert (row["file"], row["reason"]) == (f"{source}/b.log", "unread_form")
        assert row["detail"] == (
            "traces whose name ends like no format: give it by name, or rename it"
        )


def test_a_check_says_which_files_of_a_folder_nobody_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, lines(spans(1)), "runs/a.json")
    written(tmp_path, b"2026-11-30 10:00:00 up\n", "runs/b.txt")
    written(tmp_path, b"version: 1\nrules:\n  - forbid: [rm]\n", "policy.yaml")
    policy = str(tmp_path / "policy.yaml")
    assert trackway(["check", str(tmp_path / "runs"), "--policy", policy]) == 2
    said = capsys.readouterr().err
    runs = tmp_path / "runs"
    assert f"1 file was passed over in {runs}: names that end like no format: b.txt" in said
    assert "could not be read" not in said


def test_a_list_a_pattern_and_standard_input_are_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [written(tmp_path, lines(spans(2)), f"{name}.json") for name in "ab"]
    assert outcome([paths[0], str(paths[1])])[0] == 4
    assert outcome(str(tmp_path / "*.json"))[0] == 4
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(lines(spans(3))))))
    assert outcome("-") == (3, [])


def test_a_wrong_path_says_what_is_there_instead(tmp_path: Path) -> None:
    written(tmp_path, b"", "traces.jsonl")
    with pytest.raises(SourceError, match=r"no such file.*did you mean .*traces\.jsonl"):
        read(tmp_path / "trace.jsonl")
    with pytest.raises(SourceError, match=r"holds traces\.jsonl"):
        read(tmp_path / "zzz")
    with pytest.raises(SourceError, match=r"the path ends at"):
        read(tmp_path / "no" / "such" / "folder")
    with pytest.raises(SourceError, match=r"no file fits the pattern"):
        read(str(tmp_path / "*.pb"))
    with pytest.raises(SourceError, match=r"found an empty list"):
        read([])


def test_a_folder_without_traces_says_what_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"names that end in \.parquet.*there is nothing"):
        read(tmp_path)
    written(tmp_path, b"", "notes.md")
    with pytest.raises(SourceError, match=r"there is notes\.md"):
        read(tmp_path)


def test_unknown_names_list_the_known_ones(tmp_path: Path) -> None:
    path = written(tmp_path, lines(spans(1)))
    with pytest.raises(ValueError, match=r"no format 'xml'; known: .*parquet.*otlp-json"):
        read(path, format="xml")
    with pytest.raises(
        ValueError, match=r"no dialect 'xml'; known: trackway, transcript, openinference"
    ):
        read(path, dialect="xml")


def test_a_forced_dialect_reads_every_span(tmp_path: Path) -> None:
    path = written(tmp_path, lines([document(span(attributes={"gen_ai.tool.name": "f"}))]))
    (batch,) = read(path, dialect="openinference")
    assert batch.spans["source"].to_pylist() == ["openinference"]
    assert batch.spans["tool"].to_pylist() == ["f"]


def test_batches_are_cut_to_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_rows, "BATCH_ROWS", 10)
    written(tmp_path, lines(spans(25)), "a.jsonl")
    written(tmp_path, lines(spans(2)), "b.jsonl")
    assert [len(batch.spans) for batch in read(tmp_path)] == [10, 10, 7]


def test_an_unreadable_file_is_put_aside(tmp_path: Path) -> None:
    good = written(tmp_path, lines(spans(1)), "good.json")
    loop = tmp_path / "loop.json"
    loop.symlink_to(tmp_path / "gone.json")
    found, lost = outcome([good])
    assert (found, lost) == (1, [])
    found, lost = outcome(tmp_path)
    assert (found, lost) == (1, [("unreadable", 1)])


def test_a_url_is_a_source_through_pyarrow_or_fsspec(tmp_path: Path) -> None:
    one, two = lines(spans(2)).splitlines(keepends=True)
    written(tmp_path, one, "a.json")
    written(tmp_path, gzip.compress(two), "b/c.json.gz")
    written(tmp_path, one, "_spool/hidden.json")
    assert outcome(f"file://{tmp_path}")[0] == 2
    assert outcome(f"file://{tmp_path}/a.json")[0] == 1
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe("/traces/a.jsonl", one + b"{broken}\n")
    (batch,) = read("memory://traces")
    assert len(batch.spans) == 1
    assert batch.quarantine["file"].to_pylist() == ["memory://traces/a.jsonl"]


def test_a_wrong_url_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no traces in file://.*there is nothing"):
        read(f"file://{tmp_path}/gone")
    with pytest.raises(SourceError, match="no file system for nowhere://traces"):
        read("nowhere://traces")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a,b,c\n1,2,3\n", "text that begins with 'a,b,c'"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        (b"<html></html>", "HTML or XML"),
        (b"SQLite format 3\0rest", "an SQLite database: export its traces"),
        (b"\x80\x05pickled", "a pickle, which is never opened"),
        (b"key: value\n", "text that begins with 'key: value'"),
        (b'{"a": 1}', "JSON of no known format; its keys are a"),
    ],
)
def test_a_wrong_file_is_named_in_one_sentence(
    content: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "wrong").write_bytes(content)
    (row,) = [row for batch in read(tmp_path / "wrong") for row in batch.quarantine.to_pylist()]
    assert row["reason"] == "not_a_trace"
    assert row["detail"].startswith(sentence)
