"""The scripted model endpoint: aimock, one server a run, so that no run sees another's counters."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

PACKAGE = Path(__file__).parent
STARTS_WITHIN = 30.0


def install(cache: Path) -> Path:
    """Install the endpoint below `cache`, as `package-lock.json` names it; return its program."""
    folder = cache / "endpoint"
    program = folder / "node_modules" / ".bin" / "llmock"
    lock = (PACKAGE / "package-lock.json").read_text()
    installed = folder / "package-lock.json"
    if not program.exists() or not installed.exists() or installed.read_text() != lock:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text((PACKAGE / "package.json").read_text())
        installed.write_text(lock)
        command = ["npm", "ci", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(command, cwd=folder, check=True, timeout=300)
    return program


@contextmanager
def serving(program: Path, fixtures: Mapping[str, Any], log: Path) -> Iterator[str]:
    """Serve the fixtures on a free port of loopback; gives the URL."""
    script = log.with_suffix(".fixtures.json")
    script.write_text(json.dumps(fixtures, indent=1))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "-p", port, "-f", script, "--strict", "--log-level", "info"]
    with log.open("w") as output:
        server = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_ready(url, server, log)
            yield url
        finally:
            server.terminate()
            server.wait(10)


def _wait_until_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urlopen(f"{url}/health", timeout=1):
                return
        except (URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"the model endpoint did not start: {log.read_text()}")
