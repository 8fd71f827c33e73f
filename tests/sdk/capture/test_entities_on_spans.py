"""Declared entities on the spans of tools: exempt from patterns, not from denied names."""

from __future__ import annotations

from typing import Any

import trackway

CARD_LIKE = "4111111111111111"


def test_an_order_id_that_looks_like_a_card_number_stays_in_arguments_and_results(
    recorded: Any,
) -> None:
    @trackway.tool(kind="lookup", entity="order_id", returns="orders[*].id", entity_type="order")
    def find(order_id: str, note: str) -> dict[str, Any]:
        return {"orders": [{"id": CARD_LIKE}], "note": note + " " + CARD_LIKE}

    find(CARD_LIKE, CARD_LIKE + "!")
    assert recorded.arguments("find") == {"order_id": CARD_LIKE, "note": "[redacted:card]!"}
    assert recorded.result("find") == {
        "orders": [{"id": CARD_LIKE}],
        "note": f"{CARD_LIKE}! {CARD_LIKE}".replace(CARD_LIKE, "[redacted:card]"),
    }
    assert recorded.tool("find").attributes["trackway.entity.refs"] == (f"order:{CARD_LIKE}",)


def test_an_entity_under_a_name_that_the_user_denies_leaves_no_reference(recorded: Any) -> None:
    recorded.configure(redact=trackway.redactor(deny_keys=["member"]))

    @trackway.tool(kind="lookup", entity="member", entity_type="member")
    def find(member: str) -> str:
        return "found"

    find("m1")
    assert recorded.arguments("find") == {"member": "[redacted:key_name]"}
    assert "trackway.entity.refs" not in recorded.tool("find").attributes


def test_lists_in_lists_without_end_cost_neither_the_value_nor_an_error(recorded: Any) -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]

    @trackway.tool(entity="value", returns="id")
    def work(value: Any) -> Any:
        return value

    before = trackway.capture_errors()
    assert work(deep) is deep
    assert trackway.capture_errors() == before
    assert recorded.arguments("work")["value"][0] is not None
