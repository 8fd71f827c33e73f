"""A change of a script: a fault that some rule has to find, or a harmless one that none may."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.detection.script import Agent, Script

Apply = Callable[[Agent, Script, random.Random], Script]


@dataclass(frozen=True, slots=True)
class Change:
    """One way in which a run may differ from the healthy one."""

    name: str
    apply: Apply
    rules: frozenset[str] = frozenset()
    """A fault is caught if one of these is violated. Empty: harmless."""


class Changes(list[Change]):
    """Changes in the order in which they are written down; each function is one."""

    def by(self, *rules: str) -> Callable[[Apply], Apply]:
        """Register a change that these rules have to find; without rules, a harmless one."""

        def register(apply: Apply) -> Apply:
            self.append(Change(apply.__name__.replace("_", " "), apply, frozenset(rules)))
            return apply

        return register
