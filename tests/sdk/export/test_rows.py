"""A span becomes a row, and the row gives the span's attributes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from sdk.export.sdk_values import TAKES_MAPPINGS
from span_rows import attributes_of
from trackway import schema
from trackway.export.parquet.table import batch_of
from trackway.export.rows import rows_of


def span_of(
    attributes: Mapping[str, Any] | None = None, *, scope: str = "other", **start: Any
) -> ReadableSpan:
    provider = TracerProvider(
        resource=Resource({"service.name": "refunds"}), shutdown_on_exit=False
    )
    span = provider.get_tracer(scope, "1.2").start_span("step", attributes=attributes, **start)
    span.end()
    assert isinstance(span, ReadableSpan)
    return span


def row_of(span: ReadableSpan) -> dict[str, Any]:
    columns = rows_of([span], careful=True).columns
    return {name: values[0] for name, values in columns.items() if values[0] is not None}


def exactly(value: Any) -> Any:
    """Equality that tells 1 from 1.0 and True, and takes nan for itself."""
    if isinstance(value, Mapping):
        return {key: exactly(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [exactly(item) for item in value]
    return type(value).__name__, repr(value)


def in_64_bits(value: Any) -> Any:
    """The value with texts where no format of spans has room for the integer."""
    if isinstance(value, Mapping):
        return {key: in_64_bits(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return list(map(in_64_bits, value))
    return str(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**53 + 1, 2**63 - 1, 2**63, 2**64 + 5, -(2**63), -(2**63) - 1])
    | st.floats()
    | st.text(st.characters())
    | st.binary(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(min_size=1, max_size=4)
            | st.sampled_from(["bytesValue", "doubleValue", "kvlistValue"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
keys = st.sampled_from(
    [column.attribute for column in schema.SPAN_COLUMNS if column.attribute]
    + [key for row in schema.CONTENT_ATTRIBUTES for key in row[1:]]
    + [schema.GenAI.OPERATION_NAME]
) | st.text(min_size=1, max_size=6)


@given(
    st.dictionaries(keys, values | st.sampled_from(["chat", "execute_tool"]), max_size=12),
    st.sampled_from([schema.SCOPE_NAME, "openinference"]),
)
def test_a_row_gives_back_every_attribute_with_its_type(
    attributes: dict[str, Any], scope: str
) -> None:
    span = span_of(attributes, scope=scope)
    assert exactly(attributes_of(row_of(span))) == exactly(in_64_bits(dict(span.attributes or {})))


@given(
    st.lists(
        st.tuples(
            st.dictionaries(keys, values | st.sampled_from(["chat", "execute_tool"]), max_size=6),
            st.sampled_from([schema.SCOPE_NAME, "openinference"]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_spans_of_one_batch_keep_their_attributes_apart(
    spans: list[tuple[dict[str, Any], str]],
) -> None:
    ended = [span_of(attributes, scope=scope) for attributes, scope in spans]
    batch, _ = batch_of(ended)
    assert [exactly(attributes_of(row)) for row in batch.to_pylist()] == [
        exactly(in_64_bits(dict(span.attributes or {}))) for span in ended
    ]


def test_an_attribute_goes_to_its_column_and_is_not_repeated() -> None:
    row = row_of(
        span_of({"trackway.run.id": "r1", "gen_ai.usage.input_tokens": 7, "app.tenant": "x"})
    )
    assert (row["run_id"], row["tokens_in"]) == ("r1", 7)
    assert row["attributes"] == '{"app.tenant":"x"}'


def test_a_value_that_the_column_cannot_hold_stays_an_attribute() -> None:
    row = row_of(
        span_of({"trackway.trial.index": 2**31, "gen_ai.tool.name": 5, "trackway.step.ok": 1})
    )
    assert not {"trial", "tool", "ok"} & row.keys()
    assert json.loads(row["attributes"]) == {
        "trackway.trial.index": 2**31,
        "gen_ai.tool.name": 5,
        "trackway.step.ok": 1,
    }


def test_our_own_spans_say_what_they_are() -> None:
    row = row_of(
        span_of(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": "[]",
                "trackway.input": "hi",
            },
            scope=schema.SCOPE_NAME,
        )
    )
    assert (row["operation"], row["source"], row["input"]) == ("llm", "trackway", "[]")
    assert json.loads(row["attributes"]) == {
        "gen_ai.operation.name": "chat",
        "trackway.input": "hi",
    }


def test_spans_of_others_stay_raw_but_carry_the_run() -> None:
    row = row_of(
        span_of(
            {
                "trackway.run.id": "r1",
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": "[]",
            }
        )
    )
    assert row["run_id"] == "r1"
    assert not {"operation", "source", "input"} & row.keys()


def test_every_part_of_a_span_has_its_place() -> None:
    remote = SpanContext(0xABC, 0xDEF, is_remote=True, trace_flags=TraceFlags(1))
    provider = TracerProvider(
        resource=Resource({"service.name": "refunds"}), shutdown_on_exit=False
    )
    span = provider.get_tracer("lib", "2").start_span(
        "call", kind=SpanKind.CLIENT, links=[Link(remote, {"why": "resume"})], start_time=10
    )
    span.add_event("retry", {"after": 1.5, "raw": b"\x00"}, timestamp=15)
    span.set_status(Status(StatusCode.ERROR, "no such order \ud800"))
    span.end(20)
    assert isinstance(span, ReadableSpan)
    row = row_of(span)
    raw = '{"bytesValue":"AA=="}' if TAKES_MAPPINGS else '"\\u0000"'
    assert row == {
        "scope": "lib",
        "scope_version": "2",
        "attributes": "{}",
        "trace_id": f"{span.context.trace_id:032x}" if span.context else "",
        "span_id": f"{span.context.span_id:016x}" if span.context else "",
        "name": "call",
        "kind": "CLIENT",
        "start": 10,
        "end": 20,
        "status": "ERROR",
        "error_message": "no such order ?",
        "resource": '{"service.name":"refunds"}',
        "service": "refunds",
        "flags": row["flags"],
        "schema_version": schema.SCHEMA_VERSION,
        "events": [{"name": "retry", "time": 15, "attributes": f'{{"after":1.5,"raw":{raw}}}'}],
        "links": [
            {
                "trace_id": f"{0xABC:032x}",
                "span_id": f"{0xDEF:016x}",
                "attributes": '{"why":"resume"}',
            }
        ],
    }
    assert row["flags"] & 0x301 == 0x101


def test_a_name_that_is_no_text_costs_no_other_span_its_row() -> None:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("other")
    spans = [tracer.start_span(name) for name in ("step", 5)]  # type: ignore[arg-type]
    for span in spans:
        span.end()
    batch, _ = batch_of([span for span in spans if isinstance(span, ReadableSpan)])
    assert batch["name"].to_pylist() == ["step", "5"]
