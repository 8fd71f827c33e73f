"""The expression language: values, sources, strict types, and three answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.scope import StepScope
from trackway_analyzer.rules.sentences import because
from trackway_analyzer.rules.terms import ExpressionError, Hidden, NoSource, Source, Truth

GAP = Hidden("content_off")


@dataclass
class Here:
    """A step with its arguments, its result and earlier results by name."""

    own: Any = field(default_factory=dict)
    answer: Any = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)

    def arguments(self) -> Source | Hidden:
        return self.own if isinstance(self.own, (Source, Hidden)) else Source(self.own)

    def result(self) -> Source | Hidden:
        return self.answer if isinstance(self.answer, (Source, Hidden)) else Source(self.answer)

    def earlier(self, name: str) -> Source | Hidden | NoSource | None:
        value = self.before.get(name)
        known = isinstance(value, (Source, Hidden, NoSource)) or value is None
        return value if known else Source(value, row=0)


def truth(text: str, own: Any = None, answer: Any = None, **before: Any) -> Truth:
    return compiled(text).truth(Here(own or {}, answer or {}, before))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n == 1", True),
        ("n == 1.0", True),
        ("n == true", False),
        ("n == '1'", False),
        ("yes == true", True),
        ("yes == 1", False),
        ("n != 2", True),
        ("n < 2 and n >= 1 and n <= 1 and not n > 1", True),
        ("n < 'b'", False),
        ("yes < 2", False),
        ("price <= '84'", False),
        ("price > 99.5 and price < 1e3", True),
        ("price == '100.0'", False),
        ("price == same_price and not price != same_price", True),
        ("price in prices", True),
        ("name == same_number", False),
        ("due < '2026-12-01' and due >= '2026-02-09'", True),
        ("at < '10:00' and at > '09:29:59'", True),
        ("moment < '2026-02-09T10:00:00+02:00'", False),
        ("word in ['a', 'b']", True),
        ("n in [true, '1']", False),
        ("n in word", False),
        ("none == null", True),
        ("gone == null", False),
        ("gone == 1", False),
        ("1 <= gone", False),
        ("gone in [1]", False),
        ("not gone", True),
        ("gone < 1 or gone >= 1", False),
        ("obj == obj and obj.a == [1, 2.0]", True),
        ("list == [1, {}]", None),
        ("obj['a'][1] == 2", True),
        ("obj.a[0] == 1 || false", True),
        ("(n == 2 or n == 1) and n == 1", True),
        ("n == 2 or n == 1 and n == 1", True),
        ("not (n == 1)", False),
        ("!gone && !none", True),
        ("yes", True),
        ("no", False),
        ("zero or empty or nil or none or gone", False),
        ("obj", True),
        ("1e2 == 100 and -1 == -1.0", True),
        ("'it\\'s \"x\"' == word2", True),
    ],
)
def test_own_arguments(text: str, expected: bool | None) -> None:
    own = {
        "n": 1,
        "yes": True,
        "no": False,
        "word": "a",
        "word2": 'it\'s "x"',
        "price": "100.00",
        "same_price": "100.0",
        "prices": ["9.50", "100"],
        "name": "007",
        "same_number": "7",
        "due": "2026-02-09",
        "at": "09:30",
        "moment": "2026-02-09T09:30:00Z",
        "none": None,
        "zero": 0,
        "empty": "",
        "nil": [],
        "obj": {"a": [1, 2]},
    }
    if expected is None:
        with pytest.raises(ExpressionError):
            compiled(text)
    else:
        assert truth(text, own) is expected


@pytest.mark.parametrize(
    "text",
    [
        "gone == nowhere",
        "gone != nowhere",
        "gone <= nowhere",
        "gone in nowhere",
        "gone != true",
        "gone != null",
        "1 != gone",
        "not (gone == true)",
        "not (gone > 1 or n == 2)",
        "not (gone in [1])",
        "gone != true and n == 1",
        "not (not (gone != true))",
        "lookup.frozn != true",
        "gone == lookup.totl",
    ],
)
def test_a_misspelt_name_never_lets_a_comparison_pass(text: str) -> None:
    assert truth(text, {"n": 1}, lookup={"frozen": False, "total": 84}) == Hidden("absent")


@pytest.mark.parametrize(
    "text",
    [
        "word < 'b'",
        "word >= '84'",
        "not word < 'b'",
        "'007' < '7'",
        "'1,000' > '84'",
        "'2026-02-30' < '2026-03-01'",
        "'2026-02-09' < '2026-02-09T10:00'",
        "'2026-02-09T10:00' < '2026-02-09T10:00Z'",
    ],
)
def test_an_order_that_nobody_meant_is_undecided(text: str) -> None:
    assert truth(text, {"word": "a"}) == Hidden("no_order")


@given(st.decimals(-1000, 1000, places=2), st.decimals(-1000, 1000, places=3))
def test_amounts_in_texts_are_ordered_as_numbers(left: Decimal, right: Decimal) -> None:
    for operator, holds in (
        ("<", left < right),
        ("<=", left <= right),
        (">", left > right),
        (">=", left >= right),
        ("==", left == right),
        ("!=", left != right),
    ):
        assert truth(f"a {operator} b", {"a": str(left), "b": str(right)}) is holds


def test_what_is_absent_does_not_matter_where_something_else_decides() -> None:
    assert truth("gone != true and n == 2", {"n": 1}) is False
    assert truth("gone != true or n == 1", {"n": 1}) is True
    assert truth("not (not (gone == 1))", {"n": 1}) is False


def test_the_own_result_is_read_with_a_path() -> None:
    answer = {"status": "succeeded", "items": [{"id": 1, "on": False}, {"id": 2, "on": True}]}

    assert truth('$.status == "succeeded"', answer=answer) is True
    assert truth("$.items[?@.id == 2]", answer=answer) is True
    assert truth("$.items[?@.id == 3]", answer=answer) is False
    assert truth("$.items[*].on", answer=answer) is True
    assert truth("$['items'][1].id == 2", answer=answer) is True
    assert truth("$ == 3", answer=Source(3)) is True


def test_earlier_results_are_read_by_tool_and_quoted_where_the_name_has_dots() -> None:
    before = {"order": {"total": 84.0}, "refund_api.create": {"id": "re_1"}}

    assert truth("amount <= order.total", {"amount": 42}, **before) is True
    assert truth('"refund_api.create".id == "re_1"', **before) is True
    assert truth("order['total'] == 84", **before) is True


def test_a_name_that_is_no_tool_is_an_own_argument() -> None:
    assert truth("payment.amount == 3", {"payment": {"amount": 3}}) is True
    assert truth("payment.amount == 3", {}) == NoSource("payment")
    assert truth('"a.b".c == 3', {"a.b": {"c": 3}}) == NoSource("a.b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seen == 1 or hid == 1", True),
        ("seen == 2 and hid == 1", False),
        ("seen == 1 and hid == 1", GAP),
        ("seen == 2 or hid == 1", GAP),
        ("not hid == 1", GAP),
        ("hid", GAP),
        ("hid == 1 or hid2 == 2 or seen", True),
    ],
)
def test_a_hidden_value_decides_only_where_it_must(text: str, expected: Truth) -> None:
    named = text.replace("hid2", "tool.b").replace("hid", "tool.a")

    assert truth(named, {"seen": 1}, tool=GAP) == expected


def test_a_missing_source_is_not_fulfilled_and_wins_over_a_gap_unless_a_gap_could_save_it() -> None:
    none = NoSource("none")

    assert truth("none.x == 1 and hid.x == 1", none=none, hid=GAP) == none
    assert truth("none.x == 1 or hid.x == 1", none=none, hid=GAP) == GAP
    assert truth("none.x != 1", none=none) == none
    assert truth("not none.x", none=none) == none
    assert truth("none.x == hid.x", none=none, hid=GAP) == none


def test_what_a_cut_value_still_shows_stands_and_what_it_does_not_show_is_hidden() -> None:
    cut = Source({"a": 1}, cut=Hidden("truncated_value", 3))

    assert truth("a == 1", cut) is True
    assert truth("b == 1", cut) == Hidden("truncated_value", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("amount = 3", "'amount = 3': write == to compare, found = at character 8"),
        ("amount <=", "'amount <=' ends too early: expected a value or a name"),
        ("", "'' ends too early"),
        ("$.a[*].b == 3", "'$.a[*].b == 3': $.a[*].b may yield several values, compare one"),
        ("a b", "'a b': found 'b' at character 3"),
        (3, "expected an expression in a text, found 3"),
    ],
)
def test_what_is_no_expression_says_where(text: Any, message: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compiled(text)
    assert str(raised.value).startswith(message)


ATOMS = {"t": True, "f": False, "h.x == 1": None}


def _joined(word: str, left: tuple[str, Any], right: tuple[str, Any]) -> tuple[str, Any]:
    """Two formulas joined, with the value under Kleene's three-valued logic."""
    decides = word == "or"
    values = {left[1], right[1]}
    value = decides if decides in values else None if None in values else not decides
    return f"({left[0]}) {word} ({right[0]})", value


