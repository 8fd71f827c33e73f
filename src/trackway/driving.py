"""User code, driven step by step inside its span's context. Written once, for every kind of span.

1. The context is attached only while user code runs, so that a generator may hop between tasks and
   threads, and what its consumer does between two items stays outside the span.
2. Generators keep `send`, `throw`, `close` and the return value; async ones are driven in the
   consumer's own task. One that `types.coroutine` has marked is a coroutine, not a stream.
3. What follows a call is anything `Opened`: it ends once, whichever way the call goes.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextvars import Token
from typing import Any, Protocol

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from trackway.faults import is_cancellation


class Opened(Protocol):
    """One started span, or whatever else follows a call. It ends once; later ends do nothing."""

    @property
    def context(self) -> Context:
        """The context under which the user's code runs."""

    @property
    def takes_iterators(self) -> bool:
        """Whether an iterator that the call returns is its result still to come."""

    def finish(self, result: Any) -> None:
        """The call returned."""

    def fail(self, error: BaseException) -> None:
        """The call raised."""

    def open_stream(self) -> None:
        """The result will come in pieces."""

    def item(self, item: Any) -> None:
        """One piece came."""

    def exhausted(self, returned: Any = None) -> None:
        """The last piece came; a generator's return value, if it gave one."""

    def abandon(self) -> None:
        """The stream was closed or dropped before its end."""


Opener = Callable[[tuple[Any, ...], dict[str, Any]], Opened | None]
"""Opens the span of one call from its arguments; None: just call the function."""


def detach(token: Token[Context] | None) -> None:
    """Restore the context; quiet when closed from elsewhere, whose context is not ours to touch."""
    if token is None:
        return
    try:
        token.var.reset(token)
    except ValueError:
        return
    except AttributeError:  # another context backend than contextvars
        otel_context.detach(token)


def failed(live: Opened, token: Token[Context] | None, error: BaseException) -> None:
    """Leave the context, and end the span with the error."""
    detach(token)
    live.fail(error)


def drive_async_generator(
    function: Callable[..., AsyncGenerator[Any, Any]],
    open_span: Opener,
) -> Callable[..., Any]:
    """Return the async generator function, each of its generators followed by a span."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        live = open_span(args, kwargs)
        generator = called(function, args, kwargs, live)
        if live is not None:
            live.open_stream()
        sent: Any = None
        closing = False
        resume: Callable[[Any], Any] = generator.asend
        while True:
            token = None if live is None else otel_context.attach(live.context)
            try:
                item = await resume(sent)
            except StopAsyncIteration:
                detach(token)
                if live is not None:
                    live.exhausted()
                return
            except BaseException as error:
                detach(token)
                if live is not None:
                    _end(live, error, closing)
                raise
            detach(token)
            if live is not None:
                live.item(item)
            resume = generator.asend
            try:
                sent = yield item
            except GeneratorExit:
                await _close(generator, live)
                raise
            except BaseException as error:  # noqa: BLE001 - thrown in by the consumer, passed on
                # A loop that shuts down cancels the closing of the generators that it found open.
                closing = is_cancellation(error)
                resume, sent = generator.athrow, error

    return wrapper


def called(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], live: Opened | None
) -> Any:
    """Call a generator function; arguments that do not fit end the span."""
    try:
        return function(*args, **kwargs)
    except BaseException as error:
        if live is not None:
            live.fail(error)
        raise


def _end(live: Opened, error: BaseException, closing: bool) -> None:
    if closing and is_cancellation(error):
        live.abandon()
    else:
        live.fail(error)


async def _close(generator: AsyncGenerator[Any, Any], live: Opened | None) -> None:
    if live is None:
        await generator.aclose()
        return
    token = otel_context.attach(live.context)
    try:
        await generator.aclose()
    except BaseException as error:
        _end(live, error, closing=True)
        raise
    finally:
        detach(token)
        live.abandon()


async def follow_coroutine(coroutine: Coroutine[Any, Any, Any], live: Opened) -> Any:
    """Await the coroutine inside the span, and end it."""
    token = otel_context.attach(live.context)
    try:
        result = await coroutine
    except BaseException as error:
        failed(live, token, error)
        raise
    detach(token)
    live.finish(result)
    return result


def is_awaited(code: Any) -> bool:
    """Whether generators of this code are coroutines: `types.coroutine` has marked it."""
    return bool(getattr(code, "co_flags", 0) & inspect.CO_ITERABLE_COROUTINE)


@types.coroutine
def follow_awaited(generator: Generator[Any, Any, Any], live: Opened) -> Generator[Any, Any, Any]:
    """Await a generator that is a coroutine inside the span: what it yields is for the loop."""
    token = otel_context.attach(live.context)
    try:
        result = yield from generator
    except BaseException as error:
        failed(live, token, error)
        raise
    detach(token)
    live.finish(result)
    return result


def follow_generator(generator: Generator[Any, Any, Any], live: Opened) -> Generator[Any, Any, Any]:
    """Yield what the generator yields, its body inside the span, the consumer outside it."""
    live.open_stream()
    sent: Any = None
    resume: Callable[[Any], Any] = generator.send
    while True:
        token = otel_context.attach(live.context)
        try:
            item = resume(sent)
        except StopIteration as stop:
            detach(token)
            live.exhausted(stop.value)
            return stop.value
        except BaseException as error:
            detach(token)
            live.fail(error)
            raise
        detach(token)
        live.item(item)
        resume = generator.send
        try:
            sent = yield item
        except GeneratorExit:
            token = otel_context.attach(live.context)
            try:
                generator.close()
            except BaseException as error:
                live.fail(error)
                raise
            finally:
                detach(token)
                live.abandon()
            raise
        except BaseException as error:  # noqa: BLE001 - thrown in by the consumer, passed on
            resume, sent = generator.throw, error


def follow_async_generator(
    generator: AsyncGenerator[Any, Any], live: Opened
) -> AsyncGenerator[Any, Any]:
    """The same for an async generator, driven in the consumer's own task."""
    followed: AsyncGenerator[Any, Any] = drive_async_generator(lambda: generator, lambda *_: live)()
    return followed
