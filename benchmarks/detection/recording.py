"""A script, replayed through the SDK: the spans of the run that it describes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

import trackway
from benchmarks.detection.script import Agent, Call, Script, Turn, Wait
from trackway.testing import MemorySpans


class ToolFailedError(RuntimeError):
    """A tool of a script raises."""


@trackway.llm
def _model(answer: dict[str, Any], messages: list[Any], model: str) -> dict[str, Any]:
    return answer


def record(
    agent: Agent, scripts: Mapping[str, Script], **configuration: Any
) -> dict[str, list[ReadableSpan]]:
    """Replay scripts, each under its name as task; the spans of each, stretched to its seconds."""
    memory = MemorySpans()
    memory.configure(**configuration)
    recorded = {}
    try:
        for task, script in scripts.items():
            memory.clear()
            _replay(agent, task, script)
            recorded[task] = _stretched(memory.all, script.seconds)
    finally:
        trackway.shutdown()
    return recorded


def _replay(agent: Agent, task: str, script: Script) -> None:
    deadline = datetime.now(UTC) + timedelta(seconds=script.deadline)
    with trackway.run(task=task, input=script.request, deadline=deadline) as run:

        @trackway.agent(agent.name)
        def work(request: str) -> str:
            messages: list[dict[str, Any]] = [{"role": "user", "content": request}]
            for number, turn in enumerate(script.turns):
                _turn(agent, script, turn, number, messages)
            trackway.continuity(required=["policy-2026"], present=list(script.decisions))
            _ask(script, messages, {"role": "assistant", "content": script.answer})
            return script.answer

        run.final(text=work(script.request))


def _turn(agent: Agent, script: Script, turn: Turn, number: int, messages: list[Any]) -> None:
    asked: list[dict[str, Any]] = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(dict(call.arguments))},
        }
        for place, call in enumerate(turn.calls)
    ]
    said = {"role": "assistant", "content": None, "tool_calls": asked}
    _ask(script, messages, said)
    messages.append(said)
    if turn.wait is not None:
        _wait(turn.wait)
    for call, request in zip(turn.calls, asked, strict=True):
        if call.executed:
            content = _call(agent, call, request["id"])
            messages.append({"role": "tool", "tool_call_id": request["id"], "content": content})


def _ask(script: Script, messages: list[Any], said: dict[str, Any]) -> None:
    entering, leaving = script.tokens
    finish = "tool_calls" if said.get("tool_calls") else "stop"
    answer = {
        "model": script.model,
        "choices": [{"message": said, "finish_reason": finish}],
        "usage": {"prompt_tokens": entering, "completion_tokens": leaving},
    }
    _model(answer, messages=list(messages), model=script.model)


def _wait(wait: Wait) -> None:
    deadline = datetime.now(UTC) + timedelta(hours=1)
    with trackway.step("approval", kind="wait"):
        trackway.wait(owner=wait.owner, deadline=deadline, resume_token=wait.resume_token)
        if wait.taken_up and wait.resume_token is not None:
            trackway.resume(wait.resume_token)


def _call(agent: Agent, call: Call, request: str) -> str:
    with ExitStack() as stack:
        stack.enter_context(trackway.requested(request))
        try:
            with trackway.step(
                call.tool, kind=agent.kinds.get(call.tool, "other"), **call.arguments
            ) as step:
                if call.operation is not None:
                    trackway.effect(call.tool, operation_id=call.operation, applied=call.applied)
                if call.error is not None:
                    raise ToolFailedError(call.error)
                step.result(call.result)
        except ToolFailedError as error:
            return f"error: {error}"
    return json.dumps(call.result)


def _stretched(spans: list[ReadableSpan], seconds: float) -> list[ReadableSpan]:
    """The spans with their distances in time multiplied, so that the run takes so long."""
    first = min(span.start_time or 0 for span in spans)
    last = max(span.end_time or 0 for span in spans)
    factor = seconds * 1e9 / max(1, last - first)

    def at(moment: int | None) -> int:
        return first + round(((moment or first) - first) * factor)

    return list(_timed(spans, at))


def _timed(spans: list[ReadableSpan], at: Callable[[int | None], int]) -> Iterator[ReadableSpan]:
    for span in spans:
        yield ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=span.attributes,
            events=span.events,
            links=span.links,
            kind=span.kind,
            status=span.status,
            start_time=at(span.start_time),
            end_time=at(span.end_time),
            instrumentation_scope=span.instrumentation_scope,
        )
