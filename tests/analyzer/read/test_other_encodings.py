"""The same spans as protobuf, in the collector's frames, from Jaeger, and with logs beside them."""

import gzip
import sys
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

sys.path.insert(0, str(Path(__file__).parent))
import otlp_text
from otlp_text import SPAN, TRACE, document, lines, span

from trackway_analyzer.read import read
from trackway_analyzer.read.jaeger_json import jaeger_spans, jaeger_traces
from trackway_analyzer.read.otlp_protobuf import protobuf_spans
from trackway_analyzer.read.quarantine import Quarantine

FRAMEWORKS = Path(__file__).parents[2] / "data" / "frameworks"
RECORDED = sorted(FRAMEWORKS.glob("*/fail.json"))


def outcome(source: Any, **options: Any) -> tuple[list[dict[str, Any]], list[tuple[str, int]]]:
    """Rows, and reason and count of everything that was put aside."""
    rows, lost = [], []
    for batch in read(source, **options):
        rows += batch.spans.to_pylist()
        lost += [(row["reason"], row["count"]) for row in batch.quarantine.to_pylist()]
    return rows, lost


def protobuf(found: dict[str, Any]) -> bytes:
    """A document as protobuf; protobuf's JSON wants its ids in base64."""
    text = orjson.dumps(found)
    for name in (b"traceId", b"spanId", b"parentSpanId"):
        text = _in_base64(text, name)
    message = json_format.Parse(text, TracesData(), ignore_unknown_fields=True)
    return bytes(message.SerializeToString())


def _in_base64(text: bytes, name: bytes) -> bytes:
    import base64
    import re

    def encoded(match: "re.Match[bytes]") -> bytes:
        return match[1] + base64.b64encode(bytes.fromhex(match[2].decode())) + b'"'

    return re.sub(b'("' + name + b'":")([0-9a-fA-F]+)"', encoded, text)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_protobuf_and_json_of_one_trace_are_equal_rows(tmp_path: Path, path: Path) -> None:
    twin = tmp_path / "twin.pb"
    twin.write_bytes(protobuf(orjson.loads(path.read_bytes())))
    assert outcome(twin) == outcome(path)
    (tmp_path / "twin.pb.gz").write_bytes(gzip.compress(twin.read_bytes()))
    assert outcome(tmp_path / "twin.pb.gz") == outcome(path)


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4) + body


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


DOCUMENTS = [document(span(spanId=f"{number:016x}")) for number in (1, 2, 3)]
FRAMED = {
    "protobuf": b"".join(frame(protobuf(found)) for found in DOCUMENTS),
    "protobuf in zstd": b"".join(frame(zstd(protobuf(found))) for found in DOCUMENTS),
    "json in zstd": b"".join(frame(zstd(orjson.dumps(found))) for found in DOCUMENTS),
    "json": b"".join(frame(orjson.dumps(found)) for found in DOCUMENTS),
}


@pytest.mark.parametrize("content", FRAMED.values(), ids=FRAMED.keys())
def test_the_collectors_frames_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    rows, lost = outcome(tmp_path)
    assert [row["span_id"] for row in rows] == [f"{number:016x}" for number in (1, 2, 3)]
    assert not lost


@pytest.mark.parametrize("content", FRAMED.values(), ids=FRAMED.keys())
def test_a_last_frame_cut_short_is_a_truncated_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content[:-5])
    rows, lost = outcome(tmp_path)
    assert len(rows) == 2
    assert lost == [("truncated_file", 1)]


def test_a_broken_frame_costs_itself(tmp_path: Path) -> None:
    first, second, third = (frame(zstd(protobuf(found))) for found in DOCUMENTS)
    damaged = frame(second[4:14] + b"\xff" * 40)
    (tmp_path / "a.pb").write_bytes(first + damaged + frame(b"{oops") + third)
    rows, lost = outcome(tmp_path)
    assert len(rows) == 2
    assert lost == [("broken_compression", 1), ("broken_line", 1)]


def test_bytes_that_are_no_message_are_put_aside(tmp_path: Path) -> None:
    (tmp_path / "a.pb").write_bytes(b"\n\xff\xff\xff\xff garbage")
    assert outcome(tmp_path) == ([], [("not_a_trace", 1)])
    assert outcome(tmp_path, format="otlp-protobuf") == ([], [("not_a_trace", 1)])


