"""What leaves the process holds no secret and keeps to the limits, whoever wrote it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import Link, SpanContext, Status, StatusCode

from sdk.export.sdk_values import needs_mappings
from span_rows import attributes_of
from trackway.capture import Limits, redactor
from trackway.export.clean import Cleaner
from trackway.export.parquet import ParquetSpanExporter
from trackway.export.size import size_of

SECRET = "sk-proj-Zk3v9Qm2Lw8Xr5Tn7Bc1Jd4Hf6Gy0Pq"
FOREIGN = "openinference.instrumentation.openai"


def span_of(
    attributes: Mapping[str, Any] | None = None,
    *,
    scope: str = FOREIGN,
    resource: Mapping[str, Any] | None = None,
    links: list[Link] | None = None,
    event: Mapping[str, Any] | None = None,
    status: str | None = None,
    name: str = "call",
) -> ReadableSpan:
    named = {"service.name": "refunds", **(resource or {})}
    tracer = TracerProvider(resource=Resource(named), shutdown_on_exit=False).get_tracer(scope)
    span = tracer.start_span(name, attributes=attributes, links=links)
    if event is not None:
        span.add_event("exception", event)
    if status is not None:
        span.set_status(Status(StatusCode.ERROR, status))
    span.end()
    assert isinstance(span, ReadableSpan)
    return span


def through_cleaner(span: ReadableSpan, cleaner: Cleaner, _folder: Path) -> dict[str, Any]:
    return dict(cleaner.clean(span).attributes or {})


def through_parquet(span: ReadableSpan, cleaner: Cleaner, folder: Path) -> dict[str, Any]:
    return attributes_of(row_of(span, cleaner, folder))


def row_of(span: ReadableSpan, cleaner: Cleaner, folder: Path) -> dict[str, Any]:
    exporter = ParquetSpanExporter(folder, cleaner=cleaner)
    exporter.export([span])
    exporter.shutdown()
    (path,) = folder.rglob("*.parquet")
    (row,) = pq.ParquetFile(path).read().to_pylist()
    return dict(row)


Way = Callable[[ReadableSpan, Cleaner, Path], dict[str, Any]]
BOTH_WAYS = pytest.mark.parametrize("way", [through_cleaner, through_parquet])


@BOTH_WAYS
@pytest.mark.parametrize(
    ("attributes", "clean"),
    [
        (
            {"llm.input": f"use {SECRET} please"},
            {"llm.input": "use [redacted:api_key] please", "trackway.redacted": ("llm.input",)},
        ),
        (
            {"http.request.header.authorization": "Basic dXNlcjpwYXNz"},
            {
                "http.request.header.authorization": "[redacted:key_name]",
                "trackway.redacted": ("http.request.header.authorization",),
            },
        ),
        pytest.param(
            {"nested": {"deep": [{"password": "hunter2", "note": "ok"}]}},
            {
                "nested": {"deep": ({"password": "[redacted:key_name]", "note": "ok"},)},
                "trackway.redacted": ("nested",),
            },
            marks=needs_mappings,
        ),
        (
            {"list": ("fine", f"Bearer {SECRET}")},
            {"list": ("fine", "Bearer [redacted:api_key]"), "trackway.redacted": ("list",)},
        ),
        ({"app.sshKey": True, "max_tokens": 12}, {"app.sshKey": True, "max_tokens": 12}),
        (
            {"llm.tokens": 12, "tests.pass": 3, "compass": "N", "gen_ai.usage.input_tokens": 5},
            {"llm.tokens": 12, "tests.pass": 3, "compass": "N", "gen_ai.usage.input_tokens": 5},
        ),
    ],
    ids=["text", "key name", "nested key", "list", "nothing to hide", "counts"],
)
def test_foreign_attributes_are_redacted_and_say_so(
    tmp_path: Path, way: Way, attributes: dict[str, Any], clean: dict[str, Any]
) -> None:
    found = way(span_of(attributes), Cleaner(), tmp_path)
    assert re.sub("authorization]", "api_key]", repr(found)) == repr(clean)


@pytest.mark.parametrize(
    "place",
    [
        {"attributes": {"a": SECRET}},
        {"attributes": {"a": f'{{"k": "{SECRET}"}}'}},
        {"attributes": {"gen_ai.tool.call.arguments": f'{{"k": "{SECRET}"}}'}},
        {"attributes": {"xauth": "zq9wzq9w"}},
        {"attributes": {"app.tokens": ("zq9wzq9w",)}},
        {"attributes": {"db.pass": "zq9wzq9w"}},
        {"attributes": {"input.value": '{"passwords": ["zq9wzq9w"], "n": 1}'}},
        {"attributes": {"input.value": "<password>zq9wzq9w</password>"}},
        {"attributes": {"input.value": "password := zq9wzq9w"}},
        pytest.param({"attributes": {"a": [{"auth": ("u", "zq9wzq9w")}]}}, marks=needs_mappings),
        pytest.param(
            {"attributes": {"a": {"headers": [["password", "zq9wzq9w"], ["host", "x"]]}}},
            marks=needs_mappings,
        ),
        pytest.param({"attributes": {"a": [{"b": [{"xauth": "zq9wzq9w"}]}]}}, marks=needs_mappings),
        {"attributes": {SECRET: 1, f"{SECRET} ": 2}},
        pytest.param({"attributes": {"a": {"b": {SECRET: 1}}}}, marks=needs_mappings),
        pytest.param(
            {"attributes": {"a": {"name": "xauth", "value": "zq9w"}}}, marks=needs_mappings
        ),
        {"attributes": {"process.command_args": ["mysql", "--password", "zq9wzq9w"]}},
        {"event": {SECRET: 1}},
        {"links": [Link(SpanContext(1, 2, False), {SECRET: 1})]},
        {"resource": {SECRET: 1}},
        {"event": {"exception.message": f"bad key {SECRET}"}},
        {"event": {"exception.stacktrace": f"line\n  token={SECRET}\n"}},
        {"event": {"xauth": "zq9wzq9w"}},
        {"status": f"refused {SECRET}"},
        {"resource": {"process.command_args": ["agent", f"--api-key={SECRET}"]}},
        {"links": [Link(SpanContext(1, 2, False), {"a": SECRET})]},
        {"name": f"GET https://user:{SECRET}@host/"},
        {"attributes": {"a": SECRET}, "scope": "trackway"},
        {"event": {"exception.message": SECRET}, "scope": "trackway"},
    ],
    ids=[
        *("attribute", "JSON attribute", "column", "key name"),
        *("list under a plural", "short name", "list in JSON", "element of XML", ":="),
        *("pair under a short name", "nested pair", "nested key name"),
        *("key", "nested key", "beside its name", "option", "key of event", "key of link"),
        *("key of resource", "message"),
        *("stack trace", "event key name", "status", "resource", "link", "name"),
        *("attribute of our span", "exception on our span"),
    ],
)
def test_a_secret_leaves_from_no_place_of_a_span(tmp_path: Path, place: dict[str, Any]) -> None:
    span = span_of(**place)
    for text in (repr(row_of(span, Cleaner(), tmp_path)), Cleaner().clean(span).to_json()):
        assert SECRET not in text
        assert "zq9w" not in text
        assert "[redacted:" in text


def test_keys_that_hold_secrets_keep_their_values_apart(tmp_path: Path) -> None:
    span = span_of({SECRET: 1, f"{SECRET}x": 2})
    for found in (
        through_cleaner(span, Cleaner(), tmp_path),
        through_parquet(span, Cleaner(), tmp_path),
    ):
        assert found["[redacted:api_key]"] == 1
        assert found["[redacted:api_key] (2)"] == 2


def test_the_name_of_an_event_is_searched(tmp_path: Path) -> None:
    named = TracerProvider(shutdown_on_exit=False).get_tracer(FOREIGN).start_span("call")
    named.add_event(f"used {SECRET}", {"n": 1})
    named.end()
    assert isinstance(named, ReadableSpan)
    (event,) = Cleaner().clean(named).events
    assert (event.name, dict(event.attributes or {})) == ("used [redacted:api_key]", {"n": 1})
    assert SECRET not in repr(row_of(named, Cleaner(), tmp_path))


@settings(max_examples=30, deadline=None)
@given(
    before=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    after=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    key=st.sampled_from(["a", "gen_ai.tool.call.result", "input.value"]),
)
def test_a_secret_in_any_text_never_reaches_a_file(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, key: str
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    row = row_of(span_of({key: f"{before} {SECRET} {after}"}), Cleaner(), folder)
    assert SECRET not in repr(row)


def test_what_our_own_capture_has_cleaned_is_passed_on_as_it_is(tmp_path: Path) -> None:
    own = {"trackway.run.id": "r", "gen_ai.tool.call.arguments": f'{{"id":"{SECRET}"}}'}
    span = span_of(own, scope="trackway")
    assert Cleaner().clean(span) is span
    assert row_of(span, Cleaner(), tmp_path)["arguments"] == own["gen_ai.tool.call.arguments"]


def test_a_span_that_needs_nothing_is_the_same_object() -> None:
    span = span_of({"a": "x", "n": 1}, event={"b": "y"}, status="no such order")
    assert Cleaner().clean(span) is span


@BOTH_WAYS
def test_patterns_and_hooks_of_the_user_apply(tmp_path: Path, way: Way) -> None:
    custom = redactor(patterns=["ACME-[0-9]+"], deny_keys=["ssn"], hooks=[str.lower])
    found = way(span_of({"a": "ACME-1 AND", "user.ssn": "123"}), Cleaner(custom), tmp_path)
    assert found["a"] == "[redacted:custom] and"
    assert found["user.ssn"] == "[redacted:key_name]"


@pytest.mark.parametrize("answer", [None, 5, ValueError("broken")])
def test_a_hook_that_fails_costs_texts_but_no_name_of_the_schema(
    tmp_path: Path, answer: object
) -> None:
    def broken(_text: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    exporter = ParquetSpanExporter(tmp_path, cleaner=Cleaner(redactor(hooks=[broken])))
    own = span_of({"gen_ai.operation.name": "execute_tool"}, scope="trackway")
    exporter.export([own, span_of({"llm.input": "zq9wzq9w"}, event={"note": "zq9wzq9w"})])
    exporter.shutdown()
    frame = pd.read_parquet(tmp_path)
    assert set(frame["service"]) == {"[redacted:hook_failed]"}
    assert "zq9wzq9w" not in frame.to_csv()


@pytest.mark.parametrize("scope", [FOREIGN, "trackway"])
def test_secrets_of_the_resource_stay_whoever_wrote_the_span(tmp_path: Path, scope: str) -> None:
    span = span_of({"gen_ai.tool.name": "a"}, scope=scope, resource={"db.password": "zq9wzq9w"})
    row = row_of(span, Cleaner(), tmp_path)
    assert json.loads(row["resource"])["db.password"] == "[redacted:key_name]"


@BOTH_WAYS
def test_without_a_redactor_nothing_is_redacted(tmp_path: Path, way: Way) -> None:
    assert way(span_of({"a": SECRET}), Cleaner(None), tmp_path) == {"a": SECRET}


LIMITS = Limits(value_bytes=1000, span_bytes=4000)


@BOTH_WAYS
def test_a_long_json_value_stays_json_and_leaves_its_digest(tmp_path: Path, way: Way) -> None:
    text = json.dumps([{"role": "user", "content": "é" * 5000}, {"role": "tool", "content": "ok"}])
    found = way(span_of({"gen_ai.input.messages": text}), Cleaner(limits=LIMITS), tmp_path)
    cut = found["gen_ai.input.messages"]
    assert len(cut.encode()) <= 1000
    messages = json.loads(cut)
    assert messages[1] == {"role": "tool", "content": "ok"}
    assert messages[0]["content"].startswith("ééé")
    assert found["trackway.truncated"] == ("gen_ai.input.messages",)
    digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert found["trackway.content.sha256.gen_ai.input.messages"] == digest


@BOTH_WAYS
@pytest.mark.parametrize(
    "value",
    ["x" * 3_000_000, '["' + '\\"' * 1_000_000 + '"]', "é" * 2000, b"x" * 5000, ["x" * 900] * 9],
    ids=["3 MB", "3 MB of JSON", "text", "bytes", "list"],
)
def test_no_value_is_longer_than_its_limit(tmp_path: Path, way: Way, value: Any) -> None:
    found = way(span_of({"a": value}), Cleaner(limits=LIMITS), tmp_path)
    raw = found["a"] if isinstance(found["a"], bytes) else found["a"].encode()
    assert 100 < len(raw) <= 1000
    assert found["trackway.truncated"] == ("a",)
    assert found["trackway.content.sha256.a"].startswith(("sha256:", "sha256-partial:"))
    if str(value)[:1] in "[{":
        json.loads(found["a"])


def test_a_long_stack_trace_is_cut_in_the_middle() -> None:
    trace = "Traceback\n" + "  line\n" * 1000 + "ValueError: order A-1"
    span = Cleaner(limits=LIMITS).clean(span_of({}, event={"exception.stacktrace": trace}))
    (event,) = span.events
    text = (event.attributes or {})["exception.stacktrace"]
    assert isinstance(text, str)
    assert len(text) <= 1000
    assert text.startswith("Traceback")
    assert text.endswith("ValueError: order A-1")
    assert (span.attributes or {})["trackway.truncated"] == ("exception.exception.stacktrace",)


@pytest.mark.parametrize("scope", [FOREIGN, "trackway"])
def test_a_span_is_cut_to_its_limit_from_its_largest_values(scope: str) -> None:
    attributes = {"small": "x" * 50, **{f"large.{n}": "y" * 900 for n in range(9)}}
    span = Cleaner(limits=LIMITS).clean(span_of(attributes, scope=scope))
    assert size_of(span) <= 4000
    found = span.attributes or {}
    assert found["small"] == "x" * 50
    assert {key for key in found if key.startswith("large")} == {f"large.{n}" for n in range(9)}


def test_dropped_counts_survive_a_change() -> None:
    span = span_of({f"key.{n}": SECRET for n in range(200)})
    assert span.dropped_attributes == Cleaner().clean(span).dropped_attributes == 72


def test_a_mixed_batch_is_searched_where_we_have_not_cleaned(tmp_path: Path) -> None:
    ours, theirs = "trackway", FOREIGN
    exporter = ParquetSpanExporter(tmp_path)
    exporter.export(
        [
            span_of({"gen_ai.tool.call.result": f"ours {SECRET}"}, scope=ours, name="cleaned"),
            span_of({"gen_ai.tool.call.result": f"theirs {SECRET}"}, scope=theirs, name="foreign"),
            span_of({"app.note": f"added {SECRET}"}, scope=ours, name="added to"),
            span_of({"app.note": "nothing"}, scope=theirs, name="harmless"),
        ]
    )
    exporter.shutdown()
    (path,) = tmp_path.rglob("*.parquet")
    rows = {row["name"]: row for row in pq.ParquetFile(path).read().to_pylist()}
    # Our own capture has cleaned what stands under our own keys: it is not searched again.
    assert rows["cleaned"]["result"] == f"ours {SECRET}"
    assert rows["foreign"]["result"] == "theirs [redacted:api_key]"
    assert rows["added to"]["attributes"].count("[redacted:api_key]") == 1
    assert {name: row["redacted"] for name, row in rows.items()} == {
        "cleaned": None,
        "foreign": ["gen_ai.tool.call.result"],
        "added to": ["app.note"],
        "harmless": None,
    }


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ("trackway.decision", SECRET),  # cleaned when it was captured
        ("exception", "[redacted:api_key]"),
    ],
)
def test_events_of_our_own_are_not_searched_again(tmp_path: Path, event: str, found: str) -> None:
    span = TracerProvider(shutdown_on_exit=False).get_tracer("trackway").start_span("step")
    span.add_event(event, {"note": SECRET})
    span.end()
    assert isinstance(span, ReadableSpan)
    row = row_of(span, Cleaner(), tmp_path)
    assert json.loads(row["events"][0]["attributes"]) == {"note": found}


@BOTH_WAYS
def test_bytes_are_searched_as_text(way: Way, tmp_path: Path) -> None:
    body = b"\xff\x00password=Zq7Xk029LmPw4Tb8V \xe9"
    found = way(span_of({"body": body, "other": b"\xff\x00 plain \xe9"}), Cleaner(), tmp_path)
    assert found["body"] == b"\xff\x00password=[redacted:assignment] \xe9"
    assert found["other"] == b"\xff\x00 plain \xe9"
    assert list(found["trackway.redacted"]) == ["body"]
