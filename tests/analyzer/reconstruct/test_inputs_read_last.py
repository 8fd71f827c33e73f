"""Leaving the inputs of models unread changes nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.span_builder import Message, Recording, answered, asked, call, outline, user
from trackway_analyzer.reconstruct import reconstruct, requests


def conversation(seed: int) -> Recording:
    """A run as a recorder of ours would write it, with now and then a flaw."""
    chance = random.Random(seed)
    record = Recording(run_id="r1", resource="{}")
    boss = record.agent("boss")
    record.agent("expert", boss)
    history: dict[str, list[Message]] = {boss: [user("go")], "s2": [user("sub task")]}
    for turn in range(chance.randrange(1, 5)):
        agent = chance.choice([boss, boss, "s2"])
        ids = [f"c{turn}{place}" for place in range(chance.randrange(3))]
        if chance.random() < 0.1:
            ids = ["same" for _ in ids]
        calls = [call("lookup", {"id": chance.randrange(2)}, id) for id in ids]
        flaw = chance.random()
        told = history[agent] if flaw > 0.05 else None
        record.model(agent, told=told, asks=calls, says="hm")
        history[agent] = [*history[agent], asked(*calls)]
        for part in calls:
            found = chance.choice(["found", {"error": "busy"}])
            marks: dict[str, Any] = {"is_error": True} if chance.random() < 0.05 else {}
            history[agent].append(answered(part["id"], found, **marks))
            if chance.random() < 0.95:
                result = found if chance.random() < 0.95 else None
                named = part["id"] if chance.random() < 0.7 else None
                record.tool("lookup", part["arguments"], result, agent, call_id=named)
    return record


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_run_is_the_same_whether_its_inputs_are_read_or_not(seed: int):
    spans = conversation(seed).table()
    short = reconstruct(spans)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests, "_suffices", lambda *_: False)
        full = reconstruct(spans)
    assert short.steps.to_pylist() == full.steps.to_pylist()
    assert short.runs.to_pylist() == full.runs.to_pylist()


def test_inputs_of_a_whole_record_are_left_unread(monkeypatch: pytest.MonkeyPatch):
    record = Recording()
    agent = record.agent("support")
    lookup = call("lookup", {"id": 7}, "c1")
    record.model(agent, told=[user("go")], asks=[lookup])
    record.tool("lookup", {"id": 7}, "found", agent, call_id="c1")
    record.model(agent, told=[user("go"), asked(lookup), answered("c1", "found")], says="done")
    monkeypatch.setattr(requests, "_heard", lambda *_: pytest.fail("the inputs were read"))
    assert record.run().tools == ["lookup"]


def test_a_result_read_before_its_call_began_is_worth_reading():
    record = Recording()
    agent = record.agent("support")
    lookup = call("lookup", {"id": 7}, "c1")
    record.model(agent, told=[user("go")], asks=[lookup], at=10)
    told = [user("go"), asked(lookup), answered("c1", "found")]
    record.model(agent, told=told, says="done", at=20)
    record.tool("lookup", {"id": 7}, "found", agent, call_id="c1", at=30)
    assert outline(record.run()) == ["llm", "lookup", "llm"]
