"""The refund run against its baseline: each way to go wrong, and what is no difference."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trackway_analyzer.diff import BaselineDriftError, TrajectoryDiff, diff_trajectories

Records = list[dict[str, Any]]
KINDS = {
    "lookup_order": "lookup",
    "check_policy": "lookup",
    "refund_api.create": "mutate",
    "send_email": "notify",
}


def diff(reference: Records, candidate: Records, **options: Any) -> TrajectoryDiff:
    options.setdefault("kinds", KINDS)
    return diff_trajectories(reference, candidate, **options)


def spoiled(records: Records, step: int, **arguments: Any) -> Records:
    records = copy.deepcopy(records)
    records[step - 1]["arguments"] |= arguments
    return records


def test_a_run_does_not_differ_from_itself(refund: Records) -> None:
    found = diff(refund, refund)

    assert found.status == "ok"
    assert (found.matched_steps, found.drifted_steps) == (4, 0)
    assert found.first_divergence is None
    assert not found.differences


def test_a_halved_amount_warns_where_nobody_declared_what_tools_do(refund: Records) -> None:
    found = diff(refund, spoiled(refund, 3, amount=42.0), kinds=None)

    assert found.status == "warning"
    assert found.to_dict()["argument_drift"] == [
        {
            "step": 3,
            "tool": "refund_api.create",
            "arg": "$.amount",
            "reference_value": 84.0,
            "candidate_value": 42.0,
        }
    ]
    assert not found.terminal_action_changed
    assert (found.matched_steps, found.drifted_steps) == (3, 1)


def test_a_halved_amount_of_a_declared_mutation_fails(refund: Records) -> None:
    found = diff(refund, spoiled(refund, 3, amount=42.0), kinds={"refund_api.create": "mutate"})

    assert found.status == "fail"
    assert found.failures == (
        "step 3 refund_api.create: $.amount 42.0, reference 84.0"
        " (from lookup_order $.total at step 1)",
    )
    assert len(found.argument_drift) == 1


def test_another_order_fails_however_similar_its_id(refund: Records) -> None:
    found = diff(refund, spoiled(refund, 3, order_id="A9129"))

    assert found.failures == (
        'step 3 refund_api.create: $.order_id "A9129", reference "A9128"'
        " (from lookup_order $.id at step 1)",
    )


def test_the_wording_of_a_mutation_warns(refund: Records) -> None:
    found = diff(refund, spoiled(refund, 3, note="broken on arrival"))

    assert (found.status, len(found.warnings)) == ("warning", 1)


def test_a_skipped_refund_is_missing(refund: Records) -> None:
    found = diff(refund, [step for step in refund if step["tool"] != "refund_api.create"])

    assert found.missing_in_candidate == ("refund_api.create",)
    assert found.failures == (
        'reference step 3 refund_api.create(amount=84.0, note="arrived broken",'
        ' order_id="A9128") is missing in the candidate',
    )
    assert found.first_divergence is not None
    assert found.first_divergence.reference_step == 3
    assert not found.argument_drift


def test_a_double_refund_is_a_new_mutation(refund: Records) -> None:
    found = diff(refund, [*refund[:3], refund[2], refund[3]])

    assert found.unexpected_in_candidate == ("refund_api.create",)
    assert found.failures == (
        'step 4 refund_api.create(amount=84.0, note="arrived broken", order_id="A9128")'
        " is a new mutation, a repeat of step 3",
    )


def test_multiplicity_is_kept_on_both_sides(refund: Records) -> None:
    thrice = [refund[0], refund[0], refund[0], *refund[1:]]

    assert diff(refund, thrice).unexpected_in_candidate == ("lookup_order", "lookup_order")
    assert diff(thrice, refund).missing_in_candidate == ("lookup_order", "lookup_order")


def test_an_extra_attempt_that_did_not_take_effect_warns(refund: Records) -> None:
    declined = {**refund[2], "result": {"status": "declined"}}
    found = diff(refund, [*refund[:2], declined, *refund[2:]])

    assert (found.status, found.argument_drift) == ("warning", ())
    assert found.unexpected_in_candidate == ("refund_api.create",)
    assert found.warnings[0].endswith("a repeat of step 4, which did not take effect")


def test_an_attempt_that_the_candidate_did_not_need_warns(refund: Records) -> None:
    declined = {**refund[2], "result": {"status": "declined"}}
    found = diff([*refund[:2], declined, *refund[2:]], refund)

    assert (found.status, found.missing_in_candidate) == ("warning", ("refund_api.create",))


def test_a_refund_that_did_not_take_effect_fails(refund: Records) -> None:
    failed = copy.deepcopy(refund)
    failed[2]["result"] = {"status": "failed"}
    found = diff(refund, failed)

    assert found.failures == (
        'step 3 refund_api.create: did not take effect ({"status":"failed"}), did in the reference',
    )
    assert diff(failed, refund).status == "fail"


def test_a_refund_before_the_policy_is_reordered(refund: Records) -> None:
    early = [refund[0], refund[2], refund[1], refund[3]]
    found = diff(refund, early, kinds=None)

    assert found.status == "warning"
    assert found.to_dict()["reordered"] == [
        {
            "step": 2,
            "tool": "refund_api.create",
            "reference_step": 3,
            "across": "check_policy",
            "across_step": 3,
        }
    ]
    assert not found.missing_in_candidate
    assert not found.argument_drift


def test_a_refund_asked_for_together_with_its_lookup_is_reordered(refund: Records) -> None:
    together = copy.deepcopy(refund)
    together[1]["group"] = together[2]["group"] = 1
    found = diff(refund, together)

    assert found.warnings == (
        "step 3 refund_api.create ran in one turn with step 2 check_policy, after it in the"
        " reference: refund_api.create was given 84 from the result of check_policy",
    )


def test_two_lookups_of_one_order_may_change_places(refund: Records) -> None:
    found = diff(refund, [refund[1], refund[0], *refund[2:]])

    assert (found.status, found.reordered) == ("ok", ())


def test_whole_independent_blocks_may_change_places(refund: Records) -> None:
    other = [
        {
            **step,
            "arguments": {
                k: {"A9128": "B77", 84.0: 30.0}.get(v, v) for k, v in step["arguments"].items()
            },
            "result": {
                k: {"A9128": "B77", 84.0: 30.0}.get(v, v) for k, v in step["result"].items()
            },
        }
        for step in refund[:3]
    ]
    last = refund[3]
    found = diff([*refund[:3], *other, last], [*other, *refund[:3], last])

    assert (found.status, found.matched_steps) == ("ok", 7)


def test_an_inserted_step_hides_no_later_difference(refund: Records) -> None:
    extra = {"tool": "search_kb", "arguments": {"query": "refunds"}, "result": []}
    found = diff(refund, [extra, *spoiled(refund, 3, amount=42.0)])

    assert found.unexpected_in_candidate == ("search_kb",)
    assert [(d.tool, d.path) for d in found.argument_drift] == [("refund_api.create", "$.amount")]
    assert found.failures == (
        "step 4 (reference step 3) refund_api.create: $.amount 42.0, reference 84.0"
        " (from lookup_order $.total at step 1)",
    )


def test_another_final_action_fails(refund: Records) -> None:
    found = diff(refund, [*refund, {"tool": "escalate", "arguments": {}, "result": {}}])

    assert found.terminal_action_changed
    assert (found.reference_terminal, found.candidate_terminal) == ("send_email", "escalate")
    assert found.failures == ("the final action is escalate, in the reference send_email",)


def test_the_category_of_the_final_action_counts(refund: Records) -> None:
    reference, update = refund[:3], {**refund[2], "tool": "refund_api.update"}
    same = diff(reference, [*refund[:3], update])
    declared = diff(
        refund,
        [*refund[:3], {**refund[3], "tool": "send_sms"}],
        categories={"send_email": "tell", "send_sms": "tell"},
    )

    assert not same.terminal_action_changed
    assert not declared.terminal_action_changed


def test_a_final_parallel_group_compares_as_a_set(refund: Records) -> None:
    sms = {**refund[3], "tool": "send_sms"}
    email_then_sms = [*refund[:3], {**refund[3], "group": 1}, {**sms, "group": 1}]
    sms_then_email = [*refund[:3], {**sms, "group": 1}, {**refund[3], "group": 1}]

    found = diff(email_then_sms, sms_then_email)
    assert found.status == "ok"
    assert found.reference_terminal == ("send_email", "send_sms")
    assert diff(email_then_sms, refund).terminal_action_changed


def test_strict_raises_with_the_report_where_the_status_is_fail(refund: Records) -> None:
    with pytest.raises(BaselineDriftError) as raised:
        diff(refund, spoiled(refund, 3, amount=42.0), strict=True)

    assert raised.value.diff.status == "fail"
    assert str(raised.value) == str(raised.value.diff)
    assert diff(refund, spoiled(refund, 3, note="x"), strict=True).status == "warning"


def test_the_dictionary_has_the_promised_keys(refund: Records) -> None:
    assert {
        "missing_in_candidate",
        "unexpected_in_candidate",
        "reordered",
        "argument_drift",
        "result_drift",
        "terminal_action_changed",
        "reference_terminal",
        "candidate_terminal",
        "first_divergence",
        "status",
        "failures",
        "warnings",
        "matched_steps",
        "drifted_steps",
    } <= diff(refund, refund).to_dict().keys()
