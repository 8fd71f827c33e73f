"""Which runs does `SRC#…` name?

1. `SRC#RUN_ID` is the run with that id, or the only one whose id begins so.
2. `SRC#task=T,trial=3` is the one run whose columns have these values (names as in `select`);
   `@latest` behind it takes the one that started last.
3. `SRC` alone is its only run.
4. A path that exists as it stands names no run, `#` or not; otherwise that `#` divides before which
   the longest path that exists ends, else the first before the name of a column, else the last.
   So a task may have `#` in it; and a comma, where no name of a column stands behind it.
5. No run is an error that lists what is there. So are several where one is meant (`show`, `diff`);
   a command over runs takes all that are named.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.select import ALIASES, column_of
from trackway_analyzer.tables import RUN_SCHEMA

_LATEST: Final = "@latest"
_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class RunName:
    """A source and the part that names one of its runs."""

    source: str
    run: str | None = None


def parse(text: str) -> RunName:
    """Divide `SRC#RUN` into its parts."""
    if "#" not in text or Path(text).exists():
        return RunName(text)
    marks = [place for place, sign in enumerate(text) if sign == "#"]
    ends = [place for place in marks if place and Path(text[:place]).exists()]
    named = [place for place in marks if _names_a_column(text[place + 1 :])]
    place = ends[-1] if ends else named[0] if named else marks[-1]
    return RunName(text[:place], text[place + 1 :])


def _names_a_column(part: str) -> bool:
    name, mark, _ = part.partition("=")
    return bool(mark) and (name.strip() in ALIASES or name.strip() in RUN_SCHEMA.names)


def find(name: RunName, runs: pa.Table) -> int:
    """Return the ordinal of the run that `name` names. Raises click.ClickException."""
    found = find_all(name, runs)
    if len(found) == 1:
        return found[0]
    listing = _listing(runs.take(pa.array(found, pa.int64())), name.source)
    which = f"{len(found)} runs of {name.source} are named by {name.run!r}"
    if name.run is None:
        which = f"{name.source} holds {len(found)} runs"
    raise click.ClickException(f"{which}; name one of them:\n{listing}")


def find_all(name: RunName, runs: pa.Table) -> list[int]:
    """Return the ordinals of all runs that `name` names. Raises click.ClickException for none."""
    found = _candidates(name.run, runs)
    if not found:
        raise click.ClickException(_nothing(name, runs))
    return found


def _candidates(wanted: str | None, runs: pa.Table) -> list[int]:
    if wanted is None:
        return list(range(len(runs)))
    ids = [str(run_id) for run_id in runs.column("run_id").to_pylist()]
    if wanted in ids:
        return [ids.index(wanted)]
    if "=" in wanted:
        return _by_columns(wanted, runs)
    return [ordinal for ordinal, run_id in enumerate(ids) if run_id.startswith(wanted)]


def _by_columns(wanted: str, runs: pa.Table) -> list[int]:
    latest = wanted.endswith(_LATEST)
    keep = list(range(len(runs)))
    parts: list[str] = []
    for part in wanted.removesuffix(_LATEST).split(","):
        if parts and "=" not in part:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    for part in parts:
        name, _, value = part.partition("=")
        column = runs.column(column_of(name.strip()))
        texts = ["" if value is None else str(value) for value in column.to_pylist()]
        keep = [ordinal for ordinal in keep if texts[ordinal] == value.strip()]
    return _last_started(keep, runs) if latest else keep


def _last_started(ordinals: list[int], runs: pa.Table) -> list[int]:
    starts = pc.cast(runs.column("start"), pa.int64()).to_pylist()
    known = [ordinal for ordinal in ordinals if starts[ordinal] is not None]
    return [max(known, key=lambda ordinal: starts[ordinal])] if known else ordinals


def _nothing(name: RunName, runs: pa.Table) -> str:
    if not len(runs):
        return f"{name.source} holds no run"
    return f"no run {name.run!r} in {name.source}, which holds:\n{_listing(runs, name.source)}"


def _listing(runs: pa.Table, source: str) -> str:
    shown = runs.slice(0, _LISTED).select(["run_id", "task_id", "trial"]).to_pylist()
    lines = []
    for row in shown:
        task = f"  task {row['task_id']}" if row["task_id"] is not None else ""
        trial = f"  trial {row['trial']}" if row["trial"] is not None else ""
        lines.append(f"  {source}#{row['run_id']}{task}{trial}")
    more = len(runs) - len(shown)
    return "\n".join([*lines, *([f"  … and {more} more"] if more > 0 else [])])
