"""Requests that a client sends again inside one call are in the record."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import openai
import pytest

import trackway
from other_tracer import span
from trackway.schema import Trackway

COMPLETION = {
    "id": "c-1",
    "object": "chat.completion",
    "created": 1,
    "model": "scripted-1",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}
    ],
}


@pytest.fixture
def url() -> Iterator[str]:
    """An endpoint that refuses two requests of three."""
    requests = [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            requests[0] += 1
            refused = requests[0] % 3
            body = json.dumps({"error": {"message": "later"}} if refused else COMPLETION).encode()
            self.send_response(429 if refused else 200)
            self.send_header("content-type", "application/json")
            self.send_header("retry-after-ms", "1")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _turned_off_again() -> Iterator[None]:
    yield
    trackway.uninstrument()


MESSAGES: Any = [{"role": "user", "content": "hello"}]


def attempts(recorded: Any) -> list[Any]:
    return [
        s.attributes[Trackway.STEP_ATTEMPT]
        for s in recorded.all
        if s.attributes.get("gen_ai.operation.name") == "chat"
    ]


def test_a_call_tells_how_many_tries_it_was(recorded: Any, url: str) -> None:
    trackway.instrument("openai")
    client = openai.OpenAI(api_key="none", base_url=url, max_retries=4)
    with trackway.run("t"):
        client.chat.completions.create(model="gpt-5", messages=MESSAGES)
    assert attempts(recorded) == [3]


def test_a_call_of_an_async_client_does_too(recorded: Any, url: str) -> None:
    trackway.instrument("openai")

    async def call() -> None:
        async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=4) as client:
            await client.chat.completions.create(model="gpt-5", messages=MESSAGES)

    with trackway.run("t"):
        asyncio.run(call())
    assert attempts(recorded) == [3]


def test_a_decorated_call_does_too(recorded: Any, url: str) -> None:
    trackway.instrument("anthropic")  # anything: the client itself is not instrumented

    @trackway.llm
    def chat(messages: Any) -> Any:
        client = openai.OpenAI(api_key="none", base_url=url, max_retries=4)
        return client.chat.completions.create(model="gpt-5", messages=messages)

    with trackway.run("t"):
        chat(MESSAGES)
    assert attempts(recorded) == [3]


def test_a_span_that_says_late_that_it_is_a_model_call_is_told(recorded: Any, url: str) -> None:
    trackway.instrument("anthropic")
    client = openai.OpenAI(api_key="none", base_url=url, max_retries=4)
    with trackway.run("t"), span("call", "gcp.vertex.agent") as call:
        client.chat.completions.create(model="gpt-5", messages=MESSAGES)
        call.set_attribute("gen_ai.operation.name", "chat")
    assert attempts(recorded) == [3]


def test_what_anthropic_s_own_span_says_is_taken_over(recorded: Any) -> None:
    with trackway.run("t"), span("messages", gen_ai__operation__name="chat") as call:
        call.set_attribute("http.request.resend_count", 1)
    assert recorded.one("messages").attributes[Trackway.STEP_ATTEMPT] == 2


def test_turning_it_off_leaves_the_http_library_as_it_was() -> None:
    before = httpx2.Client.send, httpx2.AsyncClient.send
    trackway.instrument("anthropic")
    assert httpx2.Client.send is not before[0]
    assert asyncio.iscoroutinefunction(httpx2.AsyncClient.send)
    trackway.uninstrument()
    assert (httpx2.Client.send, httpx2.AsyncClient.send) == before
