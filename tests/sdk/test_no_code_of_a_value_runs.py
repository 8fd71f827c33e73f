"""What the decorators look at is read without running code of the user's objects."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple
from unittest.mock import Mock

import msgspec
import pydantic
import pytest

import trackway
from trackway.schema import GenAI, Trackway

RAN: list[str] = []


def lazy(name: str) -> Any:
    def run(self: Any, *arguments: Any, **named: Any) -> Any:
        RAN.append(name)
        raise RuntimeError(name)

    return run


SPECIAL = (
    *("__repr__", "__str__", "__format__", "__bytes__", "__hash__", "__bool__", "__len__"),
    *("__eq__", "__lt__", "__iter__", "__contains__", "__getitem__", "__index__"),
    *(
        "__int__",
        "__float__",
        "__call__",
        "__reduce__",
        "__dir__",
        "__enter__",
        "__instancecheck__",
    ),
)


def fighting(name: str, *bases: type, without: tuple[str, ...] = ()) -> type:
    """A class whose every special method, and every way to an attribute, takes note and raises."""
    names = [special for special in SPECIAL if special not in without]
    methods = {special: lazy(f"{name}.{special}") for special in names}
    return type(name, bases, methods)


class Lazy:
    """Like a proxy of a remote object: each attribute asks the other side, and may never end."""

    def __getattr__(self, name: str) -> Any:
        RAN.append(f"Lazy.{name}")
        raise AttributeError(name)


class Watched:
    def __getattribute__(self, name: str) -> Any:
        RAN.append(f"Watched.{name}")
        return object.__getattribute__(self, name)


class Properties:
    @property
    def choices(self) -> list[Any]:
        RAN.append("Properties.choices")
        return []

    content = role = type = id = metadata = score = choices


class Pretends:
    @property
    def __class__(self) -> Any:
        RAN.append("Pretends.__class__")
        return dict


VALUES = [
    Lazy(),
    Watched(),
    Properties(),
    Pretends(),
    fighting("Object")(),
    fighting("Dict", dict, without=("__hash__",))(choices=[1], role="assistant", content="x"),
    fighting("List", list, without=("__hash__",))([{"role": "user"}]),
    fighting("Tuple", tuple)((Lazy(), 1)),
    fighting("Text", str)("text"),
    fighting("Number", int)(4),
    {"role": fighting("Text", str)("tool"), "content": [Lazy()]},
    {"choices": [{"message": Lazy(), "finish_reason": Watched()}], "usage": Lazy()},
    [{"id": Watched(), "metadata": Lazy()}, Lazy(), (Lazy(), fighting("Score", float)(0.5))],
]


@pytest.mark.parametrize("decorator", ["tool", "llm", "agent", "retriever"])
@pytest.mark.parametrize("number", range(len(VALUES)))
def test_no_code_of_a_value_runs(recorded: Any, decorator: str, number: int) -> None:
    value = VALUES[number]

    @getattr(trackway, decorator)  # type: ignore[untyped-decorator]
    def echo(
        messages: Any, system: Any, tools: Any, model: Any, temperature: Any, query: Any
    ) -> Any:
        return value

    @getattr(trackway, decorator)  # type: ignore[untyped-decorator]
    def give(input: Any) -> Iterator[Any]:
        yield value
        yield value

    RAN.clear()
    assert echo(value, value, [value], value, value, value) is value
    pieces = give(value)
    assert next(pieces) is value
    assert next(pieces) is value
    assert next(pieces, None) is None
    assert RAN == []
    assert len(recorded.all) == 2
    assert not [span for span in recorded.all if Trackway.CAPTURE_ERROR in span.attributes]


def test_no_code_of_a_value_in_an_event_or_a_run_runs(recorded: Any) -> None:
    RAN.clear()
    for value in VALUES:
        with trackway.run("t", input=value, owner=value) as run:
            trackway.decision(candidates=[value], chosen=value)
            trackway.wait(value)
            trackway.effect("refund", ledger=value)
            run.final(action=value, arguments=value)
            run.outcome(True, label=value, state=value)
    assert RAN == []


MESSAGE = {"role": "assistant", "content": "Refunded."}


class Model(pydantic.BaseModel):
    role: str
    content: str


class Open(pydantic.BaseModel, extra="allow"): ...


class Struct(msgspec.Struct):
    role: str
    content: str


@dataclasses.dataclass(slots=True)
class Slots:
    role: str
    content: str


class Pair(NamedTuple):
    role: str
    content: str


class Plain:
    role: ClassVar[str] = "assistant"

    def __init__(self, role: str, content: str) -> None:
        self.content = content


@pytest.mark.parametrize(
    "kind", [dict, SimpleNamespace, Model, Open, Struct, Slots, Pair, Plain, Mock]
)
def test_what_an_object_stores_is_read(recorded: Any, kind: Any) -> None:
    @trackway.llm
    def chat(messages: Any) -> Any:
        return kind(**MESSAGE)

    chat("Refund?")
    assert recorded.value(recorded.one("chat"), GenAI.OUTPUT_MESSAGES) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Refunded."}]}
    ]


def test_a_document_beside_its_score_is_read(recorded: Any) -> None:
    @trackway.retriever
    def search(query: str) -> list[Any]:
        node = SimpleNamespace(id_="n1", text="words")
        return [SimpleNamespace(node=node, score=0.5), (SimpleNamespace(id="n2", text="x"), 0.25)]

    search("q")
    found = recorded.value(recorded.one("retrieval search"), GenAI.RETRIEVAL_DOCUMENTS)
    assert [(document["id"], document["score"]) for document in found] == [
        ("n1", 0.5),
        ("n2", 0.25),
    ]
    assert all("sha256" in document for document in found)


KEY = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("key", "written"),
    [("k", "k"), (7, "7"), (KEY, str(KEY)), (("A1", 2), '["A1",2]'), (None, None)],
)
def test_an_operation_id_is_written_as_an_id(recorded: Any, key: Any, written: Any) -> None:
    @trackway.tool(operation_id="key")
    def refund(key: Any) -> None: ...

    refund(key)
    assert recorded.tool("refund").attributes.get(Trackway.OPERATION_ID) == written


@pytest.mark.parametrize(
    "operation_id", ["key", lambda arguments: arguments["missing"]], ids=["object", "raises"]
)
def test_an_operation_id_that_is_none_costs_itself_alone(recorded: Any, operation_id: Any) -> None:
    @trackway.tool(operation_id=operation_id)
    def refund(key: Any, amount: int) -> None: ...

    RAN.clear()
    refund(Lazy(), 4)
    span = recorded.tool("refund")
    assert span.attributes[Trackway.CAPTURE_ERROR].startswith("operation_id: ")
    assert Trackway.OPERATION_ID not in span.attributes
    assert recorded.arguments("refund")["amount"] == 4
    assert RAN == []


def test_flags_and_numbers_of_numpy_stay_flags_and_numbers(recorded: Any) -> None:
    numpy = pytest.importorskip("numpy", reason="numbers of numpy need numpy")
    with trackway.run("t", trial=numpy.int64(3)) as run:
        trackway.context(numpy.int32(900), truncated=numpy.bool_(True))
        run.outcome(numpy.bool_(False))
    attributes = recorded.one("run t").attributes
    assert attributes[Trackway.OUTCOME_SUCCESS] is False
    assert attributes[Trackway.TRIAL_INDEX] == 3
    (event,) = recorded.one("run t").events
    assert dict(event.attributes) == {"tokens": 900, "truncated": True}
