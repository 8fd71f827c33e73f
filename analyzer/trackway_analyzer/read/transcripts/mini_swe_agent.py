"""Commands of mini-swe-agent (`trajectory_format: mini-swe-agent-1`) as calls of the tool `bash`.

1. A message of the assistant with exactly one block of bash is a command, which the agent always
   carries out; with none or several it is told of the wrong form, and nothing runs. Newer files
   hold tool calls, and are left as they are.
2. The user's message behind it is what the command gave back; its `<returncode>` says whether it
   failed, and so do the words about a command that took too long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trackway_analyzer.model import JsonValue

_FORMAT: Final = "mini-swe-agent"
_TOOL: Final = "bash"
_BLOCK: Final = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE: Final = re.compile(r"\s*<returncode>\s*(-?\d{1,9})\s*</returncode>")
_KILLED: Final = re.compile(r"\s*The last command <command>.*? timed out", re.DOTALL)


def is_mini_swe_agent(record: Mapping[str, JsonValue]) -> bool:
    """Tell whether a record says that it is of mini-swe-agent."""
    named = record.get("trajectory_format")
    return isinstance(named, str) and named.startswith(_FORMAT)


def with_calls(messages: Sequence[Any]) -> list[Any]:
    """Return the messages, their commands as calls and what came of them as answers."""
    written: list[Any] = []
    waiting: str | None = None
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            written.append(message)
            continue
        role, content = message.get("role"), message.get("content")
        if role == "user" and waiting is not None and isinstance(content, str):
            written.append(_answer(message, waiting, content))
            waiting = None
            continue
        command = _command(message) if role == "assistant" else None
        waiting = None if command is None else f"command {place}"
        written.append(message if waiting is None else _asking(message, waiting, command))
    return written


def _command(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    if not isinstance(content, str) or message.get("tool_calls"):
        return None
    blocks = _BLOCK.findall(content)
    return blocks[0].strip() if len(blocks) == 1 else None


def _asking(message: dict[str, Any], call_id: str, command: str | None) -> dict[str, Any]:
    call = {"id": call_id, "function": {"name": _TOOL, "arguments": {"command": command}}}
    return message | {"tool_calls": [call]}


def _answer(message: dict[str, Any], call_id: str, content: str) -> dict[str, Any]:
    code = _CODE.match(content)
    failed = int(code[1]) != 0 if code is not None else _KILLED.match(content) is not None
    return message | {"role": "tool", "tool_call_id": call_id, "is_error": failed}
