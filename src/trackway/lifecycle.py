"""The wrapper around a decorated function, in the function's own shape.

1. Coroutine functions stay coroutine functions, generator functions generator functions: `inspect`
   and frameworks see no difference. So with generators that are awaited (`types.coroutine`).
2. A callable object stays one: `views` passes on what is its own.
3. A plain function may return something that is not finished yet; `adoption` says what follows it.
4. Closures hold the function and what opens its span, never a tracer: decorated functions pickle.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

from opentelemetry import context as otel_context

from trackway.adoption import settled
from trackway.driving import (
    Opener,
    called,
    drive_async_generator,
    failed,
    follow_awaited,
    follow_generator,
    is_awaited,
)
from trackway.views import recorded_object

_MARK = "__trackway__"
_FUNCTIONS: Final = frozenset(
    {
        *(types.FunctionType, types.BuiltinFunctionType, types.MethodType),
        *(types.MethodWrapperType, types.WrapperDescriptorType),
        *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
    }
)


def wrap(function: Callable[..., Any], open_span: Opener) -> Callable[..., Any]:
    """Return the function with a span around each call, in the function's own shape."""
    shape = function
    while isinstance(shape, functools.partial):
        shape = shape.func
    if not inspect.isroutine(shape):
        shape = type(shape).__call__
    if inspect.isasyncgenfunction(shape):
        wrapper: Callable[..., Any] = drive_async_generator(function, open_span)
    elif inspect.isgeneratorfunction(shape):
        wrapper = _generator(function, open_span)
        if is_awaited(getattr(shape, "__code__", None)):
            types.coroutine(wrapper)  # marks the wrapper itself
    elif inspect.iscoroutinefunction(shape):
        wrapper = _coroutine(function, open_span)
    else:
        wrapper = _plain(function, open_span)
    functools.update_wrapper(wrapper, _named(function))
    if _has_more(function):
        return recorded_object(function, wrapper, _MARK)
    wrapper.__dict__[_MARK] = True
    # Of a partial `update_wrapper` has taken what stands behind it.
    wrapper.__dict__["__wrapped__"] = function
    return wrapper


def is_recorded(function: Callable[..., Any]) -> bool:
    """Whether calls of this function are recorded already, be it below other wrappers."""
    return bool(getattr(function, "__dict__", {}).get(_MARK))


def _has_more(function: Callable[..., Any]) -> bool:
    """Whether this is an object that can be called, with methods that are no function's."""
    return type(function) not in _FUNCTIONS


def _named(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function)


def _plain(function: Callable[..., Any], open_span: Opener) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        live = open_span(args, kwargs)
        if live is None:
            return function(*args, **kwargs)
        token = otel_context.attach(live.context)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            failed(live, token, error)
            raise
        return settled(result, live, token)

    return wrapper


def _coroutine(function: Callable[..., Any], open_span: Opener) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        live = open_span(args, kwargs)
        if live is None:
            return await function(*args, **kwargs)
        token = otel_context.attach(live.context)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            failed(live, token, error)
            raise
        return settled(result, live, token)

    return wrapper


def _generator(function: Callable[..., Any], open_span: Opener) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        live = open_span(args, kwargs)
        if live is None:
            return (yield from function(*args, **kwargs))
        generator = called(function, args, kwargs, live)
        # Asked of the wrapper, for `types.coroutine` may stand above the decorator as well.
        if is_awaited(wrapper.__code__):
            return (yield from follow_awaited(generator, live))
        return (yield from follow_generator(generator, live))

    return wrapper
