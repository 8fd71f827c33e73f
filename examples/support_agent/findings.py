"""What the analyzer finds in the recorded runs, on one screen."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import trackway_analyzer as ta


def report(directory: Path, policy: Path) -> None:
    """Check every run in `directory` and print what it said, did, and got wrong."""
    runs = ta.load(directory)
    checked = runs.check(ta.Policy.from_yaml(policy))
    findings = list(checked.explained())
    console = Console(highlight=False)
    console.print(
        f"{len(runs)} runs of one support agent, asked to refund a broken kettle ($84.00). "
        "Each told the customer:"
    )
    console.print(f'"{runs[0].final_text}"', style="italic")
    for run in runs:
        broken = [found for found in findings if found.run_id == run.run_id]
        console.print()
        mark, style = ("✗", "bold red") if broken else ("✓", "bold green")
        console.print(Text.assemble((f"{mark} {run.task_id}", style), "  ", " → ".join(run.tools)))
        for found in broken:
            console.print(Padding(Text(f"{found.rule}: {found.sentence}"), (0, 0, 0, 4)))
    console.print()
    console.print(f"verdict: {checked.verdict} (exit code {checked.exit_code})", style="bold")
    command = os.path.relpath(Path(sys.executable).with_name("trackway"))
    console.print(f"look closer: {command} show {directory}#task=skips-refund", style="dim")
