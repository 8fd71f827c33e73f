"""A model endpoint on the loopback that answers from a script, by how many tools have answered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SCRIPT = (
    ("lookup_order", {"order_id": "A9128"}),
    ("refund_create", {"order_id": "A9128", "amount": 84.0}),
)
ANSWER = "Order A9128 was refunded 84.00."


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the assistant's next message: the next call of the script, at last the answer."""
    done = sum(message["role"] == "tool" for message in messages)
    if done >= len(SCRIPT):
        return {"role": "assistant", "content": ANSWER}
    name, arguments = SCRIPT[done]
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{done}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        said = answer(json.loads(self.rfile.read(length))["messages"])
        body = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": "scripted-1",
                "choices": [
                    {
                        "index": 0,
                        "message": said,
                        "finish_reason": "tool_calls" if "tool_calls" in said else "stop",
                    }
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def scripted_model() -> Iterator[str]:
    """Serve the script; give the base URL for an OpenAI client."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
