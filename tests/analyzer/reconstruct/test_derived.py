"""Decisions and cut contexts: recorded ones stand, others are derived and say so."""

from __future__ import annotations

import json
from typing import Any

from analyzer.span_builder import EPOCH, Recording, answered, asked, call, said, user
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.reconstruct.derived import cuts, decisions


def event(name: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "time": EPOCH, "attributes": json.dumps(attributes)}


def decided(record: Recording) -> list[tuple[list[str], bool]]:
    table = decisions(reconstruct(record.table()))
    return [(row["chosen"], row["derived"]) for row in table.to_pylist()]


def signs(record: Recording) -> list[tuple[int, str, bool]]:
    table = cuts(reconstruct(record.table()))
    return [(row["position"], row["sign"], row["derived"]) for row in table.to_pylist()]


def test_each_model_turn_decides_for_the_calls_it_asks_for():
    record = Recording()
    agent = record.agent("support")
    record.model(agent, asks=[call("b", {}, "c1"), call("a", {}, "c2")])
    record.tool("a", {}, "done", agent, call_id="c2")
    record.tool("b", {}, "done", agent, call_id="c1")
    record.model(agent, says="done")
    assert decided(record) == [(["b", "a"], True), ([], True)]


def test_a_turn_that_recorded_nothing_decided_nothing_that_we_know():
    record = Recording()
    record.model(tokens_in=5)
    assert decided(record) == []


def test_a_recorded_decision_stands():
    record = Recording()
    chosen = event("trackway.decision", chosen='["refund"]', reason="order is late")
    record.model(says="I refund.", events=[chosen])
    assert decided(record) == [(["refund"], False)]


def test_a_turn_that_stopped_for_length_was_cut():
    record = Recording()
    record.model(says="and then", finish_reasons=["length"])
    assert signs(record) == [(0, "length", True)]


def test_fewer_tokens_than_the_turn_before_are_a_sign():
    record = Recording()
    agent = record.agent("support")
    for tokens in (100, 200, 150):
        record.model(agent, says="hm", tokens_in=tokens)
    assert signs(record) == [(2, "tokens", True)]


def test_a_history_that_does_not_begin_as_the_one_before_is_a_sign():
    record = Recording()
    agent = record.agent("support")
    lookup = call("lookup", {}, "c1")
    record.model(agent, told=[user("go")], asks=[lookup])
    record.tool("lookup", {}, "found", agent, call_id="c1")
    told = [user("go"), asked(lookup), answered("c1", "found")]
    record.model(agent, told=told, says="hm")
    record.model(agent, told=[*told[1:], said("hm"), user("and?")], says="done")
    assert signs(record) == [(3, "messages", True)]


def test_each_agent_is_compared_with_itself():
    record = Recording()
    boss = record.agent("boss")
    record.model(boss, told=[user("go")], says="hm", tokens_in=100)
    record.model(record.agent("expert", boss), told=[user("sub")], says="hm", tokens_in=10)
    assert signs(record) == []


def test_a_recorded_cut_stands():
    record = Recording()
    record.model(says="hm", events=[event("trackway.context", truncated=True, dropped_messages=3)])
    assert signs(record) == [(0, "recorded", False)]
