"""LangGraph: `create_agent`; for the run that waits with a checkpoint on disk.

The sub-agent is a tool that invokes another agent; the retriever is LangChain's.
"""

from __future__ import annotations

import refund
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

refund.record()

model = ChatOpenAI(
    model=refund.MODEL,
    base_url=refund.URL + "/v1",
    api_key="k",
    streaming=refund.STREAM,
    stream_usage=refund.STREAM,
)
tools = [tool(function) for function in refund.TOOLS]


@tool
def policy_agent(input: str) -> str:
    """Ask whether the policy allows a refund."""
    agent = create_agent(model, [tool(check) for check in refund.CHECKS], name="policy_agent")
    asked = {"messages": [{"role": "user", "content": input}]}
    return str(agent.invoke(asked)["messages"][-1].content)


class Policies(BaseRetriever):
    """All policies, whatever is asked."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document(id=key, page_content=text) for key, text in refund.POLICIES.items()]


if refund.SCENARIO == "sub-agent":
    tools.append(policy_agent)
if refund.SCENARIO == "retriever":
    tools.append(create_retriever_tool(Policies(), "search_policies", "Search the policies."))


def answer(request: str) -> str:
    asked = {"messages": [{"role": "user", "content": request}]}
    if refund.PHASE:
        return answer_with_approval(asked)
    agent = create_agent(model, tools, system_prompt=refund.INSTRUCTIONS, name="refund_agent")
    if refund.MODE == "reset":
        return str(agent.invoke(asked, {"callbacks": []})["messages"][-1].content)
    if not refund.STREAM:
        return str(agent.invoke(asked)["messages"][-1].content)
    *_, last = agent.stream(asked, stream_mode="values")
    return str(last["messages"][-1].content)


def answer_with_approval(asked: dict[str, object]) -> str:
    where = {"configurable": {"thread_id": "refund"}}
    with SqliteSaver.from_conn_string(f"{refund.STATE}.sqlite") as checkpoints:
        agent = create_agent(
            model,
            tools,
            system_prompt=refund.INSTRUCTIONS,
            name="refund_agent",
            middleware=[HumanInTheLoopMiddleware(interrupt_on={"refund_create": True})],
            checkpointer=checkpoints,
        )
        if refund.PHASE == "ask":
            waiting = agent.invoke(asked, where)
            return refund.wait_for_approval(waiting, "refund")
        refund.decided()
        no = {"type": "reject", "message": refund.REFUSED}
        decision = {"type": "approve"} if refund.PHASE == "approve" else no
        goes_on = Command(resume={"decisions": [decision]})
        return str(agent.invoke(goes_on, where)["messages"][-1].content)


if __name__ == "__main__":
    refund.play(answer)
