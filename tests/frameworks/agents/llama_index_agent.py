"""LlamaIndex: `FunctionAgent` on an OpenAI-like model; one tool searches, one is an agent.

In the handoff an `AgentWorkflow` holds both agents.
"""

from __future__ import annotations

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.llms.openai_like import OpenAILike
from refund import (
    CHECKS,
    INSTRUCTIONS,
    MODE,
    MODEL,
    PAYS,
    POLICIES,
    SCENARIO,
    STREAM,
    TOOLS,
    URL,
    play,
    record,
)

record()
if MODE == "cut-off":
    get_dispatcher().span_handlers.clear()

llm = OpenAILike(
    model=MODEL,
    api_base=URL + "/v1",
    api_key="k",
    is_chat_model=True,
    is_function_calling_model=True,
    additional_kwargs={"stream_options": {"include_usage": True}} if STREAM else {},
)


class Policies(BaseRetriever):
    """All policies, whatever is asked."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(id_=key, text=text), score=1 / (rank + 1))
            for rank, (key, text) in enumerate(POLICIES.items())
        ]


def search_policies(query: str) -> str:
    """Search the policies."""
    return "\n\n".join(node.text for node in Policies().retrieve(query))


async def policy_agent(input: str) -> str:
    """Ask whether the policy allows a refund."""
    agent = FunctionAgent(name="policy_agent", tools=CHECKS, llm=llm, streaming=STREAM)
    return str(await agent.run(input))


tools = list(TOOLS)
if SCENARIO == "sub-agent":
    tools.append(policy_agent)
if SCENARIO == "retriever":
    tools.append(search_policies)


async def answer(request: str) -> str:
    agent = FunctionAgent(
        name="refund_agent",
        description="Refunds orders.",
        tools=tools,
        llm=llm,
        system_prompt=INSTRUCTIONS,
        streaming=STREAM,
    )
    if SCENARIO == "workflow":
        payment_agent = FunctionAgent(
            name="payment_agent", description="Pays.", tools=PAYS, llm=llm, streaming=STREAM
        )
        workflow = AgentWorkflow(agents=[agent, payment_agent], root_agent="refund_agent")
        return str(await workflow.run(user_msg=request))
    return str(await agent.run(request))


if __name__ == "__main__":
    play(answer)
