"""What the OpenTelemetry SDK at hand takes as the value of an attribute: the oldest take less."""

from __future__ import annotations

from typing import Final

import pytest

from trackway.export.ended import attributes_of

_TAKEN: Final = attributes_of({"mapping": {"key": 1}, "bytes": b"\x00"}, 0)
TAKES_MAPPINGS: Final = "mapping" in _TAKEN
"""Mappings and None are values; bytes stay bytes."""
needs_mappings = pytest.mark.skipif(
    not TAKES_MAPPINGS, reason="this version of the OpenTelemetry SDK refuses mappings itself"
)
