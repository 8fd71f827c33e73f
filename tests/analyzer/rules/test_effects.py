"""Outcome, effects, continuity, waits, deadline, and how a run ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

import orjson
import pytest

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.rules import (
    Continuity,
    Deadline,
    Effects,
    Outcome,
    Routed,
    Sequence,
    Terminal,
)


def event(name: str, **attributes: Any) -> dict[str, Any]:
    text = orjson.dumps(attributes).decode()
    return {
        "name": f"trackway.{name}",
        "time": datetime(2026, 1, 5, tzinfo=UTC),
        "attributes": text,
    }


class TestOutcome:
    @pytest.mark.parametrize(
        ("rule", "run", "expected"),
        [
            (Outcome(), {"outcome_success": True}, None),
            (
                Outcome(),
                {"outcome_success": False, "outcome_failure_mode": "wrong_order"},
                ("violated", "outcome: success false (wrong_order), expected true"),
            ),
            (Outcome(False), {"outcome_success": False}, None),
            (
                Outcome(label="refunded"),
                {"outcome_success": True, "outcome_label": "escalated"},
                ("violated", 'outcome: label "escalated", expected "refunded"'),
            ),
            (
                Outcome(where="$.refunds == 1"),
                {"outcome_success": True, "outcome_state": '{"refunds": 2}'},
                ("violated", "final state: $.refunds 2, expected 1"),
            ),
            (
                Outcome(),
                {},
                ("insufficient", "the outcome of the run was not recorded: nobody judged it"),
            ),
            (
                Outcome(where="$.refunds == 1"),
                {"outcome_success": True},
                ("insufficient", "the outcome of the run was not recorded: nobody judged it"),
            ),
        ],
    )
    def test_the_oracle_decides(
        self, said: Callable[..., Any], run_of: Any, rule: Outcome, run: Any, expected: Any
    ) -> None:
        assert said(rule, run_of([{"tool": "a"}], **run)) == (
            [] if expected is None else [expected]
        )

    def test_a_redacted_final_state_is_insufficient(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        about = {"outcome_success": True, "outcome_state": '{"token":"[redacted:key_name]","n":1}'}
        run = run_of([{"tool": "a"}], **about)

        assert [s for s, _ in said(Outcome(where="$.token == 1"), run)] == ["insufficient"]
        assert said(Outcome(where="$.n == 1"), run) == []


class TestEffects:
    def test_one_operation_takes_effect_once(self, said: Callable[..., Any], call: Any) -> None:
        def refund(operation: str, **more: Any) -> Any:
            return call("refund", kind="mutate", operation_id=operation, **more)

        assert said(Effects(), [refund("a"), refund("b"), refund("b", ok=False)]) == []
        assert said(Effects(), [refund("a"), refund("b"), refund("a")]) == [
            ("violated", "operation a took effect twice, at steps 1 and 3 refund")
        ]
        assert said(Effects("other"), [refund("a"), refund("a")]) == []

    def test_an_attempt_that_may_have_taken_effect(self, said: Callable[..., Any]) -> None:
        unknown = {"tool": "refund", "kind": "mutate", "operation_id": "a"}

        assert said(Effects(), [unknown, unknown | {"ok": True}]) == [
            (
                "insufficient",
                "no operation was seen to take effect twice,"
                " but whether step 1 took effect was not recorded",
            )
        ]
        assert said(Effects(), [unknown]) == []

    def test_ids_may_be_demanded(self, said: Callable[..., Any], call: Any) -> None:
        run = [call("refund", kind="mutate")]

        assert said(Effects(), run) == []
        assert said(Effects(ids=True), run) == [
            ("violated", "step 1 refund carries no operation id")
        ]

    def test_recorded_effects_count_instead_of_the_call(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        def step(applied: bool) -> dict[str, Any]:
            effect = event("effect", operation="refund", operation_id="a", applied=applied)
            return {"tool": "refund", "kind": "mutate", "events": [effect]}

        assert said(Effects(), run_of([step(True), step(False)])) == []
        assert [s for s, _ in said(Effects(), run_of([step(True), step(True)]))] == ["violated"]

    def test_an_effect_that_was_not_applied_fulfils_no_step(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        replayed = event("effect", operation="refund", applied=False)
        steps = [{"tool": "find", "kind": "lookup"}, {"tool": "refund", "kind": "mutate"}]
        again = steps[1] | {"events": [replayed]}

        assert said(Sequence(("find", "refund")), run_of([*steps, again])) == []
        assert [s for s, _ in said(Sequence(("find", "refund")), run_of([steps[0], again]))] == [
            "violated"
        ]

    def test_a_hidden_effect_is_no_pass(
        self, said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        assert said(Effects(), gapped([call("a")], Gap("missing_steps"))) == [
            (
                "insufficient",
                "no operation was seen to take effect twice, but missing_steps may hide an effect",
            )
        ]


class TestContinuity:
    def test_what_a_step_needs_it_still_sees(self, said: Callable[..., Any], run_of: Any) -> None:
        def batch(present: list[str]) -> Any:
            record = event("continuity", required=["d1", "d2"], present=present)
            return run_of([{"tool": "a", "events": [record]}])

        assert said(Continuity(), batch(["d1", "d2", "d3"])) == []
        assert said(Continuity(), batch(["d1"])) == [("violated", "step 1 a no longer saw d2")]
        assert said(Continuity("d4"), batch(["d1", "d2"])) == [
            ("violated", "step 1 a no longer saw d4")
        ]

    def test_without_a_record_nobody_knows(self, said: Callable[..., Any], run_of: Any) -> None:
        assert said(Continuity(), run_of([{"tool": "a"}])) == [
            (
                "insufficient",
                "no record of continuity: nobody knows which decisions were seen",
            )
        ]


class TestRecordsOnNoStep:
    """The agent's or the run's own events, between steps by their time."""

    STEPS: ClassVar = [
        {"tool": "a", "start": datetime(2026, 1, 4, tzinfo=UTC)},
        {"tool": "b", "start": datetime(2026, 1, 6, tzinfo=UTC)},
    ]
    FULL: ClassVar = {"owner": "ops", "deadline": "2026-01-06T00:00:00Z", "resume_token": "t"}

    def test_continuity_may_be_recorded_on_the_agent(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        def batch(present: list[str]) -> Any:
            record = event("continuity", required=["d1"], present=present)
            return run_of(self.STEPS, events=[record])

        assert said(Continuity(), batch(["d1"])) == []
        assert said(Continuity(), batch([])) == [("violated", "the run no longer saw d1")]

    def test_the_last_record_is_the_latest_by_time(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        between = event("continuity", present=["d1"])
        later = [self.STEPS[0], self.STEPS[1] | {"events": [event("continuity", present=[])]}]

        assert said(Continuity("d1"), run_of(later, events=[between])) == [
            ("violated", "step 2 b no longer saw d1")
        ]

    def test_a_wait_may_be_recorded_on_the_agent(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        def batch(*events: Any, steps: Any = self.STEPS) -> Any:
            return run_of(steps, events=list(events))

        wait, resume = event("wait", **self.FULL), event("resume", resume_token="t")

        assert said(Routed(resumed=True), batch(wait, resume)) == []
        assert said(Routed(), batch(event("wait", owner="ops", resume_token="t"))) == [
            ("violated", "the run waits without deadline")
        ]
        assert said(Routed(resumed=True), batch(wait)) == [
            ("violated", "the run waits and was never taken up again")
        ]
        assert said(Routed(resumed=True), batch(wait, resume, steps=[])) == []


class TestRouted:
    FULL: ClassVar = {"owner": "ops", "deadline": "2026-01-06T00:00:00Z", "resume_token": "t"}
    HASHED: ClassVar = {"owner": None, "trackway.content.sha256.owner": "hmac-sha256:00"}

    @pytest.mark.parametrize(
        ("rule", "steps", "expected"),
        [
            (Routed(), [[event("wait", **FULL)]], None),
            (Routed(), [[event("wait", **FULL | HASHED)]], None),
            (Routed(), [[]], None),
            (
                Routed(),
                [[event("wait", owner="ops")]],
                "step 1 wait waits without deadline and resume_token",
            ),
            (
                Routed(resumed=True),
                [[event("wait", **FULL)], [event("resume", resume_token="t")]],
                None,
            ),
            (
                Routed(resumed=True),
                [[event("wait", **FULL)], [event("resume", resume_token="u")]],
                "step 1 wait waits and was never taken up again",
            ),
        ],
    )
    def test_a_wait_says_who_until_when_and_how(
        self, said: Callable[..., Any], run_of: Any, rule: Routed, steps: Any, expected: Any
    ) -> None:
        batch = run_of([{"operation": "wait", "events": events} for events in steps])

        assert said(rule, batch) == ([] if expected is None else [("violated", expected)])


class TestDeadline:
    @pytest.mark.parametrize(
        ("end", "deadline", "expected"),
        [
            (59, "2026-01-05T10:01:00Z", None),
            (60, "2026-01-05T10:01:00Z", None),
            (
                90,
                "2026-01-05T11:01:00+01:00",
                ("violated", "the run ended 30 seconds after its deadline"),
            ),
            (None, "2026-01-05T10:01:00Z", ("insufficient", "the end of the run was not recorded")),
            (60, None, ("insufficient", "the deadline of the run was not recorded")),
            (60, "soon", ("insufficient", "the deadline of the run was not recorded")),
        ],
    )
    def test_the_end_is_compared_as_a_time(
        self, said: Callable[..., Any], run_of: Any, end: Any, deadline: Any, expected: Any
    ) -> None:
        at = None if end is None else datetime(2026, 1, 5, 10, end // 60, end % 60, tzinfo=UTC)
        batch = run_of([{"tool": "a"}], end=at, deadline=deadline)

        assert said(Deadline(), batch) == ([] if expected is None else [expected])


class TestTerminal:
    @pytest.mark.parametrize(
        ("rule", "run", "expected"),
        [
            (Terminal("send_email"), ["a", "send_email"], None),
            (Terminal(["a", "b"]), ["b"], None),
            (Terminal(category="refund_api"), ["refund_api.create"], None),
            (
                Terminal("send_email"),
                ["send_email", "a"],
                "the run ended with a, expected send_email",
            ),
            (
                Terminal("x", category="mail"),
                ["mailer.send"],
                "the run ended with mailer.send, expected x or the category mail",
            ),
            (Terminal("a"), [], "the run ended without any action, expected a"),
        ],
    )
    def test_the_last_executed_tool(
        self, said: Callable[..., Any], call: Any, rule: Terminal, run: Any, expected: Any
    ) -> None:
        found = said(rule, [call(tool) for tool in run])

        assert found == ([] if expected is None else [("violated", expected)])

    def test_a_recorded_final_action_wins(self, said: Callable[..., Any], run_of: Any) -> None:
        batch = run_of([{"tool": "a"}], final_action="escalate")

        assert said(Terminal("escalate"), batch) == []
        assert said(Terminal("a"), batch) == [
            ("violated", "the run ended with escalate, expected a")
        ]

    def test_all_calls_of_a_last_turn_must_be_right(
        self, said: Callable[..., Any], call: Any
    ) -> None:
        run = [call("a", group=1), call("b", group=1)]

        assert said(Terminal(["a", "b"]), run) == []
        assert [s for s, _ in said(Terminal("b"), run)] == ["violated"]

    def test_the_final_text_says_so_or_must_not(self, said: Callable[..., Any], call: Any) -> None:
        run = [call("refund")]

        assert said(Terminal(claimed=True), run, final_text="I refunded it.") == []
        assert said(Terminal(claimed=True), run, final_text="Hello.") == [
            ("violated", "the run ended with refund, which the final text does not say")
        ]
        assert said(Terminal(claimed=False), run, final_text="I refunded it.") == [
            ("violated", 'the final text claims refund: "I refunded it", where it must not')
        ]
        assert [s for s, _ in said(Terminal(claimed=True), run, final_text=None)] == [
            "insufficient"
        ]

    def test_what_the_final_text_claims_was_done(
        self, said: Callable[..., Any], call: Any, run_of: Any
    ) -> None:
        rule, text = Terminal("refund", claimed=True), "Your refund is on its way"
        failed = call("refund", result={"status": "failed"})
        sentence = (
            'did not take effect: status "failed", but the final text claims it:'
            ' "Your refund is on its way"'
        )

        assert said(rule, [call("look"), failed], final_text=text) == [
            ("violated", f"step 2 refund {sentence}")
        ]
        assert said(rule, [call("refund"), failed], final_text=text) == [
            ("violated", f"step 2 refund {sentence}")
        ]
        assert said(rule, [failed, call("refund")], final_text=text) == []
        pending = call("refund", result={"status": "pending"})
        assert said(rule, [pending], final_text=text) == [
            (
                "insufficient",
                "the end of the run cannot be judged:"
                ' step 1 refund may not have taken effect: status "pending"',
            )
        ]
        assert said(Terminal("refund"), [failed], final_text=text) == []

    def test_a_recorded_action_is_judged_by_its_last_call(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        rule, text = Terminal("refund", claimed=True), "Your refund is on its way"
        about = {"final_action": "refund", "final_text": text}
        failed, mail = {"tool": "refund", "ok": False}, {"tool": "mail"}
        gap = {"name": "missing_steps", "position": None, "count": None, "detail": None}

        assert [s for s, _ in said(rule, run_of([failed, mail], **about))] == ["violated"]
        assert [s for s, _ in said(rule, run_of([failed, mail], gaps=[gap], **about))] == [
            "insufficient"
        ]
        assert said(rule, run_of([failed, {"tool": "refund"}, mail], **about)) == []
        assert said(rule, run_of([mail], **about)) == []

    def test_a_gap_after_the_last_call_hides_the_end(
        self, said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [call("a"), call("b"), call("c")]

        assert [s for s, _ in said(Terminal("c"), gapped(run, Gap("missing_steps")))] == [
            "insufficient"
        ]
        assert said(Terminal("c"), gapped(run, Gap("missing_steps", position=0))) == []


def test_the_category_of_an_action_ends_at_its_first_dot(
    said: Callable[..., Any], call: Any
) -> None:
    assert said(Terminal(category="mail"), [call("mail.box.send")]) == []
    assert said(Terminal(category=["mail.box", "mail"]), [call("mail")]) == []
    assert len(said(Terminal(category="mail.box"), [call("mail.box.send")])) == 1


def test_a_record_after_a_step_comes_after_the_record_of_the_step(
    said: Callable[..., Any], run_of: Any
) -> None:
    steps = [{"tool": "a", "events": [event("continuity", present=["d1"])]}]
    late = event("continuity", present=[])

    assert said(Continuity("d1"), run_of(steps, events=[late])) == [
        ("violated", "the run no longer saw d1")
    ]


def test_several_lost_decisions_are_all_named(said: Callable[..., Any], run_of: Any) -> None:
    record = event("continuity", required='["d1", "d2"]', present="d3")

    assert said(Continuity(), run_of([{"operation": "llm", "events": [record]}])) == [
        ("violated", "step 1 llm no longer saw d1, d2")
    ]


def test_a_wait_that_was_not_taken_up_may_be_behind_a_later_gap(
    said: Callable[..., Any], run_of: Any
) -> None:
    def run(*positions: int) -> Any:
        gaps = [
            {"name": "missing_steps", "position": at, "count": None, "detail": None}
            for at in positions
        ]
        wait = event("wait", owner="ops", deadline="2026-01-06", resume_token="t")
        early = event("resume", resume_token="t")
        steps = [
            {"tool": "a", "events": [early]},
            {"tool": "b"},
            {"tool": "c", "events": [wait]},
            {"tool": "d"},
        ]
        return run_of(steps, gaps=gaps)

    never = ("violated", "step 3 c waits and was never taken up again")
    hidden = ("insufficient", "no unrouted wait was seen, but missing_steps may hide one")
    assert said(Routed(resumed=True), run()) == [never]
    assert said(Routed(resumed=True), run(0)) == [never]
    assert said(Routed(resumed=True), run(3)) == [hidden]
    assert said(Routed(), run(0)) == [hidden]


def test_seconds_are_told_to_the_thousandth(run_of: Any) -> None:
    late = datetime(2026, 1, 5, 10, 0, 1, 234567, tzinfo=UTC)
    batch = run_of([{"tool": "a"}], end=late, deadline="2026-01-05T10:00:00")
    (result,) = Deadline().check(batch)

    assert result.detail == {"seconds": 1.235}
    assert Deadline().explain(batch, result).sentence == (
        "the run ended 1.235 seconds after its deadline"
    )


def test_a_call_that_recorded_effects_changes_something_whatever_its_kind(
    said: Callable[..., Any], run_of: Any
) -> None:
    done = {"tool": "a", "events": [event("effect", operation_id="o", applied=True)]}

    assert said(Effects(), run_of([done, {"tool": "b"}, done])) == [
        ("violated", "operation o took effect twice, at steps 1 and 3 a")
    ]
    assert said(Effects(), run_of([{"tool": "b", "operation_id": "o"}] * 2 + [done])) == []


@pytest.mark.parametrize(
    ("hidden", "why"),
    [
        ({"arguments": {"operation_id": "[redacted:key_name]"}}, "was redacted"),
        ({"operation_id": "[redacted:custom]"}, "was redacted"),
        (
            {"arguments": {"operation_id": "op…[truncated 9 chars]"}},
            "was cut off (truncated_value)",
        ),
        ({}, "was not recorded"),
        ({"arguments": ["o", 84]}, "was no JSON object (unparsable_arguments)"),
    ],
)
def test_an_id_that_cannot_be_seen_may_be_that_of_another_effect(
    said: Callable[..., Any], call: Any, hidden: Any, why: str
) -> None:
    unseen = {"tool": "pay", "kind": "mutate", "ok": True} | hidden
    known, none = call("pay", {"operation_id": "o"}, kind="mutate"), call("pay", kind="mutate")
    expected = f"no operation was seen to take effect twice, but the operation id of step 1 {why}"

    assert said(Effects(), [unseen, unseen]) == [("insufficient", expected)]
    assert said(Effects(), [unseen, known]) == [("insufficient", expected)]
    assert said(Effects(), [unseen, none]) == []
    assert said(Effects(), [unseen, unseen | {"ok": False}]) == []
    assert said(Effects(ids=True), [unseen]) == [("insufficient", expected)]
    assert [s for s, _ in said(Effects(), [known, unseen, known])] == ["violated"]


class TestEffectsOutsideOfAnyStep:
    """Effects that hang on the run itself."""

    STEP: ClassVar = {
        "tool": "pay",
        "kind": "mutate",
        "ok": True,
        "arguments": "{}",
        "operation_id": "a",
    }

    @staticmethod
    def effects(*ids: str | None, **more: Any) -> list[Any]:
        return [event("effect", operation="pay", operation_id=i, applied=True) | more for i in ids]

    @pytest.mark.parametrize(
        ("steps", "ids", "places"),
        [
            (0, ["a", "a"], "outside of any step"),
            (1, ["a", "a"], "outside of any step"),
            (2, ["b"], "at steps 1 and 2 pay"),
            (2, ["a"], "at step 2 and outside of any step"),
            (0, ["a", "b"], None),
            (1, ["a"], None),
            (1, ["b", None, None], None),
        ],
    )
    def test_count_as_well(
        self, said: Callable[..., Any], run_of: Any, steps: int, ids: Any, places: str | None
    ) -> None:
        run = run_of([self.STEP] * steps or [{"tool": "find"}], events=self.effects(*ids))
        expected = f"operation a took effect twice, {places}"

        for rule in (Effects(), Effects("pay")):
            assert said(rule, run) == ([] if places is None else [("violated", expected)])
        if not steps:
            assert said(Effects("other"), run) == []

    def test_with_an_id_that_cannot_be_seen_may_be_the_same(
        self, said: Callable[..., Any], run_of: Any
    ) -> None:
        hidden = self.effects("[redacted:custom]")

        assert [s for s, _ in said(Effects(), run_of([self.STEP], events=hidden))] == [
            "insufficient"
        ]
        assert said(Effects(), run_of([{"tool": "find"}], events=hidden)) == []


@pytest.mark.parametrize(
    ("ids", "state"),
    [(("op-1", "op-2"), None), (("op-1", "op-1"), "violated"), ((None, None), "insufficient")],
)
def test_with_content_off_the_recorded_ids_decide(
    gapped: Callable[..., Any], ids: tuple[str | None, str | None], state: str | None
) -> None:
    calls = [
        {"tool": "pay", "kind": "mutate", "ok": True} | ({"operation_id": name} if name else {})
        for name in ids
    ]
    run = gapped(calls, Gap("content_off"))
    assert [result.state.value for result in Effects().check(run.batch)] == (
        [] if state is None else [state]
    )
