"""A loop around the OpenAI client's chat API: the plain class, Azure's, and another `base_url`."""

from __future__ import annotations

import sys

from chat_loop import loop
from openai import AzureOpenAI, OpenAI
from refund import URL, play, record

record()


def client(which: str) -> OpenAI:
    if which == "azure":
        return AzureOpenAI(azure_endpoint=URL, api_key="k", api_version="2024-10-21")
    path = "/api/v1" if which == "base-url" else "/v1"
    return OpenAI(base_url=URL + path, api_key="k")


async def answer(request: str) -> str:
    which = sys.argv[1] if len(sys.argv) > 1 else "openai"
    return await loop(client(which).chat.completions.create, request)


if __name__ == "__main__":
    play(answer)
