"""Which spans of a batch must be cleaned? Asked of whole columns, for most need nothing.

1. What our own capture has not cleaned is searched with the redactor's screen: one regular
   expression without look-around, which runs in linear time (`row_search`). That is every text of
   other instrumentors, and where a key that is not ours is among the attributes of our own spans,
   their names, messages and `attributes`.
2. Such a row is looked at when the screen hits, when its texts are longer than one value may be, or
   when it has nested attributes or bytes. All of them are looked at when content is off, when one
   of their keys is denied or holds a secret, and when the redactor has patterns or hooks: then
   there is no screen.
3. Any row is looked at when it is longer than a span may be, or has events or links that our own
   capture has not cleaned, or a resource that holds a secret.
4. What is looked at goes through `Cleaner.clean`, which decides.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.sdk.trace import ReadableSpan

from trackway.capture import Limits
from trackway.export.clean import Cleaner
from trackway.export.own_keys import is_own_key
from trackway.export.parquet.row_search import RowSearch
from trackway.export.parquet.table import batch_of
from trackway.export.rows import Rows

_KEYS_KEPT: Final = 4096
_OPEN_TEXTS: Final = ("name", "error_message", "attributes")
_TEXTS: Final = (*_OPEN_TEXTS, "arguments", "result", "input", "output")


class Screen:
    """Finds and cleans what may not leave the process, batch by batch."""

    def __init__(self, cleaner: Cleaner) -> None:
        self._cleaner: Final = cleaner
        self._harmless: Final[set[str]] = set()
        screens = None if cleaner.redactor is None else cleaner.redactor.screens
        self._search: Final = None if screens is None else RowSearch(screens)

    def batch_of(self, spans: Sequence[ReadableSpan]) -> pa.RecordBatch:
        """Return the Arrow batch of spans, redacted and within the limits."""
        batch, rows = batch_of(spans)
        suspects = self._suspects(_texts(batch), batch, rows, spans)
        if not suspects:
            return batch
        cleaned = list(spans)
        for row in suspects:
            cleaned[row] = self._cleaner.clean(spans[row])
        if all(cleaned[row] is spans[row] for row in suspects):
            return batch
        return batch_of(cleaned)[0]

    def _suspects(
        self,
        texts: dict[str, pa.Array],
        batch: pa.RecordBatch,
        rows: Rows,
        spans: Sequence[ReadableSpan],
    ) -> set[int]:
        """Return the rows that have to be looked at."""
        limits = self._cleaner.limits
        lengths = _lengths(list(texts.values()))
        suspects = {*_where(pc.greater(lengths, limits.span_bytes))}
        suspects |= {row for row in _with_parts(batch) if not _has_clean_parts(row, rows, limits)}
        suspects |= self._with_unclean_resource(spans)
        foreign = [row for row, ours in enumerate(rows.own) if not ours]
        opened = [] if all(map(is_own_key, rows.own_keys)) else _others(foreign, len(spans))
        unclean = {*foreign, *opened}
        if not unclean:
            return suspects
        if self._is_every_row(rows):
            return suspects | unclean
        suspects |= unclean & {*rows.nested, *_where(pc.greater(lengths, limits.value_bytes))}
        if self._search is not None:
            suspects |= {
                *_hits(self._search, foreign, _TEXTS, texts),
                *_hits(self._search, opened, _OPEN_TEXTS, texts),
            }
        return suspects

    def _with_unclean_resource(self, spans: Sequence[ReadableSpan]) -> set[int]:
        if self._cleaner.redactor is None and self._cleaner.content:
            return set()
        resources = {id(span.resource): span.resource for span in spans}
        unclean = {
            key
            for key, resource in resources.items()
            if self._cleaner.resource(resource) is not resource
        }
        if not unclean:
            return set()
        return {row for row, span in enumerate(spans) if id(span.resource) in unclean}

    def _is_every_row(self, rows: Rows) -> bool:
        redactor = self._cleaner.redactor
        keys = rows.own_keys | rows.foreign_keys
        if not self._cleaner.content:
            return True
        if redactor is None:
            return False
        return redactor.screen is None or not self._are_harmless(keys)

    def _are_harmless(self, keys: frozenset[str]) -> bool:
        """Whether no key is denied or holds a secret itself."""
        unknown = keys - self._harmless
        redactor = self._cleaner.redactor
        if redactor is None or not unknown:
            return True
        if any(redactor.denies(key) or redactor.suspects(key) for key in unknown):
            return False
        if len(self._harmless) + len(unknown) > _KEYS_KEPT:
            self._harmless.clear()
        self._harmless.update(unknown)
        return True


def _hits(
    search: RowSearch, among: Sequence[int], names: Sequence[str], texts: dict[str, pa.Array]
) -> list[int]:
    """Return those of the rows in which the screen hits one of the named columns."""
    if not among:
        return []
    columns = [texts[name] for name in names if name in texts]
    if len(among) < len(columns[0]):
        columns = [column.take(pa.array(among)) for column in columns]
    return [among[row] for row in search.rows(columns)]


def _texts(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    present = frozenset(batch.schema.names)
    columns = {name: batch[name] for name in _TEXTS if name in present}
    return {
        name: column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for name, column in columns.items()
    }


def _lengths(texts: Sequence[pa.Array]) -> pa.Array:
    """Return the bytes of all texts of each row."""
    lengths = [pc.fill_null(pc.binary_length(text), 0) for text in texts]
    return functools.reduce(pc.add, lengths)


def _with_parts(batch: pa.RecordBatch) -> list[int]:
    present = frozenset(batch.schema.names)
    columns = [batch[name] for name in ("events", "links") if name in present]
    return [row for column in columns for row in _where(pc.is_valid(column))]


def _has_clean_parts(row: int, rows: Rows, limits: Limits) -> bool:
    """Tell whether all that hangs on a span is what our own capture has cleaned, and little."""
    columns = (rows.columns.get(name) for name in ("events", "links"))
    events, links = ((column and column[row]) or () for column in columns)
    return (
        rows.own[row]
        and not links
        and all(is_own_key(event["name"]) for event in events)
        and sum(len(event["attributes"]) for event in events) <= limits.value_bytes
    )


def _others(some: Sequence[int], count: int) -> list[int]:
    known = frozenset(some)
    return [row for row in range(count) if row not in known]


def _where(mask: pa.Array) -> list[int]:
    return list(pc.indices_nonzero(mask).to_pylist())
