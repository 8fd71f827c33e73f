"""What hides an answer is named in the sentence: which gap, at which step."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.rules import (
    AdmitsFailure,
    Allowed,
    Answer,
    Approved,
    Arguments,
    AtLeast,
    Before,
    Called,
    Claim,
    Count,
    Effects,
    Exact,
    Executed,
    Forbidden,
    Grounded,
    Never,
    NoLoops,
    NoSecrets,
    Recovered,
    ResultUsed,
    Rule,
    State,
    StepRegex,
    Terminal,
)

SAYS = r"refunded (?P<x>\d+)"
FAILED = {"error": "no funds"}
MISSING = Gap("missing_steps")


def made(tool: str, arguments: Any = None, result: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments or {}, "result": result, **more}


def blind(tool: str) -> dict[str, Any]:
    """A successful call of which neither arguments nor result were recorded."""
    return {"tool": tool, "ok": True}


Behind = Callable[[RunBatch], RunBatch]


def named(rule: Rule, run: Trajectory, behind: Behind) -> str:
    """The sentence where nobody can decide; it names the step of the finding."""
    (result,) = rule.check(run.batch)
    found = rule.explain(run.batch, result)
    step = re.match(r"(?:.* did it cannot be judged: a value of )?step (\d+)", found.sentence)
    assert found.state is State.INSUFFICIENT
    assert found.step == (None if step is None else int(step[1]))
    second = behind(run.batch)
    (again,) = (result for result in rule.check(second) if result.run == 1)
    assert rule.explain(second, again) == found
    return found.sentence


@pytest.mark.parametrize(
    ("rule", "run", "gap", "sentence"),
    [
        (
            Approved("pay", "ask"),
            [made("pay")],
            Gap("missing_steps", position=0),
            "step 1 pay: approval by ask cannot be judged: missing_steps hides what decides",
        ),
        (
            Approved("pay", "ask"),
            [made("ask"), made("pay")],
            MISSING,
            "step 2 pay: approval by ask cannot be judged: missing_steps hides what decides",
        ),
        (
            Approved("pay", "ask", "id"),
            [made("x"), blind("ask"), made("pay", {"id": 7})],
            None,
            "step 3 pay: approval by ask cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Approved("pay", "ask", "id"),
            [made("x"), made("ask", {"id": 7}), blind("pay")],
            None,
            "step 3 pay: approval by ask cannot be judged: a value of step 3 was not recorded",
        ),
        (
            Approved("pay", "ask", granted="$.yes"),
            [made("x"), blind("ask"), made("pay")],
            None,
            "step 3 pay: approval by ask cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Approved("pay", "ask"),
            [made("x"), {"tool": "ask", "arguments": {}}, made("pay")],
            None,
            "step 3 pay: approval by ask cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Approved("pay", "ask"),
            [made("x"), made("ask", result={"status": "pending"}, kind="mutate"), made("pay")],
            None,
            "step 3 pay: approval by ask cannot be judged: a value of step 2 was neither a yes nor"
            " a no",
        ),
        (
            Approved("pay", "ask", "id"),
            [blind("ask"), blind("ask"), made("pay", {"id": 7}), made("pay", {"id": 8})],
            None,
            "step 3 pay: approval by ask cannot be judged: a value of step 1 was not recorded",
        ),
        (
            Approved("pay", "ask", "id"),
            [made("ask", {"q": "[redacted:email]"}), made("pay", {"id": 7})],
            None,
            "step 2 pay: approval by ask cannot be judged: a value of step 1 was redacted",
        ),
        (
            Arguments("a", {"x": 1}),
            [made("b"), blind("a")],
            None,
            "step 2 a: arguments cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Arguments("a", {"x": 1}),
            [made("b"), blind("a"), blind("a")],
            None,
            "step 2 a: arguments cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Arguments("a", {"x": 1}),
            [made("a", {"x": 1})],
            MISSING,
            "no call of a was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Arguments("a", {"x": 1}, calls="any"),
            [made("b"), blind("a"), made("a", {"x": 2})],
            None,
            "step 3 a: arguments cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Arguments("a", {"x": 1}, calls="any"),
            [made("b")],
            MISSING,
            "no call of a was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Arguments("a", {"x": 1}, calls="first"),
            [made("b"), made("a", {"x": 2})],
            Gap("missing_steps", position=0),
            "no call of a was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Arguments("a", {"x": 1}, calls="first"),
            [made("b"), made("a", {"x": 1})],
            Gap("missing_steps", position=0),
            "no call of a was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Arguments("a", {"x": 1}, calls="last"),
            [made("a", {"x": 2}), made("b")],
            Gap("missing_steps", position=1),
            "no call of a was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Arguments("a", {"x": 1}, calls="last"),
            [made("a", {"x": 1}), made("b")],
            Gap("missing_steps", position=1),
            "no call of a was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Count("a", min=2),
            [made("a")],
            MISSING,
            "how often a came cannot be judged: missing_steps hides what decides",
        ),
        (
            Count("a", max=1),
            [made("a")],
            MISSING,
            "how often a came cannot be judged: missing_steps hides what decides",
        ),
        (
            Count("a", max=1, effects=True),
            [made("a"), {"tool": "a", "arguments": {}}],
            None,
            "how often a came cannot be judged: a value was not recorded",
        ),
        (
            Count("a", min=2, effects=True),
            [made("a"), {"tool": "a", "arguments": {}}],
            None,
            "how often a came cannot be judged: a value was not recorded",
        ),
        (
            Count("a", max=1, per="x"),
            [made("a", {"x": 1}), blind("a")],
            None,
            "how often a came cannot be judged: a value was not recorded",
        ),
        (
            Count("a", min=2, per="x"),
            [made("a", {"x": 1}), blind("a")],
            None,
            "how often a came cannot be judged: a value was not recorded",
        ),
        (
            NoLoops(),
            [made("a")],
            MISSING,
            ("whether the run repeats itself cannot be judged: missing_steps hides what decides"),
        ),
        (
            NoLoops(),
            [made("b"), blind("a"), blind("a"), blind("a")],
            None,
            ("whether the run repeats itself cannot be judged: a value of step 2 was not recorded"),
        ),
        (
            ResultUsed("find"),
            [made("b"), blind("find")],
            None,
            (
                "step 2 find: whether its result was used cannot be judged: a value of step 2"
                " was not recorded"
            ),
        ),
        (
            ResultUsed("find"),
            [made("b"), made("find", result="A123"), blind("use")],
            None,
            (
                "step 2 find: whether its result was used cannot be judged: a value of step 3"
                " was not recorded"
            ),
        ),
        (
            ResultUsed("find"),
            [made("b"), made("find", result="A123"), made("c")],
            Gap("missing_steps", position=2),
            (
                "step 2 find: whether its result was used cannot be judged: missing_steps"
                " hides what decides"
            ),
        ),
        (
            ResultUsed("find"),
            [made("b"), made("find", result="A123"), made("use", {"x": "[redacted:email]"})],
            None,
            (
                "step 2 find: whether its result was used cannot be judged: a value of step 3"
                " was redacted"
            ),
        ),
        (
            ResultUsed("find"),
            [made("b"), made("find", result="A123"), made("use", {"x": "A123"})],
            MISSING,
            "no call of find was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Grounded("a", "id", "b.id"),
            [made("c"), made("a", {"id": 7})],
            Gap("missing_steps", position=0),
            "step 2 a: id's origin cannot be judged: missing_steps hides what decides",
        ),
        (
            Grounded("a", "id", "b.id"),
            [made("c"), blind("a")],
            None,
            "step 2 a: id's origin cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Grounded("a", "id", "b.id"),
            [made("c"), blind("b"), made("a", {"id": 7})],
            None,
            "step 3 a: id's origin cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Grounded("a", "id", "b.id"),
            [
                made("c"),
                {
                    "tool": "b",
                    "result": {"id": 7, "status": "pending"},
                    "kind": "lookup",
                    "ok": None,
                },
                made("a", {"id": 7}),
            ],
            None,
            "step 3 a: id's origin cannot be judged: a value of step 2 was not recorded",
        ),
        (
            Grounded("a", "id", "b.id"),
            [made("c"), made("b", result={"id": "[redacted:email]"}), made("a", {"id": 7})],
            None,
            "step 3 a: id's origin cannot be judged: a value of step 2 was redacted",
        ),
        (
            Grounded("a", "id", "input"),
            [made("c"), made("a", {"id": 7})],
            None,
            "step 2 a: id's origin cannot be judged: a value was not recorded",
        ),
        (
            Grounded("a", "id", "b.id"),
            [made("b", result={"id": 7}), made("a", {"id": 7})],
            MISSING,
            "no call of a was seen to break the rule, but missing_steps may hide one",
        ),
        (
            Grounded("a", "id", relation="id == b.id"),
            [made("c"), blind("b"), made("a", {"id": 7})],
            None,
            "step 3 a: id's origin cannot be judged: a value of step 2 was not recorded",
        ),
        (Executed(), [made("a")], None, "what the model asked for was not recorded"),
        (
            Effects(),
            [
                made("b"),
                {"tool": "a", "kind": "mutate", "operation_id": "o"},
                made("a", kind="mutate", operation_id="o"),
            ],
            None,
            (
                "no operation was seen to take effect twice, but whether step 2 took effect"
                " was not recorded"
            ),
        ),
        (
            Effects(),
            [made("b")],
            MISSING,
            "no operation was seen to take effect twice, but missing_steps may hide an effect",
        ),
        (
            Terminal("a"),
            [made("b")],
            MISSING,
            "the end of the run cannot be judged: missing_steps hides what decides",
        ),
        (Forbidden("a"), [made("b")], MISSING, "a was not seen, but missing_steps may hide it"),
        (
            Allowed(["b"]),
            [made("b")],
            MISSING,
            "no other tool than b was seen, but missing_steps may hide one",
        ),
        (
            NoSecrets(),
            [made("b")],
            MISSING,
            "no secret was seen, but missing_steps may hide a call",
        ),
        (
            NoSecrets(),
            [made("b"), blind("a")],
            None,
            "step 2 a: its arguments cannot be judged: a value of step 2 was not recorded",
        ),
        (
            NoSecrets(),
            [made("b"), made("a", {"x": "[redacted:custom]"})],
            None,
            "step 2 a: its arguments cannot be judged: a value of step 2 was redacted",
        ),
        (
            Exact([{"tool": "a"}]),
            [made("a")],
            MISSING,
            "the run cannot be judged: missing_steps hides what decides",
        ),
        (
            Exact([{"tool": "a", "arguments": {"x": 1}}]),
            [blind("a")],
            None,
            "step 1 a cannot be judged: a value was not recorded",
        ),
        (
            Exact([{"tool": "a", "arguments": {"x": 1}}]),
            [made("a", {"x": "[redacted:email]"})],
            None,
            "step 1 a cannot be judged: a value was redacted",
        ),
        (
            AtLeast([{"tool": "a"}]),
            [made("b")],
            MISSING,
            "the run cannot be judged: missing_steps hides what decides",
        ),
        (
            Exact([{"tool": "a"}], extra="reads"),
            [made("a"), {"tool": "pay", "kind": "mutate", "arguments": {}}],
            None,
            "step 2 pay cannot be judged: a value was not recorded",
        ),
        (
            Before("a", "b"),
            [made("b")],
            MISSING,
            "before: a, b cannot be judged: missing_steps may hide a step",
        ),
        (
            Before("a", "b"),
            [{"tool": "a", "arguments": {}, "kind": "mutate"}, made("b")],
            None,
            "before: a, b cannot be judged: whether a call took effect was not recorded",
        ),
        (
            Called("a"),
            [made("b")],
            MISSING,
            "called: a cannot be judged: missing_steps may hide a step",
        ),
        (
            Never("a"),
            [made("b")],
            MISSING,
            "never: a cannot be judged: missing_steps may hide a step",
        ),
        (
            Recovered(),
            [made("a", result=FAILED)],
            MISSING,
            "recovered cannot be judged: missing_steps may hide a step",
        ),
        (
            StepRegex("a b"),
            [made("a")],
            MISSING,
            "step_regex cannot be judged: missing_steps may hide a step",
        ),
    ],
)
def test_what_is_hidden_of_calls(
    gapped: Callable[..., Trajectory],
    behind: Behind,
    rule: Rule,
    run: Any,
    gap: Gap | None,
    sentence: str,
) -> None:
    gaps = [] if gap is None else [gap]

    assert named(rule, gapped(run, *gaps, final_text=""), behind) == sentence


@pytest.mark.parametrize(
    ("rule", "run", "gap", "text", "sentence"),
    [
        (
            Claim(SAYS, "a"),
            [made("b")],
            MISSING,
            "I refunded 7.",
            (
                'the final text claims "I refunded 7", and whether a did it cannot be'
                " judged: missing_steps may hide a call of a"
            ),
        ),
        (
            Claim(SAYS, "a"),
            [made("b"), blind("a")],
            None,
            "I refunded 7.",
            (
                'the final text claims "I refunded 7", and whether a did it cannot be'
                " judged: a value of step 2 was not recorded"
            ),
        ),
        (
            Claim("refunded", "a"),
            [made("b"), {"tool": "a", "arguments": {}}],
            None,
            "I refunded 7.",
            (
                'the final text claims "I refunded 7", and whether a did it cannot be'
                " judged: a value of step 2 was not recorded"
            ),
        ),
        (
            Claim("refunded", "a"),
            [made("b")],
            None,
            "Hello[truncated 9 chars]",
            "the final text was cut off (truncated_value): nobody knows what it claims",
        ),
        (
            Claim("refunded", "a"),
            [made("b")],
            None,
            None,
            "the final text was not recorded: nobody knows what it claims",
        ),
        (
            Claim(SAYS, "a"),
            [made("b"), made("a", {"x": "[redacted:email]"})],
            None,
            "I refunded 7.",
            (
                'the final text claims "I refunded 7", and whether a did it cannot be'
                " judged: a value of step 2 was redacted"
            ),
        ),
        (
            AdmitsFailure(),
            [made("b"), made("refund", result=FAILED)],
            MISSING,
            "I refunded 7.",
            "what the final text claims cannot be judged: missing_steps hides what decides",
        ),
        (
            AdmitsFailure(),
            [made("b"), made("refund", result=FAILED)],
            None,
            None,
            "what the final text claims cannot be judged: a value was not recorded",
        ),
        (
            AdmitsFailure(),
            [made("b"), {"tool": "refund"}],
            None,
            "I refunded 7.",
            (
                "step 2 refund: what the final text claims cannot be judged: a value of step 2"
                " was not recorded"
            ),
        ),
        (
            ResultUsed("find"),
            [made("b"), made("find", result="A123")],
            None,
            None,
            ("step 2 find: whether its result was used cannot be judged: a value was not recorded"),
        ),
        (
            Terminal(claimed=True),
            [made("b")],
            None,
            None,
            "the end of the run cannot be judged: a value was not recorded",
        ),
        (
            Answer("thanks"),
            [],
            None,
            "Bye…[truncated 9 chars]",
            (
                "the final text cannot be judged: a value that it rests on was cut off"
                " (truncated_value)"
            ),
        ),
        (
            Answer("thanks"),
            [],
            None,
            "Bye [redacted:email]",
            "the final text cannot be judged: a value that it rests on was redacted",
        ),
        (
            Answer("thanks"),
            [],
            None,
            None,
            "the final text was not recorded: nobody knows what it says",
        ),
        (
            Answer(agrees={r"is (\S+) now": "a.x"}),
            [made("b"), blind("a")],
            None,
            "It is 5 now.",
            "the final text cannot be judged: a value that it rests on was not recorded",
        ),
        (
            Answer(agrees={r"is (\S+) now": "a.x"}),
            [made("b")],
            MISSING,
            "It is 5 now.",
            "the final text cannot be judged: missing_steps hides a value that it rests on",
        ),
        (
            Answer(agrees={r"is (\S+) now": "a.x"}),
            [made("a", result={"x": "[redacted:email]"})],
            None,
            "It is 5 now.",
            "the final text cannot be judged: a value that it rests on was redacted",
        ),
    ],
)
def test_what_is_hidden_of_the_final_text_or_of_what_it_speaks_of(
    gapped: Callable[..., Trajectory],
    behind: Behind,
    rule: Rule,
    run: Any,
    gap: Gap | None,
    text: str | None,
    sentence: str,
) -> None:
    gaps = [] if gap is None else [gap]

    assert named(rule, gapped(run, *gaps, final_text=text), behind) == sentence
