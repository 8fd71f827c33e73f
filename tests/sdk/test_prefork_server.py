"""A prefork server: configured before the fork, streaming, stopped by SIGTERM; nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from end_to_end.prefork import serving

APP = """
import json, os
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
import trackway

class FileExporter(SpanExporter):
    def export(self, spans):
        with open(os.environ["SPANS"], "a") as file:
            for span in spans:
                line = {"name": span.name, "pid": os.getpid(), "attributes": dict(span.attributes)}
                file.write(json.dumps(line) + chr(10))
        return SpanExportResult.SUCCESS

trackway.configure("server", export=FileExporter())
app = FastAPI()

@trackway.tool(kind="lookup")
async def lookup(order: str) -> str:
    return order

@app.get("/stream/{order}")
@trackway.agent("streamer")
async def stream(order: str) -> StreamingResponse:
    async def words():
        for word in ("one ", "two ", "three"):
            await lookup(order)
            yield word
    return StreamingResponse(words())

@app.get("/plain/{order}")
@trackway.agent("plain")
def plain(order: str) -> dict:
    return {"order": order, "pid": os.getpid()}
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], Path]]:
    (tmp_path / "app.py").write_text(APP)
    spans = tmp_path / "spans.jsonl"
    worker = ("-k", "uvicorn_worker.UvicornWorker")
    environment = {**os.environ, "SPANS": str(spans)}
    with serving("app:app", tmp_path, *worker, environment=environment) as (url, process):
        yield url, process, spans


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read().decode())


def test_forked_workers_lose_nothing(server: tuple[str, subprocess.Popen[bytes], Path]) -> None:
    url, process, path = server
    with ThreadPoolExecutor(4) as pool:
        streams = list(pool.map(fetch, [f"{url}/stream/{n}" for n in range(10)]))
        plains = list(pool.map(fetch, [f"{url}/plain/{n}" for n in range(10)]))
    assert streams == ["one two three"] * 10
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    spans: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    counts = Counter(span["name"] for span in spans)
    assert counts["invoke_agent streamer"] == 10
    assert counts["invoke_agent plain"] == 10
    assert counts["execute_tool lookup"] == 30
    agents = [s["attributes"] for s in spans if s["name"] == "invoke_agent streamer"]
    assert [agent["trackway.output"] for agent in agents] == ["one two three"] * 10
    assert [agent["trackway.run.last_step"] for agent in agents] == [3] * 10
    assert len({agent["trackway.run.id"] for agent in agents}) == 10
    workers = {json.loads(plain)["pid"] for plain in plains}
    assert {span["pid"] for span in spans} >= workers
    assert process.pid not in {span["pid"] for span in spans}
