"""Runs every Python and shell block of the documentation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

import trackway

ROOT = Path(__file__).parent


def _in_an_empty_folder(namespace: dict[str, Any]) -> None:
    namespace["_folder"] = tempfile.TemporaryDirectory()
    namespace["_home"] = os.getcwd()
    namespace["_environment"] = dict(os.environ)
    os.chdir(namespace["_folder"].name)


def _back(namespace: dict[str, Any]) -> None:
    trackway.uninstrument()
    trackway.shutdown()
    os.environ.clear()
    os.environ.update(namespace["_environment"])
    os.chdir(namespace["_home"])
    namespace["_folder"].cleanup()


def _run_in_a_shell(example: Example) -> str | None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", example.parsed],
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return None if done.returncode == 0 else f"exit {done.returncode}\n{done.stdout}{done.stderr}"


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("bash", _run_in_a_shell), SkipParser()],
    patterns=["*.md"],
    setup=_in_an_empty_folder,
    teardown=_back,
).pytest()
