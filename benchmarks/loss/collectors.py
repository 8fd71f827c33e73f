"""Collectors that stand up, and collectors that fail in one way each.

A collector is a function of a folder and two ports that serves inside a `with`. What it accepted is
in the folder, one file a message.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.end_to_end.otlp_receiver import Answer, Answers, Receiver, accept


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a collector listens."""

    grpc: int
    http: int


Collector = Callable[[Path, Ports], AbstractContextManager[object]]
_RESET: Final = struct.pack("ii", 1, 0)


def free_ports() -> Ports:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        return Ports(one.getsockname()[1], two.getsockname()[1])


def answering(answer: Answers = accept) -> Collector:
    def collector(folder: Path, ports: Ports) -> AbstractContextManager[object]:
        return Receiver(folder, answer=answer, grpc_port=ports.grpc, http_port=ports.http)

    return collector


up: Final = answering()


@contextmanager
def absent(_folder: Path, _ports: Ports) -> Iterator[None]:
    """Nobody listens: connections are refused."""
    yield


@contextmanager
def silent(_folder: Path, ports: Ports) -> Iterator[None]:
    """Takes the connection and never says a word."""
    backlog = 64
    with (
        socket.create_server(("127.0.0.1", ports.grpc), backlog=backlog),
        socket.create_server(("127.0.0.1", ports.http), backlog=backlog),
    ):
        yield


@contextmanager
def hanging_up(_folder: Path, ports: Ports) -> Iterator[None]:
    """Reads the first bytes of a message, then resets the connection."""

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connection.recv(64)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                connection.close()

    listeners = [socket.create_server(("127.0.0.1", port)) for port in (ports.grpc, ports.http)]
    for listener in listeners:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
    yield
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def always(status: int, retry_after: float | None = None) -> Collector:
    return answering(lambda _request: Answer(status, retry_after))


def at_first(status: int, retry_after: float | None = None, *, times: int = 1) -> Collector:
    """Refuses some messages, then takes all."""
    seen = count()
    return answering(lambda _: Answer(status, retry_after) if next(seen) < times else None)


def slow(seconds: float) -> Collector:
    def answer(_request: ExportTraceServiceRequest) -> None:
        time.sleep(seconds)

    return answering(answer)


def small(spans: int) -> Collector:
    """Takes few spans a message; to more it says 413."""

    def answer(request: ExportTraceServiceRequest) -> Answer | None:
        found = sum(len(scope.spans) for one in request.resource_spans for scope in one.scope_spans)
        return Answer(413) if found > spans else None

    return answering(answer)
