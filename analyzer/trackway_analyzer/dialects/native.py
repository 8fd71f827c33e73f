"""Trackway's own spans: every column stands under its own key, as it is stored.

Values are taken verbatim: the recorder has written them in the one form already. An attribute
that a column then holds exactly is not repeated, so that spans from OTLP and from Parquet are
equal rows.
"""

from __future__ import annotations

from typing import Any, Final

from trackway.schema import SCOPE_NAME, SPAN_COLUMNS, GenAI, Operation, content_attributes
from trackway_analyzer.dialects.dialect import Dialect, Fields, Marks
from trackway_analyzer.dialects.otel_genai import OPERATIONS
from trackway_analyzer.spans import Attributes, RawSpan

_COLUMNS: Final = tuple(
    (column.name, column.attribute) for column in SPAN_COLUMNS if column.attribute is not None
)


def _content(operation: Operation) -> Fields:
    input_key, output_key = content_attributes(operation.value)
    return {"input": (input_key,), "output": (output_key,)}


NATIVE: Final = Dialect(
    name="trackway",
    marks=Marks(scopes=(SCOPE_NAME,)),
    operations=((GenAI.OPERATION_NAME, OPERATIONS),),
    fields={name: (attribute,) for name, attribute in _COLUMNS},
    of={operation: _content(operation) for operation in Operation},
)


def left_over(span: RawSpan, typed: dict[str, Any]) -> Attributes:
    """Return the attributes that no column of the row holds exactly."""
    input_key, output_key = content_attributes(typed["operation"])
    held = (*_COLUMNS, ("input", input_key), ("output", output_key))
    attributes = dict(span.attributes)
    for name, key in held:
        value = typed.get(name)
        if key in attributes and value is not None and _same(value, attributes[key]):
            del attributes[key]
    return attributes


def _same(column: Any, attribute: Any) -> bool:
    if isinstance(column, bool) or isinstance(attribute, bool):
        return column is attribute
    return bool(column == attribute)