def test_a_value_nested_too_deep_in_protobuf_costs_itself_or_its_message(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(30):
        deep = [deep]
    (tmp_path / "a.pb").write_bytes(protobuf(document(span(attributes={"deep": deep}))))
    rows, lost = outcome(tmp_path)
    assert orjson.loads(rows[0]["attributes"]) == {"deep": deep}
    assert not lost


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 255))
def test_no_bytes_raise(junk: bytes, place: int, value: int) -> None:
    good = bytearray(FRAMED["protobuf"][4:500])
    good[place % len(good)] = value
    for content in (junk, bytes(good), b"\n" + junk):
        for found in protobuf_spans(content, Quarantine("file"), 0) or ():
            assert len(found.trace_id) == 32


JAEGER = {
    "data": [
        {
            "traceID": TRACE,
            "processes": {
                "p1": {
                    "serviceName": "shop",
                    "tags": [{"key": "team", "type": "string", "value": "a"}],
                }
            },
            "spans": [
                {
                    "traceID": TRACE.lstrip("0"),
                    "spanID": SPAN,
                    "operationName": "execute_tool f",
                    "processID": "p1",
                    "startTime": 1_700_000_000_000_000,
                    "duration": 250,
                    "references": [
                        {"refType": "CHILD_OF", "traceID": TRACE, "spanID": "a1"},
                        {"refType": "FOLLOWS_FROM", "traceID": "b" * 32, "spanID": "b" * 16},
                    ],
                    "tags": [
                        {"key": "gen_ai.operation.name", "type": "string", "value": "execute_tool"},
                        {"key": "gen_ai.tool.name", "type": "string", "value": "f"},
                        {"key": "n", "type": "int64", "value": 3},
                        {"key": "raw", "type": "binary", "value": "aGk="},
                        {"key": "span.kind", "type": "string", "value": "client"},
                        {"key": "otel.scope.name", "type": "string", "value": "some.instrumentor"},
                        {"key": "otel.status_code", "type": "string", "value": "ERROR"},
                        {"key": "otel.status_description", "type": "string", "value": "kaput"},
                        {"key": "error", "type": "bool", "value": True},
                    ],
                    "logs": [
                        {
                            "timestamp": 1_700_000_000_000_100,
                            "fields": [
                                {"key": "event", "type": "string", "value": "exception"},
                                {"key": "exception.type", "type": "string", "value": "ValueError"},
                            ],
                        }
                    ],
                }
            ],
        }
    ]
}


@pytest.mark.parametrize("found", [JAEGER, JAEGER["data"][0]], ids=["export", "one trace"])
def test_a_jaeger_trace_is_read(tmp_path: Path, found: Any) -> None:
    (tmp_path / "a.json").write_bytes(orjson.dumps(found))
    (row,), lost = outcome(tmp_path)
    assert not lost
    assert (row["trace_id"], row["span_id"], row["parent_span_id"]) == (TRACE, SPAN, f"{0xA1:016x}")
    assert (row["service"], row["scope"], row["kind"]) == ("shop", "some.instrumentor", "CLIENT")
    assert (row["status"], row["error_type"], row["error_message"]) == (
        "ERROR",
        "ValueError",
        "kaput",
    )
    assert (row["operation"], row["tool"]) == ("tool", "f")
    assert (row["end"] - row["start"]).microseconds == 250
    assert [link["trace_id"] for link in row["links"]] == ["b" * 32]
    assert orjson.loads(row["attributes"]) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "f",
        "n": 3,
        "raw": {"bytesValue": "aGk="},
        "error": True,
    }
    assert orjson.loads(row["resource"]) == {"team": "a", "service.name": "shop"}


def test_a_broken_jaeger_span_costs_itself(tmp_path: Path) -> None:
    spans = [*JAEGER["data"][0]["spans"], {"spanID": "zz"}, 7]
    (tmp_path / "a.json").write_bytes(
        orjson.dumps({"data": [{"traceID": TRACE, "spans": spans}, 1]})
    )
    rows, lost = outcome(tmp_path)
    assert len(rows) == 1
    assert lost == [("broken_span", 2), ("broken_span", 1)]


KEYS = """traceID spanID spans tags key value logs fields references processes processID startTime
duration data type""".split()  # noqa: SIM905

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_no_jaeger_document_raises(found: Any) -> None:
    for traces in (jaeger_traces(found), jaeger_traces({"traceID": TRACE, "spans": [found]})):
        for item in jaeger_spans(traces or [], Quarantine("file"), 0):
            assert len(item.span_id) == 16


def record(name: str, content: str, **fields: Any) -> dict[str, Any]:
    body = otlp_text.any_value({"content": content})
    return {"eventName": name, "timeUnixNano": "4", "body": body, **fields}


def logs(*records: dict[str, Any]) -> dict[str, Any]:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
ASKED = record("gen_ai.user.message", "Hi", traceId=TRACE, spanId=SPAN)
SAID = record(
    "gen_ai.choice",
    "",
    traceId=TRACE,
    spanId=SPAN,
    body=otlp_text.any_value({"index": 0, "message": {"role": "assistant", "content": "Hello"}}),
)
READ = (
    '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
    '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}]}]',
)


