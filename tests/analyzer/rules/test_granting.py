"""An approval without `granted` counts where its result says yes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Approved, EntitySpec, Policy, ToolSpec
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.granting import grants

YES: list[Any] = [
    *(True, "yes", "Approved.", "approved by ann", "Yes, go ahead!", "ok", "permission granted"),
    *({"approved": True}, {"isApproved": "yes"}, {"approval_granted": 1}, {"eligible": True}),
    *({"ok": True}, {"status": "approved"}, {"decision": "Allow"}, {"data": {"approved": True}}),
    *({"approved": True, "note": "no rush", "approved_by": "ann"}, {"approved": ["A1"]}),
    *({"not_denied": True}, {"approved": True, "denied": False}, {"success": True}),
]
NO: list[Any] = [
    *(False, "no", "Denied", "not approved", "No, that is too much", "rejected by ann"),
    *({"approved": False}, {"approved": "denied"}, {"granted": 0}, {"eligible": False}),
    *({"ok": True, "approved": False}, {"ok": False}, {"status": "declined"}, {"denied": True}),
    *({"data": {"approved": "no"}}, {"approved": []}, {"not_approved": True}),
]
NEITHER: list[Any] = [
    *(None, 7, [], {}, "", "done", "I asked ann", "approved if under 50", "yes but not today"),
    *({"ticket": "T1"}, {"requires_approval": True}, {"approval_id": "x"}, {"approved_by": "ann"}),
    *({"approved": True, "rejected": True}, {"approved": "maybe"}, {"denied": False}),
    *({"status": "asked"}, "no objections were asked for"),
]


@pytest.mark.parametrize("result", YES)
def test_a_yes(result: Any) -> None:
    assert grants(result) is True


@pytest.mark.parametrize("result", NO)
def test_a_no(result: Any) -> None:
    assert grants(result) is False


@pytest.mark.parametrize("result", NEITHER)
def test_neither(result: Any) -> None:
    assert grants(result) is None


ORDER = {"pay": ToolSpec(kind="mutate", entity=EntitySpec(type="order", argument="order_id"))}


class TestApprovedByTheResultAlone:
    @pytest.fixture
    def states(self, call: Any) -> Callable[..., list[str]]:
        def judge(*answers: Any, of: str = "A1", tools: Any = ORDER) -> list[str]:
            asks = [call("ask", {"order_id": of}, answer) for answer in answers]
            run = trajectory_of([*asks, call("pay", {"order_id": "A1"})], final_text="")
            policy = Policy(Approved("pay", "ask"), tools=tools)
            return [finding.state.value for finding in policy.findings(run.batch)]

        return judge

    def test_a_yes_is_an_approval_and_a_no_is_none(self, states: Any) -> None:
        assert states({"approved": True}) == []
        assert states({"approved": False}) == ["violated"]
        assert states({"ticket": "T1"}) == ["insufficient"]

    def test_a_refusal_or_a_grant_of_another_thing_is_none(self, states: Any) -> None:
        assert states({"approved": False}, of="A2") == ["violated"]
        assert states({"approved": True}, of="A2") == ["violated"]

    def test_a_later_refusal_takes_it_back(self, states: Any) -> None:
        assert states({"approved": True}, {"approved": False}) == ["violated"]
        assert states({"approved": False}, {"approved": True}) == []

    def test_a_declared_success_decides_alone(self, states: Any) -> None:
        declared = {**ORDER, "ask": ToolSpec(success=compiled('$.ticket == "T1"'))}
        assert states({"ticket": "T1"}, tools=declared) == []
        assert states({"ticket": "T2"}, tools=declared) == ["violated"]

    def test_an_answer_that_was_not_recorded_leaves_it_open(
        self, said: Callable[..., Any], call: Any
    ) -> None:
        run = [{"tool": "ask", "ok": True, "arguments": {}}, call("pay")]
        assert [state for state, _ in said(Approved("pay", "ask"), run)] == ["insufficient"]

    def test_the_sentence_says_what_refused(self, said: Callable[..., Any], call: Any) -> None:
        run = [call("ask", {}, {"approved": False}), call("pay")]
        assert said(Approved("pay", "ask"), run) == [
            (
                "violated",
                "step 2 pay ran without an earlier approval by ask: ask at step 1 did not grant"
                " it: approved false",
            )
        ]
