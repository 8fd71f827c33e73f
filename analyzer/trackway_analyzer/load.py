"""What ran, whatever it was recorded with: `load(source)`.

1. `load` reads nothing before somebody looks; `import trackway_analyzer` imports no library.
2. Format and dialect are detected unless given. What cannot be read goes to `quarantine()`; with
   `strict=True` the first such row raises.
3. Spans without a run id are one run a trace; with `by="session"` one run a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trackway_analyzer.engine import By, Engine
    from trackway_analyzer.trajectories import Trajectories


def load(
    source: Any,
    *,
    format: str | None = None,
    dialect: str | None = None,
    strict: bool = False,
    engine: Engine | None = None,
    by: By = "trace",
) -> Trajectories:
    """Return the runs that `source` holds: a path, a folder, a URL, a table, spans in memory.

    So are bytes, an open file, and decoded JSON: a document, a list of them, or of messages.

    Nothing is read before somebody looks. Looking raises FileNotFoundError or ValueError that says
    what was looked for and what is there. Raises TypeError for what is no source.
    """
    from trackway_analyzer.engine.local import LocalEngine
    from trackway_analyzer.source import RunSource, SpanSource
    from trackway_analyzer.trajectories import Trajectories

    if by not in ("trace", "session"):
        raise ValueError(f"by={by!r}: expected 'trace' or 'session'")
    frame_like = any(hasattr(source, name) for name in ("to_arrow", "collect_schema", "columns"))
    if not frame_like and not isinstance(source, str | PathLike | Iterable):
        raise TypeError(
            "expected a path, a URL, a list of them, a table or finished spans, "
            f"found {type(source).__name__} {source!r}: give load() what holds the traces"
        )
    spans = SpanSource(source, format=format, dialect=dialect, strict=strict)
    return Trajectories(RunSource(spans, engine or LocalEngine(), by))
