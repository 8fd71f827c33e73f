"""Whatever a receiver answers, each span is delivered once, kept, or counted as lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from end_to_end.otlp_receiver import Answer, Answers, Page, Receiver
from trackway.export import BatchingProcessor
from trackway.export.otlp import OtlpSpanExporter, delivery
from trackway.export.otlp.wire import decode
from trackway.export.spool import Segment

PROTOCOLS = pytest.mark.parametrize("protocol", ["grpc", "http"])


def spans_of(names: str, **attributes: Any) -> list[ReadableSpan]:
    """Ended spans, one for each word."""
    resource = Resource({"service.name": "refunds"})
    tracer = TracerProvider(resource=resource, shutdown_on_exit=False).get_tracer("lib")
    spans = []
    for name in names.split():
        span = tracer.start_span(name, attributes=attributes)
        span.end()
        assert isinstance(span, ReadableSpan)
        spans.append(span)
    return spans


def names_in(request: ExportTraceServiceRequest) -> list[str]:
    return [
        span.name
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


@contextmanager
def sending(
    folder: Path, protocol: str, answer: Answers | None = None, **options: Any
) -> Iterator[tuple[OtlpSpanExporter, Receiver]]:
    chosen = {} if answer is None else {"answer": answer}
    with Receiver(folder / "stored", **chosen) as receiver:
        port = receiver.grpc_port if protocol == "grpc" else receiver.http_port
        target = f"otlp+{protocol}://127.0.0.1:{port}"
        exporter = OtlpSpanExporter(target, **{"spool": folder / "spool", **options})
        yield exporter, receiver
        exporter.shutdown()


def first(answer: Answer) -> Answers:
    """Answer so to the first request, and accept the others."""
    answers = iter([answer])
    return lambda _request: next(answers, None)


def frames_of(path: Path) -> list[tuple[int, bytes]]:
    """The frames of a segment that its owner has open."""
    with path.open("r+b", buffering=0) as file:
        return list(Segment(path, file).unread())


def stored_names(receiver: Receiver) -> list[str]:
    return [str(span["name"]) for span in receiver.spans()]


@PROTOCOLS
@pytest.mark.parametrize("status", [0, 401, 429, 503])
def test_what_may_pass_is_sent_again(tmp_path: Path, protocol: str, status: int) -> None:
    with sending(tmp_path, protocol, first(Answer(status))) as (exporter, receiver):
        exporter.export(spans_of("a b"))
        assert not exporter.force_flush()
        exporter.export(spans_of("c"))
        assert exporter.force_flush()
        assert stored_names(receiver) == ["a", "b", "c"]
        assert (exporter.counts.delivered, exporter.counts.failed) == (3, 0)


@PROTOCOLS
def test_the_receiver_says_when_to_come_back(tmp_path: Path, protocol: str) -> None:
    with sending(tmp_path, protocol, first(Answer(503, retry_after=0.05))) as (exporter, receiver):
        exporter.export(spans_of("a"))
        assert len(receiver.wait_for(1)) == 1
    with sending(tmp_path / "2", protocol, first(Answer(503, retry_after=600))) as (exporter, _):
        exporter.export(spans_of("a"))
        assert not exporter.force_flush()
        with exporter._changed:
            assert 500 < exporter._seconds_to_wait() <= 600  # type: ignore[operator]


@PROTOCOLS
def test_a_flush_waits_for_the_time_that_the_receiver_asks_for(
    tmp_path: Path, protocol: str
) -> None:
    with sending(tmp_path, protocol, first(Answer(429, retry_after=0.2))) as (exporter, receiver):
        exporter.export(spans_of("a b"))
        assert exporter.force_flush(20_000)
        assert stored_names(receiver) == ["a", "b"]
        assert receiver.requests == 2


@PROTOCOLS
def test_no_flush_sends_before_the_receiver_wants_it(tmp_path: Path, protocol: str) -> None:
    always = Answer(429, retry_after=600)
    with sending(tmp_path, protocol, lambda _: always) as (exporter, receiver):
        for name in "abcde":
            exporter.export(spans_of(name))
            assert not exporter.force_flush(20_000)
        exporter.shutdown()
        assert receiver.requests == 1


def test_a_receiver_that_asks_for_no_pause_gets_one_nevertheless(tmp_path: Path) -> None:
    always = Answer(503, retry_after=0)
    with sending(tmp_path, "http", lambda _: always) as (exporter, receiver):
        exporter.export(spans_of("a"))
        receiver.wait_for(1, timeout=0.5)
        assert receiver.requests < 10


@pytest.mark.parametrize("odd", ["inf", "nan", "soon", "-5", "Wed, 99 Foo 2026 00:00:00 GMT"])
def test_an_odd_time_to_come_back_stops_nothing(tmp_path: Path, odd: Any) -> None:
    with sending(tmp_path, "http", first(Answer(503, retry_after=odd))) as (exporter, receiver):
        exporter.export(spans_of("a"))
        exporter.force_flush()
        assert exporter.force_flush()
        assert stored_names(receiver) == ["a"]


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Page("text/html", b"<html>login</html>"), "the answer is not OTLP (text/html)"),
        (Page("application/x-protobuf", b"<html>"), "the answer is not OTLP (text/html)"),
        (
            Page("application/x-protobuf", b"\xff\xff"),
            "the answer is not OTLP (broken application/x-protobuf)",
        ),
    ],
    ids=["html", "html in disguise", "broken"],
)
def test_success_from_somebody_who_is_no_receiver_keeps_spans_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, page: Page, said: str
) -> None:
    with sending(tmp_path, "http", first(Answer(200, page=page))) as (exporter, receiver):
        exporter.export(spans_of("a b"))
        assert not exporter.force_flush()
        assert (exporter.counts.delivered, exporter.counts.failed, receiver.requests) == (0, 0, 1)
        assert exporter.force_flush()
        assert stored_names(receiver) == ["a", "b"]
    (message,) = caplog.messages
    assert message.endswith(f": {said}; spans wait and are sent later")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 305, 307, 308])
def test_a_redirect_refuses_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    with sending(tmp_path, "http", first(Answer(status))) as (exporter, receiver):
        exporter.export(spans_of("a b"))
        assert not exporter.force_flush()
        assert (exporter.counts.delivered, exporter.counts.failed) == (0, 0)
        assert exporter.force_flush()
        assert stored_names(receiver) == ["a", "b"]
    (message,) = caplog.messages
    assert f": HTTP {status} " in message
    assert message.endswith(", a redirect that cannot be followed; spans wait and are sent later")


@pytest.mark.parametrize("status", [200, 400, 405, 501])
def test_what_the_end_of_a_redirect_says_to_a_request_without_spans_refuses_nothing(
    status: int,
) -> None:
    page = requests.Response()
    page.status_code, page.url = status, "https://login.example/"
    page.request = requests.Request("GET", page.url).prepare()
    said = delivery._of_http(page)
    assert said.answer is delivery.Answer.UNAVAILABLE
    assert said.reason == "the spans were redirected to https://login.example/"


@pytest.mark.parametrize(
    ("page", "delivered"),
    [
        (Page("text/plain", b"ok"), 2),
        (Page("application/json", b"{}"), 2),
        (Page("application/json", b"done"), 2),
        (Page("application/json", b'{"partialSuccess": {"rejectedSpans": "1"}}'), 1),
        (Page("application/json", b'{"partialSuccess": {"rejectedSpans": "-5"}}'), 2),
        (Page("application/json", b'{"partialSuccess": {"rejectedSpans": "500"}}'), 0),
    ],
    ids=["word", "json", "no json", "partial", "less than none", "more than all"],
)
def test_a_lax_receipt_is_one(tmp_path: Path, page: Page, delivered: int) -> None:
    with sending(tmp_path, "http", first(Answer(200, page=page))) as (exporter, receiver):
        exporter.export(spans_of("a b"))
        assert exporter.force_flush() is (delivered == 2)
        assert (exporter.counts.delivered, exporter.counts.failed) == (delivered, 2 - delivered)
        assert receiver.requests == 1


@PROTOCOLS
def test_a_receiver_that_hangs_is_said_once(
    tmp_path: Path, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked, gate = threading.Event(), threading.Event()

    def hang(_request: ExportTraceServiceRequest) -> None:
        asked.set()
        gate.wait(20)

    with sending(tmp_path, protocol, hang) as (exporter, _receiver):
        exporter.export(spans_of("a"))
        assert asked.wait(20)
        assert not exporter.force_flush(50)
        assert not exporter.force_flush(50)
        exporter._sending_since -= 100  # long ago
        exporter.poll()
        (message,) = caplog.messages
        assert "spans wait and are sent later" in message
        assert "no answer for " in message
        gate.set()
        assert exporter.force_flush()


def test_a_receiver_that_hangs_is_said_without_any_flush(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked, gate = threading.Event(), threading.Event()

    def hang(_request: ExportTraceServiceRequest) -> None:
        asked.set()
        gate.wait(20)

    with sending(tmp_path, "http", hang) as (exporter, _receiver):
        exporter.export(spans_of("a"))
        assert asked.wait(20)
        exporter.poll()
        assert caplog.messages == []
        exporter._sending_since -= 5.0
        exporter.poll()
        assert "no answer for 5." in caplog.text
        gate.set()


def test_without_a_thread_spans_go_to_the_spool_until_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    first_span = spans_of("a")
    with Receiver(tmp_path / "stored") as receiver:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            target = f"otlp+http://127.0.0.1:{receiver.http_port}"
            exporter = OtlpSpanExporter(target, spool=tmp_path / "spool")
            exporter.export(first_span)
            assert not exporter.force_flush()
            assert len(list((tmp_path / "spool").glob("*.spool"))) == 1
        exporter.export(spans_of("b"))
        assert exporter.force_flush()
        exporter.shutdown()
        assert stored_names(receiver) == ["a", "b"]
    (message,) = caplog.messages
    assert message.endswith(": cannot send yet, spans go to the spool: can't start new thread")


@PROTOCOLS
def test_what_is_refused_for_good_is_counted_and_does_not_hold_up_the_rest(
    tmp_path: Path, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    with sending(tmp_path, protocol, first(Answer(400))) as (exporter, receiver):
        exporter.export(spans_of("bad worse"))
        exporter.export(spans_of("good"))
        assert not exporter.force_flush()
        assert exporter.force_flush()
        assert stored_names(receiver) == ["good"]
        assert (exporter.counts.delivered, exporter.counts.failed) == (1, 2)
    (warning,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "2 spans are lost: refused, " in warning.getMessage()


@PROTOCOLS
def test_a_message_that_is_too_large_is_halved(tmp_path: Path, protocol: str) -> None:
    def at_most_two(request: ExportTraceServiceRequest) -> Answer | None:
        return Answer(413) if len(names_in(request)) > 2 else None

    with sending(tmp_path, protocol, at_most_two) as (exporter, receiver):
        exporter.export(spans_of("a b c d e"))
        assert exporter.force_flush()
        assert stored_names(receiver) == ["a", "b", "c", "d", "e"]


@PROTOCOLS
def test_a_single_span_that_is_too_large_is_lost_alone(tmp_path: Path, protocol: str) -> None:
    def no_whales(request: ExportTraceServiceRequest) -> Answer | None:
        return Answer(413) if "whale" in names_in(request) else None

    with sending(tmp_path, protocol, no_whales) as (exporter, receiver):
        exporter.export(spans_of("a whale b"))
        assert not exporter.force_flush()
        assert stored_names(receiver) == ["a", "b"]
        assert (exporter.counts.delivered, exporter.counts.failed) == (2, 1)


def test_messages_stay_below_the_limit_of_a_grpc_receiver(tmp_path: Path) -> None:
    with sending(tmp_path, "grpc") as (exporter, receiver):
        exporter.export(spans_of("a b c d e f g h", text="x" * 1_000_000))
        assert exporter.force_flush()
        assert stored_names(receiver) == ["a", "b", "c", "d", "e", "f", "g", "h"]
        assert receiver.requests == 3


def test_a_message_that_breaks_the_receiver_is_given_up_after_eight_times(tmp_path: Path) -> None:
    def breaks_on(request: ExportTraceServiceRequest) -> Answer | None:
        return Answer(500) if "poison" in names_in(request) else None

    with sending(tmp_path, "http", breaks_on) as (exporter, receiver):
        exporter.export(spans_of("poison"))
        exporter.export(spans_of("a"))
        assert [exporter.force_flush() for _ in range(9)] == [False] * 8 + [True]
        assert stored_names(receiver) == ["a"]
        assert (exporter.counts.delivered, exporter.counts.failed) == (1, 1)


@PROTOCOLS
def test_what_cannot_be_encoded_costs_itself_alone(tmp_path: Path, protocol: str) -> None:
    spans = spans_of("a \ud800 b")
    with sending(tmp_path, protocol) as (exporter, receiver):
        exporter.export(spans)
        assert not exporter.force_flush()
        assert stored_names(receiver) == ["a", "b"]
        assert (exporter.counts.delivered, exporter.counts.failed) == (2, 1)


@PROTOCOLS
def test_what_a_receiver_lets_wait_for_long_is_safe_from_a_kill(
    tmp_path: Path, protocol: str
) -> None:
    """The next process sends it; what the receiver takes after all is marked as sent."""
    asked, answered = threading.Event(), threading.Event()

    def hang(_request: ExportTraceServiceRequest) -> None:
        asked.set()
        answered.wait(20)

    with sending(tmp_path, protocol, hang, memory_seconds=0) as (exporter, receiver):
        exporter.export(spans_of("a"))
        assert asked.wait(20)
        exporter.export(spans_of("b"))
        assert not list((tmp_path / "spool").glob("*.spool"))
        exporter.poll()
        (segment,) = (tmp_path / "spool").glob("*.spool")
        kept = [span.name for _, frame in frames_of(segment) for span in decode(frame)]
        assert kept == ["a", "b"]
        answered.set()
        assert exporter.force_flush()
        assert stored_names(receiver) == ["a", "b"]
        assert exporter.counts.delivered == 2


@PROTOCOLS
@pytest.mark.parametrize("answer", [None, Answer(400)], ids=["delivered", "refused"])
def test_a_receiver_that_hangs_holds_up_no_exit_and_loses_nothing(
    tmp_path: Path, protocol: str, answer: Answer | None
) -> None:
    asked, gate = threading.Event(), threading.Event()

    def hang(_request: ExportTraceServiceRequest) -> Answer | None:
        asked.set()
        gate.wait(20)
        return answer

    with sending(tmp_path, protocol, hang) as (exporter, receiver):
        exporter.export(spans_of("in flight"))
        assert asked.wait(20)
        exporter.export(spans_of("next"))
        assert not exporter.force_flush(timeout_millis=1)
        (segment,) = (tmp_path / "spool").glob("*.spool")
        assert segment.stat().st_size > 100
        gate.set()
        exporter.force_flush()
        assert exporter.force_flush()
        assert not segment.exists()
        delivered = 0 if answer else 3
        assert (exporter.counts.delivered, exporter.counts.failed) == (delivered, 3 - delivered)
        assert stored_names(receiver) == (["in", "flight", "next"] if delivered else [])


def test_a_shutdown_before_a_receiver_that_hangs_leaves_all_to_the_next_process(
    tmp_path: Path,
) -> None:
    gate = threading.Event()

    def hang(_request: ExportTraceServiceRequest) -> Answer | None:
        gate.wait(20)
        return Answer(503)

    with Receiver(tmp_path / "stored", answer=hang) as receiver:
        target = f"otlp+http://127.0.0.1:{receiver.http_port}"
        processor = BatchingProcessor(OtlpSpanExporter(target, spool=tmp_path / "spool"))
        for span in spans_of("a b c"):
            processor.on_end(span)
        processor.shutdown(timeout_millis=200)
        receiver.answer = lambda _request: None
        gate.set()
        following = OtlpSpanExporter(target, spool=tmp_path / "spool")
        assert following.force_flush()
        following.shutdown()
        assert stored_names(receiver) == ["a", "b", "c"]


def test_what_earlier_processes_left_is_sent_oldest_first(tmp_path: Path) -> None:
    with Receiver(tmp_path / "unused") as receiver:
        target = f"otlp+http://127.0.0.1:{receiver.http_port}"
        ports = {"http_port": receiver.http_port, "grpc_port": receiver.grpc_port}
    for name in "abc":
        exporter = OtlpSpanExporter(target, spool=tmp_path / "spool")
        exporter.export(spans_of(name))
        exporter.shutdown()
    with Receiver(tmp_path / "stored", **ports) as receiver:
        exporter = OtlpSpanExporter(target, spool=tmp_path / "spool")
        exporter.export(spans_of("d"))
        assert exporter.force_flush()
        exporter.shutdown()
        assert stored_names(receiver) == ["a", "b", "c", "d"]
    assert (exporter.counts.recovered, exporter.counts.delivered) == (3, 1)


@pytest.fixture
def away(tmp_path: Path) -> Callable[..., OtlpSpanExporter]:
    with Receiver(tmp_path / "unused") as receiver:
        target = f"otlp+http://127.0.0.1:{receiver.http_port}"
    return lambda **options: OtlpSpanExporter(target, **{"spool": tmp_path / "spool", **options})


def test_a_full_spool_is_counted_and_said_once(
    away: Callable[..., OtlpSpanExporter], caplog: pytest.LogCaptureFixture
) -> None:
    exporter = away(spool_bytes=1)
    exporter.export(spans_of("a"))
    assert not exporter.force_flush()
    for name in ("b", "c", "d"):
        exporter.export(spans_of(name))
    exporter.shutdown()
    assert exporter.counts.ended == 4
    said = [record.getMessage() for record in caplog.records if "limit" in record.getMessage()]
    assert len(said) <= 1


def test_without_a_spool_what_waits_at_the_end_is_counted_as_lost(
    away: Callable[..., OtlpSpanExporter],
) -> None:
    exporter = away(spool=False)
    exporter.export(spans_of("a b"))
    exporter.shutdown()
    assert (exporter.counts.ended, exporter.counts.failed) == (2, 2)


def test_an_unwritable_spool_keeps_spans_in_memory(
    tmp_path: Path, away: Callable[..., OtlpSpanExporter]
) -> None:
    (tmp_path / "file").write_text("in the way")
    exporter = away(spool=tmp_path / "file")
    exporter.export(spans_of("a"))
    assert not exporter.force_flush()
    assert exporter.counts.failed == 0
    exporter.shutdown()
    assert exporter.counts.failed == 1


def test_what_a_full_disk_refuses_is_sent_in_order_when_the_receiver_is_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "spool").write_text("in the way")
    away = threading.Event()
    away.set()

    def answer(_request: ExportTraceServiceRequest) -> Answer | None:
        return Answer(503) if away.is_set() else None

    with sending(tmp_path, "http", answer, memory_batches=1) as (exporter, receiver):
        for name in "abc":
            exporter.export(spans_of(name))
        assert not exporter.force_flush()
        assert exporter.counts.failed == 0
        (tmp_path / "spool").unlink()  # there is room again
        for name in "de":
            exporter.export(spans_of(name))
        away.clear()
        assert exporter.force_flush()
        assert stored_names(receiver) == list("abcde")
        assert (exporter.counts.delivered, exporter.counts.failed) == (5, 0)


def test_behind_a_full_disk_waits_a_bounded_number_of_batches(
    tmp_path: Path, away: Callable[..., OtlpSpanExporter]
) -> None:
    (tmp_path / "file").write_text("in the way")
    exporter = away(spool=tmp_path / "file", memory_batches=1)
    exporter.export(spans_of("a"))
    for _ in range(256 + 3):
        exporter.export(spans_of("b"))
    assert exporter.counts.failed == 3
    exporter.shutdown()
    assert exporter.counts.failed == exporter.counts.ended == 260


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        (
            "otlp+ftp://x",
            "export target 'otlp+ftp://x': unknown scheme 'ftp'; expected otlp, otlp+http://…, "
            "otlp+https://…, otlp+grpc://… or otlp+grpcs://…",
        )
    ],
)
def test_an_unknown_target_says_what_is_known(target: str, complaint: str) -> None:
    with pytest.raises(ValueError) as error:
        OtlpSpanExporter(target)
    assert str(error.value) == complaint
