"""Google ADK on Gemini's REST API; the sub-agent is an `AgentTool`."""

from __future__ import annotations

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from pydantic import BaseModel
from refund import CHECKS, INSTRUCTIONS, PAYS, SCENARIO, STREAM, TOOLS, play, record

record()

RETRIES = types.HttpRetryOptions(attempts=3, initial_delay=0.1)  # the client has none by itself
MODEL = Gemini(model="gemini-2.5-flash", retry_options=RETRIES)


class Question(BaseModel):
    """What the sub-agent is asked."""

    input: str


policy_agent = Agent(name="policy_agent", model=MODEL, input_schema=Question, tools=CHECKS)
payment_agent = Agent(name="payment_agent", model=MODEL, tools=PAYS)
agent = Agent(
    name="refund_agent",
    model=MODEL,
    instruction=INSTRUCTIONS,
    tools=[*TOOLS, AgentTool(policy_agent)] if SCENARIO == "sub-agent" else TOOLS,
    sub_agents=[payment_agent] if SCENARIO == "transfer" else [],
)


async def answer(request: str) -> str:
    runner = InMemoryRunner(agent=agent, app_name="refund")
    session = await runner.session_service.create_session(app_name="refund", user_id="u1")
    message = types.Content(role="user", parts=[types.Part(text=request)])
    mode = StreamingMode.SSE if STREAM else StreamingMode.NONE
    text = ""
    async for event in runner.run_async(
        user_id="u1",
        session_id=session.id,
        new_message=message,
        run_config=RunConfig(streaming_mode=mode),
    ):
        for part in (event.content and event.content.parts) or ():
            text = part.text or text
    return text


if __name__ == "__main__":
    play(answer)
