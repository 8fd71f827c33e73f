"""A loop of one's own around a model client, which knows nothing of Trackway."""

from __future__ import annotations

import json
from typing import Any

import openai

TOOLS: dict[str, Any] = {
    "lookup_order": lambda order_id: {"id": order_id, "total": 84.0},
    "refund_create": lambda order_id, amount: {"status": "succeeded", "amount": amount},
}

client = openai.OpenAI()
messages: list[Any] = [{"role": "user", "content": "Refund A9128"}]
while True:
    reply = client.chat.completions.create(model="gpt-5", messages=messages).choices[0].message
    messages.append(reply.model_dump(exclude_none=True))
    if not reply.tool_calls:
        break
    for call in reply.tool_calls:
        result = TOOLS[call.function.name](**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
print(reply.content)
