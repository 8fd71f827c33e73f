"""What a rule looks at in a run: two runs that are alike there are judged alike."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pytest

from trackway_analyzer.engine.looks import Limit, Looks, Value
from trackway_analyzer.rules import (
    Before,
    Budget,
    Claim,
    EntitySpec,
    Grounded,
    NoLoops,
    NoSecrets,
    Policy,
    Rule,
    Sequence,
    ToolSpec,
)
from trackway_analyzer.rules.claiming_texts import claim_classes
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.looked_at import SHAPE, everywhere, successes, value_at

ORDER: Final = ToolSpec("lookup", EntitySpec("order", result="$.order.id"))
USER: Final = ToolSpec("lookup", EntitySpec("user"))
REFUND: Final = ToolSpec("mutate", EntitySpec("order", argument="order_id"))
MAIL: Final = ToolSpec("notify", EntitySpec("order"))
TOOLS: Final = {"lookup": ORDER, "find_user": USER, "refund": REFUND, "mail": MAIL}
ANY_ID: Final = Value(None, "result", "id")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("order_id", "order_id"),
        ("order-id", "order-id"),
        ("é", "é"),
        ("$.order.id", "$.order.id"),
        ("order.id", "$.order.id"),
        ("items[0].id", "$.items[0].id"),
        ("$.items[*].id", None),
        ("$[0].id", None),
        ("$", None),
    ],
)
def test_a_value_is_at_a_plain_name_or_a_plain_path(path: str, expected: str | None) -> None:
    found = value_at("t", "result", path)

    assert found == (None if expected is None else Value("t", "result", expected))


def test_a_sequence_looks_at_the_entities_that_it_and_the_tools_name() -> None:
    sequence = Sequence(("lookup", {"tool": "pay", "kind": "mutate", "entity_arg": "order.id"}))

    assert sequence.looks(TOOLS) == Looks(
        same=frozenset(
            {
                Value("pay", "arguments", "$.order.id"),
                Value("refund", "arguments", "order_id"),
                Value("lookup", "result", "$.order.id"),
                Value("find_user", "result", "id"),
                ANY_ID,
            }
        )
    )


def test_a_sequence_without_entities_looks_at_the_shape_alone() -> None:
    assert Sequence(("lookup", "refund")).looks({"lookup": ORDER}) == SHAPE


@pytest.mark.parametrize(
    "step",
    [
        {"guard": "lookup.eligible"},
        {"where": "arguments.amount > 1"},
        {"success": '$.status == "done"'},
        {"entity_arg": "$.orders[*].id"},
    ],
)
def test_a_sequence_that_looks_at_more_has_no_bounds(step: dict[str, Any]) -> None:
    assert Sequence(("lookup", {"tool": "refund", **step})).looks({}) is None


def test_a_success_that_the_tool_declares_as_well_is_not_looked_at_twice() -> None:
    success = '$.status == "done"'
    sequence = Sequence(("lookup", {"tool": "refund", "success": success}))

    assert sequence.looks({"refund": ToolSpec(success=compiled(success))}) == SHAPE
    assert sequence.looks({"refund": ToolSpec(success=compiled("$.ok"))}) is None
    assert sequence.looks({"lookup": ToolSpec(success=compiled(success))}) is None


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (("order",), {Value("lookup", "result", "$.order.id")}),
        (("user",), {Value("find_user", "result", "id")}),
        (("shop.ids[0]",), {Value("shop", "result", "$.ids[0]")}),
        (
            ("lookup.id", "user"),
            {Value("lookup", "result", "$.id"), Value("find_user", "result", "id")},
        ),
        (("lookup",), None),
        (("find_user",), None),
        (("shop",), None),
        (("shop.ids[*]",), None),
        (("order", "shop"), None),
        (("input",), None),
        (("order", "input"), None),
        ((), None),
    ],
)
def test_a_grounded_argument_is_compared_with_its_sources(
    sources: tuple[str, ...], expected: set[Value] | None
) -> None:
    rule = Grounded("refund", "order_id", sources)
    argument = Value("refund", "arguments", "order_id")

    found = rule.looks(TOOLS)

    assert found == (None if expected is None else Looks(same=frozenset({argument, *expected})))


def test_a_relation_has_no_bounds() -> None:
    rule = Grounded("refund", "amount", ("order",), relation="amount <= lookup.total")

    assert rule.looks(TOOLS) is None


def test_a_budget_looks_at_sums_and_the_length_of_the_run() -> None:
    rule = Budget(steps=8, tokens=20, tokens_in=7, cost_usd=0.5, seconds=60)

    assert rule.looks({}) == Looks(
        limits=frozenset(
            {
                Limit(("tokens_in", "tokens_out"), 20),
                Limit(("tokens_in",), 7),
                Limit(("cost",), 0.5),
                Limit(("seconds",), 60),
            }
        )
    )


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("refunded", [1, 0, 0, 3, 2, 1]),
        (r"refunded \d+", [0, 0, 0, 2, 2, 1]),
        ("refunded 84", [0, 0, 0, 2, 2, 1]),
        ("refunded 42", [0, 0, 0, 2, 2, 0]),
    ],
)
def test_texts_are_told_apart_by_whether_they_claim_and_whether_they_were_cut(
    pattern: str, expected: list[int]
) -> None:
    texts = pa.array(
        [
            "Your order was refunded.",
            "Your order was not refunded.",
            "Hello.",
            "It was refunded. Bye…[truncated 9 chars]",
            "Hello…[truncated 9 chars]",
            "I refunded 84 dollars.",
        ]
    )

    assert claim_classes(pattern, texts).tolist() == expected
    assert claim_classes(pattern, pa.concat_arrays([texts, texts])[6:]).tolist() == expected


def test_a_claim_looks_at_classes_of_texts_and_with_groups_at_everything() -> None:
    plain = Claim("refunded", "refund").looks({})

    assert plain is not None
    (classes,) = plain.texts
    assert classes(pa.array(["I refunded it.", "Hello."])).tolist() == [1, 0]
    assert plain == Looks(texts=(classes,))
    assert Claim(r"refunded (?P<amount>\d+)", "refund").looks({}) is None


@pytest.mark.parametrize("rule", [NoLoops(), NoSecrets()])
def test_other_rules_look_at_anything(rule: Rule) -> None:
    assert rule.looks(TOOLS) is None


@pytest.mark.parametrize(
    ("success", "expected"),
    [
        ('$.status == "done"', {Value("pay", "result", "$.status")}),
        ("amount > 3", {Value("pay", "arguments", "$.amount")}),
        ("$.ok and $.code[0] < 2", {Value("pay", "result", p) for p in ("$.ok", "$.code[0]")}),
        ("$.items[*].ok", None),
        ("$.ok and lookup.eligible", None),
    ],
)
def test_a_declared_success_decides_by_what_the_values_are(
    success: str, expected: set[Value] | None
) -> None:
    tools = {"lookup": ORDER, "pay": ToolSpec(success=compiled(success))}

    found = successes(tools)

    assert found == (None if expected is None else Looks(exact=frozenset(expected)))


def test_what_is_looked_at_of_every_tool_is_spelt_out_for_those_that_are_named() -> None:
    looks = Looks(
        same=frozenset({ANY_ID, Value("lookup", "result", "key"), Value("shop", "arguments", "x")}),
        exact=frozenset({Value("pay", "result", "ok"), Value("refund", "result", "ok")}),
        texts=(lambda texts: texts,),
        limits=frozenset({Limit(("cost",), 1.0)}),
    )

    found = everywhere(looks, {"lookup": ORDER, "refund": REFUND, "mail": MAIL})

    assert found.same == looks.same | {Value("shop", "result", "id"), Value("pay", "result", "id")}
    assert (found.exact, found.texts, found.limits) == (looks.exact, looks.texts, looks.limits)


def test_a_policy_looks_at_what_its_rules_and_successes_look_at() -> None:
    tools = {"pay": ToolSpec("mutate", success=compiled("$.ok")), "lookup": ORDER}
    rules = [Before("lookup", "pay"), Grounded("pay", "id", "order"), Budget(seconds=9)]

    assert Policy(*rules, tools=tools).looks() == Looks(
        same=frozenset({Value("pay", "arguments", "id"), Value("lookup", "result", "$.order.id")}),
        exact=frozenset({Value("pay", "result", "$.ok")}),
        limits=frozenset({Limit(("seconds",), 9)}),
    )
    assert Policy(*rules, NoLoops(), tools=tools).looks() is None
