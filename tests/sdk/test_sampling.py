"""Runs are kept or dropped whole; failed ones are kept."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import trackway
from trackway import sampling
from trackway.sampling import drawn
from trackway.schema import GenAI, Trackway


@pytest.fixture
def memory() -> Iterator[InMemorySpanExporter]:
    yield InMemorySpanExporter()
    trackway.shutdown()


def sampled(memory: InMemorySpanExporter, share: float, **more: Any) -> None:
    trackway.configure(export=SimpleSpanProcessor(memory), sample=share, **more)


@trackway.tool
def work() -> None: ...


@trackway.tool(success=lambda result: result)
def unlucky() -> bool:
    return False


@trackway.agent
def bot() -> None:
    work()


def spans_by_run(memory: InMemorySpanExporter) -> dict[Any, list[str]]:
    runs: dict[Any, list[str]] = {}
    for span in memory.get_finished_spans():
        assert span.attributes is not None
        runs.setdefault(span.attributes[Trackway.RUN_ID], []).append(span.name)
    return runs


def two_steps(task: str) -> None:
    with trackway.run(task):
        work()
        with trace.get_tracer("framework").start_as_current_span("in between"):
            bot()


def test_a_share_of_the_runs_is_kept_each_whole(memory: InMemorySpanExporter) -> None:
    sampled(memory, 0.5)
    for _ in range(60):
        two_steps("t")
    runs = spans_by_run(memory)
    assert 10 < len(runs) < 50
    assert {len(names) for names in runs.values()} == {5}


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_none_and_all_are_exact(memory: InMemorySpanExporter, share: float) -> None:
    sampled(memory, share)
    for _ in range(5):
        two_steps("t")
    assert len(spans_by_run(memory)) == 5 * share


def fail_by_exception() -> None:
    with pytest.raises(KeyError), trackway.run("t"):
        fail_inside()


def fail_by_outcome() -> None:
    with trackway.run("t") as run:
        work()
        run.outcome(False)


def fail_by_cap() -> None:
    with trackway.run("t") as run:
        work()
        run.outcome(None, censored=True)


def fail_by_step() -> None:
    with trackway.run("t"):
        unlucky()


def fail_by_mode() -> None:
    with trackway.run("t") as run:
        work()
        run.outcome(None, failure_mode="gave up")


def fail_by_effect() -> None:
    with trackway.run("t"):
        work()
        trackway.effect("refund", applied=False)


def fail_late_by_outcome() -> None:
    with trackway.run("t") as run:
        work()
    run.outcome(False)


@pytest.mark.parametrize(
    "fail",
    [
        fail_by_exception,
        fail_by_outcome,
        fail_by_cap,
        fail_by_step,
        fail_by_mode,
        fail_by_effect,
        fail_late_by_outcome,
    ],
)
def test_a_failed_run_is_kept_whole(memory: InMemorySpanExporter, fail: Any) -> None:
    sampled(memory, 0.0)
    two_steps("good")
    fail()
    ((_, names),) = spans_by_run(memory).items()
    assert len(names) == (3 if fail is fail_late_by_outcome else 2)
    assert names[1] == "run t"


def test_an_effect_that_was_applied_and_a_label_alone_are_no_failure(
    memory: InMemorySpanExporter,
) -> None:
    sampled(memory, 0.0)
    with trackway.run("t") as run:
        trackway.effect("refund", applied=True)
        trackway.effect("refund")
        run.outcome(None, label="answered")
    run.outcome(True)
    run.final("late")
    assert memory.get_finished_spans() == ()


def run_with_a_late_step(*, error: BaseException | None, steps: int = 1) -> None:
    late = trackway.step("late")

    def leave_late() -> None:
        with trackway.run("t"):
            for _ in range(steps):
                work()
            late.__enter__()
        late.__exit__(None if error is None else type(error), error, None)

    contextvars.copy_context().run(leave_late)


def test_a_step_that_ends_after_its_dropped_run_is_dropped_too(
    memory: InMemorySpanExporter,
) -> None:
    sampled(memory, 0.0)
    run_with_a_late_step(error=None)
    assert memory.get_finished_spans() == ()


def test_a_step_that_fails_after_its_dropped_run_calls_the_run_back(
    memory: InMemorySpanExporter,
) -> None:
    sampled(memory, 0.0)
    two_steps("good")
    run_with_a_late_step(error=None)
    run_with_a_late_step(error=KeyError())
    ((_, names),) = spans_by_run(memory).items()
    assert names == ["execute_tool work", "run t", "execute_tool late"]


@trackway.tool
async def charge() -> None:
    raise RuntimeError("declined")


@trackway.tool
async def note() -> None: ...


@trackway.agent
async def answers_first(background: list[asyncio.Task[None]]) -> str:
    background += [asyncio.create_task(one()) for one in (note, charge, note)]
    return "charging in the background"


def test_a_background_task_that_fails_after_the_answer_calls_the_run_back(
    memory: InMemorySpanExporter,
) -> None:
    async def main() -> None:
        background: list[asyncio.Task[None]] = []
        await answers_first(background)
        await asyncio.gather(*background, return_exceptions=True)

    sampled(memory, 0.0)
    asyncio.run(main())
    ((_, names),) = spans_by_run(memory).items()
    assert sorted(names) == [
        "execute_tool charge",
        "execute_tool note",
        "execute_tool note",
        "invoke_agent answers_first",
    ]


def test_a_failed_run_inside_a_dropped_one_has_no_gap(memory: InMemorySpanExporter) -> None:
    ta = pytest.importorskip("trackway_analyzer", reason="the analyzer is a package of its own")
    sampled(memory, 0.0)
    with trackway.run("outer"):
        work()
        with trackway.run("title"):
            unlucky()
    (run,) = ta.load(list(memory.get_finished_spans()))
    assert run.task_id == "title"
    assert run.gaps == ()


def test_what_cannot_be_called_back_is_counted_and_said_and_a_gap(
    memory: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("trackway.sampling.MAX_RECALLED", 5_000)
    sampling._tell_of_gone.cache_clear()
    before = trackway.capture_errors().get(sampling.LOST_OF_DROPPED, 0)
    sampled(memory, 0.0)
    run_with_a_late_step(error=KeyError(), steps=20)
    assert [span.name for span in memory.get_finished_spans()] == ["execute_tool late"]
    assert trackway.capture_errors()[sampling.LOST_OF_DROPPED] - before == 21
    assert "failed after its run had ended" in caplog.text
    ta = pytest.importorskip("trackway_analyzer", reason="the analyzer is a package of its own")
    (run,) = ta.load(list(memory.get_finished_spans()))
    assert "no_root" in {gap.name for gap in run.gaps}


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["work", "end", "late"])), max_size=60)
)
def test_what_is_held_for_dropped_runs_is_bounded(events: list[tuple[int, str]]) -> None:
    span = ReadableSpan("s", attributes={"text": "x" * 4_000})
    recallable = sampling._Recallable()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trackway.sampling.MAX_RECALLED", 20_000)
        for run, kind in events:
            if kind == "late":
                recallable.take(str(run))
            else:
                recallable.add(str(run), [span] * (1 if kind == "work" else 3))
            held = sum(map(len, recallable._spans.values()))
            assert held <= 4
            assert recallable._size == held * 5_000


def test_a_run_dropped_at_its_head_records_nothing_and_costs_nothing(
    memory: InMemorySpanExporter,
) -> None:
    sampled(memory, 0.0, keep_failed=False)
    two_steps("t")
    bot()
    with pytest.raises(KeyError):
        fail_inside()
    assert memory.get_finished_spans() == ()


@trackway.agent
def fail_inside() -> None:
    raise KeyError


def test_inside_a_dropped_run_there_is_still_a_run(memory: InMemorySpanExporter) -> None:
    sampled(memory, 0.0, keep_failed=False)
    with trackway.run("t") as run:
        assert trackway.current_run() is run
        run.outcome(True)
        trackway.decision(chosen="x")
        with trackway.step("s") as step:
            assert step.index is None
    assert trackway.current_run() is None


def test_head_drops_leave_other_runs_whole(memory: InMemorySpanExporter) -> None:
    sampled(memory, 0.5, keep_failed=False)
    for _ in range(60):
        two_steps("t")
    runs = spans_by_run(memory)
    assert 10 < len(runs) < 50
    assert {len(names) for names in runs.values()} == {5}


@trackway.tool
def large() -> str:
    return "x" * 3_000


@pytest.mark.parametrize("call", [work, large])
def test_a_run_of_more_than_may_wait_is_kept_rather_than_cut(
    memory: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
    call: Callable[[], object],
) -> None:
    monkeypatch.setattr("trackway.sampling.MAX_WAITING", 12_000)
    sampled(memory, 0.0)
    with trackway.run("t"):
        for _ in range(25):
            call()
        held_back = 25 - len(memory.get_finished_spans())
    assert held_back == 0
    assert len(memory.get_finished_spans()) == 26


def test_a_large_span_weighs_what_it_holds(
    memory: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trackway.sampling.MAX_WAITING", 12_000)
    sampled(memory, 0.0)
    with trackway.run("t"):
        for _ in range(4):
            work()
        assert memory.get_finished_spans() == ()
        large()
        large()
        assert len(memory.get_finished_spans()) == 6


def test_a_run_that_never_ends_is_handed_on_at_shutdown(memory: InMemorySpanExporter) -> None:
    sampled(memory, 0.0)
    block = trackway.run("t")
    block.__enter__()
    work()
    trackway.shutdown()
    assert [span.name for span in memory.get_finished_spans()] == ["execute_tool work"]
    block.__exit__(None, None, None)


def test_a_share_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a share from 0 to 1, found 2"):
        trackway.configure(sample=2)


@given(st.binary(min_size=16, max_size=16), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_keeps_all_that_a_smaller_keeps(run: bytes, one: float, two: float) -> None:
    small, large = sorted((one, two))
    assert drawn(run.hex(), large) or not drawn(run.hex(), small)
    assert drawn(run.hex(), 1.0)
    assert not drawn(run.hex(), 0.0)


def test_a_sampler_of_opentelemetry_drops_whole_runs() -> None:
    program = """
