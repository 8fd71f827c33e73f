"""Log records that carry what a span did not: some instrumentors write messages only there.

1. A record that names a span becomes an event of that span; if that span only wraps a model call,
   its only one in the document, of the call.
2. A record that names only a trace belongs to the trace's model call, if the trace has one model
   call and no more in the document; among several nobody can tell, and it is put aside.
3. Records stand beside the spans, in the same document, before or behind them in one file, or in
   files of their own, which are read first (`logs_ahead`). Records whose span never comes, or came
   before anybody could know of them, are put aside; if they tell of a tool, as a lost call.
4. Only records about model and tool calls are kept (`gen_ai.*`, or the name of a tool, as coding
   agents log each of their calls), up to `MAX_BYTES`; of the others, the words that may name a
   tool (`names_held`).
5. A record that names a tool tells of a call, unless it tells of a decision on one. Where no span
   of its trace speaks of that tool, the call is lost, though the record has found its span.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from trackway.schema import OPERATION_OF_GENAI_NAME, GenAI, Operation
from trackway_analyzer.json_text import UnencodableError, compact
from trackway_analyzer.read.names_held import ANY, MAX_NAMES, bounded_names, names_held
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.spans import RawEvent, RawSpan

MAX_BYTES: Final = 512 * 1024 * 1024


class LogRecords:
    """Records that wait for their span."""

    def __init__(self) -> None:
        self._of_span: dict[tuple[str, str], list[RawEvent]] = {}
        self._of_trace: dict[str, list[RawEvent]] = {}
        self._homeless: list[RawEvent] = []
        self._unshown: set[tuple[str, str]] = set()
        """Trace and tool of records, of which no span has spoken."""
        self._naming_traces: set[str] = set()
        self._found: list[tuple[str, str]] = []
        """Trace and tool of records that found their span."""
        self._others: set[str] = set()
        self._count_of_others = 0
        self._beyond = 0
        self._bytes = 0

    def add(self, trace_id: str | None, span_id: str | None, record: RawEvent) -> None:
        """Keep a record until its span comes."""
        tool = _tool_named(record)
        if tool is None and not _is_about_a_model(record):
            self._pass_over(record)
            return
        if tool is not None and trace_id is not None:
            self._unshown.add((trace_id, tool))
            self._naming_traces.add(trace_id)
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
        if not self._of_span and not self._of_trace and not self._naming_traces:
            return spans
        spans = list(spans)
        self._look_for_tools(spans)
        calls = [span for span in spans if _is_model_call(span)]
        self._hand_down(calls)
        of_trace = Counter(span.trace_id for span in calls)
        return [self._with_records(span, of_trace[span.trace_id] == 1) for span in spans]

    def _is_lost(self, trace_id: str | None, record: RawEvent) -> bool:
        """Tell whether a record that found no span tells of a call that no span shows."""
        tool = _tool_named(record)
        if tool is not None and trace_id is not None:
            return (trace_id, tool) in self._unshown
        return tool is not None or _tells_of_a_tool(record)

    def _pass_over(self, record: RawEvent) -> None:
        names = names_held(list(record.attributes.values()))
        if names and ANY not in self._others:
            self._others.update(names)
            self._count_of_others += 1
            if len(self._others) > MAX_NAMES:
                self._others = {ANY}

    def _look_for_tools(self, spans: list[RawSpan]) -> None:
        for span in spans:
            if span.trace_id in self._naming_traces:
                open_tools = [tool for trace, tool in self._unshown if trace == span.trace_id]
                said = _said_by(span) if open_tools else ""
                shown = {(span.trace_id, tool) for tool in open_tools if tool in said}
                self._unshown -= shown

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
        tools = filter(None, map(_tool_named, records))
        self._found += [(span.trace_id, tool) for tool in tools]
        return span._replace(events=(*span.events, *records)) if records else span

    def put_aside(self, quarantine: Quarantine) -> None:
        """Tell of the records that found no span."""
        late: list[tuple[str | None, RawEvent]] = [
            (key[0], each) for key, several in self._of_span.items() for each in several
        ]
        unclear: list[tuple[str | None, RawEvent]] = [
            (trace, each) for trace, several in self._of_trace.items() for each in several
        ]
        unclear += [(None, each) for each in self._homeless]
        for records, detail in (
            (late, "log records without their span: give the file of the spans too"),
            (unclear, "log records that do not say to which model call they belong"),
        ):
            told = [record for trace, record in records if not self._is_lost(trace, record)]
            calls = len(records) - len(told)
            if calls:
                quarantine.add(Reason.UNJOINED_CALL, f"{detail}; they hold tool calls", count=calls)
            if told:
                names = names_held([record.attributes for record in told])
                quarantine.add(Reason.UNJOINED_LOG, detail, count=len(told), names=names)
        unshown = sum(each in self._unshown for each in self._found)
        if unshown:
            quarantine.add(Reason.UNJOINED_CALL, _UNSHOWN, count=unshown)
        if self._others:
            names = bounded_names(self._others)
            quarantine.add(Reason.UNREAD_WORDS, _OTHERS, count=self._count_of_others, names=names)
        if self._beyond:
            detail = f"log records beyond {MAX_BYTES} bytes"
            quarantine.add(Reason.TOO_LARGE, detail, count=self._beyond)


_UNSHOWN: Final = "log records of calls of tools of which no span of their trace speaks"
_OTHERS: Final = "log records that tell of no call of a model or tool in a form that is known"


def _tool_named(record: RawEvent) -> str | None:
    """Return the tool that a record names as called."""
    if _DECISION.search(record.name):
        return None
    for key, value in record.attributes.items():
        if isinstance(value, str) and value and _TOOL_NAME.search(key):
            return value
    return None


_TOOL_NAME: Final = re.compile(r"(^|[._])(tool[._]?name|function[._]?name)$", re.IGNORECASE)
_DECISION: Final = re.compile(r"decision|permission|approval", re.IGNORECASE)


def _said_by(span: RawSpan) -> str:
    """Return what a span says, as text; nothing where it cannot be written."""
    try:
        return f"{span.name} {compact(span.attributes)}"
    except UnencodableError:
        return span.name


def _tells_of_a_tool(record: RawEvent) -> bool:
    """Tell whether a record may hold a call, in whatever form a provider writes it."""
    if record.name == _ANSWER:
        return True
    text = compact(record.attributes)
    return any(mark in text for mark in _CALLS)


_ANSWER: Final = "gen_ai.tool.message"
_CALLS: Final = ("tool_call", "tool_use", "toolUse", "toolCall", "function_call", "functionCall")


def _is_about_a_model(record: RawEvent) -> bool:
    return record.name.startswith("gen_ai.") or any(
        key.startswith("gen_ai.") for key in record.attributes
    )


def _is_model_call(span: RawSpan) -> bool:
    operation: Any = span.attributes.get(GenAI.OPERATION_NAME)
    if isinstance(operation, str):
        return OPERATION_OF_GENAI_NAME.get(operation) is Operation.LLM
    return GenAI.REQUEST_MODEL in span.attributes
