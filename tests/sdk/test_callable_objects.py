"""A recorded callable object keeps what is its own."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from typing import Any

import pytest

import trackway


@trackway.tool
@functools.lru_cache(maxsize=3)
def cached(number: int) -> int:
    """Return the number."""
    return number


class Counter:
    """A tool as an object."""

    limit = 5

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, number: int) -> int:
        self.calls += 1
        return number

    def reset(self) -> None:
        self.calls = 0


def test_the_methods_of_a_cache_are_there(recorded: Any) -> None:
    cached.cache_clear()
    assert [cached(1), cached(1), cached(2)] == [1, 1, 2]
    assert cached.cache_info()[:2] == (1, 2)
    assert cached.cache_parameters()["maxsize"] == 3
    assert [recorded.value(s, "gen_ai.tool.call.arguments") for s in recorded.all] == [
        {"number": 1},
        {"number": 1},
        {"number": 2},
    ]


def test_a_cache_keeps_its_name_signature_class_and_pickles() -> None:
    assert (cached.__name__, cached.__doc__) == ("cached", "Return the number.")
    assert cached.__module__ == __name__
    assert str(inspect.signature(cached)) == "(number: 'int') -> 'int'"
    assert isinstance(cached, functools._lru_cache_wrapper)
    assert callable(cached)
    assert copy.copy(cached) is cached
    assert copy.deepcopy({"tool": cached})["tool"] is cached
    assert cached.__reduce_ex__(4) == "cached"


def test_a_cached_method_binds(recorded: Any) -> None:
    class Shop:
        @trackway.tool
        @functools.lru_cache  # noqa: B019 - the shop lives as long as the test
        def price(self, item: str) -> int:
            return len(item)

    shop = Shop()
    assert [shop.price("tea"), shop.price("tea")] == [3, 3]
    assert shop.price.cache_info().hits == 1
    assert Shop.price.cache_info().hits == 1
    assert recorded.value(recorded.all[0], "gen_ai.tool.call.arguments") == {"item": "tea"}


def test_an_object_keeps_its_attributes_as_they_change(recorded: Any) -> None:
    counter = Counter()
    work = trackway.tool(counter)
    assert (work(1), work(2), work.calls, work.limit) == (1, 2, 2, 5)
    work.reset()
    assert counter.calls == 0
    work.calls = 7
    assert counter.calls == 7
    del work.calls
    assert not hasattr(counter, "calls")
    assert not hasattr(work, "absent")
    assert isinstance(work, Counter)
    assert "reset" in dir(work)
    assert repr(work) == repr(counter)
    assert len(recorded.named("execute_tool Counter")) == 2


def test_an_object_that_binds_nothing_still_binds_nothing(recorded: Any) -> None:
    class Shop:
        count = trackway.tool(Counter())

    assert Shop().count(3) == 3
    assert recorded.arguments("Counter") == {"number": 3}


def test_overloads_of_a_single_dispatch_are_registered(recorded: Any) -> None:
    @trackway.tool
    @functools.singledispatch
    def describe(value: Any) -> str:
        return "something"

    @describe.register
    def _(value: int) -> str:
        return "a number"

    assert [describe("x"), describe(4)] == ["something", "a number"]
    assert describe.dispatch(int)(4) == "a number"
    assert len(recorded.all) == 2


def test_a_command_is_still_one(recorded: Any) -> None:
    click: Any = pytest.importorskip("click", reason="a command needs click")

    @trackway.tool("greet")
    @click.command("greet")  # type: ignore[untyped-decorator]
    @click.option("--name", default="you")  # type: ignore[untyped-decorator]
    def greet(name: str) -> None:
        click.echo(f"Hello, {name}")

    assert isinstance(greet, click.Command)
    assert [option.name for option in greet.params] == ["name"]
    with pytest.raises(SystemExit):
        greet(["--name", "Ann"])
    assert recorded.tool("greet").attributes["error.type"] == "SystemExit"


def test_what_is_recorded_already_is_not_recorded_twice(recorded: Any) -> None:
    registry = trackway.tools({"cached": cached})
    assert registry["cached"] is cached

    @functools.wraps(cached)
    def above(number: int) -> int:
        return int(cached(number))

    assert trackway.tools({"above": above})["above"] is above
    assert above(4) == 4
    assert len(recorded.all) == 1


def test_an_object_that_would_come_back_unrecorded_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="cannot pickle a recorded Counter"):
        pickle.dumps(trackway.tool(Counter()))


def test_the_kind_of_an_object_is_that_of_the_bare_one(recorded: Any) -> None:
    class Later:
        async def __call__(self, number: int) -> int:
            return number

    bare, work = Later(), trackway.tool(Later())
    assert inspect.iscoroutinefunction(work) == inspect.iscoroutinefunction(bare)
    assert inspect.iscoroutinefunction(work.__call__)
