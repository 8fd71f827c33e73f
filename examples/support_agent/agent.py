"""The agent: a plain tool-calling loop around the official OpenAI client."""

from __future__ import annotations

import json
from typing import Any

from openai import OpenAI
from openai.types.chat import ChatCompletion

import trackway
from examples.support_agent.shop import TOOL_DEFINITIONS, Shop

SYSTEM = "You are the support agent of a shop. Look things up before you act, then tell the truth."
MAX_TURNS = 12


class SupportAgent:
    """Answers one customer request with the shop's tools."""

    def __init__(self, client: OpenAI, model: str) -> None:
        self.client = client
        self.model = model

    @trackway.llm
    def ask(self, model: str, messages: list[Any], tools: list[Any]) -> ChatCompletion:
        """One call of the model."""
        return self.client.chat.completions.create(model=model, messages=messages, tools=tools)

    @trackway.agent("support")
    def answer(self, request: str) -> str:
        """Work on a request until the model answers in text."""
        shop = Shop()
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": request},
        ]
        for _ in range(MAX_TURNS):
            reply = self.ask(self.model, messages, TOOL_DEFINITIONS).choices[0].message
            messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content or ""
            for call in reply.tool_calls:
                result = shop.call(call.function.name, call.function.arguments)
                content = json.dumps(result)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        raise RuntimeError(f"no answer after {MAX_TURNS} turns")
