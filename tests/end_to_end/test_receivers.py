"""What a real receiver stores equals what Parquet stores, span by span, whatever lies between."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import rotel
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Link, SpanKind, Status, StatusCode, get_current_span

from end_to_end.otlp_receiver import Receiver, spans_in, stored_spans
from span_rows import attributes_of
from trackway.export import BatchingProcessor, processors_for
from trackway.export.otlp import OtlpSpanExporter

PROTOCOLS = ("grpc", "http")
STATUSES = ("UNSET", "OK", "ERROR")
KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")


def record_refunds(provider: TracerProvider, runs: int = 3) -> int:
    """Record some runs of an agent with every kind of value; return the number of spans."""
    tracer = provider.get_tracer("trackway", "0.1")
    foreign = provider.get_tracer("openinference.instrumentation.openai", "1.0")
    for run in range(runs):
        identity = {"trackway.run.id": f"run-{run}", "trackway.task.id": "refund"}
        with tracer.start_as_current_span("refund", attributes=identity) as root:
            root.set_attributes({"trackway.input": "Rückgabe 🙏", "raw": b"\x00\xff", "share": 0.5})
            with foreign.start_as_current_span("chat", kind=SpanKind.CLIENT) as chat:
                chat.set_attributes({"llm.token_count.prompt": 2**40, "stream": True, **identity})
            with tracer.start_as_current_span(
                "tool", links=[Link(root.get_span_context())]
            ) as tool:
                tool.set_attributes(
                    {
                        **identity,
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": "refund_api.create",
                        "gen_ai.tool.call.arguments": '{"amount":42.0}',
                        "trackway.entity.refs": ["order:A-1", "order:A-2"],
                        "trackway.step.index": 2,
                        "mixed": [1, 2.0],
                        "nested": {"a": {"b": [True, None]}},
                    }
                )
                tool.add_event("retry", {"after": 1.5})
                tool.set_status(Status(StatusCode.ERROR, "declined"))
    return 3 * runs


def from_receiver(span: dict[str, Any]) -> dict[str, Any]:
    """What a span stored as OTLP JSON says, by the OTLP specification."""
    status = span.get("status", {})
    return {
        "trace_id": span["traceId"],
        "span_id": span["spanId"],
        "parent_span_id": span.get("parentSpanId"),
        "name": span["name"],
        "kind": KINDS[span["kind"]],
        "start": int(span["startTimeUnixNano"]),
        "end": int(span["endTimeUnixNano"]),
        "status": STATUSES[status.get("code", 0)],
        "error_message": status.get("message"),
        "attributes": members(span.get("attributes", [])),
        "events": [
            (event["name"], int(event["timeUnixNano"]), members(event.get("attributes", [])))
            for event in span.get("events", [])
        ],
        "links": [(link["traceId"], link["spanId"]) for link in span.get("links", [])],
    }


def members(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    return {pair["key"]: any_value(pair["value"]) for pair in pairs}


def any_value(value: dict[str, Any]) -> Any:
    match value:
        case {"intValue": text}:
            return int(text)
        case {"bytesValue": text}:
            return base64.b64decode(text)
        case {"arrayValue": array}:
            return tuple(any_value(item) for item in array.get("values", []))
        case {"kvlistValue": pairs}:
            return members(pairs.get("values", []))
    return next(iter(value.values()), None)


def from_parquet(row: dict[str, Any]) -> dict[str, Any]:
    """What a row of the span table says."""
    own = ("trace_id", "span_id", "parent_span_id", "name", "kind", "status", "error_message")
    return {
        **{column: row[column] for column in own},
        "start": row["start"].value,
        "end": row["end"].value,
        "attributes": attributes_of(row),
        "events": [
            (event["name"], event["time"].value, attributes_of(event))
            for event in row["events"] or ()
        ],
        "links": [(link["trace_id"], link["span_id"]) for link in row["links"] or ()],
    }


def rows_below(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.rglob("*.parquet"))
    rows = [row for path in paths for row in pq.ParquetFile(path).read().to_pylist()]
    return sorted(map(from_parquet, rows), key=lambda row: str(row["span_id"]))


def stored_below(folder: Path) -> list[dict[str, Any]]:
    return sorted(map(from_receiver, stored_spans(folder)), key=lambda row: str(row["span_id"]))


def assert_in_order(folder: Path) -> None:
    """Messages follow each other; within one, OTLP groups spans by resource and scope."""
    ends = [sorted(span["endTimeUnixNano"] for span in message) for message in messages(folder)]
    assert len(ends) > 1
    assert all(before[-1] < after[0] for before, after in pairwise(ends))


def messages(folder: Path) -> list[list[dict[str, Any]]]:
    return [list(spans_in(path)) for path in sorted(folder.glob("*.json"))]


@contextmanager
def recording(*targets: Any) -> Iterator[tuple[TracerProvider, list[Any]]]:
    """A provider that exports to all targets; shut down in the end."""
    resource = Resource({"service.name": "refunds"})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    processors = [processor for target in targets for processor in processors_for(target)]
    for processor in processors:
        provider.add_span_processor(processor)
    try:
        yield provider, processors
    finally:
        provider.shutdown()


def target_of(receiver: Receiver, protocol: str) -> str:
    port = receiver.grpc_port if protocol == "grpc" else receiver.http_port
    return f"otlp+{protocol}://127.0.0.1:{port}"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def rotel_to(receiver: Receiver, folder: Path) -> Iterator[dict[str, int]]:
    """A rotel collector that relays to the receiver; its ports by protocol."""
    ports = {"grpc": free_port(), "http": free_port()}
    agent = Path(rotel.__file__).with_name("rotel-agent")
    arguments = (
        f"start --otlp-grpc-endpoint 127.0.0.1:{ports['grpc']}"
        f" --otlp-http-endpoint 127.0.0.1:{ports['http']}"
        f" --exporter otlp --otlp-exporter-endpoint http://127.0.0.1:{receiver.http_port}"
        f" --otlp-exporter-protocol http --pid-file {folder / 'rotel.pid'}"
    )
    with (folder / "rotel.log").open("w") as log:
        collector = subprocess.Popen([agent, *arguments.split()], stdout=log, stderr=log)
    try:
        for port in ports.values():
            wait_for_port(port, collector)
        yield ports
    finally:
        collector.terminate()
        collector.wait(20)


def wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        assert server.poll() is None, "the collector did not start"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.005)
        else:
            return
    raise AssertionError(f"nothing listens on {port}")


@pytest.fixture(autouse=True)
def _spools_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKWAY_SPOOL_DIR", str(tmp_path / "spools"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_receiver_stores_what_parquet_stores(tmp_path: Path, protocol: str) -> None:
    with (
        Receiver(tmp_path / "stored") as receiver,
        recording(tmp_path / "rows", target_of(receiver, protocol)) as (provider, processors),
    ):
        spans = record_refunds(provider)
        assert all(processor.force_flush() for processor in processors)
        assert {processor.counts.delivered for processor in processors} == {spans}
    stored = stored_below(tmp_path / "stored")
    assert len(stored) == spans
    assert stored == rows_below(tmp_path / "rows")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_collector_on_the_way_changes_nothing(tmp_path: Path, protocol: str) -> None:
    with Receiver(tmp_path / "stored") as receiver, rotel_to(receiver, tmp_path) as ports:
        target = f"otlp+{protocol}://127.0.0.1:{ports[protocol]}"
        with recording(tmp_path / "rows", target) as (provider, processors):
            spans = record_refunds(provider)
            assert all(processor.force_flush() for processor in processors)
        assert len(receiver.wait_for(spans)) == spans
    assert stored_below(tmp_path / "stored") == rows_below(tmp_path / "rows")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_receiver_that_comes_back_gets_everything_in_order_and_once(
    tmp_path: Path, protocol: str
) -> None:
    with Receiver(tmp_path / "stored") as receiver:
        ports = {"grpc_port": receiver.grpc_port, "http_port": receiver.http_port}
        with recording(tmp_path / "rows", target_of(receiver, protocol)) as (provider, processors):
            spans = record_refunds(provider)
            assert all(processor.force_flush() for processor in processors)
            receiver.__exit__(None, None, None)

            parquet, otlp = processors
            for _ in range(3):
                spans += record_refunds(provider)
                assert parquet.force_flush()
                assert not otlp.force_flush()
            assert list((tmp_path / "spools").rglob("*.spool"))

            with Receiver(tmp_path / "stored", **ports):
                assert otlp.force_flush()
            assert otlp.counts.delivered == spans
    assert not list((tmp_path / "spools").rglob("*.spool"))
    assert stored_below(tmp_path / "stored") == rows_below(tmp_path / "rows")
    assert_in_order(tmp_path / "stored")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_next_process_sends_what_the_last_one_could_not(tmp_path: Path, protocol: str) -> None:
    ports = {"grpc_port": free_port(), "http_port": free_port()}
    target = f"otlp+{protocol}://127.0.0.1:{ports[f'{protocol}_port']}"
    program = (
        "import sys\n"
        "from end_to_end.test_receivers import record_refunds, recording\n"
        "with recording(sys.argv[1], sys.argv[2]) as (provider, _): record_refunds(provider)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    arguments = [sys.executable, "-c", program, str(tmp_path / "rows"), target]
    subprocess.run(arguments, env=environment, check=True, timeout=60)
    assert len(rows_below(tmp_path / "rows")) == 9

    with Receiver(tmp_path / "stored", **ports):
        exporter = OtlpSpanExporter(target)
        assert exporter.force_flush()
        exporter.shutdown()
    assert exporter.counts.recovered == 9
    assert stored_below(tmp_path / "stored") == rows_below(tmp_path / "rows")


def test_flush_never_says_delivered_while_the_receiver_is_away(tmp_path: Path) -> None:
    processor = BatchingProcessor(
        OtlpSpanExporter(f"otlp+http://127.0.0.1:{free_port()}", spool=tmp_path)
    )
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    with provider.get_tracer("lib").start_as_current_span("lost?"):
        assert get_current_span().is_recording()
    assert not provider.force_flush()
    assert (processor.counts.ended, processor.counts.delivered) == (1, 0)
    provider.shutdown()
    assert len(list(tmp_path.glob("*.spool"))) == 1
