"""Policies from YAML: what they find, and what is wrong with a wrong one, with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.records import batch_of, batch_of_runs
from trackway_analyzer.rules import (
    Before,
    Budget,
    Forbidden,
    Grounded,
    Policy,
    PolicyError,
    PolicyWarning,
    Sequence,
    Severity,
    ToolSpec,
)
from trackway_analyzer.rules.finding import FINDING_SCHEMA
from trackway_analyzer.rules.policy_schema import PUBLISHED, policy_schema

TEXT = r"""
version: 1
tools:
  lookup_order: {kind: lookup, entity: {type: order, result: $.id}}
  check_policy: {kind: lookup}
  send_email: {kind: notify}
  refund_api.create:
    kind: mutate
    entity: {type: order, argument: order_id}
    success: $.status == "succeeded"
rules:
  - sequence: [lookup_order, check_policy, refund_api.create, send_email]
  - before: [check_policy, refund_api.create]
    severity: warning
  - grounded: {tool: refund_api.create, argument: order_id, from: order}
  - forbid: [delete_account]
  - budget: {steps: 8}
  - claim: {says: 'refund of \$(?P<amount>[\d.]+).*on its way', needs: refund_api.create}
"""
CLAIM = "Your refund of $84.00 is on its way."


def findings(batch: RunBatch, text: str = TEXT) -> list[tuple[str, str, str]]:
    policy = Policy.from_yaml(text)
    return [(f.rule, f.severity.value, f.sentence) for f in policy.findings(batch)]


def test_a_healthy_run_has_no_finding(refund: Any) -> None:
    assert findings(batch_of(refund.healthy(), final_text=CLAIM)) == []


def test_the_silent_failure_is_found_by_two_rules(refund: Any) -> None:
    run = [refund.lookup(), refund.policy(), refund.email()]

    assert findings(batch_of(run, final_text=CLAIM)) == [
        (
            "sequence",
            "error",
            "refund_api.create was never recorded, but the final text claims it:"
            ' "Your refund of $84.00 is on its way"',
        ),
        (
            "claim: refund_api.create",
            "error",
            'the final text claims "Your refund of $84.00 is on its way",'
            " but refund_api.create was never recorded",
        ),
    ]


def test_the_wrong_order_and_a_refund_before_the_policy(refund: Any) -> None:
    run = [refund.lookup(), refund.refund("B2"), refund.policy(), refund.email()]

    assert [
        (rule, severity) for rule, severity, _ in findings(batch_of(run, final_text=CLAIM))
    ] == [
        ("sequence", "error"),
        ("before: check_policy, refund_api.create", "warning"),
        ("grounded: refund_api.create order_id", "error"),
    ]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("forbid:", "forbid: expected tools or a mapping of tools, agent, severity, found nothing"),
        ("forbid: {tools: }", "forbid: expected tools"),
        ("claim: {says: x, needs: }", "claim: expected needs"),
        ("claim:", "claim: expected a mapping of says, needs, arguments, severity, found nothing"),
        ("claim: {says: '', needs: x}", "`says` must be a regular expression that finds the claim"),
        ("budget: {seconds: .nan}", "the limit of seconds must be a number from 0, found nan"),
        ("budget: {seconds: .inf}", "the limit of seconds must be a number from 0, found inf"),
        ("forbid: &a [x, *a]", "found an alias inside its own anchor"),
        ("&a {forbid: *a}", "found an alias inside its own anchor"),
    ],
)
def test_what_is_left_empty_or_has_no_end_is_refused_with_its_line(rule: str, message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.from_yaml(f"version: 1\nrules:\n  - {rule}\n")
    assert raised.value.line == 3
    assert message in str(raised.value)


def test_an_anchor_may_be_used_twice() -> None:
    text = "version: 1\nrules:\n  - forbid: &tools [x]\n  - forbid: *tools\n"

    assert len(Policy.from_yaml(text).rules) == 2


def test_what_is_no_rule_and_no_tool_is_refused_in_words() -> None:
    plain: Any = {"x": {"kind": "mutate"}}
    with pytest.raises(TypeError, match="expected a ToolSpec for 'x', found"):
        Policy(Forbidden("x"), tools=plain)
    with pytest.raises(TypeError, match="expected rules, found"):
        Policy(plain)


def test_a_rule_about_an_agent_that_took_no_step_is_noted(refund: Any) -> None:
    policy = Policy(Budget(steps=3, agent="nosuch"))

    assert policy.notes(batch_of(refund.healthy())) == [
        "budget: nosuch fits no run: no step is of agent nosuch"
    ]


def test_findings_of_a_batch_are_a_table_sorted_by_run_and_rule(refund: Any) -> None:
    bad = [refund.lookup(), refund.refund("B2"), refund.email()]
    batch = batch_of_runs([refund.healthy(), bad, bad])
    policy = Policy(
        Grounded("refund_api.create", "order_id", "lookup_order.id"), Forbidden("send_email")
    )

    table = policy.check(batch)
    assert table.schema.equals(FINDING_SCHEMA)
    rows = [(row["run"], row["rule"], row["position"]) for row in table.to_pylist()]
    assert rows == [(0, 1, 3), (1, 0, 1), (1, 1, 2), (2, 0, 1), (2, 1, 2)]
    assert policy.explain(batch, table.to_pylist()[1]).sentence.startswith(
        'step 2 refund_api.create: order_id "B2"'
    )


def test_findings_do_not_depend_on_what_else_is_in_the_batch(refund: Any) -> None:
    runs = [
        refund.healthy(),
        [refund.lookup(), refund.refund("B2")],
        [],
        [refund.refund(), refund.refund()],
        [{"tool": "order", "kind": "lookup", "result": {"total": 1}}, *refund.healthy()],
    ]
    policy = Policy.from_yaml(TEXT)
    together = policy.check(batch_of_runs(runs)).to_pylist()
    alone = [
        row | {"run": number}
        for number, run in enumerate(runs)
        for row in policy.check(batch_of_runs([run])).to_pylist()
    ]

    assert together == alone


def test_an_extra_of_unknown_kind_is_a_warning(refund: Any) -> None:
    run = [*refund.healthy(), {"tool": "ponder", "result": 1}]

    assert findings(batch_of(run, final_text=CLAIM)) == [
        (
            "unknown_kind",
            "warning",
            "step 5 ponder is no step of the pattern and its kind is unknown: allowed as if it"
            " read, declare its kind",
        )
    ]


def test_tools_of_the_policy_reach_every_rule(refund: Any) -> None:
    policy = Policy(
        Sequence(("lookup_order", "refund_api.create")),
        tools={"refund_api.create": ToolSpec("mutate")},
    )

    found = policy.findings(batch_of([refund.lookup(), refund.refund(), refund.refund()]))
    assert "duplicate effect" in found[0].sentence


def test_a_file_is_read_and_named(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("version: 1\nrules:\n  - befor: [a, b]\n")
    with pytest.raises(PolicyError) as raised:
        Policy.from_yaml(path)
    assert str(raised.value) == f"{path}:3: unknown rule 'befor', did you mean 'before'?"
    assert raised.value.line == 3

    with pytest.raises(FileNotFoundError, match=r"no policy file at .*nowhere\.yaml"):
        Policy.from_yaml(str(tmp_path / "nowhere.yaml"))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("- befor: [a, b]", "3: unknown rule 'befor', did you mean 'before'?"),
        ("- before: [a]", "3: before: expected [first, second], found ['a']"),
        (
            "- before: [a, b]\n    severity: warn",
            "4: before: unknown severity 'warn', did you mean 'warning'?",
        ),
        ("- before: [a, b]\n    forbid: [c]", "3: expected one rule, found before and forbid"),
        ("- before: [a, b]\n    before: [a, b]", "4: 'before' stands twice, first on line 3"),
        (
            "- grounded:\n      tool: x\n      argument: y\n      frm: z",
            "6: unknown key 'frm', did you mean 'from'?",
        ),
        ("- grounded: {tool: x}", "3: grounded: expected argument"),
        (
            "- grounded: order_id",
            "3: grounded: expected a mapping of tool, argument, from, relation",
        ),
        ("- sequence:\n      - a\n      - {tol: b}", "5: unknown key 'tol', did you mean 'tool'?"),
        (
            "- sequence:\n      - a\n      - {tool: b, where: 'x ='}",
            "5: 'x =': write == to compare",
        ),
        ("- budget: {stps: 3}", "3: unknown key 'stps', did you mean 'steps'?"),
        ("- budget: {}", "3: budget: a budget needs a limit"),
        ("- forbid: []", "3: forbid: forbidden needs names of tools, found []"),
        ("- claim: {says: '(', needs: x}", "3: claim: '(' is no regular expression"),
        ("- a: [", "4: no YAML:"),
        ("- 5", "3: a rule: expected a mapping, found 5"),
        (
            "- before: [a, b]\n  - before: [b, a]",
            "4: before: b, a contradicts before: a, b (line 3): b could never be called: no order"
            " is possible: b before a before b",
        ),
        (
            "- sequence: [a, b]\n  - forbid: a",
            "4: forbidden contradicts sequence (line 3): a must succeed, and must never be called",
        ),
        (
            "- allow: [a]\n  - sequence: [a, b]",
            "4: sequence contradicts allowed (line 3): b must succeed, and must never be called",
        ),
        (
            "- sequence: [{tool: a, kind: lookup}]\n  - sequence: [{tool: a, kind: mutate}]",
            "4: the kind of a is said to be both 'lookup' and 'mutate'",
        ),
    ],
)
def test_a_wrong_rule_is_refused_with_its_line(rule: str, message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.from_yaml(f"version: 1\nrules:\n  {rule}\n")
    assert str(raised.value).startswith(f"policy:{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: 2\nrules: [{forbid: a}]", "policy:1: expected version: 1, found 2"),
        ("rules: [{forbid: a}]\n", "policy:1: expected version: 1, found none"),
        ("version: 1\n", "policy:1: a policy needs at least one rule"),
        ("version: 1\nrule: []\n", "policy:2: unknown key 'rule', did you mean 'rules'?"),
        ("- 1\n", "policy:1: expected a mapping with version, tools and rules"),
        (
            "version: 1\ntools:\n  x: {knd: lookup}\nrules: [{forbid: a}]\n",
            "policy:3: unknown key 'knd', did you mean 'kind'?",
        ),
        (
            "version: 1\ntools:\n  x: {kind: lokup}\nrules: [{forbid: a}]\n",
            "policy:3: x: unknown kind 'lokup', did you mean 'lookup'?",
        ),
        (
            "version: 1\ntools:\n  x: {entity: {typ: a}}\nrules: [{forbid: a}]\n",
            "policy:3: unknown key 'typ', did you mean 'type'?",
        ),
        (
            "version: 1\ntools:\n  x: {success: 'a ='}\nrules: [{forbid: a}]\n",
            "policy:3: x: 'a =': write == to compare",
        ),
        ("version: 1\nrules: [{3: a}]\n", "policy:2: expected a text as key, found 3"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.from_yaml(text)
    assert str(raised.value).startswith(message)


def test_severity_may_stand_inside_a_rule_too() -> None:
    policy = Policy.from_yaml("version: 1\nrules:\n  - budget: {steps: 3, severity: warning}\n")

    assert policy.rules[0].severity is Severity.WARNING


def test_rules_made_in_python_contradict_each_other_too() -> None:
    with pytest.raises(PolicyError, match="b could never be called: no order is possible"):
        Policy(Before("a", "b"), Before("b", "a"))


class TestNotes:
    def test_tools_that_no_run_calls_are_named_with_the_nearest(self, refund: Any) -> None:
        text = TEXT.replace("lookup_order:", "lookup_orders:").replace(
            "- before: [check_policy, refund_api.create]",
            "- before: [chek_policy, refund_api.create]",
        )
        with pytest.warns(PolicyWarning, match="chek_policy is not declared under tools"):
            policy = Policy.from_yaml(text)

        assert policy.notes(batch_of(refund.healthy())) == [
            "policy:4: tools: lookup_orders is called in no run, did you mean lookup_order?",
            "policy:13: before: chek_policy, refund_api.create: no run calls chek_policy,"
            " did you mean check_policy?",
        ]

    def test_a_rule_that_can_never_fire_is_named(self, refund: Any) -> None:
        policy = Policy.from_yaml("version: 1\nrules:\n  - count: {tool: ship, max: 1}\n")

        assert policy.notes(batch_of(refund.healthy())) == [
            "policy:3: count: ship can never fire here: no run calls ship"
        ]

    def test_a_name_that_models_see_fits_every_rule(self) -> None:
        policy = Policy.from_yaml(
            "version: 1\nrules:\n  - forbid: [refund_create]\n  - never: refund_create\n"
            "  - never: 'refund_*'\n  - never: mcp__pay__refund_create\n"
        )
        recorded = (["refund_api.create"], [], ["refund_create", None])

        assert policy.notes_on(*recorded) == []

    def test_a_policy_that_fits_has_no_note(self, refund: Any) -> None:
        policy = Policy.from_yaml(TEXT)

        assert policy.notes(batch_of(refund.healthy())) == []


def test_a_rule_without_keys_may_stand_bare(refund: Any) -> None:
    text = "version: 1\nrules:\n  - no_secrets:\n  - recovered: {}\n  - no_loops:\n"

    assert len(Policy.from_yaml(text).rules) == 3


class TestPublishedSchema:
    def test_the_published_schema_is_the_one_that_the_rules_make(self) -> None:
        assert json.loads(PUBLISHED.read_text("utf-8")) == policy_schema()

    @pytest.mark.parametrize(
        "rule",
        [
            {"sequence": ["a", {"tool": "b", "kind": "mutate", "optional": True}]},
            {"sequence": {"steps": ["a"], "extra": "forbid"}},
            {"before": ["a", "b"], "severity": "warning"},
            {"grounded": {"tool": "a", "argument": "b", "from": ["x.id", "input"]}},
            {"forbid": "a"},
            {"allow": ["a", "b"]},
            {"budget": {"steps": 3, "cost_usd": 0.1}},
            {"no_secrets": None},
            {"exact": ["a", {"tool": "b", "arguments": {"x": 1}}, ["c", "d"]]},
            {"partial_order": [["a", "b"]]},
            {"answer": {"contains": ["a", 3], "grounded": True}},
            {"arguments": {"tool": "a", "within": {"x": [1, 0.5]}, "calls": "any"}},
        ],
    )
    def test_it_takes_what_the_policy_takes(self, rule: dict[str, Any]) -> None:
        policy = {"version": 1, "rules": [rule]}

        Policy.from_yaml(json.dumps(policy) + "\n")
        Draft202012Validator(policy_schema()).validate(policy)

    @pytest.mark.parametrize(
        "rule",
        [
            {"befor": ["a", "b"]},
            {"before": ["a"]},
            {"before": ["a", "b"], "severity": "warn"},
            {"grounded": {"tool": "a"}},
            {"grounded": {"tool": "a", "argument": "b", "frm": "x"}},
            {"sequence": [{"tol": "b"}]},
            {"budget": {"stps": 3}},
            {"no_secrets": {"x": 1}},
        ],
    )
    def test_it_refuses_what_the_policy_refuses(self, rule: dict[str, Any]) -> None:
        policy = {"version": 1, "rules": [rule]}

        with pytest.raises(PolicyError):
            Policy.from_yaml(json.dumps(policy) + "\n")
        assert not Draft202012Validator(policy_schema()).is_valid(policy)

    def test_it_takes_the_policy_of_these_tests(self) -> None:
        Draft202012Validator(policy_schema()).validate(yaml.safe_load(TEXT))
