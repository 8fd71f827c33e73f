"""A call that waited for a person: what it gives back may be that person's words, no effect."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from analyzer.span_builder import EPOCH, MS, Recording, call, gaps, outline
from trackway_analyzer import Policy
from trackway_analyzer.check import check
from trackway_analyzer.reconstruct import reconstruct

NO = "Nope, not this time, mate"
REFUND = {"order": 7}
REQUESTS = json.dumps({"action_requests": [{"name": "refund", "args": REFUND}]})
PAID = {"id": "re_1", "status": "succeeded"}


def event(name: str, at: float, **said: Any) -> dict[str, Any]:
    return {
        "name": f"trackway.{name}",
        "time": EPOCH + int(at * MS),
        "attributes": json.dumps(said),
    }


def taken_up(result: Any, *, stopped: bool = True, wait: Any = None, **more: Any) -> Recording:
    """A refund that LangGraph interrupted at 30 ms, and that ran anew at 130, after the resume."""
    resume = {key: more.pop(key) for key in ("reason", "granted", "resume_token") if key in more}
    record = Recording(run_id="r1")
    events = [] if wait is None else [event("wait", 50, **wait)]
    first = record.span("workflow", at=0, lasts=60, events=events)
    if stopped:
        record.tool("refund", REFUND, None, first, at=30, raises="langgraph.errors.GraphInterrupt")
    events = [event("resume", 110, **resume)]
    attributes = {"trackway.schema.version": "1"}
    second = record.span("workflow", at=100, lasts=90, events=events, attributes=attributes)
    record.tool("refund", REFUND, result, second, at=130, **more)
    return record


@pytest.mark.parametrize(
    "result",
    [
        NO,
        f"  {NO.upper()} ",
        f"The reviewer said: {NO}.",
        {"answer": NO, "by": "alice"},
        {"messages": [{"content": NO}]},
    ],
)
def test_the_words_of_a_resume_are_no_effect(result: Any) -> None:
    run = taken_up(result, reason=NO).run()
    assert outline(run) == ["refund?"]
    assert [(gap.name, gap.position, gap.detail) for gap in run.gaps] == [
        ("missing_value", 0, "result: what a person answered to the wait stands in its place")
    ]


def test_words_inside_what_was_answered_as_json() -> None:
    reason = json.dumps({"decisions": [{"type": "reject", "message": NO}]})
    assert outline(taken_up(NO, reason=reason).run()) == ["refund?"]


@pytest.mark.parametrize(
    ("result", "word"), [("no", "refund?"), ({"answer": "no"}, "refund?"), ("no refund", "refund")]
)
def test_one_word_must_be_all_that_the_result_says(result: Any, word: str) -> None:
    assert outline(taken_up(result, reason="no").run()) == [word]
    assert outline(taken_up({"status": "ok", "id": "re_1"}, reason="ok").run()) == ["refund"]


def test_a_result_of_its_own_counts_as_ever() -> None:
    run = taken_up(PAID, reason="approved by alice").run()
    assert outline(run) == ["refund"]
    assert run.gaps == ()


def test_where_the_answer_was_a_yes_the_result_counts() -> None:
    assert outline(taken_up("go ahead please", reason="go ahead please").run()) == ["refund?"]
    run = taken_up("go ahead please", reason="go ahead please", granted=True).run()
    assert outline(run) == ["refund"]


def test_a_declared_success_decides() -> None:
    assert outline(taken_up(NO, reason=NO, ok=True).run()) == ["refund"]
    assert outline(taken_up(NO, reason=NO, granted=False, ok=True).run()) == ["refund"]


def test_a_lookup_asks_to_get_an_answer() -> None:
    run = taken_up(NO, reason=NO, granted=False, tool_kind="lookup").run()
    assert outline(run) == ["refund"]


def test_a_call_that_was_given_the_words_gives_them_back() -> None:
    record = taken_up(PAID, reason=NO)
    record.tool("note", {"text": NO}, {"saved": NO}, "s3")
    assert outline(record.run()) == ["refund", "note"]


def test_a_call_that_ended_before_knew_no_answer() -> None:
    record = taken_up(PAID, reason=NO)
    record.tool("say", {}, NO, "s1", at=35)
    assert outline(record.run()) == ["say", "refund"]


def test_words_of_another_run_say_nothing() -> None:
    record = taken_up(PAID, reason=NO)
    record.tool("refund", REFUND, NO, run_id="r2", trace="t2")
    assert [outline(run) for run in record.runs()] == [["refund"], ["refund"]]


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (NO, "refund!"),
        ("not approved", "refund!"),
        (None, "refund!"),
        ({"reply": NO}, "refund?"),
        ({"status": "declined"}, "refund!"),
        (PAID, "refund?"),
    ],
)
def test_a_call_that_was_interrupted_and_refused(result: Any, word: str) -> None:
    reason = {} if isinstance(result, dict) else {"reason": NO}
    assert outline(taken_up(result, granted=False, **reason).run()) == [word]


def test_a_refused_call_that_gives_the_words_back_in_an_object() -> None:
    assert outline(taken_up({"reply": NO}, reason=NO, granted=False).run()) == ["refund!"]


def test_the_next_call_like_the_refused_one_is_another() -> None:
    record = taken_up("later", granted=False)
    record.tool("refund", REFUND, "done", "s3", at=150)
    record.tool("other", REFUND, "done", "s3", at=160)
    assert outline(record.run()) == ["refund!", "refund", "other"]


@pytest.mark.parametrize(
    ("wait", "token", "word"),
    [
        ({"resume_token": "w1", "reason": 'refund({"order": 7})'}, "w1", "refund!"),
        ({"resume_token": "w1", "reason": 'refund({"order": 7})'}, None, "refund!"),
        ({"resume_token": "w1", "reason": 'refund({"order": 7})'}, "w2", "refund"),
        ({"resume_token": "w1", "reason": 'refund({"order": 8})'}, "w1", "refund"),
        ({"reason": REQUESTS}, None, "refund!"),
        ({"resume_token": "c1"}, None, "refund!"),
        ({"reason": "amount over the limit"}, None, "refund"),
    ],
)  # fmt: skip
def test_a_wait_that_names_the_call(wait: Any, token: str | None, word: str) -> None:
    more = {} if token is None else {"resume_token": token}
    record = taken_up("fine", stopped=False, wait=wait, granted=False, call_id="c1", **more)
    assert outline(record.run()) == [word]


def test_a_token_that_is_the_id_of_the_call() -> None:
    named = {"stopped": False, "granted": False, "resume_token": "c1"}
    assert outline(taken_up("fine", call_id="c1", **named).run()) == ["refund!"]
    assert outline(taken_up("fine", call_id="c2", **named).run()) == ["refund"]


def test_a_tool_that_waits_itself() -> None:
    record = Recording()
    refused = [event("resume", 12, granted=False)]
    record.tool("refund", REFUND, "a voucher then", lasts=20, at=0, events=refused)
    record.tool("refund", REFUND, "done", at=30)
    assert outline(record.run()) == ["refund!", "refund"]


def test_an_answer_in_the_stead_of_a_refused_call_is_none_of_its_result() -> None:
    """A call without a span in a run whose calls have some, as OpenAI Agents answer for it."""
    record = taken_up(PAID, stopped=False, wait={"resume_token": "c2"}, granted=False)
    asks = [call("cancel", {}, "c2")]
    record.model("s1", told=[], asks=asks, at=35)
    part = {"type": "tool_call_response", "id": "c2", "response": "a voucher then"}
    record.model("s2", told=[{"role": "tool", "parts": [part]}], says="done", at=150)
    run = record.run()
    assert "cancel-" in outline(run)
    assert [step.ok for step in run if step.tool == "cancel"] == [False]
    assert "tools_not_observable" not in gaps(run)


def verdict(spans: pa.Table) -> str:
    rules = "version: 1\nrules:\n  - claim: {says: refunded, needs: refund}\n"
    return check(reconstruct(spans), Policy.from_yaml(rules)).verdict.value


@pytest.mark.parametrize(
    ("result", "granted", "expected"),
    [
        (PAID, None, "pass"),
        (NO, None, "insufficient"),
        (NO, True, "pass"),
        (NO, False, "violation"),
    ],
)
def test_what_a_claim_is_judged_by(result: Any, granted: bool | None, expected: str) -> None:
    record = taken_up(result, reason=NO, granted=granted)
    for row in record.rows:
        if row["operation"] == "workflow":
            row |= {"source": "trackway", "output": "I refunded it."}
    assert verdict(record.table()) == expected
