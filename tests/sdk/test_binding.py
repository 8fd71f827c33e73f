"""Arguments under their parameter names, whatever the signature and the call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from trackway.binding import compile_binder, unfitting
from trackway.named_fields import parameter_names

NAMES = ["a", "b", "c", "bound", "_bound0", "_d0", "_p0", "args", "kwargs", "list"]


@st.composite
def functions(draw: st.DrawFn) -> Any:
    """A function of a random signature that returns what Python bound."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    only, keyword = sorted(draw(st.tuples(st.integers(0, 6), st.integers(0, 6))))
    parts: list[str] = []
    optional = False
    for position, name in enumerate(names):
        if position == only and position:
            parts.append("/")
        if position == keyword:
            parts.append(draw(st.sampled_from(["*", "*spread"])))
            optional = False
        optional = optional or draw(st.booleans())
        parts.append(f"{name}={position * 10}" if optional else name)
        if position >= keyword:
            optional = False
    if parts and parts[-1] == "*":
        parts.pop()
    if draw(st.booleans()):
        parts.append("**sweep")
    scope: dict[str, Any] = {}
    exec(f"def function({', '.join(parts)}): return locals()", scope)
    return scope["function"]


def expected(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What the function itself got, in the form of the record."""
    try:
        bound = function(*args, **kwargs)
    except TypeError:
        return unfitting(*args, **kwargs)
    kinds = {p.name: p.kind for p in inspect.signature(function).parameters.values()}
    nested = inspect.Parameter.POSITIONAL_ONLY in kinds.values()
    found: dict[str, Any] = {}
    for name, value in bound.items():
        if kinds[name] is inspect.Parameter.VAR_POSITIONAL:
            if value:
                found[name] = list(value)
        elif kinds[name] is inspect.Parameter.VAR_KEYWORD and not nested:
            found.update(value)
        else:
            found[name] = value
    return found


def two(a: int, /, b: int = 2, **sweep: int) -> dict[str, Any]:
    return locals()


@settings(max_examples=300, deadline=None)
@given(
    functions(),
    st.lists(st.integers(0, 9), max_size=5),
    st.dictionaries(st.sampled_from([*NAMES, "other"]), st.integers(10, 19), max_size=4),
)
@example(two, [1], {"a": 3})
def test_the_record_holds_what_the_function_gets(
    function: Any, args: list[int], kwargs: dict[str, int]
) -> None:
    bind = compile_binder(function)
    assert bind(*args, **kwargs) == expected(function, tuple(args), kwargs)


def labelled(cls: str, text: str) -> None: ...


class Shop:
    def buy(self, item: str) -> None: ...

    def make(cls, item: str) -> None: ...


def test_a_receiver_is_no_argument_and_a_label_is() -> None:
    assert compile_binder(labelled)("spam", "txt") == {"cls": "spam", "text": "txt"}
    for method in (Shop.buy, Shop.make):
        assert compile_binder(method)(Shop(), "tea") == {"item": "tea"}
    assert parameter_names(labelled) == ["cls", "text"]
    assert parameter_names(Shop.make) == ["item"]


def with_connection(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function("connection", *args, **kwargs)

    return wrapper


@with_connection
def refund(connection: str, order_id: str, amount: float = 1.0) -> None: ...


def test_keywords_keep_their_names_where_a_decorator_adds_an_argument() -> None:
    bind = compile_binder(refund)
    assert bind(order_id="A1") == {"order_id": "A1"}
    assert bind(order_id="A1", amount=2.0) == {"order_id": "A1", "amount": 2.0}
    assert bind("A1") == {"args": ("A1",), "kwargs": {}}
