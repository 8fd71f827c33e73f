"""Every shape of function, decorated, behaves as if it were not, and gives one correct span."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import inspect
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.trace import StatusCode

import trackway
from trackway.schema import GenAI, Trackway


@trackway.tool
def plain(order_id: str, amount: float = 1.5) -> dict[str, Any]:
    """Plain."""
    return {"order": order_id, "amount": amount}


@trackway.tool
async def coroutine(order_id: str) -> str:
    await asyncio.sleep(0)
    return order_id


@trackway.tool
def generator(count: int) -> Generator[str, str | None, str]:
    heard = []
    for number in range(count):
        heard.append((yield f"item{number}"))
    return f"heard {heard}"


@trackway.tool
async def async_generator(count: int) -> AsyncIterator[Any]:
    heard = "nothing"
    for number in range(count):
        heard = yield f"item{number} after {heard}"


class Service:
    @trackway.tool
    def method(self, order_id: str) -> str:
        return order_id

    @classmethod
    @trackway.tool
    def below_classmethod(cls, order_id: str) -> str:
        return f"{cls.__name__} {order_id}"

    @trackway.tool
    @classmethod
    def above_classmethod(cls, order_id: str) -> str:
        return f"{cls.__name__} {order_id}"

    @staticmethod
    @trackway.tool
    def below_staticmethod(order_id: str) -> str:
        return order_id

    @trackway.tool
    @staticmethod
    def above_staticmethod(order_id: str) -> str:
        return order_id

    @trackway.tool
    async def async_method(self, order_id: str) -> str:
        return order_id

    @trackway.tool("renamed_method")
    def __call__(self, order_id: str) -> str:
        return order_id


class Callable_:
    def __call__(self, order_id: str) -> str:
        return order_id


def test_the_function_keeps_its_kind() -> None:
    assert not inspect.iscoroutinefunction(plain)
    assert not inspect.isgeneratorfunction(plain)
    assert inspect.iscoroutinefunction(coroutine)
    assert inspect.isgeneratorfunction(generator)
    assert inspect.isasyncgenfunction(async_generator)
    assert inspect.iscoroutinefunction(Service.async_method)


def test_the_function_keeps_its_signature_name_and_documentation() -> None:
    signature = inspect.signature(plain)
    assert list(signature.parameters) == ["order_id", "amount"]
    assert signature.parameters["amount"].default == 1.5
    assert (plain.__name__, plain.__doc__, plain.__module__) == ("plain", "Plain.", __name__)
    assert plain.__annotations__["order_id"] == "str"


@pytest.mark.parametrize("function", [plain, coroutine, generator, async_generator])
def test_the_function_pickles_by_reference(function: Callable[..., Any]) -> None:
    sys.modules.setdefault(__name__, sys.modules[plain.__module__])
    assert pickle.loads(pickle.dumps(function)) is function


def test_the_function_pickles_by_value(recorded: Any) -> None:
    cloudpickle = pytest.importorskip("cloudpickle", reason="pickling by value needs cloudpickle")

    @trackway.tool(kind="lookup", success=lambda result: result == 2)
    def local(number: int) -> int:
        return number + 1

    restored = cloudpickle.loads(cloudpickle.dumps(local))
    assert restored(1) == 2
    assert recorded.arguments("local") == {"number": 1}


@pytest.mark.parametrize(
    "decorator", [trackway.tool, trackway.agent, trackway.llm, trackway.retriever]
)
def test_the_function_pickles_by_value_after_a_call(recorded: Any, decorator: Any) -> None:
    cloudpickle = pytest.importorskip("cloudpickle", reason="pickling by value needs cloudpickle")

    @decorator
    def local(query: str) -> str:
        return query

    local("a")
    assert cloudpickle.loads(cloudpickle.dumps(local))("b") == "b"
    assert len(recorded.all) == 2


@pytest.mark.parametrize(
    ("call", "name", "result"),
    [
        (lambda: Service().method("a"), "method", "a"),
        (lambda: Service.below_classmethod("a"), "below_classmethod", "Service a"),
        (lambda: Service.above_classmethod("a"), "above_classmethod", "Service a"),
        (lambda: Service().above_classmethod("a"), "above_classmethod", "Service a"),
        (lambda: Service.below_staticmethod("a"), "below_staticmethod", "a"),
        (lambda: Service.above_staticmethod("a"), "above_staticmethod", "a"),
        (lambda: Service()("a"), "renamed_method", "a"),
        (lambda: asyncio.run(Service().async_method("a")), "async_method", "a"),
        (lambda: trackway.tool(Callable_())("a"), "Callable_", "a"),
        (lambda: trackway.tool("named")(Callable_())("a"), "named", "a"),
    ],
)
def test_methods_and_callables_drop_self_and_cls(
    recorded: Any, call: Callable[[], Any], name: str, result: str
) -> None:
    assert call() == result
    assert recorded.arguments(name) == {"order_id": "a"}
    assert recorded.result(name) == result


def test_a_method_called_wrongly_does_not_record_self(recorded: Any) -> None:
    with pytest.raises(TypeError):
        Service().method()  # type: ignore[call-arg]
    assert recorded.arguments("method") == {"args": [], "kwargs": {}}


def test_a_partial_records_what_it_holds(recorded: Any) -> None:
    bound = trackway.tool(functools.partial(plain.__wrapped__, "a", amount=2.0))  # type: ignore[attr-defined]
    assert bound() == {"order": "a", "amount": 2.0}
    assert recorded.arguments("plain") == {"order_id": "a", "amount": 2.0}


def test_a_partial_of_a_coroutine_function_is_awaited(recorded: Any) -> None:
    bound = trackway.tool(functools.partial(coroutine.__wrapped__, "a"))  # type: ignore[attr-defined]
    assert inspect.iscoroutinefunction(bound)
    assert asyncio.run(bound()) == "a"
    assert recorded.result("coroutine") == "a"


def test_a_partial_method_is_recorded(recorded: Any) -> None:
    class Holder:
        def work(self, order_id: str, amount: int) -> str:
            return f"{order_id} {amount}"

        twice = trackway.tool(functools.partialmethod(work, amount=2))  # type: ignore[type-var]

    assert Holder().twice("a") == "a 2"
    assert recorded.arguments("work") == {"order_id": "a", "amount": 2}


def test_a_builtin_is_recorded(recorded: Any) -> None:
    assert trackway.tool(len)([1, 2]) == 2
    assert recorded.arguments("len") == {"obj": [1, 2]}


def test_a_class_is_refused_with_what_to_do() -> None:
    with pytest.raises(TypeError, match="decorate a function or a method, not a class"):
        trackway.tool(Service)


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="lookup, mutate, notify, other; found 'write'"):
        trackway.tool(kind="write")


def test_arguments_have_their_parameter_names_and_defaults(recorded: Any) -> None:
    @trackway.tool
    def call(a: int, /, b: int, *rest: int, c: int = 3, **more: int) -> None: ...

    call(1, 2, 5, 6, d=7)
    assert recorded.arguments("call") == {
        "a": 1, "b": 2, "rest": [5, 6], "c": 3, "more": {"d": 7},
    }  # fmt: skip


def test_keyword_extras_stand_beside_the_parameters(recorded: Any) -> None:
    @trackway.tool
    def call(a: int, **more: int) -> None: ...

    call(1, d=7)
    assert recorded.arguments("call") == {"a": 1, "d": 7}


def test_arguments_are_recorded_before_the_function_changes_them(recorded: Any) -> None:
    @trackway.tool
    def consume(items: list[int]) -> list[int]:
        items.clear()
        return items

    consume([1, 2])
    assert recorded.arguments("consume") == {"items": [1, 2]}


def test_a_result_changed_later_keeps_its_record(recorded: Any) -> None:
    plain("a")["order"] = "b"
    assert recorded.result("plain")["order"] == "a"


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


def circular() -> list[Any]:
    loop: list[Any] = [1]
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "value",
    [circular(), Hostile(), {(1, 2): "tuple key"}, float("nan"), float("inf"), "\ud800", 10**5000],
    ids=["circular", "hostile", "tuple key", "nan", "inf", "surrogate", "huge int"],
)
def test_an_awkward_value_goes_through_and_is_recorded_as_json(recorded: Any, value: Any) -> None:
    @trackway.tool
    def echo(value: Any) -> Any:
        return value

    assert echo(value) is value
    assert list(recorded.arguments("echo")) == ["value"]
    recorded.result("echo")


def test_an_error_is_recorded_and_goes_on_unchanged(recorded: Any) -> None:
    problem = LookupError("no order a")

    @trackway.tool
    def failing(order_id: str) -> None:
        raise problem

    with pytest.raises(LookupError) as caught:
        failing("a")
    assert caught.value is problem
    assert caught.traceback[-1].name == "failing"
    span = recorded.tool("failing")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "no order a"
    assert span.attributes[GenAI.ERROR_TYPE] == "LookupError"
    assert span.attributes[Trackway.STEP_OK] is False
    assert recorded.arguments("failing") == {"order_id": "a"}
    assert GenAI.TOOL_CALL_RESULT not in span.attributes
    (event,) = span.events
    assert event.name == "exception"
    assert event.attributes["exception.message"] == "no order a"
    assert "raise problem" in event.attributes["exception.stacktrace"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_is_recorded_too(recorded: Any, error: type[BaseException]) -> None:
    @trackway.tool
    def stopped() -> None:
        raise error

    with pytest.raises(error):
        stopped()
    span = recorded.tool("stopped")
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes[GenAI.ERROR_TYPE] == error.__name__


def test_an_error_that_cannot_be_printed_is_recorded_and_goes_on(recorded: Any) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    @trackway.tool
    def failing() -> None:
        raise Mute

    with pytest.raises(Mute):
        failing()
    assert recorded.tool("failing").status.status_code is StatusCode.ERROR


def test_a_cancelled_task_is_recorded_as_cancelled(recorded: Any) -> None:
    started = asyncio.Event()

    @trackway.tool
    async def patient() -> None:
        started.set()
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(patient())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    span = recorded.tool("patient")
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes[GenAI.ERROR_TYPE] == "asyncio.exceptions.CancelledError"


def current_name() -> str | None:
    return getattr(trace.get_current_span(), "name", None)


def test_inside_a_generator_is_inside_the_span_and_between_items_is_outside(recorded: Any) -> None:
    inner_names = []

    @trackway.tool
    def inner() -> None: ...

    @trackway.tool
    def stream() -> Iterator[int]:
        for number in range(2):
            inner_names.append(current_name())
            inner()
            yield number

    outside = [(current_name(), inner())[0] for _ in stream()]
    assert inner_names == ["execute_tool stream"] * 2
    assert outside == [None, None]
    parent = recorded.tool("stream").context.span_id
    parents = [span.parent and span.parent.span_id for span in recorded.named("execute_tool inner")]
    assert parents == [parent, None, parent, None]


def test_inside_an_async_generator_is_inside_and_between_items_is_outside(recorded: Any) -> None:
    seen = []

    @trackway.tool
    async def stream() -> AsyncIterator[int]:
        for number in range(2):
            seen.append(current_name())
            await asyncio.sleep(0)
            yield number

    async def main() -> list[str | None]:
        return [current_name() async for _ in stream()]

    assert asyncio.run(main()) == [None, None]
    assert seen == ["execute_tool stream"] * 2


def test_a_generator_keeps_send_and_its_return_value(recorded: Any) -> None:
    stream = generator(2)
    assert next(stream) == "item0"
    assert stream.send("one") == "item1"
    with pytest.raises(StopIteration) as stop:
        stream.send("two")
    assert stop.value.value == "heard ['one', 'two']"
    assert recorded.result("generator") == "item0item1"
    returned = recorded.value(recorded.tool("generator"), Trackway.STREAM_RETURNED)
    assert returned == "heard ['one', 'two']"


def test_a_generator_keeps_throw(recorded: Any) -> None:
    @trackway.tool
    def forgiving() -> Iterator[str]:
        try:
            yield "first"
        except KeyError as error:
            yield f"caught {error}"

    stream = forgiving()
    next(stream)
    assert stream.throw(KeyError("thrown")) == "caught 'thrown'"  # type: ignore[attr-defined]
    assert list(stream) == []
    assert recorded.tool("forgiving").status.status_code is StatusCode.UNSET


def test_an_error_thrown_in_and_not_caught_comes_out_and_is_recorded(recorded: Any) -> None:
    stream = generator(2)
    next(stream)
    with pytest.raises(KeyError):
        stream.throw(KeyError("thrown"))
    assert recorded.tool("generator").attributes[GenAI.ERROR_TYPE] == "KeyError"


def test_an_async_generator_keeps_asend_and_athrow(recorded: Any) -> None:
    async def main() -> list[str]:
        stream: Any = async_generator(3)
        first = await stream.asend(None)
        second = await stream.asend("hello")
        with pytest.raises(KeyError):
            await stream.athrow(KeyError("thrown"))
        return [first, second]

    assert asyncio.run(main()) == ["item0 after nothing", "item1 after hello"]
    assert recorded.tool("async_generator").attributes[GenAI.ERROR_TYPE] == "KeyError"


def test_a_stream_is_put_together_and_its_first_piece_timed(recorded: Any) -> None:
    @trackway.tool
    def words() -> Iterator[str]:
        yield "one "
        yield "two"

    assert list(words()) == ["one ", "two"]
    span = recorded.tool("words")
    assert recorded.result("words") == "one two"
    assert span.attributes[Trackway.STREAM_CHUNKS] == 2
    assert span.attributes[Trackway.STREAM_FIRST_CHUNK] >= 0


def ends_early(recorded: Any) -> None:
    span = recorded.all[-1]
    assert span.status.status_code is StatusCode.UNSET
    assert span.attributes[Trackway.STREAM_ABANDONED] is True
    assert recorded.value(span, GenAI.TOOL_CALL_RESULT) == "item0"


@pytest.mark.parametrize("decorator", ["tool", "agent", "llm", "retriever"])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_stream_that_fails_keeps_what_came(recorded: Any, decorator: str, kind: str) -> None:
    decorate = getattr(trackway, decorator)

    @decorate  # type: ignore[untyped-decorator]
    def words() -> Iterator[str]:
        yield "Your refund "
        yield "is on its way"
        raise ConnectionError("reset")

    @decorate  # type: ignore[untyped-decorator]
    async def later() -> AsyncIterator[str]:
        for word in words.__wrapped__():
            yield word

    async def read() -> list[str]:
        return [word async for word in later()]

    with pytest.raises(ConnectionError, match="reset"):
        asyncio.run(read()) if kind == "async" else list(words())
    (span,) = recorded.all
    assert "Your refund is on its way" in str(dict(span.attributes))
    assert span.attributes[Trackway.STREAM_CHUNKS] == 2
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "ConnectionError"
    assert Trackway.STREAM_ABANDONED not in span.attributes


def test_no_predicate_judges_the_part_of_a_stream(recorded: Any) -> None:
    judged: list[Any] = []

    @trackway.tool(success=lambda result: judged.append(result) or True)
    def words(fails: bool) -> Iterator[str]:
        yield "one"
        if fails:
            raise ConnectionError("reset")
        yield "two"

    with pytest.raises(ConnectionError):
        list(words(True))
    left = words(False)
    next(left)
    left.close()
    failed, closed = recorded.named("execute_tool words")
    assert judged == []
    assert failed.attributes[Trackway.STEP_OK] is False
    assert Trackway.STEP_OK not in closed.attributes
    assert list(words(False)) == ["one", "two"]
    assert judged == ["onetwo"]


def test_a_stream_that_is_broken_off_keeps_what_came(recorded: Any) -> None:
    stream = generator(3)
    for _ in stream:
        break
    stream.close()
    ends_early(recorded)


def test_a_stream_that_is_dropped_keeps_what_came(recorded: Any) -> None:
    next(generator(3))
    gc.collect()
    ends_early(recorded)


def test_an_async_stream_that_is_dropped_keeps_what_came(recorded: Any) -> None:
    @trackway.tool
    async def stream() -> AsyncIterator[str]:
        yield "item0"
        yield "item1"

    async def main() -> None:
        async for _ in stream():
            break

    asyncio.run(main())
    ends_early(recorded)


def test_a_stream_dropped_without_a_loop_keeps_what_came(recorded: Any) -> None:
    @trackway.tool
    async def stream() -> AsyncIterator[str]:
        yield "item0"

    items = stream()
    with contextlib.suppress(StopIteration):
        items.__anext__().send(None)  # type: ignore[attr-defined]
    del items
    gc.collect()
    ends_early(recorded)


def test_a_generator_that_nobody_started_has_no_span(recorded: Any) -> None:
    generator(1)
    gc.collect()
    assert recorded.all == []


def test_an_async_generator_may_be_closed_from_another_task(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        stream: Any = async_generator(3)

        async def read() -> str:
            return str(await stream.__anext__())

        await asyncio.create_task(read())
        await asyncio.create_task(stream.aclose())

    asyncio.run(main())
    assert caplog.records == []
    span = recorded.tool("async_generator")
    assert span.attributes[Trackway.STREAM_ABANDONED] is True


def test_a_coroutine_closed_elsewhere_leaves_no_complaint(
    recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    import contextvars

    pending: Any = coroutine("a")
    contextvars.copy_context().run(pending.send, None)
    pending.close()
    assert caplog.records == []
    assert recorded.tool("coroutine").attributes[GenAI.ERROR_TYPE] == "GeneratorExit"


def test_an_async_generator_may_hold_a_cancel_scope_open(recorded: Any) -> None:
    @trackway.tool
    async def stream() -> AsyncIterator[int]:
        with anyio.fail_after(5):
            yield 1
            yield 2

    async def main() -> list[int]:
        return [item async for item in stream()]

    assert asyncio.run(main()) == [1, 2]
    assert recorded.tool("stream").status.status_code is StatusCode.UNSET


def test_a_timeout_works_around_a_recorded_coroutine(recorded: Any) -> None:
    @trackway.tool
    async def slow() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with asyncio.timeout(0.001):
            await slow()

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert recorded.tool("slow").status.status_code is StatusCode.ERROR


def test_a_plain_function_that_returns_a_coroutine_ends_with_it(recorded: Any) -> None:
    @trackway.tool
    def outer(order_id: str) -> Any:
        async def inner() -> str:
            assert current_name() == "execute_tool outer"
            return order_id

        return inner()

    assert asyncio.run(outer("a")) == "a"
    assert recorded.result("outer") == "a"


def test_a_plain_function_that_returns_a_generator_ends_with_it(recorded: Any) -> None:
    @trackway.tool
    def outer() -> Iterator[str]:
        return (name for name in ("a", str(current_name())))

    assert list(outer()) == ["a", "execute_tool outer"]
    assert recorded.result("outer") == "aexecute_tool outer"


def test_a_returned_stream_that_is_never_read_still_ends_its_span(recorded: Any) -> None:
    @trackway.tool
    def outer() -> Iterator[int]:
        return (number for number in range(3))

    outer()
    gc.collect()
    assert recorded.tool("outer").attributes[Trackway.STREAM_ABANDONED] is True


def test_a_thread_pool_finds_its_parent(recorded: Any) -> None:
    @trackway.agent
    def bot() -> list[Any]:
        with ThreadPoolExecutor(2) as pool:
            return [future.result() for future in [pool.submit(plain, str(n)) for n in range(4)]]

    bot()
    parent = recorded.one("invoke_agent bot")
    tools = recorded.named("execute_tool plain")
    assert {span.parent.span_id for span in tools} == {parent.context.span_id}
    assert sorted(span.attributes[Trackway.STEP_INDEX] for span in tools) == [1, 2, 3, 4]


def test_siblings_of_gather_share_their_parent(recorded: Any) -> None:
    @trackway.agent
    async def bot() -> None:
        await asyncio.gather(*(coroutine(str(number)) for number in range(4)))

    asyncio.run(bot())
    parent = recorded.one("invoke_agent bot").context.span_id
    tools = recorded.named("execute_tool coroutine")
    assert [span.parent.span_id for span in tools] == [parent] * 4
    assert sorted(span.attributes[Trackway.STEP_INDEX] for span in tools) == [1, 2, 3, 4]


def test_a_streaming_response_is_followed_to_its_end(recorded: Any) -> None:
    responses = pytest.importorskip(
        "starlette.responses", reason="a streaming response needs starlette"
    )

    @trackway.agent
    async def handler() -> Any:
        async def body() -> AsyncIterator[str]:
            for word in ("one ", "two"):
                await coroutine(word)
                yield word

        return responses.StreamingResponse(body())

    async def main() -> list[str]:
        response = await handler()
        assert recorded.all == []
        return [chunk async for chunk in response.body_iterator]

    assert asyncio.run(main()) == ["one ", "two"]
    span = recorded.one("invoke_agent handler")
    assert span.attributes[Trackway.OUTPUT] == "one two"
    children = recorded.named("execute_tool coroutine")
    assert {child.parent.span_id for child in children} == {span.context.span_id}
    assert span.attributes[Trackway.RUN_LAST_STEP] == 2


@pytest.mark.parametrize(
    "value", ["x" * 20_000_000, [{"number": n} for n in range(50_000)]], ids=["20 MB", "50,000"]
)
def test_a_huge_argument_is_cut_and_stays_json(recorded: Any, value: Any) -> None:
    @trackway.tool
    def measure(value: Any) -> int:
        return len(value)

    assert measure(value) == len(value)
    span = recorded.tool("measure")
    assert len(span.attributes[GenAI.TOOL_CALL_ARGUMENTS]) <= 65536
    recorded.arguments("measure")
    assert span.attributes[Trackway.TRUNCATED] == ("arguments",)
    assert f"{Trackway.CONTENT_SHA256}.arguments" in span.attributes


def test_a_forked_child_records_and_flushes() -> None:
    program = """
import os, sys, trackway
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
memory = InMemorySpanExporter()
trackway.configure(export=memory)

@trackway.tool
def work(): return 1

work()
pid = os.fork()
if pid == 0:
    memory.clear()
    work()
    flushed = trackway.flush(5)
    os._exit(0 if flushed and len(memory.get_finished_spans()) == 1 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
