"""What other tools say of the same runs: `python -m benchmarks.detection.peers`, in their own room.

1. Each tool gets what it needs to know a right run: the healthy twin of the run in question (the
   same customer, the same order), or ten healthy runs where it compares two samples.
2. Settings are those that the tool has as installed, other than where a column says so.
3. A run is caught if the tool would stop it: its score below its threshold, its gate not passed.
   A tool that cannot take a run at all is counted as not having caught it, and named.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.detection.agents import AGENTS, changed, healthy
from benchmarks.detection.faults import FAULTS, Change
from benchmarks.detection.harmless import HARMLESS
from benchmarks.detection.script import Agent, Call, Script

SAMPLE = 10
Judge = Callable[[Script, Script], bool]
"""Whether a tool stops the second run, given the first, which is right."""


def _executed(script: Script) -> list[Call]:
    return [call for call in script.calls() if call.executed]


def _messages(script: Script) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": script.request}]
    for number, turn in enumerate(script.turns):
        ids = [f"call_{number}_{place}" for place in range(len(turn.calls))]
        asked = [
            {
                "id": name,
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(dict(call.arguments))},
            }
            for name, call in zip(ids, turn.calls, strict=True)
        ]
        messages.append({"role": "assistant", "content": "", "tool_calls": asked})
        messages += [
            {"role": "tool", "tool_call_id": name, "content": call.error or json.dumps(call.result)}
            for name, call in zip(ids, turn.calls, strict=True)
            if call.executed
        ]
    return [*messages, {"role": "assistant", "content": script.answer}]


def agentevals(mode: str) -> Judge:
    """Trajectory match in a mode."""
    os.environ["LANGSMITH_TRACING"] = "false"
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    evaluate = create_trajectory_match_evaluator(trajectory_match_mode=mode)

    def stops(right: Script, run: Script) -> bool:
        said = evaluate(outputs=_messages(run), reference_outputs=_messages(right))
        return not said["score"]

    return stops


def deepeval(**options: Any) -> Judge:
    """Tool correctness; no judge model is asked."""
    os.environ |= {"OPENAI_API_KEY": "none", "DEEPEVAL_TELEMETRY_OPT_OUT": "1"}
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    if options.pop("arguments", False):
        options["evaluation_params"] = [ToolCallParams.INPUT_PARAMETERS]

    def tools(script: Script) -> list[Any]:
        return [
            ToolCall(name=c.tool, input_parameters=dict(c.arguments), output=c.error or c.result)
            for c in _executed(script)
        ]

    def stops(right: Script, run: Script) -> bool:
        metric = ToolCorrectnessMetric(async_mode=False, **options)
        case = LLMTestCase(
            input=run.request,
            actual_output=run.answer,
            tools_called=tools(run),
            expected_tools=tools(right),
        )
        metric.measure(case, _show_indicator=False)
        return not metric.is_successful()

    return stops


def offtrack() -> Judge:
    """Alignment with the recorded run."""
    from offtrack.align.engine import align
    from offtrack.model import Step, StepStatus, StepType

    def steps(script: Script) -> list[Any]:
        made = [
            Step(
                idx=i,
                type=StepType.TOOL_CALL,
                name=call.tool,
                args=dict(call.arguments),
                result=call.error or call.result,
                status=StepStatus.ERROR if call.error else StepStatus.OK,
            )
            for i, call in enumerate(_executed(script))
        ]
        end = Step(
            idx=len(made), type=StepType.FINAL_ANSWER, name="final", args={"text": script.answer}
        )
        return [*made, end]

    def stops(right: Script, run: Script) -> bool:
        return bool(align(steps(right), steps(run)).is_divergent)

    return stops


def agentdiff() -> Judge:
    """The gate over the comparison with the recorded run."""
    from agentdiff import AgentTrace, StepStatus, StepType, TraceStep, compare
    from agentdiff.testing.assertions import evaluate_gate

    def trace(script: Script) -> Any:
        calls = _executed(script)
        return AgentTrace(
            trace_id="t",
            agent_name="agent",
            task_input={"request": script.request},
            final_output={"answer": script.answer},
            total_latency_ms=script.seconds * 1000,
            total_tokens={"total_tokens": sum(script.tokens) * (len(script.turns) + 1)},
            steps=[
                TraceStep(
                    step_id=str(i),
                    step_index=i,
                    step_type=StepType.TOOL_CALL,
                    name=call.tool,
                    input_payload=dict(call.arguments),
                    output_payload={"result": call.error or call.result},
                    status=StepStatus.ERROR if call.error else StepStatus.SUCCESS,
                    error_message=call.error,
                )
                for i, call in enumerate(calls)
            ],
        )

    def stops(right: Script, run: Script) -> bool:
        return not evaluate_gate(compare(trace(right), trace(run))).passed

    return stops


def agentassay(right: Sequence[Script], runs: Sequence[Script], seed: int) -> bool:
    """Whether the fingerprints of two samples of runs differ."""
    from agentassay import ExecutionTrace
    from agentassay.core.models import StepTrace
    from agentassay.efficiency.distribution import FingerprintDistribution
    from agentassay.efficiency.fingerprint import BehavioralFingerprint

    chance = random.Random(seed)

    def fingerprint(script: Script) -> Any:
        calls = _executed(script)
        each = script.seconds * 1000 / (len(calls) + 1)
        steps = [
            StepTrace(
                step_index=i,
                action="tool_call",
                tool_name=call.tool,
                tool_input=dict(call.arguments),
                tool_output=call.error or call.result,
                duration_ms=each * chance.uniform(0.9, 1.1),
            )
            for i, call in enumerate(calls)
        ]
        answer = StepTrace(
            step_index=len(steps),
            action="llm_response",
            llm_output=script.answer,
            model=script.model,
            duration_ms=each * chance.uniform(0.9, 1.1),
        )
        trace = ExecutionTrace(
            scenario_id="s",
            steps=[*steps, answer],
            input_data={"request": script.request},
            output_data={"answer": script.answer},
            success=True,
            total_duration_ms=script.seconds * 1000,
            total_cost_usd=0.0,
            model=script.model,
            framework="custom",
        )
        return BehavioralFingerprint.from_trace(trace)

    before, after = (
        FingerprintDistribution([fingerprint(script) for script in sample])
        for sample in (right, runs)
    )
    return bool(before.regression_test(after)["regression_detected"])


def judges() -> dict[str, Judge]:
    """The tools that compare a run with its right twin, under the names of their columns."""
    return {
        "agentevals strict": agentevals("strict"),
        "agentevals unordered": agentevals("unordered"),
        "deepeval": deepeval(),
        "deepeval exact, arguments": deepeval(should_exact_match=True, arguments=True),
        "offtrack": offtrack(),
        "agentdiff": agentdiff(),
    }


def caught(agent: Agent, change: Change, seed: int, tools: dict[str, Judge]) -> dict[str, bool]:
    """What each tool does with one changed run."""
    right, run = healthy(agent, seed), changed(agent, change, seed)
    said = {}
    for name, stops in tools.items():
        try:
            said[name] = stops(right, run)
        except Exception as error:  # noqa: BLE001 - a tool that cannot take the run is a result
            print(f"{name}: {agent.name}, {change.name}: {error!r}", file=sys.stderr)
            said[name] = False
    sample = [healthy(agent, 100 * seed + i) for i in range(SAMPLE)]
    other = [changed(agent, change, 100 * seed + 50 + i) for i in range(SAMPLE)]
    said["agentassay, 10 runs"] = agentassay(sample, other, seed)
    return said


def main() -> None:
    """Print for each change, agent and tool in how many of the seeds it was caught, as JSON."""
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    tools = judges()
    rows = [
        {"change": change.name, "agent": agent.name, "caught": caught(agent, change, seed, tools)}
        for change in (*FAULTS, *HARMLESS)
        for agent in AGENTS
        for seed in seeds
    ]
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main()
