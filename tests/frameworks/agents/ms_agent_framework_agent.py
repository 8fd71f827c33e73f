"""Microsoft Agent Framework on the OpenAI chat client."""

from __future__ import annotations

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient
from refund import INSTRUCTIONS, MODEL, STREAM, TOOLS, URL, play, record

record()

agent = Agent(
    client=OpenAIChatCompletionClient(model=MODEL, api_key="k", base_url=URL + "/v1"),
    name="refund_agent",
    instructions=INSTRUCTIONS,
    tools=[tool(function, approval_mode="never_require") for function in TOOLS],
)


async def answer(request: str) -> str:
    if not STREAM:
        return str((await agent.run(request)).text)
    return "".join([update.text async for update in agent.run(request, stream=True)])


if __name__ == "__main__":
    play(answer)
