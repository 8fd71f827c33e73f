"""A decorated generator answers every sequence of calls as the bare one does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trackway

Action = tuple[str, Any]
ACTIONS = st.lists(
    st.one_of(
        st.just(("next", None)),
        st.tuples(st.just("send"), st.integers(0, 9)),
        st.tuples(st.just("throw"), st.sampled_from([KeyError, ValueError, RuntimeError])),
        st.just(("close", None)),
    ),
    max_size=8,
)
BODY = st.lists(st.sampled_from(["yield", "guarded", "raise", "stubborn"]), max_size=5)


def make(body: list[str]) -> Callable[[], Any]:
    """A generator function that yields, catches, raises and refuses to close, in this order."""

    def generator() -> Any:
        heard = []
        for position, what in enumerate(body):
            if what == "yield":
                heard.append((yield position, list(heard)))
            elif what == "guarded":
                try:
                    heard.append((yield position, list(heard)))
                except KeyError:
                    heard.append("caught")
            elif what == "stubborn":
                try:
                    yield position, "stubborn"
                except GeneratorExit:
                    yield "no"
            else:
                raise ValueError("mine")
        return heard

    return generator


def make_async(body: list[str]) -> Callable[[], Any]:
    """The same as an async generator, with hops to the loop in between."""

    async def generator() -> Any:
        heard = []
        for position, what in enumerate(body):
            await asyncio.sleep(0)
            if what == "yield":
                heard.append((yield position, list(heard)))
            elif what == "guarded":
                try:
                    heard.append((yield position, list(heard)))
                except KeyError:
                    heard.append("caught")
            elif what == "stubborn":
                try:
                    yield position, "stubborn"
                except GeneratorExit:
                    yield "no"
            else:
                raise ValueError("mine")

    return generator


def answers(generator: Any, actions: list[Action]) -> list[Any]:
    told: list[Any] = []
    for name, value in actions:
        try:
            if name == "next":
                told.append(next(generator))
            elif name == "close":
                told.append(generator.close())
            else:
                told.append(getattr(generator, name)(value))
        except StopIteration as stop:
            told.append(("stop", stop.value))
        except BaseException as error:  # noqa: BLE001
            told.append((type(error), str(error)))
            if name == "close":  # refused; who delegates to such a generator is done with it
                break
    return told


async def async_answers(generator: Any, actions: list[Action]) -> list[Any]:
    names = {"next": "__anext__", "send": "asend", "throw": "athrow", "close": "aclose"}
    told: list[Any] = []
    for name, value in actions:
        call = getattr(generator, names[name])
        try:
            told.append(await (call(value) if name in ("send", "throw") else call()))
        except BaseException as error:  # noqa: BLE001
            told.append((type(error), str(error)))
            if name == "close":
                break
    return told


SETTINGS = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@SETTINGS
@given(BODY, ACTIONS)
def test_a_generator(recorded: Any, body: list[str], actions: list[Action]) -> None:
    bare, decorated = make(body), trackway.tool("g")(make(body))
    assert answers(decorated(), actions) == answers(bare(), actions)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@SETTINGS
@given(BODY, ACTIONS)
def test_an_async_generator(recorded: Any, body: list[str], actions: list[Action]) -> None:
    bare, decorated = make_async(body), trackway.tool("g")(make_async(body))

    async def both() -> tuple[list[Any], list[Any]]:
        return await async_answers(decorated(), actions), await async_answers(bare(), actions)

    mine, theirs = asyncio.run(both())
    assert mine == theirs
