"""What did the receiver say to one message?

1. A message is sent once. Upstream's own retries, which can block for a minute, are cut short: when
   to try again is the exporter's decision, for it has a spool.
2. *Delivered*: accepted, perhaps less some spans that the receiver says it rejected.
3. *Too large*: HTTP 413, or gRPC RESOURCE_EXHAUSTED for the size of the message.
4. *Refused*: the receiver will never take it (HTTP 400 and the like, INVALID_ARGUMENT).
5. *Unavailable*: everything that may pass: no connection, time-outs, 408, 429, 5xx, and what a
   corrected configuration would heal (401, 403, 404, 407; UNAUTHENTICATED, PERMISSION_DENIED,
   UNIMPLEMENTED; a redirect, and what its end says to a request without the spans; success from
   somebody who is no receiver, as the page of a login). `Retry-After` and `RetryInfo` are kept.
6. *Unencodable*: upstream could not turn the spans into bytes and sent nothing.
"""

from __future__ import annotations

import importlib
import logging
import math
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, Final

import grpc
import requests
from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpExporter,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from trackway.export.otlp.endpoint import Endpoint

# Upstream loads these with its first message. A child that is forked while a thread imports
# something waits for that import for ever, so nothing is left to the thread that sends.
for _later in ("netrc", "shlex", "grpc._channel", "grpc.experimental"):
    with suppress(ImportError):
        importlib.import_module(_later)

_CREDENTIAL_PROVIDERS: Final = (
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER",
)
_PROTOBUF: Final = "application/x-protobuf"
_RETRY_INFO: Final = "google.rpc.retryinfo-bin"
_HEALABLE_HTTP: Final = frozenset({401, 403, 404, 407, 408, 429})
_HOPELESS_GRPC: Final = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.ALREADY_EXISTS,
    }
)


class Answer(Enum):
    """How a receiver can answer."""

    DELIVERED = "delivered"
    TOO_LARGE = "too large"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"
    UNENCODABLE = "unencodable"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one message."""

    answer: Answer
    reason: str = ""
    retry_after: float | None = None
    """Seconds that the receiver asks to wait."""
    rejected: int = 0
    """Spans that an accepting receiver says it did not take."""
    failed_on_it: bool = False
    """The receiver broke on this message (HTTP 500; gRPC INTERNAL, UNKNOWN): it may do so again."""


class Sender:
    """Sends messages to one receiver through the upstream exporter. Not thread-safe."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._said: Delivery | None = None
        self._blind = False
        """Upstream's answers cannot be seen: then every failure may pass."""
        self._upstream = self._connect()

    def send(self, spans: Sequence[ReadableSpan]) -> Delivery:
        """Send one message and return what became of it; raises nothing."""
        self._said = None
        _QUIET.on = True
        try:
            result = self._upstream.export(spans)
        except _Answered:
            result = SpanExportResult.FAILURE
        except Exception as error:  # noqa: BLE001 - upstream lets encoding errors of any kind out
            if not self._is_answered():
                return Delivery(Answer.UNENCODABLE, f"{type(error).__name__}: {error}")
            result = SpanExportResult.FAILURE  # upstream stumbled over the answer
        finally:
            _QUIET.on = False
        said: Delivery | None = self._said
        if said is None:
            if result is SpanExportResult.SUCCESS:
                return Delivery(Answer.DELIVERED)
            answer = Answer.UNAVAILABLE if self._blind else Answer.UNENCODABLE
            return Delivery(answer, "the OpenTelemetry exporter failed and did not say why")
        if said.answer is Answer.UNAVAILABLE and self._endpoint.grpc:
            # A channel waits ever longer before it connects again; a new one tries at once.
            self._upstream.shutdown()
            self._upstream = self._connect()
        return said

    def close(self) -> None:
        """Release the connection."""
        self._upstream.shutdown()

    def _is_answered(self) -> bool:
        return self._said is not None

    def _note(self, said: Delivery) -> None:
        self._said = said

    def _connect(self) -> SpanExporter:
        endpoint = self._endpoint
        if not endpoint.grpc:
            # A credential provider brings a session of its own.
            self._blind = any(map(os.environ.get, _CREDENTIAL_PROVIDERS))
            session = None if self._blind else _OneTrySession(self._note)
            return HttpExporter(endpoint=endpoint.address, session=session)
        exporter = GrpcExporter(endpoint=endpoint.address, insecure=endpoint.insecure)
        # Not a public name; a test notices when it moves (seen in 1.30 to 1.45).
        stub = getattr(exporter, "_client", None)
        self._blind = stub is None
        if stub is not None:
            vars(exporter)["_client"] = _OneTryStub(stub, self._note)
        return exporter


