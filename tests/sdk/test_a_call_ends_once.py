"""Whatever follows a call ends it once: the first end counts, and later ones change nothing."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.context import get_current

from trackway import TrajectoryRecorder, tool
from trackway.driving import Opened
from trackway.run import PLACE

ENDS: Final[dict[str, Callable[[Opened], None]]] = {
    "finish": lambda live: live.finish("finished"),
    "fail": lambda live: live.fail(LookupError("failed")),
    "exhausted": lambda live: live.exhausted(),
    "exhausted with a value": lambda live: live.exhausted("returned"),
    "abandon": lambda live: live.abandon(),
}
PIECES: Final[dict[str, Callable[[Opened], None]]] = {
    "open_stream": lambda live: live.open_stream(),
    "item": lambda live: live.item("piece "),
}
steps_of_a_call = st.lists(st.sampled_from([*ENDS, *PIECES]), min_size=1, max_size=8).filter(
    lambda names: any(name in ENDS for name in names)
)


def up_to_the_end(names: list[str]) -> list[str]:
    """Return the steps as far as the first end."""
    first = next(place for place, name in enumerate(names) if name in ENDS)
    return names[: first + 1]


def followed(live: Opened, names: list[str]) -> None:
    for name in names:
        {**ENDS, **PIECES}[name](live)


def record_of(names: list[str]) -> dict[str, Any]:
    recorder = TrajectoryRecorder()
    live = recorder._opener(lambda: None, "work", None)((), {})
    followed(live, names)
    (record,) = recorder.trajectory
    del record["timestamp"]
    return record


@given(steps_of_a_call)
def test_a_record_is_that_of_the_first_end(names: list[str]) -> None:
    assert record_of(names) == record_of(up_to_the_end(names))


def span_of(names: list[str], recorded: Any) -> dict[str, Any]:
    recorded.clear()

    @tool("work")
    def work() -> None:
        followed(get_current()[PLACE], names)  # type: ignore[arg-type]

    work()
    span = recorded.tool("work")
    shown = json.loads(span.to_json())
    return {
        "status": shown["status"]["status_code"],
        "events": [event["name"] for event in shown["events"]],
        "attributes": {
            key: value
            for key, value in shown["attributes"].items()
            if not key.endswith(("time_to_first_chunk", "first_chunk", "run.id"))
        },
    }


def test_a_span_is_that_of_the_first_end(recorded: Any) -> None:
    @given(steps_of_a_call)
    def check(names: list[str]) -> None:
        assert span_of(names, recorded) == span_of(up_to_the_end(names), recorded)

    check()


@given(steps_of_a_call)
def test_a_record_has_a_result_or_an_error_where_something_came(names: list[str]) -> None:
    record = record_of(names)
    end, before = up_to_the_end(names)[-1], up_to_the_end(names)[:-1]
    came = "open_stream" in before and "item" in before[before.index("open_stream") :]
    assert ("error" in record) == (end == "fail")
    assert ("result" in record) == (end != "fail" and (end != "abandon" or came))


async def pay(order_id: str) -> dict[str, str]:
    await asyncio.sleep(0)
    return {"status": "failed", "order": order_id}


class Client:
    def pay(self, order_id: str) -> Awaitable[dict[str, str]]:
        return pay(order_id)


def handed_over(order_id: str) -> Awaitable[dict[str, str]]:
    return pay(order_id)


def awaited_with_a_timeout(order_id: str) -> Awaitable[dict[str, str]]:
    return asyncio.wait_for(pay(order_id), 5)


def in_a_task(order_id: str) -> Awaitable[dict[str, str]]:
    return asyncio.ensure_future(pay(order_id))


@pytest.mark.parametrize(
    "function",
    [
        handed_over,
        awaited_with_a_timeout,
        in_a_task,
        Client().pay,
        lambda order_id: pay(order_id),
        pay,
    ],
    ids=["handed over", "timeout", "task", "method", "lambda", "async"],
)
def test_a_coroutine_that_a_function_hands_back_has_its_own_result(function: Any) -> None:
    recorder = TrajectoryRecorder()
    tracked = recorder.track("pay")(function)

    async def main() -> None:
        await tracked("A1")

    asyncio.run(main())
    gc.collect()
    (record,) = recorder.trajectory
    assert record["result"] == {"status": "failed", "order": "A1"}


def test_a_coroutine_that_is_closed_before_it_starts_has_no_result() -> None:
    recorder = TrajectoryRecorder()
    recorder.track("pay")(handed_over)("A1").close()  # type: ignore[attr-defined]
    gc.collect()
    (record,) = recorder.trajectory
    assert "result" not in record
    assert "error" not in record


def test_a_coroutine_that_raised_keeps_its_error() -> None:
    recorder = TrajectoryRecorder()

    async def declined() -> None:
        raise LookupError("declined")

    async def main() -> None:
        with pytest.raises(LookupError):
            await recorder.track("pay")(lambda: declined())()

    asyncio.run(main())
    gc.collect()
    (record,) = recorder.trajectory
    assert record["error"] == "LookupError"
    assert "result" not in record


def test_a_stream_that_nobody_read_has_no_result_and_one_left_early_what_came() -> None:
    recorder = TrajectoryRecorder()

    @recorder.track
    def numbers() -> Any:
        return (number for number in range(3))

    numbers().close()
    left = numbers()
    next(left)
    left.close()
    gc.collect()
    unread, early = recorder.trajectory
    assert "result" not in unread
    assert early["result"] == [0]
