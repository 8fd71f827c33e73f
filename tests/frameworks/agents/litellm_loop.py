"""A loop around LiteLLM's completion function."""

from __future__ import annotations

from functools import partial

import litellm
from chat_loop import loop
from refund import MODE, MODEL, URL, play, record

record()
if MODE == "reset":
    litellm.callbacks, litellm.success_callback = [], []


async def answer(request: str) -> str:
    create = partial(litellm.completion, api_base=URL + "/v1", api_key="k", num_retries=2)
    return await loop(create, request, f"openai/{MODEL}")


if __name__ == "__main__":
    play(answer)
