"""Which spans of a batch must be cleaned? Asked of whole columns, for most need nothing.

1. A row that our own capture has not cleaned is looked at when its texts match the redactor's
   screen (one regular expression without look-around, which Arrow runs in linear time), when they
   are longer than one value may be, or when it has nested attributes. All such rows are looked at
   when one of their keys is denied, or names content that is off, when the resource holds a
   secret, and when the redactor has patterns or hooks of the user: then there is no screen.
2. Our own capture has cleaned our own rows, unless a key that is not ours is among their
   attributes.
3. Any row is looked at when it has events or links, or is longer than a span may be.
4. What is looked at goes through `Cleaner.clean`, which decides.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.sdk.trace import ReadableSpan

from trackway.export.clean import Cleaner, is_own_key
from trackway.export.content import is_content
from trackway.export.parquet.table import batch_of
from trackway.export.rows import Rows

_OPEN_TEXTS: Final = ("name", "error_message", "attributes")
_TEXTS: Final = (*_OPEN_TEXTS, "arguments", "result", "input", "output")


def clean_batch(spans: Sequence[ReadableSpan], cleaner: Cleaner) -> pa.RecordBatch:
    """Return the Arrow batch of spans, redacted and within the limits."""
    batch, rows = batch_of(spans)
    suspects = suspicious(batch, rows, spans, cleaner)
    if not suspects:
        return batch
    cleaned = list(spans)
    for row in suspects:
        cleaned[row] = cleaner.clean(spans[row])
    if all(cleaned[row] is spans[row] for row in suspects):
        return batch
    return batch_of(cleaned)[0]


def suspicious(
    batch: pa.RecordBatch, rows: Rows, spans: Sequence[ReadableSpan], cleaner: Cleaner
) -> list[int]:
    """Return the rows that have to be looked at."""
    texts = _texts(batch, _TEXTS)
    lengths = _lengths(texts)
    found = pc.or_(_has_parts(batch), pc.greater(lengths, cleaner.limits.span_bytes))
    unclean = _unclean(batch, rows)
    if unclean is not None:
        if _every_row(rows, spans, cleaner):
            return _numbers(pc.or_(found, unclean))
        hits = pc.greater(lengths, cleaner.limits.value_bytes)
        if cleaner.redactor is not None:
            # The long columns of our own rows hold what our capture has cleaned.
            names = _TEXTS if _has_foreign(batch) else _OPEN_TEXTS
            joined = pc.binary_join_element_wise(*_texts(batch, names), "\n", null_handling="skip")
            hits = pc.or_(hits, pc.match_substring_regex(joined, cleaner.redactor.screen))
        if rows.nested:
            hits = pc.or_(hits, pa.array([row in rows.nested for row in range(len(spans))]))
        found = pc.or_(found, pc.and_(hits, unclean))
    return _numbers(found)


def _unclean(batch: pa.RecordBatch, rows: Rows) -> pa.Array | None:
    """Tell of each row whether our own capture has not cleaned it; None: it has cleaned all."""
    if "source" not in batch.schema.names or not all(map(is_own_key, rows.own_keys)):
        return pa.repeat(True, batch.num_rows)
    return pc.is_null(batch["source"]) if _has_foreign(batch) else None


def _has_foreign(batch: pa.RecordBatch) -> bool:
    return "source" not in batch.schema.names or batch["source"].null_count > 0


def _every_row(rows: Rows, spans: Sequence[ReadableSpan], cleaner: Cleaner) -> bool:
    redactor = cleaner.redactor
    if not cleaner.content and any(map(is_content, rows.own_keys | rows.foreign_keys)):
        return True
    if redactor is None:
        return False
    if redactor.screen is None or any(map(redactor.denies, rows.own_keys | rows.foreign_keys)):
        return True
    resources = {id(span.resource): span.resource for span in spans}
    return any(cleaner.resource(resource) is not resource for resource in resources.values())


def _texts(batch: pa.RecordBatch, names: Sequence[str]) -> list[pa.Array]:
    columns = [batch[name] for name in names if name in batch.schema.names]
    return [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in columns
    ]


def _lengths(texts: Sequence[pa.Array]) -> pa.Array:
    """Return the bytes of all texts of each row."""
    lengths = [pc.fill_null(pc.binary_length(text), 0) for text in texts]
    return functools.reduce(pc.add, lengths)


def _has_parts(batch: pa.RecordBatch) -> pa.Array:
    parts = pa.repeat(False, batch.num_rows)
    for name in ("events", "links"):
        if name in batch.schema.names:
            parts = pc.or_(parts, pc.is_valid(batch[name]))
    return parts


def _numbers(mask: pa.Array) -> list[int]:
    return list(pc.indices_nonzero(mask).to_pylist())
