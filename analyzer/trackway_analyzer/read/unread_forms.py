"""Does a file that no reader knows hold something like calls or spans?

1. A document does if an object in it has the ids of a span or trace beside a time, a length or a
   parent; tells of a call of a tool, by a key, its type, or a name with arguments; or is what a
   model or a tool said. So does a list of the names of a span's columns, or one with the ids of a
   trace and of a span: a row without names. A table does by its columns, a text by its first line.
2. What does is put aside as `unread_form`, which may have held what a run did, with the name of the
   form where it is known and what to do. What does not (settings, metrics, a list of names) is no
   trace, and lost nothing.
3. Descriptions of tools are no calls: a schema has no arguments. Nor is what stands under a key
   that says that it was expected (`expected_actions`, `ground_truth`), a line of a log or the
   judgement of somebody with the ids of its span.
4. No such list is ever complete: what is no trace by it may still name tools (`names_held`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from trackway_analyzer.json_text import parsed
from trackway_analyzer.read.names_held import EXPECTED

_IDS: Final = frozenset(["spanid", "traceid", "traceidhex", "rootspanid"])
_OF_SPANS: Final = frozenset(
    [
        *("parentspanid", "parentid", "parentobservationid", "parentrunid", "runtype"),
        *("starttime", "startedat", "starttimeunixnano", "starttimestamp", "duration"),
        *("durationms", "durationns", "durationnano", "endtime", "latency", "localendpoint"),
        *("spans", "spankind", "operationname", "spanname"),
        *("spandata", "spanattributes", "spanparents", "spantype"),
    ]
)
_CALLS: Final = frozenset(
    [
        *("toolcalls", "toolcall", "functioncall", "tooluse", "toolcallid", "tooluseid"),
        *("toolname", "toolinvocation", "toolinvocations", "functionresponse", "toolresult"),
        *("functionname", "actiongroupinvocationinput", "agentthoughts"),
        *("toolresults", "toolresponse", "usedtools", "intermediatesteps"),
        *("toolscalled", "toolsused", "calledtools", "toolexecutions", "tooluses"),
    ]
)
_CALL_TYPE: Final = re.compile(
    r"(^|.*[_.\- ])(tool|function|mcp|command|custom|shell|server|computer)s?[_.\- ]?"
    r"(\w+[_.\- ])?(call|use|result|invocation|return|response|output|execution)",
    re.IGNORECASE,
)
_TYPES: Final = (
    *("type", "kind", "part_kind", "event", "event_type", "object", "content_type", "$type"),
)
_SPEAKERS: Final = frozenset(["assistant", "model", "tool", "ai", "function", "gpt", "bot"])
_SAID: Final = frozenset(["content", "parts", "value", "text", "message", "contents"])
_KEY: Final = re.compile(r"[^a-z0-9]")
_JSON_KEY: Final = re.compile(rb"[\"'](\w+)[\"']\s*:")
_LOGGED: Final = frozenset(["level", "levelname", "severity", "severitytext", "msg", "logger"])
_JUDGED: Final = frozenset(["score", "rating", "comment", "feedback", "label", "annotation"])
_MAX_NODES: Final = 200_000
_HEAD: Final = 65_536

_ZIPKIN: Final = (
    "spans of Zipkin, which are not read: export them as OTLP or Jaeger JSON, or send them through "
    "a collector"
)
_LANGSMITH: Final = (
    "runs of LangSmith, which are not read: record with its OpenTelemetry mode, or export the "
    "messages"
)
_CHUNKS: Final = "pieces of streamed answers, which are not read: give the whole answers"
_CODEX: Final = (
    "events of `codex exec --json`, which are not read: give the rollout file below "
    "~/.codex/sessions"
)
_CLAUDE: Final = (
    "events of `claude --output-format stream-json`, which are not read: give the session file "
    "below ~/.claude/projects"
)
_CLAUDE_RESULT: Final = (
    "the result of `claude --output-format json`, which tells no calls and is not read: give the "
    "session file below ~/.claude/projects"
)
_HITS: Final = "hits of a search, which are not read: give the `_source` of each, one a line"
_INFOS: Final = (
    "traces of MLflow without their spans, which are not read: export each with `Trace.to_json`"
)
_ROWS: Final = (
    "rows of spans without names, which are not read: export them as objects (JSONEachRow) or as "
    "Parquet"
)
_SPANS: Final = "something like spans"
_MADE: Final = "something like calls of tools"
_SPOKEN: Final = "something like what a model said"
_WHAT_TO_DO: Final = "in a form that is not read: convert it to one that is, or leave the file out"


def unread_form(document: Any) -> str | None:
    """Say what a document of no known format holds of calls or spans; None: nothing like them."""
    known = _known(document)
    if known is not None:
        return known
    waiting, seen = [document], 0
    spoken = False
    while waiting:
        node = waiting.pop()
        seen += 1
        if seen > _MAX_NODES:
            return f"a document too large to look through, {_WHAT_TO_DO}"
        if isinstance(node, dict):
            found = _told_by(node)
            if found is not None and found is not _SPOKEN:
                return f"{found} {_WHAT_TO_DO}"
            spoken = spoken or found is _SPOKEN
            waiting.extend(each for key, each in node.items() if not EXPECTED.match(str(key)))
        elif isinstance(node, list):
            if _is_row_of_spans(node):
                return _ROWS
            waiting.extend(each for each in node if isinstance(each, dict | list))
        elif isinstance(node, str) and node.startswith(("{", "[")):
            inner = parsed(node)
            waiting.extend([inner] if isinstance(inner, dict | list) else [])
    return f"{_SPOKEN} {_WHAT_TO_DO}" if spoken else None


def _is_row_of_spans(values: list[Any]) -> bool:
    """Tell the names of a span table's columns, or values with the ids of a trace and a span."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(_OF_A_ROW):
        return False
    lengths = {len(text) for text in texts if len(text) in _OF_A_ROW and _HEX.fullmatch(text)}
    return lengths == _OF_A_ROW or _is_span({_plain(text) for text in texts})


