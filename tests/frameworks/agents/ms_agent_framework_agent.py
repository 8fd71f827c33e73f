"""Microsoft Agent Framework on the OpenAI chat client; the sub-agent is `as_tool`."""

from __future__ import annotations

import refund
from agent_framework import Agent, AgentSession, Content, Message, tool
from agent_framework.openai import OpenAIChatCompletionClient

refund.record()

client = OpenAIChatCompletionClient(model=refund.MODEL, api_key="k", base_url=refund.URL + "/v1")
tools = [tool(function, approval_mode="never_require") for function in refund.TOOLS]
if refund.PHASE:
    tools[2] = tool(refund.TOOLS[2], approval_mode="always_require")
if refund.SCENARIO == "sub-agent":
    checks = [tool(function, approval_mode="never_require") for function in refund.CHECKS]
    policy_agent = Agent(client=client, name="policy_agent", tools=checks)
    tools.append(policy_agent.as_tool(arg_name="input"))
agent = Agent(
    client=client,
    name="refund_agent",
    instructions=refund.INSTRUCTIONS,
    tools=tools,
)


async def answer(request: str) -> str:
    if refund.PHASE == "ask":
        session = agent.create_session()
        waiting = await agent.run(request, session=session)
        asked = [content.to_dict() for content in waiting.user_input_requests]
        return refund.wait_for_approval(waiting, {"asked": asked, "session": session.to_dict()})
    if refund.GOES_ON:
        left = refund.decided()
        asked = [Content.from_dict(content) for content in left["asked"]]
        yes = refund.PHASE == "approve"
        answers = Message("user", [one.to_function_approval_response(yes) for one in asked])
        return str((await agent.run(answers, session=AgentSession.from_dict(left["session"]))).text)
    if not refund.STREAM:
        return str((await agent.run(request)).text)
    return "".join([update.text async for update in agent.run(request, stream=True)])


if __name__ == "__main__":
    refund.play(answer)
