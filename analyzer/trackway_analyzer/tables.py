"""Arrow schemas of the analyzer's own tables: runs and steps.

The span table is defined in `trackway.schema`, for the recorder writes it. Runs and steps exist
only here: they are what reconstruction makes of spans.

1. `runs` has one row a run; its row number is the run's ordinal.
2. `steps` has one row a step, sorted by run and position. Steps with the same `group` in a run are
   unordered: one model turn asked for them together. A step that is alone has a group of its own.
3. Null means "not recorded", in every column. The JSON text `null` is a recorded null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from trackway.schema import arrow_schema

_NAME = pa.dictionary(pa.int32(), pa.string())
_TIME = pa.timestamp("ns", tz="UTC")

SPAN_SCHEMA: pa.Schema = arrow_schema(pa)

GAP_TYPE = pa.struct(
    [
        ("name", pa.string()),  # see trackway.schema.GapName
        ("position", pa.int32()),  # step that it hides; null: the whole run
        ("count", pa.int32()),
        ("detail", pa.string()),
    ]
)

RUN_SCHEMA: pa.Schema = pa.schema(
    [
        pa.field("run_id", pa.string(), nullable=False),
        ("trace_ids", pa.list_(pa.string())),
        ("session_id", pa.string()),
        ("suite_id", _NAME),
        ("task_id", _NAME),
        ("trial", pa.int32()),
        ("seed", pa.int64()),
        ("variant", _NAME),
        ("agent_version", _NAME),
        ("service", _NAME),
        ("agent", _NAME),
        ("input", pa.string()),
        ("said", pa.list_(pa.string())),  # what other traces of the run answered before
        ("final_text", pa.string()),
        ("final_action", pa.string()),
        ("final_arguments", pa.string()),
        ("outcome_success", pa.bool_()),
        ("outcome_label", pa.string()),
        ("outcome_failure_mode", pa.string()),
        ("outcome_censored", pa.bool_()),
        ("outcome_state", pa.string()),
        ("deadline", pa.string()),
        ("fingerprint", pa.string()),
        ("error_type", pa.string()),
        ("error_message", pa.string()),
        ("start", _TIME),
        ("end", _TIME),
        ("duration_s", pa.float64()),
        ("spans", pa.int32()),
        ("steps", pa.int32()),
        ("model_calls", pa.int32()),
        ("tool_calls", pa.int32()),
        ("retries", pa.int32()),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("cost", pa.float64()),
        ("calls_without_tokens", pa.int32()),  # model calls that the sums of tokens lack
        ("calls_without_cost", pa.int32()),
        ("tools", pa.list_(pa.string())),
        ("gaps", pa.list_(GAP_TYPE)),
        ("sources", pa.list_(pa.string())),
        ("events", SPAN_SCHEMA.field("events").type),  # trackway.* events on no step, by time
    ]
)

STEP_SCHEMA: pa.Schema = pa.schema(
    [
        pa.field("run", pa.int32(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),  # from 0, in reconstructed order
        pa.field("group", pa.int32(), nullable=False),
        ("turn", pa.int32()),  # position of the model step that asked for this call
        ("span_id", pa.string()),
        pa.field("operation", _NAME, nullable=False),
        ("tool", _NAME),
        ("tool_alias", _NAME),
        ("kind", _NAME),
        ("ok", pa.bool_()),  # did it happen? null: the record does not say
        ("executed", pa.bool_()),  # false: the model asked for it, nobody ran it
        ("requested", pa.bool_()),  # false: ran without a request; null: requests not recorded
        ("synthesised", pa.bool_()),  # no span of its own: read out of the messages
        ("id_inferred", pa.bool_()),  # joined to its request without a call id
        ("call_id", pa.string()),
        ("attempt", pa.int32()),
        ("retry_of", pa.int32()),  # position of the first attempt
        ("step_index", pa.int32()),
        ("agent", _NAME),
        ("agent_path", _NAME),
        ("arguments", pa.string()),
        ("result", pa.string()),
        ("input", pa.string()),
        ("output", pa.string()),
        ("error_type", _NAME),
        ("error_message", pa.string()),
        ("entity_refs", pa.list_(pa.string())),
        ("operation_id", pa.string()),
        ("model_requested", _NAME),
        ("model_answered", _NAME),
        ("provider", _NAME),
        ("finish_reasons", pa.list_(pa.string())),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("tokens_cache_read", pa.int64()),
        ("tokens_cache_write", pa.int64()),
        ("tokens_reasoning", pa.int64()),
        ("cost", pa.float64()),
        ("start", _TIME),
        ("end", _TIME),
        ("truncated", pa.list_(pa.string())),
        ("events", SPAN_SCHEMA.field("events").type),
    ]
)


def table_of(schema: pa.Schema, columns: Mapping[str, Any], rows: int) -> pa.Table:
    """Build a table of `schema` from column lists or arrays; one that is not given is all null."""
    unknown = columns.keys() - set(schema.names)
    if unknown:
        raise ValueError(f"columns {sorted(unknown)} are not in the schema")
    arrays = []
    for field in schema:
        values = columns.get(field.name)
        if values is None:
            arrays.append(pa.nulls(rows, field.type))
        elif isinstance(values, pa.Array):
            arrays.append(values)
        elif pa.types.is_dictionary(field.type):
            arrays.append(pa.array(values, field.type.value_type).dictionary_encode())
        else:
            arrays.append(pa.array(values, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def text_array(texts: Sequence[str | bytes | None]) -> pa.StringArray:
    """Build an array of texts; bytes must be UTF-8. For long texts, several times `pa.array`."""
    parts = [text.encode() if isinstance(text, str) else text for text in texts]
    ends = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) if part else 0 for part in parts], out=ends[1:])
    if ends[-1] > np.iinfo(np.int32).max:
        return pa.array(parts, pa.string())
    missing = parts.count(None)
    valid = None
    if missing:
        present = [part is not None for part in parts]
        valid = pa.py_buffer(np.packbits(present, bitorder="little"))
    data = pa.py_buffer(b"".join([part for part in parts if part]))
    return pa.StringArray.from_buffers(
        len(parts), pa.py_buffer(ends.astype(np.int32)), data, valid, missing
    )
