"""The answer of a smolagents run that was streamed."""

from __future__ import annotations

import pytest

from other_tracer import span
from trackway.testing import MemorySpans

SMOLAGENTS = "openinference.instrumentation.smolagents"
STREAM = "ChatMessageStreamDelta(content='a')ActionStep(step_number=1)FinalAnswerStep(output={})"


def output(recorded: MemorySpans, written: str, scope: str = SMOLAGENTS) -> object:
    with span("agent.run", scope, openinference__span__kind="AGENT") as started:
        started.set_attribute("output.value", written)
    return recorded.one("agent.run").attributes["output.value"]


@pytest.mark.parametrize("answer", ["It's paid.", "two\nlines", 'said "yes" (twice)', "grüß 😀"])
def test_a_streamed_run_has_its_answer(recorded: MemorySpans, answer: str) -> None:
    assert output(recorded, STREAM.format(repr(answer))) == answer


@pytest.mark.parametrize("printed", ["{'paid': 42.5}", "<Thing at 0x1>"])
def test_an_answer_that_is_no_text_is_as_it_was_printed(
    recorded: MemorySpans, printed: str
) -> None:
    assert output(recorded, STREAM.format(printed)) == printed


def test_an_answer_that_was_not_streamed_stays(recorded: MemorySpans) -> None:
    assert output(recorded, "It is paid (42.5).") == "It is paid (42.5)."


def test_what_others_write_stays(recorded: MemorySpans) -> None:
    written = STREAM.format("'x'")
    assert output(recorded, written, scope="someone.else") == written
