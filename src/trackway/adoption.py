"""Results that are not finished when the function returns: their span ends with them.

1. A coroutine is awaited inside the span, a generator read inside it.
2. A streaming response of Starlette, FastAPI, sse-starlette, Flask or Django has its body followed,
   and so has the generator of a view that returns `(body, status, headers)`.
3. A model client's stream (an iterator with methods of its own) is followed only where the function
   is a model call; it goes on looking like an instance of its class.
4. A task or a future is waited for (`futures`).
5. What is dropped before anybody read it is abandoned, not lost.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine
from contextvars import Token
from dataclasses import dataclass
from functools import partial
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from trackway.capture.storage import MISSING, class_attribute, mro_of, namespace_of, type_name
from trackway.driving import (
    Opened,
    detach,
    failed,
    follow_async_generator,
    follow_awaited,
    follow_coroutine,
    follow_generator,
    is_awaited,
)
from trackway.faults import goes_on
from trackway.fields import get, is_a
from trackway.futures import future_follower

Follow = Callable[[Any, Opened], Any]


def follower(kind: type) -> Follow | None:
    """Return what follows a result of this type; None: it is finished."""
    try:
        return _known[kind]
    except KeyError:
        pass
    except Exception as error:  # a class's own hash or equality is user code
        if goes_on(error):
            raise
        return _follower(kind)
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
        _known.update(_EXACT)
    found = _known[kind] = _follower(kind)
    return found


def settled(result: Any, live: Opened, token: Token[Context]) -> Any:
    """Leave the context of a call that returned, and end its span or have its result followed."""
    detach(token)
    follow = follower(type(result))
    if follow is not None:
        return follow(result, live)
    live.finish(result)
    return result


def _follower(kind: type) -> Follow | None:
    """Look into the class without running any code of it or of its metaclass."""
    spaces = [namespace_of(base) for base in mro_of(kind)]
    for base, space in zip(mro_of(kind), spaces, strict=True):
        annotations = space.get("__annotations__")  # of `type` and the like: a descriptor
        if isinstance(annotations, dict) and "body_iterator" in annotations:
            return partial(_follow_response, _STARLETTE)
        body = _BODIES.get(type_name(base))
        if body is not None:
            return partial(_follow_response, body)
    if any("__anext__" in space or "__next__" in space for space in spaces):
        return _follow_iterator
    return future_follower(kind)


def _coroutine(result: CoroutineType[Any, Any, Any], live: Opened) -> Any:
    following: Any = follow_coroutine(result, live)
    # A warning that nobody awaited it tells of the user's function.
    following.__name__, following.__qualname__ = result.__name__, result.__qualname__
    weakref.finalize(following, _dropped, result, live)
    return following


def _dropped(coroutine: Coroutine[Any, Any, Any], live: Opened) -> None:
    if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
        coroutine.close()  # of its follower Python has told, unless that was closed in its turn
    live.abandon()


def _generator(result: GeneratorType[Any, Any, Any], live: Opened) -> Any:
    follow = follow_awaited if is_awaited(result.gi_code) else follow_generator
    return _watched(follow(result, live), live)


def _async_generator(result: AsyncGenerator[Any, Any], live: Opened) -> Any:
    return _watched(follow_async_generator(result, live), live)


def _watched(following: Any, live: Opened) -> Any:
    """A generator that was never started sees nothing of its end."""
    weakref.finalize(following, live.abandon)
    return following


@dataclass(frozen=True, slots=True)
class _Body:
    """Where a response holds what it will stream, and where it takes another in its place."""

    read: str
    write: str


_STARLETTE: Final = _Body("body_iterator", "body_iterator")
_BODIES: Final = {
    "sse_starlette.sse.EventSourceResponse": _STARLETTE,
    "werkzeug.wrappers.response.Response": _Body("response", "response"),
    "django.http.response.StreamingHttpResponse": _Body("_iterator", "streaming_content"),
}
"""Responses that do not say so by an annotation (sse-starlette 3, Werkzeug 3, Django 4 and 5)."""
_PARTS_OF_A_VIEW: Final = (2, 3)


def _follow_response(where: _Body, response: Any, live: Opened) -> Any:
    body = get(response, where.read)
    if type(body) is GeneratorType:  # a file or a list needs nobody's code
        setattr(response, where.write, _generator(body, live))
    elif class_attribute(type(body), "__aiter__") is not MISSING:
        setattr(response, where.write, _async_generator(_read(body), live))
    else:
        live.finish(response)
    return response


def _follow_view(result: tuple[Any, ...], live: Opened) -> Any:
    """Follow what Flask streams where a view adds a status, headers or both."""
    body = result[0] if len(result) in _PARTS_OF_A_VIEW else None
    if type(body) is GeneratorType and type(result[1]) in (int, dict, list):
        return (_generator(body, live), *result[1:])
    live.finish(result)
    return result


_EXACT: dict[type, Follow] = {
    CoroutineType: _coroutine,
    GeneratorType: _generator,
    AsyncGeneratorType: _async_generator,
    tuple: _follow_view,
}


_MOST_KNOWN: Final = 1024
_known: dict[type, Follow | None] = dict(_EXACT)


async def _read(body: AsyncIterable[Any]) -> AsyncGenerator[Any, None]:
    async for chunk in body:
        yield chunk


def _follow_iterator(result: Any, live: Opened) -> Any:
    if live.takes_iterators:
        live.open_stream()
        return FollowedIterator(result, live)
    live.finish(result)
    return result


class FollowedIterator:
    """A client's stream, sync or async, whose pieces are seen on their way to the reader."""

    __slots__ = ("__weakref__", "_followed", "_live")

    def __init__(self, followed: Any, live: Opened) -> None:
        self._followed = followed
        self._live = live

    # mypy knows `__class__` as no property; isinstance must see the client's class.
    @property  # type: ignore[misc]  # to the checker `__class__` is no property
    def __class__(self) -> Any:
        return type(self._followed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._followed, name)

    def __iter__(self) -> Any:
        return self

    def __aiter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        token = otel_context.attach(self._live.context)
        try:
            item = next(self._followed)
        except BaseException as error:
            self._ended(token, error)
            raise
        return self._given(token, item)

    async def __anext__(self) -> Any:
        token = otel_context.attach(self._live.context)
        try:
            item = await anext(self._followed)
        except BaseException as error:
            self._ended(token, error)
            raise
        return self._given(token, item)

    def _given(self, token: Token[Context], item: Any) -> Any:
        detach(token)
        self._live.item(item)
        return item

    def _ended(self, token: Token[Context], error: BaseException) -> None:
        if is_a(error, (StopIteration, StopAsyncIteration)):
            detach(token)
            self._live.exhausted()
        else:
            failed(self._live, token, error)

    def __enter__(self) -> Any:
        self._followed.__enter__()
        return self

    def __exit__(self, *problem: Any) -> Any:
        try:
            return self._followed.__exit__(*problem)
        finally:
            self._live.abandon()

    async def __aenter__(self) -> Any:
        await self._followed.__aenter__()
        return self

    async def __aexit__(self, *problem: Any) -> Any:
        try:
            return await self._followed.__aexit__(*problem)
        finally:
            self._live.abandon()

    def close(self) -> Any:
        """Close the stream; a client's async `close` gives its awaitable back."""
        try:
            return self._followed.close()
        finally:
            self._live.abandon()

    def __del__(self) -> None:
        self._live.abandon()
