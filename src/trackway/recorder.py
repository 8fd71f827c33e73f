"""An in-memory recorder for tests: which tools ran, in which order, with what.

1. It stands alone: no configuration, no OpenTelemetry, no file.
2. A record is a dict of `step` (from 1, in the order the calls started), `tool`, `arguments`,
   `result` and `timestamp` (ISO 8601, UTC); with `kind` where one was declared. A call that raised
   has `error`, the exception's type, and no `result`; a call that still runs has neither, nor has
   one of which nothing came: a stream or coroutine that was closed before its first piece.
3. The first end of a call counts: what comes later (the coroutine that is closed once it has
   returned) does not rewrite its record.
4. Arguments and results are copied as plain JSON values at the moment of the call: a later change
   of the objects does not rewrite the record. Secrets are taken out as from spans, unless the
   recorder is told `redact=False`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, overload

from opentelemetry.context import Context, get_current

from trackway.binding import Binder, compile_binder
from trackway.capture import DEFAULT_REDACTOR, Capture, Limits, Redactor
from trackway.capture.storage import type_name
from trackway.decorators import Decorated, Decorator, Kind, checked_kind, decorate, function_name
from trackway.driving import Opened
from trackway.streams import Collector

Record = dict[str, Any]


class TrajectoryRecorder:
    """Records tool calls into a list that the analyzer's assertions take.

    redact: False for values as they are, or a `trackway.redactor(...)` with keys and patterns of
        yours.
    """

    def __init__(self, *, redact: Redactor | bool = True) -> None:
        self._lock = threading.Lock()
        self._records: list[Record] = []
        redactor = DEFAULT_REDACTOR if redact is True else redact or None
        self._capture = Capture(Limits(value_bytes=1 << 24), redactor)

    @overload
    def track(self, name: str | None = None, /, *, kind: Kind | None = None) -> Decorator: ...
    @overload
    def track(self, function: Decorated, /) -> Decorated: ...
    def track(self, name: Any = None, /, *, kind: Kind | None = None) -> Any:
        """Decorate a tool of any shape, bare or called; its calls are recorded under `name`.

        Raises ValueError where `kind` is none of lookup, mutate, notify, other.
        """
        if name is not None and not isinstance(name, str):
            return self.track()(name)
        step_kind = None if kind is None else str(checked_kind(kind))

        def decorator(function: Any) -> Any:
            return decorate(function, lambda target: self._opener(target, name, step_kind))

        return decorator

    def _opener(self, function: Any, name: str | None, kind: str | None) -> _Tracked:
        return _Tracked(self, name or function_name(function), kind, compile_binder(function))

    def record_step(
        self, tool: str, arguments: Mapping[str, Any] | None = None, result: Any = None
    ) -> Record:
        """Record a call that happened elsewhere, and return its record."""
        record = self._begin(tool, None, dict(arguments or {}))
        record["result"] = self._plain(result)
        return record

    @property
    def trajectory(self) -> list[Record]:
        """The records so far, in the order the calls started; a copy."""
        with self._lock:
            return [dict(record) for record in self._records]

    def as_json(self, indent: int | None = 2) -> str:
        """Return the trajectory as JSON text."""
        return json.dumps(self.trajectory, indent=indent, ensure_ascii=False)

    def clear(self) -> None:
        """Forget all records; the next step is 1 again."""
        with self._lock:
            self._records.clear()

    def _begin(self, tool: str, kind: str | None, arguments: Mapping[str, Any]) -> Record:
        record: Record = {
            "step": 0,
            "tool": self._capture.name(tool),
            "arguments": json.loads(self._capture.arguments(arguments).text or "{}"),
            "timestamp": datetime.now(UTC).isoformat(),
        }
        if kind is not None:
            record["kind"] = kind
        with self._lock:
            self._records.append(record)
            record["step"] = len(self._records)
        return record

    def _plain(self, value: Any) -> Any:
        return json.loads(self._capture.value(value).text or "null")


class _Tracked:
    """Opens the record of a call; called by the wrapper with the call's arguments."""

    def __init__(
        self, recorder: TrajectoryRecorder, name: str, kind: str | None, bind: Binder
    ) -> None:
        self._recorder = recorder
        self._name = name
        self._kind = kind
        self._bind = bind

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Opened:
        recorder = self._recorder
        record = recorder._begin(self._name, self._kind, self._bind(*args, **kwargs))
        return _Call(recorder, record)


class _Call:
    """A call that is being recorded."""

    takes_iterators = False

    def __init__(self, recorder: TrajectoryRecorder, record: Record) -> None:
        self.context: Context = get_current()
        self._recorder = recorder
        self._record = record
        self._collector: Collector | None = None
        self._is_over = False

    def finish(self, result: Any) -> None:
        if self._ends():
            self._record["result"] = self._recorder._plain(result)

    def fail(self, error: BaseException) -> None:
        if self._ends():
            self._record["error"] = type_name(type(error))

    def open_stream(self) -> None:
        if self._collector is None:
            self._collector = Collector()

    def item(self, item: Any) -> None:
        if self._collector is not None and not self._is_over:
            self._collector.add(item)

    def exhausted(self, returned: Any = None) -> None:
        collector = self._collector
        if collector is None or not collector.count:
            self.finish(returned if collector is None or returned is not None else [])
        elif self._ends():
            self._record["result"] = self._recorder._plain(collector.result())
            if returned is not None:
                self._record["returned"] = self._recorder._plain(returned)

    def abandon(self) -> None:
        if self._ends() and self._collector is not None and self._collector.count:
            self._record["result"] = self._recorder._plain(self._collector.result())

    def _ends(self) -> bool:
        """Whether this end is the first."""
        was_over, self._is_over = self._is_over, True
        return not was_over
