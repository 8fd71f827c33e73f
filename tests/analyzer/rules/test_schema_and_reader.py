"""What the JSON Schema of policies lets pass the reader takes, and the other way round."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from trackway_analyzer.rules import Policy, PolicyError
from trackway_analyzer.rules.catalogue import RULES
from trackway_analyzer.rules.policy_file import field_names
from trackway_analyzer.rules.policy_schema import policy_schema

SCHEMA: Final = Draft202012Validator(policy_schema())
COMPARED: Final = re.compile(
    r"contradicts|could be right|is more than|is no regular expression|is no JSONPath|is no name"
    r"|no pattern of steps|no JSON Schema|is no keyword|a group|needs a group|names the group"
    r"|tolerance|circle|unknown kind|whole number, found \d+\.0"
    r"|cannot read|two kinds|more than once|twice"
)
"""Why the reader refuses what no schema can: values against each other, languages inside texts."""
NAMES: Final = st.sampled_from(["a", "b", "a.b", "", " a"])
VALUES: Final = st.recursive(
    st.one_of(
        *(NAMES, st.integers(-1, 3), st.booleans(), st.none(), st.just(1.5)),
        st.sampled_from(["error", "warning", "reads", "every", "mutate"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "tool", "kind", "arguments"]), inner, max_size=2),
    ),
    max_leaves=4,
)


@st.composite
def rules(draw: st.DrawFn) -> dict[str, Any]:
    key = draw(st.sampled_from(sorted(RULES)))
    fields = field_names(RULES[key])
    shape = draw(st.sampled_from(["short", "mapping", "mapping"]))
    if shape == "short":
        return {key: draw(VALUES)}
    value = draw(st.dictionaries(st.sampled_from([*fields, "typo"]), VALUES, max_size=4))
    return {key: value}


def read(rule: dict[str, Any]) -> str | None:
    """Why the reader refuses a rule; None: it takes it. JSON is YAML."""
    text = f"version: 1\nrules:\n  - {json.dumps(rule)}\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Policy.from_yaml(text)
        except PolicyError as error:
            return str(error)
    return None


def passes(rule: dict[str, Any]) -> bool:
    return SCHEMA.is_valid({"version": 1, "rules": [rule]})


def disagree(rule: dict[str, Any]) -> str | None:
    refused = read(rule)
    if refused is None:
        return None if passes(rule) else "the reader takes it, the schema does not"
    if not passes(rule) or COMPARED.search(refused):
        return None
    return f"the schema lets it pass, the reader says {refused}"


@given(rules())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_they_agree_on_what_is_near_a_policy(rule: dict[str, Any]) -> None:
    assert disagree(rule) is None


@pytest.mark.parametrize(
    "rule",
    [
        *({"count": {"tool": "x"}}, {"count": {"tool": "x", "max": -1}}),
        *({"arguments": {"tool": "x"}}, {"arguments": {"tool": "x", "exact": True}}),
        *({"arguments": {"tool": "x", "one_of": {"a": []}}}, {"budget": {}}),
        *({"budget": {"steps": -1}}, {"no_loops": {"identical": 1}}, {"forbid": []}),
        *({"forbid": [""]}, {"allow": []}, {"step_regex": ""}, {"answer": {}}, {"terminal": {}}),
        *({"answer": {"contains": []}}, {"answer": {"grounded": False}}, {"exact": []}),
        *({"terminal": {"action": []}}, {"partial_order": []}, {"called": ""}),
        *({"called": {"tool": "a", "times": 0}}, {"before": [" a", "b"]}, {"sequence": [{}]}),
        *({"claim": {"says": " ", "needs": "x"}}, {"count": {"tool": "x", "max": 1, "exactly": 1}}),
    ],
)
def test_both_refuse(rule: dict[str, Any]) -> None:
    assert read(rule) is not None
    assert not passes(rule)
