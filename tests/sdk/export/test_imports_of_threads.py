"""No thread of an exporter imports: a child forked meanwhile would wait for the import for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from end_to_end.otlp_receiver import Answer, Receiver

PROGRAM = """
import sys, threading

def note(event, arguments):
    thread = threading.current_thread().name
    if event == "import" and thread.startswith("trackway"):
        print(thread, arguments[0])

sys.addaudithook(note)
import trackway

@trackway.tool
def refund(order):
    raise LookupError(order)

trackway.configure("refunds", export=sys.argv[1])
for order in range(2):
    try:
        with trackway.run(task="refund"):
            refund(order)
    except LookupError:
        pass
    print("delivered" if trackway.flush(20) else "kept")
"""


def printed(target: str, folder: Path) -> list[str]:
    """What the program prints that exports to `target`, line by line."""
    environment = {**os.environ, "TRACKWAY_SPOOL_DIR": str(folder / "spools")}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, target],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize("protocol", ["grpc", "http"])
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, ["delivered", "delivered"]),
        (Answer(503), ["kept", "kept"]),
        (Answer(400), ["kept", "kept"]),
        (Answer(413), ["kept", "kept"]),
        (Answer(429, 60), ["kept", "kept"]),
        (Answer(0), ["kept", "kept"]),
    ],
)
def test_sending_imports_nothing(
    protocol: str, answer: Answer | None, told: list[str], tmp_path: Path
) -> None:
    with Receiver(tmp_path / "stored", answer=lambda _request: answer) as receiver:
        port = receiver.grpc_port if protocol == "grpc" else receiver.http_port
        assert printed(f"otlp+{protocol}://localhost:{port}", tmp_path) == told


def test_writing_parquet_imports_nothing(tmp_path: Path) -> None:
    assert printed(str(tmp_path / "rows"), tmp_path) == ["delivered", "delivered"]
