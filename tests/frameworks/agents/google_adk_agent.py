"""Google ADK on Gemini's REST API; the sub-agent is an `AgentTool`.

The session of the run that waits is on disk.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import refund
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import FunctionTool
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from pydantic import BaseModel

refund.record()

RETRIES = types.HttpRetryOptions(attempts=3, initial_delay=0.1)  # the client has none by itself
MODEL = Gemini(model="gemini-2.5-flash", retry_options=RETRIES)
CONFIRMATION = "adk_request_confirmation"


class Question(BaseModel):
    """What the sub-agent is asked."""

    input: str


policy_agent = Agent(name="policy_agent", model=MODEL, input_schema=Question, tools=refund.CHECKS)
payment_agent = Agent(name="payment_agent", model=MODEL, tools=refund.PAYS)
tools = list(refund.TOOLS)
if refund.PHASE:
    tools[2] = FunctionTool(refund.TOOLS[2], require_confirmation=True)
if refund.SCENARIO == "sub-agent":
    tools.append(AgentTool(policy_agent))
agent = Agent(
    name="refund_agent",
    model=MODEL,
    instruction=refund.INSTRUCTIONS,
    tools=tools,
    sub_agents=[payment_agent] if refund.SCENARIO == "transfer" else [],
)


async def answer(request: str) -> str:
    if refund.PHASE:
        return await answer_with_approval(request)
    runner = InMemoryRunner(agent=agent, app_name="refund")
    session = await runner.session_service.create_session(app_name="refund", user_id="u1")
    return text_of([event async for event in events(runner, session.id, types.Part(text=request))])


async def answer_with_approval(request: str) -> str:
    sessions = SqliteSessionService(f"{refund.STATE}.sqlite")
    runner = Runner(agent=agent, app_name="refund", session_service=sessions)
    if refund.PHASE == "ask":
        session = await sessions.create_session(app_name="refund", user_id="u1")
        found = [event async for event in events(runner, session.id, types.Part(text=request))]
        (asked,) = (
            call.id
            for event in found
            for call in event.get_function_calls()
            if call.name == CONFIRMATION
        )
        return refund.wait_for_approval(found, {"session": session.id, "asked": asked})
    left = refund.decided()
    response = {"confirmed": refund.PHASE == "approve"}
    decision = types.FunctionResponse(id=left["asked"], name=CONFIRMATION, response=response)
    goes_on = types.Part(function_response=decision)
    return text_of([event async for event in events(runner, left["session"], goes_on)])


def events(runner: Runner, session: str, part: types.Part) -> AsyncIterator[Event]:
    mode = StreamingMode.SSE if refund.STREAM else StreamingMode.NONE
    return runner.run_async(
        user_id="u1",
        session_id=session,
        new_message=types.Content(role="user", parts=[part]),
        run_config=RunConfig(streaming_mode=mode),
    )


def text_of(found: Sequence[Event]) -> str:
    parts = [part for event in found for part in (event.content and event.content.parts) or ()]
    return [part.text for part in parts if part.text][-1]


if __name__ == "__main__":
    refund.play(answer)
