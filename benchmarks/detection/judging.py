"""What the rules say of recorded runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from opentelemetry.sdk.trace import ReadableSpan

from benchmarks.detection.script import Agent
from trackway_analyzer import Policy, load


@dataclass(slots=True)
class Said:
    """What the rules said of one run."""

    violated: set[str] = field(default_factory=set)
    insufficient: set[str] = field(default_factory=set)
    sentences: list[str] = field(default_factory=list)


def judge(agent: Agent, recorded: Mapping[str, Sequence[ReadableSpan]]) -> dict[str, Said]:
    """Check runs with the policy of their agent, by task."""
    runs = load([span for spans in recorded.values() for span in spans])
    tasks = {run.run_id: run.task_id or "" for run in runs}
    report = runs.check(Policy.from_yaml(agent.policy))
    said = {task: Said() for task in recorded}
    for finding in report.findings().to_dict("records"):
        of = said[tasks[finding["run_id"]]]
        rule = finding["rule"].split(":")[0]
        (of.violated if finding["state"] == "violated" else of.insufficient).add(rule)
        of.sentences.append(finding["sentence"])
    return said
