"""Golden texts of span tables: what a reader of the table would look at, one block a span."""

import os
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from trackway.schema import Operation

DATA = Path(__file__).parents[2] / "data"

_FIRST = ("source", "operation", "agent", "tool", "tool_call_id")
_THEN = (
    "session_id",
    "model_requested",
    "model_answered",
    "provider",
    "finish_reasons",
    "tokens_in",
    "tokens_out",
    "tokens_cache_read",
    "tokens_cache_write",
    "tokens_reasoning",
    "cost",
    "status",
    "error_type",
    "error_message",
    "arguments",
    "result",
    "input",
    "output",
)


def text_of(table: pa.Table) -> str:
    """Return the typed columns of a span table in order of start, wrapper spans by name only."""
    order = table.sort_by([("start", "ascending"), ("span_id", "ascending")])
    return "\n".join(_span_text(row) for row in order.to_pylist()) + "\n"


def _span_text(row: dict[str, Any]) -> str:
    head = " ".join(str(row[name]) for name in _FIRST if row[name] is not None)
    lines = [f"{row['name']} = {head}"]
    if row["operation"] != Operation.OTHER:
        lines += [f"  {name}: {_shown(name, row)}" for name in _THEN if row[name] is not None]
    return "\n".join(lines)


def _shown(name: str, row: dict[str, Any]) -> str:
    value = row[name]
    if name == "input" and row["operation"] == Operation.LLM:
        messages = orjson.loads(value)
        return f"{len(messages)} messages, last {orjson.dumps(messages[-1]).decode()}"
    return str(value)


def check(path: Path, text: str) -> None:
    """Compare a text with the golden file, or write the file where the environment asks for it."""
    if os.environ.get("TRACKWAY_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), f"{path} differs"
