"""What an ATIF trajectory says of its agent, its sub-agents and how many steps there are."""

from __future__ import annotations

from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.read.atif_evidence import EXTRA
from trackway_analyzer.read.atif_steps import Object, id_of, list_of
from trackway_analyzer.spans import Attributes

_RANGES: Final = 5


def total_steps_of(item: Object) -> int:
    """Return how many steps a trajectory says it has; 0 where it does not say."""
    metrics = item.get("final_metrics")
    total = metrics.get("total_steps") if isinstance(metrics, dict) else None
    return total if isinstance(total, int) and not isinstance(total, bool) else 0


def missing_numbers(steps: list[Object]) -> str:
    """Return the numbers of steps that are missing before others, as ranges."""
    numbers = sorted({n for step in steps if isinstance(n := step.get("step_id"), int)})
    before, found = 0 if numbers[:1] != [0] else -1, list[str]()
    for number in numbers:
        if number > before + 1:
            low, high = before + 1, number - 1
            found.append(str(low) if low == high else f"{low}-{high}")
        before = number
    return ", ".join(found[:_RANGES]) + (", …" if len(found) > _RANGES else "")


def about_continuation(item: Object) -> Object:
    """Return what a continuation says beside its steps."""
    names = ("session_id", "trajectory_id", "final_metrics", "notes")
    return {name: item[name] for name in names if item.get(name) is not None}


def subagents_of(item: Object) -> dict[str, Object]:
    """Return the embedded trajectories of sub-agents by what refers to them."""
    found: dict[str, Object] = {}
    for place, inner in enumerate(list_of(item, "subagent_trajectories")):
        if isinstance(inner, dict) and isinstance(inner.get("steps"), list):
            name = id_of(inner.get("trajectory_id")) or id_of(inner.get("session_id"))
            found[f"#{place}" if name is None or name in found else name] = inner
    return found


def about(item: Object, agent: Object) -> Attributes:
    """Return the attributes of an agent span."""
    metrics = item.get("final_metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    found: Attributes = {
        GenAI.AGENT_NAME: agent.get("name"),
        GenAI.CONVERSATION_ID: item.get("session_id"),
        Trackway.AGENT_VERSION: agent.get("version"),
        GenAI.REQUEST_MODEL: agent.get("model_name"),
        GenAI.TOOL_DEFINITIONS: agent.get("tool_definitions"),
        GenAI.INPUT_TOKENS: metrics.get("total_prompt_tokens"),
        GenAI.OUTPUT_TOKENS: metrics.get("total_completion_tokens"),
        GenAI.CACHE_READ_TOKENS: metrics.get("total_cached_tokens"),
        Trackway.COST_USD: metrics.get("total_cost_usd"),
        "atif.schema_version": item.get("schema_version"),
        "atif.agent.extra": agent.get("extra"),
        "atif.final_metrics.extra": metrics.get("extra"),
        "atif.final_metrics.total_steps": metrics.get("total_steps"),
    }
    for name in ("trajectory_id", "notes", "continued_trajectory_ref"):
        found[f"atif.{name}"] = item.get(name)
    extra = item.get("extra")
    if isinstance(extra, dict):
        found["atif.extra"] = {name: inner for name, inner in extra.items() if name != EXTRA}
        ours = extra.get(EXTRA)
        found |= _told_by_us(ours.get("run") if isinstance(ours, dict) else None)
    return found


_RUN: Final = {
    "suite_id": Trackway.SUITE_ID,
    "task_id": Trackway.TASK_ID,
    "trial": Trackway.TRIAL_INDEX,
    "variant": Trackway.VARIANT,
    "outcome_success": Trackway.OUTCOME_SUCCESS,
    "outcome_label": Trackway.OUTCOME_LABEL,
}


def _told_by_us(run: Any) -> Attributes:
    return {key: run.get(name) for name, key in _RUN.items()} if isinstance(run, dict) else {}
