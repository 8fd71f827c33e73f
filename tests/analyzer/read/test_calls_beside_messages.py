"""Roles that say what a message is, blocks that became a text, and calls beside the messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from trackway_analyzer.rules import Forbidden

U = {"role": "user", "content": "Delete me."}
D = {"role": "assistant", "content": "Deleted."}
CALL = '{"name": "delete_account", "arguments": {"id": 7}}'
KNOWN = {"id": "c", "function": {"name": "delete_account", "arguments": "{}"}}
CALLED = [
    U,
    {"role": "assistant", "content": None, "tool_calls": [KNOWN]},
    {"role": "tool", "tool_call_id": "c", "content": "ok"},
    D,
]
LOOKUP = json.loads(json.dumps(CALLED).replace("delete_account", "lookup"))


def run_of(source: Any) -> ta.Trajectory:
    (run,) = ta.load(source)
    return run


def holes(source: Any) -> list[str | None]:
    return [gap.detail for gap in run_of(source).gaps if gap.name == "missing_steps"]


def verdict(source: Any) -> str:
    return str(ta.load(source).check(ta.Policy(Forbidden("delete_account"))).verdict)


@pytest.mark.parametrize(
    "roles", [("tool_call", "tool_response"), ("function_call", "observation")]
)
def test_a_role_says_that_a_message_is_a_call_or_an_answer(roles: tuple[str, str]) -> None:
    asked, answered = (
        {"role": role, "content": text} for role, text in zip(roles, (CALL, "ok"), strict=True)
    )
    run = run_of({"messages": [U, asked, answered, D]})
    (step,) = run.tool_steps
    assert (step.tool, step.arguments, step.result) == ("delete_account", {"id": 7}, "ok")
    assert holes({"messages": [U, asked, answered, D]}) == []


def test_a_call_may_be_a_python_literal_behind_words() -> None:
    text = "Calling tools:\n[{'id': 'c1', 'function': {'name': 'delete_account', 'arguments': {}}}]"
    call = {"role": "tool-call", "content": [{"type": "text", "text": text}]}
    assert run_of([U, call, {"role": "tool-response", "content": "ok"}, D]).tools == [
        "delete_account"
    ]


@pytest.mark.parametrize("role", ["environment", "tool_call", "planner"])
def test_a_role_that_nobody_knows_is_a_hole(role: str) -> None:
    chat = [U, {"role": role, "content": "something"}, D]
    assert holes(chat) == [f"a message of the role {role}, which nobody knows"]
    assert verdict(chat) == "insufficient"


def test_roles_that_say_nothing_of_calls_are_none() -> None:
    assert holes([U, D, {"role": "exit", "content": "Submitted"}]) == []


def test_blocks_that_a_database_made_a_text_are_blocks() -> None:
    asked = [{"type": "tool_use", "id": "s", "name": "delete_account", "input": {"id": 7}}]
    answered = [{"type": "tool_result", "tool_use_id": "s", "content": "ok"}]
    turn = {"role": "assistant", "content": json.dumps(asked)}
    run = run_of([U, turn, {"role": "user", "content": json.dumps(answered)}, D])
    (step,) = run.tool_steps
    assert (step.tool, step.arguments, step.result) == ("delete_account", {"id": 7}, "ok")


def test_a_text_that_is_a_list_of_other_things_stays_a_text() -> None:
    assert run_of([U, {"role": "assistant", "content": '[{"type": "car"}]'}]).final_text == (
        '[{"type": "car"}]'
    )


STEPS = [[{"tool": "delete_account", "tool_input": {}, "log": ""}, "ok"]]
BESIDE: dict[str, dict[str, Any]] = {
    "intermediate steps": {"intermediate_steps": STEPS},
    "calls": {"tool_calls": [{"name": "delete_account", "arguments": {}}]},
    "steps": {"steps": [{"tool_name": "delete_account"}]},
    "names": {"tools_used": ["delete_account"]},
    "a call without a name": {"log": [{"type": "tool_call", "id": 5}]},
}
WITHIN: dict[str, dict[str, Any]] = {
    "metadata": {"metadata": {"tool_calls": [{"name": "delete_account", "arguments": {}}]}},
    "actions": {"actions": [{"name": "delete_account", "input": {}}]},
    "names": {"tools_used": ["delete_account"]},
}


@pytest.mark.parametrize("more", BESIDE.values(), ids=BESIDE)
def test_calls_beside_the_messages_are_a_hole(more: dict[str, Any]) -> None:
    record = {"messages": [U, D], **more}
    (key,) = more
    assert holes(record) == [f"calls in {key}, beside the messages, which are not read"]
    assert verdict(record) == "insufficient"


@pytest.mark.parametrize("more", WITHIN.values(), ids=WITHIN)
def test_so_are_those_in_other_members_of_a_message(more: dict[str, Any]) -> None:
    chat = [U, {**D, **more}]
    (key,) = more
    assert holes(chat) == [f"calls in {key}, beside the messages, which are not read"]


@pytest.mark.parametrize("more", [BESIDE["intermediate steps"], BESIDE["calls"], BESIDE["names"]])
def test_what_repeats_the_calls_of_the_messages_tells_nothing_new(more: dict[str, Any]) -> None:
    assert holes({"messages": CALLED, **more}) == []
    assert ta.load({"messages": CALLED, **more}).quarantined.to_pylist() == []
    assert len(holes({"messages": LOOKUP, **more})) == 1


def test_words_beside_the_messages_count_for_whoever_asks_about_them(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"messages": LOOKUP, "trace": {"uses": "delete_account"}}))
    report = ta.load(file).check(ta.Policy(Forbidden("delete_account")))
    assert (report.verdict, [loss.tool for loss in report.naming]) == (
        "insufficient",
        ["delete_account"],
    )
    assert ta.load(file).check(ta.Policy(Forbidden("close_account"))).verdict == "pass"


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"name": "delete_account", "input_schema": {}}]},
        {"tools": ["delete_account"]},
        {"expected_actions": [{"name": "delete_account", "arguments": {}}]},
        {"meta": {"task_description": {"actions": [{"name": "delete_account", "kwargs": {}}]}}},
        {"system_prompt": "Use delete_account(id)"},
        {"metadata": {"suite": "airline", "seed": 7}},
        {"usage": {"total_tokens": 7}},
    ],
)
def test_descriptions_and_expectations_beside_the_messages_lose_nothing(
    more: dict[str, Any],
) -> None:
    assert verdict({"messages": LOOKUP, **more}) == "pass"


def test_a_list_of_system_prompts_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(LOOKUP))
    (tmp_path / "prompts.json").write_text(json.dumps([{"role": "system", "content": "You are"}]))
    assert len(ta.load(tmp_path)) == 1
    assert verdict(tmp_path) == "pass"


def asked(source: Any) -> tuple[str, str]:
    found = (verdict(source), ta.load(source).check(ta.Policy(Forbidden("close_account"))).verdict)
    return (found[0], str(found[1]))


def test_ticks_beside_the_messages_of_tau2_are_a_hole(tmp_path: Path) -> None:
    ticks = [{"agent_tool_calls": [{"name": "delete_account", "arguments": {}}]}]
    run = {"id": "s", "task_id": "1", "messages": LOOKUP, "reward_info": {"reward": 1.0}}
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"simulations": [run | {"ticks": ticks}]}))
    assert holes(file) == ["calls in ticks, beside the messages, which are not read"]
    file.write_text(json.dumps({"simulations": [run]}))
    assert asked(file) == ("pass", "pass")


def test_an_event_of_inspect_of_an_unknown_kind_names_a_tool(tmp_path: Path) -> None:
    event = {"event": "remote", "function": "delete_account", "uuid": "x"}
    sample = {"id": 1, "epoch": 1, "messages": LOOKUP, "events": [event]}
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample]}
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    assert asked(file) == ("insufficient", "pass")


def test_an_observation_of_langfuse_of_an_unknown_type_names_a_tool(tmp_path: Path) -> None:
    def observation(number: int, kind: str, name: str) -> dict[str, Any]:
        return {
            "id": f"{number:016x}",
            "traceId": "a" * 32,
            "type": kind,
            "name": name,
            "startTime": "2026-01-01T00:00:00Z",
            "endTime": "2026-01-01T00:00:01Z",
            "parentObservationId": f"{1:016x}" if number > 1 else None,
            "level": "DEFAULT",
        }

    found = [observation(1, "AGENT", "a"), observation(2, "TOOL", "lookup")]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"id": "a" * 32, "observations": found}))
    assert asked(file) == ("pass", "pass")
    found.append(observation(3, "TOOL_CALL", "delete_account"))
    file.write_text(json.dumps({"id": "a" * 32, "observations": found}))
    assert asked(file) == ("insufficient", "pass")
