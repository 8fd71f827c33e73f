"""What does a session name and not hold? Sub-agents, lines, continuations (`trackway.holes`).

Readers of sessions leave a list of holes on an agent's span, each an object:

1. `what` says what is not there, in a few words.
2. `agent`, `session`: an agent of that name, or of that session, in the run fills the hole.
3. `below`: an agent right below the span with that id fills it.
4. What nothing fills is one gap `missing_steps` of the run, without a place.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np

from trackway.schema import GapName, Trackway
from trackway_analyzer.reconstruct.columns import NONE
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap
from trackway_analyzer.reconstruct.messages import quickly_parsed

_HOLES: Final = f'"{Trackway.HOLES}":'.replace(".", r"\.")
_SHOWN: Final = 5


def gaps_of_named_holes(evidence: Evidence) -> Found:
    """Holes that nothing in the run fills, one gap a run."""
    columns, run = evidence.columns, evidence.run
    rows = columns.naming(_HOLES)
    rows = rows[run[rows] != NONE]
    if not len(rows):
        return
    filled = _filled(evidence, set(run[rows].tolist()))
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for row, text in zip(rows.tolist(), columns.values("attributes", rows), strict=True):
        number = int(run[row])
        for hole in _list(text, Trackway.HOLES):
            if isinstance(hole, dict) and not any(
                (number, key, hole[key]) in filled
                for key in ("agent", "session", "below")
                if isinstance(hole.get(key), str)
            ):
                found[number][str(hole.get("what"))] = None
    for number, said in found.items():
        shown = [*list(said)[:_SHOWN], *(["…"] if len(said) > _SHOWN else [])]
        yield number, gap(GapName.MISSING_STEPS, len(said), detail="; ".join(shown))


def _filled(evidence: Evidence, wanted: set[int]) -> set[tuple[int, str, Any]]:
    """Return what fills holes: run, key and value."""
    columns, run = evidence.columns, evidence.run
    agents = np.flatnonzero(columns.is_agent & np.isin(run, list(wanted)))
    names = {"agent": "agent", "session": "session_id", "below": "parent_span_id"}
    found: set[tuple[int, str, Any]] = set()
    for key, name in names.items():
        found.update(
            (number, key, value)
            for number, value in zip(
                run[agents].tolist(), columns.values(name, agents), strict=True
            )
        )
    return found


def _list(text: str | None, key: str) -> list[Any]:
    told = quickly_parsed(text) if text is not None else None
    listed = told.get(key) if isinstance(told, dict) else None
    return listed if isinstance(listed, list) else []
