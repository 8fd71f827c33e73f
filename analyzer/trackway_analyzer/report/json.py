"""What `--json` prints of a run: plain values with stable keys.

1. A run is one JSON object. Steps are numbered from 1, as findings number them.
2. A step has `step`, `tool`, `arguments`, `result` and `timestamp` as the plain record lists have
   them; `arguments`, `result`, `input` and `output` are absent where they were not recorded, for
   null is a value that can be recorded. Every other key is always there; null: the record does
   not say.
3. `pauses` are the waits and resumes of the run, each behind its step `after_step` (0: before all).
4. Model messages (`input`, `output`) are left out unless asked for: each turn repeats the turns
   before it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from trackway_analyzer.json_text import compact
from trackway_analyzer.model import NotRecorded, Step, Trajectory
from trackway_analyzer.report.pauses import Pause, pauses_of

_STEP_KEYS: Final = (
    "operation",
    "tool",
    "kind",
    "ok",
    "executed",
    "requested",
    "synthesised",
    "id_inferred",
    "group",
    "attempt",
    "call_id",
    "span_id",
    "agent",
    "error_type",
    "error_message",
    "model_requested",
    "model_answered",
    "tokens_in",
    "tokens_out",
)


def line(value: Any) -> str:
    """Encode a value as one line of JSON."""
    return compact(value)


def trajectory_json(trajectory: Trajectory, *, content: bool = False) -> dict[str, Any]:
    """One run as plain values; with `content`, model messages too."""
    run = trajectory.run
    return {
        "run_id": trajectory.run_id,
        "session_id": trajectory.session_id,
        "task": trajectory.task_id,
        "trial": run["trial"],
        "variant": run["variant"],
        "input": trajectory.input,
        "final_text": trajectory.final_text,
        "final_action": trajectory.final_action,
        "outcome": asdict(trajectory.outcome),
        "tools": trajectory.tools,
        "steps": [step_json(step, content=content) for step in trajectory.steps],
        "pauses": [pause_json(pause) for pause in pauses_of(trajectory)],
        "gaps": [
            {
                "name": gap.name,
                "step": None if gap.position is None else gap.position + 1,
                "count": gap.count,
                "detail": gap.detail,
            }
            for gap in trajectory.gaps
        ],
    }


def pause_json(pause: Pause) -> dict[str, Any]:
    """A wait or a resume as plain values."""
    names = ("owner", "reason", "deadline", "resume_token")
    return {
        "event": pause.event,
        "after_step": pause.after,
        "timestamp": None if pause.at is None else pause.at.isoformat(),
        "seconds": pause.seconds,
        **{name: pause.said.get(name) for name in names},
    }


def step_json(step: Step, *, content: bool = False) -> dict[str, Any]:
    """One step as plain values."""
    values: dict[str, Any] = {"step": step.number}
    values |= {key: getattr(step, key) for key in _STEP_KEYS}
    values["retry_of"] = None if step.retry_of is None else step.retry_of + 1
    values["timestamp"] = None if step.start is None else step.start.isoformat()
    names = ("arguments", "result", *(("input", "output") if content else ()))
    recorded = {name: getattr(step, name) for name in names}
    return values | {k: v for k, v in recorded.items() if not isinstance(v, NotRecorded)}
