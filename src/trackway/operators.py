"""Which operators has an object that stands in for another one?

1. Python looks special methods up on the type. So the stand-in gets a class with those that the
   held object's class defines (`len`, `[]`, `in`, `+`, `<`, `int`, `with`, …), and no others: what
   the object does not support stays an error.
2. Operators with two sides are asked of Python again, with what is held on both: it then tries the
   other side as it does without a stand-in. One that stands on the right answers as well.
3. What gives the object itself (`with … as`, `iter`, `+=`) gives the stand-in.
4. What a class says by None (`__iter__ = None`) stays said.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from trackway.capture.storage import MISSING, class_attribute

_TWO_SIDED: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "matmul": operator.matmul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
    "pow": pow,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "xor": operator.xor,
    "or": operator.or_,
}
_COMPARED: Final[dict[str, Callable[..., Any]]] = {
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__ne__": operator.ne,
}
_GIVING_ITSELF: Final = frozenset(
    {"__enter__", "__iter__", "__aiter__", *(f"__i{name}__" for name in _TWO_SIDED)}
)
_PASSED_ON: Final = (
    *("__len__", "__length_hint__", "__getitem__", "__setitem__", "__delitem__", "__contains__"),
    *("__iter__", "__next__", "__reversed__", "__aiter__", "__anext__", "__await__"),
    *("__enter__", "__exit__", "__aenter__", "__aexit__"),
    *("__bool__", "__int__", "__float__", "__complex__", "__index__", "__bytes__", "__fspath__"),
    *("__neg__", "__pos__", "__abs__", "__invert__"),
    *("__round__", "__trunc__", "__floor__", "__ceil__", "__str__", "__format__"),
    *("__set_name__", "__set__", "__delete__", "__instancecheck__", "__subclasscheck__"),
    *(f"__i{name}__" for name in _TWO_SIDED if name != "divmod"),
)
_classes: dict[tuple[type, tuple[tuple[str, bool], ...]], type] = {}

HeldOf = Callable[[Any], Any]
"""Returns what a stand-in holds; anything else as it is."""


def with_operators(base: type, kind: type, held_of: HeldOf, *more: str) -> Any:
    """Return a subclass of `base` with the operators of `kind`, and with `more` methods."""
    found: dict[str, bool] = {}
    for name in (*_PASSED_ON, *more, *_COMPARED, *_of_two_sides()):
        defined = class_attribute(kind, name)
        if defined is not MISSING and defined is not class_attribute(object, name):
            found[name] = defined is None
    if not found:
        return base
    key = base, tuple(found.items())
    if key not in _classes:
        members: dict[str, Any] = {"__slots__": (), "__module__": base.__module__}
        for name, is_refused in found.items():
            members.update({name: None} if is_refused else _method(name, held_of))
        _classes[key] = type(base.__name__, (base,), members)
    return _classes[key]


def _of_two_sides() -> list[str]:
    return [f"__{side}{name}__" for name in _TWO_SIDED for side in ("", "r")]


def _method(name: str, held_of: HeldOf) -> dict[str, Callable[..., Any]]:
    """Return what stands under the name; an operator with two sides stands under both."""
    bare = name.strip("_")
    if name in _COMPARED:
        return {name: _on_the_left(_COMPARED[name], held_of)}
    for known in (bare, bare.removeprefix("r")):
        if known in _TWO_SIDED:
            ask = _TWO_SIDED[known]
            return {
                f"__{known}__": _on_the_left(ask, held_of),
                f"__r{known}__": _on_the_right(ask, held_of),
            }
    if name == "__aenter__":
        return {name: _entering(held_of)}
    return {name: _passing_on(name, held_of)}


def _on_the_left(ask: Callable[..., Any], held_of: HeldOf) -> Callable[..., Any]:
    def left(self: Any, other: Any, *more: Any) -> Any:
        return ask(held_of(self), held_of(other), *more)

    return left


def _on_the_right(ask: Callable[..., Any], held_of: HeldOf) -> Callable[..., Any]:
    def right(self: Any, other: Any, *more: Any) -> Any:
        return ask(held_of(other), held_of(self), *more)

    return right


def _passing_on(name: str, held_of: HeldOf) -> Callable[..., Any]:
    gives_itself = name in _GIVING_ITSELF

    def passing_on(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = held_of(self)
        result = _bound(held, name)(*args, **kwargs)
        return self if gives_itself and result is held else result

    return passing_on


def _entering(held_of: HeldOf) -> Callable[..., Any]:
    async def entering(self: Any) -> Any:
        held = held_of(self)
        result = await _bound(held, "__aenter__")()
        return self if result is held else result

    return entering


def _bound(held: Any, name: str) -> Callable[..., Any]:
    """Find a special method as Python does: on the type, past what the object itself stores."""
    kind = type(held)
    method: Any = class_attribute(kind, name)
    bind = class_attribute(type(method), "__get__")
    bound: Callable[..., Any] = method if bind is MISSING else bind(method, held, kind)
    return bound
