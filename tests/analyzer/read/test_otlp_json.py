"""OTLP JSON, as the convention says and as sloppy writers write it."""

import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
import otlp_text
from otlp_text import SPAN, TRACE, document, span

from trackway.schema import BYTES_TAG, FLOAT_TAG, MAP_TAG
from trackway_analyzer import dialects
from trackway_analyzer.json_text import compact
from trackway_analyzer.read import read as read_batches
from trackway_analyzer.read.any_value import any_value, attributes_of
from trackway_analyzer.read.otlp_json import spans_of
from trackway_analyzer.read.otlp_levels import resource_groups
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.span_rows import converted
from trackway_analyzer.spans import RawSpan
from trackway_analyzer.tables import SPAN_SCHEMA


def read(found: Any) -> tuple[list[RawSpan], list[Reason]]:
    groups = resource_groups(found)
    assert groups is not None
    quarantine = Quarantine("file")
    spans = list(spans_of(groups, quarantine, 0))
    return spans, [entry.reason for entry in quarantine.take()]


def one(**fields: Any) -> RawSpan:
    spans, lost = read(document(span(**fields)))
    assert not lost
    return spans[0]


def test_span_is_read_with_its_origin() -> None:
    found = one(attributes={"a": 1}, parentSpanId="aaaaaaaaaaaaaaaa", traceState="x=1", flags=257)
    assert (found.trace_id, found.span_id, found.parent_span_id) == (TRACE, SPAN, "a" * 16)
    assert (found.start, found.end) == (1700000000000000001, 1700000000000000002)
    assert (found.kind, found.status) == ("INTERNAL", "UNSET")
    assert found.attributes == {"a": 1}
    assert (found.origin.service, found.origin.scope, found.origin.scope_version) == (
        "shop",
        "test",
        "1",
    )
    assert (found.trace_state, found.flags) == ("x=1", 257)


def test_ids_are_hex_of_any_case_or_base64() -> None:
    assert one(traceId=TRACE.upper(), spanId=SPAN.upper()).trace_id == TRACE
    found = one(traceId="W47/95gDgQPSabYzgT/GDA==", spanId="7uGbfsPBsXQ=", parentSpanId="")
    assert (found.trace_id, found.span_id, found.parent_span_id) == (TRACE, SPAN, None)


@pytest.mark.parametrize("parent", ["", ..., None, "0000000000000000", "no id", 7])
def test_a_root_is_a_span_without_a_parent_id(parent: object) -> None:
    assert one(parentSpanId=parent).parent_span_id is None


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        *[(written, "CLIENT") for written in (3, "3", "SPAN_KIND_CLIENT", "client")],
        *[(written, None) for written in (..., 99, "?", [], True)],
        (0, None),
    ],
)
def test_kind_is_a_number_or_a_name(written: object, read_as: str | None) -> None:
    assert one(kind=written).kind == read_as


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        *[({"code": code}, "ERROR") for code in (2, "2", "STATUS_CODE_ERROR")],
        *[(written, "UNSET") for written in ({}, ..., None, {"code": 0})],
        ({"code": 1}, "OK"),
    ],
)
def test_status_is_a_number_a_name_or_absent(written: object, read_as: str) -> None:
    assert one(status=written).status == read_as


def test_numbers_may_be_numbers_and_names_snake_case() -> None:
    spans, lost = read(
        {
            "resource_spans": [
                {
                    "scope_spans": [
                        {
                            "spans": [
                                {
                                    "trace_id": TRACE,
                                    "span_id": SPAN,
                                    "start_time_unix_nano": 5,
                                    "end_time_unix_nano": 6,
                                    "attributes": [
                                        {"key": "a", "value": {"int_value": 7}},
                                        {"key": "b", "value": {"string_value": "x"}},
                                    ],
                                    "unknown_field": 1,
                                }
                            ]
                        }
                    ]
                }
            ]
        }
    )
    assert not lost
    assert (spans[0].start, spans[0].attributes) == (5, {"a": 7, "b": "x"})


@pytest.mark.parametrize("wrapper", ["batches", "data", "trace"])
def test_documents_may_be_wrapped_or_stand_in_a_list(wrapper: str) -> None:
    plain = document(span())
    assert len(read({wrapper: plain})[0]) == 1
    assert len(read({wrapper: plain["resourceSpans"]})[0]) == 1
    assert len(read([plain, plain])[0]) == 2
    assert resource_groups({"observations": []}) is None
    assert resource_groups([1, 2]) is None


