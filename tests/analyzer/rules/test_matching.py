"""Expected calls: all of them, in which order, and what else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.records import RunFacts, batch_of_runs, trajectory_of
from trackway_analyzer.rules import (
    AnyOrder,
    AtLeast,
    AtMost,
    Exact,
    Forbidden,
    InOrder,
    InsufficientEvidenceError,
    Policy,
    PolicyError,
    References,
    RuleViolationError,
)
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expected import first_difference
from trackway_analyzer.rules.finding import State
from trackway_analyzer.rules.matched_run import MatchedRun
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.values import ABSENT

Records = list[dict[str, Any]]


def call(tool: str, kind: str | None = None, result: Any = 1, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "result": result, "kind": kind}


A, B, C = call("a", x=1), call("b", x=2), call("c", x=3)
EXPECTED = [{"tool": "a", "arguments": {"x": 1}}, {"tool": "b", "arguments": {"x": 2}}]


def verdict(rule: Rule, records: Records) -> str:
    results = rule.check(trajectory_of(records).batch)
    return results[0].state.value if results else State.HOLDS.value


def sentence(rule: Rule, records: Records) -> str:
    batch = trajectory_of(records).batch
    (result,) = rule.check(batch)
    return rule.explain(batch, result).sentence


@pytest.mark.parametrize(
    ("records", "exact", "in_order", "any_order", "at_least", "at_most"),
    [
        ([A, B], "holds", "holds", "holds", "holds", "holds"),
        ([B, A], "violated", "violated", "holds", "holds", "holds"),
        ([A, C, B], "violated", "holds", "violated", "holds", "violated"),
        ([A], "violated", "violated", "violated", "violated", "holds"),
        ([A, B, B], "violated", "holds", "violated", "holds", "violated"),
        ([A, call("b", x=9)], "violated", "violated", "violated", "violated", "violated"),
        ([A, call("b", x=2.0)], "holds", "holds", "holds", "holds", "holds"),
        ([A, call("b", x="2")], "violated", "violated", "violated", "violated", "violated"),
    ],
)
def test_what_each_rule_asks_for(
    records: Records, exact: str, in_order: str, any_order: str, at_least: str, at_most: str
) -> None:
    rules = [Exact, InOrder, AnyOrder, AtLeast, AtMost]
    found = [verdict(rule(EXPECTED), records) for rule in rules]

    assert found == [exact, in_order, any_order, at_least, at_most]


def test_a_call_that_was_made_once_fulfils_one_expectation() -> None:
    assert verdict(AtLeast([EXPECTED[0], EXPECTED[0]]), [A, B]) == "violated"
    assert verdict(AtLeast([EXPECTED[0], EXPECTED[0]]), [A, B, A]) == "holds"


def test_predicates_are_assigned_and_not_taken_greedily() -> None:
    def holds(value: Any) -> dict[str, Any]:
        return {"tool": "a", "arguments": {"xs": lambda actual: value in actual}}

    records = [call("a", xs=[1, 2]), call("a", xs=[1])]

    assert verdict(AnyOrder([holds(1), holds(2)]), records) == "holds"
    assert verdict(AnyOrder([holds(2), holds(1)]), records) == "holds"
    assert verdict(AnyOrder([holds(2), holds(2)]), records) == "violated"


@pytest.mark.parametrize("rule", [Exact, InOrder, AnyOrder, AtLeast, AtMost])
def test_a_subset_of_arguments_is_one_of_the_expected_for_every_rule(rule: Any) -> None:
    records = [call("a", x=1, more={"y": 2, "z": 3})]
    some = [{"tool": "a", "arguments": {"more": {"y": 2}}}]
    too_much = [{"tool": "a", "arguments": {"x": 1, "more": {"y": 2, "z": 3}, "w": 4}}]

    assert verdict(rule(some, arguments="subset"), records) == "holds"
    assert verdict(rule(some), records) == "violated"
    assert verdict(rule(too_much, arguments="subset"), records) == "violated"
    assert verdict(rule(too_much, arguments="ignore"), records) == "holds"


def test_a_call_without_arguments_expects_any() -> None:
    assert verdict(Exact(["a", "b"]), [A, B]) == "holds"
    assert verdict(Exact(["a", {"tool": "b", "arguments": {}}]), [A, B]) == "violated"


def test_absent_is_not_null() -> None:
    assert verdict(Exact([{"tool": "a", "arguments": {"x": None}}]), [call("a")]) == "violated"
    assert verdict(Exact([{"tool": "a", "arguments": {"x": True}}]), [A]) == "violated"


def test_extra_reads_may_be_allowed_where_mutations_are_not() -> None:
    read, write = call("r", kind="lookup"), call("w", kind="mutate", result={"ok": True})
    failed = call("w", kind="mutate", result={"status": "failed"})
    pending = call("w", kind="mutate", result={"status": "pending"})
    rule = Exact(EXPECTED, extra="reads")

    assert verdict(rule, [A, read, B]) == "holds"
    assert verdict(rule, [A, write, B]) == "violated"
    assert verdict(rule, [A, failed, B]) == "holds"
    assert verdict(rule, [A, pending, B]) == "insufficient"
    assert verdict(InOrder(EXPECTED, extra="forbid"), [A, read, B]) == "violated"


def test_a_failed_attempt_that_was_repeated_is_no_extra() -> None:
    failed = {**B, "result": {"error": "timeout"}}

    assert verdict(Exact(EXPECTED), [A, failed, B]) == "holds"
    assert verdict(Exact(EXPECTED), [A, failed]) == "violated"
    assert verdict(Exact([*EXPECTED[:1], {**EXPECTED[1], "ok": False}]), [A, failed]) == "holds"


def test_a_parallel_group_has_no_order() -> None:
    together = [{**B, "group": 1}, {**A, "group": 1}]
    reads = [{**step, "kind": "lookup"} for step in together]

    assert verdict(Exact([EXPECTED]), together) == "holds"
    assert verdict(Exact([EXPECTED]), [B, A]) == "holds"
    assert verdict(Exact(EXPECTED), together) == "violated"
    assert verdict(Exact(EXPECTED), reads) == "holds"
    assert verdict(Exact(EXPECTED), [{**A, "group": 1}, {**B, "group": 1}]) == "violated"
    assert verdict(AnyOrder(EXPECTED), together) == "holds"


def test_a_call_without_a_result_may_not_have_been_made() -> None:
    silent = {"tool": "a", "arguments": {"x": 1}, "kind": "mutate"}

    assert verdict(Exact(EXPECTED), [silent, B]) == "insufficient"
    assert verdict(Exact(EXPECTED), [{**silent, "kind": "lookup"}, B]) == "insufficient"


def test_arguments_that_are_not_recorded_leave_it_open() -> None:
    silent = {"tool": "b", "result": 1}

    assert verdict(Exact(EXPECTED), [A, silent]) == "insufficient"
    assert verdict(Exact(EXPECTED, arguments="ignore"), [A, silent]) == "holds"
    assert verdict(Exact(EXPECTED), [silent]) == "violated"
    with pytest.raises(InsufficientEvidenceError, match="step 2 b cannot be judged"):
        Exact(EXPECTED).assert_holds([A, silent])


@pytest.mark.parametrize(
    ("records", "state"), [([A], "insufficient"), ([A, B], "insufficient"), ([A, C, B], "violated")]
)
def test_a_gap_may_hide_what_is_missing_and_what_is_extra(records: Records, state: str) -> None:
    batch = trajectory_of(records).batch
    gap = {"name": "missing_steps", "position": None, "count": 1, "detail": None}
    index = batch.runs.schema.get_field_index("gaps")
    column = batch.runs.schema.field(index)
    batch = RunBatch.of(
        batch.runs.set_column(index, column, pa.array([[gap]], column.type)), batch.steps
    )

    assert [result.state for result in Exact(EXPECTED).check(batch)] == [state]
    assert not AtLeast([EXPECTED[0]]).check(batch)


@pytest.mark.parametrize(
    ("rule", "records", "expected"),
    [
        (Exact(EXPECTED), [A], 'b with {"x":2} was never recorded'),
        (Exact(EXPECTED), [A, call("b", x=9)], "step 2 b: x 9, expected 2"),
        (Exact(EXPECTED), [A, call("b", x="2")], 'step 2 b: x "2" (text), expected 2 (number)'),
        (Exact(EXPECTED), [A, call("b", x=2, y=1)], "step 2 b: y 1, expected absent"),
        (Exact(EXPECTED), [A, call("b")], "step 2 b: x absent, expected 2"),
        (Exact(EXPECTED), [B, A], 'b with {"x":2} was not recorded at its place, but at step 1'),
        (Exact(EXPECTED), [A, C, B], 'step 2 c with {"x":3} is not expected'),
        (Exact(EXPECTED), [A, B, B], 'step 3 b with {"x":2} is not expected'),
        (AtMost(EXPECTED), [C], 'step 1 c with {"x":3} is not expected'),
        (
            Exact([{"tool": "a", "arguments": {"x": lambda x: x > 5}}]),
            [A],
            "step 1 a: x 1, expected a value that fits",
        ),
        (
            Exact(EXPECTED),
            [A, {**B, "result": {"status": "failed"}}],
            'step 2 b did not take effect, expected b with {"x":2}',
        ),
    ],
)
def test_a_violation_names_the_call_and_what_was_recorded_instead(
    rule: Rule, records: Records, expected: str
) -> None:
    assert sentence(rule, records) == expected


def test_runs_are_held_against_the_reference_of_their_task() -> None:
    references, candidates = (
        _with_tasks(batch_of_runs(runs), tasks)
        for runs, tasks in (
            ([[A, B], [C], [A]], ["t1", "t2", None]),
            (
                [[A, B], [B, A], [C], [A], [{**C, "group": 1}, {**A, "group": 1}]],
                ["t1", "t1", "t2", "t3", "t2"],
            ),
        )
    )
    against = References(references)

    def found(rule: Rule) -> dict[int, str]:
        return {result.run: result.state.value for result in rule.check(candidates)}

    assert found(Exact(references=against)) == {1: "violated", 3: "insufficient", 4: "violated"}
    assert found(AnyOrder(references=against)) == {3: "insufficient", 4: "violated"}
    assert found(AtLeast(references=against)) == {3: "insufficient"}
    (first, second, *_) = Exact(references=against).check(candidates)
    assert Exact(references=against).explain(candidates, second).sentence == (
        "no reference run has this run's task_id"
    )
    assert first.run == 1


def test_two_references_for_one_task_are_refused() -> None:
    twice = _with_tasks(batch_of_runs([[A], [B]]), ["t1", "t1"])
    with pytest.raises(ValueError, match="several reference runs have task_id 't1'"):
        Exact(references=References(twice)).check(twice)


def _with_tasks(batch: RunBatch, tasks: list[str | None]) -> RunBatch:
    index = batch.runs.schema.get_field_index("task_id")
    column = batch.runs.schema.field(index)
    values = pa.array(tasks, pa.string()).dictionary_encode()
    return RunBatch.of(batch.runs.set_column(index, column, values.cast(column.type)), batch.steps)


def test_a_run_of_which_nothing_was_recorded_is_no_evidence() -> None:
    assert verdict(Exact(EXPECTED), []) == "insufficient"
    assert verdict(AtMost(EXPECTED), []) == "insufficient"


def test_a_run_of_many_is_judged_as_alone() -> None:
    runs = [[A, B], [B, A], [A, C, B], [A], [], [A, {"tool": "b"}]]
    together = batch_of_runs(runs, [RunFacts(str(i)) for i in range(len(runs))])
    for rule in (Exact(EXPECTED), InOrder(EXPECTED), AnyOrder(EXPECTED), AtMost(EXPECTED)):
        found = {result.run: result.state for result in rule.check(together)}
        alone = {
            i: result[0].state
            for i, run in enumerate(runs)
            if (result := rule.check(trajectory_of(run).batch))
        }
        assert found == alone


def test_model_calls_between_the_calls_matter_to_no_rule() -> None:
    batch = trajectory_of([A, call("llm"), B]).batch
    index = batch.steps.schema.get_field_index("operation")
    field = batch.steps.schema.field(index)
    operations = pa.array(["tool", "llm", "tool"]).dictionary_encode().cast(field.type)
    batch = RunBatch.of(batch.runs, batch.steps.set_column(index, field, operations))

    assert not Exact(EXPECTED).check(batch)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exact([]), "exact needs expected calls, or references"),
        (lambda: Exact(["a"], arguments="some"), "unknown arguments 'some'"),  # type: ignore[arg-type]
        (lambda: Exact(["a"], extra="all"), "unknown extra 'all', did you mean 'allow'"),  # type: ignore[arg-type]
        (lambda: Exact([{"tol": "a"}]), "unknown key 'tol', did you mean 'tool'"),
        (lambda: Exact([{"arguments": {}}]), "an expected call needs `tool`"),
    ],
)
def test_a_rule_that_is_none_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_one_trajectory_raises() -> None:
    with pytest.raises(RuleViolationError, match="b with"):
        Exact(EXPECTED).assert_holds([A])


def test_a_policy_file_lists_the_calls() -> None:
    policy = Policy.from_yaml(
        """
