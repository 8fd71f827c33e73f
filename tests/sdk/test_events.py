"""Events hang on the innermost step or run of ours."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from opentelemetry import trace

import trackway

DEADLINE = datetime(2030, 1, 2, tzinfo=UTC)
EVENTS = [
    (
        lambda: trackway.decision(["refund", "deny"], "refund", "eligible"),
        "trackway.decision",
        {"candidates": '["refund","deny"]', "chosen": "refund", "reason": "eligible"},
    ),
    (
        lambda: trackway.state("order", {"paid": True}, {"paid": False}),
        "trackway.state",
        {"name": "order", "before": '{"paid":true}', "after": '{"paid":false}'},
    ),
    (
        lambda: trackway.wait("alice", deadline=DEADLINE, resume_token="r1", reason="approval"),
        "trackway.wait",
        {
            "owner": "alice",
            "deadline": "2030-01-02T00:00:00+00:00",
            "resume_token": "r1",
            "reason": "approval",
        },
    ),
    (lambda: trackway.resume("r1"), "trackway.resume", {"resume_token": "r1"}),
    (
        lambda: trackway.resume("r1", reason="not this time", granted=False),
        "trackway.resume",
        {"resume_token": "r1", "reason": "not this time", "granted": False},
    ),
    (
        lambda: trackway.effect("refund", operation_id="op1", entity="order:1", applied=True),
        "trackway.effect",
        {"operation": "refund", "operation_id": "op1", "entity": "order:1", "applied": True},
    ),
    (
        lambda: trackway.context(900, 1000, dropped_messages=2, truncated=True),
        "trackway.context",
        {"tokens": 900, "limit": 1000, "dropped_messages": 2, "truncated": True},
    ),
    (
        lambda: trackway.continuity(["d1", "d2"], ["d1"], digest="abc"),
        "trackway.continuity",
        {"required": '["d1","d2"]', "present": '["d1"]', "digest": "abc"},
    ),
]


@pytest.mark.parametrize(("call", "name", "fields"), EVENTS, ids=[e[1] for e in EVENTS])
def test_an_event_hangs_on_the_step_that_it_happened_in(
    recorded: Any, call: Any, name: str, fields: dict[str, Any]
) -> None:
    @trackway.tool
    def work() -> None:
        with trace.get_tracer("framework").start_as_current_span("in between"):
            call()

    with trackway.run("t"):
        work()
    (event,) = recorded.tool("work").events
    assert event.name == name
    assert dict(event.attributes) == fields
    assert recorded.one("in between").events == ()


@pytest.mark.parametrize(("call", "name", "fields"), EVENTS, ids=[e[1] for e in EVENTS])
def test_outside_a_step_an_event_hangs_on_the_run(
    recorded: Any, call: Any, name: str, fields: dict[str, Any]
) -> None:
    with trackway.run("t"):
        call()
    (event,) = recorded.one("run t").events
    assert (event.name, dict(event.attributes)) == (name, fields)


@pytest.mark.parametrize(("call", "name", "fields"), EVENTS, ids=[e[1] for e in EVENTS])
def test_outside_any_run_an_event_is_nothing(
    recorded: Any, call: Any, name: str, fields: dict[str, Any]
) -> None:
    call()
    assert recorded.all == []


def test_an_event_is_redacted(recorded: Any) -> None:
    with trackway.run("t"):
        trackway.decision(reason="the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB")
    (event,) = recorded.one("run t").events
    assert "abcdefghijklmnop" not in event.attributes["reason"]


def test_many_large_events_stay_within_the_bound_of_a_span(recorded: Any) -> None:
    with trackway.run("t"):
        for _ in range(100):
            trackway.state("blob", after="x" * 60_000)
    span = recorded.one("run t")
    size = sum(len(str(value)) for event in span.events for value in event.attributes.values())
    assert len(span.events) == 100
    assert size <= 1 << 20
    assert "events" in span.attributes["trackway.truncated"]


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError


def test_an_awkward_value_in_an_event_harms_nobody(recorded: Any) -> None:
    with trackway.run("t"):
        trackway.state("x", before=Hostile(), after={1, 2})
    (event,) = recorded.one("run t").events
    assert event.attributes["after"] == "[1,2]"


def test_with_content_off_names_and_ids_remain_and_an_owner_is_a_hash(recorded: Any) -> None:
    recorded.configure(capture_content=False)
    with trackway.run("t"):
        trackway.wait("alice", resume_token="r1", reason="approval")
        trackway.effect("refund", entity="order:1", ledger="row 7")
        trackway.outcome(False, label="refused", failure_mode="limit", state={"paid": 0})
    span = recorded.one("run t")
    wait, effect = (dict(event.attributes) for event in span.events)
    assert "alice" not in str(wait)
    assert wait["trackway.content.sha256.owner"].startswith("hmac-sha256:")
    assert wait["resume_token"] == "r1"
    assert effect["entity"] == "order:1"
    assert "ledger" not in effect
    assert span.attributes["trackway.outcome.label"] == "refused"
    assert "trackway.outcome.state" not in span.attributes
