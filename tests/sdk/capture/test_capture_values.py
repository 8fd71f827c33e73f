"""How values are written: one canonical JSON form, whatever the type."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import hashlib
import ipaddress
import json
import pathlib
import re
import types
import uuid
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy
import pandas
import pydantic
import pytest

from trackway.capture import Capture

CAPTURE = Capture()


def text_of(value: object) -> str:
    captured = CAPTURE.value(value)
    assert captured.text is not None
    return captured.text


def decoded(value: object) -> Any:
    return json.loads(text_of(value))


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Mode(enum.StrEnum):
    FAST = "fast"


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Order:
    id: int
    note: str = dataclasses.field(default="hidden", repr=False)
    kind: ClassVar[str] = "order"


@dataclasses.dataclass(slots=True)
class SlottedOrder:
    id: int


@attrs.define
class Parcel:
    weight: float
    secret_route: str = attrs.field(default="x", repr=False)


class Customer(pydantic.BaseModel):
    name: str
    card: pydantic.SecretStr
    hidden: int = pydantic.Field(default=1, repr=False)
    left_out: int = pydantic.Field(default=2, exclude=True)


class Loose(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    id: str


class Ids(pydantic.RootModel[list[int]]):
    pass


class Words(str):
    def __str__(self) -> str:
        raise RuntimeError("must not run")


class Shelf(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("must not run")

    def __iter__(self) -> Any:
        raise RuntimeError("must not run")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (-(2**63), str(-(2**63))),
        (2**63, f'"{2**63}"'),
        ([2**63, -(2**63) - 1], f'["{2**63}","{-(2**63) - 1}"]'),
        (1.5, "1.5"),
        (1e16, "1e+16"),
        (-0.0, "-0.0"),
        (float("nan"), '"NaN"'),
        ([float("inf"), float("-inf")], '["Infinity","-Infinity"]'),
        ("text", '"text"'),
        ("Müller 🚀", '"Müller 🚀"'),
        ("\ud800", r'"\\ud800"'),
        ('say "hi"\n', r'"say \"hi\"\n"'),
        ({"b": 1, "a": [1, (2, None)]}, '{"a":[1,[2,null]],"b":1}'),
        ({True: "b", None: "c", 2.5: "d"}, '{"2.5":"d","null":"c","true":"b"}'),
        ({("a", 1): 2}, '{"[\\"a\\",1]":2}'),
        ({1: "number", "1": "text"}, '{"1":"text","1 (2)":"number"}'),
        ({1: "c", "1": "a", "1 (2)": "b"}, '{"1":"a","1 (2)":"b","1 (3)":"c"}'),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset(("b", "a")), '["a","b"]'),
        (collections.deque((1, 2)), "[1,2]"),
        (collections.OrderedDict(b=1, a=2), '{"a":2,"b":1}'),
        (collections.Counter("aab"), '{"a":2,"b":1}'),
        (collections.UserDict({"a": 1}), '{"a":1}'),
        (types.MappingProxyType({"a": 1}), '{"a":1}'),
        (types.SimpleNamespace(a=1), '{"a":1}'),
        (Words("hello"), '"hello"'),
        (Shelf(a=1), '{"a":1}'),
        (Colour.RED, '"red"'),
        (Level.HIGH, "3"),
        (Mode.FAST, '"fast"'),
        ({Colour.RED: 1}, '{"red":1}'),
        (
            datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
            '"2026-01-02T03:04:05+00:00"',
        ),
        (datetime.date(2026, 1, 2), '"2026-01-02"'),
        (datetime.time(3, 4), '"03:04:00"'),
        (datetime.timedelta(minutes=1, microseconds=500), "60.0005"),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (decimal.Decimal("1.50"), "1.5"),
        (decimal.Decimal("84"), "84"),
        (decimal.Decimal("0.1"), "0.1"),
        (decimal.Decimal("0.1234567890123456789"), '"0.1234567890123456789"'),
        (decimal.Decimal("1E+400"), '"1E+400"'),
        (decimal.Decimal("sNaN"), '"sNaN"'),
        (fractions.Fraction(1, 3), '"1/3"'),
        (1 + 2j, '"(1+2j)"'),
        (pathlib.PurePosixPath("/tmp/a"), '"/tmp/a"'),
        (ipaddress.ip_address("10.0.0.1"), '"10.0.0.1"'),
        (re.compile("a+"), '"a+"'),
        (range(3), '"range(0, 3)"'),
        (slice(1, None), '{"start":1,"step":null,"stop":null}'),
        (Point(1, 2), '{"x":1,"y":2}'),
        (Order(7), '{"id":7}'),
        (SlottedOrder(7), '{"id":7}'),
        (Parcel(1.5), '{"weight":1.5}'),
        (Loose.model_validate({"id": "a", "more": [1]}), '{"id":"a","more":[1]}'),
        (Ids([1, 2]), "[1,2]"),
        (ValueError("boom", 1), '{"args":["boom",1],"type":"ValueError"}'),
        (numpy.float64(1.5), "1.5"),
        (numpy.int32(3), "3"),
        (numpy.bool_(True), "true"),
        (numpy.datetime64("2026-01-02"), '"2026-01-02"'),
        (pandas.Timestamp("2026-01-02"), '"2026-01-02T00:00:00"'),
        (pandas.NaT, "null"),
        (pandas.NA, "null"),
        (object(), '"<object>"'),
        (len, '"<builtin_function_or_method>"'),
        (json, '"<module>"'),
        (Order, f'"<class {__name__}.Order>"'),
        ((number for number in (1, 2)), '"<generator>"'),
    ],
)
def test_a_value_is_written_as(value: object, text: str) -> None:
    captured = CAPTURE.value(value)
    assert captured.text == text
    assert (captured.truncated, captured.redacted, captured.digest) == (False, False, None)


def test_the_order_of_keys_does_not_matter() -> None:
    assert text_of({"a": 1, "b": {"c": 1, "d": 2}}) == text_of({"b": {"d": 2, "c": 1}, "a": 1})


def test_arguments_are_an_object_under_their_names() -> None:
    captured = CAPTURE.arguments({"order_id": "o1", "amount": 42.0})
    assert captured.text == '{"amount":42.0,"order_id":"o1"}'


def test_bytes_are_length_and_hash() -> None:
    digest = hashlib.sha256(b"abc").hexdigest()
    assert decoded(b"abc") == {"type": "bytes", "length": 3, "sha256": digest}
    assert decoded(bytearray(b"abc"))["sha256"] == digest
    assert decoded(memoryview(b"abc"))["sha256"] == digest


def test_many_bytes_are_length_and_a_hash_of_both_ends() -> None:
    first, second = (CAPTURE.value(bytes(30_000_000) + end) for end in (b"a", b"b"))
    assert json.loads(first.text or "") == {
        "type": "bytes",
        "length": 30_000_001,
        "sha256_ends": hashlib.sha256(bytes(4096) + bytes(4095) + b"a").hexdigest(),
    }
    assert first.truncated
    assert first.text != second.text


def test_bytes_together_are_hashed_whole_up_to_the_hash_limit() -> None:
    written = decoded([bytes(300_000) for _ in range(4)])
    assert ["sha256" in blob for blob in written] == [True, True, False, False]
    assert ["sha256_ends" in blob for blob in written] == [False, False, True, True]


def test_an_inline_image_is_length_and_hash() -> None:
    url = "data:image/png;base64," + "iVBORw0KGgo" * 1000
    digest = hashlib.sha256(url.encode()).hexdigest()
    assert decoded({"image_url": {"url": url}}) == {
        "image_url": {"url": f"data:image/png;base64,…[{len(url)} chars, sha256 {digest}]"}
    }


def test_a_secret_type_and_hidden_fields_of_a_model_stay_out() -> None:
    captured = CAPTURE.value(Customer(name="Ada", card=pydantic.SecretStr("4111111111111111")))
    assert captured.text == '{"card":"[redacted:secret_type]","name":"Ada"}'
    assert captured.redacted


def test_an_answer_of_the_openai_client_is_its_fields() -> None:
    from openai.types.chat import ChatCompletion

    answer = {
        "id": "chatcmpl-1",
        "created": 1,
        "model": "m",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
        ],
    }
    written = decoded(ChatCompletion.model_validate(answer))
    assert written["choices"][0]["message"]["content"] == "hi"
    assert written["model"] == "m"


def test_an_array_is_type_shape_head_and_hash() -> None:
    values = numpy.arange(100, dtype="int32").reshape(10, 10)
    captured = CAPTURE.value(values)
    assert json.loads(captured.text or "") == {
        "type": "numpy.ndarray",
        "dtype": "int32",
        "shape": [10, 10],
        "head": list(range(20)),
        "sha256": hashlib.sha256(values.tobytes()).hexdigest(),
    }
    assert captured.truncated
    assert not CAPTURE.value(numpy.arange(3)).truncated


def test_an_array_module_array_is_type_shape_and_head() -> None:
    written = decoded(array.array("d", [1.0, 2.0]))
    assert written == {"type": "array.array", "dtype": "d", "shape": [2], "head": [1.0, 2.0]}


def test_a_frame_is_shape_columns_and_first_rows() -> None:
    frame = pandas.DataFrame({"id": range(1000), "password": "x"})
    captured = CAPTURE.value(frame)
    written = json.loads(captured.text or "")
    assert written["shape"] == [1000, 2]
    assert written["columns"] == ["id", "password"]
    assert written["head"] == [{"id": row, "password": "[redacted:key_name]"} for row in range(5)]
    assert captured.truncated
    assert captured.redacted


def test_a_labelled_series_is_an_object_so_that_names_are_seen() -> None:
    written = decoded(pandas.Series({"id": 1, "password": "hunter2"}))
    assert written["head"] == {"id": 1, "password": "[redacted:key_name]"}
    assert decoded(pandas.Series([1, 2]))["head"] == [1, 2]


def test_a_container_in_itself_is_marked() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert text_of(loop) == '[1,"…[circular]"]'
    for twice in ([1], [Colour.RED]):
        inner = text_of(twice)
        assert text_of([twice, twice]) == f"[{inner},{inner}]"


def test_sets_are_sorted() -> None:
    words = [f"word{number}" for number in range(40)]
    assert decoded(set(words)) == sorted(words)


def test_a_field_that_is_not_set_yet_is_left_out() -> None:
    assert text_of(object.__new__(SlottedOrder)) == "{}"
    assert text_of(object.__new__(Order)) == "{}"


def test_what_a_value_was_is_kept_when_it_changes_later() -> None:
    order = {"status": "open"}
    captured = CAPTURE.value(order)
    order["status"] = "closed"
    assert captured.text == '{"status":"open"}'
