"""A valid policy with a value of another kind anywhere: refused with its line, or taken as it is.

What the published JSON Schema refuses, the loader refuses too, in words of its own.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from trackway_analyzer.rules import Policy, PolicyError
from trackway_analyzer.rules.catalogue import RULES
from trackway_analyzer.rules.policy_schema import policy_schema

SCHEMA = Draft202012Validator(policy_schema())
TOOLS = yaml.safe_load(
    """
look: {kind: lookup, entity: {type: order, result: $.id}}
pay: {kind: mutate, entity: {type: order, argument: order_id}, success: $.status == "done"}
"""
)
VALID: dict[str, list[Any]] = {
    key: yaml.safe_load(text)
    for key, text in {
        "sequence": """
            - [look, {tool: pay, kind: mutate, optional: true, entity_arg: order_id,
                entity_type: order, success: '$.status == "done"', guard: look.ok, where: x == 1}]
            - {steps: [{tool: look, kind: lookup, entity_result_key: id}], extra: forbid}""",
        "exact": """
            - [look, {tool: pay, arguments: {x: [1]}, ok: true}, [look, {tool: pay}]]
            - {calls: [look], arguments: subset, extra: reads}""",
        "in_order": "[[look, pay]]",
        "any_order": "[[look, pay]]",
        "at_least": "[[look, pay]]",
        "at_most": "[[look, pay]]",
        "called": "[pay, {tool: pay, times: 2}]",
        "never": "[pay]",
        "first": "[look]",
        "last": "[pay]",
        "accompanied": "[[look, pay], {first: look, second: pay}]",
        "together": "[[look, pay]]",
        "not_together": "[[look, pay]]",
        "before": "[[look, pay], {first: look, second: pay, required: true}]",
        "after": "[[pay, look], {tool: pay, after: look}]",
        "not_after": "[[look, pay]]",
        "responds": "[[look, pay]]",
        "immediately": "[[look, pay]]",
        "between": "[[look, pay, end], {tool: look, start: pay, end: end}]",
        "at_most_once_between": "[[look, pay, end]]",
        "until": "[[[look], pay], {allowed: look, until: pay, required: false}]",
        "partial_order": "[[[look, pay]], {edges: [[look, pay]], tools: [end]}]",
        "step_regex": "['look+ pay', {pattern: look pay, extra: allow}]",
        "count": "[{tool: pay, min: 1, max: 2, per: x, effects: true}, {tool: a, exactly: 1}]",
        "no_loops": "[{identical: 2, cycles: 2, stagnation: 3}, null]",
        "budget": """
            - {steps: 8, tool_calls: 3, model_calls: 3, retries: 0, tokens: 5, tokens_in: 3,
               tokens_out: 2, cost_usd: 0.5}
            - {seconds: 1.5}
            - {steps: 3, agent: clerk}""",
        "arguments": """
            - {tool: pay, equals: {x: 1}, exact: true}
            - {tool: pay, regex: {x: a+}, one_of: {y: [a, 1]}, within: {z: [5, 1]}, absent: [w],
               schema: {type: object, required: [x]}, where: x == 1, calls: any}""",
        "grounded": """
            - {tool: pay, argument: order_id, from: order}
            - {tool: pay, argument: amount, from: [look.x, input], relation: x <= look.x}""",
        "forbidden": "[pay, [a, 'b*'], {tools: [a], agent: clerk}]",
        "allowed": "[[look, pay]]",
        "approved": """
            - [pay, ask]
            - {tool: pay, by: ask, argument: order_id, granted: $.ok, once: true}""",
        "no_secrets": "[null, {}]",
        "recovered": "[pay, {tool: pay, by: [look]}, null]",
        "executed": "[pay, null]",
        "admits_failure": "[null]",
        "result_used": "[look, {tool: look, result: id, by: pay}]",
        "claim": "[{says: 'paid (?P<x>.+)', needs: pay, arguments: {x: amount}}]",
        "answer": """
            - [paid, 84]
            - {contains: paid, matches: [a+], grounded: true, agrees: {'is (.+)': look.x}}""",
        "outcome": "[true, {success: null, label: fine, where: $.x == 1}, null]",
        "effects": "[{tool: pay, ids: true}, null]",
        "continuity": "[{required: [a]}, null]",
        "routed": "[{resumed: true}, null]",
        "deadline": "[null]",
        "terminal": "[pay, {action: [pay], category: [send], claimed: true}]",
    }.items()
}
OTHERS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 8.5, "", " a", "no", "x ((", []),
    *([""], ["x"], [False], [["x"]], [{"x": 1}], {}, {"x": 1}, {"tool": "x"}, {"x": []}),
)
RAW = re.compile(
    r"object is|has no attribute|must be string|unhashable|unexpected keyword|internal|"
    r"positional|not iterable|not supported|NoneType|dict_|<class|can only|expected str"
)


def policies() -> Iterator[tuple[str, dict[str, Any]]]:
    for key, values in VALID.items():
        for value in values:
            yield key, {"version": 1, "rules": [{key: value, "severity": "error"}]}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def changed(policy: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    found = copy.deepcopy(policy)
    inner: Any = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return found


def refusal(policy: Any) -> PolicyError | None:
    try:
        Policy.from_yaml(json.dumps(policy, indent=1) + "\n")
    except PolicyError as error:
        return error
    return None


def check_all(policy: dict[str, Any], paths: Iterator[tuple[Any, ...]]) -> int:
    refused = 0
    for path in paths:
        for value in OTHERS:
            mutant = changed(policy, path, value)
            error = refusal(mutant)
            if error is not None:
                assert error.line is not None, (path, value, str(error))
                assert not RAW.search(error.message), (path, value, str(error))
            elif not SCHEMA.is_valid(mutant):
                raise AssertionError(f"the schema refuses {value!r} at {path}, the loader does not")
            refused += error is not None
    return refused


def test_every_rule_is_among_them() -> None:
    assert VALID.keys() == RULES.keys()


def test_the_policies_are_valid() -> None:
    for key, policy in policies():
        SCHEMA.validate(policy | {"tools": TOOLS})
        assert refusal(policy | {"tools": TOOLS}) is None, key


@pytest.mark.parametrize("key", VALID)
def test_another_value_in_a_rule(key: str) -> None:
    for name, policy in policies():
        if name == key:
            own = (path for path in places(policy) if path[0] == "rules" and len(path) > 2)
            assert check_all(policy, own) > 0


def test_another_value_around_the_rules() -> None:
    policy = next(policies())[1] | {"tools": TOOLS}
    around = (path for path in places(policy) if path[0] != "rules" or len(path) < 3)
    assert check_all(policy, around) > 0
