"""The refund agent as a loop of one's own, decorated by hand."""

from __future__ import annotations

import json
from typing import Any

import openai

import trackway


@trackway.tool(kind="lookup", returns="id", entity_type="order")
def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up an order."""
    return {"id": order_id, "total": 84.0}


@trackway.tool(kind="mutate", entity="order_id", entity_type="order")
def refund_create(order_id: str, amount: float) -> dict[str, Any]:
    """Refund an order."""
    return {"refund_id": "re_1", "status": "succeeded", "amount": amount}


TOOLS = {"lookup_order": lookup_order, "refund_create": refund_create}


@trackway.llm
def chat(messages: list[Any], model: str = "gpt-5") -> Any:
    return openai.OpenAI().chat.completions.create(model=model, messages=messages)


@trackway.agent
def refunds(question: str) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        reply = chat(messages).choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return str(reply.content)
        for call in reply.tool_calls:
            with trackway.requested(call.id):
                result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            answered = {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
            messages.append(answered)


trackway.configure("refunds", export="traces")
print(refunds("Refund A9128"))
