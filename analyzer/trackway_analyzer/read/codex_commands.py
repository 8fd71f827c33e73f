"""What the outputs of Codex's own command tools say of the command.

1. The exit code stands in the head of the output (`Exit code: 1`, `Process exited with code 2`),
   before the line `Output:`, or in a JSON object around it. What the command itself wrote is not
   looked at.
2. Only Codex's own tools write so: of any other tool's output nothing is concluded.
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
_REFUSED: Final = ("exec command rejected by user", "patch rejected by user")
_REFUSAL: Final = re.compile(r'\ARejected\(|\A[^\n]{0,2000}Rejected\(\\*"rejected by user')


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
    lines = output.split("\n", _HEAD_LINES)[:_HEAD_LINES]
    head = lines[: lines.index(_OUTPUT)] if _OUTPUT in lines else lines[:1]
    found = next((match for line in head if (match := _CODE.fullmatch(line))), None)
    return None if found is None else int(found[1])


def was_refused(tool: str, output: Any) -> bool:
    """Tell whether somebody did not let a command run."""
    if tool not in COMMANDS or not isinstance(output, str):
        return False
    return output.strip() in _REFUSED or _REFUSAL.match(output) is not None
