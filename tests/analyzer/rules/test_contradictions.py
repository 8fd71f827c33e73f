"""Rules that no run could keep together are named with their lines, and no others are."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.records import batch_of_runs
from trackway_analyzer.rules import (
    Accompanied,
    After,
    AnyOrder,
    Approved,
    AtLeast,
    AtMost,
    Before,
    Between,
    Budget,
    Called,
    Count,
    Exact,
    First,
    Forbidden,
    Immediately,
    InOrder,
    Last,
    Never,
    NotAfter,
    NotTogether,
    PartialOrder,
    Policy,
    PolicyError,
    PolicyWarning,
    Responds,
    Rule,
    Sequence,
    StepRegex,
    Together,
    ToolSpec,
    Until,
)
from trackway_analyzer.rules.contradictions import contradiction
from trackway_analyzer.rules.evidence import Evidence

PAY: Final = "tools: {b: {kind: mutate}, look: {kind: lookup}, note: {kind: lookup}}\n"


def refusal(*rules: str, tools: str = "") -> str | None:
    text = f"version: 1\n{tools}rules:\n" + "".join(f"  - {rule}\n" for rule in rules)
    try:
        Policy.from_yaml(text)
    except PolicyError as error:
        return str(error).removeprefix("policy:")
    return None


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            ["count: {tool: a, max: 0}", "called: a"],
            "4: called: a contradicts count: a (line 3): a must succeed, and must never be called",
        ),
        (
            ["count: {tool: a, max: 1}", "count: {tool: a, min: 2}"],
            "4: count: a contradicts count: a (line 3): a must be called twice, and may be called"
            " once at most",
        ),
        (
            ["not_together: [a, b]", "called: a", "called: b"],
            "5: called: b contradicts not_together: a, b (line 3) and called: a (line 4):"
            " a must succeed, and must never be called",
        ),
        (
            ["first: a", "before: [b, a]"],
            "4: before: b, a contradicts first: a (line 3): no order is possible:"
            " b before a before b",
        ),
        (
            ["sequence: {steps: [a, b], extra: forbid}", "before: [b, a]"],
            "4: before: b, a contradicts sequence (line 3): no order is possible:"
            " b before a before b",
        ),
        (
            ["step_regex: a b", "forbid: [b]"],
            "4: forbidden contradicts step_regex (line 3): b must succeed, and must never be"
            " called",
        ),
        (
            ["step_regex: a* b", "called: {tool: b, times: 2}"],
            "4: called: b contradicts step_regex (line 3): b must succeed twice, and may succeed"
            " once at most",
        ),
        (
            ["exact: [a]", "exact: [b]"],
            "4: exact contradicts exact (line 3): a must succeed, and must never succeed",
        ),
        (
            ["budget: {steps: 1}", "sequence: [a, b]"],
            "4: sequence contradicts budget (line 3): 2 calls are needed (a, b), and 1 may be made",
        ),
        (
            ["before: [a, a]"],
            "3: before: a, a contradicts itself: a could never be called: no order is possible:"
            " a before a",
        ),
        (
            ["before: [a, b]", "called: x", "before: [b, c]", "before: [c, a]"],
            "6: before: c, a contradicts before: a, b (line 3) and before: b, c (line 5):"
            " b could never be called: no order is possible: b before c before a before b",
        ),
        (
            ["terminal: {action: a}", "terminal: {action: [b, c.d]}"],
            "4: terminal contradicts terminal (line 3): the run must end with a and with b or c.d",
        ),
        (
            ["outcome: true", "outcome: {success: false}"],
            "4: outcome contradicts outcome (line 3): success must be true and false",
        ),
        (
            ["arguments: {tool: a, equals: {x: 1}}", "arguments: {tool: a, equals: {x: 2}}"],
            "4: arguments: a contradicts arguments: a (line 3): no call of a could keep both:"
            " x must be 1 and 2",
        ),
        (
            ["arguments: {tool: a, equals: {x: 1}, absent: [x]}"],
            "3: arguments: no arguments could be right: x must be 1, and must be absent",
        ),
        (
            ["arguments: {tool: a, one_of: {x: [1, 2]}, within: {x: [9, 1]}}"],
            "3: arguments: no arguments could be right: x must be 1 or 2 and 9 ± 1",
        ),
    ],
)
def test_what_no_run_could_keep(rules: list[str], message: str) -> None:
    assert refusal(*rules) == message


@pytest.mark.parametrize(
    "rules",
    [
        ["first: a", "first: b"],  # one turn may call both
        ["sequence: [a, b]", "before: [b, a]"],  # b, a, b where b only reads
        ["count: {tool: a, max: 1, per: x}", "called: {tool: a, times: 2}"],
        ["forbid: {tools: [a], agent: clerk}", "called: a"],
        ["budget: {steps: 1, agent: clerk}", "sequence: [a, b]"],
        ["not_together: [a, b]", "called: a"],
        ["between: [x, a, b]", "never: a"],
        ["not_after: [a, a]"],
        ["step_regex: 'a (b | c)'", "never: b"],
        ["step_regex: a b", "called: c"],
        ["partial_order: {edges: [[a, b]]}", "before: [b, a]"],
        ["terminal: {action: a.b}", "terminal: {category: a}"],
        ["terminal: {action: a}", "never: a"],
        ["count: {tool: a, max: 0, effects: true}", "first: a"],
        ["arguments: {tool: a, equals: {x: 1}, calls: any}"] * 2,
        [
            "arguments: {tool: a, equals: {x: 1}, calls: first}",
            "arguments: {tool: a, equals: {x: 2}, calls: last}",
        ],
        ["arguments: {tool: a, equals: {x: 1}}", "arguments: {tool: b, equals: {x: 2}}"],
        ["arguments: {tool: a, one_of: {x: [1, 2]}}", "arguments: {tool: a, within: {x: [2, 1]}}"],
        ["sequence: [{tool: a, optional: true}]", "never: a"],
        ["exact: [{tool: a, ok: false}]", "count: {tool: a, max: 0, effects: true}"],
    ],
)
def test_what_some_run_could_keep(rules: list[str]) -> None:
    assert refusal(*rules) is None


def test_a_mutation_that_is_listed_once_comes_once() -> None:
    assert refusal("sequence: [look, b, note]", "before: [b, look]", tools=PAY) == (
        "5: before: b, look contradicts sequence (line 4): no order is possible:"
        " b before look before b"
    )
    assert refusal("sequence: [look, note]", "before: [note, look]", tools=PAY) is None


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["terminal: {action: b}", "forbid: [b]"], "b must be called, and must never be called"),
        (["terminal: {category: look}", "never: look"], "look must be called, and must never"),
        (
            ["terminal: {action: [b, note]}", "allow: [look]"],
            "b or note must be called, and none of them may be",
        ),
        (["terminal: {action: b}", "exact: [look]"], None),
        (["terminal: {action: [b, note]}", "forbid: [b]"], None),
        (["terminal: {action: paid}", "allow: [look]"], None),  # what the run itself recorded
        (["terminal: {category: [look, pay]}", "never: look"], None),
        (["terminal: {claimed: true}", "allow: [look]"], None),
    ],
)
def test_who_ends_with_a_declared_tool_called_it(rules: list[str], message: str | None) -> None:
    found = refusal(*rules, tools=PAY)
    assert (found is None) if message is None else (message in str(found))


CALLS: Final = [(tool, ok) for tool in "abc" for ok in (True, False)]


def every_short_run() -> RunBatch:
    """All runs of three calls at most, with and without failures, some in one turn."""
    runs: list[list[dict[str, Any]]] = []
    for length in range(1, 4):
        for word in product(CALLS, repeat=length):
            for turns in product((0, 1), repeat=length - 1):
                made, turn = [], 0
                for (tool, ok), later in zip(word, (0, *turns), strict=True):
                    turn += later
                    made.append(
                        {"tool": tool, "kind": "lookup", "ok": ok, "group": turn, "result": {}}
                    )
                runs.append(made)
    return batch_of_runs(runs)


SHORT: Final = every_short_run()
names = st.sampled_from("abc")
some_names = st.lists(names, min_size=1, max_size=3)
rules_of_calls = st.one_of(
    st.builds(Called, names, times=st.integers(1, 2)),
    st.builds(Never, names),
    st.builds(First, names),
    st.builds(Last, names),
    st.builds(Accompanied, names, names),
    st.builds(Together, names, names),
    st.builds(NotTogether, names, names),
    st.builds(Before, names, names, required=st.booleans()),
    st.builds(After, names, names),
    st.builds(NotAfter, names, names),
    st.builds(Responds, names, names),
    st.builds(Immediately, names, names),
    st.builds(Between, names, names, names),
    st.builds(Until, st.tuples(names), names, required=st.booleans()),
    st.builds(
        PartialOrder, st.lists(st.sampled_from([("a", "b"), ("b", "c"), ("a", "c")]), min_size=1)
    ),
    st.builds(
        StepRegex,
        st.sampled_from(["a b", "a* b", "(a | b) c?", "a . b", "c{2} a", "a+ b+", "(a b)*"]),
        st.sampled_from(["forbid", "reads", "allow"]),
    ),
    st.builds(Count, names, min=st.just(1), max=st.integers(1, 2), effects=st.booleans()),
    st.builds(Count, names, max=st.integers(0, 1), effects=st.booleans()),
    st.builds(Budget, tool_calls=st.integers(0, 2)),
    st.builds(Forbidden, names),
    st.builds(Approved, names, names),
    st.builds(Sequence, some_names.map(tuple), st.sampled_from(["forbid", "reads", "allow"])),
    *(
        st.builds(cls, some_names, extra=st.sampled_from(["forbid", "reads", "allow"]))
        for cls in (Exact, InOrder, AnyOrder, AtLeast, AtMost)
    ),
)


SEEN: Final = {
    kind: Evidence.of(SHORT, {} if kind is None else {"c": ToolSpec(kind)})
    for kind in (None, "mutate")
}


def keeping(rules: tuple[Rule, ...], evidence: Evidence) -> list[int]:
    """Short runs that keep all rules."""
    broken = {result.run for rule in rules for result in rule.check(evidence)}
    return sorted(set(range(len(SHORT))) - broken)


def called(runs: list[int], tool: str, *, ok: bool) -> bool:
    steps = SHORT.take(runs).steps.select(["tool", "ok"]).to_pylist() if runs else []
    return any(step["tool"] == tool and (step["ok"] or not ok) for step in steps)


@settings(max_examples=250, deadline=None)
@given(st.lists(rules_of_calls, min_size=1, max_size=3), st.sampled_from([None, "mutate"]))
def test_nothing_is_reported_that_a_short_run_keeps(rules: list[Rule], kind: str | None) -> None:
    evidence = SEEN[kind]
    found = contradiction(rules, evidence.tools)
    if found is not None:
        kept = keeping(found.rules, evidence)
        if "could never" in found.why:
            tool, _, rest = found.why.partition(" could never ")
            assert not called(kept, tool, ok=rest.startswith("succeed"))
        else:
            assert not kept, found.why


@settings(max_examples=100, deadline=None)
@given(st.lists(rules_of_calls, min_size=2, max_size=4))
def test_no_rule_of_a_contradiction_can_be_left_out(rules: list[Rule]) -> None:
    found = contradiction(rules, {})
    if found is not None:
        for number in range(len(found.rules)):
            fewer = [rule for other, rule in enumerate(found.rules) if other != number]
            rest = contradiction(fewer, {})  # a rule may be dead in itself
            assert rest is None or "could never" in rest.why


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        ("before: [look, refund_crate]", "before: look, refund_crate: refund_crate"),
        ("forbid: [refund_crate]", "forbidden: refund_crate"),
        ("exact: [look, refund_crate]", "exact: refund_crate"),
        ("count: {tool: refund_crate, max: 1}", "count: refund_crate: refund_crate"),
    ],
)
def test_a_tool_that_is_spelt_nearly_as_a_declared_one_is_told(rule: str, named: str) -> None:
    tools = "tools: {refund_create: {kind: mutate}, look: {kind: lookup}}"
    told = f"policy:4: {named} is not declared under tools, did you mean refund_create?"

    with pytest.warns(PolicyWarning) as warned:
        policy = Policy.from_yaml(f"version: 1\n{tools}\nrules:\n  - {rule}\n")
    assert [str(one.message) for one in warned] == policy.doubts() == [told]
    assert told in policy.notes_on(["look", "refund_crate"], [])


def test_other_tools_need_not_be_declared() -> None:
    tools = {"refund_create": ToolSpec("mutate")}
    assert Policy(Before("look", "refund_create"), Never("ship"), tools=tools).doubts() == []
