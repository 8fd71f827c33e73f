"""What is said of a run after its end: by an oracle that looks at the ledger when all is over.

1. The run span has ended and takes nothing more. A span of its own says it, below the run span and
   with the run's identity; it is no step, and its time is none of the run's.
2. It stands as if it had been said in the run: of what contradicts, the last word.
3. Where the run was dropped, it is kept or dropped as any late span is (`sampling.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.trace import Span, set_span_in_context

from trackway.recording import Recorder
from trackway.schema import Trackway


def say_after_end(
    recorder: Recorder, what: str, of: Span, run: Mapping[str, Any], said: Mapping[str, Any]
) -> None:
    """Record what is said of the run whose span and attributes these are; `what` names the span."""
    attributes = {**run, **said, Trackway.AFTER_END: True}
    recorder.tracer.start_span(what, set_span_in_context(of), attributes=attributes).end()
    if recorder.flush_at_run_end is not None:
        recorder.flush_at_run_end()
