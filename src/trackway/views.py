"""Objects that are recorded: their calls make spans, everything else is their own.

1. Attributes, methods among them, are those of the object: `cache_clear` of a cached function,
   `delay` of a task, `params` of a command. What is set is set on the object.
2. `isinstance` sees the object's class, `==`, `hash` and the operators of its class (`operators`)
   the object. It binds as a method where the object does.
3. `inspect.signature` and wrappers go on through `__wrapped__`. It is pickled by reference where
   the object is, as functions are; copies are itself.
4. That is an object which is called; a `View` is one whose methods are.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from trackway.capture.storage import MISSING, class_attribute
from trackway.operators import with_operators

_NAMES: Final = ("__name__", "__qualname__", "__doc__", "__module__")


class Recorded:
    """An object whose calls go through a recording function."""

    __slots__ = ("__dict__", "__weakref__")

    def __init__(self, held: Callable[..., Any], call: Callable[..., Any], mark: str) -> None:
        # What `functools.wraps` takes on to a wrapper above; never the object's own dict.
        own = self.__dict__
        own["__trackway_call__"] = call
        own["__wrapped__"] = held
        own[mark] = True
        own.update({name: getattr(call, name) for name in _NAMES})

    @property
    def __call__(self) -> Callable[..., Any]:
        """The recording function."""
        call: Callable[..., Any] = self.__dict__["__trackway_call__"]
        return call

    # mypy knows `__class__` as no property; isinstance must see the object's class.
    @property  # type: ignore[misc]  # to the checker `__class__` is no property
    def __class__(self) -> Any:
        return type(self.__dict__["__wrapped__"])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["__wrapped__"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["__wrapped__"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["__wrapped__"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["__wrapped__"])

    def __repr__(self) -> str:
        return repr(self.__dict__["__wrapped__"])

    def __eq__(self, other: object) -> Any:
        return _held(self) == _held(other)

    def __hash__(self) -> int:
        return hash(self.__dict__["__wrapped__"])

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        held = self.__dict__["__wrapped__"]
        reduced = held.__reduce_ex__(protocol)
        if isinstance(reduced, str):
            return reduced
        raise TypeError(
            f"cannot pickle a recorded {type(held).__name__}: it would come back unrecorded; "
            "decorate a function at the top of a module, which is pickled by its name"
        )


class RecordedMethod(Recorded):
    """The same of an object that binds, so that it can be a method."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def _held(value: Any) -> Any:
    return value.__dict__["__wrapped__"] if issubclass(type(value), Recorded) else value


def recorded_object(
    held: Callable[..., Any], call: Callable[..., Any], mark: str
) -> Callable[..., Any]:
    """Return the callable object with its calls going through `call`."""
    binds = class_attribute(type(held), "__get__") is not MISSING
    base = RecordedMethod if binds else Recorded
    recorded: Callable[..., Any] = with_operators(base, type(held), _held)(held, call, mark)
    return recorded


class View:
    """An object whose public methods are recorded. What is set on it is set on the object."""

    _OWN: ClassVar[frozenset[str]] = frozenset({"_viewed"})
    """Attributes that are the view's and not the object's."""

    def __init__(self, viewed: Any, methods: Mapping[str, Any]) -> None:
        self.__dict__.update(methods)
        self._viewed = viewed

    # mypy knows `__class__` as no property; isinstance must see the object's class.
    @property  # type: ignore[misc]  # to the checker `__class__` is no property
    def __class__(self) -> Any:
        return type(self._viewed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._viewed, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._OWN:
            self.__dict__[name] = value
            return
        setattr(self._viewed, name, value)
        self.__dict__.pop(name, None)  # another function in the place of a recorded one

    def __delattr__(self, name: str) -> None:
        delattr(self._viewed, name)
        self.__dict__.pop(name, None)


def view(viewed: Any, methods: Mapping[str, Any]) -> Any:
    """Return a view of an object, with the operators of its class."""
    return with_operators(View, type(viewed), _viewed, "__call__")(viewed, methods)


def _viewed(value: Any) -> Any:
    return value._viewed if issubclass(type(value), View) else value
