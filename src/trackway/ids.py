"""Trace, span and run ids from the operating system's randomness.

OpenTelemetry's own generator uses the global `random`: seeding it twice repeats every id, and two
runs of an evaluation script merge into one trajectory. Span ids are drawn in blocks, because a
system call for each span costs more than the rest of the span; a forked child starts a new block.
"""

from __future__ import annotations

import os
from typing import Final

from opentelemetry.sdk.trace.id_generator import IdGenerator

_BLOCK: Final = 64
_span_ids: list[int] = []


def run_id() -> str:
    """Return a new run id: 32 lower-case hex digits."""
    return os.urandom(16).hex()


def made_up_operation_id(run: str) -> str:
    """Return an idempotency key for an operation of this run that declares none.

    It starts with the run id, and is not counted: processes that share a run share no counter.
    """
    return f"{run}:{EntropyIdGenerator().generate_span_id():016x}"


class EntropyIdGenerator(IdGenerator):
    """Ids that neither `random.seed` nor a fork can repeat."""

    def generate_span_id(self) -> int:
        """Return a non-zero 64-bit integer."""
        while True:
            try:
                number = _span_ids.pop()
            except IndexError:
                entropy = os.urandom(8 * _BLOCK)
                _span_ids.extend(
                    int.from_bytes(entropy[at : at + 8], "big") for at in range(0, len(entropy), 8)
                )
                continue
            if number:
                return number

    def generate_trace_id(self) -> int:
        """Return a non-zero 128-bit integer."""
        while True:
            if number := int.from_bytes(os.urandom(16), "big"):
                return number

    def is_trace_id_random(self) -> bool:
        """Every bit is random, which lets samplers use the W3C random flag."""
        return True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_span_ids.clear)
