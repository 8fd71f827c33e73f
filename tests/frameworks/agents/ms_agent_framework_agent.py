"""Microsoft Agent Framework on the OpenAI chat client; the sub-agent is `as_tool`."""

from __future__ import annotations

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient
from refund import CHECKS, INSTRUCTIONS, MODEL, SCENARIO, STREAM, TOOLS, URL, play, record

record()

client = OpenAIChatCompletionClient(model=MODEL, api_key="k", base_url=URL + "/v1")
tools = [tool(function, approval_mode="never_require") for function in TOOLS]
if SCENARIO == "sub-agent":
    checks = [tool(function, approval_mode="never_require") for function in CHECKS]
    policy_agent = Agent(client=client, name="policy_agent", tools=checks)
    tools.append(policy_agent.as_tool(arg_name="input"))
agent = Agent(
    client=client,
    name="refund_agent",
    instructions=INSTRUCTIONS,
    tools=tools,
)


async def answer(request: str) -> str:
    if not STREAM:
        return str((await agent.run(request)).text)
    return "".join([update.text async for update in agent.run(request, stream=True)])


if __name__ == "__main__":
    play(answer)
