"""The in-memory recorder for tests: which tools ran, with what, in which order."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

import pytest

import trackway
from trackway import TrajectoryRecorder


@pytest.fixture
def recorder() -> TrajectoryRecorder:
    return TrajectoryRecorder()


def without_time(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in record.items() if k != "timestamp"} for record in records]


def test_tracked_calls_become_records(recorder: TrajectoryRecorder) -> None:
    @recorder.track("lookup_order", kind="lookup")
    def lookup(order_id: str, fresh: bool = False) -> dict[str, Any]:
        return {"id": order_id, "total": 84.0}

    @recorder.track()
    def send_email(to: str) -> None: ...

    assert lookup("A9128") == {"id": "A9128", "total": 84.0}
    send_email(to="ann")
    assert without_time(recorder.trajectory) == [
        {
            "step": 1,
            "tool": "lookup_order",
            "arguments": {"order_id": "A9128", "fresh": False},
            "result": {"id": "A9128", "total": 84.0},
            "kind": "lookup",
        },
        {"step": 2, "tool": "send_email", "arguments": {"to": "ann"}, "result": None},
    ]
    assert datetime.fromisoformat(recorder.trajectory[0]["timestamp"]).tzinfo is not None


def test_steps_can_be_recorded_by_hand(recorder: TrajectoryRecorder) -> None:
    recorder.record_step("lookup_order", {"order_id": "A9128"}, {"id": "A9128"})
    (record,) = recorder.trajectory
    assert set(record) == {"step", "tool", "arguments", "result", "timestamp"}
    assert record["step"] == 1


def test_async_functions_and_streams_are_tracked(recorder: TrajectoryRecorder) -> None:
    @recorder.track()
    async def coroutine(number: int) -> int:
        return number

    @recorder.track()
    def words() -> Iterator[str]:
        yield "a"
        yield "b"

    @recorder.track()
    async def numbers() -> AsyncIterator[int]:
        yield 1
        yield 2

    async def main() -> None:
        await coroutine(3)
        assert [number async for number in numbers()] == [1, 2]

    asyncio.run(main())
    assert list(words()) == ["a", "b"]
    results = {record["tool"]: record["result"] for record in recorder.trajectory}
    assert results == {"coroutine": 3, "numbers": [1, 2], "words": "ab"}


def test_a_call_that_raised_has_an_error_and_no_result(recorder: TrajectoryRecorder) -> None:
    @recorder.track()
    def failing() -> None:
        raise LookupError("no order")

    with pytest.raises(LookupError, match="no order"):
        failing()
    (record,) = recorder.trajectory
    assert record["error"] == "LookupError"
    assert "result" not in record


def test_a_later_change_does_not_rewrite_the_record(recorder: TrajectoryRecorder) -> None:
    @recorder.track()
    def fill(items: list[int]) -> list[int]:
        items.append(2)
        return items

    fill([1]).append(3)
    (record,) = recorder.trajectory
    assert record["arguments"] == {"items": [1]}
    assert record["result"] == [1, 2]


SECRETS = {"card": "4111111111111111", "password": "p", "text": "sk-ant-api03-" + "a1B2" * 12}


def test_secrets_are_taken_out_as_from_spans(recorder: TrajectoryRecorder, recorded: Any) -> None:
    def pay(card: str, password: str, text: str) -> dict[str, str]:
        return {"card": card, "password": password, "text": text}

    recorder.track(pay)(**SECRETS)
    trackway.tool(pay)(**SECRETS)
    (record,) = recorder.trajectory
    span = recorded.tool("pay")
    assert record["arguments"] == recorded.value(span, "gen_ai.tool.call.arguments")
    assert record["result"] == recorded.value(span, "gen_ai.tool.call.result")
    for secret in ('"p"', "4111111111111111", "a1B2a1B2"):
        assert secret not in recorder.as_json()


def test_secrets_of_steps_recorded_by_hand_are_taken_out(recorder: TrajectoryRecorder) -> None:
    recorder.record_step("pay " + SECRETS["text"], {"password": "p"}, SECRETS["text"])
    assert "a1B2a1B2" not in recorder.as_json()
    assert '"p"' not in recorder.as_json()


def test_values_are_recorded_as_they_are_on_request() -> None:
    recorder = TrajectoryRecorder(redact=False)
    recorder.record_step("pay", SECRETS, {"at": {1}})
    (record,) = recorder.trajectory
    assert record["arguments"] == SECRETS
    assert record["result"] == {"at": [1]}


def test_a_redactor_of_the_user_s_is_taken() -> None:
    recorder = TrajectoryRecorder(redact=trackway.redactor(deny_keys=["national_id"]))
    recorder.record_step("look", {"national_id": "7"})
    assert "7" not in recorder.trajectory[0]["arguments"]["national_id"]


def test_the_json_is_the_trajectory(recorder: TrajectoryRecorder) -> None:
    recorder.record_step("lookup", {"name": "Zoë"}, None)
    assert json.loads(recorder.as_json()) == recorder.trajectory
    assert "Zoë" in recorder.as_json()


def test_the_trajectory_is_a_copy_and_clear_starts_again(recorder: TrajectoryRecorder) -> None:
    recorder.record_step("a")
    recorder.trajectory.clear()
    assert len(recorder.trajectory) == 1
    recorder.clear()
    recorder.record_step("b")
    assert [record["step"] for record in recorder.trajectory] == [1]


def test_threads_get_a_number_each(recorder: TrajectoryRecorder) -> None:
    @recorder.track()
    def work(number: int) -> int:
        return number

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [record["step"] for record in recorder.trajectory] == list(range(1, 21))
    assert sorted(record["result"] for record in recorder.trajectory) == list(range(20))


def test_an_unknown_kind_is_refused(recorder: TrajectoryRecorder) -> None:
    with pytest.raises(ValueError, match="lookup, mutate, notify, other"):
        recorder.track(kind="write")  # type: ignore[call-overload]


def test_it_needs_no_configuration(recorder: TrajectoryRecorder) -> None:
    trackway.shutdown()
    recorder.track()(lambda order_id: order_id)("A1")
    assert len(recorder.trajectory) == 1


def test_the_analyzer_s_assertions_take_it(recorder: TrajectoryRecorder) -> None:
    ta = pytest.importorskip("trackway_analyzer", reason="the analyzer is a package of its own")
    recorder.record_step("lookup_order", {"order_id": "A9128"}, {"id": "A9128"})
    recorder.record_step("refund_api.create", {"order_id": "A9128"}, {"status": "succeeded"})
    ta.assert_step_sequence(
        recorder.trajectory,
        [
            {"tool": "lookup_order", "kind": "lookup"},
            {"tool": "refund_api.create", "kind": "mutate", "entity_arg": "order_id"},
        ],
    )


def test_a_tool_may_be_tracked_without_parentheses() -> None:
    recorder = trackway.TrajectoryRecorder()

    @recorder.track
    def lookup_order(order: str) -> str:
        return order

    assert lookup_order("A1") == "A1"
    assert [record["tool"] for record in recorder.trajectory] == ["lookup_order"]
