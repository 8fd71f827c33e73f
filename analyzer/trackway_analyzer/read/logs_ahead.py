"""Log records that stand behind their spans: found before the spans are read.

1. The first `WINDOW` bytes of a file are looked through for log records behind spans. Some found
   there, or met later on the way, and this file and all that follow are gone through for such
   documents before anything else of them is read.
2. A line is looked at only at its beginning; a document of spans that holds records too keeps them
   itself, and so does a file that is one document.
3. A document that was kept is known by its file and offset, and is not kept again. Standard input
   cannot be read twice: of it, the window alone is looked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from trackway_analyzer.read.byte_stream import ByteStream, Window
from trackway_analyzer.read.detect import Container, Format, container_of
from trackway_analyzer.read.frames import LENGTH, frames, is_framed
from trackway_analyzer.read.json_documents import Lines, document_of
from trackway_analyzer.read.log_records import LogRecords
from trackway_analyzer.read.otlp_json import keep_logs
from trackway_analyzer.read.otlp_levels import log_groups, resource_groups
from trackway_analyzer.read.otlp_signals import begins_with_logs, kept_logs
from trackway_analyzer.read.quarantine import Quarantine
from trackway_analyzer.read.source import STDIN, TraceFile

WINDOW: Final = 32 * 1024 * 1024
_START: Final = 256
_MARKS: Final = (b'"resourceLogs"', b'"resource_logs"')
_LINED: Final = (Container.TEXT, Container.FRAMES)


def holds_logs(file: TraceFile) -> bool:
    """Tell whether a file begins with log records and not with spans."""
    if file.name == STDIN:
        return False
    try:
        stream = ByteStream(file)
    except OSError:
        return False
    try:
        head = stream.head()
    except OSError:
        return False
    finally:
        stream.close()
    if is_framed(head):
        head = head[LENGTH:]
    if begins_with_logs(head):
        return True
    return any(mark in head for mark in _MARKS) and b'"resourceSpans"' not in head


class LogsAhead:
    """Keeps the log records of files before their spans are read."""

    def __init__(self, files: Iterable[TraceFile], logs: LogRecords) -> None:
        self._waiting = list(files)
        self._logs = logs
        self._found: set[tuple[str, int]] = set()
        self._looked = False
        self._file: TraceFile | None = None
        self.after_spans = False
        """Whether the file that is read now had spans so far."""

    def look(self, file: TraceFile, stream: ByteStream, forced: Format | None) -> None:
        """Look through the beginning of the next file, unless it was gone through already."""
        self._file, self.after_spans = file, False
        if self._looked or container_of(stream.head(), forced) not in _LINED:
            return
        window = stream.look(WINDOW)
        if _is_mixed(window):
            self._go_through(file)
            if file.name == STDIN:
                self._keep(file, Window(window))

    def kept(self, offset: int) -> bool:
        """Tell whether the records of a document, met now, were kept before."""
        if self._file is None:
            return False
        if self.after_spans and not self._looked:
            self._go_through(self._file)
        return (self._file.name, offset) in self._found

    def _go_through(self, file: TraceFile) -> None:
        """Keep the records of a file and of those after it."""
        self._looked = True
        for following in self._waiting[self._waiting.index(file) :]:
            if following.name == STDIN:
                continue
            try:
                stream = ByteStream(following)
            except OSError:
                continue  # its own reading will say so
            try:
                self._keep(following, stream)
            finally:
                stream.close()

    def _keep(self, file: TraceFile, stream: ByteStream | Window) -> None:
        unsaid = Quarantine("")  # the reading of the spans will say it
        with suppress(OSError):
            framed = is_framed(stream.head())
            parts = frames(stream, unsaid) if framed else Lines(stream, unsaid).all()
            for offset, text in parts:
                if _is_logs(text) and self._is_kept(text, offset):
                    self._found.add((file.name, offset))

    def _is_kept(self, text: bytes, offset: int) -> bool:
        if begins_with_logs(text):
            return kept_logs(text, self._logs)
        kept = False
        for _, document in document_of(text, Quarantine(""), offset):
            groups = log_groups(document)
            if groups is not None and resource_groups(document) is None:
                keep_logs(groups, self._logs)
                kept = True
        return kept


def _is_mixed(window: bytes) -> bool:
    """Tell whether log records stand behind something else."""
    other = False
    for text in _starts(window):
        if not _is_logs(text):
            other = True
        elif other:
            return True
    return False


def _starts(window: bytes) -> Iterator[bytes]:
    """Return the documents of a window, of lines the beginning."""
    if is_framed(window):
        yield from (body for _, body in frames(Window(window), Quarantine("")))
        return
    start = 0
    while True:
        yield window[start : start + _START]
        start = window.find(b"\n", start) + 1
        if not start:
            return


def _is_logs(text: bytes) -> bool:
    start = text[:_START]
    return any(mark in start for mark in _MARKS) or begins_with_logs(text)
