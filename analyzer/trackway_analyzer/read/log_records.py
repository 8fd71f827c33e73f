"""Log records that carry what a span did not: some instrumentors write messages only there.

1. A record that names a span becomes an event of that span; if that span only wraps a model call,
   its only one in the document, of the call.
2. A record that names only a trace belongs to the trace's model call, if the trace has one model
   call and no more in the document; among several nobody can tell, and it is put aside.
3. Records stand beside the spans, in the same document, before or behind them in one file, or in
   files of their own, which are read first (`logs_ahead`). Records whose span never comes, or came
   before anybody could know of them, are put aside; if they tell of a tool, as a lost call.
4. Only records about model and tool calls are kept (`gen_ai.*`), up to `MAX_BYTES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from trackway.schema import OPERATION_OF_GENAI_NAME, GenAI, Operation
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.spans import RawEvent, RawSpan

MAX_BYTES: Final = 512 * 1024 * 1024


class LogRecords:
    """Records that wait for their span."""

    def __init__(self) -> None:
        self._of_span: dict[tuple[str, str], list[RawEvent]] = {}
        self._of_trace: dict[str, list[RawEvent]] = {}
        self._homeless: list[RawEvent] = []
        self._beyond = 0
        self._bytes = 0

    def add(self, trace_id: str | None, span_id: str | None, record: RawEvent) -> None:
        """Keep a record until its span comes."""
        if not _is_about_a_call(record):
            return
        try:
            self._bytes += len(compact(record.attributes))
        except UnencodableError:
            self._beyond += 1
            return
        if self._bytes > MAX_BYTES:
            self._beyond += 1
        elif trace_id is None:
            self._homeless.append(record)
        elif span_id is None:
            self._of_trace.setdefault(trace_id, []).append(record)
        else:
            self._of_span.setdefault((trace_id, span_id), []).append(record)

    def joined(self, spans: Iterable[RawSpan]) -> Iterable[RawSpan]:
        """Return the spans of one document, with the records that belong to them as events."""
        if not self._of_span and not self._of_trace:
            return spans
        spans = list(spans)
        calls = [span for span in spans if _is_model_call(span)]
        self._hand_down(calls)
        of_trace = Counter(span.trace_id for span in calls)
        return [self._with_records(span, of_trace[span.trace_id] == 1) for span in spans]

    def _hand_down(self, calls: list[RawSpan]) -> None:
        """Give model calls the records that name the span around them."""
        wrappers = [(call.trace_id, call.parent_span_id) for call in calls]
        held = {(call.trace_id, call.span_id) for call in calls}
        around = Counter(wrappers)
        for call, (trace_id, wrapper) in zip(calls, wrappers, strict=True):
            place = (trace_id, wrapper or "")
            if around[trace_id, wrapper] == 1 and place in self._of_span and place not in held:
                own = self._of_span.setdefault((trace_id, call.span_id), [])
                own.extend(self._of_span.pop(place))

    def _with_records(self, span: RawSpan, only_call: bool) -> RawSpan:
        records = self._of_span.pop((span.trace_id, span.span_id), [])
        if only_call and _is_model_call(span):
            records = records + self._of_trace.pop(span.trace_id, [])
        return span._replace(events=(*span.events, *records)) if records else span

    def put_aside(self, quarantine: Quarantine) -> None:
        """Tell of the records that found no span."""
        late = [record for records in self._of_span.values() for record in records]
        unclear = [record for records in self._of_trace.values() for record in records]
        unclear += self._homeless
        for records, detail in (
            (late, "log records without their span: give the file of the spans too"),
            (unclear, "log records that do not say to which model call they belong"),
        ):
            calls = sum(map(_tells_of_a_tool, records))
            if calls:
                quarantine.add(Reason.UNJOINED_CALL, f"{detail}; they hold tool calls", count=calls)
            if len(records) > calls:
                quarantine.add(Reason.UNJOINED_LOG, detail, count=len(records) - calls)
        if self._beyond:
            detail = f"log records beyond {MAX_BYTES} bytes"
            quarantine.add(Reason.TOO_LARGE, detail, count=self._beyond)


def _tells_of_a_tool(record: RawEvent) -> bool:
    """Tell whether a record may hold a call, in whatever form a provider writes it."""
    if record.name == _ANSWER:
        return True
    text = compact(record.attributes)
    return any(mark in text for mark in _CALLS)


_ANSWER: Final = "gen_ai.tool.message"
_CALLS: Final = ("tool_call", "tool_use", "toolUse", "toolCall", "function_call", "functionCall")


def _is_about_a_call(record: RawEvent) -> bool:
    return record.name.startswith("gen_ai.") or any(
        key.startswith("gen_ai.") for key in record.attributes
    )


def _is_model_call(span: RawSpan) -> bool:
    operation: Any = span.attributes.get(GenAI.OPERATION_NAME)
    if isinstance(operation, str):
        return OPERATION_OF_GENAI_NAME.get(operation) is Operation.LLM
    return GenAI.REQUEST_MODEL in span.attributes
