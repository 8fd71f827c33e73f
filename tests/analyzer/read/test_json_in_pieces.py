"""JSON that is not one document and not one a line costs what is broken in it, and no more."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from otlp_text import document, span

from trackway_analyzer.read import read
from trackway_analyzer.read.json_pieces import pieces

DOCUMENTS = [document(span(spanId=f"{number:016x}")) for number in (1, 2, 3)]
TEXTS = [json.dumps(each).encode() for each in DOCUMENTS]
INDENTED = [json.dumps(each, indent=4).encode() for each in DOCUMENTS]
SIMPLE: dict[str, Any] = {
    "name": "execute_tool look",
    "context": {"trace_id": "0x" + "1" * 32, "span_id": "0x" + "2" * 16, "trace_state": "[]"},
    "kind": "SpanKind.INTERNAL",
    "parent_id": None,
    "start_time": "2026-01-01T00:00:01.000000Z",
    "end_time": "2026-01-01T00:00:02.000000Z",
    "status": {"status_code": "UNSET"},
    "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"},
    "events": [],
    "links": [],
    "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
}


def outcome(folder: Path, content: bytes) -> tuple[list[str], list[tuple[str, int]]]:
    """Last digits of the spans' ids, and reason and count of what was put aside."""
    path = folder / "traces.json"
    path.write_bytes(content)
    found: list[str] = []
    lost: list[tuple[str, int]] = []
    for batch in read(path):
        found += [span_id[-1] for span_id in batch.spans["span_id"].to_pylist()]
        lost += [(row["reason"], row["count"]) for row in batch.quarantine.to_pylist()]
    return found, lost


WHOLE = {
    "one after the other": b"".join(TEXTS),
    "with blanks between": b"  \t".join(TEXTS),
    "a comma after each line": b",\n".join([*TEXTS, b""]),
    "commas between, no lines": b", ".join(TEXTS),
    "record separators": b"".join(b"\x1e" + text + b"\n" for text in TEXTS),
    "record separators without line ends": b"".join(b"\x1e" + text for text in TEXTS),
    "indented, one after the other": b"\n".join(INDENTED),
    "indented, without a line end between": b"".join(INDENTED),
    "indented, with a BOM": b"\xef\xbb\xbf" + b"\n".join(INDENTED),
    "a list with one item a line": b"[\n" + b",\n".join(TEXTS) + b"\n]\n",
    "two on the second line": TEXTS[0] + b"\n" + TEXTS[1] + TEXTS[2] + b"\n",
}


@pytest.mark.parametrize("content", WHOLE.values(), ids=WHOLE.keys())
def test_documents_that_stand_one_after_the_other_are_all_read(
    tmp_path: Path, content: bytes
) -> None:
    assert outcome(tmp_path, content) == (["1", "2", "3"], [])


def test_a_list_of_one_item_on_a_line_of_its_own_is_a_list(tmp_path: Path) -> None:
    assert outcome(tmp_path, b"[\n" + TEXTS[0] + b"\n]\n") == (["1"], [])


@pytest.mark.parametrize(
    "content",
    [
        b"[" + TEXTS[0] + b",\n" + TEXTS[1] + b"\n]\n",
        b"[" + TEXTS[0] + b",\n" + TEXTS[1] + b"\n\n]",
        b"[" + TEXTS[0] + b"\n," + TEXTS[1] + b"\n]\n",
    ],
)
def test_a_list_whose_second_line_is_json_by_itself_is_one_document(
    tmp_path: Path, content: bytes
) -> None:
    assert outcome(tmp_path, content) == (["1", "2"], [])


_TOKENS = re.compile(rb'"[^"]*"|[{}\[\],:]|[^"{}\[\],:]+')


