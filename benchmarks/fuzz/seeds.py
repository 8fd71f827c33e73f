"""What mutations begin with: one valid document, table or file of every format.

1. Files under the folders that are given (`tests/data` by default) are seeds, the smaller ones; a
   file of lines is a seed a line, and together.
2. What no file holds is made here: Jaeger, frames, Parquet of ours, protobuf, session lines.
3. Seeds are trimmed, so that a mutation is likely to matter; one in `WHOLE` is also taken whole.
4. `missing` names the formats of the registry that no seed is of: they are fuzzed with the seeds of
   others, and the report says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from google.protobuf.json_format import ParseDict, ParseError
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from trackway_analyzer.read import formats, read
from trackway_analyzer.read.detect import Format
from trackway_analyzer.read.jaeger_json import jaeger_traces
from trackway_analyzer.read.otlp_levels import resource_groups

LARGEST: Final = 24 * 1024
LARGEST_OF_LINES: Final = 96 * 1024
OF_A_FOLDER: Final = 8
WHOLE: Final = 16
_LINES: Final = 12
_MEMBERS: Final = 40
_ITEMS: Final = 3
_TEXT: Final = 200
_NAMES: Final = (".json", ".jsonl", ".ndjson", ".traj")

_JAEGER: Final = {
    "data": [
        {
            "traceID": "5b8efff798038103d269b633813fc60c",
            "spans": [
                {
                    "traceID": "5b8efff798038103d269b633813fc60c",
                    "spanID": "eee19b7ec3c1b174",
                    "operationName": "execute_tool lookup",
                    "references": [{"refType": "CHILD_OF", "traceID": "5b8e", "spanID": "1"}],
                    "startTime": 1700000000000000,
                    "duration": 250,
                    "tags": [
                        {"key": "gen_ai.operation.name", "type": "string", "value": "execute_tool"},
                        {"key": "gen_ai.tool.name", "type": "string", "value": "lookup"},
                        {"key": "error", "type": "bool", "value": True},
                    ],
                    "logs": [
                        {
                            "timestamp": 1700000000000001,
                            "fields": [{"key": "event", "type": "string", "value": "exception"}],
                        }
                    ],
                    "processID": "p1",
                }
            ],
            "processes": {"p1": {"serviceName": "shop", "tags": []}},
        }
    ]
}
_SESSIONS: Final = (
    [
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "a",
            "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "user", "content": "hello"},
        },
        {
            "type": "assistant",
            "sessionId": "s",
            "uuid": "b",
            "parentUuid": "a",
            "timestamp": "2026-01-01T00:00:01Z",
            "message": {
                "role": "assistant",
                "model": "m",
                "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"c": "ls"}}],
                "usage": {"input_tokens": 3, "output_tokens": 4},
            },
        },
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "c",
            "parentUuid": "b",
            "timestamp": "2026-01-01T00:00:02Z",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a b"}],
            },
        },
    ],
    [
        {
            "timestamp": "2026-01-01T00:00:00Z",
            "type": "session_meta",
            "payload": {"id": "s", "cwd": "/"},
        },
        {
            "timestamp": "2026-01-01T00:00:01Z",
            "type": "response_item",
            "payload": {
                "type": "function_call",
                "name": "shell",
                "arguments": '{"command": ["ls"]}',
                "call_id": "c1",
            },
        },
        {
            "timestamp": "2026-01-01T00:00:02Z",
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": "c1", "output": "a"},
        },
    ],
    [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "[1]"},
    ],
)


_TAU2: Final = {
    "info": {"agent_info": {"llm": "m"}, "environment_info": {"domain_name": "airline"}},
    "simulations": [
        {
            "id": "s",
            "task_id": "13",
            "trial": 0,
            "seed": 1,
            "start_time": "2025-08-01T16:20:44.321269",
            "end_time": "2025-08-01T16:21:03.551551",
            "termination_reason": "user_stop",
            "reward_info": {"reward": 1.0, "action_checks": None},
            "messages": [
                {"role": "user", "content": "hello", "turn_idx": 0},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c", "name": "f", "arguments": {"a": 1}, "requestor": "assistant"}
                    ],
                    "timestamp": "2025-08-01T16:20:45.582555",
                    "usage": {"completion_tokens": 51, "prompt_tokens": 450},
                },
                {"role": "tool", "id": "c", "content": "{}", "error": False},
            ],
        }
    ],
}


@dataclass
class Seeds:
    """Valid inputs."""

    documents: list[Any] = field(default_factory=list)
    sessions: list[list[Any]] = field(default_factory=list)
    """Documents that stand a line each in one file."""
    messages: list[bytes] = field(default_factory=list)
    """OTLP protobuf."""
    tables: list[pa.Table] = field(default_factory=list)
    parquet: list[bytes] = field(default_factory=list)
    archives: list[bytes] = field(default_factory=list)

    def missing(self) -> list[Format]:
        """Formats of the registry that no seed is of."""
        found = {Format.PARQUET, Format.OTLP_PROTOBUF}
        for document in self.documents:
            found |= _formats_of(document)
        for lines in self.sessions:
            found.update(known.format for known in formats.LINES if any(map(known.begins, lines)))
        for table in self.tables:
            known = formats.table_format(table.column_names)
            if known is not None:
                found.add(known.format)
        return sorted(set(Format) - found)


def gathered(folders: Sequence[Path]) -> Seeds:
    """Return seeds out of folders, and those that are made here."""
    seeds = Seeds()
    for lines in _SESSIONS:
        _add_lines(seeds, list(lines))
    seeds.documents += [_JAEGER, _TAU2]
    for path in _files(folders):
        if path.suffix == ".parquet":
            seeds.tables.append(pq.read_table(path))
        elif path.suffix == ".eval":
            seeds.archives.append(path.read_bytes())
        else:
            _add_text(seeds, path.read_bytes())
    seeds.documents = [*map(trimmed, seeds.documents), *seeds.documents[::WHOLE]]
    seeds.sessions = [[trimmed(line) for line in lines] for lines in seeds.sessions]
    for document in seeds.documents:
        if isinstance(document, dict) and "resourceSpans" in document:
            try:
                message = ParseDict(document, TracesData(), ignore_unknown_fields=True)
            except ParseError:
                continue
            seeds.messages.append(message.SerializeToString())
    for batch in read([str(path) for path in _files(folders) if path.suffix in _NAMES][:20]):
        seeds.tables.append(batch.spans.slice(0, 20))
    seeds.tables = [table.slice(0, 20) for table in seeds.tables]
    seeds.parquet = [as_parquet(table) for table in seeds.tables]
    return seeds


def as_parquet(table: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def trimmed(value: Any) -> Any:
    """Return a document with the same structure and less of it: short lists, short texts."""
    if isinstance(value, dict):
        return {key: trimmed(item) for key, item in list(value.items())[:_MEMBERS]}
    if isinstance(value, list):
        return [trimmed(item) for item in value[:_ITEMS]]
    if not isinstance(value, str) or len(value) <= _TEXT:
        return value
    try:
        return orjson.dumps(trimmed(orjson.loads(value))).decode()
    except (orjson.JSONDecodeError, TypeError):
        return value[:_TEXT]


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    taken = Counter[Path]()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            known = path.suffix in (*_NAMES, ".parquet", ".eval")
            most = LARGEST if path.suffix == ".json" else LARGEST_OF_LINES
            if path.is_file() and known and path.stat().st_size <= most:
                taken[path.parent] += 1
                if taken[path.parent] <= OF_A_FOLDER:
                    yield path


def _add_text(seeds: Seeds, text: bytes) -> None:
    try:
        documents = [orjson.loads(text)]
    except orjson.JSONDecodeError:
        documents = []
    if documents and any(known.begins(documents[0]) for known in formats.LINES):
        _add_lines(seeds, documents)
    elif documents:
        seeds.documents += [one for one in documents if _formats_of(one)]
    else:
        lines = []
        for line in text.splitlines():
            with suppress(orjson.JSONDecodeError):
                lines.append(orjson.loads(line))
        seeds.documents += [line for line in lines if _formats_of(line)][:3]
        _add_lines(seeds, lines)


def _add_lines(seeds: Seeds, lines: list[Any]) -> None:
    if any(known.begins(line) for known in formats.LINES for line in lines):
        seeds.sessions.append(lines[:_LINES])


def _formats_of(document: Any) -> set[Format]:
    """Return the formats that take a document for theirs."""
    found = {known.format for known in formats.DOCUMENTS if known.items(document) is not None}
    if resource_groups(document) is not None:
        found.add(Format.OTLP_JSON)
    if jaeger_traces(document) is not None:
        found.add(Format.JAEGER_JSON)
    return found
