"""Failures are made up for and admitted, requests executed, results used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import (
    AdmitsFailure,
    EntitySpec,
    Executed,
    Policy,
    Recovered,
    ResultUsed,
    Sequence,
    ToolSpec,
)
from trackway_analyzer.rules.evidence import Evidence

FAILED = {"error": "no funds"}


class TestRecovered:
    @pytest.mark.parametrize(
        ("rule", "run", "holds"),
        [
            (Recovered(), "Aa", True),
            (Recovered(), "A", False),
            (Recovered(), "Ab", False),
            (Recovered(), "aA", False),
            (Recovered("a"), "B", True),
            (Recovered(by="b"), "Ab", True),
            (Recovered("a", "b"), "AB", False),
        ],
    )
    def test_a_failed_call_is_made_up_for(
        self, said: Callable[..., Any], call: Any, rule: Recovered, run: str, holds: bool
    ) -> None:
        records = [
            call(letter.lower(), result="ok" if letter.islower() else FAILED) for letter in run
        ]

        assert (said(rule, records) == []) is holds

    def test_the_sentence(self, said: Callable[..., Any], call: Any) -> None:
        assert said(Recovered(by=["b"]), [call("a", result=FAILED)]) == [
            (
                "violated",
                'step 1 a did not take effect: error "no funds";'
                " no successful a or b came after it",
            )
        ]

    def test_a_call_of_the_same_turn_makes_up_for_nothing(
        self, said: Callable[..., Any], call: Any
    ) -> None:
        run = [call("a", result=FAILED, group=1), call("a", group=1)]

        assert [s for s, _ in said(Recovered(), run)] == ["violated"]

    def test_a_hidden_call_may_have(
        self, said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [call("a", result=FAILED), call("b")]

        assert [s for s, _ in said(Recovered(), gapped(run, Gap("missing_steps")))] == [
            "insufficient"
        ]


class TestRecoveredThings:
    """Where it is known what a call is about, each thing that it failed on is made up for."""

    TOOLS: ClassVar = {
        "refund_api.create": ToolSpec("mutate", EntitySpec("order", argument="order_id")),
        "credit": ToolSpec("mutate", EntitySpec("order", argument="order")),
        "bill": ToolSpec("mutate", EntitySpec("invoice", argument="invoice")),
    }

    def found(self, rule: Recovered, *calls: Any) -> list[tuple[str, str]]:
        evidence = Evidence.of(trajectory_of(list(calls), final_text="").batch, self.TOOLS)
        return [(r.state.value, rule.explain(evidence, r).sentence) for r in rule.check(evidence)]

    def test_another_thing_makes_up_for_nothing(self, refund: Any) -> None:
        failed = refund.refund("A1", status="failed")

        for rule in (Recovered("refund_api.create"), Recovered()):
            assert self.found(rule, failed, refund.refund("A2")) == [
                (
                    "violated",
                    'step 1 refund_api.create did not take effect: status "failed"; no successful'
                    ' refund_api.create of order_id "A1" came after it',
                )
            ]
            assert self.found(rule, failed, refund.refund("A2"), refund.refund("A1")) == []

    def test_each_thing_of_a_list_is_made_up_for(self, refund: Any) -> None:
        failed = refund.refund(["A1", "A2"], status="failed")
        rule = Recovered("refund_api.create")

        ((_, sentence),) = self.found(rule, failed, refund.refund("A1"))
        assert 'of order_id "A2" came after it' in sentence
        assert self.found(rule, failed, refund.refund("A1"), refund.refund("A2")) == []
        assert self.found(rule, failed, refund.refund(["A2", "A1"])) == []

    @pytest.mark.parametrize(
        ("tool", "arguments", "holds"),
        [
            ("credit", {"order": "A1"}, True),
            ("credit", {"order": "A2"}, False),
            ("credit", {}, True),
            ("bill", {"invoice": "A2"}, True),
            ("mail", {"to": "ann"}, True),
            ("mail", {"operation_id": "op-1"}, True),
        ],
    )
    def test_other_tools_make_up_for_it_where_they_are_about_it_or_nobody_knows(
        self, refund: Any, call: Any, tool: str, arguments: Any, holds: bool
    ) -> None:
        failed = refund.refund("A1", status="failed")
        rule = Recovered("refund_api.create", by=["credit", "bill", "mail"])

        assert (self.found(rule, failed, call(tool, arguments)) == []) is holds

    def test_an_operation_is_a_thing_where_no_entity_is_declared(self, call: Any) -> None:
        def pay(key: str, result: Any = "ok", **more: Any) -> Any:
            return call("pay", {"operation_id": key, **more}, result)

        failed = pay("op-1", FAILED, amount=3)

        assert self.found(Recovered("pay"), failed, pay("op-1", amount=3)) == []
        assert self.found(Recovered("pay"), failed, pay("op-2", amount=3)) == []
        assert [s for s, _ in self.found(Recovered("pay"), failed, pay("op-2", amount=4))] == [
            "violated"
        ]

    def test_one_operation_is_one_thing_whatever_its_arguments_say(self, refund: Any) -> None:
        failed = refund.refund("A1", status="failed", operation_id="op-1")
        again = refund.refund("a-1", operation_id="op-1")

        assert self.found(Recovered(), failed, again) == []

    def test_hidden_evidence(self, refund: Any) -> None:
        failed = refund.refund("A1", status="failed")
        hidden = refund.refund("[redacted:key]")
        unknown = refund.refund("A1")
        del unknown["result"]

        assert self.found(Recovered(), failed, hidden, refund.refund("A2")) == [
            (
                "insufficient",
                "step 1 refund_api.create: whether a later call made up for it cannot be judged:"
                " a value of step 2 was redacted",
            )
        ]
        assert [s for s, _ in self.found(Recovered(), failed, unknown, refund.refund("A2"))] == [
            "insufficient"
        ]


class TestExecuted:
    MODEL: ClassVar = {"operation": "llm", "output": "[]"}

    def test_a_request_that_nobody_ran(self, said: Callable[..., Any], run_of: Any) -> None:
        batch = run_of(
            [self.MODEL, {"tool": "refund", "executed": False}],
            final_text="Your refund is on its way.",
        )

        assert said(Executed(), batch) == [
            (
                "violated",
                "step 2 refund was asked for and never executed,"
                ' but the final text claims it: "Your refund is on its way"',
            )
        ]
        assert said(Executed("other"), batch) == []

    def test_a_request_whose_span_may_be_lost(self, said: Callable[..., Any], run_of: Any) -> None:
        steps = [self.MODEL, {"tool": "refund", "executed": False}]
        lost = {"name": "missing_steps", "position": 2, "count": 1, "detail": None}

        assert said(Executed(), run_of(steps, gaps=[lost])) == [
            (
                "insufficient",
                "refund was asked for, and missing_steps may hide that it was executed",
            )
        ]

    @pytest.mark.parametrize(
        ("steps", "holds"),
        [
            ([{"operation": "llm", "output": "[]"}, {"tool": "a"}], True),
            ([{"tool": "a", "requested": True}], True),
            ([{"tool": "a"}], False),
            ([{"operation": "llm"}, {"tool": "a"}], False),
        ],
    )
    def test_without_recorded_requests_nobody_knows(
        self, said: Callable[..., Any], run_of: Any, steps: Any, holds: bool
    ) -> None:
        found = said(Executed(), run_of(steps))

        message = "what the model asked for was not recorded"
        assert found == ([] if holds else [("insufficient", message)])


class TestAdmitsFailure:
    CLAIM = "Done! Your refund is on its way."

    @pytest.mark.parametrize(
        ("run", "text", "holds"),
        [
            ([("refund", FAILED)], "The refund failed, sorry.", True),
            ([("refund", FAILED)], "Your refund is on its way.", False),
            ([("refund", FAILED), ("refund", "ok")], "Your refund is on its way.", True),
            ([("get_refund", FAILED)], "Your refund is on its way.", True),
            ([("send_email", FAILED)], "Your refund is on its way.", False),
            ([("send_email", FAILED)], "Which order do you mean?", True),
        ],
    )
    def test_what_only_failed_is_not_claimed(
        self, said: Callable[..., Any], call: Any, run: Any, text: str, holds: bool
    ) -> None:
        records = [call(tool, result=result) for tool, result in run]

        assert (said(AdmitsFailure(), records, final_text=text) == []) is holds

    def test_the_sentence(self, said: Callable[..., Any], call: Any) -> None:
        assert said(AdmitsFailure(), [call("refund", result=FAILED)], final_text=self.CLAIM) == [
            (
                "violated",
                'step 1 refund did not take effect: error "no funds",'
                ' but the final text claims it: "Your refund is on its way"',
            )
        ]

    def test_hidden_evidence(
        self, said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        failed = [call("refund", result=FAILED)]
        hidden = gapped(failed, Gap("missing_steps"), final_text=self.CLAIM)

        assert [s for s, _ in said(AdmitsFailure(), hidden)] == ["insufficient"]
        assert [s for s, _ in said(AdmitsFailure(), failed, final_text=None)] == ["insufficient"]
        assert said(AdmitsFailure(), [call("refund")], final_text=None) == []
        unknown = [{"tool": "refund"}]
        assert [s for s, _ in said(AdmitsFailure(), unknown, final_text=self.CLAIM)] == [
            "insufficient"
        ]


class TestWhatIsAdmitted:
    TOOLS: ClassVar = {
        "refund_api.create": ToolSpec("mutate", EntitySpec("order", argument="order_id"))
    }

    def states(self, text: str | None, *calls: Any, **about: Any) -> list[str]:
        batch = trajectory_of(list(calls), final_text=text, **about).batch
        rule = AdmitsFailure()
        return [r.state.value for r in rule.check(Evidence.of(batch, self.TOOLS))]

    def test_a_failed_call_about_nothing_is_claimed_by_no_word_of_what_was_done(self) -> None:
        done, failed = (
            {"tool": "refund_api.create", "arguments": {"order_id": thing}, "result": result}
            for thing, result in (("A1", "ok"), (None, FAILED))
        )
        assert self.states("Your refund is on its way.", done, failed) == []

    @pytest.mark.parametrize(
        ("text", "state"),
        [
            ("I issued the refunds for A1 and A2.", "violated"),
            ("I refunded A1.", "violated"),
            ("Refunds issued:\n- A1\n- A2", "violated"),
            ("J'ai remboursé A1 et A2.", "insufficient"),
            ("J'ai remboursé A2.", None),
            ("I refunded A2.", None),
            ("I couldn't refund A1, but refunded A2.", None),
            ("I refunded A2, and A1 is still open.", None),
            ("I refunded A2; A1 failed.", None),
            ("I refunded A12 and A2.", None),
            ("Your refund was issued.", None),
        ],
    )
    def test_each_thing_is_judged_by_itself(
        self, refund: Any, text: str, state: str | None
    ) -> None:
        calls = [refund.refund("A1", status="failed"), refund.refund("A2")]

        assert self.states(text, *calls) == ([] if state is None else [state])

    @pytest.mark.parametrize(
        "text",
        [
            "Your refund_api.create succeeded.",
            "Refund: ✅",
            "✔️ Full refund",
            "Reimbursed A1.",
            "I've credited $84.00 to your account.",
            "I paid you back.",
        ],
    )
    def test_other_words_claim_it_too(self, refund: Any, text: str) -> None:
        assert self.states(text, refund.refund(status="failed")) == ["violated"]

    @pytest.mark.parametrize(
        "text",
        [
            "Je vous ai remboursé.",
            "Su pedido fue reembolsado.",
            "Ihre Rückerstattung wurde veranlasst.",
            "Het bedrag is terugbetaald.",
            "Erledigt!",
            "返金しました",
            "Done!",
            "All set, ✅",
        ],
    )
    def test_what_is_not_understood_is_no_admission(self, refund: Any, text: str) -> None:
        assert self.states(text, refund.refund(status="failed")) == ["insufficient"]
        assert self.states(text, refund.refund()) == []

    @pytest.mark.parametrize(
        "text",
        [
            "The refund failed, sorry. All set otherwise.",
            "Sorry, something went wrong.",
            "I will reimburse you.",
            "❌ Refund",
            "Thanks!",
            "A1: 84.00",
            "",
        ],
    )
    def test_what_claims_nothing_holds(self, refund: Any, text: str) -> None:
        assert self.states(text, refund.refund(status="failed")) == []

    def test_a_tool_whose_name_holds_no_word(self, call: Any) -> None:
        assert self.states("It is here.", call("do_it", result=FAILED)) == ["insufficient"]

    def test_why_it_is_open(self, said: Any, call: Any) -> None:
        run = [call("refund", result=FAILED)]

        assert [
            said(AdmitsFailure(), run, final_text=text)[0][1] for text in ("Fait.", "Done.")
        ] == [
            "what the final text claims cannot be judged:"
            " its words are none that a rule understands",
            "what the final text claims cannot be judged:"
            " its words may say that something was done, and not what",
        ]

    def test_an_earlier_message_claims_it_unless_it_is_taken_back(
        self, said: Any, run_of: Any
    ) -> None:
        steps = [{"tool": "refund", "ok": False}]
        text = "Your refund is on its way."

        assert said(AdmitsFailure(), run_of(steps, said=[text], final_text="Bye.")) == [
            (
                "violated",
                "step 1 refund did not take effect,"
                ' but an earlier message claims it: "Your refund is on its way"',
            )
        ]
        later = "I was wrong: the refund failed."
        assert said(AdmitsFailure(), run_of(steps, said=[text], final_text=later)) == []


class TestResultUsed:
    @pytest.mark.parametrize(
        ("found", "used", "state"),
        [
            (
                {"id": "[redacted:key_name]", "n": "[redacted:card]"},
                {"id": "A9009"},
                "insufficient",
            ),
            ({"id": "A1001", "n": "[redacted:card]"}, {"id": "A9009"}, "insufficient"),
            ({"id": "A1001", "n": "[redacted:card]"}, {"id": "A1001"}, None),
            ({"id": "[redacted:card]"}, {"id": "[redacted:card]"}, "insufficient"),
            ({"id": "A7", "n": 13}, {"id": "A9009"}, "insufficient"),
            ({"id": "A7", "n": 13}, {"id": "A7"}, None),
            ({"id": "A7", "n": 13}, {"n": 13.0}, None),
            ({"id": 17}, {"id": 18}, "insufficient"),
            ({"id": "A1001", "n": 13}, {"n": 13}, "violated"),
            ({"fine": True, "word": "yes"}, {"id": 18}, None),
        ],
    )
    def test_what_cannot_be_seen_or_told_from_others_is_undecided(
        self, said: Callable[..., Any], call: Any, found: Any, used: Any, state: str | None
    ) -> None:
        run = [call("find", result=found), call("use", used)]

        for rule in (ResultUsed("find", by="use"), ResultUsed("find")):
            assert [s for s, _ in said(rule, run, final_text="")] == ([state] if state else [])

    @pytest.mark.parametrize(
        "found", [{"n": "[redacted:card]"}, {"id": 1, "…": "[truncated 3 keys]"}]
    )
    def test_a_named_value_that_cannot_be_seen_may_be_used(
        self, said: Callable[..., Any], call: Any, found: Any
    ) -> None:
        run = [call("find", result=found), call("use", {"n": "1234"})]

        assert [s for s, _ in said(ResultUsed("find", "$.n"), run)] == ["insufficient"]

    FOUND: ClassVar = {"id": "A123", "total": 840, "small": 5, "word": "blue"}

    @pytest.mark.parametrize(
        ("later", "text", "holds"),
        [
            ({"order": "A123"}, "", True),
            ({"amount": 840.0}, "", True),
            ({"note": "for a123!"}, "", True),
            ({"order": "A1234", "n": 5, "colour": "blue"}, "", False),
            ({}, "Your order A123 is here.", True),
        ],
    )
    def test_something_telling_comes_up_again(
        self, said: Callable[..., Any], call: Any, later: Any, text: str, holds: bool
    ) -> None:
        run = [call("find", result=self.FOUND), call("use", later)]

        expected = (
            "step 1 find: nothing of its result was used by a later call or in the final text"
        )
        found = said(ResultUsed("find"), run, final_text=text)
        assert found == ([] if holds else [("violated", expected)])

    def test_a_path_and_a_tool(self, said: Callable[..., Any], call: Any) -> None:
        run = [call("find", result=self.FOUND), call("use", {"c": "blue"}), call("mail")]

        assert said(ResultUsed("find", "word", "use"), run) == []
        assert said(ResultUsed("find", "word", "mail"), run) == [
            ("violated", "step 1 find: word of its result was not used by mail")
        ]

    def test_results_without_anything_telling_and_failures_need_no_use(
        self, said: Callable[..., Any], call: Any
    ) -> None:
        assert said(ResultUsed("find"), [call("find", result="fine")]) == []
        assert said(ResultUsed("find"), [call("find", result={"error": "A123"})]) == []

    def test_hidden_evidence(
        self, said: Callable[..., Any], call: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        find = call("find", result=self.FOUND)
        blind: dict[str, Any] = {"tool": "use", "ok": True}

        assert [s for s, _ in said(ResultUsed("find"), [find, blind])] == ["insufficient"]
        assert [s for s, _ in said(ResultUsed("find"), [find], final_text=None)] == ["insufficient"]
        assert [s for s, _ in said(ResultUsed("find"), [{"tool": "find", "ok": True}])] == [
            "insufficient"
        ]
        hidden = gapped([find, call("use")], Gap("missing_steps"), final_text="")
        assert [s for s, _ in said(ResultUsed("find"), hidden)] == ["insufficient"]


def test_calls_without_a_name_are_told_of_all_the_same(
    said: Callable[..., Any], run_of: Any
) -> None:
    batch = run_of([{"operation": "llm", "output": "[]"}, {"requested": True, "executed": False}])

    assert said(Executed(), batch) == [
        ("violated", "step 2 unnamed tool was asked for and never executed")
    ]
    assert said(Recovered(), run_of([{"ok": False}])) == [
        (
            "violated",
            "step 1 unnamed tool did not take effect; no successful unnamed tool came after it",
        )
    ]
    assert said(AdmitsFailure(), run_of([{"ok": False}], final_text="I did it.")) == []


def test_a_gap_may_hide_a_request(said: Callable[..., Any], run_of: Any) -> None:
    gaps = [{"name": "missing_steps", "position": None, "count": None, "detail": None}]
    batch = run_of([{"operation": "llm", "output": "[]"}, {"tool": "a"}], gaps=gaps)

    assert said(Executed(), batch) == [
        ("insufficient", "no request was left undone, but missing_steps may hide one")
    ]


def test_what_a_lookup_does_is_not_claimed(said: Callable[..., Any], call: Any) -> None:
    run = [call("refund", result=FAILED, kind="lookup")]

    assert said(AdmitsFailure(), run, final_text="Your refund is on its way.") == []


def test_titles_name_the_tool() -> None:
    assert [r.title for r in (Recovered(), Recovered("a"), Executed(), Executed("a"))] == [
        "recovered",
        "recovered: a",
        "executed",
        "executed: a",
    ]


def test_content_that_is_off_hides_what_was_asked_for(
    said: Callable[..., Any], run_of: Any
) -> None:
    gaps = [{"name": "content_off", "position": None, "count": None, "detail": None}]

    assert said(Executed(), run_of([{"operation": "llm"}, {"tool": "a"}], gaps=gaps)) == [
        ("insufficient", "what the model asked for was not recorded")
    ]


def test_a_call_of_which_the_model_was_told_a_result_was_made(
    said: Callable[..., Any], run_of: Any
) -> None:
    model = {"operation": "llm", "output": "[]"}
    told = {"tool": "a", "executed": False, "ok": None, "result": '"fine"'}

    assert said(Executed(), run_of([model, told])) == []
    assert [s for s, _ in said(Executed(), run_of([model, told | {"result": None}]))] == [
        "violated"
    ]


def test_another_tool_may_make_up_for_it(said: Callable[..., Any], call: Any) -> None:
    run = [call("pay", result=FAILED), call("pay_by_card")]

    assert said(Recovered("pay", by="pay_by_card"), run) == []
    assert said(Recovered("pay", by="p"), run) != []


def test_a_plain_word_of_a_result_may_be_its_use(said: Any, call: Any) -> None:
    run = [call("get", result={"id": "ORD-1001", "status": "shipped"})]
    texts = ("Your order shipped.", "ORD-1001 is here.", "I do not know.")
    found = [[s for s, _ in said(ResultUsed("get"), run, final_text=text)] for text in texts]
    assert found == [["insufficient"], [], ["violated"]]


def test_a_failed_second_attempt_took_no_effect_twice(refund: Any) -> None:
    run = [refund.lookup(), refund.refund(), refund.refund(status="failed")]
    rule = Sequence(("lookup_order", "refund_api.create"), extra="forbid")
    tools = {"refund_api.create": ToolSpec("mutate")}
    found = Policy(rule, tools=tools).findings(trajectory_of(run).batch)
    assert found
    assert "twice" not in found[0].sentence