def test_a_broken_span_costs_itself() -> None:
    spans, lost = read(document(span(spanId="zz"), span(), span(traceId=...), {}))
    assert [found.span_id for found in spans] == [SPAN]
    assert lost == [Reason.BROKEN_SPAN]
    spans, lost = read({"resourceSpans": ["x", document(span())["resourceSpans"][0]]})
    assert len(spans) == 1
    assert lost == [Reason.BROKEN_SPAN]


GROUP = document(span())["resourceSpans"][0]
PART = GROUP["scopeSpans"][0]
OTHER = span(spanId="b" * 16)
AT_A_WRONG_LEVEL: dict[str, Any] = {
    "spans below the resource": {"resourceSpans": [GROUP, {"resource": {}, "spans": [OTHER]}]},
    "a scope group among resource groups": {"resourceSpans": [GROUP, PART]},
    "a span among resource groups": {"resourceSpans": [GROUP, OTHER]},
    "a misspelt list of scopes": {"resourceSpans": [GROUP, {"scope_Spans": [PART]}]},
    "scopes that are an object": {"resourceSpans": [GROUP, {"scopeSpans": PART}]},
    "a misspelt list of spans": {
        "resourceSpans": [GROUP, {"scopeSpans": [{"scope": {"name": "x"}, "Spans": [OTHER]}]}]
    },
    "spans beside the scopes": {"resourceSpans": [GROUP | {"spans": [OTHER]}]},
    "spans beside the spans": {"resourceSpans": [{"scopeSpans": [PART | {"span": [OTHER]}]}]},
    "a scope that is a text": {"resourceSpans": [{"scopeSpans": [PART, "x"]}]},
    "spans beside the resource groups": {"resourceSpans": [GROUP], "spans": [OTHER]},
    "resource groups under both names": {
        "resourceSpans": [GROUP],
        "resource_spans": document(OTHER)["resourceSpans"],
    },
    "a document beside the resource groups": {"resourceSpans": [GROUP], "more": document(OTHER)},
    "traces beside the answer": {"data": [GROUP], "others": {"trace": [OTHER]}},
    "something else in a list of documents": [{"resourceSpans": [GROUP]}, {"steps": [{"x": 1}]}],
}


@pytest.mark.parametrize("found", AT_A_WRONG_LEVEL.values(), ids=AT_A_WRONG_LEVEL.keys())
def test_what_stands_at_a_wrong_level_is_put_aside(found: Any) -> None:
    spans, lost = read(found)
    assert [each.span_id for each in spans] == [SPAN]
    assert lost == [Reason.BROKEN_SPAN]


@pytest.mark.parametrize(
    "found",
    [
        {"resourceSpans": [GROUP, {}, {"resource": {"attributes": []}, "schemaUrl": "x"}]},
        {"resourceSpans": [GROUP | {"entityRefs": [{"type": "host"}], "deprecated": {"a": 1}}]},
        {"resourceSpans": [{"scopeSpans": [PART, {"scope": {"name": "x"}}, {"spans": []}]}]},
        {"trace": {"resourceSpans": [GROUP]}, "metrics": {"inspectedBytes": "7", "a": {"b": 1}}},
        [{"resourceSpans": [GROUP]}, {"resourceMetrics": [{"scopeMetrics": [{"metrics": []}]}]}],
    ],
)
def test_fields_that_hold_no_spans_lose_nothing(found: Any) -> None:
    spans, lost = read(found)
    assert [each.span_id for each in spans] == [SPAN]
    assert lost == []


def test_both_names_of_the_scopes_are_read() -> None:
    older = {"spans": [OTHER]}
    spans, lost = read({"resourceSpans": [GROUP | {"instrumentationLibrarySpans": [older]}]})
    assert ([each.span_id for each in spans], lost) == ([SPAN, "b" * 16], [])


@pytest.mark.parametrize(
    "fields",
    [
        {"attributes": ..., "Attributes": [{"key": "a", "value": {"stringValue": "b"}}]},
        {"attributes": ..., "tags": {"a": "b"}},
        {"attributes": [{"key": "a", "val": {"stringValue": "b"}}]},
        {"events": ["x"]},
        {"events": {"name": "x"}},
        {"events": [{"name": "x", "fields": [{"key": "a", "value": "b"}]}]},
        {"links": ["x"]},
    ],
)
def test_what_a_span_holds_under_other_names_is_put_aside(fields: dict[str, Any]) -> None:
    spans, lost = read(document(span(**fields)))
    assert len(spans) == 1
    assert lost == [Reason.BROKEN_VALUE]


