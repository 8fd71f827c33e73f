"""What comes late of a run that was dropped: the run goes on after all, or nothing does."""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

import trackway
from trackway import sampling
from trackway.run import Identity, Run
from trackway.sampling import TailSampler, _size
from trackway.schema import GenAI, Trackway

OPERATION = GenAI.OPERATION_NAME


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Where spans go of a program that keeps failed runs alone, and recalls the last four."""
    monkeypatch.setattr("trackway.sampling.MAX_REMEMBERED", 4)
    exporter = InMemorySpanExporter()
    trackway.configure(export=SimpleSpanProcessor(exporter), sample=0.0)
    yield exporter
    trackway.shutdown()


@trackway.tool
def work() -> None: ...


@trackway.tool
def fails() -> None:
    raise ValueError("declined")


def lost() -> int:
    return trackway.capture_errors().get(sampling.LOST_OF_DROPPED, 0)


def background_of_a_run_long_ago() -> contextvars.Context:
    """Return the context of a task that outlives its run, after many other runs."""
    with trackway.run("long ago"):
        work()
        background = contextvars.copy_context()
    many_runs()
    return background


def many_runs() -> None:
    for _ in range(10):
        with trackway.run("other"):
            work()


def names(memory: InMemorySpanExporter) -> list[str]:
    return [span.name for span in memory.get_finished_spans()]


def fail_in(background: contextvars.Context) -> None:
    with suppress(ValueError):
        background.run(fails)


def test_a_failure_long_after_its_run_goes_out_at_once_and_what_is_gone_is_counted(
    memory: InMemorySpanExporter,
) -> None:
    background = background_of_a_run_long_ago()
    before = lost()
    fail_in(background)
    assert names(memory) == ["execute_tool fails"]
    assert lost() - before == 2
    ta = pytest.importorskip("trackway_analyzer", reason="the analyzer is a package of its own")
    (run,) = ta.load(list(memory.get_finished_spans()))
    assert "no_root" in {gap.name for gap in run.gaps}


def test_what_went_well_long_after_its_run_is_dropped(memory: InMemorySpanExporter) -> None:
    background_of_a_run_long_ago().run(work)
    assert trackway.shutdown(60)
    assert names(memory) == []


def test_what_went_well_long_after_its_run_is_called_back_by_a_failure(
    memory: InMemorySpanExporter,
) -> None:
    background = background_of_a_run_long_ago()
    before = lost()
    background.run(work)
    fail_in(background)
    background.run(work)
    assert names(memory) == ["execute_tool work", "execute_tool fails", "execute_tool work"]
    assert lost() - before == 2


@pytest.mark.parametrize(("status", "told"), [(StatusCode.ERROR, ["chat"]), (StatusCode.OK, [])])
def test_a_span_of_a_framework_that_ends_long_after_its_run_is_told_by_the_same_rule(
    memory: InMemorySpanExporter, status: StatusCode, told: list[str]
) -> None:
    framework = trace.get_tracer("framework")
    with framework.start_as_current_span("agent", attributes={OPERATION: "invoke_agent"}):
        late = framework.start_span("chat", attributes={OPERATION: "chat"})
    many_runs()
    late.set_status(status)
    late.end()
    assert names(memory) == told
    assert trackway.shutdown(60)
    assert names(memory) == told


def test_a_run_that_is_kept_for_another_process_stays_whole_however_long_it_takes(
    memory: InMemorySpanExporter,
) -> None:
    with trackway.run("handed over"):
        work()
        trackway.carrier()
        background = contextvars.copy_context()
        many_runs()
        work()
    many_runs()
    background.run(work)
    assert names(memory) == ["execute_tool work"] * 2 + ["run handed over", "execute_tool work"]


def test_a_run_that_comes_by_a_carrier_is_recorded_at_once_however_long_it_takes(
    memory: InMemorySpanExporter,
) -> None:
    with trackway.run("leaves"):
        carrier = trackway.carrier()
    memory.clear()
    with trackway.carried(carrier):
        many_runs()
        work()
        assert "execute_tool work" in names(memory)


def test_a_run_during_which_configure_comes_again_is_whole(memory: InMemorySpanExporter) -> None:
    with trackway.run("open"):
        work()
        trackway.configure(export=SimpleSpanProcessor(memory), sample=0.0, version="2")
        # The targets before were shut down, and a memory that was takes nothing more.
        after = InMemorySpanExporter()
        trackway.configure(export=SimpleSpanProcessor(after), sample=0.0)
        work()
    assert [*names(memory), *names(after)] == ["execute_tool work"] * 2 + ["run open"]


RUNS = 5
EVENTS = st.tuples(st.integers(0, RUNS - 1), st.sampled_from(["work", "work", "fail", "end"]))


def span_of(run: Run, what: str) -> ReadableSpan:
    ended = {Trackway.RUN_LAST_STEP: 1} if what == "end" else {}
    status = Status(StatusCode.ERROR if what == "fail" else StatusCode.UNSET)
    return ReadableSpan(what, attributes={**run.attributes, **ended}, status=status)


def id_of(span: ReadableSpan) -> object:
    return (span.attributes or {}).get(Trackway.RUN_ID)


@given(st.lists(EVENTS, max_size=120), st.integers(1, 4), st.integers(2, 12), st.integers(1, 8))
def test_a_run_comes_out_whole_or_from_a_late_failure_on_or_not_at_all(
    events: list[tuple[int, str]], remembered: int, waiting: int, recalled: int
) -> None:
    out: list[ReadableSpan] = []
    told: list[ReadableSpan] = []
    open_now = [Run(Identity(run_id=f"{n:032x}")) for n in range(RUNS)]
    over: deque[Run] = deque(maxlen=RUNS)  # background tasks hold these
    ended: set[object] = set()
    before = lost()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trackway.sampling.MAX_REMEMBERED", remembered)
        patch.setattr("trackway.sampling.MAX_WAITING", waiting * 1_100)
        patch.setattr("trackway.sampling.MAX_RECALLED", recalled * 1_100)
        sampler = TailSampler(0.0, out.append)
        for number, (n, what) in enumerate(events):
            is_late = number % 3 == 0 and len(over) > n and what != "end"
            run = over[n] if is_late else open_now[n]
            told.append(span_of(run, what))
            sampler.take(told[-1])
            if what == "end":
                ended.add(run.id)
                over.append(run)
                open_now[n] = Run(Identity(run_id=f"{RUNS + number:032x}"))
            assert set(sampler._waiting) <= {one.id for one in open_now}
            held = chain.from_iterable(sampler._waiting.values())
            assert sum(map(_size, held)) == sampler._size <= waiting * 1_100
            assert len(sampler._decided) <= remembered
            assert set(sampler._dropped._spans) <= set(sampler._decided)
            assert sampler._dropped._size <= recalled * 1_100
        sampler.release()
    missing = 0
    for run_id in {id_of(span) for span in told}:
        whole = [span for span in told if id_of(span) == run_id]
        came = [span for span in out if id_of(span) == run_id]
        assert came == whole[len(whole) - len(came) :]
        assert [span for span in whole if span.name == "fail"] == [
            span for span in came if span.name == "fail"
        ]
        assert came or run_id in ended
        missing += len(whole) - len(came) if came else 0
    assert lost() - before == missing