def test_messages_in_log_records_of_the_same_document_are_the_spans(tmp_path: Path) -> None:
    found = document(span(attributes=CHAT)) | logs(ASKED, SAID)
    (tmp_path / "a.json").write_bytes(orjson.dumps(found))
    (row,), lost = outcome(tmp_path)
    assert (row["input"], row["output"]) == READ
    assert not lost


@pytest.mark.parametrize("name", ["z.logs.json", "a.logs.jsonl.gz"])
def test_messages_in_log_files_are_joined_whatever_the_order_of_names(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "m.json").write_bytes(orjson.dumps(document(span(attributes=CHAT))))
    content = lines([logs(ASKED), logs(SAID)])
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    (row,), lost = outcome(tmp_path)
    assert (row["input"], row["output"]) == READ
    assert not lost


def test_records_without_a_span_id_belong_to_the_only_model_call(tmp_path: Path) -> None:
    records = [{**item, "spanId": ""} for item in (ASKED, SAID)]
    agent = span(spanId="a" * 16, attributes={"gen_ai.operation.name": "invoke_agent"})
    found = document(agent, span(attributes=CHAT)) | logs(*records)
    (tmp_path / "a.json").write_bytes(orjson.dumps(found))
    rows, lost = outcome(tmp_path)
    assert [(row["input"], row["output"]) for row in rows] == [(None, None), READ]
    assert not lost


def test_records_that_name_the_span_around_the_only_model_call_are_the_calls(
    tmp_path: Path,
) -> None:
    chain = "a" * 16
    records = [{**item, "spanId": chain} for item in (ASKED, SAID)]
    wrapper = span(spanId=chain, attributes={"gen_ai.operation.name": "chain"})
    inner = span(attributes=CHAT) | {"parentSpanId": chain}
    (tmp_path / "a.json").write_bytes(orjson.dumps(document(inner, wrapper) | logs(*records)))
    rows, lost = outcome(tmp_path)
    assert [(row["input"], row["output"]) for row in rows if row["operation"] == "llm"] == [READ]
    assert not lost


def test_records_of_a_span_around_several_model_calls_stay_there(tmp_path: Path) -> None:
    chain = "a" * 16
    records = [{**item, "spanId": chain} for item in (ASKED, SAID)]
    wrapper = span(spanId=chain, attributes={"gen_ai.operation.name": "chain"})
    inner = [span(spanId=letter * 16, attributes=CHAT) | {"parentSpanId": chain} for letter in "bc"]
    (tmp_path / "a.json").write_bytes(orjson.dumps(document(*inner, wrapper) | logs(*records)))
    rows, lost = outcome(tmp_path)
    assert {row["input"] for row in rows if row["operation"] == "llm"} == {None}
    assert [len(row["events"] or ()) for row in rows] == [0, 0, 2]
    assert not lost


def test_events_that_name_a_role_and_nothing_else_are_no_messages(tmp_path: Path) -> None:
    bare = {key: value for key, value in ASKED.items() if key != "body"}
    (tmp_path / "a.json").write_bytes(orjson.dumps(document(span(attributes=CHAT)) | logs(bare)))
    (row,), _ = outcome(tmp_path)
    assert row["input"] is None


@pytest.mark.parametrize("key", ["event.name", "otel.event.name"])
def test_the_name_of_a_record_may_stand_in_an_attribute(tmp_path: Path, key: str) -> None:
    named = {field: value for field, value in ASKED.items() if field != "eventName"}
    named["attributes"] = otlp_text.attributes({key: "gen_ai.user.message"})
    found = document(span(attributes=CHAT)) | logs(named, SAID)
    (tmp_path / "a.json").write_bytes(orjson.dumps(found))
    (row,), _ = outcome(tmp_path)
    assert (row["input"], row["output"]) == READ


def test_records_that_may_belong_to_several_calls_are_put_aside(tmp_path: Path) -> None:
    records = [{**item, "spanId": ""} for item in (ASKED, SAID)]
    found = document(span(attributes=CHAT), span(spanId="a" * 16, attributes=CHAT)) | logs(*records)
    (tmp_path / "a.json").write_bytes(orjson.dumps(found))
    rows, lost = outcome(tmp_path)
    assert [row["input"] for row in rows] == [None, None]
    assert lost == [("unjoined_log", 2)]