import trackway
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
memory = InMemorySpanExporter()
trackway.configure(export=SimpleSpanProcessor(memory))

@trackway.tool
def work(): return trackway.current_run()

with trackway.run("t") as run:
    assert work() is run
assert not run.recording
print(len(memory.get_finished_spans()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"OTEL_TRACES_SAMPLER": "always_off"}, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "0"


ELSEWHERE = """
import json, sys, trackway
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

memory = InMemorySpanExporter()
trackway.configure(export=SimpleSpanProcessor(memory), sample=0)
with trackway.carried(json.loads(sys.argv[1])), trackway.step("there"):
    pass
print([span.name for span in memory.get_finished_spans()])
"""


def test_a_run_that_is_handed_to_another_process_is_kept_whole(
    memory: InMemorySpanExporter,
) -> None:
    sampled(memory, 0)
    two_steps("stays")
    with trackway.run("leaves") as run:
        work()
        carrier = trackway.carrier()
        work()
    assert {run_id: sorted(names) for run_id, names in spans_by_run(memory).items()} == {
        run.id: ["execute_tool work", "execute_tool work", "run leaves"]
    }
    there = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, json.dumps(carrier)],
        check=True,
        capture_output=True,
        text=True,
    )
    # At once, not only when that process ends.
    assert there.stdout == "['handed over', 'execute_tool there', 'handed over']\n"


