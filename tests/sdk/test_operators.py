"""What Python looks up on the type of an object, a recorded one keeps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import trackway


class Box(dict[str, int]):
    """A tool that is a dict."""

    def __call__(self, number: int) -> int:
        return number


class Pile(list[int]):
    def __call__(self) -> int:
        return len(self)


class Amount(int):
    def __call__(self) -> int:
        return int(self)


class Resource:
    """Has contexts, iterates over itself, and comes from both sides of a sum."""

    entered = 0
    left = 3

    def __call__(self) -> str:
        return "called"

    def __enter__(self) -> Resource:
        self.entered += 1
        return self

    def __exit__(self, *error: object) -> Any:
        return error[0] is KeyError

    async def __aenter__(self) -> Resource:
        return self.__enter__()

    async def __aexit__(self, *error: object) -> None: ...

    def __iter__(self) -> Resource:
        return self

    def __next__(self) -> int:
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left

    def __radd__(self, other: str) -> str:
        return f"{other} and more"

    def __str__(self) -> str:
        return "resource"


def test_a_mapping_stays_one(recorded: Any) -> None:
    held = Box(a=1)
    box = trackway.tool(held)
    assert (len(box), list(box), box["a"], "a" in box, "b" in box) == (1, ["a"], 1, True, False)
    box["b"] = 2
    del box["a"]
    assert (held, dict(box), {**box}, list(reversed(box))) == ({"b": 2}, {"b": 2}, {"b": 2}, ["b"])
    assert (box | {"c": 3}, {"c": 3} | box) == ({"b": 2, "c": 3}, {"c": 3, "b": 2})
    held.clear()
    assert not box
    assert box(7) == 7
    assert recorded.names == ["execute_tool Box"]


def test_a_registry_keeps_them_too(recorded: Any) -> None:
    registry = trackway.tools({"t": Pile([1])})
    assert len(registry["t"]) == 1


def test_a_sequence_adds_from_both_sides_and_in_place(recorded: Any) -> None:
    pile = kept = trackway.tool(Pile([1, 2]))
    other = trackway.tool(Pile([9]))
    assert (pile + [3], [0] + pile, pile + other, pile * 2, pile[-1:]) == (  # noqa: RUF005 - the operator is meant
        [1, 2, 3],
        [0, 1, 2],
        [1, 2, 9],
        [1, 2, 1, 2],
        [2],
    )
    pile += [3]
    assert pile is kept
    assert pile() == 3
    assert sorted(pile, reverse=True) == [3, 2, 1]
    assert recorded.names == ["execute_tool Pile"]


def test_a_number_counts(recorded: Any) -> None:
    four: Any = trackway.tool(Amount(4))
    assert (int(four), float(four), four + 1, 1 - four, -four, pow(four, 2, 5)) == (
        4,
        4,
        5,
        -3,
        -4,
        1,
    )
    assert (four < 5, four >= 5, 3 < four, four != 4, divmod(9, four)) == (  # noqa: SIM300 - both sides
        *(True, False, True, False),
        (2, 1),
    )
    assert (list(range(9))[four], f"{four:03d}", round(four), [1] * four) == (4, "004", 4, [1] * 4)


def test_what_gives_the_object_gives_the_recorded_one(recorded: Any) -> None:
    held = Resource()
    resource: Any = trackway.tool(held)
    with resource as inside:
        assert inside is resource
        del {"a": 1}["b"]
    assert iter(resource) is resource
    assert list(resource) == [2, 1, 0]

    async def enter() -> None:
        async with resource as inside:
            assert inside is resource

    asyncio.run(enter())
    assert (held.entered, "this" + resource, str(resource)) == (2, "this and more", "resource")


class Plain:
    __iter__ = None

    def __call__(self) -> None: ...

    def __getitem__(self, index: int) -> int:
        return index


def test_what_the_object_has_not_stays_an_error(recorded: Any) -> None:
    plain: Any = trackway.tool(Plain())
    assert plain[3] == 3
    for refused in (
        len,
        int,
        iter,
        lambda it: it + 1,
        lambda it: it < it,
        lambda it: it.__enter__(),
    ):
        with pytest.raises((TypeError, AttributeError)):
            refused(plain)
    assert bool(plain)


class Tools:
    """An object whose methods are tools."""

    def __len__(self) -> int:
        return 2

    def __call__(self) -> str:
        return "its own"

    def look(self) -> int:
        return 1


def test_a_view_of_an_object_keeps_them(recorded: Any) -> None:
    view: Any = trackway.tools(Tools())
    assert (len(view), view(), view.look()) == (2, "its own", 1)
    assert recorded.names == ["execute_tool look"]
