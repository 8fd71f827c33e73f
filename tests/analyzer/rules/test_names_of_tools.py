"""Which calls a rule means by the name of a tool: its own, the model's, a server's, with stars."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Policy, PolicyError
from trackway_analyzer.tool_names import meant_by


def call(tool: str, result: Any = "ok", **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "result": result}


ORDER = call("get_order", {"id": "A1", "approved": True}, order_id="A1")
FAILED = {"error": "no rights"}


def states(policy: str, batch: RunBatch) -> list[str]:
    with warnings.catch_warnings(action="ignore"):
        read = Policy.from_yaml(f"version: 1\n{policy}")
    return [finding.state.value for finding in read.findings(batch)]


@pytest.mark.parametrize(
    ("names", "tool", "alias", "meant"),
    [
        ({"a"}, "a", None, "a"),
        ({"a"}, "b", "a", "a"),
        ({"a"}, "mcp__crm__a", None, "a"),
        ({"mcp__crm__a"}, "a", None, "mcp__crm__a"),
        ({"mcp__crm__a"}, "mcp__web__a", None, None),
        ({"a*"}, "a_b", None, "a*"),
        ({"a*"}, "mcp__crm__a_b", None, "a*"),
        ({"a*", "a_b"}, "a_b", None, "a_b"),
        ({"a*", "a_b*"}, "a_bc", None, "a_b*"),
        ({"*"}, "a", None, "*"),
        ({"a.b"}, "axb", None, None),
        ({"a"}, None, None, None),
    ],
)
def test_a_call_is_meant_by_the_name_that_says_most(
    names: set[str], tool: str | None, alias: str | None, meant: str | None
) -> None:
    assert meant_by(names, tool, alias) == meant


@pytest.mark.parametrize(
    "rule",
    [
        "never: 'delete_*'",
        "forbid: ['delete_*']",
        "not_together: ['get_*', 'delete_*']",
        "not_after: ['delete_*', 'get_*']",
        "count: {tool: 'delete_*', max: 1}",
        "count: {tool: 'delete_*', max: 1, per: id}",
        "approved: {tool: 'delete_*', by: ask_human}",
        "arguments: {tool: 'delete_*', equals: {id: 2}}",
        "grounded: {tool: 'delete_*', argument: id, from: get_order}",
        "before: [ask_human, 'delete_*']",
        "after: ['delete_*', ask_human]",
        "responds: ['delete_*', tell]",
        "between: {tool: 'delete_*', start: open, end: close, required: false}",
        "first: 'delete_*'",
        "until: {allowed: ['get_*'], until: ask_human}",
        "exact: {calls: ['get_*'], arguments: ignore}",
    ],
)
def test_a_star_works_wherever_a_rule_names_a_tool(rule: str) -> None:
    calls = [ORDER, call("delete_user", id="7"), call("delete_mail", id="7")]
    run = trajectory_of(calls, input="nothing")
    assert "violated" in states(f"rules:\n  - {rule}\n", run.batch)


@pytest.mark.parametrize(
    "rule",
    [
        "before: ['get_*', refund]",
        "called: 'get_*'",
        "sequence: ['get_*', refund]",
        "in_order: {calls: ['get_*', 'ref*'], arguments: ignore}",
        "last: 'ref*'",
        "until: {allowed: ['get_*'], until: refund}",
        "recovered: 'ref*'",
        "approved: {tool: 're*', by: get_order, granted: $.approved}",
    ],
)
def test_a_healthy_run_keeps_a_rule_with_a_star(rule: str) -> None:
    run = trajectory_of([ORDER, call("refund", {"ok": True}, order_id="A1")])
    tools = "tools: {'get_*': {kind: lookup}, 'ref*': {kind: mutate}}\n"
    assert states(f"{tools}rules:\n  - {rule}\n", run.batch) == []


def test_each_tool_of_a_star_recovers_itself() -> None:
    policy = "rules:\n  - recovered: 'delete_*'\n"
    other = trajectory_of([call("delete_user", FAILED), call("delete_mail")])
    own = trajectory_of([call("delete_user", FAILED), call("delete_user")])
    assert states(policy, other.batch) == ["violated"]
    assert states(policy, own.batch) == []


def test_what_is_declared_with_a_star_is_known_of_each_tool() -> None:
    tools = "tools: {'get_*': {kind: lookup, entity: {type: order, result: $.id}}}\n"
    rule = "rules:\n  - grounded: {tool: refund, argument: order_id, from: order}\n"
    run = trajectory_of([ORDER, call("refund", {"ok": True}, order_id="A1")])
    assert states(tools + rule, run.batch) == []


@pytest.mark.parametrize(
    "rule",
    [
        "never: {}",
        "forbid: [{}]",
        "count: {{tool: {}, max: 0}}",
        "arguments: {{tool: {}, absent: [id]}}",
    ],
)
@pytest.mark.parametrize("name", ["delete_user", "admin_delete", "mcp__crm__delete_user"])
def test_the_name_that_the_model_saw_counts_in_every_rule(
    run_of: Callable[..., RunBatch], rule: str, name: str
) -> None:
    step = {"tool": "delete_user", "tool_alias": "admin_delete", "arguments": '{"id":1}'}
    assert states(f"rules:\n  - {rule.format(name)}\n", run_of([step])) == ["violated"]


def test_the_sentence_has_the_tools_own_name() -> None:
    policy = Policy.from_yaml("version: 1\nrules:\n  - never: 'delete_*'\n")
    (finding,) = policy.findings(trajectory_of([call("mcp__crm__delete_user")]).batch)
    assert finding.sentence == "step 1 mcp__crm__delete_user must never be called"


def test_an_allow_list_allows_a_tool_of_a_server_by_its_full_name_alone() -> None:
    run = trajectory_of([call("mcp__crm__find")])
    assert states("rules:\n  - allow: [find]\n", run.batch) == ["violated"]
    assert states("rules:\n  - allow: [mcp__crm__find]\n", run.batch) == []
    assert states("rules:\n  - allow: ['mcp__crm__*']\n", run.batch) == []


def test_a_star_where_results_are_read_is_refused_with_its_line() -> None:
    with pytest.raises(PolicyError, match="policy:3: grounded"):
        Policy.from_yaml(
            "version: 1\nrules:\n  - grounded: {tool: refund, argument: id, from: 'get_*.id'}\n"
        )