formulas = st.recursive(
    st.sampled_from(list(ATOMS.items())),
    lambda inner: st.one_of(
        inner.map(lambda f: (f"not ({f[0]})", None if f[1] is None else not f[1])),
        st.builds(_joined, st.sampled_from(["and", "or"]), inner, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(formulas)
def test_and_or_not_are_kleenes(formula: tuple[str, Any]) -> None:
    text, expected = formula
    found = truth(text, {"t": True, "f": False}, h=GAP)

    assert found == (GAP if expected is None else expected)


@pytest.mark.parametrize("text", ["ask.yes", "$.yes", "yes", "yes and true", "yes or false"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, True) for value in (True, 1, 1.0, "true", "Yes ")),
        *((value, False) for value in (False, 0, None, "", [], {}, "false", "No", "denied")),
        *((value, Hidden("neither_yes_nor_no")) for value in (-1, 2, "maybe", [False], {"a": 1})),
    ],
)
def test_a_permission_must_say_yes(text: str, value: Any, expected: Truth) -> None:
    here = Here({"yes": value}, {"yes": value}, {"ask": {"yes": value}})

    assert compiled(text, permission=True).truth(here) == expected
    if text.startswith("ask"):
        assert compiled(text).truth(here) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("not $.error", False),
        ("not $.none", True),
        ("not $.no", True),
        ("$.items[?@.id == 2]", True),
        ("$.items[?@.id == 3]", False),
        ("$.error == 'declined'", True),
    ],
)
def test_a_permission_may_ask_whether_something_is_there(text: str, expected: bool) -> None:
    answer = {"error": "declined", "no": "no", "none": None, "items": [{"id": 2}]}

    assert compiled(text, permission=True).truth(Here(answer=answer)) is expected


