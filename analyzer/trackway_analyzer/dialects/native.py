"""Trackway's own spans: every column stands under its own key, as it is stored.

1. Values are taken verbatim, where they have the column's type: the recorder has written them in
   the one form already. What does not fit, and what has no column, stays in `attributes`.
2. An attribute that went to a column is not repeated, so that a span from OTLP, from Parquet and
   from memory is the same row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from trackway.schema import (
    OPERATION_OF_GENAI_NAME,
    SCOPE_NAME,
    SPAN_COLUMNS,
    GenAI,
    Operation,
    content_attributes,
)
from trackway_analyzer.dialects.dialect import Dialect, Marks
from trackway_analyzer.spans import Attributes, RawSpan

NATIVE: Final = Dialect(
    name=SCOPE_NAME,
    marks=Marks(scopes=(SCOPE_NAME,)),
    operations=((GenAI.OPERATION_NAME, OPERATION_OF_GENAI_NAME),),
)


def _whole(bits: int) -> Callable[[Any], bool]:
    bound = 2 ** (bits - 1)
    return lambda value: value.__class__ is int and -bound <= value < bound


_FITS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int32": _whole(32),
    "int64": _whole(64),
    "double": lambda value: isinstance(value, float),
    "list<string>": lambda value: (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    ),
}
_PLACES: Final = {
    column.attribute: (column.name, _FITS[column.type])
    for column in SPAN_COLUMNS
    if column.attribute is not None
}


def native_columns(span: RawSpan) -> tuple[dict[str, Any], Attributes]:
    """Return the typed columns of a span of ours and the attributes that have none."""
    operation = NATIVE.operation(span) or Operation.OTHER
    input_key, output_key = content_attributes(operation.value)
    content = {input_key: "input", output_key: "output"}
    typed: dict[str, Any] = {
        "operation": operation.value,
        "source": NATIVE.name,
        "error_message": span.status_message,
    }
    rest: Attributes = {}
    for key, value in span.attributes.items():
        column, fits = _PLACES.get(key) or (content.get(key), _FITS["string"])
        if column is not None and fits(value):
            typed[column] = value
        else:
            rest[key] = value
    return typed, rest
