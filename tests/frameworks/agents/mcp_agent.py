"""A loop around the OpenAI client whose tools are an MCP server's, over stdio or HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from chat_loop import loop
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from openai import OpenAI
from refund import MODEL, URL, play, record

record()

SERVER = str(Path(__file__).with_name("mcp_server.py"))


@asynccontextmanager
async def connected(transport: str) -> AsyncIterator[Client]:
    if transport == "stdio":
        program = StdioServerParameters(
            command=sys.executable, args=[SERVER, "stdio"], env=dict(os.environ)
        )
        async with Client(stdio_client(program)) as client:
            yield client
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, SERVER, "http", str(port)])
    try:
        wait_for(port)
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            yield client
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.05)


async def answer(request: str) -> str:
    create = OpenAI(base_url=URL + "/v1", api_key="k").chat.completions.create
    async with connected(sys.argv[1]) as server:
        tools: list[Any] = [
            {"type": "function", "function": {"name": t.name, "parameters": t.input_schema}}
            for t in (await server.list_tools()).tools
        ]

        async def call_tool(name: str, arguments: str, call_id: str) -> tuple[str, bool]:
            result = await server.call_tool(name, json.loads(arguments))
            return result.content[0].text, bool(result.is_error)

        return await loop(create, request, MODEL, tools, call_tool)


if __name__ == "__main__":
    play(answer)
