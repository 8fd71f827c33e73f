"""The truth beside the exporters: which spans ended, and when the process began to leave.

1. Every line is one `write` to a file opened for appending: it is there, whole, whatever happens to
   the process next, and forked children may share the descriptor.
2. `E ID NANOSECONDS`: a span ended. `L NANOSECONDS`: the process begins to leave. `C LOST`: what
   the SDK itself counted as lost, once it is closed.
3. The clock is the machine's monotonic one, which all processes share.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor


class Ledger(SpanProcessor):
    """Writes down every span that has ended, after the exporters got it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def on_end(self, span: ReadableSpan) -> None:
        assert span.context is not None
        self._write(f"E {span.context.span_id:016x} {time.monotonic_ns()}")

    def leave(self) -> None:
        self._write(f"L {time.monotonic_ns()}")

    def counted(self, lost: int) -> None:
        self._write(f"C {lost}")

    def _write(self, line: str) -> None:
        os.write(self._file, f"{line}\n".encode())


@dataclass(frozen=True, slots=True)
class Entries:
    """What a ledger says."""

    ended: dict[str, int]
    """Span id → when it ended, ns."""
    left: int | None
    """When the last process began to leave, as far as it knew."""
    counted: int
    """Spans that the SDK says it lost."""


def read(path: Path) -> Entries:
    """Read a ledger, also one that is being written."""
    lines = path.read_text().splitlines() if path.exists() else []
    fields = [line.split() for line in lines]
    return Entries(
        ended={field[1]: int(field[2]) for field in fields if field[0] == "E"},
        left=max((int(field[1]) for field in fields if field[0] == "L"), default=None),
        counted=sum(int(field[1]) for field in fields if field[0] == "C"),
    )
