"""What the outputs of Codex's tools say of the call: failed, refused, still running.

1. The exit code stands in the head of the output (`Exit code: 1`, `Process exited with code 2`),
   before the line `Output:`, or in a JSON object around it. What the command itself wrote is not
   looked at.
2. Only Codex's own tools write so. Of any other tool's output the words are known that Codex puts
   in its place: the tool is not there, was not reached, was aborted, or not allowed.
3. A command that still runs (`Process running with session ID 5`) came to nothing yet; a later
   output of the same session tells its exit code.
"""

from __future__ import annotations

import re
from typing import Any, Final

from trackway_analyzer.json_text import parsed

COMMANDS: Final = frozenset(
    [
        *("shell", "shell_command", "local_shell", "container.exec", "exec_command"),
        *("unified_exec", "write_stdin", "exec", "wait", "apply_patch"),
    ]
)
"""Names of the tools that run commands."""
_HEAD_LINES: Final = 12
_CODE: Final = re.compile(r"(?:Exit code:|Process exited with code) (-?\d{1,9})\s*")
_OUTPUT: Final = "Output:"
_ABORTED: Final = re.compile(
    r"(?:Wall time: [\d.]{1,20} seconds\s{1,4})?aborted(?: by user\b[^\n]{0,80})?\s*"
)
_NOT_DONE: Final = re.compile(
    r"(?:unsupported (?:custom tool )?call|unsupported tool|tool call error"
    r"|failed to parse function arguments)\s*:"
)
_COMMAND_FAILED: Final = re.compile(
    r"(?:execution error|exec_command failed|write_stdin failed|failed in sandbox"
    r"|apply_patch verification failed|apply_patch failed|command timed out"
    r"|failed to (?:spawn|run|execute))\b"
)
_SKIPPED: Final = re.compile(r"user (?:cancelled|canceled|rejected) MCP tool call\b")
_RUNNING: Final = re.compile(r"(?:Process|Script) running with (?:session|cell) ID (\S{1,200})\s*")
_SESSION: Final = ("session_id", "cell_id")
_REFUSED: Final = ("exec command rejected by user", "patch rejected by user", "rejected by user")
_REFUSAL: Final = re.compile(
    r'\ARejected\(|\A[^\n]{0,2000}Rejected\(\\*"rejected by user'
    r"|\Aapproval policy is [^;\n]{1,40}; reject command\b"
)


def exit_code(tool: str, output: Any) -> int | None:
    """Return the exit code of a command; None where the output tells none."""
    if tool not in COMMANDS:
        return None
    told = (
        output if isinstance(output, dict) else parsed(output) if isinstance(output, str) else None
    )
    if isinstance(told, dict):
        metadata = told.get("metadata")
        around = metadata if isinstance(metadata, dict) else told
        code = around.get("exit_code")
        return code if isinstance(code, int) and not isinstance(code, bool) else None
    if not isinstance(output, str):
        return None
    found = next((match for line in _head(output) if (match := _CODE.fullmatch(line))), None)
    return None if found is None else int(found[1])


def _head(output: str) -> list[str]:
    """Return the lines before those that the command wrote itself."""
    lines = output.split("\n", _HEAD_LINES)[:_HEAD_LINES]
    return lines[: lines.index(_OUTPUT)] if _OUTPUT in lines else lines[:1]


def has_failed(tool: str, output: Any) -> bool:
    """Tell whether an output says that the call failed or was broken off."""
    if (exit_code(tool, output) or 0) != 0:
        return True
    if not isinstance(output, str):
        return False
    if _ABORTED.fullmatch(output) or _NOT_DONE.match(output):
        return True
    return tool in COMMANDS and _COMMAND_FAILED.match(output) is not None


def still_running(tool: str, output: Any) -> str | None:
    """Return the session in which a command still runs; None where it ended."""
    if tool not in COMMANDS or not isinstance(output, str):
        return None
    lines = [*_head(output), *output.split("\n", 3)[:3]]
    found = next((match for line in lines if (match := _RUNNING.fullmatch(line))), None)
    return None if found is None else found[1]


def session_asked(arguments: Any) -> str | None:
    """Return the session of a command that a call asks about."""
    given = arguments if isinstance(arguments, dict) else {}
    named = next((given[name] for name in _SESSION if given.get(name) is not None), None)
    return str(named) if isinstance(named, str | int) else None


def was_refused(tool: str, output: Any) -> bool:
    """Tell whether somebody did not let a call be carried out."""
    if isinstance(output, str) and _SKIPPED.match(output):
        return True
    if tool not in COMMANDS or not isinstance(output, str):
        return False
    return output.strip() in _REFUSED or _REFUSAL.match(output) is not None
