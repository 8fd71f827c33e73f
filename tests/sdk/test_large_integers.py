"""An integer beyond 64 bits is a text on a span: no format of spans has room for it."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

import trackway
from sdk.conftest import Recorded
from trackway.export.clean import Cleaner
from trackway.export.otlp.wire import decode, encode

ID = 2**64 + 5


@trackway.tool(kind="mutate")
def pay(amount: int) -> dict[str, Any]:
    trackway.effect("refund", operation_id=ID, entity=ID + 1, applied=True)  # type: ignore[arg-type]
    trackway.context(tokens=2**63, limit=2**63 - 1)
    return {"ok": True}


@trackway.llm
def chat(messages: list[Any], **parameters: Any) -> dict[str, Any]:
    answer = {"message": {"role": "assistant", "content": "Paid."}}
    return {"choices": [answer], "usage": {"prompt_tokens": ID}}


def sent(spans: list[ReadableSpan]) -> list[ReadableSpan]:
    """The spans as an OTLP receiver gets them."""
    return decode(encode(Cleaner().clean_all(spans)))


def test_names_ids_counts_and_seeds_beyond_64_bits_are_texts(recorded: Recorded) -> None:
    with trackway.run("t", seed=2**63, trial=-ID, deadline=ID):  # type: ignore[arg-type]
        pay(1)
        chat([], seed=ID, max_tokens=2**63 - 1)
        trackway.outcome(True, label=ID)  # type: ignore[arg-type]
    for span in recorded.all:
        attributes = span.attributes or {}
        assert attributes["trackway.trial.seed"] == "9223372036854775808"
        assert attributes["trackway.trial.index"] == "-18446744073709551621"
    effect, context = (dict(event.attributes or {}) for event in recorded.tool("pay").events)
    assert (effect["operation_id"], effect["entity"]) == (
        "18446744073709551621",
        "18446744073709551622",
    )
    assert context == {"tokens": "9223372036854775808", "limit": 2**63 - 1}
    run, answer = recorded.one("run t").attributes or {}, recorded.one("chat").attributes or {}
    assert run["trackway.deadline"] == run["trackway.outcome.label"] == str(ID)
    assert answer["gen_ai.request.seed"] == answer["gen_ai.usage.input_tokens"] == str(ID)
    assert answer["gen_ai.request.max_tokens"] == 2**63 - 1


def test_an_integer_of_which_nobody_writes_the_digits_is_told_by_its_size(
    recorded: Recorded,
) -> None:
    with trackway.run("t", seed=10**5000):
        pass
    attributes = recorded.one("run t").attributes or {}
    assert attributes["trackway.trial.seed"] == "…[truncated integer of 16610 bits]"


def test_a_run_that_is_taken_up_keeps_such_a_seed(recorded: Recorded) -> None:
    with trackway.run("t", seed=ID):
        carrier = trackway.carrier()
    with trackway.run(resume_from=carrier):
        pass
    assert {(span.attributes or {})["trackway.trial.seed"] for span in recorded.all} == {str(ID)}


def test_a_seed_that_another_process_carries_here_as_a_number_is_a_text(recorded: Recorded) -> None:
    with trackway.run("t", seed=7):
        carrier = trackway.carrier()
    carrier["trackway-run"] = carrier["trackway-run"].replace('"seed": 7', f'"seed": {ID}')
    recorded.clear()
    with trackway.carried(carrier):
        pay(1)
    assert (recorded.tool("pay").attributes or {})["trackway.trial.seed"] == str(ID)


def test_an_otlp_receiver_gets_all_that_our_spans_carry(
    recorded: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    with trackway.run("t", seed=2**63, model_size=ID):
        pay(ID)
        chat([], seed=ID)
    there = sent(recorded.all)
    assert [dict(s.attributes or {}) for s in there] == [
        dict(s.attributes or {}) for s in recorded.all
    ]
    assert caplog.messages == []


def test_an_otlp_receiver_gets_all_that_spans_of_others_carry(
    recorded: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    tracer = trace.get_tracer_provider().get_tracer("theirs")
    link = trace.Link(trace.INVALID_SPAN_CONTEXT, {"order": ID})
    span = tracer.start_span("call", attributes={"id": ID, "ids": [1, -ID], "n": 7}, links=[link])
    span.add_event("paid", {"amount": ID})
    span.end()
    (theirs,) = sent(recorded.all)
    assert theirs.attributes == {"id": str(ID), "ids": (1, str(-ID)), "n": 7}
    assert theirs.events[0].attributes == {"amount": str(ID)}
    assert theirs.links[0].attributes == {"order": str(ID)}
    assert caplog.messages == []


def test_a_resource_with_such_a_number_goes_out() -> None:
    resource = Resource({"build": ID, "host": "a"})
    assert Cleaner().resource(resource).attributes == {"build": str(ID), "host": "a"}
