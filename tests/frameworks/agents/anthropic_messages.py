"""A loop around the Anthropic client's Messages API."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic
from refund import INSTRUCTIONS, STREAM, URL, carry_out, play, record, tool_schemas

record()

client = Anthropic(base_url=URL, api_key="k")


def answer(request: str) -> str:
    tools: list[Any] = [
        {"name": t["name"], "description": t["description"], "input_schema": t["schema"]}
        for t in tool_schemas()
    ]
    messages: list[Any] = [{"role": "user", "content": request}]
    while True:
        asked: dict[str, Any] = {
            "model": "claude-sonnet-4-5",
            "max_tokens": 200,
            "system": INSTRUCTIONS,
            "messages": messages,
            "tools": tools,
        }
        if STREAM:
            with client.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
        content = [block.model_dump(exclude_none=True) for block in message.content]
        messages.append({"role": "assistant", "content": content})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return str(message.content[0].text)
        results = []
        for call in calls:
            text, failed = carry_out(call.name, call.input, call.id)
            results.append(
                {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": failed}
            )
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    play(answer)
