"""LlamaIndex: `FunctionAgent` on an OpenAI-like model."""

from __future__ import annotations

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from refund import INSTRUCTIONS, MODEL, STREAM, TOOLS, URL, play, record

record()

llm = OpenAILike(
    model=MODEL,
    api_base=URL + "/v1",
    api_key="k",
    is_chat_model=True,
    is_function_calling_model=True,
    additional_kwargs={"stream_options": {"include_usage": True}} if STREAM else {},
)


async def answer(request: str) -> str:
    agent = FunctionAgent(
        name="refund_agent", tools=TOOLS, llm=llm, system_prompt=INSTRUCTIONS, streaming=STREAM
    )
    return str(await agent.run(request))


if __name__ == "__main__":
    play(answer)
