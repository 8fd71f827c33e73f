"""What steps and runs recorded as events: effects, decisions, waits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trackway.schema import Trackway
from trackway_analyzer.rules.columns import is_null, listed
from trackway_analyzer.rules.recorded_columns import WithColumns


@dataclass(frozen=True, slots=True)
class Effect:
    """A change in the world that a step recorded."""

    operation: str | None
    operation_id: str | None
    entity: str | None
    applied: bool | None
    """None: nobody knows whether it took place."""

    @classmethod
    def of(cls, attributes: Any) -> Effect:
        """Read the attributes of an effect event."""
        said = attributes if isinstance(attributes, dict) else {}
        return cls(*(said.get(name) for name in cls.__slots__))


@dataclass(frozen=True)
class WithEvents(WithColumns):
    """A batch whose events can be asked for."""

    def effects(self, row: int) -> list[Effect]:
        """Effects that a step recorded as events of its own."""
        return [Effect.of(said) for said in self.events(row, Trackway.EVENT_EFFECT)]

    def events(self, row: int, name: str) -> list[Any]:
        """Attributes of a step's events of this name."""
        if self._events is None:
            return []
        named = (e for e in self._events[row] or () if e["name"] == name)
        return [self.batch.decode(event["attributes"]) for event in named]

    def run_events(self, ordinal: int, name: str) -> list[tuple[int, Any]]:
        """Events of a run that hang on no step: the last row that had begun, and attributes."""
        first, last = self.batch.bounds(ordinal)
        if self._run_events is None:
            return []
        found = []
        for event in self._run_events[ordinal] or ():
            if event["name"] == name:
                moment = event["time"]
                begun = (
                    row
                    for row in range(first, last)
                    if moment is None or self._starts[row] is None or self._starts[row] <= moment
                )
                found.append(
                    (max(begun, default=first - 1), self.batch.decode(event["attributes"]))
                )
        return found

    @cached_property
    def _events(self) -> list[list[dict[str, Any]] | None] | None:
        if is_null(self.batch.steps, "events").all():
            return None
        return self._column("events")

    @cached_property
    def _run_events(self) -> list[list[dict[str, Any]] | None] | None:
        if is_null(self.batch.runs, "events").all():
            return None
        return listed(self.batch.runs, "events")

    @cached_property
    def _starts(self) -> list[Any]:
        return self._column("start")
