"""OpenAI Agents SDK, on the Responses API or on chat.

The sub-agent is `as_tool`; in the handoff another agent pays.
"""

from __future__ import annotations

import sys

import refund
from agents import (
    Agent,
    ModelSettings,
    Runner,
    RunState,
    function_tool,
    set_default_openai_api,
    set_default_openai_client,
    set_trace_processors,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

refund.record()
if refund.MODE == "reset":
    set_trace_processors([])
if refund.MODE == "cut-off":
    set_tracing_disabled(True)

if "chat" in sys.argv[1:]:
    set_default_openai_api("chat_completions")
set_default_openai_client(
    AsyncOpenAI(base_url=refund.URL + "/v1", api_key="k"), use_for_tracing=False
)
agent = Agent(
    name="refund_agent",
    instructions=refund.INSTRUCTIONS,
    model=refund.MODEL,
    model_settings=ModelSettings(include_usage=refund.STREAM or None),
    tools=[
        function_tool(tool, needs_approval=bool(refund.PHASE) and tool.__name__ == "refund_create")
        for tool in refund.TOOLS
    ],
)

if refund.SCENARIO == "sub-agent":
    policy_agent = Agent(
        name="policy_agent",
        model=refund.MODEL,
        tools=[function_tool(tool) for tool in refund.CHECKS],
    )
    agent.tools.append(policy_agent.as_tool("policy_agent", "Ask whether the policy allows it."))
if refund.SCENARIO == "handoff":
    payment_agent = Agent(
        name="payment_agent",
        model=refund.MODEL,
        tools=[function_tool(tool) for tool in refund.PAYS],
    )
    agent.handoffs.append(payment_agent)


async def answer(request: str) -> str:
    if refund.PHASE == "ask":
        waiting = await Runner.run(agent, request)
        return refund.wait_for_approval(waiting, waiting.to_state().to_json())
    if refund.GOES_ON:
        state = await RunState.from_json(agent, refund.decided())
        for item in state.get_interruptions():
            if refund.PHASE == "approve":
                state.approve(item)
            else:
                state.reject(item, rejection_message=refund.REFUSED)
        return str((await Runner.run(agent, state)).final_output)
    if not refund.STREAM:
        return str((await Runner.run(agent, request)).final_output)
    running = Runner.run_streamed(agent, request)
    async for _ in running.stream_events():
        pass
    return str(running.final_output)


if __name__ == "__main__":
    refund.play(answer)
