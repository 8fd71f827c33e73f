"""smolagents: a `ToolCallingAgent`."""

from __future__ import annotations

from refund import MODEL, STREAM, TOOLS, URL, play, record
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

record()

agent = ToolCallingAgent(
    name="refund_agent",
    description="Refunds orders.",
    tools=[tool(function) for function in TOOLS],
    model=OpenAIServerModel(model_id=MODEL, api_base=URL + "/v1", api_key="k"),
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
