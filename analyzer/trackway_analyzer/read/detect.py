"""What a file is, told by its first bytes and, for JSON, by its keys; never by its name.

| format | how it is told |
|---|---|
| `parquet` | the first four bytes are `PAR1` |
| Arrow | the first bytes are `ARROW1`, or a stream's `FF FF FF FF` |
| `otlp-protobuf` | the first byte is that of a list of resource spans, bare or after a length |
| `otlp-json` | JSON with `resourceSpans`, bare or wrapped in `batches`, `data` and the like |
| `jaeger-json` | JSON with traces of `traceID`, `spans` and `processes` |
| a spool of ours | the first eight bytes are `TWSPOOL1` |
| all others | the keys or columns that `formats` names |

JSON too may have lengths before its documents, and zstd streams in them.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from trackway_analyzer.read.frames import is_framed

ARCHIVE_MARK: Final = b"PK\x03\x04"
SPOOL_MARK: Final = b"TWSPOOL1"
ARROW_MARKS: Final = (b"ARROW1\x00\x00", b"\xff\xff\xff\xff")


class Format(StrEnum):
    """The formats that a person can force."""

    PARQUET = "parquet"
    OTLP_JSON = "otlp-json"
    OTLP_PROTOBUF = "otlp-protobuf"
    JAEGER_JSON = "jaeger-json"
    ATIF = "atif"
    CLAUDE_CODE = "claude-code"
    CLICKHOUSE = "clickhouse"
    CODEX = "codex"
    LANGFUSE = "langfuse"
    MLFLOW = "mlflow"
    PHOENIX = "phoenix"
    INSPECT = "inspect"
    MESSAGES = "messages"
    SWE_AGENT = "swe-agent"
    TAU_BENCH = "tau-bench"
    TAU2_BENCH = "tau2-bench"


class Container(StrEnum):
    """How the bytes of a file are cut into documents."""

    PARQUET = "parquet"
    ARCHIVE = "archive"
    """A zip of Inspect's."""
    TEXT = "text"
    """JSON: one document, or one a line."""
    FRAMES = "frames"
    ARROW = "arrow"
    """An IPC file, as Feather is, or a stream."""
    MESSAGE = "message"
    """One protobuf message."""
    SPOOL = "spool"
    """What a recorder of ours has not written yet."""


def container_of(head: bytes, forced: Format | None) -> Container:
    """Return how to cut a file that begins with these bytes."""
    if forced is Format.PARQUET or (forced is None and head.startswith(b"PAR1")):
        return Container.PARQUET
    if head.startswith(ARROW_MARKS):
        return Container.ARROW
    if head.startswith(ARCHIVE_MARK):
        return Container.ARCHIVE
    if head.startswith(SPOOL_MARK):
        return Container.SPOOL
    if is_framed(head):
        return Container.FRAMES
    if forced is Format.OTLP_PROTOBUF or (forced is None and _is_protobuf(head)):
        return Container.MESSAGE
    return Container.TEXT


def is_tape(head: bytes) -> bool:
    """Tell a tar archive by the first bytes of a file."""
    return head[257:262] == b"ustar"


def _is_protobuf(head: bytes) -> bool:
    """Field 1, a message: the byte of a line end, but no JSON text follows it.

    A group of 123 or 91 bytes begins like one, but holds ids, and JSON no byte of their length.
    """
    if not head.startswith(b"\n") or not head.strip():
        return False
    return head.strip()[:1] not in (b"{", b"[") or _NO_JSON.search(head, 0, _GROUP) is not None


_NO_JSON: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_GROUP: Final = 125
"""Bytes of the longest group that may be taken for JSON, with its head."""
_FOREIGN: Final = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive"),
    (b"SQLite format 3", "an SQLite database: export its traces, or read them through its server"),
    (b"FEA1", "Feather of version 1: write it as version 2 or Parquet"),
    (b"\x80\x04", "a pickle, which is never opened"),
    (b"\x80\x05", "a pickle, which is never opened"),
    (b"<", "HTML or XML"),
)
_SHOWN: Final = 40


def looks_like(head: bytes) -> str:
    """Say in a few words what begins with these bytes and is no trace."""
    for start, what in _FOREIGN:
        if head.lstrip().startswith(start):
            return what
    line = head.lstrip().partition(b"\n")[0][:_SHOWN]
    text = line.decode("utf-8", "replace").strip()
    return f"text that begins with {text!r}" if text.isprintable() else "binary data"


def named(name: str) -> Format:
    """Return a format by name. Raises ValueError that lists the known names."""
    try:
        return Format(name)
    except ValueError:
        raise ValueError(f"no format {name!r}; known: {', '.join(Format)}") from None
