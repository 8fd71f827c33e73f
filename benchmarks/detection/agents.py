"""The three agents, and a changed run of one."""

from __future__ import annotations

import random
from typing import Final

from benchmarks.detection.airline import AGENT as AIRLINE
from benchmarks.detection.faults import Change
from benchmarks.detection.refund import AGENT as REFUND
from benchmarks.detection.retail import AGENT as RETAIL
from benchmarks.detection.script import Agent, Script

AGENTS: Final = (REFUND, AIRLINE, RETAIL)


def healthy(agent: Agent, seed: int) -> Script:
    """Return the healthy run of a seed."""
    return agent.make(random.Random(seed))


def changed(agent: Agent, change: Change, seed: int) -> Script:
    """Return the run of a seed, changed."""
    return change.apply(agent, healthy(agent, seed), random.Random(f"{change.name}/{seed}"))
