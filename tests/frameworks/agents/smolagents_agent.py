"""smolagents: a `ToolCallingAgent`; the sub-agent is a managed one."""

from __future__ import annotations

from refund import CHECKS, MODEL, SCENARIO, STREAM, TOOLS, URL, play, record
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

record()

model = OpenAIServerModel(model_id=MODEL, api_base=URL + "/v1", api_key="k")
policy_agent = ToolCallingAgent(
    name="policy_agent",
    description="Tells whether the policy allows a refund.",
    tools=[tool(function) for function in CHECKS],
    model=model,
    max_steps=8,
    verbosity_level=0,
)
agent = ToolCallingAgent(
    name="refund_agent",
    description="Refunds orders.",
    tools=[tool(function) for function in TOOLS],
    managed_agents=[policy_agent] if SCENARIO == "managed" else [],
    model=model,
    max_steps=8,
    verbosity_level=0,
    stream_outputs=STREAM,
)


def answer(request: str) -> str:
    if not STREAM:
        return str(agent.run(request))
    *_, last = agent.run(request, stream=True)
    return str(last.output)


if __name__ == "__main__":
    play(answer)
