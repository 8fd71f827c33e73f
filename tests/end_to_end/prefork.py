"""A gunicorn with two workers, started and stopped as a service manager does it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(
    app: str, folder: Path, *options: str, environment: Mapping[str, str]
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run `app` preloaded, with its files in `folder`; yield its URL and the master process."""
    ready = folder / "ready"
    (folder / "conf.py").write_text(
        "def when_ready(server):\n"
        "    port = server.LISTENERS[0].sock.getsockname()[1]\n"
        f"    open({str(ready)!r}, 'w').write(str(port))\n"
    )
    command = [
        sys.executable, "-m", "gunicorn", app, "-w", "2", "--preload", "-b", "127.0.0.1:0",
        "-c", "conf.py", "--log-level", "error", *options,
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=folder, env=environment)
    deadline = time.monotonic() + 30
    while not (ready.exists() and ready.read_text()) and time.monotonic() < deadline:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{ready.read_text()}", process
    finally:
        process.kill()
        process.wait()
