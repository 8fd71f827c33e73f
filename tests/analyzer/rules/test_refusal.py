"""In which words a call says that it took no effect."""

from __future__ import annotations

from typing import Any

import pytest

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.refusal import no_effect
from trackway_analyzer.rules.tools import ToolSpec


def why(success: str | None = None, declared: str | None = None, **call: Any) -> str:
    tools = {"pay": ToolSpec(success=compiled(declared))} if declared else {}
    run = trajectory_of([{"tool": "look", "result": {"status": "seen"}}, {"tool": "pay", **call}])
    expression = None if success is None else compiled(success)
    return no_effect(Evidence.of(run.batch, tools), 1, expression)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"result": {"status": "failed"}}, ': status "failed"'),
        ({"result": {"error": "no funds", "status": "failed"}}, ': error "no funds"'),
        ({"result": {"ok": False}}, ": ok false"),
        ({"result": {"success": False}}, ": success false"),
        ({"result": {"code": 7}, "ok": False}, ""),
        ({"result": {"status": "fine"}, "ok": False}, ': status "fine"'),
        ({"result": "Error: no funds", "ok": False}, ': it answered "Error: no funds"'),
        ({"result": 7, "ok": False}, ""),
        ({"result": ["status"], "ok": False}, ""),
        ({"ok": False}, ""),
    ],
)
def test_by_what_it_returned(call: dict[str, Any], expected: str) -> None:
    assert why(**call) == f"step 2 pay did not take effect{expected}"


def test_by_the_error_that_it_raised_whatever_it_returned(run_of: Any) -> None:
    step = {"tool": "pay", "result": '{"status": "failed"}', "error_type": "TimeoutError"}
    evidence = Evidence.of(run_of([step | {"ok": False}]))

    assert no_effect(evidence, 0) == "step 1 pay did not take effect: it raised TimeoutError"
    assert no_effect(evidence, 0, compiled("$.paid")) == no_effect(evidence, 0)


@pytest.mark.parametrize("error", ["_OTHER", "tool_error"])
def test_an_error_without_a_type_is_told_in_words(run_of: Any, error: str) -> None:
    evidence = Evidence.of(run_of([{"tool": "pay", "error_type": error, "ok": False}]))

    assert no_effect(evidence, 0) == (
        "step 1 pay did not take effect: it failed; the kind of error was not recorded"
    )


def test_by_the_declared_success_or_the_one_that_a_rule_names() -> None:
    result = {"status": "failed", "paid": 0, "sent": 1}

    assert why(declared="$.paid == 1", result=result) == (
        "step 2 pay did not take effect: $.paid 0, expected 1"
    )
    assert why("$.sent == 2", "$.paid == 1", result=result) == (
        "step 2 pay did not take effect: $.sent 1, expected 2"
    )
    assert why("$.status == look.status", result=result) == (
        'step 2 pay did not take effect: $.status "failed",'
        ' expected "seen" (look.status from look at step 1)'
    )


def test_a_success_that_is_true_or_hidden_is_no_reason() -> None:
    assert why("$.sent == 1", result={"status": "failed", "sent": 1}).endswith('status "failed"')
    assert why("$.sent == 1", ok=False) == "step 2 pay did not take effect"
