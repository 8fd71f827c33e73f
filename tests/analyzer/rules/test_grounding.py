"""Arguments come from what the agent had seen; made-up identifiers are found without a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import (
    Arguments,
    EntitySpec,
    Grounded,
    InsufficientEvidenceError,
    Policy,
    RuleViolationError,
    ToolSpec,
    find_ungrounded,
)
from trackway_analyzer.rules.grounding import Origin
from trackway_analyzer.rules.identifiers import identifiers, words

TOOLS = {
    "lookup_order": ToolSpec("lookup", EntitySpec("order", None, "$.id")),
    "refund_api.create": ToolSpec("mutate", EntitySpec("order", "order_id", None)),
}


def violation(rule: Grounded, run: Any) -> str:
    with pytest.raises(RuleViolationError) as raised:
        rule.assert_holds(run, tools=TOOLS)
    return str(raised.value)


def doubt(rule: Grounded, run: Any) -> str:
    with pytest.raises(InsufficientEvidenceError) as raised:
        rule.assert_holds(run, tools=TOOLS)
    return str(raised.value)


ORDER = Grounded("refund_api.create", "order_id", "order")


SECRET = "[redacted:key_name]"


class TestRedactedValues:
    @pytest.mark.parametrize("source", ["order", "lookup_order.id", "lookup_order", None, "input"])
    def test_equal_markers_are_not_the_same_value(self, refund: Any, source: Any) -> None:
        run = [refund.lookup(SECRET), refund.refund(SECRET)]

        assert doubt(Grounded("refund_api.create", "order_id", source), run) == (
            "step 2 refund_api.create: order_id's origin cannot be judged:"
            " a value of step 2 was redacted"
        )

    @pytest.mark.parametrize("source", ["order", "lookup_order.id", "lookup_order", None])
    def test_a_marker_may_hide_the_value_that_was_returned(self, refund: Any, source: Any) -> None:
        run = [refund.lookup(SECRET), refund.refund("A1")]

        rule = Grounded("refund_api.create", "order_id", source)
        assert "a value of step 1 was redacted" in doubt(rule, run)

    def test_other_values_beside_a_marker_are_seen(self, refund: Any) -> None:
        run = [refund.lookup(total=SECRET), refund.refund("A1", SECRET)]
        ORDER.assert_holds(run, tools=TOOLS)

        run = [refund.lookup(total=SECRET), refund.refund("B2", SECRET)]
        assert 'order_id "B2" does not come from order' in violation(ORDER, run)

    def test_a_redacted_input_may_hold_the_value(self, refund: Any) -> None:
        run = trajectory_of([refund.refund("A1")], input=f"refund {SECRET}")
        rule = Grounded("refund_api.create", "order_id", "input")

        assert doubt(rule, run).endswith("a value was redacted")


class TestPlainTexts:
    @pytest.mark.parametrize("source", ["lookup_order", None])
    @pytest.mark.parametrize(("order", "holds"), [("A1", True), ("A", False), ("A12", False)])
    def test_a_text_returns_the_words_in_it(
        self, refund: Any, source: Any, order: str, holds: bool
    ) -> None:
        lookup = refund.lookup() | {"result": "Order A1 costs 5"}
        rule = Grounded("refund_api.create", "order_id", source)

        run = trajectory_of([lookup, refund.refund(order)], input="please refund it")
        if holds:
            rule.assert_holds(run, tools=TOOLS)
        else:
            violation(rule, run)
        assert len(find_ungrounded(run)) == (order == "A12")

    def test_json_in_a_text_is_read_as_that(self, refund: Any) -> None:
        lookup = refund.lookup() | {"result": '{"id": "A1"}'}

        ORDER.assert_holds([lookup, refund.refund("A1")], tools=TOOLS)
        violation(ORDER, [lookup, refund.refund("B2")])


class TestSources:
    def test_an_entity_type_takes_the_ids_that_its_lookups_returned(self, refund: Any) -> None:
        ORDER.assert_holds([refund.lookup(), refund.refund()], tools=TOOLS)

        assert violation(ORDER, [refund.lookup(), refund.refund("B2")]) == (
            'step 2 refund_api.create: order_id "B2" does not come from order;'
            ' nearest: "A1" from lookup_order at step 1'
        )

    @pytest.mark.parametrize(
        ("source", "amount", "holds"),
        [
            ("lookup_order.total", 84.0, True),
            ("lookup_order.total", 84, True),
            ("lookup_order.total", 42.0, False),
            ("lookup_order.id", 84.0, False),
            ("lookup_order", 84.0, True),
            ("check_policy.refundable", 84.0, False),
            (("check_policy.refundable", "lookup_order['total']"), 84.0, True),
            (None, 84.0, True),
            (None, 42.0, False),
        ],
    )
    def test_a_tool_with_or_without_a_path(
        self, refund: Any, source: Any, amount: Any, holds: bool
    ) -> None:
        rule = Grounded("refund_api.create", "amount", source)
        run = trajectory_of([refund.lookup(), refund.refund(amount=amount)], input="hello")
        if holds:
            rule.assert_holds(run, tools=TOOLS)
        else:
            assert f"amount {amount}" in violation(rule, run)

    def test_a_tool_with_dots_stands_in_quotes_or_is_declared(self, refund: Any) -> None:
        run = [refund.refund(), refund.email() | {"arguments": {"refund": "re_1"}}]
        quoted = Grounded("send_email", "refund", '"refund_api.create".id')

        quoted.assert_holds(run, tools=TOOLS)
        Grounded("send_email", "refund", "refund_api.create").assert_holds(run, tools=TOOLS)

    @pytest.mark.parametrize(
        ("text", "holds"),
        [("Refund order A1, please", True), ("refund a1!", True), ("refund A12", False)],
    )
    def test_the_users_input(self, refund: Any, text: str, holds: bool) -> None:
        rule = Grounded("refund_api.create", "order_id", "input")
        run = trajectory_of([refund.refund()], input=text)
        if holds:
            rule.assert_holds(run)
        else:
            assert violation(rule, run) == (
                'step 1 refund_api.create: order_id "A1" does not come from the user\'s input'
            )

    def test_numbers_in_the_input_are_numbers(self, refund: Any) -> None:
        rule = Grounded("refund_api.create", "amount", "input")

        rule.assert_holds(trajectory_of([refund.refund()], input="I want my $84.00 back"))
        assert violation(rule, trajectory_of([refund.refund()], input="I want $840 back"))

    def test_what_the_user_said_in_an_earlier_turn_counts_what_the_agent_said_does_not(
        self, run_of: Callable[..., RunBatch]
    ) -> None:
        def batch(role: str, position: int) -> RunBatch:
            messages = [{"role": role, "parts": [{"type": "text", "content": "order A1"}]}]
            model = {"operation": "llm", "input": orjson.dumps(messages).decode()}
            call = {"tool": "refund", "arguments": '{"order_id":"A1"}', "result": "{}"}
            return run_of([model, call] if position == 0 else [call, model], input="hello")

        rule = Grounded("refund", "order_id", "input")

        assert not rule.check(batch("user", 0))
        assert rule.check(batch("assistant", 0))
        assert rule.check(batch("user", 1))

    def test_a_failed_or_later_or_parallel_result_grounds_nothing(self, refund: Any) -> None:
        failed = refund.lookup() | {"result": {"id": "A1", "error": "x"}}

        assert violation(ORDER, [failed, refund.refund()])
        assert violation(ORDER, [refund.refund(), refund.lookup()])
        assert violation(ORDER, [refund.lookup(group=1), refund.refund(group=1)])

    def test_each_element_of_a_list_is_grounded(self, refund: Any) -> None:
        run = [refund.lookup("A1"), refund.lookup("B2")]

        ORDER.assert_holds([*run, refund.refund(["A1", "B2"])], tools=TOOLS)
        assert 'order_id ["A1","C3"] does not' in violation(
            ORDER, [*run, refund.refund(["A1", "C3"])]
        )

    def test_a_misspelt_argument_is_insufficient_and_named(self, refund: Any) -> None:
        with pytest.raises(InsufficientEvidenceError) as raised:
            Grounded("refund_api.create", "orderid").assert_holds(refund.healthy())
        assert str(raised.value) == (
            "step 3 refund_api.create has no argument orderid to ground, did you mean order_id?"
        )

    def test_a_call_without_the_argument_has_nothing_to_ground(self, refund: Any) -> None:
        ORDER.assert_holds([refund.refund() | {"arguments": {}}], tools=TOOLS)

    def test_every_call_is_looked_at_also_one_that_failed(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund(), refund.refund("B2", status="failed")]

        assert "step 3 refund_api.create" in violation(ORDER, run)

    def test_a_relation_needs_no_equal_value(self, refund: Any) -> None:
        rule = Grounded("refund_api.create", "amount", relation="amount <= lookup_order.total")

        rule.assert_holds([refund.lookup(), refund.refund(amount=10)], tools=TOOLS)
        assert violation(rule, [refund.lookup(), refund.refund(amount=90)]) == (
            "step 2 refund_api.create: amount 90, expected <= 84.0"
            " (lookup_order.total from lookup_order at step 1)"
        )

    def test_the_provenance_names_the_step(self, refund: Any) -> None:
        run = [refund.lookup(), refund.refund()]
        rule = Grounded("refund_api.create", "order_id", ("lookup_order.id", "input"))

        (origin,) = rule.provenance(run)
        assert (origin.step, origin.value, origin.source) == (2, "A1", "lookup_order at step 1")


class TestHiddenEvidence:
    def test_a_source_without_content_is_insufficient(self, refund: Any) -> None:
        blind = refund.lookup(ok=True)
        del blind["result"]

        assert doubt(ORDER, [blind, refund.refund()]) == (
            "step 2 refund_api.create: order_id's origin cannot be judged:"
            " a value of step 1 was not recorded"
        )

    def test_arguments_without_content_are_insufficient(self, refund: Any) -> None:
        blind = refund.refund()
        del blind["arguments"]

        assert "order_id's origin cannot be judged" in doubt(ORDER, [refund.lookup(), blind])

    def test_a_hidden_step_before_the_call_is_insufficient(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = [refund.refund(), refund.email(), refund.email(), refund.email()]

        assert doubt(ORDER, gapped(run, Gap("missing_steps")))
        assert violation(ORDER, gapped(run, Gap("missing_steps", position=3)))

    def test_an_input_that_was_not_recorded_is_insufficient(self, refund: Any) -> None:
        rule = Grounded("refund_api.create", "order_id", "input")

        assert doubt(rule, [refund.refund()])

    def test_a_hidden_call_of_the_tool_is_no_pass_and_what_was_seen_stands(
        self, refund: Any, gapped: Callable[..., Trajectory]
    ) -> None:
        run = gapped([refund.lookup(), refund.refund()], Gap("missing_steps"))
        bad = gapped([refund.refund("B2")], Gap("missing_steps", position=0))

        assert doubt(ORDER, run) == (
            "no call of refund_api.create was seen to break the rule,"
            " but missing_steps may hide one"
        )
        assert doubt(ORDER, bad)
        assert violation(ORDER, gapped([refund.refund("B2")], Gap("clock_skew")))


class TestFindUngrounded:
    def test_a_made_up_identifier_is_listed_with_the_nearest_one(self, refund: Any) -> None:
        run = trajectory_of([refund.lookup("order-4711"), refund.refund("order-4712")], input="hi")

        (row,) = find_ungrounded(run).query("step == 2").to_dict("records")
        assert (row["tool"], row["argument"], row["value"], row["nearest"]) == (
            "refund_api.create",
            "$.order_id",
            '"order-4712"',
            "order-4711",
        )

    def test_what_was_seen_is_not_listed(self, refund: Any) -> None:
        run = trajectory_of(
            [refund.lookup(4711, 840), refund.refund(4711, 840.0)], input="refund #4711"
        )

        found = find_ungrounded(run)
        assert len(found) == 0
        assert found.attrs == {"identifiers": 3, "not_recorded": 0}

    @pytest.mark.parametrize("value", [True, None, 0, 99, -99, 99.5, "economy", "Mia Li", "12", ""])
    def test_trivial_values_are_passed_over(self, value: Any) -> None:
        found = find_ungrounded([{"tool": "a", "arguments": {"x": value}}])

        assert found.attrs["identifiers"] == 0

    @pytest.mark.parametrize(
        "value", [100, "A12", "a@b.c", "2024-05-20", {"y": ["A12"]}, "see A12"]
    )
    def test_identifiers_are_looked_at_wherever_they_stand(self, value: Any) -> None:
        assert len(find_ungrounded([{"tool": "a", "arguments": {"x": value}}])) == 1

    def test_calls_of_one_turn_and_failed_results_ground_nothing(self, refund: Any) -> None:
        asked = {"input": "about order-4711"}
        parallel = [
            refund.lookup("order-4711", 900, group=1),
            refund.refund("order-4711", 900, group=1),
        ]
        failed = refund.lookup("order-4711", 900) | {"result": "Error: 900 not found"}

        assert list(find_ungrounded(trajectory_of(parallel, **asked)).value) == ["900"]
        assert list(
            find_ungrounded(
                trajectory_of([failed, refund.refund("order-4711", 900)], **asked)
            ).value
        ) == ["900"]

    def test_calls_without_recorded_arguments_are_counted(self) -> None:
        assert find_ungrounded([{"tool": "a"}]).attrs["not_recorded"] == 1


def test_the_nearest_value_is_one_of_the_source(said: Callable[..., Any], call: Any) -> None:
    run = [
        call("b", result={"id": "A1"}),
        call("c", result={"id": "A22"}),
        call("a", {"id": "A2"}),
    ]

    assert said(Grounded("a", "id", "b.id"), run) == [
        ("violated", 'step 3 a: id "A2" does not come from b.id; nearest: "A1" from b at step 1')
    ]
    assert said(Grounded("a", "id", ("b.id", "input")), run, input="Hello") == [
        (
            "violated",
            'step 3 a: id "A2" does not come from b.id or the user\'s input;'
            ' nearest: "A1" from b at step 1',
        )
    ]


@pytest.mark.parametrize(
    ("argument", "recorded", "near"),
    [
        ("a_b", "ab", "ab"),
        ("order_id", "OrderID", "OrderID"),
        ("order_id", "order-ids", "order-ids"),
        ("order_id", "amount", None),
    ],
)
def test_an_argument_that_is_spelt_nearly_alike_is_named(
    said: Callable[..., Any], call: Any, argument: str, recorded: str, near: str | None
) -> None:
    found = said(Grounded("a", argument, "b.id"), [call("a", {recorded: 1})])

    assert found == (
        []
        if near is None
        else [
            (
                "insufficient",
                f"step 1 a has no argument {argument} to ground, did you mean {near}?",
            )
        ]
    )


def test_every_part_of_a_list_must_come_from_somewhere(said: Callable[..., Any], call: Any) -> None:
    found = call("b", result={"ids": ["A1", "A2"]})
    rule = Grounded("a", "ids", "b.ids")

    assert said(rule, [found, call("a", {"ids": ["A1", "A2"]})]) == []
    parts = [call("b", result={"ids": name}) for name in ("A1", "A2")]
    assert said(rule, [*parts, call("a", {"ids": ["A2", "A1"]})]) == []
    assert [s for s, _ in said(rule, [parts[0], call("a", {"ids": ["A1", "A3"]})])] == ["violated"]
    blind = {"tool": "b", "ok": True}
    assert [s for s, _ in said(rule, [parts[0], blind, call("a", {"ids": ["A1", "A3"]})])] == [
        "insufficient"
    ]


def test_where_each_value_came_from(call: Any) -> None:
    run = trajectory_of(
        [call("b", result={"id": "A1"}), call("a", {"id": ["A1"]}), call("a", {"id": "A9"})],
        input="It is A9",
    )

    assert Grounded("a", "id").provenance(run) == [
        Origin(2, ["A1"], "b at step 1"),
        Origin(3, "A9", "the user's input"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A12", ["A12"]),
        ("A1", []),
        ("12", []),
        ("123", ["123"]),
        ("12.345", []),
        ("123.4", ["123.4"]),
        ("1,234", ["1,234"]),
        ("mia@x.y", ["mia@x.y"]),
        ("a@", ["a@"]),
        ("plain words only", []),
        ("order A123, and (B77)!", ["A123", "B77"]),
        ("#A123.", ["A123"]),
        ("  A123  ", ["A123"]),
        ("", []),
    ],
)
def test_telling_words_of_a_text(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_identifiers_of_a_value_stand_at_their_paths() -> None:
    value = {"a": ["A123", 99, 100, -100, True, None], "b": {"c": "see B77 or C88"}}

    assert list(identifiers(value)) == [
        ("$.a[0]", "A123"),
        ("$.a[2]", 100),
        ("$.a[3]", -100),
        ("$.b.c", "B77"),
        ("$.b.c", "C88"),
    ]


def test_each_result_grounds_its_own_identifiers(call: Any) -> None:
    run = trajectory_of(
        [
            call("a", result={"id": "A123"}),
            call("b", result={"id": "B456"}),
            call("c", {"one": "A123", "two": "B456", "three": "C789"}),
        ],
        input="Hello",
    )
    found = find_ungrounded(run)

    assert found["value"].tolist() == ['"C789"']
    assert found.attrs["identifiers"] == 3


def test_what_a_model_call_was_given_counts_from_there_on(run_of: Callable[..., RunBatch]) -> None:
    def uses(name: str) -> dict[str, Any]:
        return {"tool": "a", "arguments": orjson.dumps({"id": name}).decode()}

    steps = [uses("B456"), {"operation": "llm", "input": "Take A123 or B456."}, uses("A123")]
    found = find_ungrounded(run_of(steps, input="Hello"))

    assert found[["step", "value"]].to_numpy().tolist() == [[1, '"B456"']]


def test_an_ungrounded_identifier_is_listed_with_its_span(run_of: Callable[..., RunBatch]) -> None:
    step = {"tool": "a", "span_id": "s1", "arguments": orjson.dumps({"id": "B456"}).decode()}
    found = find_ungrounded(run_of([step], input="Take B455."))

    assert found.to_dict("records") == [
        {
            "run_id": "r1",
            "step": 1,
            "span_id": "s1",
            "tool": "a",
            "argument": "$.id",
            "value": '"B456"',
            "nearest": "B455.",
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        ({"id": "A9"}, "id"),
        ({"ref": "A9"}, "ref"),
        ({"orderNumber": "A9"}, "orderNumber"),
        ({"amount": 84}, None),
        ({"order_total": 84}, None),
        ({"customer_id": 7}, None),
        ({}, None),
        ({"args": [], "kwargs": {}}, None),
    ],
)
def test_a_call_without_the_argument_may_name_it_otherwise(
    said: Callable[..., Any], call: Any, arguments: Any, near: str | None
) -> None:
    sentence = f"step 1 pay has no argument order_id to ground, did you mean {near}?"

    assert said(Grounded("pay", "order_id"), [call("pay", arguments)]) == (
        [] if near is None else [("insufficient", sentence)]
    )
    assert said(Grounded("pay", "reason"), [call("pay", arguments)]) == []


@pytest.mark.parametrize(
    "arguments",
    [["A9", 84], "A9", '["A9", 84]', {"args": ["A9"], "kwargs": {}}, {"args": ["A9"]}, 7],
)
@pytest.mark.parametrize(
    "rule",
    [
        Grounded("pay", "order_id"),
        Grounded("pay", "order_id", relation="order_id == 'A9'"),
        Arguments("pay", absent=["order_id"]),
        Arguments("pay", equals={"order_id": "A9"}),
        Arguments("pay", equals={"order_id": "A9"}, exact=True),
        Arguments("pay", where="order_id in ['A9']"),
        Arguments("pay", schema={"type": "object", "required": ["order_id"]}),
    ],
)
def test_of_arguments_without_names_nobody_knows_which_is_which(
    said: Callable[..., Any], call: Any, rule: Any, arguments: Any
) -> None:
    assert [s for s, _ in said(rule, [call("pay", arguments)])] == ["insufficient"]


def test_an_element_without_the_key_is_not_grounded_by_the_others() -> None:
    look = {"tool": "search", "result": {"flights": [{"number": "HAT001"}]}}
    flights = [{"number": "HAT001"}, {"id": "HAT999"}]
    calls = [look, {"tool": "book", "arguments": {"flights": flights}, "result": "ok"}]
    batch = trajectory_of(calls).batch
    grounded = Policy(Grounded("book", "flights[*].number", "search")).findings(batch)
    argued = Policy(Arguments("book", regex={"flights[*].number": "HAT"})).findings(batch)
    assert [finding.state.value for finding in (*grounded, *argued)] == ["insufficient", "violated"]


@pytest.mark.parametrize(
    ("total", "amount", "states"),
    [
        ("$84.00", 50, ["insufficient"]),
        ("1,084.00", 50, ["insufficient"]),
        ({"amount": 84, "currency": "USD"}, 50, ["insufficient"]),
        (84, "$50.00", ["insufficient"]),
        ("84.00", 50, []),
        ("84.00", 90, ["violated"]),
    ],
)
def test_an_amount_in_words_has_an_order_that_nobody_knows(
    total: object, amount: object, states: list[str]
) -> None:
    calls = [
        {"tool": "get", "result": {"total": total}},
        {"tool": "pay", "arguments": {"amount": amount}, "result": "ok"},
    ]
    rule = Grounded("pay", "amount", relation="amount <= get.total")
    found = Policy(rule).findings(trajectory_of(calls).batch)
    assert [finding.state.value for finding in found] == states


@pytest.mark.parametrize(
    ("value", "said", "held"),
    [
        ("2026-05-03", "on May 3, please", True),
        ("2026-05-04", "on May 3, please", False),
        ("+14155550123", "call me at (415) 555-0123", True),
        ("+14155550124", "call me at (415) 555-0123", False),
    ],
)
def test_days_and_telephone_numbers_come_from_the_user_however_written(
    value: str, said: str, held: bool
) -> None:
    run = trajectory_of([{"tool": "book", "arguments": {"x": value}, "result": "ok"}], input=said)
    assert (Policy(Grounded("book", "x", "input")).findings(run.batch) == []) is held
