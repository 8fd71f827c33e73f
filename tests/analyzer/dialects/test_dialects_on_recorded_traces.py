"""Each dialect reads what a real framework wrote: the whole span table against a golden text."""

import sys
from pathlib import Path

import orjson
import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import dumped
import golden

from trackway_analyzer import dialects
from trackway_analyzer.read import read
from trackway_analyzer.read.span_rows import converted

FRAMEWORKS = sorted((golden.DATA / "frameworks").glob("*/*.json"))
FAILING = [path for path in FRAMEWORKS if path.stem == "fail" and "raw-" not in str(path)]
DUMPS = sorted((golden.DATA / "dialects").glob("*.json"))


def named(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def spans_of(path: Path) -> pa.Table:
    return pa.concat_tables([batch.spans for batch in read(path)])


@pytest.mark.parametrize("path", FRAMEWORKS, ids=named)
def test_recorded_framework_reads_as_its_golden_text(path: Path) -> None:
    golden.check(path.with_suffix(".spans.txt"), golden.text_of(spans_of(path)))


@pytest.mark.parametrize("path", DUMPS, ids=named)
def test_recorded_dialect_reads_as_its_golden_text(path: Path) -> None:
    table = converted(dumped.raw_spans(path), dialects.span_reader())
    golden.check(path.with_suffix(".spans.txt"), golden.text_of(table))


@pytest.mark.parametrize("path", FAILING, ids=named)
def test_every_instrumentor_tells_the_same_calls_of_the_failing_run(path: Path) -> None:
    tools: dict[str, list[dict[str, object]]] = {}
    for row in spans_of(path).sort_by("start").to_pylist():
        if row["operation"] == "tool":
            tools.setdefault(row["tool"], []).append(row)
    tools.pop("final_answer", None)
    assert list(tools) == ["lookup_order", "check_policy", "refund_create"]
    assert any(row["error_type"] for row in tools["refund_create"])
    assert not any(row["error_type"] for row in tools["lookup_order"] + tools["check_policy"])
    if "mcp" in path.parent.name:
        return  # the protocol's own spans carry no values
    assert {row["arguments"] for name in list(tools)[1:] for row in tools[name]} == {
        '{"amount":42.5,"order_id":"A-1003"}'
    }
    assert {row["result"] for row in tools["lookup_order"]} == {
        '{"currency":"EUR","email":"ann@example.com","order_id":"A-1003",'
        '"status":"delivered","total":42.5}'
    }


@pytest.mark.parametrize("path", FRAMEWORKS, ids=named)
def test_no_recorded_attribute_is_lost(path: Path) -> None:
    document = orjson.loads(path.read_bytes())
    wanted = {
        span["spanId"]: {item["key"] for item in span.get("attributes", ())}
        for group in document["resourceSpans"]
        for scope in group["scopeSpans"]
        for span in scope["spans"]
    }
    table = spans_of(path)
    for span_id, attributes in zip(
        table["span_id"].to_pylist(), table["attributes"].to_pylist(), strict=True
    ):
        own = {key for key in orjson.loads(attributes) if not key.startswith("otlp.")}
        assert own == wanted.pop(span_id)
    assert not wanted


def test_known_dialects_have_distinct_names() -> None:
    names = [dialect.name for dialect in dialects.KNOWN]
    assert len(set(names)) == len(names)
    assert dialects.UNKNOWN not in names