THERE = """
import json, sys, trackway
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

carrier, more = json.loads(sys.argv[1])
memory = InMemorySpanExporter()
trackway.configure(
    export=SimpleSpanProcessor(memory), tracer_provider=(mine := TracerProvider(ALWAYS_ON)), **more
)
tracer = mine.get_tracer("framework")

def work():
    with trackway.step("there"), tracer.start_as_current_span("in between"):
        trackway.decision(chosen="x")

with trackway.carried(carrier):
    work()
with trackway.run(resume_from=carrier):
    work()
print(sum(span.name != "handed over" for span in memory.get_finished_spans()))
"""


def spans_there(carrier: dict[str, str], **more: Any) -> int:
    """Return how many of five spans another process records, besides its marks of a run's parts."""
    done = subprocess.run(
        [sys.executable, "-c", THERE, json.dumps([carrier, more])],
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stdout)


HEAD_DROPS = {"sample": 0.0, "keep_failed": False}


@pytest.mark.parametrize("there", [HEAD_DROPS, {"sample": 0.0}])
def test_a_run_that_comes_by_a_carrier_is_kept_whatever_is_drawn_there(
    memory: InMemorySpanExporter, there: dict[str, Any]
) -> None:
    sampled(memory, 1)
    with trackway.run("leaves"):
        carrier = trackway.carrier()
    assert spans_there(carrier, **there) == 5


@pytest.mark.parametrize("there", [{}, {"sample": 0.999999}, HEAD_DROPS, {"sample": 0.0}])
def test_a_run_that_was_dropped_at_its_head_is_dropped_where_it_goes(
    memory: InMemorySpanExporter, there: dict[str, Any]
) -> None:
    sampled(memory, 0, keep_failed=False)
    with trackway.run("leaves"):
        carrier = trackway.carrier()
        with trackway.carried(carrier):
            work()
    with trackway.run(resume_from=carrier):
        work()
    assert memory.get_finished_spans() == ()
    assert spans_there(carrier, **there) == 0


@trackway.tool("raises")
def raises() -> None:
    raise ValueError("declined")


def outside_any_run() -> None:
    """A good step, failed ones of ours and of others, and failed and good spans of a service."""
    work()
    unlucky()
    with contextlib.suppress(ValueError):
        raises()
    framework = trace.get_tracer("framework")
    step = {GenAI.OPERATION_NAME: "chat"}
    with framework.start_as_current_span("chat", attributes=step) as span:
        span.set_status(StatusCode.ERROR)
    with framework.start_as_current_span("GET /failed") as span:
        span.set_status(StatusCode.ERROR)
    with framework.start_as_current_span("GET /"):
        pass


def test_outside_runs_steps_that_failed_are_kept_beside_the_share(
    memory: InMemorySpanExporter,
) -> None:
    sampled(memory, 0.0)
    outside_any_run()
    kept = [span.name for span in memory.get_finished_spans()]
    assert kept == ["execute_tool unlucky", "execute_tool raises", "chat"]


def test_outside_runs_the_share_alone_decides_where_failures_are_not_kept(
    memory: InMemorySpanExporter,
) -> None:
    sampled(memory, 0.0, keep_failed=False)
    outside_any_run()
    assert memory.get_finished_spans() == ()


def test_outside_runs_a_trace_is_kept_whole(memory: InMemorySpanExporter) -> None:
    sampled(memory, 0.5)
    for _ in range(60):
        with trace.get_tracer("framework").start_as_current_span("GET /"):
            work()
    traces = Counter(span.context.trace_id for span in memory.get_finished_spans() if span.context)
    assert 10 < len(traces) < 50
    assert set(traces.values()) == {2}
