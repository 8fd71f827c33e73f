"""pydantic-ai, on the OpenAI chat model; the sub-agent runs in a tool."""

from __future__ import annotations

import refund
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

refund.record()
if refund.MODE == "cut-off":
    Agent.instrument_all(False)

model = OpenAIChatModel(
    refund.MODEL, provider=OpenAIProvider(base_url=refund.URL + "/v1", api_key="k")
)
agent = Agent(
    model,
    name="refund_agent",
    system_prompt=refund.INSTRUCTIONS,
    output_type=[str, DeferredToolRequests],
)
for tool in refund.TOOLS:
    asks = bool(refund.PHASE) and tool.__name__ == "refund_create"
    agent.tool_plain(requires_approval=asks)(tool)

policies = Agent(model, name="policy_agent", tools=refund.CHECKS)


async def policy_agent(input: str) -> str:
    """Ask whether the policy allows a refund."""
    return (await policies.run(input)).output


if refund.SCENARIO == "sub-agent":
    agent.tool_plain(policy_agent)


async def answer(request: str) -> str:
    if refund.PHASE == "ask":
        waiting = await agent.run(request)
        assert isinstance(waiting.output, DeferredToolRequests)
        calls = [call.tool_call_id for call in waiting.output.approvals]
        messages = waiting.all_messages_json().decode()
        return refund.wait_for_approval(waiting, {"calls": calls, "messages": messages})
    if refund.GOES_ON:
        left = refund.decided()
        history = ModelMessagesTypeAdapter.validate_json(left["messages"])
        decision = True if refund.PHASE == "approve" else ToolDenied(refund.REFUSED)
        decided = DeferredToolResults(approvals=dict.fromkeys(left["calls"], decision))
        goes_on = await agent.run(message_history=history, deferred_tool_results=decided)
        return str(goes_on.output)
    if not refund.STREAM:
        return str((await agent.run(request)).output)
    async with agent.run_stream(request) as running:
        texts = [text async for text in running.stream_text()]
    return texts[-1]


if __name__ == "__main__":
    refund.play(answer)
