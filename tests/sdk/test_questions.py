"""What a function of the user answers counts only where it is an answer, and at once."""

from __future__ import annotations

import functools
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import trackway
from trackway.schema import Trackway


async def paid(result: Any) -> bool:
    return bool(result["status"] == "succeeded")


async def paid_in_pieces(result: Any) -> AsyncIterator[bool]:
    yield result["status"] == "succeeded"


def paid_at_last(result: Any) -> Iterator[bool]:
    yield result["status"] == "succeeded"


class Paid:
    async def __call__(self, result: Any) -> bool:
        return await paid(result)


LATER: dict[str, Callable[[Any], object]] = {
    "async": paid,
    "partial": functools.partial(paid),
    "object": Paid(),
    "method": Paid().__call__,
    "async generator": paid_in_pieces,
    "generator": paid_at_last,
}


@pytest.mark.parametrize("option", ["success", "operation_id"])
@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
def test_a_function_without_an_answer_at_once_is_an_error_where_it_is_declared(
    option: str, later: Callable[[Any], object]
) -> None:
    arguments: dict[str, Any] = {option: later}
    with pytest.raises(TypeError, match=f"^{option} must be a plain function, whose answer is"):
        trackway.tool(**arguments)


@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
def test_an_answer_that_has_to_be_waited_for_is_no_verdict_and_counted(
    recorded: Any, later: Callable[[Any], object]
) -> None:
    @trackway.tool("pay", success=lambda result: later(result))
    def pay() -> dict[str, str]:
        return {"status": "failed"}

    before = trackway.capture_errors().get("pay: success", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no coroutine is left that nobody awaited
        pay()
    attributes = recorded.tool("pay").attributes
    assert Trackway.STEP_OK not in attributes
    assert attributes[Trackway.CAPTURE_ERROR] == "success: TypeError"
    assert trackway.capture_errors()["pay: success"] == before + 1


def test_an_idempotency_key_that_has_to_be_waited_for_is_none(recorded: Any) -> None:
    @trackway.tool("pay", operation_id=lambda arguments: paid(arguments))
    def pay(order_id: str) -> None: ...

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pay("A9128")
    attributes = recorded.tool("pay").attributes
    assert Trackway.OPERATION_ID not in attributes
    assert attributes[Trackway.CAPTURE_ERROR] == "operation_id: TypeError"
