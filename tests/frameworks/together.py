"""Which extras can be installed together, each with its newest framework, and which cannot.

1. Resolved are pairs: what two extras allow, a third can only narrow.
2. A pair is free if both frameworks get the version that they get alone. Else one is held back, or
   nothing fits at all; `HELD` says what and why.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_OPENAI_2: Final = {
    "llama-index": "`llama-index-llms-openai` asks for `openai` before 3",
    "strands": "`strands-agents[openai]` asks for `openai` before 3",
    "crewai": "`crewai` asks for `openai` before 3",
}
_ON_OPENAI_3: Final = ("openai", "openai-agents", "pydantic-ai")
HELD: Final[dict[tuple[str, str], tuple[str, str]]] = {
    **{
        (one, other): (f"`{one}` is held back", reason)
        for other, reason in _OPENAI_2.items()
        for one in _ON_OPENAI_3
    },
    ("strands", "mcp"): ("`mcp` is held back", "`strands-agents` asks for `mcp` before 2.2"),
    ("crewai", "mcp"): ("`mcp` is held back", "`crewai` asks for `mcp` before 2"),
    ("google-adk", "crewai"): (
        "`crewai` is held back",
        "`crewai` asks for OpenTelemetry from 1.45.1, `google-adk` up to 1.44",
    ),
    ("google-genai", "google-adk"): (
        "`google-genai` is held back",
        "`google-adk` asks for `google-genai` before 3",
    ),
}
"""Two extras → what happens, and why."""


@cache
def extras() -> dict[str, str]:
    """Every extra that records a library, with the library's distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {
        name: re.split(r"[\[<>=]", requirements[0])[0]
        for name, requirements in project["optional-dependencies"].items()
        if name not in ("auto", "fast-redaction", "parquet")
    }


@cache
def resolved(*names: str) -> dict[str, str] | None:
    """The versions that an installation with these extras would get; None: nothing fits."""
    chosen = [part for name in names for part in ("--extra", name)]
    command = [sys.executable, "-m", "uv", "pip", "compile", "-q", "--no-header", "--no-annotate"]
    done = subprocess.run(
        [*command, "pyproject.toml", *chosen],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        return None
    return dict(line.split("==") for line in done.stdout.split() if "==" in line)


def are_free(one: str, other: str) -> bool:
    """Whether both frameworks get the version that they get alone."""
    both = resolved(one, other)
    if both is None:
        return False
    for name in (one, other):
        alone = resolved(name)
        package = extras()[name]
        if alone is None or both[package] != alone[package]:
            return False
    return True


def table() -> str:
    """The pairs that are not free, as Markdown."""
    lines = ["| extras | together | why |", "|---|---|---|"]
    for (one, other), (what, why) in HELD.items():
        lines.append(f"| `{one}`, `{other}` | {what} | {why} |")
    return "\n".join(lines)
