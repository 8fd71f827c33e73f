"""Whatever is decorated, by whichever decorator, in whichever form, keeps the type it had."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAD = """
from collections.abc import AsyncIterator, Generator, Iterator
from typing import reveal_type
import trackway

"""
FUNCTIONS = {
    "function": "def {name}(order: str, /, amount: float = 1.0, *rest: int, **more: bool)"
    " -> dict[str, float]: ...",
    "coroutine": "async def {name}(order: str, *, amount: float) -> int: ...",
    "generator": "def {name}(count: int) -> Generator[str, bytes, int]:"
    "\n    yield ''\n    return 1",
    "async_generator": "async def {name}(count: int) -> AsyncIterator[str]:\n    yield ''",
}
METHODS = {
    "method": "def {name}(self, order: str) -> int: ...",
    "async_method": "async def {name}(self, order: str) -> int: ...",
    "class_method": "@classmethod\n{above}def {name}(cls, order: str) -> int: ...",
    "static_method": "@staticmethod\n{above}def {name}(order: str) -> int: ...",
}
DECORATORS = {
    "agent": ["agent", "agent()", "agent('n', version='1')"],
    "tool": ["tool", "tool()", "tool('n', kind='mutate', entity='order')"],
    "llm": ["llm", "llm()", "llm('n', model='m')"],
    "retriever": ["retriever", "retriever()", "retriever('n')"],
}
BLOCKS = {
    "with trackway.run() as value:": "trackway.run.Run",
    "with trackway.run('task', trial=1) as value:": "trackway.run.Run",
    "with trackway.step('s', kind='mutate') as value:": "trackway.blocks.Step",
    "async with trackway.run('task') as value:": "trackway.run.Run",
}


def program(decorator: str) -> tuple[str, list[str]]:
    """Return functions and methods, and an expression for each; bare where `decorator` is empty."""
    above = f"@trackway.{decorator}\n" if decorator else ""
    lines = [above + source.format(name=name) + "\n" for name, source in FUNCTIONS.items()]
    lines.append("class Service:\n")
    for name, source in METHODS.items():
        text = source.format(name=name, above=above)
        text = text if "{above}" in source else above + text
        lines.append("".join(f"    {line}\n" for line in text.splitlines()))
    told = [f"{name}" for name in FUNCTIONS]
    told += [f"Service().{name}" for name in METHODS]
    return "".join(lines), told


def revealed(source: str, folder: Path) -> list[str]:
    path = folder / "shapes.py"
    path.write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--disable-error-code",
         "empty-body", "--cache-dir", str(ROOT / ".mypy_cache" / "user_module"), str(path)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ": error:" not in done.stdout, done.stdout
    return re.findall(r'Revealed type is "(.*)"', done.stdout)


def test_every_shape_keeps_its_type_under_every_decorator(tmp_path: Path) -> None:
    forms = ["", *(form for forms in DECORATORS.values() for form in forms)]
    parts = [HEAD]
    for number, form in enumerate(forms):
        body, told = program(form)
        claims = "".join(f"reveal_type({expression})\n" for expression in told)
        text = f"def scope{number}() -> None:\n" + "".join(
            f"    {line}\n" for line in (body + claims).splitlines()
        )
        parts.append(text)
    types = revealed("".join(parts), tmp_path)
    shapes = len(FUNCTIONS) + len(METHODS)
    assert len(types) == shapes * len(forms)
    undecorated = types[:shapes]
    assert "Any" not in re.sub(r"Coroutine\[Any, Any, ", "", " ".join(undecorated))
    for number, form in enumerate(forms):
        assert types[number * shapes : (number + 1) * shapes] == undecorated, form


def test_every_block_has_a_type(tmp_path: Path) -> None:
    blocks = "".join(f"    {block}\n        reveal_type(value)\n" for block in BLOCKS)
    source = HEAD + "async def blocks() -> None:\n" + blocks
    assert revealed(source, tmp_path) == list(BLOCKS.values())
