"""Files to span batches: each is cut into documents, each document read by the format it is in.

1. How a file is cut is told by its first bytes (`detect`); what a JSON document is, by its keys.
2. Files of log records are read before all others, for their records belong to spans elsewhere.
3. A file or document of no known format is put aside with what it looks like instead.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from trackway_analyzer.dialects import SpanReader
from trackway_analyzer.read.arrow_files import arrow_tables
from trackway_analyzer.read.atif_trajectories import Trajectories, atif_trajectories
from trackway_analyzer.read.byte_stream import ByteStream, UnreadableStreamError, is_compressed
from trackway_analyzer.read.detect import ARCHIVE_MARK, Container, Format, container_of, is_tape
from trackway_analyzer.read.formats import (
    SessionLines,
    completed_spans,
    document_spans,
    document_table,
)
from trackway_analyzer.read.frames import frames
from trackway_analyzer.read.jaeger_json import jaeger_spans, jaeger_traces
from trackway_analyzer.read.json_documents import MAX_DOCUMENT, Located, document_of, documents
from trackway_analyzer.read.left_spools import SPOOL_ENDINGS
from trackway_analyzer.read.log_records import LogRecords
from trackway_analyzer.read.logs_ahead import LogsAhead, holds_logs
from trackway_analyzer.read.names_held import is_of_the_expected, names_held
from trackway_analyzer.read.otlp_json import keep_logs, spans_of
from trackway_analyzer.read.otlp_levels import (
    RECORDS,
    SCOPES_OF_LOGS,
    log_groups,
    put_aside,
    resource_groups,
)
from trackway_analyzer.read.otlp_protobuf import begins_a_trace, protobuf_spans
from trackway_analyzer.read.otlp_signals import (
    METRICS,
    holds_metrics,
    holds_spans,
    kept_logs,
)
from trackway_analyzer.read.otlp_usual import UsualDocument, usual_spans
from trackway_analyzer.read.overlooked import OTHERWISE_NAMED, overlooked
from trackway_analyzer.read.parquet import ForeignTableError, any_table, parquet_tables
from trackway_analyzer.read.partial_answers import PartialAnswers, is_empty_answer
from trackway_analyzer.read.quarantine import Quarantine, Quarantined, Reason, quarantine_table
from trackway_analyzer.read.session_copies import Copies, originals_first
from trackway_analyzer.read.source import STDIN, Listing, PassedOver, TraceFile
from trackway_analyzer.read.span_rows import Gathering, SpanBatch
from trackway_analyzer.read.spool_frames import arrow_table, spooled
from trackway_analyzer.read.transcripts.eval_archive import eval_documents
from trackway_analyzer.read.unread_forms import unread_form
from trackway_analyzer.spans import RawSpan

_OTLP: Final = (None, Format.OTLP_JSON, Format.OTLP_PROTOBUF)


def read_files(
    source: Listing, reader: SpanReader, forced: Format | None, *, strict: bool
) -> Iterator[SpanBatch]:
    """Return the spans of files, batch by batch. Raises QuarantineError in strict mode."""
    work = _Work(reader, forced, strict=strict)
    work.look_over(source)
    for file in work.in_order(list(source.files)):
        yield from work.file(file)
    yield from work.rest()


class _Work:
    """One reading of several files: rows on their way, log records that wait for their span."""

    def __init__(self, reader: SpanReader, forced: Format | None, *, strict: bool) -> None:
        self._reader = reader
        self._forced = forced
        self._strict = strict
        self._gathering = Gathering(reader)
        self._logs = LogRecords()
        self._ahead = LogsAhead((), self._logs)
        self._last = Quarantine("")
        self._answers = PartialAnswers()
        self._adopted = set[Quarantined]()
        self._trajectories = Trajectories()
        self._copies = Copies()

    def in_order(self, traces: list[TraceFile]) -> list[TraceFile]:
        """Return the files in the order in which they are to be read.

        Those of logs come first, sessions before those that copied them.
        """
        if len(traces) > 1:
            traces, self._copies = originals_first(traces)
            logs = {file.name for file in traces if holds_logs(file)}
            traces = sorted(traces, key=lambda file: file.name not in logs) if logs else traces
        self._ahead = LogsAhead(traces, self._logs)
        return traces

    def pass_over(self, others: PassedOver) -> None:
        """Name files of a folder that are not read."""
        if not others.names:
            return
        quarantine = Quarantine(others.folder)
        quarantine.add(Reason.PASSED_OVER, str(others), count=len(others.names))
        self._gathering.put_aside(quarantine)

    def look_over(self, source: Listing) -> None:
        """Put aside files of folders that are not read, those by themselves that may tell."""
        found = list(overlooked(source))
        naming = {other.file.name for other in found if other.what is None}
        for others in source.passed_over:
            self.pass_over(others.but(naming))
        for other in found:
            quarantine = Quarantine(other.file.name, strict=self._strict)
            if other.what is not None:
                quarantine.add(Reason.UNREAD_FORM, other.what)
            else:
                quarantine.add(Reason.PASSED_OVER, OTHERWISE_NAMED, names=other.names)
            self._gathering.put_aside(quarantine)

    def file(self, file: TraceFile) -> Iterator[SpanBatch]:
        """Read one file."""
        quarantine = self._last = Quarantine(file.name, strict=self._strict, adopted=self._adopted)
        try:
            stream = ByteStream(file)
            try:
                self._ahead.look(file, stream, self._forced)
                yield from self._stream(file, stream, quarantine)
            finally:
                stream.close()
        except OSError as error:
            quarantine.add(Reason.UNREADABLE, str(error))
        yield from self._gathering.add(completed_spans(file.name, self._copies), quarantine)
        self._gathering.put_aside(quarantine)

    def rest(self) -> Iterator[SpanBatch]:
        """Return what was gathered and not yet returned."""
        self._logs.put_aside(self._last)
        yield from self._gathering.add(self._trajectories.rest(), self._last)
        for quarantine in (self._last, *self._trajectories.quarantines):
            self._gathering.put_aside(quarantine)
        for quarantine in self._answers.unanswered():
            self._gathering.put_aside(quarantine)
        if self._gathering.pending:
            yield self._gathering.flush()

    def _stream(
        self, file: TraceFile, stream: ByteStream, quarantine: Quarantine
    ) -> Iterator[SpanBatch]:
        if is_compressed(stream.head()):
            detail = "compressed twice: unpack it once"
            quarantine.add(Reason.UNREADABLE, detail)
            return
        if is_tape(stream.head()):
            quarantine.add(Reason.UNREADABLE, "a tar archive: unpack it, and give its folder")
            return
        container = container_of(stream.head(), self._forced)
        if container is Container.PARQUET:
            yield from self._parquet(file, stream, quarantine)
        elif container is Container.ARROW:
            arrow = _whole(stream, quarantine) or b""
            tables = arrow_tables(arrow, self._reader, self._forced, quarantine)
            yield from self._tables(tables, "Arrow", quarantine)
        elif container is Container.ARCHIVE:
            with _seekable(file, stream, quarantine) as archive:
                for document in eval_documents(archive, quarantine):
                    yield from self._document((0, document), quarantine)
        elif container is Container.SPOOL or file.name.endswith(SPOOL_ENDINGS):
            for offset, frame in spooled(stream, quarantine):
                yield from self._frame(offset, frame, quarantine)
        elif container is Container.MESSAGE:
            body = _whole(stream, quarantine)
            if body is not None:
                yield from self._message(0, body, quarantine)
        elif container is Container.FRAMES:
            for offset, body in frames(stream, quarantine):
                if body.startswith(b"{"):
                    for located in document_of(body, quarantine, offset):
                        yield from self._document(located, quarantine)
                else:
                    yield from self._message(offset, body, quarantine)
        else:
            session = SessionLines(self._forced, self._copies)
            for located in documents(stream, quarantine):
                usual = isinstance(located[1], UsualDocument)
                if usual or not session.take(located):
                    yield from self._document(located, quarantine)
            yield from self._gathering.add(session.spans(quarantine), quarantine)

    def _document(self, located: Located, quarantine: Quarantine) -> Iterator[SpanBatch]:
        offset, document = located
        if isinstance(document, UsualDocument):
            yield from self._usual(document, quarantine, offset)
            return
        self._answers.look(document, quarantine, offset)
        logs = log_groups(document)
        groups = resource_groups(document)
        if logs:
            put_aside(logs, SCOPES_OF_LOGS, RECORDS, quarantine, offset)
        if logs is not None and (groups is not None or not self._ahead.kept(offset)):
            keep_logs(logs, self._logs)
        if self._forced in _OTLP and groups is not None:
            spans = self._joined(spans_of(groups, quarantine, offset))
            yield from self._gathering.add(spans, quarantine)
            return
        if self._forced in (None, Format.JAEGER_JSON):
            traces = jaeger_traces(document)
            if traces is not None:
                spans = jaeger_spans(traces, quarantine, offset)
                yield from self._gathering.add(spans, quarantine)
                return
        table = document_table(document, self._forced, quarantine, offset)
        if table is not None:
            yield SpanBatch(table, quarantine_table())
            return
        if self._forced in (None, Format.ATIF):
            items = atif_trajectories(document)
            if items is not None:
                spans = self._trajectories.take(items, quarantine, offset)
                yield from self._gathering.add(spans, quarantine)
                return
        found = document_spans(document, self._forced, quarantine, offset)
        if found is not None:
            yield from self._gathering.add(found, quarantine)
            return
        if logs is None and not is_empty_answer(document):
            unread = unread_form(document)
            if unread is not None and self._forced is not None:
                unread = f"it was to be read as {self._forced}, and is none: {unread}"
            if unread is None or is_of_the_expected(quarantine.file):
                names = () if is_of_the_expected(quarantine.file) else names_held(document)
                quarantine.add(Reason.NOT_A_TRACE, _foreign(document), offset, names=names)
            else:
                quarantine.add(Reason.UNREAD_FORM, unread, offset)

    def _usual(
        self, document: UsualDocument, quarantine: Quarantine, offset: int
    ) -> Iterator[SpanBatch]:
        if self._forced not in _OTLP:
            quarantine.add(Reason.NOT_A_TRACE, _foreign({"resourceSpans": []}), offset)
            return
        spans = self._joined(usual_spans(document, quarantine, offset))
        yield from self._gathering.add(spans, quarantine)

    def _message(self, offset: int, body: bytes, quarantine: Quarantine) -> Iterator[SpanBatch]:
        if not holds_spans(body):
            if self._ahead.kept(offset) or kept_logs(body, self._logs):
                return
            if holds_metrics(body):
                quarantine.add(Reason.NOT_A_TRACE, METRICS, offset)
                return
        spans = protobuf_spans(body, quarantine, offset)
        if spans is None:
            if begins_a_trace(body):
                detail = "OTLP protobuf that is damaged or ends in the middle"
                quarantine.add(Reason.TRUNCATED_FILE, detail, offset)
            else:
                quarantine.add(Reason.NOT_A_TRACE, "neither JSON nor OTLP protobuf", offset)
        else:
            yield from self._gathering.add(self._joined(spans), quarantine)

    def _joined(self, spans: Iterable[RawSpan]) -> Iterable[RawSpan]:
        self._ahead.after_spans = True
        return self._logs.joined(spans)

    def _frame(self, offset: int, frame: bytes, quarantine: Quarantine) -> Iterator[SpanBatch]:
        try:
            table = arrow_table(frame)
            if table is None:
                yield from self._message(offset, frame, quarantine)
            elif len(table):
                spans = any_table(table, self._reader, self._forced, quarantine)
                yield SpanBatch(spans, quarantine_table())
        except (ForeignTableError, pa.ArrowException) as error:
            quarantine.add(Reason.BROKEN_SPAN, f"a frame that holds no spans: {error}", offset)

    def _parquet(
        self, file: TraceFile, stream: ByteStream, quarantine: Quarantine
    ) -> Iterator[SpanBatch]:
        source: Any = file.path
        if file.name == STDIN:
            source = pa.BufferReader(_whole(stream, quarantine) or b"")
        elif file.content is not None:
            source = pa.BufferReader(file.content)
        elif file.filesystem is not None:
            source = file.open()
        tables = parquet_tables(source, self._reader, self._forced, quarantine)
        yield from self._tables(tables, "Parquet", quarantine)

    def _tables(
        self, tables: Iterator[pa.Table], kind: str, quarantine: Quarantine
    ) -> Iterator[SpanBatch]:
        try:
            for table in tables:
                yield SpanBatch(table, quarantine_table())
        except ForeignTableError as error:
            reason = Reason.NOT_A_TRACE if error.unread is None else Reason.UNREAD_FORM
            quarantine.add(reason, error.unread or str(error))
        except (pa.ArrowException, UnicodeDecodeError) as error:
            quarantine.add(Reason.UNREADABLE, f"no readable {kind}: {error}")


def _whole(stream: ByteStream, quarantine: Quarantine) -> bytes | None:
    """Return all bytes of a file that cannot be cut; None where they are too many or broken."""
    try:
        body = stream.read_exactly(MAX_DOCUMENT + 1)
    except UnreadableStreamError as error:
        quarantine.add(error.reason, str(error))
        return None
    if len(body) > MAX_DOCUMENT:
        quarantine.add(Reason.TOO_LARGE, f"a message of more than {MAX_DOCUMENT} bytes")
        return None
    return body


def _seekable(file: TraceFile, stream: ByteStream, quarantine: Quarantine) -> Any:
    """Return an archive as a file that can be read from the end, where its list of members is."""
    if file.name != STDIN:
        raw = file.open()
        if raw.read(len(ARCHIVE_MARK)) == ARCHIVE_MARK:
            raw.seek(0)
            return raw
        raw.close()
    return io.BytesIO(_whole(stream, quarantine) or b"")


def _foreign(document: Any) -> str:
    if isinstance(document, dict):
        keys = ", ".join(sorted(map(str, document))[:6])
        if "resourceMetrics" in document:
            return METRICS
        return f"JSON of no known format; its keys are {keys or 'none'}"
    return f"JSON of no known format; it is a {type(document).__name__}"
