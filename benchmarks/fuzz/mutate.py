"""How an input is spoilt: in its structure, then in its bytes. Everything comes from one `Random`.

1. A document: one to four nodes, anywhere in it, are replaced, removed, repeated, renamed, moved,
   wrapped, written as a text, or taken from another document.
2. Values that replace are those that readers trip over: other types, empty ones, extremes, broken
   ids and times, nesting, texts that are nearly JSON.
3. Bytes: bits are flipped, pieces cut, repeated, overwritten; the file is cut or compressed.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

import pyarrow as pa

_DEEP: Final = (20, 70, 300, 900, 1100)
_WORDS: Final = (
    "resourceSpans",
    "scopeSpans",
    "spans",
    "traceId",
    "spanId",
    "parentSpanId",
    "attributes",
    "key",
    "value",
    "stringValue",
    "arrayValue",
    "kvlistValue",
    "bytesValue",
    "intValue",
    "doubleValue",
    "values",
    "events",
    "links",
    "status",
    "name",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "start_time_unix_nano",
    "role",
    "content",
    "parts",
    "tool_calls",
    "tool_call_id",
    "arguments",
    "response",
    "type",
    "messages",
    "id",
    "timestamp",
    "data",
    "output",
    "input",
)


def value(random: Random) -> Any:
    """Return a value that readers trip over."""
    return random.choice(_VALUES)(random)


def _deep(random: Random) -> Any:
    inner: Any = random.choice([None, "x", 1])
    as_list = random.random() < 0.5
    for _ in range(random.choice(_DEEP[:3])):
        inner = [inner] if as_list else {random.choice(_WORDS): inner}
    return inner


_VALUES: Final[tuple[Callable[[Random], Any], ...]] = (
    lambda _: None,
    lambda r: r.choice([True, False]),
    lambda r: r.choice([0, 1, -1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 10**17, 1.5, -0.0]),
    lambda r: r.choice(["", " ", "null", "0", "-1", "1e999", "NaN", "true", "\x00", "é", "𝄞"]),
    lambda r: r.choice(
        ["{", "[", '{"a": 1', '["a"', "{'a': 1}", '"{}"', '"\\"1\\""', "(1,)", "[[["]
    ),
    lambda r: r.choice(["0" * 16, "f" * 32, "AAAAAAAAAAA=", "g" * 16, "F" * 16, "0" * 32]),
    lambda r: r.choice(["1700000000000000000", "99999999999999999999", "2026-01-01T00:00:00Z"]),
    lambda r: "x" * r.choice([10, 300, 5000]),
    lambda r: r.choice([[], {}, [None], [[]], [{}], {"": ""}, [1, "a", None]]),
    lambda r: {r.choice(_WORDS): r.choice([None, 1, "x", [], {}])},
    lambda r: "[" * r.choice(_DEEP) + "]" * r.choice(_DEEP),
    lambda r: r.choice(["\ud800".encode("utf-8", "replace").decode(), "<not specified>", "N/A"]),
    _deep,
)


def document(random: Random, seed: Any, others: Sequence[Any]) -> Any:
    """Return a spoilt copy of a document. Parts that are unchanged are shared with the seed."""
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 4])):
        seed = _spoilt(random, seed, others, 0)
    return seed


def _spoilt(random: Random, node: Any, others: Sequence[Any], depth: int) -> Any:
    inner = isinstance(node, (dict, list)) and len(node) > 0
    if inner and random.random() < (0.97 if depth < 4 else 0.8):
        copy = node.copy()
        key = random.choice(list(copy)) if isinstance(copy, dict) else random.randrange(len(copy))
        if random.random() < 0.12:
            return _reshaped(random, copy, key)
        copy[key] = _spoilt(random, copy[key], others, depth + 1)
        return copy
    way = random.random()
    if way < 0.6:
        return value(random)
    if way < 0.75:
        return _piece(random, random.choice(others))
    if way < 0.85:
        return [node] if random.random() < 0.5 else {random.choice(_WORDS): node}
    if isinstance(node, str) and node:
        place = random.randrange(len(node))
        return random.choice([node[:place], node[place:], node + node, node[:place] + "\\" + node])
    return str(node)


def _reshaped(random: Random, copy: Any, key: Any) -> Any:
    way = random.randrange(4)
    if isinstance(copy, dict):
        if way == 0:
            del copy[key]
        elif way == 1:
            copy[random.choice(_WORDS)] = copy.pop(key)
        elif way == 2:
            copy[key] = copy[random.choice(list(copy))]
        else:
            return list(copy.values())
        return copy
    if way == 0:
        del copy[key]
    elif way == 1:
        copy.insert(random.randrange(len(copy)), copy[key])
    elif way == 2:
        random.shuffle(copy)
    else:
        return {str(place): item for place, item in enumerate(copy)}
    return copy


def _piece(random: Random, node: Any) -> Any:
    while isinstance(node, (dict, list)) and node and random.random() < 0.8:
        node = random.choice(list(node.values()) if isinstance(node, dict) else node)
    return node


def raw(random: Random, text: bytes) -> bytes:
    """Return spoilt bytes."""
    for _ in range(random.choice([1, 1, 2, 4, 16])):
        if not text:
            return text
        place, length = random.randrange(len(text)), random.choice([1, 1, 2, 8, 64, 1024])
        way = random.randrange(6)
        if way == 0:
            text = text[:place]
        elif way == 1:
            text = text[:place] + text[place + length :]
        elif way == 2:
            text = text[:place] + text[place : place + length] * 2 + text[place + length :]
        elif way == 3:
            text = text[:place] + random.randbytes(length) + text[place + length :]
        else:
            flipped = text[place] ^ (1 << random.randrange(8))
            text = text[:place] + bytes([flipped]) + text[place + 1 :]
    return text


def packed(random: Random, text: bytes) -> bytes:
    """Return bytes in one of the wrappers that readers undo."""
    way = random.randrange(4)
    if way == 0:
        return gzip.compress(text, 1)
    if way == 1:
        return bytes(pa.compress(text, "zstd", asbytes=True))
    framed = len(text).to_bytes(4) + text
    return framed if way == 2 else framed + framed[: random.randrange(len(framed))]


def table(random: Random, seed: pa.Table) -> pa.Table:
    """Return a spoilt table: columns dropped, renamed, of another type or value."""
    for _ in range(random.choice([1, 1, 2, 3])):
        if not seed.num_columns:
            return seed
        place = random.randrange(seed.num_columns)
        name, column = seed.column_names[place], seed.column(place)
        way = random.randrange(5)
        if way == 0:
            seed = seed.remove_column(place)
        elif way == 1:
            seed = seed.rename_columns(
                [random.choice(_WORDS) if n == name else n for n in seed.column_names]
            )
        elif way == 2:
            seed = seed.set_column(place, name, pa.nulls(len(seed), column.type))
        else:
            kind = random.choice([pa.string(), pa.int64(), pa.float64(), pa.binary(), pa.bool_()])
            made = _cells(random, kind, len(seed))
            seed = seed.set_column(place, name, made)
    return seed


def _cells(random: Random, kind: pa.DataType, rows: int) -> pa.Array:
    cells: dict[pa.DataType, Callable[[], Any]] = {
        pa.string(): lambda: str(value(random)),
        pa.int64(): lambda: random.choice([0, -1, 2**63 - 1, -(2**63), 17]),
        pa.float64(): lambda: random.choice([0.0, float("nan"), float("inf"), 1e300]),
        pa.binary(): lambda: random.randbytes(random.choice([0, 1, 8, 16])),
        pa.bool_(): lambda: random.random() < 0.5,
    }
    return pa.array([cells[kind]() if random.random() < 0.9 else None for _ in range(rows)], kind)
