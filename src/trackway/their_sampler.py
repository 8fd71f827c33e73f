"""Does the provider itself drop runs, before anybody knows whether they fail?

A provider's sampler decides when a trace starts. What it drops, no processor sees: neither
`configure(sample=…)` nor the keeping of failed runs applies to it. A sampler that takes every root
is silent here; any other is said once a provider.
"""

from __future__ import annotations

import logging
import weakref
from typing import Any, Final

from opentelemetry.sdk.trace import TracerProvider

_LOGGER: Final = logging.getLogger("trackway")
_TAKE_ALL: Final = ("AlwaysOnSampler", "TraceIdRatioBased{1.0}")
_told: Final[weakref.WeakSet[TracerProvider]] = weakref.WeakSet()


def tell_of_sampler(provider: TracerProvider) -> None:
    """Say that the provider's sampler may drop failed runs, and what to do."""
    name = _described(provider)
    if name.removeprefix("ParentBased{root:").startswith(_TAKE_ALL) or provider in _told:
        return
    _told.add(provider)
    _LOGGER.warning(
        "trackway: the tracer provider has a sampler of its own (%s), which drops runs before they "
        "start, failed ones too; to keep those, give the provider ALWAYS_ON and the share to "
        "trackway.configure(sample=…)",
        name,
    )


def _described(provider: TracerProvider) -> str:
    sampler: Any = getattr(provider, "sampler", None)
    try:
        return str(sampler.get_description())
    except Exception:  # noqa: BLE001 - a sampler may be the user's own
        return type(sampler).__name__
