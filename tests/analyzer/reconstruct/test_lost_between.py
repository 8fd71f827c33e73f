"""A span of the run's own that is not there may be open, or lost with others: calls, perhaps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from span_builder import Recording, call

from trackway_analyzer.rules import Executed, Never, State


def lost(record: Recording) -> tuple[int, list[State]]:
    """How many parents are missing between spans, and what `never` finds."""
    run = record.run()
    states = [finding.state for finding in Never("delete").check(run.batch)]
    own = ("missing_steps", "unfinished_span")
    return sum(gap.count for gap in run.gaps if gap.name in own), states


def below_an_agent(**columns: Any) -> Recording:
    record = Recording(service="shop")
    agent = record.agent("support")
    record.tool("lookup", {}, "done", agent)
    record.tool("lookup", {}, "done", **{"inside": "lost", **columns})
    return record


def test_a_parent_that_is_missing_inside_an_agent_may_have_been_a_call():
    assert lost(below_an_agent()) == (1, [State.INSUFFICIENT])


@pytest.mark.parametrize("service", ["orders", None])
def test_what_another_service_recorded_has_its_parent_there(service: str | None):
    assert lost(below_an_agent(service=service)) == (0, [])


@pytest.mark.parametrize("kind", ["SERVER", "CONSUMER"])
def test_what_another_process_called_has_its_parent_there(kind: str):
    assert lost(below_an_agent(kind=kind)) == (0, [])
    assert lost(below_an_agent(kind="CLIENT")) == (1, [State.INSUFFICIENT])


def test_what_began_behind_everything_else_was_called_from_elsewhere():
    assert lost(below_an_agent(at=20_000)) == (0, [])


def test_each_missing_parent_counts_once():
    record = below_an_agent()
    record.model("lost", told=[], says="done")
    record.model("lost too", told=[], says="done")
    assert lost(record)[0] == 2


def test_a_request_that_called_all_of_it_is_no_part_of_the_run():
    record = Recording(service="shop")
    agent = record.agent("support", "request")
    record.tool("lookup", {}, "done", agent)
    record.tool("lookup", {}, "done", "request")
    assert lost(record) == (0, [])


def test_an_agent_that_a_request_called_has_parents_of_its_own():
    record = Recording(service="shop")
    agent = record.agent("support", "request")
    record.tool("lookup", {}, "done", agent)
    record.tool("lookup", {}, "done", "lost")
    assert lost(record) == (1, [State.INSUFFICIENT])


def test_agents_that_requests_called_side_by_side_lack_nothing():
    record = Recording(service="shop")
    for request in ("one", "two", "three"):
        record.tool("lookup", {}, "done", record.agent("support", request))
    assert lost(record) == (0, [])


def test_calls_that_another_process_made_one_by_one_lack_nothing():
    record = Recording(service="mcp server")
    for request in ("one", "two", "three"):
        record.tool("lookup", {}, "done", request, kind="SERVER")
    assert lost(record) == (0, [])


LOCAL, REMOTE, NOT_TOLD = 0x101, 0x301, 0x1


def killed(flags: int | None) -> Recording:
    """What a process had exported when it died: the agent and its second call had not ended."""
    record = Recording(service="shop", flags=flags)
    record.model("agent", told=[], asks=[call("lookup", {}, "c1")])
    record.tool("lookup", {}, "done", "agent", call_id="c1")
    record.model("agent", told=[], asks=[call("delete", {}, "c2")])
    return record


@pytest.mark.parametrize("flags", [LOCAL, NOT_TOLD, None])
def test_where_the_agent_of_the_same_process_is_not_there_it_may_have_gone_on(flags: int | None):
    assert lost(killed(flags)) == (1, [State.INSUFFICIENT])


@pytest.mark.parametrize("flags", [LOCAL, NOT_TOLD, None])
def test_a_call_in_which_the_process_may_have_died_is_not_said_to_be_undone(flags: int | None):
    (finding,) = Executed("delete").check(killed(flags).run().batch)
    assert finding.state is State.INSUFFICIENT


def test_what_another_process_called_is_whole():
    assert lost(killed(REMOTE)) == (0, [])


def test_an_agent_that_ended_inside_something_that_did_not_is_not_all_of_its_run():
    record = Recording(service="shop", flags=LOCAL)
    record.tool("lookup", {}, "done", record.agent("first of two", "crew"))
    assert lost(record) == (1, [State.INSUFFICIENT])


@pytest.mark.parametrize("flags", [REMOTE, NOT_TOLD, None])
def test_an_agent_that_a_request_of_another_service_called_is_whole(flags: int | None):
    record = Recording(service="shop", flags=flags)
    record.tool("lookup", {}, "done", record.agent("support", "request"))
    assert lost(record) == (0, [])


def test_a_parent_of_the_same_process_that_is_lost_from_a_whole_trace_is_missed_once():
    record = Recording(service="shop")
    agent = record.agent("support")
    record.tool("lookup", {}, "done", agent, flags=LOCAL)
    record.tool("lookup", {}, "done", "lost", flags=LOCAL)
    assert lost(record) == (1, [State.INSUFFICIENT])


def test_a_run_with_an_id_is_told_by_its_clocks():
    record = Recording(service="shop", run_id="r")
    agent = record.agent("support", attributes={"trackway.schema.version": 1})
    record.tool("lookup", {}, "done", agent)
    record.tool("lookup", {}, "done", "lost")
    assert lost(record)[0] == 0
