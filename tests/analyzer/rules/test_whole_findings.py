"""Beside its sentence a finding carries the step, what was expected, what came and what is near."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import (
    Accompanied,
    AdmitsFailure,
    After,
    Allowed,
    Answer,
    Approved,
    Arguments,
    AtLeast,
    AtMost,
    AtMostOnceBetween,
    Before,
    Between,
    Budget,
    Called,
    Claim,
    Continuity,
    Count,
    Deadline,
    Effects,
    Exact,
    Executed,
    Finding,
    First,
    Forbidden,
    Grounded,
    Immediately,
    InOrder,
    Last,
    Never,
    NoLoops,
    NoSecrets,
    NotAfter,
    NotTogether,
    Outcome,
    PartialOrder,
    Recovered,
    Responds,
    ResultUsed,
    Routed,
    Rule,
    Sequence,
    StepRegex,
    Terminal,
    Together,
    Until,
)
from trackway_analyzer.rules.sequence import UnknownKind

Whole = tuple[int | None, Any, Any, str | None]
"""Step, expected, got, nearest."""


Find = Callable[..., Finding]


@pytest.fixture
def finding(behind: Callable[[RunBatch], RunBatch]) -> Find:
    """The one finding of a run, which is the same where another run stands before it."""

    def find(rule: Rule, run: Any, **about: Any) -> Finding:
        if isinstance(run, list):
            run = trajectory_of(run, **{"final_text": "", **about})
        batch = run.batch if isinstance(run, Trajectory) else run
        (result,) = rule.check(batch)
        found = rule.explain(batch, result)
        second = behind(batch)
        (again,) = (result for result in rule.check(second) if result.run == 1)
        assert rule.explain(second, again) == found
        return found

    return find


def whole(found: Finding) -> Whole:
    return found.step, found.expected, found.got, found.nearest


def word(text: str) -> list[dict[str, Any]]:
    """Letters are successful calls, each in a turn of its own; upper case: failed."""
    return [{"tool": letter.lower(), "ok": letter.islower()} for letter in text]


@pytest.mark.parametrize(
    ("rule", "run", "expected"),
    [
        (Called("a"), "b", (None, 1, 0, None)),
        (Called("a"), "A", (None, 1, 0, None)),
        (Called("a", times=3), "aab", (None, 3, 2, None)),
        (Never("a"), "ba", (2, None, "a", None)),
        (First("a"), "ba", (1, "a", "b", None)),
        (First("a"), "", (None, "a", None, None)),
        (Last("a"), "ab", (2, "a", "b", None)),
        (Last("a"), "", (None, "a", None, None)),
        (Before("a", "b"), "cba", (2, "a before step 2", None, None)),
        (Before("a", "b", required=True), "c", (None, "a", None, None)),
        (After("b", "a"), "b", (1, "a before step 1", None, None)),
        (NotAfter("b", "a"), "cab", (3, None, None, None)),
        (Responds("a", "b"), "ba", (2, "b", None, None)),
        (Immediately("a", "b"), "acb", (1, "b", "c at step 2", None)),
        (Immediately("a", "b"), "ca", (2, "b", "nothing", None)),
        (Accompanied("a", "b"), "a", (1, "b", None, None)),
        (Together("a", "b"), "Ab", (2, "a", None, None)),
        (NotTogether("a", "b"), "ba", (2, None, None, None)),
        (Between("x", "a", "b"), "abx", (3, None, None, None)),
        (Between("x", "a", "b"), "x", (1, "a before step 1", None, None)),
        (AtMostOnceBetween("x", "a", "b"), "axx", (3, 1, 2, None)),
        (Until("a", "b"), "ac", (2, ["a"], "c", None)),
        (Until("a", "b", required=True), "aB", (None, "b", None, None)),
        (Recovered("a"), "bA", (2, "a", None, None)),
        (Recovered("a", by=("c", "d")), "A", (1, "a or c or d", None, None)),
        (StepRegex("a b"), "ac", (None, "b", None, None)),
        (StepRegex("a b", extra="forbid"), "ac", (2, "b", "c", None)),
        (StepRegex("a b", extra="forbid"), "abc", (3, "nothing more", "c", None)),
        (StepRegex("a b"), "a", (None, "b", None, None)),
        (PartialOrder([("a", "b")]), "ba", (1, "a before b", None, None)),
        (PartialOrder([("a", "b")]), "b", (None, "a", None, None)),
        (Forbidden("a"), "ba", (2, None, "a", None)),
        (Allowed(["a", "c"]), "ab", (2, None, "b", None)),
        (Approved("a", by="b"), "ab", (1, "b", None, None)),
        (Count("a", min=2), "a", (1, "at least 2", 1, None)),
        (Count("a", max=1), "aba", (3, "at most 1", 2, None)),
        (Count("a", min=1), "b", (None, "at least 1", 0, None)),
        (Terminal("a"), "ab", (2, "a", "b", None)),
        (Terminal("a"), "", (None, "a", None, None)),
        (Budget(steps=1), "aaa", (2, 1, 3, None)),
    ],
)
def test_of_what_was_called_when(finding: Find, rule: Rule, run: str, expected: Whole) -> None:
    assert whole(finding(rule, word(run))) == expected


def made(tool: str, arguments: Any = None, result: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments or {}, "result": result, **more}


SCHEMA = {"properties": {"x": {"type": "integer"}}}
NO = {"ok": False, "error": "no funds"}


@pytest.mark.parametrize(
    ("rule", "run", "text", "expected"),
    [
        (Arguments("a", {"x": 1}), [made("a", {"x": 2})], "", (1, 1, 2, None)),
        (Arguments("a", {"x": 1}), [made("a")], "", (1, 1, None, None)),
        (
            Arguments("a", {"x": 1}, exact=True),
            [made("a", {"x": 1, "y": 2})],
            "",
            (1, None, 2, None),
        ),
        (Arguments("a", absent=["y"]), [made("a", {"y": 2})], "", (1, None, 2, None)),
        (Arguments("a", regex={"x": "^a"}), [made("a", {"x": "b"})], "", (1, "^a", "b", None)),
        (Arguments("a", one_of={"x": [1, 3]}), [made("a", {"x": 2})], "", (1, [1, 3], 2, None)),
        (Arguments("a", within={"x": (1, 0.5)}), [made("a", {"x": 2})], "", (1, 1, 2, None)),
        (Arguments("a", schema=SCHEMA), [made("a", {"x": "2"})], "", (1, "integer", "2", None)),
        (Arguments("a", {"x": 1}, calls="any"), [made("b")], "", (None, "a", None, None)),
        (Count("a", max=1, per="x"), [made("a", {"x": 1})] * 2, "", (2, "at most 1", 2, None)),
        (Count("a", exactly=2), [made("a")], "", (1, "2", 1, None)),
        (NoLoops(), [made("b"), *[made("a")] * 3], "", (4, None, 3, None)),
        (Claim("refunded", "a"), [], "I refunded it.", (None, "a", None, None)),
        (
            Claim("refunded", "aba"),
            [made("abb")],
            "I refunded it.",
            (None, "aba", None, "abb at step 1"),
        ),
        (Claim("refunded", "a"), [made("a", result=NO)], "I refunded it.", (1, "a", None, None)),
        (
            Claim(r"refunded (?P<x>\d+)", "a"),
            [made("a", {"x": 5}), made("a", {"x": 6}), made("b")],
            "I refunded 7.",
            (2, "7", 6, "a at step 2"),
        ),
        (
            AdmitsFailure(),
            [made("refund", result=NO)],
            "I refunded it.",
            (1, None, "I refunded it", None),
        ),
        (ResultUsed("a"), [made("b"), made("a", result="A123")], "", (2, None, None, None)),
        (Answer("thanks"), [], "Bye.", (None, "thanks", None, None)),
        (Answer(matches="than.s"), [], "Bye.", (None, "than.s", None, None)),
        (Answer(agrees={r"is (\S+)": "a.x"}), [], "It is 5.", (None, None, "5.", None)),
        (
            Answer(agrees={r"is (\S+) now": "a.x"}),
            [made("a", result={"x": 6})],
            "It is 5 now.",
            (None, 6, "5", None),
        ),
        (
            Grounded("a", "id", "b.id"),
            [made("b", result={"id": "A1"}), made("a", {"id": "A2"})],
            "",
            (2, None, "A2", '"A1" from b at step 1'),
        ),
        (Grounded("a", "id", "b.id"), [made("a", {"id": "A2"})], "", (1, None, "A2", None)),
        (
            Grounded("a", "order_id", "b.id"),
            [made("a", {"orderId": "A2"})],
            "",
            (1, "order_id", None, "orderId"),
        ),
        (
            Exact([{"tool": "a", "arguments": {"x": 1}}]),
            [made("a", {"x": 2})],
            "",
            (1, 1, 2, "a at step 1"),
        ),
        (Exact([{"tool": "a", "arguments": {"x": 1}}]), [], "", (None, "a", None, None)),
        (
            Exact([{"tool": "a"}, {"tool": "b"}]),
            [made("b"), made("a")],
            "",
            (1, "b", None, "b at step 1"),
        ),
        (
            InOrder([{"tool": "a"}], extra="forbid"),
            [made("a"), made("b")],
            "",
            (2, None, "b", None),
        ),
        (AtMost([{"tool": "a"}]), [made("a"), made("b")], "", (2, None, "b", None)),
        (AtLeast([{"tool": "a"}]), [made("b")], "", (None, "a", None, None)),
    ],
)
def test_of_values_and_texts(
    finding: Find, rule: Rule, run: Any, text: str, expected: Whole
) -> None:
    assert whole(finding(rule, run, final_text=text)) == expected


def event(name: str, **attributes: Any) -> dict[str, Any]:
    said = orjson.dumps(attributes).decode()
    return {
        "name": f"trackway.{name}",
        "time": datetime(2026, 1, 5, tzinfo=UTC),
        "attributes": said,
    }


@pytest.mark.parametrize(
    ("rule", "about", "expected"),
    [
        (Outcome(), {"outcome_success": False}, (None, True, False, None)),
        (
            Outcome(None, label="won"),
            {"outcome_label": "lost"},
            (None, "won", "lost", None),
        ),
        (
            Deadline(),
            {"end": datetime(2026, 1, 5, 10, tzinfo=UTC), "deadline": "2026-01-05T09:59:58Z"},
            (None, None, 2.0, None),
        ),
        (
            Continuity("d1"),
            {"events": [event("continuity", present=[])]},
            (None, ["d1"], None, None),
        ),
        (
            Routed(),
            {"events": [event("wait", owner="ops")]},
            (None, ["deadline", "resume_token"], None, None),
        ),
    ],
)
def test_of_the_run_as_a_whole(
    finding: Find, run_of: Callable[..., Any], rule: Rule, about: dict[str, Any], expected: Whole
) -> None:
    assert whole(finding(rule, run_of([{"tool": "a"}], **about))) == expected


def test_of_an_operation_that_took_effect_twice(finding: Find) -> None:
    run = [made("refund", kind="mutate", operation_id="a")] * 2

    assert whole(finding(Effects(), run)) == (2, 1, 2, None)


def test_of_a_secret(finding: Find) -> None:
    run = [made("a"), made("b", {"password": "hunter2"})]

    assert whole(finding(NoSecrets(), run)) == (2, None, "$.password", None)


def test_of_a_call_that_nobody_ran(finding: Find, run_of: Callable[..., Any]) -> None:
    run = run_of([{"tool": "b"}, {"tool": "a", "requested": True, "executed": False}])

    assert whole(finding(Executed(), run)) == (2, "a", None, None)


def test_of_an_answer_that_was_made_up(finding: Find) -> None:
    found = finding(Answer(grounded=True), [], input="hi", final_text="It is A123.")

    assert whole(found) == (None, None, "A123", None)


def test_of_an_extra_call_of_unknown_kind() -> None:
    batch = trajectory_of([made("look"), made("ponder")], final_text="").batch
    rule = UnknownKind(Sequence(("look",)))
    (result,) = rule.check(batch)

    assert whole(rule.explain(batch, result)) == (2, None, "ponder", None)
