"""Documents of the usual form are read by type, others by key: nobody can tell the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.dialects import span_reader
from trackway_analyzer.read.otlp_json import spans_of
from trackway_analyzer.read.otlp_levels import resource_groups
from trackway_analyzer.read.otlp_usual import usual_document, usual_spans
from trackway_analyzer.read.quarantine import Quarantine, Quarantined
from trackway_analyzer.read.span_rows import converted
from trackway_analyzer.written import WrittenAttributes, is_written

DATA = Path(__file__).parents[2] / "data"
SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "name": "chat",
    "startTimeUnixNano": "1700000000000000000",
    "attributes": [{"key": "gen_ai.request.model", "value": {"stringValue": "m"}}],
}


def document(*spans: dict[str, Any], **members: Any) -> dict[str, Any]:
    scope = {"scope": {"name": "demo", "version": "1"}, "spans": list(spans)}
    return {"resourceSpans": [{"scopeSpans": [scope], **members}]}


def by_type(text: bytes) -> tuple[pa.Table, tuple[Quarantined, ...]]:
    quarantine = Quarantine("file")
    found = usual_document(text)
    assert found is not None
    return converted(usual_spans(found, quarantine, 0), span_reader()), quarantine.take()


def by_key(text: bytes) -> tuple[pa.Table, tuple[Quarantined, ...]]:
    quarantine = Quarantine("file")
    groups = resource_groups(orjson.loads(text))
    assert groups is not None
    return converted(spans_of(groups, quarantine, 0), span_reader()), quarantine.take()


RECORDED = [
    path
    for path in sorted(DATA.rglob("*.json"))
    if usual_document(path.read_bytes().strip()) is not None
]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recorded_documents_are_the_same_by_type_and_by_key(path: Path) -> None:
    text = path.read_bytes().strip()
    assert by_type(text) == by_key(text)


def test_most_of_what_sdks_write_is_usual() -> None:
    assert len(RECORDED) >= 15


VALUES: tuple[Any, ...] = (
    {"stringValue": 'quotes " \\ / and \t lines \n é 𝄞 \x7f'},
    {"stringValue": ""},
    {"stringValue": None},
    {"stringValue": 7},
    {"intValue": "12"},
    {"intValue": 2**63},
    {"intValue": "many"},
    {"doubleValue": 1.5},
    {"doubleValue": "NaN"},
    {"boolValue": "true"},
    {"bytesValue": "aGk="},
    {"arrayValue": {"values": [{"stringValue": "a"}, {}, {"intValue": 1}]}},
    {"arrayValue": {"values": [7]}},
    {"kvlistValue": {"values": [{"key": "a", "value": {"stringValue": "b"}}]}},
    {"kvlistValue": {"values": [{"key": "bytesValue", "value": {"stringValue": "b"}}]}},
    {},
)


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_value_of_any_form_is_the_same(value: Any, ascii_only: bool) -> None:
    other = {"key": "other", "value": {"stringValue": "x"}}
    span = SPAN | {"attributes": [other, {"key": "50%", "value": value}, other | {"key": "é"}]}
    text = json.dumps(document(span), ensure_ascii=ascii_only).encode()
    for written in (text, text.replace(b"/", rb"\/")):
        assert by_type(written) == by_key(written)


def test_a_key_that_comes_twice_keeps_its_last_value_that_is_whole() -> None:
    pairs: list[Any] = [{"stringValue": "a"}, {"stringValue": "b"}, {"intValue": "many"}]
    span = SPAN | {"attributes": [{"key": "k", "value": value} for value in pairs]}
    text = orjson.dumps(document(span))
    assert by_type(text) == by_key(text)
    assert json.loads(by_type(text)[0]["attributes"][0].as_py()) == {"k": "b"}


@pytest.mark.parametrize(
    "change",
    [
        {"traceId": ""},
        {"spanId": "0" * 16},
        {"traceId": "W47/95gDgQPSabYzgT/GDA=="},
        {"startTimeUnixNano": "0"},
        {"startTimeUnixNano": 1700000000000000000, "endTimeUnixNano": "x"},
        {"kind": "SPAN_KIND_CLIENT", "status": {"code": 2, "message": "no"}},
        {"kind": 3, "status": None, "flags": 257, "droppedAttributesCount": 2},
        {"events": [{"name": "exception", "timeUnixNano": "5", "attributes": []}]},
        {"links": [{"traceId": "f" * 32, "spanId": "e" * 16, "flags": 1}]},
        {"attributes": None},
    ],
    ids=str,
)
def test_a_span_of_any_kind_is_the_same(change: dict[str, Any]) -> None:
    members: dict[str, Any] = {
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "schemaUrl": "https://example.org/1",
    }
    text = orjson.dumps(document(SPAN | change, SPAN, **members))
    assert by_type(text) == by_key(text)


@pytest.mark.parametrize(
    "text",
    [
        orjson.dumps({"resource_spans": []}),
        orjson.dumps(document({"trace_id": "5b8e"})),
        orjson.dumps(document(SPAN | {"unheardOf": 1})),
        orjson.dumps(
            document(SPAN | {"attributes": [{"key": "a", "value": {"string_value": ""}}]})
        ),
        orjson.dumps(document(SPAN) | {"resourceLogs": []}),
        orjson.dumps(document(SPAN))[:-1],
        orjson.dumps(document(SPAN)).replace(b"chat", b"\xff"),
        orjson.dumps(document(SPAN)).replace(b"chat", rb"\ud800"),
        b'{"resourceSpans": ' + b"[" * 5000,
    ],
    ids=range(9),
)
def test_any_other_document_is_left_to_the_general_reader(text: bytes) -> None:
    assert usual_document(text) is None


@given(st.text(), st.booleans())
def test_what_is_called_written_is_as_orjson_writes_it(text: str, ascii_only: bool) -> None:
    try:
        literal = json.dumps(text, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:
        return
    for json_text in (literal, literal.replace(b"/", rb"\/"), b"[%b]" % literal):
        if is_written(json_text) and ascii_only is False:
            assert orjson.dumps(orjson.loads(json_text)) == json_text
        if rb"\/" in json_text.replace(rb"\\", b""):
            assert not is_written(json_text)


def test_written_attributes_are_a_dict_of_decoded_values() -> None:
    def made() -> WrittenAttributes:
        return WrittenAttributes({"a": b'"x\\n"', "b": 3}, ("a", "b"), b"")

    plain = {"a": "x\n", "b": 3}
    assert made() == plain == dict(made()) == {**made()} == made().copy()
    assert list(made().items()) == list(plain.items())
    assert list(made().values()) == list(plain.values())
    assert made() | {"c": 1} == plain | {"c": 1}
    assert {"c": 1} | made() == {"c": 1} | plain
    attributes = made()
    assert attributes.literal("a") == b'"x\\n"'
    assert attributes.get("a") == "x\n"
    assert attributes.literal("a") == "x\n"
    assert attributes.get("c", 5) == 5
