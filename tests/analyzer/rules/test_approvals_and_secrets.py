"""Somebody was asked first, and no secret went into an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trackway.capture.secret_names import ALONE, BY_WORDS, DENIED, OF_OTHER_ALPHABETS, VENDORS
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import (
    Approved,
    EntitySpec,
    InsufficientEvidenceError,
    NoSecrets,
    Policy,
    ToolSpec,
)

RAN = "step 2 pay ran without an earlier approval"


class TestApproved:
    @pytest.mark.parametrize(
        ("rule", "approval", "wrong"),
        [
            ({}, {}, None),
            ({"argument": "id"}, {"arguments": {"id": 7}}, None),
            ({"argument": "id"}, {"result": {"approved": [{"order": 7}]}}, None),
            (
                {"argument": "id"},
                {"arguments": {"id": 8}},
                f"{RAN} of id 7 by ask: ask at step 1 is about something else",
            ),
            ({"granted": "$.yes"}, {"result": {"yes": True}}, None),
            (
                {"granted": "$.yes"},
                {"result": {"yes": False}},
                f"{RAN} by ask: ask at step 1 did not grant it: $.yes is false, expected true",
            ),
            ({}, {"ok": False}, f"{RAN} by ask: ask at step 1 did not succeed"),
            ({}, {"group": "g"}, f"{RAN} by ask: ask at step 1 is of the same model turn"),
        ],
    )
    def test_an_approval_before(
        self, said: Callable[..., Any], call: Any, rule: Any, approval: Any, wrong: str | None
    ) -> None:
        run = [call("ask") | approval, call("pay", {"id": 7}, group=approval.get("group"))]

        expected = [] if wrong is None else [("violated", wrong)]
        assert said(Approved("pay", "ask", **rule), run) == expected

    def test_an_attempt_needs_one_too_and_afterwards_is_too_late(
        self, said: Callable[..., Any], call: Any
    ) -> None:
        assert said(Approved("pay", "ask"), [call("pay", ok=False), call("ask")]) == [
            (
                "violated",
                "step 1 pay ran without an earlier approval by ask:"
                " ask at step 2 came only afterwards",
            )
        ]

    def test_once_means_one_call_an_approval(self, said: Callable[..., Any], call: Any) -> None:
        run = [call("ask"), call("pay"), call("pay")]

        assert said(Approved("pay", "ask"), run) == []
        assert said(Approved("pay", "ask", once=True), run) == [
            (
                "violated",
                "step 3 pay ran without an earlier approval by ask:"
                " ask at step 1 was good for one call",
            )
        ]
        assert said(Approved("pay", "ask", once=True), [call("ask"), *run]) == []

    def test_hidden_evidence(
        self, said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        blind = {"tool": "ask", "ok": True}
        missing = gapped([call("pay")], Gap("missing_steps"))
        fine = gapped([call("ask"), call("pay")], Gap("missing_steps"))
        rules = [Approved("pay", "ask", "id"), Approved("pay", "ask", granted="$.yes")]

        for rule in rules:
            assert [s for s, _ in said(rule, [blind, call("pay", {"id": 7})])] == ["insufficient"]
        assert [s for s, _ in said(rules[0], missing)] == ["insufficient"]
        assert [s for s, _ in said(Approved("pay", "ask"), fine)] == ["insufficient"]


DENIED_NAMES = {
    *(*DENIED, *BY_WORDS, *ALONE, *OF_OTHER_ALPHABETS, "passwords", "userPasswordConfirm"),
    *(f"{vendor}_key" for vendor in VENDORS),
}


class TestNoSecrets:
    @pytest.mark.parametrize(
        "name", sorted({*DENIED, *BY_WORDS, *ALONE, "passwords", "userPasswordConfirm"})
    )
    @pytest.mark.parametrize("value", [["x y"], {"of": "x"}])
    def test_a_value_of_any_shape_under_a_name_of_secrets_is_one(
        self, said: Callable[..., Any], call: Any, name: str, value: Any
    ) -> None:
        assert [state for state, _ in said(NoSecrets(), [call("a", {name: value})])] == ["violated"]

    @pytest.mark.parametrize(
        ("arguments", "wrong"),
        [
            ({"q": "key sk-proj-" + "a1B2" * 6}, "$.q holds a secret (api_key)"),
            ({"card": "4242 4242 4242 4242"}, "$.card holds a secret (card)"),
            ({"card": 4242424242424242}, "$.card holds a secret (card)"),
            ({"phone": "+4915112345678", "imei": 490154203237518}, None),
            ({"new_string": "api_key = settings.API_KEY"}, None),
            ({"password": "$DB_PASSWORD", "token": "CNY"}, None),
            ({"command": "docker login -p hunter2"}, "$.command holds a secret (command_option)"),
            ({"a": [{"password": "hunter2"}]}, "$.a[0].password holds a value that its name"),
            ({"password": "[redacted:key_name]"}, "$.password holds a value that its name"),
            ({"note": "use [redacted:api_key]"}, "$.note holds a secret (api_key)"),
            ({"to": "[redacted:email]"}, None),
            ({"password": None}, None),
            ({"order": "4242424242424241"}, None),
            ({"tokens": 4, "keys": ["a"], "text": "no secret"}, None),
        ],
    )
    def test_what_the_recorder_would_redact(
        self, said: Callable[..., Any], call: Any, arguments: Any, wrong: str | None
    ) -> None:
        found = said(NoSecrets(), [call("a", arguments)])

        assert len(found) == (wrong is not None)
        if wrong is not None:
            assert found[0][1].startswith(f"step 1 a: {wrong}")

    def test_a_mark_that_does_not_say_what_was_there_is_insufficient(
        self, said: Callable[..., Any], call: Any
    ) -> None:
        unknown = call("a", {"q": "[redacted:custom]"})
        known = call("b", {"q": "[redacted:card]"})

        assert [s for s, _ in said(NoSecrets(), [unknown])] == ["insufficient"]
        assert said(NoSecrets(), [unknown, known]) == [
            ("violated", "step 2 b: $.q holds a secret (card)")
        ]

    def test_the_secret_itself_is_never_shown(self, said: Callable[..., Any], call: Any) -> None:
        secret = "sk-proj-" + "a1B2" * 6

        assert secret not in str(said(NoSecrets(), [call("a", {"q": secret})]))

    def test_a_declared_entity_is_exempt_from_patterns(self, call: Any) -> None:
        run = trajectory_of([call("a", {"order_id": "4242424242424242"})], final_text="")
        tools = {"a": ToolSpec(entity=EntitySpec(argument="order_id"))}

        NoSecrets().assert_holds(run, tools=tools)
        with pytest.raises(AssertionError):
            NoSecrets().assert_holds(run)

    def test_attempts_that_nobody_ran_count(self, said: Callable[..., Any], run_of: Any) -> None:
        step = {"tool": "a", "executed": False, "arguments": '{"password":"hunter2"}'}

        assert [s for s, _ in said(NoSecrets(), run_of([step]))] == ["violated"]

    def test_arguments_that_were_not_recorded_are_insufficient(
        self, call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        for run in ([{"tool": "a"}], gapped([call("a")], Gap("missing_steps"))):
            with pytest.raises(InsufficientEvidenceError):
                NoSecrets().assert_holds(run)


def test_each_approval_is_spent_once(said: Callable[..., Any], call: Any) -> None:
    run = [call("ask"), call("ask"), call("pay"), call("pay"), call("pay")]

    assert [s for _, s in said(Approved("pay", "ask", once=True), run)] == [
        "step 5 pay ran without an earlier approval by ask: ask at step 1 was good for one call"
    ]


class TestARefusalAfterAnApproval:
    RULE = Approved("pay", "ask", "id", granted="$.yes")

    @pytest.fixture
    def ask(self, call: Any) -> Callable[..., Any]:
        return lambda yes, thing=7, **more: call("ask", {"id": thing}, {"yes": yes}, **more)

    def test_takes_it_back(self, said: Callable[..., Any], call: Any, ask: Any) -> None:
        assert said(self.RULE, [ask(True), ask(False), call("pay", {"id": 7})]) == [
            (
                "violated",
                "step 3 pay ran without an earlier approval of id 7 by ask: ask at step 1 was"
                " taken back by ask at step 2: $.yes is false, expected true",
            )
        ]

    def test_of_something_else_or_too_late_or_before_it_does_not(
        self, said: Callable[..., Any], call: Any, ask: Any
    ) -> None:
        pay = call("pay", {"id": 7})
        for rule in (self.RULE, Approved("pay", "ask", granted="$.yes")):
            assert said(rule, [ask(True), ask(False, 8), pay]) == []
            assert said(rule, [ask(True), pay, ask(False)]) == []
            assert said(rule, [ask(False), ask(True), pay]) == []
            assert said(rule, [ask(True), ask(False), ask(True), pay]) == []
            assert said(rule, [ask(True), ask(False, ok=False), pay]) == []
            assert said(rule, [ask(True), call("ask", {"id": 7}, {"id": 7}), pay]) == []

    def test_without_argument_is_one_of_the_same_question(
        self, said: Callable[..., Any], call: Any, ask: Any
    ) -> None:
        rule = Approved("pay", "ask", granted="$.yes")
        found = said(rule, [ask(True), ask(False), call("pay", {"id": 7})])

        assert [state for state, _ in found] == ["violated"]

    def test_that_may_be_one_leaves_it_open(
        self, said: Callable[..., Any], call: Any, ask: Any
    ) -> None:
        pay = call("pay", {"id": 7})
        for second in (ask("[redacted:key_name]"), ask("maybe"), ask(False, "[redacted:email]")):
            assert [s for s, _ in said(self.RULE, [ask(True), second, pay])] == ["insufficient"]
        turn = [ask(True, group="g"), ask(False, group="g"), pay]
        assert [s for s, _ in said(self.RULE, turn)] == ["insufficient"]


def test_a_gap_after_the_call_hides_no_approval(
    said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
) -> None:
    run = [call("pay"), call("x"), call("y")]

    assert said(Approved("pay", "ask"), gapped(run, Gap("missing_steps", position=2))) == [
        ("violated", "step 1 pay ran without an earlier approval by ask")
    ]


def test_what_an_approval_speaks_of() -> None:
    rule = Approved("pay", "ask")

    assert rule.title == "approved: pay by ask"
    assert rule.speaks_of() == {"pay", "ask"}


@pytest.mark.parametrize("empty", [None, "", True, False])
def test_nothing_under_a_secret_name_is_no_secret(
    said: Callable[..., Any], call: Any, empty: Any
) -> None:
    assert said(NoSecrets(), [call("a", {"password": empty})]) == []
    assert len(said(NoSecrets(), [call("a", {"password": 7})])) == 1


def test_a_grant_that_reads_what_no_call_returned_is_none(
    said: Callable[..., Any], call: Any
) -> None:
    rule = Approved("pay", "ask", granted="ask.yes or $.yes")

    assert said(rule, [call("ask", result={"yes": True}), call("pay")]) == []
    assert [
        s
        for s, _ in said(Approved("pay", "ask", granted="pay.yes == 1"), [call("ask"), call("pay")])
    ] == ["violated"]


@pytest.mark.parametrize(
    ("answer", "asked", "states"),
    [
        ({"approved": True}, {"service": "api"}, []),
        ({"approved": True, "expired": True}, {}, ["insufficient"]),
        ({"approved": True, "conditions": ["only after 18:00"]}, {}, ["insufficient"]),
        ({"approved": ["billing"]}, {}, ["insufficient"]),
        ({"approved": ["api"]}, {}, []),
        ({"approved": True, "service": "billing"}, {}, ["insufficient"]),
        ({"approved": True}, {"version": "1.1"}, ["insufficient"]),
    ],
)
def test_a_yes_to_something_else_or_no_longer_leaves_it_open(
    answer: dict[str, object], asked: dict[str, object], states: list[str]
) -> None:
    ask = {"tool": "ask", "arguments": asked, "result": answer}
    deploy = {"tool": "deploy", "arguments": {"service": "api", "version": "1.2"}, "result": "ok"}
    found = Policy(Approved("deploy", by="ask")).findings(trajectory_of([ask, deploy]).batch)
    assert [finding.state.value for finding in found] == states


def test_a_question_that_names_the_thing_in_words_leaves_it_open() -> None:
    ask = {"tool": "ask", "arguments": {"question": "Deploy api?"}, "result": "yes"}
    calls = [ask, {"tool": "deploy", "arguments": {"service": "api"}, "result": "ok"}]
    rule = Approved("deploy", by="ask", argument="service")
    found = Policy(rule).findings(trajectory_of(calls).batch)
    assert [finding.state.value for finding in found] == ["insufficient"]


@pytest.mark.parametrize(
    ("arguments", "leaks"),
    [
        ({"phone": "+4915112345678"}, False),
        ({"imei": "490154203237518"}, False),
        ({"n": 4242424242424242}, True),
        ({"password": "{{vault:db}}"}, False),
        ({"password": "$DB_PASSWORD"}, False),
        ({"api_key": "<YOUR_API_KEY>"}, False),
        ({"password": "hunter2"}, True),
        ({"text": "Password: reset it here https://x.org/reset"}, False),
        ({"code": "api_key = settings.API_KEY"}, False),
        ({"code": "self.token = token"}, False),
        ({"code": "password = 'hunter2hunter2'"}, True),
    ],
)
def test_what_stands_for_a_secret_is_none(arguments: dict[str, object], leaks: bool) -> None:
    run = trajectory_of([{"tool": "t", "arguments": arguments, "result": "ok"}])
    assert bool(Policy(NoSecrets()).findings(run.batch)) is leaks
