"""A test holds the recording: whoever configures meanwhile, spans go where the test looks.

1. The program records as it has configured itself, before the test or in it (an application that is
   imported there), but for `export` and the sampling: every span goes to the test's target.
2. Nothing of the program's targets is shut down meanwhile, and nothing is sent to them.
3. Afterwards what was there before records again; where the program has configured in the test, as
   it said then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor

from trackway.configure import _Configured, configure, hands_over
from trackway.recording import _State, install


@contextmanager
def held(target: SpanProcessor) -> Iterator[None]:
    """Send every span of the process to this target alone, and put back what was there."""
    before = _Before()
    _Configured.held = target
    _Configured.arguments = None
    try:
        configure(**(before.arguments or {}))
        _Configured.arguments = Ours(_Configured.arguments or {})
        yield
    finally:
        said = last_said()
        if _Configured.pipeline is not None:
            _Configured.pipeline.retire()
        before.put_back()
        if said is not None:
            configure(**said)


class Ours(dict[str, Any]):
    """Arguments of `configure()` that the test gave, not the program; `said` are those."""

    said: Mapping[str, Any] | None = None


def last_said() -> Mapping[str, Any] | None:
    """Return what the program has given to `configure()` since the test began, if anything."""
    arguments = _Configured.arguments
    return arguments.said if isinstance(arguments, Ours) else arguments


class _Before:
    """What recorded before the test."""

    def __init__(self) -> None:
        self.arguments = _Configured.arguments
        self._program, self._settings = _Configured.program, _Configured.settings
        self._held, self._provider = _Configured.held, _Configured.provider
        self._pipeline, self._handing_over = _Configured.pipeline, _Configured.handing_over
        self._recorder, self._missed = _State.recorder, _State.missed
        self._disabled = _State.disabled
        self._targets_back = None if self._pipeline is None else self._pipeline.set_aside()

    def put_back(self) -> None:
        """Record as before; where nothing did, nothing does."""
        ours = self._provider is None and trace.get_tracer_provider() is _Configured.provider
        _Configured.held, _Configured.arguments = self._held, self.arguments
        _Configured.program, _Configured.settings = self._program, self._settings
        if self._provider is not None:
            _Configured.provider, _Configured.pipeline = self._provider, self._pipeline
        hands_over(self._handing_over)
        # A global provider stays; where it is the one that the test has made, nobody asked for it.
        is_off = self._disabled or (self._recorder is None and ours)
        install(self._recorder, disabled=is_off, missed=self._missed)
        if self._targets_back is not None:
            self._targets_back()