version: 1
rules:
  - exact: [a, {tool: b, arguments: {x: 2}}]
  - at_least: {calls: [b], arguments: ignore, severity: warning}
"""
    )
    batch = trajectory_of([A, call("b", x=3)]).batch

    assert [finding.sentence for finding in policy.findings(batch)] == ["step 2 b: x 3, expected 2"]
    with pytest.raises(PolicyError, match="exact: expected a list of calls, found 'a'"):
        Policy.from_yaml("version: 1\nrules:\n  - exact: a")
    with pytest.raises(PolicyError, match="`references` must be References, found 'x'"):
        Policy.from_yaml("version: 1\nrules:\n  - exact: {references: x}")


def test_a_call_cannot_be_expected_and_forbidden() -> None:
    with pytest.raises(PolicyError, match="a must succeed, and must never be called"):
        Policy(Exact(EXPECTED), Forbidden("a"))
    Policy(AtMost(EXPECTED), Forbidden("a"))


letters = st.sampled_from("aab")
expectations = st.sampled_from(
    [
        ["a"],
        ["a", "b"],
        [{"tool": "a", "arguments": {"x": 1}}, {"tool": "b", "arguments": {"x": 1}}],
        [{"tool": "b", "arguments": {"x": 1}}, {"tool": "a", "arguments": {"x": 2}}],
        [[{"tool": "a", "arguments": {"x": 1}}, {"tool": "b", "arguments": {"x": 1}}]],
        [{"tool": "a", "arguments": {"x": 1}}, {"tool": "a", "arguments": {"x": 1}}],
        [{"tool": "a", "arguments": {"x": 1}, "ok": False}, {"tool": "a", "arguments": {"x": 1}}],
    ]
)
made = st.builds(
    lambda tool, x, ok, group: call(tool, x=x) | {"ok": ok, "group": group},
    letters,
    st.sampled_from([1, 1, 2]),
    st.sampled_from([True, True, True, False]),
    st.sampled_from([None, None, None, "g"]),
)


@given(
    st.sampled_from([Exact, InOrder, AnyOrder, AtLeast, AtMost]),
    expectations,
    st.sampled_from(["exact", "subset", "ignore"]),
    st.sampled_from([None, "forbid", "reads", "allow"]),
    st.lists(st.lists(made, max_size=4), min_size=1, max_size=3),
)
def test_a_quick_look_at_texts_says_what_the_long_one_says(
    kind: Any, expected: Any, how: Any, extra: Any, runs: list[Records]
) -> None:
    rule = kind(expected, arguments=how, **({} if extra is None else {"extra": extra}))
    evidence = Evidence.of(batch_of_runs(runs))
    slow = [
        MatchedRun(rule.terms, evidence, run, rule.groups).result() for run in range(len(evidence))
    ]

    assert rule.check(evidence) == [result for result in slow if result is not None]


def test_a_failure_may_be_expected() -> None:
    rule = Exact([{"tool": "a", "ok": False}])

    assert verdict(rule, [call("a", result={"error": "x"})]) == "holds"
    assert sentence(rule, [call("a")]) == "step 1 a took effect, expected a"
    assert sentence(Exact(["a"]), [call("a", result={"error": "x"})]) == (
        "step 1 a did not take effect, expected a"
    )


@pytest.mark.parametrize(
    ("actual", "expected", "how", "difference"),
    [
        ({"x": 1}, {"x": 1}, "exact", None),
        ({"x": 1}, {"x": 2}, "exact", ("x", 1, 2)),
        ({}, {"x": 2}, "subset", ("x", ABSENT, 2)),
        ({"x": 1, "y": 2}, {"x": 1}, "exact", ("y", 2, ABSENT)),
        ({"x": 1, "y": 2}, {"x": 1}, "subset", None),
        ({"x": {"y": 1, "z": 2}}, {"x": {"y": 1}}, "subset", None),
        ([1], [1], "exact", None),
        ([{"y": 1, "z": 2}], [{"y": 1}], "subset", None),
        ([{"y": 1, "z": 2}], [{"y": 1}], "exact", ("arguments", [{"y": 1, "z": 2}], [{"y": 1}])),
        ([1], {"x": 1}, "exact", ("arguments", [1], {"x": 1})),
        ([1, 2], [1], "subset", ("arguments", [1, 2], [1])),
    ],
)
def test_the_first_difference_between_arguments(
    actual: Any, expected: Any, how: Any, difference: Any
) -> None:
    assert first_difference(actual, expected, how) == difference


def test_only_an_attempt_that_came_again_is_no_extra() -> None:
    failed = call("b", result={"error": "x"}, x=2)

    assert sentence(Exact(["a"]), [A, failed]) == 'step 2 b with {"x":2} is not expected'
    assert verdict(Exact(["a", "b"]), [A, failed, call("b", x=3)]) == "violated"
    assert verdict(Exact(["a", "b"]), [A, failed, B]) == "holds"
    assert verdict(Exact(["a", "b"]), [failed, A, B]) == "holds"
    assert verdict(Exact(["b", "a"]), [B, A, failed]) == "violated"


def test_a_failed_call_of_a_reference_is_expected_to_fail() -> None:
    failed = call("b", result={"error": "x"}, x=2)
    reference = _with_tasks(batch_of_runs([[A, failed]]), ["t"])
    runs = _with_tasks(batch_of_runs([[A, failed], [A, B]]), ["t", "t"])

    results = Exact(references=References(reference)).check(runs)

    assert [(result.run, result.state.value) for result in results] == [(1, "violated")]


def test_hidden_arguments_of_a_reference_are_not_held_against_a_run() -> None:
    hidden = {"tool": "a", "ok": True}
    redacted = call("a", x="[redacted:email]")
    runs = _with_tasks(batch_of_runs([[A]]), ["t"])

    for reference in (hidden, redacted):
        references = References(_with_tasks(batch_of_runs([[reference]]), ["t"]))
        assert [r.state.value for r in Exact(references=references).check(runs)] == ["insufficient"]
        loose = Exact(references=references, arguments="ignore")
        assert loose.check(runs) == []