def test_where_a_value_came_from_is_told() -> None:
    step = {"tool": "pay", "arguments": {"amount": 42}}
    run = trajectory_of([{"tool": "look", "result": {"total": 84}}, step])
    scope = StepScope(Evidence.of(run.batch), 1)

    def why(text: str) -> str:
        return because(scope.evidence, compiled(text).because(scope))

    assert why("amount == look.total") == (
        "amount 42, expected 84 (look.total from look at step 1)"
    )
    assert why("look.total == amount") == why("amount == look.total")
    assert why("look.total < amount") == "amount 42, expected > 84 (look.total from look at step 1)"
    assert why("not amount") == "amount is 42, expected false"
    assert why("not amount == 42") == "amount 42, expected != 42"
    assert why("not amount < 84") == "amount 42, expected >= 84"
    assert why("not amount in [42]") == "amount 42, expected not in [42]"
    assert why("84 < look.total") == "look.total 84 (from look at step 1), expected > 84"
    assert why("gone") == "gone is absent, expected true"
    assert why("look.id == amount") == "amount 42, but look.id is absent (from look at step 1)"
    assert why("amount == '42'") == 'amount 42 (number), expected "42" (text)'
    assert why("look.total <= 8.50") == "look.total 84 (from look at step 1), expected <= 8.50"
