"""Decorated functions keep their types under a strict checker; mistakes are still found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MODULE = Path(__file__).parent / "typing" / "user_module.py"
ROOT = Path(__file__).parents[2]
REVEALED = [
    "str",
    "trackway.run.Run",
    "def (order_id: str, amount: float = ...) -> dict[str, float]",
    "def (str, *, amount: float) -> bool",
    "def (order_id: str) -> typing.Coroutine[Any, Any, int]",
    "typing.Iterator[str]",
    "typing.AsyncIterator[str]",
    "str",
    "def (query: str, limit: int = ...) -> list[str]",
    "str",
    "str",
    "str",
    "str",
    "dict[str, def (order_id: str, amount: float = ...) -> dict[str, float]]",
    "trackway.run.Run | None",
    "def (order_id: str) -> int",
]
MISTAKES = ["bare", "called", "agent", "tool", "run", "kind"]


def check() -> tuple[list[str], list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context",
         "--cache-dir", str(ROOT / ".mypy_cache" / "user_module"), str(MODULE)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    return revealed, errors


def test_signatures_survive_decoration_and_mistakes_are_found() -> None:
    revealed, errors = check()
    # Checkers write defaults as `=` or `= ...`.
    plain = [re.sub(r" =(?=[,)])", " = ...", text.replace("builtins.", "")) for text in revealed]
    assert plain == REVEALED
    first = MODULE.read_text().split("def mistakes")[0].count("\n") + 2
    assert [int(line.split(":")[1]) for line in errors] == [
        first + offset for offset in range(len(MISTAKES))
    ]