def test_records_about_other_things_are_no_loss(tmp_path: Path) -> None:
    found = document(span()) | logs(record("request.started", "x", traceId=TRACE), {"body": {}})
    (tmp_path / "a.json").write_bytes(orjson.dumps(found))
    rows, lost = outcome(tmp_path)
    assert len(rows) == 1
    assert {reason for reason, _ in lost} == {"unread_words"}  # for whoever asks about such a tool


def test_metrics_are_no_trace(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"resourceMetrics": []}')
    assert outcome(tmp_path) == ([], [("not_a_trace", 1)])


@pytest.mark.parametrize(
    ("tag", "status"),
    [
        ({"type": "string", "value": "true"}, "ERROR"),
        ({"type": "string", "value": "True"}, "ERROR"),
        ({"type": "bool", "value": True}, "ERROR"),
        ({"type": "string", "value": "false"}, "UNSET"),
        ({"type": "bool", "value": False}, "UNSET"),
        ({"type": "string", "value": ""}, "UNSET"),
    ],
)
def test_jaegers_tag_error_is_a_failure_whatever_its_type(
    tag: dict[str, Any], status: str, tmp_path: Path
) -> None:
    span = JAEGER["data"][0]["spans"][0]
    tags = [each for each in span["tags"] if not each["key"].startswith(("otel.status", "error"))]
    changed = span | {"tags": [*tags, {"key": "error", **tag}]}
    (tmp_path / "a.json").write_bytes(orjson.dumps(JAEGER["data"][0] | {"spans": [changed]}))
    ((row,), _) = outcome(tmp_path)
    assert row["status"] == status


@pytest.mark.parametrize("wrap", [dict, lambda span: {"_index": "i", "_source": span}])
def test_spans_of_jaegers_store_are_read_one_a_line(wrap: Any, tmp_path: Path) -> None:
    trace = JAEGER["data"][0]
    span = {**trace["spans"][0], "process": next(iter(trace["processes"].values()))}
    below = span | {"spanID": "b2", "references": [], "parentSpanID": span["spanID"]}
    lines = [orjson.dumps(wrap(each)) for each in (span, below)]
    (tmp_path / "a.json").write_bytes(b"\n".join(lines))
    rows, lost = outcome(tmp_path)
    assert not lost
    assert [row["service"] for row in rows] == ["shop", "shop"]
    assert [row["parent_span_id"] for row in rows] == [f"{0xA1:016x}", SPAN]


def stored(**fields: Any) -> dict[str, Any]:
    trace = JAEGER["data"][0]
    span = {**trace["spans"][0], "process": next(iter(trace["processes"].values()))}
    return span | fields


def test_tags_that_a_store_of_jaegers_keeps_as_fields_are_read(tmp_path: Path) -> None:
    fields = {"gen_ai@operation@name": "execute_tool", "gen_ai@tool@name": "f", "n": 3}
    process = {"serviceName": "shop", "tags": [], "tag": {"host@name": "a"}}
    span = stored(tags=[], tag=fields | {"otel@status_code": "ERROR"}, process=process)
    (tmp_path / "a.jsonl").write_bytes(orjson.dumps(span))
    (row,), lost = outcome(tmp_path)
    assert not lost
    assert (row["operation"], row["tool"], row["status"]) == ("tool", "f", "ERROR")
    assert orjson.loads(row["attributes"])["n"] == 3
    assert orjson.loads(row["resource"]) == {"service.name": "shop", "host.name": "a"}


@pytest.mark.parametrize(
    "fields",
    [
        {"tags": [], "tagMap": {"gen_ai.tool.name": "f"}},
        {"tags": '[{"key": "gen_ai.tool.name"}]'},
        {"tags": ["gen_ai.tool.name=f"]},
        {"tags": [{"name": "gen_ai.tool.name", "value": "f"}]},
        {"tags": [{"key": "gen_ai.tool.name", "type": "string", "vStr": "f"}]},
        {"logs": "gone"},
    ],
)
def test_what_a_span_of_jaegers_holds_and_is_not_read_is_put_aside(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    (tmp_path / "a.jsonl").write_bytes(orjson.dumps(stored(**fields)))
    rows, lost = outcome(tmp_path)
    assert len(rows) == 1
    assert lost == [("broken_value", 1)]


def test_what_jaegers_mapping_says_was_dropped_is_read(tmp_path: Path) -> None:
    dropped = [
        {"key": f"otel.dropped_{what}_count", "type": "int64", "value": count}
        for what, count in (("attributes", 7), ("events", 5), ("links", 3))
    ]
    (tmp_path / "a.jsonl").write_bytes(orjson.dumps(stored(tags=dropped)))
    (row,), _ = outcome(tmp_path)
    counts = ("dropped_attributes", "dropped_events", "dropped_links")
    assert [row[name] for name in counts] == [7, 5, 3]