class _Answered(Exception):
    """The receiver has answered, and upstream is not to try again."""


class _OneTrySession(requests.Session):
    """A session that notes the answer and lets upstream see success alone."""

    def __init__(self, note: Any) -> None:
        super().__init__()
        self._note = note

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:
        """Send once. Raises `_Answered` unless the receiver accepts."""
        try:
            response = super().request(*args, **kwargs)
        except requests.RequestException as error:
            self._note(Delivery(Answer.UNAVAILABLE, _first_line(error)))
            raise _Answered from error
        said = _of_http(response)
        self._note(said)
        if said.answer is not Answer.DELIVERED:
            raise _Answered
        return response


class _OneTryStub:
    """A gRPC stub that notes the answer and lets upstream see success alone."""

    def __init__(self, stub: Any, note: Any) -> None:
        self._stub = stub
        self._note = note

    def Export(self, **call: Any) -> Any:
        """Send once. Raises `_Answered` unless the receiver accepts."""
        try:
            response = self._stub.Export(**call)
        except grpc.RpcError as error:
            self._note(_of_grpc(error))
            raise _Answered from error
        self._note(_accepted(response))
        return response


def _of_http(response: requests.Response) -> Delivery:
    status, reason = response.status_code, f"HTTP {response.status_code} {response.reason}"
    if response.request.method != "POST":  # whoever is asked for a page takes no spans
        return Delivery(Answer.UNAVAILABLE, f"the spans were redirected to {response.url}")
    if status < 300:
        return _of_success(response)
    if status < 400:
        return Delivery(Answer.UNAVAILABLE, f"{reason}, a redirect that cannot be followed")
    if status == 413:
        return Delivery(Answer.TOO_LARGE, reason)
    if status >= 500 or status in _HEALABLE_HTTP:
        retry_after = _seconds(response.headers.get("retry-after"))
        return Delivery(Answer.UNAVAILABLE, reason, retry_after, failed_on_it=status == 500)
    return Delivery(Answer.REFUSED, reason)


def _of_success(response: requests.Response) -> Delivery:
    """Read a receipt: protobuf, or what lax receivers send, JSON or a word. A page is none."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = response.content.lstrip()
    if kind == "text/html" or body.startswith(b"<"):
        return Delivery(Answer.UNAVAILABLE, "the answer is not OTLP (text/html)")
    try:
        if kind == "application/json":
            read: Any = Parse(body, ExportTraceServiceResponse(), ignore_unknown_fields=True)
        else:
            read = ExportTraceServiceResponse.FromString(response.content)
    except (DecodeError, ParseError):
        if kind == _PROTOBUF:
            return Delivery(Answer.UNAVAILABLE, f"the answer is not OTLP (broken {kind})")
        return Delivery(Answer.DELIVERED)
    return _accepted(read)


def _of_grpc(error: Any) -> Delivery:
    code, details = error.code(), error.details() or ""
    reason = f"gRPC {code.name}: {details.splitlines()[0] if details else ''}"
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in details:
        return Delivery(Answer.TOO_LARGE, reason)
    if code in _HOPELESS_GRPC:
        return Delivery(Answer.REFUSED, reason)
    retry_after = None
    packed = dict(error.trailing_metadata() or ()).get(_RETRY_INFO)
    if packed is not None:
        with suppress(DecodeError):
            delay = RetryInfo.FromString(packed).retry_delay
            retry_after = _ahead(delay.seconds + delay.nanos / 1e9)
    broke = code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
    return Delivery(Answer.UNAVAILABLE, reason, retry_after, failed_on_it=broke)


def _accepted(response: Any) -> Delivery:
    partial = response.partial_success
    return Delivery(Answer.DELIVERED, partial.error_message, rejected=partial.rejected_spans)


def _seconds(retry_after: str | None) -> float | None:
    """Read a `Retry-After` header: seconds, or an HTTP date."""
    if retry_after is None:
        return None
    try:
        return _ahead(float(retry_after))
    except ValueError:
        pass
    try:
        return _ahead(parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _ahead(seconds: float) -> float | None:
    """A moment that is past, or never comes, asks for nothing: the usual pauses hold."""
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


class _Quiet(threading.local):
    """True in a thread that is inside `Sender.send`."""

    on = False


_QUIET: Final = _Quiet()
# Upstream logs every failed attempt as an error; what matters of it is in the exporter's own line.
for _module in (GrpcExporter.__module__, HttpExporter.__module__):
    logging.getLogger(_module).addFilter(lambda _record: not _QUIET.on)
logging.getLogger("opentelemetry.exporter.otlp.proto.grpc.exporter").addFilter(
    lambda _record: not _QUIET.on
)
