"""An OpenAI-compatible chat endpoint on loopback whose models follow a script.

One model a behaviour: `healthy` does its work, the others go wrong as real models do. A script is a
list of turns, each a function of the conversation so far, so that values come from the tool results
and are not made up here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Messages = list[dict[str, Any]]
Turn = Callable[[Messages], dict[str, Any]]

ORDER = "A-1001"
OTHER_ORDER = "A-1002"
SUBJECT = "Your refund"


def _result(messages: Messages, tool: str) -> dict[str, Any]:
    """The latest result of a tool in the conversation."""
    ids = [
        call["id"]
        for message in messages
        for call in message.get("tool_calls") or ()
        if call["function"]["name"] == tool
    ]
    content = next(m["content"] for m in reversed(messages) if m.get("tool_call_id") in ids)
    result: dict[str, Any] = json.loads(content)
    return result


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def _lookup(_: Messages) -> dict[str, Any]:
    return _call("lookup_order", order_id=ORDER)


def _policy(_: Messages) -> dict[str, Any]:
    return _call("check_policy", order_id=ORDER)


def _refund(messages: Messages) -> dict[str, Any]:
    amount = _result(messages, "check_policy")["refundable"]
    return _call("refund_create", order_id=ORDER, amount=amount)


def _half_refund(messages: Messages) -> dict[str, Any]:
    amount = _result(messages, "check_policy")["refundable"] / 2
    return _call("refund_create", order_id=ORDER, amount=amount)


def _refund_other(messages: Messages) -> dict[str, Any]:
    amount = _result(messages, "check_policy")["refundable"]
    return _call("refund_create", order_id=OTHER_ORDER, amount=amount)


def _mail(messages: Messages) -> dict[str, Any]:
    customer = _result(messages, "lookup_order")["customer"]
    return _call("send_email", to=customer, subject=SUBJECT, body=_promise(messages)["text"])


def _promise(messages: Messages) -> dict[str, Any]:
    total = _result(messages, "lookup_order")["total"]
    return {
        "text": f"Good news! Your refund of ${total:.2f} for order {ORDER} has been processed "
        "and is on its way. Thank you for your patience."
    }


SCRIPTS: dict[str, list[Turn]] = {
    "healthy": [_lookup, _policy, _refund, _mail, _promise],
    "skips-refund": [_lookup, _policy, _mail, _promise],
    "halves-amount": [_lookup, _policy, _half_refund, _mail, _promise],
    "refunds-other-order": [_lookup, _policy, _refund_other, _mail, _promise],
    "refunds-twice": [_lookup, _policy, _refund, _refund, _mail, _promise],
}


def reply(model: str, messages: Messages) -> dict[str, Any]:
    """Answer a chat request as the OpenAI API would."""
    turn = sum(message["role"] == "assistant" for message in messages)
    said = SCRIPTS[model][turn](messages)
    message: dict[str, Any] = {"role": "assistant", "content": said.get("text")}
    if "tool" in said:
        function = {"name": said["tool"], "arguments": json.dumps(said["arguments"])}
        message["tool_calls"] = [
            {"id": f"call_{turn + 1}", "type": "function", "function": function}
        ]
    prompt = sum(len(str(m.get("content") or "")) for m in messages) // 4
    answer = len(json.dumps(message)) // 4
    return {
        "id": f"chatcmpl-{turn + 1}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if "tool" in said else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
        },
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(reply(request["model"], request["messages"])).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the terminal for the demo."""


@contextmanager
def serve() -> Iterator[str]:
    """Serve on a free port of loopback; gives the base URL for a client."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
