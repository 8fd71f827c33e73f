"""Lines of coding sessions for tests: Claude Code's and Codex's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import trackway_analyzer as ta

SESSION = "00000000-0000-4000-8000-000000000001"


class Lines:
    """Lines of Claude Code, a second apart."""

    def __init__(self, **common: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.common = {"sessionId": SESSION, "isSidechain": False, **common}

    def add(self, kind: str, **fields: Any) -> None:
        number = len(self.lines) + 1
        line = {"type": kind, "uuid": f"u{number}", "timestamp": f"2026-10-01T12:00:{number:02}Z"}
        self.lines.append({**line, **self.common, **fields})

    def user(self, content: Any, **fields: Any) -> None:
        self.add("user", message={"role": "user", "content": content}, **fields)

    def result(self, call_id: str, content: Any, *, error: bool = False, **fields: Any) -> None:
        part = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        self.user([part | ({"is_error": True} if error else {})], **fields)

    def assistant(self, message_id: str, *parts: Any, **fields: Any) -> None:
        usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}
        message = {"id": message_id, "role": "assistant", "model": "claude-x", "usage": usage}
        self.add("assistant", message=message | {"content": list(parts)}, **fields)

    def write(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path


def use(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def only(path: Path) -> ta.Trajectory:
    (trajectory,) = ta.load(path)
    return trajectory


CODEX: list[dict[str, Any]] = [
    {"type": "session_meta", "payload": {"id": "thread-1", "cwd": "/w", "cli_version": "1"}},
    {"type": "turn_context", "payload": {"model": "gpt-x"}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "Run the tests."}},
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Run the tests."}],
        },
    },
    {
        "type": "response_item",
        "payload": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
    },
    {
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "name": "exec_command",
            "arguments": '{"cmd":"pytest"}',
            "call_id": "c1",
        },
    },
    {
        "type": "event_msg",
        "payload": {
            "type": "token_count",
            "info": {"last_token_usage": {"input_tokens": 100, "cached_input_tokens": 80}},
        },
    },
    {
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c1", "output": "2 passed"},
    },
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "All pass."}],
        },
    },
]


def codex(path: Path, lines: list[dict[str, Any]], *, first: int = 0) -> Path:
    timed = [
        {"timestamp": f"2026-10-01T12:00:{second:02}Z", **line}
        for second, line in enumerate(lines, first)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in timed))
    return path


def item(kind: str, **fields: Any) -> dict[str, Any]:
    """Return an item of a rollout."""
    return {"type": "response_item", "payload": {"type": kind, **fields}}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """Return an event of a rollout."""
    return {"type": "event_msg", "payload": {"type": kind, **fields}}


FORBID = ta.Policy.from_yaml("version: 1\nrules:\n  - forbid: delete_account\n")


def verdict(source: Any) -> str:
    """Return what a check says of a source: nothing was deleted."""
    return ta.load(source).check(FORBID).verdict.value
