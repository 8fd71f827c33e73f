"""What a call that was ended from outside had set going may have gone through."""

from __future__ import annotations

import pytest

from analyzer.span_builder import Recording
from trackway.schema import StepKind


def ok_of(error: str, kind: str | None, **columns: object) -> bool | None:
    record = Recording()
    record.tool("refund", {"id": 7}, None, raises=error, tool_kind=kind, **columns)
    (step,) = record.run().tool_steps
    return step.ok


@pytest.mark.parametrize(
    "error",
    [
        *("TimeoutError", "CancelledError", "asyncio.exceptions.CancelledError", "SystemExit"),
        *("httpx.ReadTimeout", "billiard.exceptions.SoftTimeLimitExceeded", "timeout"),
        *("KeyboardInterrupt", "anthropic.APITimeoutError"),
    ],
)
@pytest.mark.parametrize("kind", [StepKind.MUTATE, StepKind.NOTIFY, None])
def test_whether_it_took_effect_is_open(error: str, kind: StepKind | None) -> None:
    assert ok_of(error, kind) is None


def test_so_it_is_where_the_recorder_has_judged_by_the_error() -> None:
    assert ok_of("TimeoutError", StepKind.MUTATE, ok=False) is None


@pytest.mark.parametrize("error", ["ValueError", "httpx.ConnectTimeout", "httpx.PoolTimeout"])
def test_a_call_that_raised_or_got_no_connection_took_none(error: str) -> None:
    assert ok_of(error, StepKind.MUTATE) is False


def test_a_lookup_that_timed_out_found_nothing() -> None:
    assert ok_of("TimeoutError", StepKind.LOOKUP) is False
