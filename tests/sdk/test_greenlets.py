"""Greenlets of gevent belong to the run in which they are spawned."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("gevent", reason="greenlets need gevent")

PROGRAM = """
from gevent import monkey; monkey.patch_all()
import contextvars, json
import gevent
from gevent.pool import Pool
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import trackway

memory = InMemorySpanExporter()
trackway.configure(export=SimpleSpanProcessor(memory))
mine = contextvars.ContextVar("mine", default="untouched")

@trackway.tool
def work(number):
    gevent.sleep(0.001)
    return mine.get()

@trackway.agent
def agent(number):
    mine.set("set")
    gevent.joinall([gevent.spawn(work, n) for n in range(3)])
    Pool(2).map(work, range(2))
    gevent.spawn_later(0.001, work, 0).join()
    return work(0)

gevent.joinall([gevent.spawn(agent, n) for n in range(5)])
gevent.spawn(work, 0).join()
trackway.shutdown()
second = InMemorySpanExporter()
trackway.configure(export=SimpleSpanProcessor(second), hand_over=False)
with trackway.run("left alone"):
    gevent.spawn(work, 0).join()
print(json.dumps([[s.name, (s.attributes or {}).get("trackway.run.id"),
                   (s.attributes or {}).get("trackway.step.index"),
                   (s.attributes or {}).get("gen_ai.tool.call.result")]
                  for s in memory.get_finished_spans() + second.get_finished_spans()]))
"""


def test_greenlets_spawned_in_a_run_belong_to_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    spans: list[list[Any]] = json.loads(done.stdout)
    *first, outside, alone, _ = spans
    runs: dict[str, list[int]] = {}
    for name, run, index, _ in first:
        if name == "execute_tool work":
            runs.setdefault(run, []).append(index)
    assert len(runs) == 5
    assert all(sorted(steps) == [1, 2, 3, 4, 5, 6, 7] for steps in runs.values())
    assert outside[1] is None
    assert alone[1] is None
    results = [result for name, _, _, result in first if name == "execute_tool work"]
    # Seven calls of each agent: the last one in its own greenlet, the others see nothing of it.
    assert results.count('"set"') == 5
    assert results.count('"untouched"') == 30