@pytest.mark.parametrize(
    "groups",
    [
        [{"resource": {}, "logRecords": [{"body": {"stringValue": "x"}}]}],
        [{"scopeLogs": [{"records": [{"body": {"stringValue": "x"}}]}]}],
        [{"scopeLogs": ["x"]}],
        ["x"],
    ],
)
def test_logs_at_a_wrong_level_are_put_aside(groups: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    path.write_bytes(orjson.dumps({**document(span()), "resourceLogs": groups}))
    (batch,) = read_batches(path)
    assert batch.quarantine["reason"].to_pylist() == ["broken_span"]


def test_a_broken_value_costs_itself() -> None:
    good = otlp_text.attributes({"b": 1})
    bad = [
        {"key": "a", "value": {"intValue": "x"}},
        {"value": {}},
        7,
        {"key": "c", "value": {"z": 1}},
    ]
    spans, lost = read(document(span(attributes=[*bad, *good])))
    assert spans[0].attributes == {"b": 1}
    assert set(lost) == {Reason.BROKEN_VALUE}


def test_a_value_nested_too_deep_costs_itself() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    spans, lost = read(document(span(attributes={"deep": deep, "b": 1})))
    assert spans[0].attributes == {"b": 1}
    assert lost == [Reason.TOO_DEEP]


def test_a_span_without_a_start_takes_its_end_and_is_counted() -> None:
    spans, lost = read(document(span(startTimeUnixNano="0")))
    assert spans[0].start == spans[0].end
    assert lost == [Reason.NO_START_TIME]
    spans, lost = read(document(span(startTimeUnixNano=..., endTimeUnixNano=...)))
    assert (spans[0].start, spans[0].end) == (0, None)


def test_missing_and_impossible_ends_are_missing() -> None:
    for end in (..., "0", 0, "-5", str(2**63), "soon"):
        assert one(endTimeUnixNano=end).end is None


def test_events_links_and_dropped_counts_are_read() -> None:
    event = {"name": "e", "timeUnixNano": "9", "attributes": otlp_text.attributes({"k": "v"})}
    link = {"traceId": TRACE, "spanId": SPAN, "attributes": otlp_text.attributes({"k": 1})}
    found = one(events=[event], links=[link], droppedAttributesCount=3)
    assert [(e.name, e.time, e.attributes) for e in found.events] == [("e", 9, {"k": "v"})]
    assert [(e.trace_id, e.attributes) for e in found.links] == [(TRACE, {"k": 1})]
    assert found.dropped_attributes == 3


def test_what_json_lacks_keeps_its_otlp_form() -> None:
    assert any_value({"bytesValue": "aGk="}) == {BYTES_TAG: "aGk="}
    assert any_value({"doubleValue": "NaN"}) == {FLOAT_TAG: "NaN"}
    assert any_value({"doubleValue": "-Infinity"}) == {FLOAT_TAG: "-Infinity"}
    assert any_value(otlp_text.any_value({BYTES_TAG: "x"})) == {MAP_TAG: {BYTES_TAG: "x"}}
    assert any_value({}) is None
    assert any_value({"arrayValue": {}}) == []


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_attributes_survive_the_way_into_otlp_and_the_table(values: dict[str, Any]) -> None:
    broken: list[str] = []
    decoded = attributes_of(otlp_text.attributes(values), broken)
    assert not broken
    restored = orjson.loads(compact(decoded))
    assert restored == _tagged(values)


def _tagged(value: Any) -> Any:
    if isinstance(value, dict):
        tagged = {key: _tagged(item) for key, item in value.items()}
        single = len(tagged) == 1 and next(iter(tagged)) in (BYTES_TAG, FLOAT_TAG, MAP_TAG)
        return {MAP_TAG: tagged} if single and value is not None else tagged
    return [_tagged(item) for item in value] if isinstance(value, list) else value


FRAMEWORKS = Path(__file__).parents[2] / "data" / "frameworks"
VALID = [
    *(path.read_bytes() for path in sorted(FRAMEWORKS.glob("openai-agents-*/*.json"))),
    orjson.dumps(document(span(events=[{"name": "e", "attributes": [{}]}], links=[{}]))),
]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid document with a few of its parts replaced or left out."""
    found: Any = orjson.loads(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 4))):
        at, path = found, []
        if not at:
            break
        while isinstance(at, dict | list) and at and (not path or draw(st.booleans())):
            key = draw(st.sampled_from(list(at) if isinstance(at, dict) else range(len(at))))
            path.append((at, key))
            at = at[key]
        holder, key = path[-1]
        if draw(st.booleans()):
            holder[key] = draw(VALUES)
        else:
            del holder[key]
    return found


@settings(max_examples=150, deadline=None)
@given(mutated())
def test_no_mutation_of_a_document_raises(found: Any) -> None:
    groups = resource_groups(found)
    if groups is not None:
        spans = spans_of(groups, Quarantine("file"), None)
        assert converted(spans, dialects.span_reader()).schema.equals(SPAN_SCHEMA)
