"""ATIF trajectories that name each other: sub-agents and continuations in files of their own.

1. A trajectory waits until all were read: one that another names is a part of that one's run, once.
2. A reference finds its trajectory by `trajectory_id`, by path (from the folder of the file that
   refers, else as the end of a path) and by `session_id`, where one other trajectory bears it.
3. Beyond `MOST_STEPS` steps those that wait are read; who names one of them later does not find it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath
from typing import Any, Final

from trackway_analyzer.read.atif_steps import Object, id_of, list_of, results_of_step

MOST_STEPS: Final = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A trajectory that waits, and where it lies."""

    item: Object
    file: str
    offset: int | None
    place: int


@dataclass(slots=True)
class References:
    """Trajectories by what may name them."""

    by_path: dict[str, list[Held]] = field(default_factory=lambda: defaultdict(list))
    by_id: dict[str, list[Held]] = field(default_factory=lambda: defaultdict(list))
    by_session: dict[str, list[Held]] = field(default_factory=lambda: defaultdict(list))
    used: set[int] = field(default_factory=set)
    """Trajectories that are in a run already."""

    @classmethod
    def of(cls, waiting: list[Held]) -> References:
        """Index trajectories."""
        found = cls()
        for held in waiting:
            found.by_path[_path(held.file)].append(held)
            for names, key in ((found.by_id, "trajectory_id"), (found.by_session, "session_id")):
                name = id_of(held.item.get(key))
                if name is not None:
                    names[name].append(held)
        return found

    def named(self, reference: Any, by: Held) -> Held | None:
        """Return the trajectory that a reference of another one names; None: it is not there."""
        told = {"trajectory_path": reference} if isinstance(reference, str) else reference
        if not isinstance(told, dict):
            return None
        path = id_of(told.get("trajectory_path"))
        candidates = [
            self.by_id.get(id_of(told.get("trajectory_id")) or "", []),
            self._at(path, by) if path is not None else [],
            self.by_session.get(id_of(told.get("session_id")) or "", []),
        ]
        for found in candidates:
            others = [held for held in found if held is not by]
            if len(others) == 1:
                return others[0]
        return None

    def _at(self, path: str, by: Held) -> list[Held]:
        exact = self.by_path.get(normpath(join(dirname(_path(by.file)), _path(path))))
        if exact:
            return exact
        tail = "/" + _path(path).lstrip("./")
        return [h for name, held in self.by_path.items() if f"/{name}".endswith(tail) for h in held]


def _path(file: str) -> str:
    return normpath(file.replace("\\", "/"))


def references_of(item: Object) -> Iterator[Any]:
    """Return every reference that a trajectory holds, those of embedded ones too."""
    left = [item]
    while left:
        inner = left.pop()
        if id_of(inner.get("continued_trajectory_ref")) is not None:
            yield inner["continued_trajectory_ref"]
        left += [sub for sub in list_of(inner, "subagent_trajectories") if isinstance(sub, dict)]
        for step in list_of(inner, "steps"):
            for result in results_of_step(step)[0] if isinstance(step, dict) else ():
                yield from references_in(result)


def references_in(result: Object) -> list[Any]:
    """Return what a result refers to."""
    value = result.get("subagent_trajectory_ref")
    return value if isinstance(value, list) else [] if value is None else [value]


def shown(reference: Any) -> str:
    """Return by what a reference names its trajectory."""
    told = reference if isinstance(reference, dict) else {"path": reference}
    keys = ("trajectory_id", "trajectory_path", "session_id", "path")
    return next((name for key in keys if (name := id_of(told.get(key)))), "without a name")
