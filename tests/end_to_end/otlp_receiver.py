"""A real OTLP receiver: gRPC and HTTP servers that keep every request as an OTLP JSON file.

1. `Receiver(folder)` listens on two loopback ports as soon as it is entered and stops when left. A
   second one with the same ports is the collector that came back.
2. An accepted request becomes `NNNNN.json` in `folder`, in order of arrival, with hex ids, as the
   OTLP specification wants them; `answer` decides what the client hears before that.
3. Run as a program, it prints its ports and serves until its standard input closes:
   `python otlp_receiver.py FOLDER [GRPC_PORT HTTP_PORT]`.
"""

from __future__ import annotations

import base64
import gzip
import json
import socket
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import grpc
from google.protobuf.json_format import MessageToDict
from google.rpc.error_details_pb2 import RetryInfo
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)

_IDS: Final = ("traceId", "spanId", "parentSpanId")
_DECODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
}
_GRPC_CODES: Final = {
    0: grpc.StatusCode.UNAVAILABLE,
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    503: grpc.StatusCode.UNAVAILABLE,
}
_TOO_LARGE: Final = "Received message larger than max (5000000 vs. 4194304)"


@dataclass(frozen=True, slots=True)
class Page:
    """The body of an answer over HTTP, and what it says that it is."""

    kind: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client hears instead of a receipt: the HTTP status, or the gRPC code that means it.

    Status 0: the connection is closed without an answer.
    """

    status: int
    retry_after: float | None = None
    page: Page = Page("application/x-protobuf", b"")


Answers = Callable[[ExportTraceServiceRequest], Answer | None]
"""Decides on each request; None accepts it."""


def accept(_request: ExportTraceServiceRequest) -> Answer | None:
    return None


@dataclass(slots=True)
class Receiver:
    """Two servers and the folder they write to."""

    folder: Path
    answer: Answers = accept
    grpc_port: int = 0
    http_port: int = 0
    max_message: int = 4 * 2**20
    """Largest gRPC message taken; grpc's own default."""
    requests: int = 0
    _arrived: threading.Condition = field(default_factory=threading.Condition)
    _grpc: Any = None
    _http: Any = None

    def __enter__(self) -> Receiver:
        self.folder.mkdir(parents=True, exist_ok=True)
        options = [("grpc.max_receive_message_length", self.max_message), ("grpc.so_reuseport", 0)]
        self._grpc = grpc.server(futures.ThreadPoolExecutor(4), options=options)
        add_TraceServiceServicer_to_server(_Service(self), self._grpc)  # type: ignore[no-untyped-call]
        self.grpc_port = self._grpc.add_insecure_port(f"127.0.0.1:{self.grpc_port}")
        self._grpc.start()
        self._http = _HttpServer(("127.0.0.1", self.http_port), self)
        self.http_port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._grpc.stop(0).wait()
        self._http.shutdown()
        self._http.server_close()
        self._http.hang_up()

    def take(self, request: ExportTraceServiceRequest) -> Answer | None:
        """Store a request, or say why not."""
        with self._arrived:
            self.requests += 1
            refusal = self.answer(request)
            if refusal is None:
                number = len(list(self.folder.glob("*.json")))
                text = json.dumps(otlp_json(request), ensure_ascii=False)
                (self.folder / f"{number:05d}.json").write_text(text, encoding="utf-8")
            self._arrived.notify_all()
            return refusal

    def wait_for(self, spans: int, timeout: float = 20.0) -> list[dict[str, Any]]:
        """Return the stored spans once there are so many of them, or what is there in the end."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self.spans()) >= spans, timeout)
            return self.spans()

    def spans(self) -> list[dict[str, Any]]:
        """Return every stored span as OTLP JSON, in order of arrival."""
        return list(stored_spans(self.folder))


def stored_spans(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the spans of a receiver's folder, in order of arrival."""
    for path in sorted(folder.glob("*.json")):
        yield from spans_in(path)


def spans_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the spans of one stored message."""
    for resource in json.loads(path.read_text("utf-8"))["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def otlp_json(request: ExportTraceServiceRequest) -> dict[str, Any]:
    """Render a request as OTLP JSON: protobuf's JSON, but hex ids."""
    document = MessageToDict(request, use_integers_for_enums=True)
    for resource in document.get("resourceSpans", []):
        for scope in resource.get("scopeSpans", []):
            for span in scope.get("spans", []):
                for holder in (span, *span.get("links", [])):
                    for key in _IDS:
                        if key in holder:
                            holder[key] = base64.b64decode(holder[key]).hex()
    return document


class _Service(TraceServiceServicer):
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def Export(
        self, request: ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> ExportTraceServiceResponse:
        refusal = self._receiver.take(request)
        if refusal is not None:
            if refusal.retry_after is not None:
                delay = RetryInfo()
                delay.retry_delay.FromNanoseconds(int(refusal.retry_after * 1e9))
                packed = (("google.rpc.retryinfo-bin", delay.SerializeToString()),)
                context.set_trailing_metadata(packed)
            what = _TOO_LARGE if refusal.status == 413 else f"answered {refusal.status}"
            context.abort(_GRPC_CODES[refusal.status], what)
        return ExportTraceServiceResponse()


class _HttpServer(ThreadingHTTPServer):
    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        self.receiver = receiver
        self._connections: list[socket.socket] = []
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.append(request)
        super().process_request(request, client_address)

    def hang_up(self) -> None:
        """Close what clients keep open, as a server that is gone does."""
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        decode = _DECODERS.get(self.headers.get("content-encoding", ""))
        request = ExportTraceServiceRequest.FromString(body if decode is None else decode(body))
        refusal = self.server.receiver.take(request)
        if refusal is not None and refusal.status == 0:
            self.close_connection = True
            return
        self.send_response(200 if refusal is None else refusal.status)
        if refusal is not None and refusal.retry_after is not None:
            self.send_header("retry-after", str(refusal.retry_after))
        page = Page("application/x-protobuf", b"") if refusal is None else refusal.page
        self.send_header("content-type", page.kind)
        self.send_header("content-length", str(len(page.body)))
        self.end_headers()
        self.wfile.write(page.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


def main(folder: str, grpc_port: str = "0", http_port: str = "0") -> None:
    with Receiver(Path(folder), grpc_port=int(grpc_port), http_port=int(http_port)) as receiver:
        print(receiver.grpc_port, receiver.http_port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
