"""A move matters only across a dependency."""

from __future__ import annotations

from typing import Any

from trackway_analyzer.diff import diff_trajectories

Records = list[dict[str, Any]]


def call(tool: str, result: Any = None, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "result": result}


def sentences(reference: Records, candidate: Records, **kinds: str) -> tuple[str, ...]:
    found = diff_trajectories(reference, candidate, kinds=kinds)
    assert not found.missing_in_candidate
    assert not found.argument_drift
    return tuple(difference.sentence for difference in found.reordered)


def swapped(first: dict[str, Any], second: dict[str, Any], **kinds: str) -> tuple[str, ...]:
    last = call("done")
    return sentences([first, second, last], [second, first, last], **kinds)


def test_a_value_that_flows_from_one_to_the_other_ties_them() -> None:
    weather = call("find_city", {"code": "LHR9"}, name="London")
    news = call("forecast", city="LHR9")

    assert swapped(weather, news, find_city="lookup", forecast="lookup") == (
        "step 1 forecast ran before step 2 find_city, after it in the reference: forecast was given"
        ' "LHR9" from the result of find_city',
    )


def test_an_amount_that_flows_from_a_limit_ties_them() -> None:
    limit = call("refund_limit", {"max": 84.0}, tier="gold")
    assert swapped(limit, call("refund", amount=84.0))


def test_an_id_inside_a_text_ties_them() -> None:
    refund = call("refund", {"refund_id": "re_77"}, amount=5)
    email = call("send_email", body="Your refund re_77 is on its way.")

    assert swapped(refund, email, refund="mutate", send_email="notify")


def test_lookups_of_one_order_are_independent() -> None:
    order, shipping = call("get_order", id="A1"), call("get_shipping", order_id="A1")

    assert swapped(order, shipping, get_order="lookup", get_shipping="lookup") == ()


def test_a_mutation_is_tied_to_what_reads_the_same_order() -> None:
    order, cancel = call("get_order", id="A1"), call("cancel", order_id="A1")

    assert swapped(order, cancel, get_order="lookup", cancel="mutate") == (
        'step 1 cancel ran before step 2 get_order, after it in the reference: both concern "A1"',
    )
    assert swapped(cancel, order, get_order="lookup", cancel="mutate")


def test_a_mutation_of_another_order_is_independent() -> None:
    order, cancel = call("get_order", id="B2"), call("cancel", order_id="A1")

    assert swapped(order, cancel, get_order="lookup", cancel="mutate") == ()


def test_tools_that_nobody_declared_are_taken_to_change_data() -> None:
    assert swapped(call("get_order", id="A1"), call("cancel", order_id="A1"))
    assert swapped(call("get_weather", city="Paris"), call("get_news", topic="trains")) == ()


def test_a_lookup_that_names_no_entity_bears_on_every_mutation() -> None:
    policy, cancel = call("get_policy", {"ok": 1}, topic="refunds"), call("cancel", order_id="A1")

    assert swapped(policy, cancel, get_policy="lookup", cancel="mutate") == (
        "step 1 cancel ran before step 2 get_policy, after it in the reference:"
        " get_policy names no entity, so it bears on every mutation",
    )


def test_a_read_does_not_need_a_value_that_was_known_before() -> None:
    user = call("get_user", {"user_id": "U7"}, email="ann@example.com")
    order = call("get_order", {"user_id": "U7"}, id="A1")
    points = call("get_points", user_id="U7")
    kinds = dict.fromkeys(["get_user", "get_order", "get_points"], "lookup")

    assert sentences([user, order, points], [user, points, order], **kinds) == ()
    assert sentences([user, order, points], [points, user, order], **kinds)


def test_splitting_a_parallel_group_is_no_difference() -> None:
    first, second = call("get_order", id="A1"), call("get_stock", id="A1")
    together = [{**first, "group": 1}, {**second, "group": 1}]

    assert sentences(together, [second, first]) == ()
    assert sentences([first, second], together) == ()


def test_asking_together_for_what_needed_an_answer_first_is_a_move() -> None:
    order = call("get_order", {"total": 84.0}, id="A1")
    refund = call("refund", order_id="A1", amount=84.0)
    together = [{**order, "group": 1}, {**refund, "group": 1}]

    assert sentences([order, refund], together) == (
        "step 2 refund ran in one turn with step 1 get_order, after it in the reference:"
        " refund was given 84 from the result of get_order",
    )
    assert sentences(together, [order, refund]) == (
        "step 1 get_order ran before step 2 refund, in one turn with it in the reference:"
        " refund was given 84 from the result of get_order",
    )


def test_a_call_that_changed_is_another_call_unless_it_is_a_mutation() -> None:
    order, points = call("get_order", {"total": 84.0}, id="A1"), call("note", order="A1", text="a")
    refund = call("refund", order_id="A1", amount=84.0)

    def reordered(first: dict[str, Any], second: dict[str, Any], **kinds: str) -> int:
        changed = {**second, "arguments": {**second["arguments"], "text": "b"}}
        last = call("done")
        runs = [first, second, last], [changed, first, last]
        return len(diff_trajectories(*runs, kinds=kinds).reordered)

    assert reordered(order, points) == 0
    assert reordered(order, refund) == 0
    assert reordered(order, refund, refund="mutate") == 1


def test_a_date_ties_nothing() -> None:
    one, other = call("search", {"day": "2026-01-05"}, q="x"), call("find", day="2026-01-05T10:00")

    assert swapped(one, {**other, "arguments": {"day": "2026-01-05"}}) == ()
    assert swapped(other, {**other, "tool": "seek"}) == ()


def test_small_numbers_and_words_tie_nothing() -> None:
    count = call("count", {"n": 2, "state": "open"}, of="boxes")

    assert swapped(count, call("label", copies=2, state="open")) == ()
