"""A rule that can never fire is told with its line."""

from __future__ import annotations

import pytest

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Policy, PolicyWarning

TOOLS = """version: 1
tools:
  look: {kind: lookup, entity: {type: order, result: $.id}}
  pay: {kind: mutate, entity: {type: order, argument: order_id}}
rules:
"""


def test_an_argument_that_names_no_entity_grounded_in_one() -> None:
    with pytest.warns(PolicyWarning) as told:
        Policy.from_yaml(TOOLS + "  - grounded: {tool: pay, argument: id, from: order}\n")
    assert [str(warning.message) for warning in told] == [
        "policy:6: grounded: pay id: id is not the argument of pay that is declared to name its"
        " entity, and only that comes from order: did you mean order_id?"
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", ["argument: order_id, from: order", "argument: note, from: look"])
def test_other_arguments_and_sources_are_no_fault(rule: str) -> None:
    Policy.from_yaml(f"{TOOLS}  - grounded: {{tool: pay, {rule}}}\n")


def test_effects_of_a_tool_that_no_run_calls() -> None:
    batch = trajectory_of([{"tool": "look", "arguments": {}, "result": {}}]).batch
    policy = Policy.from_yaml(TOOLS + "  - effects: {tool: foo}\n")
    assert policy.notes(batch) == ["policy:6: effects: foo can never fire here: no run calls foo"]
