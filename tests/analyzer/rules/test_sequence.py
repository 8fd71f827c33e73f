"""`assert_step_sequence`: every line of what must hold, with the whole sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.model import NOT_RECORDED, Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import (
    InsufficientEvidenceError,
    StepSequenceError,
    StepSpec,
    ToolSpec,
    UnknownKindWarning,
    assert_step_sequence,
)

PATTERN: list[dict[str, Any]] = [
    {"tool": "lookup_order", "kind": "lookup", "entity_type": "order"},
    {"tool": "check_policy", "kind": "lookup"},
    {
        "tool": "refund_api.create",
        "kind": "mutate",
        "entity_arg": "order_id",
        "entity_type": "order",
        "success": '$.status == "succeeded"',
        "guard": "check_policy.eligible",
        "where": "amount == order.total",
    },
    {"tool": "send_email", "kind": "notify"},
]
REFUND_ONLY = [
    {"tool": "lookup_order", "kind": "lookup"},
    {"tool": "refund_api.create", "kind": "mutate", "entity_arg": "order_id"},
]


def violation(run: Any, pattern: Any = PATTERN, **options: Any) -> str:
    with pytest.raises(StepSequenceError) as raised:
        assert_step_sequence(run, pattern, **options)
    return str(raised.value)


def doubt(run: Any, pattern: Any = PATTERN, **options: Any) -> str:
    with pytest.raises(InsufficientEvidenceError) as raised:
        assert_step_sequence(run, pattern, **options)
    return str(raised.value)


def test_a_healthy_run_holds_as_records_and_as_a_trajectory(refund: Any) -> None:
    assert_step_sequence(refund.healthy(), PATTERN)
    assert_step_sequence(trajectory_of(refund.healthy()), [StepSpec(**spec) for spec in PATTERN])


class TestMissingAndTooEarly:
    def test_a_missing_step_was_never_recorded_although_it_is_claimed(self, refund: Any) -> None:
        run = trajectory_of(
            [refund.lookup(), refund.policy(), refund.email()],
            final_text="Good news! Your refund of $84.00 is on its way.",
        )

        assert violation(run) == (
            "refund_api.create was never recorded, but the final text claims it:"
            ' "Your refund of $84.00 is on its way"'
        )

    def test_what_the_text_takes_back_is_not_quoted(self, refund: Any) -> None:
        run = trajectory_of(
            [refund.lookup(), refund.policy(), refund.email()],
            final_text="Your refund could not be processed.",
        )

        assert violation(run) == "refund_api.create was never recorded"

    def test_a_missing_step_names_the_nearest_that_was_recorded(self, refund: Any) -> None:
        run = [refund.lookup(), refund.policy(), refund.refund() | {"tool": "refund_create"}]

        assert (
            violation([*run, refund.email()])
            == "refund_api.create was never recorded; nearest: refund_create at step 3"
        )

    def test_a_step_only_before_its_place_was_recorded_too_early(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(), refund.policy(), refund.email()]

        assert violation(run) == (
            "refund_api.create was recorded too early, at step 2:"
            " expected after check_policy at step 3"
        )

    def test_a_step_before_and_at_its_place_holds(self, refund: Any) -> None:
        run = [refund.policy(), refund.lookup(), refund.policy(), refund.refund(), refund.email()]

        assert_step_sequence(run, PATTERN)

    def test_a_step_expected_twice_and_recorded_once_is_counted(self, refund: Any) -> None:
        pattern = [{"tool": "lookup_order", "kind": "lookup"}] * 2

        assert violation([refund.lookup()], pattern) == (
            "lookup_order was recorded 1 time, expected 2"
        )

    def test_an_optional_step_may_be_left_out_and_may_be_taken(self, refund: Any) -> None:
        pattern = [PATTERN[0], PATTERN[1] | {"optional": True}]

        assert_step_sequence([refund.lookup()], pattern)
        assert_step_sequence([refund.lookup(), refund.policy()], pattern, extra="forbid")

    def test_the_finding_carries_step_expected_and_nearest(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(span_id="ab"), refund.policy(), refund.email()]
        with pytest.raises(StepSequenceError) as raised:
            assert_step_sequence(run, PATTERN)

        finding = raised.value.finding
        assert (finding.rule, finding.step, finding.span_id) == ("sequence", 2, "ab")
        assert (finding.expected, finding.got) == ("after step 3", "step 2")
        assert finding.nearest == "refund_api.create at step 2"


class TestSameEntity:
    def test_another_lookup_does_not_license_a_mutation(self, refund: Any) -> None:
        run = [refund.lookup(), refund.policy(), refund.refund(order="B2"), refund.email()]

        assert violation(run) == (
            'step 3 refund_api.create: order_id "B2" was returned by no earlier successful'
            ' lookup; nearest: "A1" from lookup_order at step 1'
        )

    def test_a_failed_lookup_establishes_nothing(self, refund: Any) -> None:
        failed = refund.lookup() | {"result": {"id": "A1", "error": "timeout"}}
        run = [refund.lookup("B2"), failed, refund.refund()]

        assert violation(run, REFUND_ONLY) == (
            'step 3 refund_api.create: order_id "A1" was looked up by lookup_order at step 2,'
            " which did not succeed"
        )

    def test_a_lookup_afterwards_establishes_nothing(self, refund: Any) -> None:
        run = [refund.lookup("B2"), refund.refund(), refund.lookup()]

        assert violation(run, REFUND_ONLY) == (
            'step 2 refund_api.create: order_id "A1" was looked up only afterwards,'
            " by lookup_order at step 3"
        )

    def test_a_lookup_that_the_pattern_does_not_list_counts(self, refund: Any) -> None:
        search = {"tool": "search", "kind": "lookup", "result": [{"id": "A1"}, {"id": "B2"}]}

        assert_step_sequence([search, refund.lookup("C3"), refund.refund("B2")], REFUND_ONLY)

    @pytest.mark.parametrize(
        ("result", "key", "entity"),
        [
            ({"id": 7}, None, 7),
            ({"id": 7}, None, 7.0),
            ({"id": [7, 8]}, None, 8),
            ([{"id": 7}, {"id": 8}], None, 8),
            ({"order": {"id": 7}}, None, 7),
            ({"order": {"id": 7}}, "order.id", 7),
            ({"orders": [{"no": 7}, {"no": 8}]}, "$.orders[*].no", 8),
            ({"id": {"region": "eu", "no": [1]}}, None, {"no": [1], "region": "eu"}),
            ({"ids": [1, 2, 3]}, "ids", [1, 3]),
            ({"order_number": "A1"}, "order_number", "A1"),
        ],
    )
    def test_ids_of_every_shape_are_found(
        self, refund: Any, result: Any, key: str | None, entity: Any
    ) -> None:
        lookup = {"tool": "lookup_order", "kind": "lookup"}
        if key is not None:
            lookup["entity_result_key"] = key
        run = [refund.lookup() | {"result": result}, refund.refund(entity)]

        assert_step_sequence(run, [lookup, REFUND_ONLY[1]])

    @pytest.mark.parametrize(
        ("result", "entity", "shown"),
        [
            ({"id": 7}, "7", '"7"'),
            ({"id": 1}, True, "true"),
            ({"id": None}, None, "null"),
            ({"id": [7, 8]}, [7, 9], "9"),
            ({"order": {"no": 7}}, 7, "7"),
        ],
    )
    def test_ids_of_another_type_or_place_are_not(
        self, refund: Any, result: Any, entity: Any, shown: str
    ) -> None:
        run = [refund.lookup() | {"result": result}, refund.refund(entity)]

        assert f"order_id {shown} was returned by no earlier" in violation(run, REFUND_ONLY)

    def test_an_exact_path_takes_no_id_from_elsewhere(self, refund: Any) -> None:
        lookup = REFUND_ONLY[0] | {"entity_result_key": "$.id"}
        run = [refund.lookup() | {"result": {"customer": {"id": "A1"}}}, refund.refund()]

        assert violation(run, [lookup, REFUND_ONLY[1]]) == (
            'step 2 refund_api.create: order_id "A1" was returned by no earlier successful'
            " lookup; nearest: lookup_order at step 1, whose result has no id at its declared"
            " place"
        )

    def test_a_lookup_of_another_type_does_not_license(self, refund: Any) -> None:
        lookup = {"tool": "lookup_order", "kind": "lookup", "entity_type": "customer"}
        refunding = REFUND_ONLY[1] | {"entity_type": "order"}

        assert "was returned by no earlier" in violation(
            [refund.lookup(), refund.refund()], [lookup, refunding]
        )

    def test_a_mutation_or_notification_licenses_nothing(self, refund: Any) -> None:
        made = {"tool": "create", "kind": "mutate", "result": {"id": "A1"}}
        told = {"tool": "tell", "kind": "notify", "result": {"id": "A1"}}
        pattern = [{"tool": "create", "kind": "mutate", "where": "true == false"}, REFUND_ONLY[1]]

        assert "was returned by no earlier" in violation(
            [refund.lookup("B2"), made, told, refund.refund()],
            [REFUND_ONLY[0], pattern[1]],
        )

    def test_without_entity_arg_any_earlier_successful_lookup_suffices(self, refund: Any) -> None:
        pattern = [{"tool": "refund_api.create", "kind": "mutate"}]

        assert_step_sequence([refund.lookup("B2", kind="lookup"), refund.refund()], pattern)
        assert violation([refund.refund(), refund.lookup(kind="lookup")], pattern) == (
            "step 1 refund_api.create has no earlier successful lookup"
        )

    def test_an_absent_entity_is_told_from_a_wrong_one(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund() | {"arguments": {"order": "A1"}}]

        assert violation(run, REFUND_ONLY) == (
            "step 2 refund_api.create: argument order_id is absent"
        )


class TestItHappened:
    @pytest.mark.parametrize(
        ("result", "why"),
        [
            ({"status": "failed"}, 'status "failed"'),
            ({"status": "Declined"}, 'status "Declined"'),
            ({"error": "no funds"}, 'error "no funds"'),
            ({"ok": False}, "ok false"),
            ({"ok": True, "status": "failed"}, 'status "failed"'),
            ({"success": False, "status": "succeeded"}, "success false"),
            ("Error: no such order", 'it answered "Error: no such order"'),
        ],
    )
    def test_a_mutation_whose_result_says_no_fulfils_nothing(
        self, refund: Any, result: Any, why: str
    ) -> None:
        run = [refund.lookup(), refund.refund() | {"result": result}]

        assert violation(run, REFUND_ONLY) == f"step 2 refund_api.create did not take effect: {why}"

    def test_a_call_that_raised_did_not_happen_although_it_is_claimed(self, refund: Any) -> None:
        run = trajectory_of(
            [refund.lookup(), refund.refund(error="TimeoutError")],
            final_text="I have refunded your order.",
        )

        assert violation(run, REFUND_ONLY) == (
            "step 2 refund_api.create did not take effect: it raised TimeoutError,"
            ' but the final text claims it: "I have refunded your order"'
        )

    def test_a_declared_predicate_decides_instead(self, refund: Any) -> None:
        done = REFUND_ONLY[1] | {"success": '$.status in ["queued", "done"]'}

        assert_step_sequence(
            [refund.lookup(), refund.refund(status="queued")], [REFUND_ONLY[0], done]
        )
        assert violation([refund.lookup(), refund.refund()], [REFUND_ONLY[0], done]) == (
            'step 2 refund_api.create did not take effect: $.status "succeeded",'
            ' expected in ["queued", "done"]'
        )

    @pytest.mark.parametrize("status", ["pending", "processing", "queued"])
    def test_a_pending_mutation_is_insufficient(self, refund: Any, status: str) -> None:
        assert doubt([refund.lookup(), refund.refund(status=status)], REFUND_ONLY) == (
            f'step 2 refund_api.create may not have taken effect: status "{status}"'
        )

    @pytest.mark.parametrize("status", ["failed", "pending"])
    def test_the_status_of_a_call_of_unknown_kind_may_be_that_of_what_it_found(
        self, refund: Any, status: str
    ) -> None:
        lookup = {"tool": "get_order", "result": {"id": "A1", "status": status}}

        assert doubt([lookup], ["get_order"]) == (
            f'step 1 get_order cannot be judged: status "{status}" may be that of the call or of'
            " what it found; declare the kind of get_order"
        )
        assert_step_sequence([lookup], [{"tool": "get_order", "kind": "lookup"}])
        assert_step_sequence([lookup | {"kind": "lookup"}, refund.refund()], REFUND_ONLY[1:])

    def test_an_error_of_a_call_of_unknown_kind_is_a_failure(self) -> None:
        assert violation([{"tool": "get_order", "result": {"error": "x"}}], ["get_order"])

    def test_a_failed_attempt_before_the_one_that_happened_does_no_harm(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(status="failed"), refund.refund()]

        assert_step_sequence(run, REFUND_ONLY)
        assert_step_sequence(run, REFUND_ONLY, extra="forbid")

    def test_the_status_of_what_was_looked_up_is_not_that_of_the_lookup(self, refund: Any) -> None:
        for status in ("cancelled", "pending", "failed"):
            lookup = refund.lookup() | {"result": {"id": "A1", "status": status}}
            assert_step_sequence([lookup, refund.refund()], REFUND_ONLY)


class TestDuplicateEffect:
    def test_a_second_mutation_of_the_entity_is_a_duplicate_effect(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(), refund.refund()]
        sentence = (
            'refund_api.create took effect twice on order_id "A1", at steps 2 and 3:'
            " duplicate effect"
        )

        assert violation(run, REFUND_ONLY) == sentence
        assert violation(run, REFUND_ONLY, extra="allow") == sentence

    def test_two_operations_are_named(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(operation_id="a"), refund.refund(operation_id="b")]

        assert violation(run, REFUND_ONLY) == (
            'refund_api.create took effect twice on order_id "A1", at steps 2 and 3'
            " (operation ids a, b): duplicate effect"
        )

    def test_what_the_final_text_claims_stands_beside_it(self, refund: Any) -> None:
        records = [refund.lookup(), refund.refund(), refund.refund()]
        run = trajectory_of(records, final_text="Your refund of $84.00 has been processed.")

        assert violation(run, REFUND_ONLY) == (
            'refund_api.create took effect twice on order_id "A1", at steps 2 and 3:'
            ' duplicate effect, while the final text claims: "Your refund of $84.00 has been'
            ' processed"'
        )

    def test_operation_ids_that_the_recorder_made_up_are_left_out(self, refund: Any) -> None:
        ids = ("run-1:2", "run-1:3")
        records = [refund.lookup(), *(refund.refund(operation_id=made) for made in ids)]

        assert violation(trajectory_of(records, run_id="run-1"), REFUND_ONLY) == (
            'refund_api.create took effect twice on order_id "A1", at steps 2 and 3:'
            " duplicate effect"
        )

    def test_one_operation_that_took_effect_twice_is_a_duplicate_too(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(operation_id="a"), refund.refund(operation_id="a")]

        assert "(operation id a, both): duplicate effect" in violation(run, REFUND_ONLY)

    @pytest.mark.parametrize("status", ["failed", "pending"])
    def test_one_operation_of_which_one_attempt_took_effect_holds(
        self, refund: Any, status: str
    ) -> None:
        first = refund.refund(status=status, operation_id="a")

        assert_step_sequence([refund.lookup(), first, refund.refund(operation_id="a")], REFUND_ONLY)

    def test_another_operation_that_may_have_taken_effect_is_insufficient(
        self, refund: Any
    ) -> None:
        first = refund.refund(status="pending", operation_id="a")
        run = [refund.lookup(), first, refund.refund(operation_id="b")]

        assert doubt(run, REFUND_ONLY) == (
            'step 2 refund_api.create may not have taken effect: status "pending"'
        )

    def test_the_operation_id_may_be_an_argument(self, refund: Any) -> None:
        def attempt(status: str) -> dict[str, Any]:
            call: dict[str, Any] = refund.refund(status=status)
            return call | {"arguments": call["arguments"] | {"idempotency_key": "k"}}

        assert_step_sequence(
            [refund.lookup(), attempt("pending"), attempt("succeeded")], REFUND_ONLY
        )

    @pytest.mark.parametrize("twice", [(["A1", "A2"], "A1"), ("A2", ["A1", "A2"])])
    def test_a_list_of_entities_acts_on_each(self, refund: Any, twice: tuple[Any, Any]) -> None:
        looked_up = [refund.lookup(), refund.lookup("A2")]
        run = [*looked_up, *map(refund.refund, twice)]

        assert "duplicate effect" in violation(run, REFUND_ONLY, extra="allow")
        apart = [*looked_up, refund.refund(["A1"]), refund.refund("A2")]
        assert_step_sequence(apart, REFUND_ONLY, extra="allow")

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ({"order_id": "[redacted:key_name]", "amount": 84.0}, "redacted"),
            (NOT_RECORDED, "not recorded"),
        ],
    )
    def test_an_entity_that_cannot_be_seen_may_be_the_same(
        self, refund: Any, arguments: Any, why: str
    ) -> None:
        second = refund.refund() | {"arguments": arguments}
        if arguments is NOT_RECORDED:
            del second["arguments"]
        run = [refund.lookup(), refund.refund(), second]

        assert doubt(run, REFUND_ONLY, extra="allow").endswith(f"a value of step 3 was {why}")

    @pytest.mark.parametrize(
        ("one", "other", "answer"),
        [
            ({"a": 1}, {"a": 1}, "violated"),
            ({"a": 1}, {"a": 2}, None),
            ({"a": 1, "to": "[redacted:email]"}, {"a": 2, "to": "[redacted:email]"}, None),
            ({"a": 1, "to": "[redacted:email]"}, {"a": 1}, None),
            ({"to": "[redacted:email]"}, {"to": "[redacted:email]"}, "redacted"),
            ({"to": "[redacted:email]"}, {"to": "x@y.z"}, "redacted"),
            ({"to": "x…[truncated 9 chars]"}, {"to": "x…[truncated 9 chars]"}, "cut off"),
        ],
    )
    def test_without_entities_the_same_arguments_are_the_same_effect(
        self, refund: Any, one: Any, other: Any, answer: str | None
    ) -> None:
        pay = {"tool": "pay", "result": {"ok": True}}
        run = [refund.lookup(), pay | {"arguments": one}, pay | {"arguments": other}]
        pattern = [REFUND_ONLY[0], {"tool": "pay", "kind": "mutate"}]

        if answer is None:
            assert_step_sequence(run, pattern, extra="allow")
        elif answer == "violated":
            assert "duplicate effect" in violation(run, pattern, extra="allow")
        else:
            assert answer in doubt(run, pattern, extra="allow")

    def test_a_pattern_that_lists_it_twice_allows_it_twice(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(), refund.refund()]

        assert_step_sequence(run, [*REFUND_ONLY, REFUND_ONLY[1]])


class TestGuards:
    def test_a_result_that_forbids_it_is_a_violation(self, refund: Any) -> None:
        run = [refund.lookup(), refund.policy(False), refund.refund(), refund.email()]

        assert violation(run) == (
            "step 3 refund_api.create ran although its guard forbids it:"
            " check_policy.eligible is false (from check_policy at step 2), expected true"
        )

    def test_a_guard_on_the_lookup_forbids_later_mutations(self, refund: Any) -> None:
        guarding = {"tool": "check_policy", "kind": "lookup", "guard": "$.eligible == true"}
        pattern = [REFUND_ONLY[0], guarding, REFUND_ONLY[1]]

        assert_step_sequence([refund.lookup(), refund.policy(), refund.refund()], pattern)
        assert violation([refund.lookup(), refund.policy(False), refund.refund()], pattern) == (
            "step 3 refund_api.create ran although check_policy at step 2 forbids it:"
            " $.eligible false, expected true"
        )

    def test_the_nearest_result_about_the_same_entity_decides(self, refund: Any) -> None:
        run = [
            refund.lookup(),
            refund.policy(False),
            refund.policy(True, order="B2"),
            refund.refund(),
            refund.email(),
        ]

        assert "check_policy.eligible is false (from check_policy at step 2)" in violation(run)

    def test_a_guard_that_nobody_asked_for_is_none(self, refund: Any) -> None:
        run = [refund.lookup(), refund.policy(False, kind="lookup"), refund.refund()]

        assert_step_sequence(run, REFUND_ONLY)

    def test_a_guard_that_cannot_be_read_is_not_fulfilled(self, refund: Any) -> None:
        pattern = [REFUND_ONLY[0], REFUND_ONLY[1] | {"guard": "check_policy.eligible"}]

        assert violation([refund.lookup(), refund.refund()], pattern) == (
            "step 2 refund_api.create ran although its guard forbids it:"
            " check_policy.eligible cannot be read: no earlier successful check_policy"
        )

    def test_a_guard_that_was_read_of_another_entity_says_so(self, refund: Any) -> None:
        run = [refund.lookup("A2"), refund.policy(order="A1"), refund.refund("A2")]
        pattern = [REFUND_ONLY[0], REFUND_ONLY[1] | {"guard": "check_policy.eligible"}]

        assert violation(run, pattern) == (
            "step 3 refund_api.create ran although its guard forbids it: check_policy.eligible"
            " cannot be read: no earlier successful check_policy of the same entity: check_policy"
            " at step 2 was of another"
        )

    @pytest.mark.parametrize("entity_type", [None, "order"])
    def test_a_guard_on_the_lookup_speaks_of_the_same_entity(
        self, refund: Any, gapped: Callable[..., Trajectory], entity_type: str | None
    ) -> None:
        guarding = {"tool": "check_policy", "kind": "lookup", "guard": "$.eligible == true"}
        pattern = [REFUND_ONLY[0], guarding, REFUND_ONLY[1] | {"entity_type": entity_type}]
        of_another = refund.policy(order="A2")
        denied = refund.policy(eligible=False)

        assert violation([refund.lookup(), of_another, refund.refund()], pattern) == (
            "step 3 refund_api.create ran although check_policy at step 2, whose guard must allow"
            " it, was of another"
        )
        assert violation([refund.lookup(), denied, of_another, refund.refund()], pattern) == (
            "step 4 refund_api.create ran although check_policy at step 2 forbids it:"
            " $.eligible false, expected true"
        )
        lost = {"tool": "check_policy", "result": {"eligible": True}}
        run = gapped([refund.lookup(), lost, refund.refund()], Gap("missing_value", position=1))
        assert doubt(run, pattern).startswith("step 3 refund_api.create cannot be judged")

    def test_the_nearest_lookup_is_one_that_returns_entities(self, refund: Any) -> None:
        listed = refund.lookup() | {"result": ["A1"]}
        run = [listed, refund.policy(), refund.refund("A2")]
        pattern = [PATTERN[0], {"tool": "check_policy", "kind": "lookup"}, REFUND_ONLY[1]]

        assert violation(run, pattern).endswith(
            "nearest: lookup_order at step 1, whose result has no id at its declared place"
        )

    def test_a_hidden_step_may_be_what_a_guard_reads(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        pattern = [REFUND_ONLY[0], REFUND_ONLY[1] | {"guard": "check_policy.eligible"}]
        declared = {"check_policy": ToolSpec("lookup")}
        run = gapped([refund.lookup(), refund.refund()], Gap("missing_steps"))

        assert doubt(run, pattern, tools=declared) == (
            "step 2 refund_api.create cannot be judged: missing_steps hides a value"
        )


class TestRelations:
    def test_a_halved_amount_names_both_values_and_their_source(self, refund: Any) -> None:
        run = [refund.lookup(), refund.policy(), refund.refund(amount=42.0), refund.email()]

        assert violation(run) == (
            "step 3 refund_api.create: amount 42.0, expected 84.0"
            " (order.total from lookup_order at step 1)"
        )

    @pytest.mark.parametrize(
        ("where", "amount", "sentence"),
        [
            (
                "amount <= lookup_order.total",
                8400.0,
                "amount 8400.0, expected <= 84.0 (lookup_order.total from lookup_order at step 1)",
            ),
            (
                "lookup_order.total >= amount",
                8400.0,
                "amount 8400.0, expected <= 84.0 (lookup_order.total from lookup_order at step 1)",
            ),
            (
                "amount == check_policy.refundable",
                84.5,
                "amount 84.5, expected 84.0 (check_policy.refundable from check_policy at step 2)",
            ),
            (
                "amount == lookup_order.total",
                "84.0",
                'amount "84.0" (text), expected 84.0 (number)'
                " (lookup_order.total from lookup_order at step 1)",
            ),
            ("not (amount > 100)", 101, "amount 101, expected <= 100"),
            ("amount < 100 and amount > 10", 5, "amount 5, expected > 10"),
        ],
    )
    def test_a_broken_relation_says_so(
        self, refund: Any, where: str, amount: Any, sentence: str
    ) -> None:
        pattern = [REFUND_ONLY[0], REFUND_ONLY[1] | {"where": where}]
        run = [refund.lookup(), refund.policy(), refund.refund(amount=amount)]

        assert violation(run, pattern) == f"step 3 refund_api.create: {sentence}"

    def test_the_amount_of_the_same_order_counts_not_of_the_last_one(self, refund: Any) -> None:
        run = [refund.lookup("A1", 84.0), refund.lookup("B2", 500.0), refund.refund(amount=400.0)]
        pattern = [REFUND_ONLY[0], REFUND_ONLY[1] | {"where": "amount <= lookup_order.total"}]

        assert violation(run, pattern) == (
            "step 3 refund_api.create: amount 400.0, expected <= 84.0"
            " (lookup_order.total from lookup_order at step 1)"
        )


class TestExtras:
    def test_extra_lookups_are_allowed(self, refund: Any) -> None:
        again = refund.lookup("B2", kind="lookup")

        assert_step_sequence([again, *refund.healthy(), again], PATTERN)

    def test_an_extra_mutation_violates_by_default_and_may_be_allowed(self, refund: Any) -> None:
        delete = {"tool": "delete_account", "kind": "mutate", "arguments": {}, "result": "ok"}
        run = [*refund.healthy(), delete]

        assert violation(run) == (
            "step 5 delete_account is a mutation that the pattern does not list"
        )
        assert_step_sequence(run, PATTERN, extra="allow")

    def test_an_extra_mutation_that_did_not_happen_is_no_effect(self, refund: Any) -> None:
        delete = {"tool": "delete_account", "kind": "mutate", "result": {"status": "denied"}}

        assert_step_sequence([*refund.healthy(), delete], PATTERN)

    def test_a_mutation_of_another_entity_is_an_extra(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(), refund.lookup("B2"), refund.refund("B2")]

        assert violation(run, REFUND_ONLY) == (
            'step 4 refund_api.create is a mutation on order_id "B2" that the pattern does not list'
        )
        assert_step_sequence(run, REFUND_ONLY, extra="allow")

    def test_an_extra_notification_is_no_read(self, refund: Any) -> None:
        assert violation([*refund.healthy(), refund.email()]) == (
            "step 5 send_email is a notification that the pattern does not list"
        )

    def test_forbid_allows_no_extra_but_a_repeated_attempt(self, refund: Any) -> None:
        again = refund.lookup("B2", kind="lookup")
        failed = refund.lookup() | {"result": {"error": "timeout"}}

        assert_step_sequence([failed, *refund.healthy()], PATTERN, extra="forbid")
        assert violation([*refund.healthy(), again], extra="forbid") == (
            'step 5 lookup_order is not in the pattern, and extra="forbid"'
        )

    def test_an_extra_of_unknown_kind_is_allowed_with_a_warning(self, refund: Any) -> None:
        with pytest.warns(UnknownKindWarning, match="step 5 ponder is no step of the pattern"):
            assert_step_sequence([*refund.healthy(), {"tool": "ponder", "result": 1}], PATTERN)


class TestParallelCalls:
    def test_reads_of_one_turn_may_come_in_any_order(self, refund: Any) -> None:
        both = [refund.policy(group=1), refund.lookup(group=1)]

        assert_step_sequence([*both, refund.refund(), refund.email()], PATTERN)

    def test_a_mutation_does_not_see_results_of_its_own_turn(self, refund: Any) -> None:
        run = [refund.lookup(group=1), refund.refund(group=1)]

        assert violation(run, REFUND_ONLY) == (
            "refund_api.create at step 2 was called in the same model turn as lookup_order at"
            " step 1: it could not build on its result"
        )

    def test_a_lookup_of_the_same_turn_grounds_nothing(self, refund: Any) -> None:
        run = [refund.lookup("B2"), refund.lookup(group=1), refund.refund(group=1)]

        assert violation(run, REFUND_ONLY) == (
            'step 3 refund_api.create: order_id "A1" was looked up in the same model turn,'
            " by lookup_order at step 2: its result was not seen"
        )


class TestHiddenEvidence:
    def test_no_trace_at_all_is_insufficient(self) -> None:
        assert doubt([]) == "nothing was recorded of this run: no step, no final text"

    def test_a_run_that_did_nothing_is_a_violation(self) -> None:
        assert violation(trajectory_of([], final_text="Hello")) == "lookup_order was never recorded"

    def test_a_missing_step_may_hide_what_was_not_seen(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [refund.lookup(), refund.policy(), refund.email()]

        assert doubt(gapped(run, Gap("missing_steps"))) == (
            "refund_api.create was not seen, but missing_steps may hide it"
        )

    def test_fewer_hidden_than_missing_steps_hide_nothing(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = gapped([refund.lookup(), refund.policy()], Gap("missing_steps", count=1))

        assert violation(run) == "send_email was never recorded"

    def test_a_hidden_step_at_the_wrong_place_hides_nothing(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [refund.refund(), refund.email(), refund.email()]
        pattern = [*REFUND_ONLY, PATTERN[3]]

        assert violation(gapped(run, Gap("missing_steps", position=2)), pattern)
        assert doubt(gapped(run[:2], Gap("missing_steps", position=0)), pattern)

    def test_a_gap_that_changes_nothing_is_passed_over(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        harmless = [
            Gap("missing_parent"),
            Gap("dropped_attributes"),
            Gap("content_off", position=3),
        ]

        assert_step_sequence(gapped(refund.healthy(), *harmless), PATTERN)

    def test_hidden_extras_are_no_pass(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        assert doubt(gapped(refund.healthy(), Gap("missing_steps"))) == (
            "no extra step was seen, but missing_steps may hide one"
        )

    def test_what_was_seen_stands_behind_every_gap(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [refund.lookup(), refund.refund(), refund.refund()]

        assert "duplicate effect" in violation(gapped(run, Gap("missing_steps")), REFUND_ONLY)

    def test_a_value_that_was_not_recorded_is_insufficient(self, refund: Any) -> None:
        no_result = refund.refund()
        del no_result["result"]

        assert doubt([refund.lookup(), no_result], REFUND_ONLY) == (
            "step 2 refund_api.create cannot be judged: a value of step 2 was not recorded"
        )

    def test_content_off_names_itself(self, refund: Any, gapped: Callable[..., Trajectory]) -> None:
        blind = refund.lookup(ok=True)
        del blind["result"]
        run = gapped([blind, refund.refund()], Gap("content_off", position=0))

        assert doubt(run, REFUND_ONLY) == (
            "step 2 refund_api.create cannot be judged:"
            " a value of step 1 was not recorded (content_off)"
        )

    def test_recorded_entity_refs_do_without_content(self, refund: Any) -> None:
        lookup = {"tool": "lookup_order", "kind": "lookup", "ok": True}
        refunding = {"tool": "refund_api.create", "ok": True, "entity_refs": ["order:A1"]}

        assert_step_sequence([lookup | {"entity_refs": ["order:A1"]}, refunding], REFUND_ONLY)
        assert 'order_id "A1" was returned by no earlier' in violation(
            [lookup | {"entity_refs": ["order:B2"]}, refunding], REFUND_ONLY
        )

    def test_skewed_clocks_hide_the_order(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [refund.policy(), refund.lookup()]
        pattern = PATTERN[:2]

        assert doubt(gapped(run, Gap("clock_skew")), pattern) == (
            "the order of the steps cannot be judged: clock_skew, and nothing else orders them"
        )
        assert violation(gapped(run[:1], Gap("clock_skew")), pattern)

    def test_more_is_missing_than_a_gap_can_hide(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        pattern = ["lookup_order", "check_policy", "check_policy"]
        hidden = gapped([refund.policy(), refund.policy(), refund.email()], Gap("missing_steps", 2))

        assert violation(hidden, pattern) == "lookup_order was never recorded"

    def test_step_indices_order_in_spite_of_skewed_clocks(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [refund.lookup(step=1), refund.policy(step=2)]

        assert_step_sequence(gapped(run, Gap("clock_skew")), PATTERN[:2])


class TestWrongPatterns:
    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"tol": "x"}, "unknown key 'tol', did you mean 'tool'?"),
            ({"tool": "x", "kind": "mutation"}, "unknown kind 'mutation', did you mean 'mutate'?"),
            ({"optional": True}, "a step needs `tool` or `kind`"),
            ({"tool": "x", "where": "amount ="}, "'amount =': write == to compare"),
            ({"tool": "x", "entity_result_key": "$.a["}, "'$.a[' is no JSONPath"),
        ],
    )
    def test_a_wrong_step_is_refused(self, spec: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError) as raised:
            assert_step_sequence([], [spec])
        assert str(raised.value).startswith(message)

    def test_two_kinds_for_one_tool_are_refused(self) -> None:
        with pytest.raises(ValueError, match="the kind of x is said to be both"):
            assert_step_sequence(
                [], [{"tool": "x", "kind": "lookup"}, {"tool": "x", "kind": "mutate"}]
            )

    def test_an_empty_pattern_and_an_unknown_policy_for_extras_are_refused(self) -> None:
        with pytest.raises(ValueError, match="a sequence needs at least one step"):
            assert_step_sequence([], [])
        with pytest.raises(ValueError, match="unknown extra 'read', did you mean 'reads'"):
            assert_step_sequence([], ["a"], extra="read")  # type: ignore[arg-type]
