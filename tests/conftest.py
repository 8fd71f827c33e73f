"""How many examples Hypothesis draws: `HYPOTHESIS_PROFILE=deep pytest …` for 100,000 a property.

`HYPOTHESIS_PROFILE=part pytest --hypothesis-seed=N …`, N from 1 to 10, is the same in ten parts.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

import trackway

_SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("ordinary", deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.register_profile(
    "deep", max_examples=100_000, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile(
    "part", max_examples=10_000, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ordinary"))


@pytest.fixture(autouse=True)
def _nothing_owed() -> None:
    """What a thread of an earlier test ended too late is not held against the next flush."""
    trackway.flush()
