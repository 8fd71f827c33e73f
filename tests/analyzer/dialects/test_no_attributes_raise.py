"""Whatever stands under the keys that dialects know, reading a span gives a row, never an error."""

import json
import sys
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from dumped import span

from trackway.schema import Operation
from trackway_analyzer import dialects
from trackway_analyzer.read.span_rows import converted
from trackway_analyzer.spans import RawEvent
from trackway_analyzer.tables import SPAN_SCHEMA


def _known_keys() -> list[str]:
    keys: set[str] = set()
    for dialect in (*dialects.KNOWN, dialects.COMMON):
        keys.update(dialect.marks.keys)
        keys.update(key for key, _ in dialect.operations)
        for operation in Operation:
            for sources in dialect.sources(operation).values():
                keys.update(item if isinstance(item, str) else "" for item in sources)
                keys.update(item[0] for item in sources if isinstance(item, tuple))
    numbered = ["llm.input_messages", "llm.output_messages", "gen_ai.prompt", "gen_ai.completion"]
    for prefix in numbered:
        for rest in (
            "role",
            "message.content",
            "message.tool_calls.0.tool_call.function.name",
            "x",
        ):
            keys.update([f"{prefix}.0.{rest}", f"{prefix}.7.{rest}", f"{prefix}.{rest}"])
    return sorted(keys - {""})


def _known_values() -> list[str]:
    return sorted(
        {
            value
            for dialect in dialects.KNOWN
            for _, meanings in dialect.operations
            if isinstance(meanings, dict)
            for value in meanings
        }
    )


MESSAGE_KEYS = """role parts content type text tool_calls id name arguments function args kwargs
output input result response status message messages tool_call_id error data lc raw_output tool_name
update toolResult toolUseId isError structuredContent choices finish_reason""".split()  # noqa: SIM905

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["error", "assistant", "tool", "N/A", "<not specified>", "{}", "[]", "ai"])
)
JSON = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(MESSAGE_KEYS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=15,
)
VALUES = (
    JSON
    | JSON.map(json.dumps)
    | JSON.map(lambda value: json.dumps(json.dumps(value)))
    | JSON.map(repr)
    | st.sampled_from(_known_values())
)
ATTRIBUTES = st.dictionaries(st.sampled_from(_known_keys()), VALUES, max_size=12)
SCOPES = [scope for dialect in dialects.KNOWN for scope in dialect.marks.scopes][:12]
EVENTS = [
    "exception",
    "gen_ai.choice",
    "gen_ai.user.message",
    "gen_ai.tool.message",
    "gen_ai.client.inference.operation.details",
]
EVENT_KEYS = ["content", "message", "body", "gen_ai.input.messages", "exception.type", "id", "role"]


@st.composite
def spans(draw: st.DrawFn) -> Any:
    events = st.builds(
        RawEvent,
        st.sampled_from(EVENTS),
        st.just(1),
        st.dictionaries(st.sampled_from(EVENT_KEYS), VALUES, max_size=3),
    )
    return span(
        draw(st.sampled_from([*SCOPES, "test"])),
        attributes=draw(ATTRIBUTES),
        events=tuple(draw(st.lists(events, max_size=2))),
        status=draw(st.sampled_from(["UNSET", "OK", "ERROR"])),
        status_message=draw(st.none() | st.text(max_size=10)),
    )


@given(spans())
def test_no_attributes_raise(found: Any) -> None:
    table = converted([found], dialects.span_reader())
    assert table.schema.equals(SPAN_SCHEMA)
    (row,) = table.to_pylist()
    assert row["operation"] in set(Operation)
    if row["operation"] == Operation.TOOL and row["source"] != "trackway":
        if row["arguments"] is not None:
            assert isinstance(json.loads(row["arguments"]), dict)
        if row["result"] is not None:
            json.loads(row["result"])
    if row["operation"] == Operation.LLM and row["source"] != "trackway":
        for name in ("input", "output"):
            for message in json.loads(row[name] or "[]"):
                assert message.keys() == {"role", "parts"}
