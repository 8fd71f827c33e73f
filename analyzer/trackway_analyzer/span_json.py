"""Span rows as JSON values and back, without loss and without repeating what repeats.

    {"values": [{"role": "user", "parts": [...]}, "a long text"],
     "spans": [{"span_id": "...", "start": 1700000000000000000, "input": {"messages": [0]},
                "attributes": {"object": {"note": {"ref": 1}}}}]}

1. A row holds the columns that are not null: times in ns, texts as they are, `events` and `links`
   as objects.
2. A long text stands once in `values`, and `{"ref": n}` where it was. A list of messages is
   `{"messages": [n, ...]}`, a JSON object `{"object": {...}}`, wherever writing them anew gives the
   same text, letter by letter; else the text stays a text.
3. Reading gives the rows that were written, or raises ValueError. What it gives is bounded by
   `MAX_BYTES`, whatever is repeated.
"""

from __future__ import annotations

from typing import Any, Final

import orjson
import pyarrow as pa

from trackway_analyzer.json_text import compact
from trackway_analyzer.model import JsonValue
from trackway_analyzer.tables import SPAN_SCHEMA, table_of

MAX_BYTES: Final = 512 * 1024 * 1024
_LONG: Final = 64
_BELOW: Final = 12
_TIMES: Final = ("start", "end")
_OBJECTS: Final = ("attributes", "resource")
_REF, _MESSAGES, _OBJECT = "ref", "messages", "object"
_EVENTS: Final = pa.list_(
    pa.struct([("name", pa.string()), ("time", pa.int64()), ("attributes", pa.string())])
)


def spans_as_json(spans: pa.Table) -> dict[str, JsonValue]:
    """Return the rows of a table of `SPAN_SCHEMA` as a JSON value."""
    writer = _Writer()
    rows = [writer.row(row) for row in _integer_times(spans).to_pylist()]
    return {"values": writer.values, "spans": rows}


def spans_of_json(value: JsonValue) -> pa.Table:
    """Return the table that `spans_as_json` was given. Raises ValueError for anything else."""
    try:
        values, rows = value["values"], value["spans"]
        reader = _Reader(values)
        columns: dict[str, list[Any]] = {name: [] for name in SPAN_SCHEMA.names}
        for row in rows:
            for name, items in columns.items():
                items.append(reader.column(name, row.get(name)))
        table = table_of(SPAN_SCHEMA, columns, len(rows))
        table.validate(full=True)
        for field in SPAN_SCHEMA:
            if not field.nullable and table.column(field.name).null_count:
                raise ValueError(f"{field.name} is missing")
    except (KeyError, IndexError, TypeError, AttributeError, pa.ArrowException) as error:
        raise ValueError(f"no spans as JSON: {type(error).__name__}: {error}") from None
    return table


def _integer_times(spans: pa.Table) -> pa.Table:
    for name in _TIMES:
        place = spans.schema.get_field_index(name)
        spans = spans.set_column(place, name, spans.column(name).cast(pa.int64()))
    place = spans.schema.get_field_index("events")
    return spans.set_column(place, "events", spans.column("events").cast(_EVENTS))


class _Writer:
    """Writes rows; texts and messages that come again are written once."""

    def __init__(self) -> None:
        self.values: list[JsonValue] = []
        self._places: dict[str, int] = {}

    def row(self, row: dict[str, Any]) -> dict[str, JsonValue]:
        """Return a row as JSON."""
        return {name: self._column(name, item) for name, item in row.items() if item is not None}

    def _column(self, name: str, item: Any) -> JsonValue:
        if name in ("events", "links"):
            return [self.row(inner) for inner in item]
        if not isinstance(item, str):
            return item
        if name in ("input", "output"):
            return self._messages(item)
        return self._object(item) if name in _OBJECTS else self._text(item)

    def _text(self, text: str) -> JsonValue:
        return text if len(text) < _LONG else {_REF: self._place(text, text)}

    def _place(self, key: str, value: JsonValue) -> int:
        place = self._places.setdefault(key, len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place

    def _messages(self, text: str) -> JsonValue:
        items = _again(text) if text.startswith("[{") else None
        if not isinstance(items, list):
            return self._text(text)
        return {_MESSAGES: [self._place(f"\0{compact(item)}", item) for item in items]}

    def _object(self, text: str) -> JsonValue:
        members = _again(text)
        if not isinstance(members, dict):
            return self._text(text)
        return {_OBJECT: {key: self._member(member) for key, member in members.items()}}

    def _member(self, member: JsonValue) -> JsonValue:
        if isinstance(member, str):
            return self._text(member)
        if isinstance(member, dict) and member.keys() == {_REF}:
            return {_REF: self._place(f"\0{compact(member)}", member)}
        return member


def _again(text: str) -> JsonValue:
    """Return the value of a text that is written the same way again; else None."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if written_below(value) == text else None


def written_below(value: JsonValue) -> str | None:
    """Return the JSON of a value that is to stand deep in a document; None where it cannot."""
    try:
        text = orjson.dumps([[[[[[[[[[[[value]]]]]]]]]]]]).decode()
    except TypeError:
        return None
    return text[_BELOW:-_BELOW]


class _Reader:
    """Reads rows; counts what it gives out."""

    def __init__(self, values: list[JsonValue]) -> None:
        self._values = values
        self._texts = [item if isinstance(item, str) else compact(item) for item in values]
        self._given = 0

    def column(self, name: str, item: Any) -> Any:
        """Return the value of a column."""
        if name in ("events", "links") and item is not None:
            return [
                {key: self.column(key, inner) for key, inner in dict(part).items()} for part in item
            ]
        if not isinstance(item, dict):
            return item
        if _MESSAGES in item:
            return self._counted("[" + ",".join(map(self._text, item[_MESSAGES])) + "]")
        if _OBJECT in item:
            members = {key: self._member(inner) for key, inner in item[_OBJECT].items()}
            return self._counted(compact(members))
        return self._counted(self._text(item[_REF]))

    def _text(self, place: int) -> str:
        text = self._texts[place]
        self._given += len(text)
        return self._counted(text)

    def _member(self, member: JsonValue) -> JsonValue:
        if isinstance(member, dict) and member.keys() == {_REF}:
            self._text(member[_REF])
            return self._values[member[_REF]]
        return member

    def _counted(self, text: str) -> str:
        if self._given > MAX_BYTES:
            raise ValueError(f"spans of more than {MAX_BYTES} bytes")
        return text
