"""A loop around the OpenAI client's Responses API."""

from __future__ import annotations

from typing import Any

from openai import OpenAI
from refund import INSTRUCTIONS, MODEL, STREAM, URL, carry_out, play, record, tool_schemas

record()

client = OpenAI(base_url=URL + "/v1", api_key="k")


def answer(request: str) -> str:
    tools: list[Any] = [
        {
            "type": "function",
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["schema"],
        }
        for tool in tool_schemas()
    ]
    items: list[Any] = [{"role": "user", "content": request}]
    while True:
        asked: dict[str, Any] = {
            "model": MODEL,
            "instructions": INSTRUCTIONS,
            "input": items,
            "tools": tools,
        }
        if STREAM:
            events = list(client.responses.create(**asked, stream=True))
            response = next(e.response for e in events if e.type == "response.completed")
        else:
            response = client.responses.create(**asked)
        items += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return str(response.output_text)
        for call in calls:
            output, _ = carry_out(call.name, call.arguments, call.call_id)
            items.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": output}
            )


if __name__ == "__main__":
    play(answer)
