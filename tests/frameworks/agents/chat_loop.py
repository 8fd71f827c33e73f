"""The tool loop of a program that calls a chat completions function itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from refund import INSTRUCTIONS, MODEL, STREAM, carry_out, chat_tools


async def loop(
    create: Callable[..., Any],
    request: str,
    model: str = MODEL,
    tools: list[Any] | None = None,
    call_tool: Callable[[str, str, str], Any] = carry_out,
) -> str:
    """Ask until the model answers in text. `call_tool` takes name, arguments and call id."""
    messages: list[Any] = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": request},
    ]
    while True:
        message = ask(
            create, {"model": model, "messages": messages, "tools": tools or chat_tools()}
        )
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            function = call["function"]
            done = call_tool(function["name"], function["arguments"], call["id"])
            content, _ = await done if inspect.isawaitable(done) else done
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


def ask(create: Callable[..., Any], asked: dict[str, Any]) -> dict[str, Any]:
    """One call of the model; its message."""
    if STREAM:
        return collected(create(**asked, stream=True, stream_options={"include_usage": True}))
    message: dict[str, Any] = create(**asked).choices[0].message.model_dump(exclude_none=True)
    return message


def collected(stream: Any) -> dict[str, Any]:
    """Put a streamed message together."""
    text, calls = "", {}
    for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for delta in choice.delta.tool_calls or ():
                empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                call = calls.setdefault(delta.index, empty)
                call["id"] += delta.id or ""
                call["function"]["name"] += delta.function.name or ""
                call["function"]["arguments"] += delta.function.arguments or ""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return message | ({"tool_calls": list(calls.values())} if calls else {})
