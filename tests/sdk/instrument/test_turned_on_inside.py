"""What a run says of libraries that were on when it opened, or came and went while it was open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai  # noqa: F401 - imported before it is recorded: calls of it may have been missed
import pytest

import trackway
from other_tracer import agent, model
from trackway.schema import Trackway
from trackway.testing import MemorySpans
from trackway_analyzer import Policy, load
from trackway_analyzer.check import check

LATE = "openai: instrument() turned it on inside the run, what it did before is not recorded"
OFF = "openai: uninstrument() turned it off inside the run"
RULES = "version: 1\nrules:\n  - {}\n"


@pytest.fixture
def spans() -> Iterator[MemorySpans]:
    spans = MemorySpans()
    spans.configure()
    yield spans
    trackway.uninstrument()
    trackway.shutdown()


def said(spans: MemorySpans, name: str) -> tuple[Any, Any]:
    attributes = spans.one(name).attributes or {}
    return (
        attributes.get(Trackway.INSTRUMENTATION_ON),
        attributes.get(Trackway.INSTRUMENTATION_LOST),
    )


def test_a_run_says_which_libraries_were_on(spans: MemorySpans) -> None:
    with trackway.run("before"):
        pass
    trackway.instrument("openai", "mcp")
    with trackway.run("watched"):
        pass
    with agent("a"), model():
        pass
    trackway.uninstrument()
    with trackway.run("after"):
        pass
    assert said(spans, "run before") == (None, None)
    assert said(spans, "run watched") == (("mcp", "openai"), None)
    assert said(spans, "invoke_agent a") == (("mcp", "openai"), None)
    assert said(spans, "chat gpt") == (None, None)
    assert said(spans, "run after") == (None, None)


def test_turned_on_inside_a_run(spans: MemorySpans) -> None:
    with trackway.run("over"):
        pass
    with trackway.run("outer"), trackway.run("inner"), agent("a"):
        trackway.instrument("openai")
        trackway.instrument("openai")
    assert said(spans, "run over") == (None, None)
    assert said(spans, "run outer") == (("openai",), (LATE,))
    assert said(spans, "run inner") == (("openai",), (LATE,))


def test_a_framework_s_agent_that_opened_the_run_says_it_too(spans: MemorySpans) -> None:
    with agent("a"):
        trackway.instrument("openai")
    assert said(spans, "invoke_agent a") == (("openai",), (LATE,))


def test_turned_off_and_on_again_inside_a_run(spans: MemorySpans) -> None:
    trackway.instrument("openai")
    with trackway.run("half"):
        trackway.uninstrument("openai", "mcp")
        trackway.instrument("openai")
    assert said(spans, "run half") == (("openai",), (OFF, LATE))


def test_what_is_not_imported_yet_can_have_lost_nothing(
    spans: MemorySpans, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "openai")
    with trackway.run("first thing"):
        assert trackway.instrument("openai")["openai"].on
    assert said(spans, "run first thing") == (("openai",), None)


@pytest.mark.parametrize(
    ("rule", "bare"),
    [
        ("forbid: [refund]", "pass"),
        ("before: [check_policy, refund]", "pass"),
        ("count: {tool: refund, max: 1}", "pass"),
        ("allow: [lookup]", "pass"),
        ("budget: {tool_calls: 3}", "pass"),
        ("called: refund", "violation"),
        ("claim: {says: refunded, needs: refund}", "violation"),
    ],
)
def test_of_a_run_that_was_watched_and_shows_nothing_nothing_is_concluded(
    tmp_path: Path, rule: str, bare: str
) -> None:
    trackway.configure("t", export=str(tmp_path))
    try:
        with trackway.run("decorators alone") as run:
            run.final("I have refunded order A-1.")
        with trackway.run("late") as run:
            trackway.instrument("openai")
            run.final("I have refunded order A-1.")
        with trackway.run("unseen") as run:
            run.final("I have refunded order A-1.")
    finally:
        trackway.uninstrument()
        trackway.shutdown()
    policy = Policy.from_yaml(RULES.format(rule))
    batch = load(tmp_path).batch
    found = {
        run.task_id: check(batch.take([place]), policy).verdict.value
        for place, run in enumerate(batch)
    }
    assert found["decorators alone"] == bare
    assert found["late"] == found["unseen"] == "insufficient"
