"""Each mutant meets tests that are drawn alike and start from nothing.

1. Hypothesis draws the same examples for every mutant, and does not shrink what it found.
2. mutmut runs the tests of a mutant in a fork of a process that has run them before. What that
   process made of the code without the mutant is forgotten: what functions keep, and the modules of
   tests with the rules that they hold.
"""

from __future__ import annotations

import sys

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "mutation",
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("mutation")


def pytest_sessionstart() -> None:
    """Forget what an earlier session of this process left."""
    for name, module in list(sys.modules.items()):
        if name.startswith("trackway_analyzer."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
        elif name.rpartition(".")[2].startswith("test_"):
            del sys.modules[name]
