"""Which agent does a step belong to, and through which agents was it reached?

1. A step's agent is the one that its span names, else the nearest agent span's name above it.
2. The path holds the names of the agent spans above it from the outermost, with `/` between; an
   agent inside one of its own name is the same agent and is not repeated. A path longer than
   `LONGEST` keeps its first names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from trackway_analyzer.reconstruct.columns import NONE, Ints, SpanColumns
from trackway_analyzer.reconstruct.tree import Tree, depth, nearest

LONGEST: Final = 32


@dataclass(frozen=True, slots=True)
class Paths:
    """Agents by row of their span."""

    path: list[str]
    """Distinct paths."""
    path_of: Ints
    """By row of an agent span: place in `path`; `NONE` if no agent above has a name."""
    name_of: Ints
    """By row of an agent span: code of the nearest agent name in the column `agent`."""


def paths_of(columns: SpanColumns, tree: Tree) -> Paths:
    """Find the path of each agent span."""
    agents = np.flatnonzero(columns.is_agent)
    above = nearest(tree.parent, columns.is_agent)
    own = columns.codes("agent")
    levels = np.where(columns.is_agent, above, NONE)
    order = agents[np.argsort(depth(levels)[agents], kind="stable")]
    names = columns.array("agent").dictionary.to_pylist()
    path_of, name_of = np.full(len(columns), NONE), np.full(len(columns), NONE)
    known: dict[tuple[int, int], int] = {}
    paths: list[tuple[str, int]] = []
    for row in order.tolist():
        outer, code = int(above[row]), int(own[row])
        base = int(path_of[outer]) if outer != NONE else NONE
        inherited = int(name_of[outer]) if outer != NONE else NONE
        longest = base != NONE and paths[base][1] >= LONGEST
        if code in (NONE, inherited) or longest:
            path_of[row], name_of[row] = base, inherited if code == NONE else code
            continue
        if (base, code) not in known:
            known[base, code] = len(paths)
            head = (paths[base][0] + "/", paths[base][1]) if base != NONE else ("", 0)
            paths.append((head[0] + names[code], head[1] + 1))
        path_of[row], name_of[row] = known[base, code], code
    return Paths([path for path, _ in paths], path_of, name_of)
