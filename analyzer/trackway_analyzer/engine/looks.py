"""What does a check look at in a run, beside its shape?

The shape of a run is its spans without their values: operations, tools, kinds, order, outcome of
each call, what is recorded and what is not.

1. `same`: values at paths of which only matters which of them are the same.
2. `exact`: values at paths that decide by what they are.
3. `texts`: classes of the final text. Texts of one class are the same to the check.
4. `limits`: sums of numbers; a run within all of them is like any other that is.
5. A check that looks at anything else says so by having no `Looks`: it gets every run whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Column: TypeAlias = Literal["arguments", "result"]
TextClasses: TypeAlias = Callable[[pa.Array], npt.NDArray[np.int64]]
"""Final texts, none of them null, to the numbers of their classes."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the calls of a tool."""

    tool: str | None
    """None: of every tool."""
    column: Column
    path: str
    """A plain name, or a JSONPath of plain names and indices that begins with a name."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on a sum over the steps of a run, or on the seconds that it took."""

    columns: tuple[str, ...]
    """Number columns of the steps; `seconds` alone is the length of the run."""
    most: float


@dataclass(frozen=True, slots=True)
class Looks:
    """What a check looks at, beside the shape of a run."""

    same: frozenset[Value] = frozenset()
    exact: frozenset[Value] = frozenset()
    texts: tuple[TextClasses, ...] = field(default=())
    limits: frozenset[Limit] = frozenset()

    @classmethod
    def union(cls, parts: Iterable[Looks | None]) -> Looks | None:
        """Everything that several checks look at; None where one of them has no bounds."""
        same: set[Value] = set()
        exact: set[Value] = set()
        texts: list[TextClasses] = []
        limits: set[Limit] = set()
        for part in parts:
            if part is None:
                return None
            same |= part.same
            exact |= part.exact
            texts += part.texts
            limits |= part.limits
        return cls(frozenset(same), frozenset(exact), tuple(texts), frozenset(limits))
