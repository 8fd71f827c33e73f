"""A LangChain agent that knows nothing of Trackway: run under `opentelemetry-instrument`."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def lookup_order(order_id: str) -> dict:
    """Look up an order."""
    return {"id": order_id, "total": 84.0}


@tool
def refund_create(order_id: str, amount: float) -> dict:
    """Refund an order."""
    return {"refund_id": "re_1", "status": "succeeded", "amount": amount}


agent = create_agent(ChatOpenAI(model="gpt-5"), [lookup_order, refund_create], name="refunds")
told = agent.invoke({"messages": [{"role": "user", "content": "Refund A9128"}]})
print(told["messages"][-1].content)
