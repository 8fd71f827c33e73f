"""A worker of Celery that is renewed after each task takes nothing along that had ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import trackway_analyzer as ta

TASKS = """
import pathlib
from celery import Celery
import trackway

trackway.configure("refunds", export="traces")
for name in ("queue", "results"):
    pathlib.Path(name).mkdir(exist_ok=True)
app = Celery("tasks", broker="filesystem://", backend=f"file://{pathlib.Path('results').resolve()}")
app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue"}

@trackway.tool(kind="mutate")
def refund(number):
    return number

@app.task
@trackway.agent
def agent(number):
    return refund(number)
"""
SENDS = """
from tasks import agent
results = [agent.delay(number) for number in range(4)]
assert [result.get(timeout=50) for result in results] == [0, 1, 2, 3]
"""
WORKER = ("worker", "--concurrency=2", "--max-tasks-per-child=1", "--loglevel=ERROR")


def test_what_ended_in_a_renewed_worker_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(TASKS)
    (tmp_path / "sends.py").write_text(SENDS)
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "tasks", *WORKER], cwd=tmp_path, text=True
    )
    try:
        subprocess.run([sys.executable, "sends.py"], cwd=tmp_path, check=True, timeout=60)
    finally:
        worker.terminate()
        try:
            worker.wait(15)
        except subprocess.TimeoutExpired:
            worker.kill()
    runs = ta.load(tmp_path / "traces")
    assert [[step.name for step in run.steps] for run in runs] == [["refund"]] * 4