@given(st.data())
def test_a_document_is_one_however_its_lines_are_broken(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = b"[" + TEXTS[0] + b", " + TEXTS[1] + b"]"
    tokens = _TOKENS.findall(content)
    assert b"".join(tokens) == content
    ends = data.draw(st.sets(st.integers(0, len(tokens) - 1), max_size=6))
    broken = b"".join(
        token + (b"\n" if place in ends else b"") for place, token in enumerate(tokens)
    )
    assert outcome(tmp_path_factory.mktemp("broken"), broken) == (["1", "2"], [])


def test_a_first_line_that_is_cut_costs_itself(tmp_path: Path) -> None:
    cut = TEXTS[2][: TEXTS[2].index(b'"spans"')]
    content = b"\n".join([cut, TEXTS[0], TEXTS[1], b""])
    assert outcome(tmp_path, content) == (["1", "2"], [("broken_line", 1)])


BROKEN = {
    "a cut list": (b"[" + b", ".join(TEXTS[:2]) + b", " + TEXTS[2][:90], "truncated_file"),
    "a cut list on the last line": (
        *(TEXTS[0] + b"\n[" + TEXTS[1] + b"," + TEXTS[2][:90], "truncated_file"),
    ),
    "a broken item of a list": (
        *(b"[" + b", ".join([TEXTS[0], b"{,}", TEXTS[1]]) + b"]", "broken_line"),
    ),
    "the last of several is cut": (TEXTS[0] + TEXTS[1] + TEXTS[2][:90], "truncated_file"),
    "the last of indented ones is cut": (
        *(b"\n".join([*INDENTED[:2], INDENTED[2][:90]]), "truncated_file"),
    ),
    "the middle of indented ones is broken": (
        *(b"\n".join([INDENTED[0], b"{\n  1\n}", INDENTED[1]]), "broken_line"),
    ),
    "words between indented ones": (INDENTED[0] + b"\nI'm done\n" + INDENTED[1], "broken_line"),
    "a broken line behind commas": (TEXTS[0] + b",\n" + TEXTS[1] + b",\n{,},\n", "broken_line"),
}


@pytest.mark.parametrize(("content", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_among_documents_costs_itself(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    assert outcome(tmp_path, content) == (["1", "2"], [(reason, 1)])


@pytest.mark.parametrize("around", ["line", "list", "indented", "first of two", "both"])
def test_a_byte_that_is_no_utf8_costs_its_value(tmp_path: Path, around: str) -> None:
    told = document(span(attributes={"note": "na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve"}))
    text = json.dumps(told, ensure_ascii=False).encode("latin-1")
    indented = json.dumps(told, ensure_ascii=False, indent=1).encode("latin-1")
    content = {
        "line": text + b"\n",
        "list": b"[" + text + b"]",
        "indented": indented,
        "first of two": text + b"\n" + TEXTS[0] + b"\n",
        "both": text + b"\n" + text + b"\n",
    }[around]
    path = tmp_path / "traces.json"
    path.write_bytes(content)
    (batch,) = read(path)
    assert orjson.loads(batch.spans["attributes"][0].as_py()) == {
        "note": "na\N{REPLACEMENT CHARACTER}ve"
    }
    rows = batch.quarantine.to_pylist()
    assert {(row["reason"], row["detail"]) for row in rows} == {
        ("broken_value", "bytes that are no UTF-8, replaced")
    }
    assert sum(row["count"] for row in rows) == (2 if around == "both" else 1)


@pytest.mark.parametrize("time", [b"9" * 400, b"1e999", b"-" + b"9" * 5000])
def test_a_number_that_no_machine_holds_costs_its_value(tmp_path: Path, time: bytes) -> None:
    text = TEXTS[0].replace(b'"1700000000000000001"', time)
    assert text != TEXTS[0]
    assert outcome(tmp_path, text + b"\n") == (["1"], [("no_start_time", 1)])


def test_a_control_character_in_a_text_is_read(tmp_path: Path) -> None:
    told = json.dumps(document(span(attributes={"note": "a|b"}))).encode().replace(b"|", b"\x01")
    assert outcome(tmp_path, told + b"\n")[1] == []


def test_what_the_console_exporter_prints_is_read(tmp_path: Path) -> None:
    other = SIMPLE | {"context": SIMPLE["context"] | {"span_id": "0x" + "3" * 16}}
    text = "\n".join(json.dumps(each, indent=4) for each in (SIMPLE, other))
    assert outcome(tmp_path, text.encode() + b"\n") == (["2", "3"], [])


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
documents = st.lists(st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3))


@given(
    documents, st.sampled_from(["", "\n", ",", ",\n", "\x1e", " \n\n"]), st.sampled_from([None, 2])
)
def test_whatever_stands_one_after_the_other_comes_apart_again(
    told: Sequence[Any], between: str, indent: int | None
) -> None:
    text = between.join(json.dumps(each, indent=indent) for each in told).encode()
    found = pieces(text, 7)
    assert [each for _, each in found.documents] == list(told)
    assert found.losses == []
    for offset, each in found.documents:
        assert text[offset - 7 :].startswith(json.dumps(each, indent=indent).encode())


@given(documents.filter(bool), st.data())
def test_a_cut_text_keeps_what_stands_before_the_cut(told: Sequence[Any], data: Any) -> None:
    texts = [json.dumps(each).encode() for each in told]
    last = data.draw(st.integers(1, len(texts[-1]) - 1))
    found = pieces(b"".join(texts[:-1]) + texts[-1][:last], 0)
    assert [each for _, each in found.documents][: len(told) - 1] == list(told[:-1])
    assert found.losses[-1][0] == "truncated_file"


@given(st.binary(max_size=200).map(lambda text: text.replace(b"0", b'{"a":[')))
def test_no_bytes_break_it(text: bytes) -> None:
    found = pieces(text, 0)
    assert 0 <= found.taken <= len(text)
