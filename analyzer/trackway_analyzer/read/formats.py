"""Formats beside OTLP, Jaeger and our own Parquet: who tells them, who reads them.

1. A document format reads one JSON document by itself. Formats are asked in the order of
   `DOCUMENTS`; the first that finds its items in the document reads it.
2. A line format needs the lines of a file together, for one line says little: a session is many.
3. A table format reads columns, out of Parquet or out of a frame.
4. Every format gives raw spans; a dialect reads them as it reads spans of any other source.

Adding a format is one module, one member of `detect.Format` and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa

from trackway_analyzer.read.atif_evidence import evident_spans
from trackway_analyzer.read.atif_trajectories import atif_spans, atif_trajectories
from trackway_analyzer.read.claude_code import (
    begins_claude_code,
    claude_code_spans,
    session_spans,
)
from trackway_analyzer.read.clickhouse_rows import (
    clickhouse_rows,
    clickhouse_spans,
    clickhouse_table_spans,
    is_clickhouse_table,
)
from trackway_analyzer.read.codex_session import begins_codex, codex_spans
from trackway_analyzer.read.detect import Format
from trackway_analyzer.read.json_documents import MAX_DOCUMENT, Located
from trackway_analyzer.read.langfuse_export import langfuse_observations, langfuse_spans
from trackway_analyzer.read.mlflow_traces import (
    is_mlflow_table,
    mlflow_rows,
    mlflow_spans,
    mlflow_traces,
)
from trackway_analyzer.read.phoenix_export import (
    is_phoenix_table,
    phoenix_items,
    phoenix_rows,
    phoenix_spans,
)
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.session_copies import Copies
from trackway_analyzer.read.transcripts.chat_messages import (
    message_lines,
    transcript_spans,
    transcripts,
)
from trackway_analyzer.read.transcripts.inspect_log import inspect_samples, inspect_spans
from trackway_analyzer.read.transcripts.records import is_message
from trackway_analyzer.read.transcripts.swe_agent import swe_agent_files, swe_agent_spans
from trackway_analyzer.read.transcripts.tau_bench import (
    tau2_simulations,
    tau2_spans,
    tau_bench_records,
    tau_bench_spans,
)
from trackway_analyzer.spans import RawSpan

Spans: TypeAlias = Iterator[RawSpan]


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format whose documents stand for themselves."""

    format: Format
    items: Callable[[Any], list[Any] | None]
    """Finds what to read in a document; None where the document is of another format."""
    spans: Callable[[list[Any], Quarantine, int | None], Spans]


@dataclass(frozen=True, slots=True)
class LineFormat:
    """A format whose lines belong together."""

    format: Format
    begins: Callable[[Any], bool]
    """Tells a line of this format; once one is found, what no format knows is its too."""
    spans: Callable[[Sequence[Located], Quarantine, Copies], Spans]


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A format of columns."""

    format: Format
    fits: Callable[[Sequence[str]], bool]
    """Tells the format by the names of its columns."""
    spans: Callable[[pa.Table, Quarantine], Spans]


DOCUMENTS: Final[tuple[DocumentFormat, ...]] = (
    DocumentFormat(Format.ATIF, atif_trajectories, atif_spans),
    DocumentFormat(Format.CLICKHOUSE, clickhouse_rows, clickhouse_spans),
    DocumentFormat(Format.LANGFUSE, langfuse_observations, langfuse_spans),
    DocumentFormat(Format.MLFLOW, mlflow_traces, mlflow_spans),
    DocumentFormat(Format.PHOENIX, phoenix_items, phoenix_spans),
    DocumentFormat(Format.INSPECT, inspect_samples, inspect_spans),
    DocumentFormat(Format.SWE_AGENT, swe_agent_files, swe_agent_spans),
    DocumentFormat(Format.TAU_BENCH, tau_bench_records, tau_bench_spans),
    DocumentFormat(Format.TAU2_BENCH, tau2_simulations, tau2_spans),
    # Last, for many formats hold messages somewhere.
    DocumentFormat(Format.MESSAGES, transcripts, transcript_spans),
)
LINES: Final[tuple[LineFormat, ...]] = (
    LineFormat(Format.CLAUDE_CODE, begins_claude_code, claude_code_spans),
    LineFormat(Format.CODEX, begins_codex, codex_spans),
    LineFormat(Format.MESSAGES, is_message, lambda lines, aside, _: message_lines(lines, aside)),
)
TABLES: Final[tuple[TableFormat, ...]] = (
    TableFormat(Format.CLICKHOUSE, is_clickhouse_table, clickhouse_table_spans),
    TableFormat(Format.MLFLOW, is_mlflow_table, mlflow_rows),
    TableFormat(Format.PHOENIX, is_phoenix_table, phoenix_rows),
)


def document_spans(
    document: Any, forced: Format | None, quarantine: Quarantine, offset: int | None
) -> Spans | None:
    """Return the spans of a document; None where it is of none of `DOCUMENTS`."""
    for known in DOCUMENTS:
        if forced in (None, known.format):
            items = known.items(document)
            if items is not None:
                return known.spans(items, quarantine, offset)
    return None


def document_table(
    document: Any, forced: Format | None, quarantine: Quarantine, offset: int | None
) -> pa.Table | None:
    """Return the span table that a document carries as it was; None where it carries none."""
    if forced in (None, Format.ATIF):
        return evident_spans(document, quarantine, offset)
    return None


def table_format(names: Sequence[str], forced: Format | None = None) -> TableFormat | None:
    """Return the format of a table with these columns; None where it is none of `TABLES`."""
    for known in TABLES:
        if forced in (None, known.format) and known.fits(names):
            return known
    return None


class SessionLines:
    """Lines of one file that are read together, once the file ends."""

    def __init__(self, forced: Format | None, copies: Copies) -> None:
        self._copies = copies
        self._known = [known for known in LINES if forced in (None, known.format)]
        self._found: LineFormat | None = None
        self._lines: list[Located] = []
        self._beyond = 0

    def take(self, located: Located) -> bool:
        """Keep a line that belongs to a session; False where it does not."""
        offset, document = located
        if self._found is None:
            self._found = next((known for known in self._known if known.begins(document)), None)
        elif not self._found.begins(document) and not _is_unknown(document):
            return False
        if self._found is None:
            return False
        if self._lines and offset - self._lines[0][0] > MAX_DOCUMENT:
            self._beyond += 1
        else:
            self._lines.append(located)
        return True

    def spans(self, quarantine: Quarantine) -> Spans:
        """Return the spans of the session, if there is one."""
        if self._beyond:
            detail = f"lines of a session beyond {MAX_DOCUMENT} bytes"
            quarantine.add(Reason.TOO_LARGE, detail, count=self._beyond)
        if self._found is not None:
            yield from self._found.spans(self._lines, quarantine, self._copies)


def completed_spans(file: str, copies: Copies) -> Spans:
    """Return the spans of the sessions of which a file was the last that was to be read."""
    histories = copies.completed(file)
    return iter(()) if histories is None else session_spans(histories)


def _is_unknown(document: Any) -> bool:
    """Tell whether a line is an object of which no other format is known."""
    return isinstance(document, dict) and "resourceSpans" not in document