_HEX: Final = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_OF_A_ROW: Final = frozenset([32, 16])
"""Lengths of the ids of a trace and of a span, in hex."""


def unread_columns(names: Iterable[str]) -> str | None:
    """Say what a table of no known format holds, by its columns; None: nothing like it."""
    plain = {_plain(name) for name in names}
    if _is_span(plain):
        return f"{_SPANS} {_WHAT_TO_DO}"
    if not plain.isdisjoint(_CALLS):
        return f"{_MADE} {_WHAT_TO_DO}"
    return f"{_SPOKEN} {_WHAT_TO_DO}" if not plain.isdisjoint(_DIALOGUES) else None


_EVENT: Final = re.compile(rb"(?:(?:event|id|retry):[^\n]*\n|:[^\n]*\n)*data:\s*(?=[{\[])")
"""How server-sent events begin."""
_CHUNK: Final = re.compile(rb"\"(?:delta|content_block|candidates|response)\"\s*:")
_DIALOGUES: Final = frozenset(["messages", "conversation", "conversations", "trajectory", "traj"])


def unread_text(head: bytes) -> str | None:
    """Say what a text that is no JSON holds, by its beginning; None: nothing like it."""
    head = head[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if _EVENT.match(head):
        return _CHUNKS if _CHUNK.search(head) else unread_text(_EVENT.sub(b"", head, count=1))
    first = head.partition(b"\n")[0]
    columns = re.split(rb"[,;\t|]", first)
    if len(columns) > 1 and not head.startswith((b"{", b"[", b"<")):
        names = (each.strip(b" \"'\r").decode("utf-8", "replace") for each in columns)
        table = unread_columns(names)
        return None if table is None else f"a table as text, {table}"
    if not head.startswith((b"{", b"[", b"(")):
        return None
    keys = {_plain(each.decode()) for each in _JSON_KEY.findall(head)}
    if keys & _CALLS:
        return f"{_MADE} {_WHAT_TO_DO}"
    return f"{_SPANS} {_WHAT_TO_DO}" if _is_span(keys) else None


def _known(document: Any) -> str | None:
    item = document[0] if isinstance(document, list) and document else document
    item = item[0] if isinstance(item, list) and item else item
    if not isinstance(item, dict):
        return None
    kind = item.get("type")
    if "traceId" in item and "id" in item and ("localEndpoint" in item or "tags" in item):
        return _ZIPKIN
    runs = item.get("runs")
    inner = runs[0] if isinstance(runs, list) and runs else item
    if isinstance(inner, dict) and "run_type" in inner:
        return _LANGSMITH
    if item.get("object") == "chat.completion.chunk":
        return _CHUNKS
    if isinstance(kind, str) and kind.startswith("item.") and isinstance(item.get("item"), dict):
        return _CODEX
    if isinstance(item.get("message"), dict) and "session_id" in item and isinstance(kind, str):
        return _CLAUDE
    if kind == "result" and "session_id" in item and "num_turns" in item:
        return _CLAUDE_RESULT
    listed = item.get("traces")
    first = listed[0] if isinstance(listed, list) and listed else None
    if isinstance(first, dict) and "trace_info" in first and "data" not in first:
        return _INFOS
    hits = item.get("hits")
    return _HITS if isinstance(hits, dict) and isinstance(hits.get("hits"), list) else None


def _told_by(node: Mapping[str, Any]) -> str | None:
    keys = {_plain(key) for key, value in node.items() if value not in (None, "", [], {})}
    if _is_span(keys):
        return _SPANS
    if not keys.isdisjoint(_CALLS) or _is_call(node):
        return _MADE
    speaker = node.get("role", node.get("from", node.get("type")))
    said = isinstance(speaker, str) and speaker.lower() in _SPEAKERS
    return _SPOKEN if said and not keys.isdisjoint(_SAID) else None


def _is_span(keys: set[str]) -> bool:
    if not keys.isdisjoint(_LOGGED):
        return False
    both = keys >= {"traceid", "spanid"} and keys.isdisjoint(_JUDGED)
    return both or (not keys.isdisjoint(_IDS) and not keys.isdisjoint(_OF_SPANS))


def names_calls(key: str) -> bool:
    """Tell whether a key is one under which calls of tools stand."""
    return _plain(key) in _CALLS


def tells_of_a_call(node: Mapping[str, Any]) -> bool:
    """Tell whether an object tells of a call of a tool: by its type, a key, or its arguments."""
    filled = (key for key, value in node.items() if value not in (None, "", [], {}))
    return _is_call(node) or any(map(names_calls, filled))


def _is_call(node: Mapping[str, Any]) -> bool:
    for name in _TYPES:
        kind = node.get(name)
        if isinstance(kind, str) and _CALL_TYPE.match(kind):
            return True
    name, given = node.get("name", node.get("tool")), node.get("arguments", node.get("args"))
    return isinstance(name, str) and isinstance(given, dict | str)


def _plain(key: object) -> str:
    if not isinstance(key, str):
        return ""
    return _KEY.sub("", key.rpartition(".")[2].lower()).rstrip("0123456789")  # of tool_name_0, too
