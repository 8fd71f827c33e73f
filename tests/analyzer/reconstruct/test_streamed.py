"""A call whose result came in pieces: what it returned judges it, and one left early is open."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.span_builder import Recording, gaps, outline
from trackway_analyzer import Policy
from trackway_analyzer.check import check
from trackway_analyzer.reconstruct import reconstruct

LEFT = {"trackway.stream.abandoned": True, "trackway.stream.chunks": 1}


def streamed(pieces: Any, *, left: bool = False, returned: Any = None, **columns: Any) -> Recording:
    record = Recording()
    attributes: dict[str, Any] = LEFT if left else {"trackway.stream.chunks": 1}
    if returned is not None:
        attributes = attributes | {"trackway.stream.returned": json.dumps(returned)}
    record.tool("refund", {"id": 7}, pieces, attributes=attributes, **columns)
    return record


@pytest.mark.parametrize("kind", ["mutate", "notify", "other", None])
def test_a_stream_that_was_left_early_leaves_its_call_open(kind: str | None) -> None:
    run = streamed("contacting the gateway", left=True, tool_kind=kind).run()
    assert outline(run) == ["refund?"]
    assert [(gap.name, gap.position, gap.detail) for gap in run.gaps] == [
        ("missing_value", 0, "result: its stream was left before its end")
    ]


def test_a_lookup_gave_what_was_read_of_it() -> None:
    run = streamed(["A9128"], left=True, tool_kind="lookup").run()
    assert (outline(run), gaps(run)) == (["refund"], {})


def test_a_stream_that_was_left_after_it_told_of_a_failure_failed() -> None:
    run = streamed("Error: card declined", left=True, tool_kind="mutate").run()
    assert (outline(run), gaps(run)) == (["refund!"], {})


@pytest.mark.parametrize("ok", [True, False])
def test_a_declared_outcome_of_a_stream_that_was_left_stands(ok: bool) -> None:
    run = streamed("contacting", left=True, ok=ok).run()
    assert (run.steps[0].ok, gaps(run)) == (ok, {})


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ({"status": "failed"}, "refund!"),
        ({"status": "succeeded"}, "refund"),
        ({"status": "pending"}, "refund?"),
        ("Error: card declined", "refund!"),
        ({"usage": 3}, "refund"),
    ],
)
@pytest.mark.parametrize("pieces", ["working", ["Error: retrying"], "Error: retrying"])
def test_what_a_generator_returned_judges_its_call(returned: Any, said: str, pieces: Any) -> None:
    run = streamed(pieces, returned=returned).run()
    assert (outline(run), gaps(run)) == ([said], {})


def test_a_status_that_a_lookup_returned_is_that_of_the_thing() -> None:
    run = streamed(["page"], returned={"status": "failed"}, tool_kind="lookup").run()
    assert outline(run) == ["refund"]


def test_a_generator_that_raised_failed_whatever_it_gave() -> None:
    run = streamed("working", returned={"status": "succeeded"}, raises="ValueError").run()
    assert outline(run) == ["refund!"]


def test_a_stream_below_another_instrumentor_s_span_of_the_call_counts() -> None:
    record = Recording()
    outer = record.tool("refund", {"id": 7}, "working", scope="openinference")
    attributes = {"trackway.stream.returned": '{"status":"failed"}'}
    record.tool("refund", {"id": 7}, "working", outer, attributes=attributes)
    assert outline(record.run()) == ["refund!"]


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({"left": True}, "insufficient"),
        ({"returned": {"status": "failed"}}, "violated"),
        ({}, None),
    ],
)
def test_what_a_check_makes_of_it(more: dict[str, Any], state: str | None) -> None:
    record = streamed("contacting", tool_kind="mutate", **more)
    policy = Policy.from_yaml("version: 1\nrules:\n  - called: {tool: refund}\n")
    found = check(reconstruct(record.table()), policy).table["state"].to_pylist()
    assert found == ([] if state is None else [state])
