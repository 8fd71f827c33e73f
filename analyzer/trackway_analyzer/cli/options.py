"""What several commands share: options, how a source is opened, what is said on standard error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

import click
import pyarrow as pa

from trackway_analyzer.cli import run_name
from trackway_analyzer.engine import By
from trackway_analyzer.load import load
from trackway_analyzer.model import Trajectory
from trackway_analyzer.read.quarantine import NOTES, READ, Reason
from trackway_analyzer.trajectories import Trajectories


class Command(click.Command):
    """A command of `trackway`: it takes `--debug` too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        text = "Print the traceback of an error."
        self.params.append(click.Option(["--debug"], is_flag=True, expose_value=False, help=text))


@dataclass(frozen=True, slots=True)
class Reading:
    """How a person wants a source to be read."""

    format: str | None
    dialect: str | None
    strict_input: bool
    by: By

    def open(self, source: str) -> Trajectories:
        """Read a path, a URL or `-`; `SRC#RUN` keeps the runs that it names, one or several.

        Raises click.ClickException where nothing could be read, or it names no run.
        """
        wanted = run_name.parse(source)
        trajectories = self._whole(wanted.source)
        if wanted.run is None:
            return trajectories
        runs = trajectories.batch.runs
        named = runs.column("run_id").take(pa.array(run_name.find_all(wanted, runs), pa.int64()))
        return trajectories.filter(run_id=named.to_pylist())

    def _whole(self, source: str) -> Trajectories:
        trajectories = self.unread(source)
        if trajectories.large_files is None and not len(trajectories.span_table):
            refuse_unreadable(trajectories, source)
        return trajectories

    def judged(self, source: str, outcomes: str | None) -> Trajectories:
        """As `open`, with the outcomes of a file joined; says how many rows fit no run."""
        trajectories = self.open(source)
        if outcomes is None:
            return trajectories
        trajectories = trajectories.with_outcomes(outcomes)
        if unused := trajectories.unused_outcomes:
            fit = "outcomes in {} fit" if unused > 1 else "outcome in {} fits"
            note(f"{unused} {fit.format(outcomes)} no run of {source}")
        return trajectories

    def unread(self, source: str) -> Trajectories:
        """Return the runs of a source that nobody has read yet."""
        return load(
            source,
            format=self.format,
            dialect=self.dialect,
            strict=self.strict_input,
            by=self.by,
        )

    def one(self, name: str) -> Trajectory:
        """Return the run that `SRC#RUN` names."""
        wanted = run_name.parse(name)
        trajectories = self._whole(wanted.source)
        ordinal = run_name.find(wanted, trajectories.batch.runs)
        note_losses(trajectories, wanted.source)
        return trajectories[ordinal]


_READING_OPTIONS: Final = (
    click.option("--format", help="Format of the source; detected unless given."),
    click.option("--dialect", help="Dialect of the spans; detected unless given."),
    click.option(
        "--strict-input",
        is_flag=True,
        help="Stop at the first thing that cannot be read instead of putting it aside.",
    ),
    click.option(
        "--by",
        type=click.Choice(["trace", "session"]),
        default="trace",
        show_default=True,
        help="What makes spans without a run id one run.",
    ),
)


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Reading`; the command gets them as `reading`."""

    @wraps(function)
    def command(
        *, format: str | None, dialect: str | None, strict_input: bool, by: By, **arguments: Any
    ) -> Any:
        return function(reading=Reading(format, dialect, strict_input, by), **arguments)

    for option in reversed(_READING_OPTIONS):
        command = option(command)
    return command


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
outcomes_option = click.option(
    "--outcomes",
    metavar="FILE",
    help="Join outcomes that lie beside the traces: JSON Lines or CSV that name a run by run_id, "
    "session_id, or task_id and trial, and judge it by success or reward.",
)
strict_option = click.option("--strict", is_flag=True, help="Warnings count as violations.")


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add SRC, `--json` and the options of `Reading`: `source`, `as_json`, `reading`."""
    return click.argument("source", metavar="SRC")(json_option(reading_options(function)))


def notes(trajectories: Trajectories, source: str, reading: Reading) -> None:
    """Say on standard error what a person should know of a source beside the answer."""
    source = run_name.parse(source).source
    note_losses(trajectories, source)
    note_sessions(trajectories, reading)
    if len(trajectories.span_table) and not len(trajectories):
        note(f"{source} holds spans but no run: no model call, tool call or agent")


def refuse_unreadable(trajectories: Trajectories, source: str) -> None:
    """Raise where a source without spans holds something else; an empty one is an empty result.

    Of several reasons the one is told that helps most: a form with a name, before any loss, before
    what is no trace.
    """
    rows = [row for row in trajectories.quarantined.to_pylist() if row["reason"] not in NOTES]
    if rows:
        row = min(rows, key=lambda row: _HELP.get(row["reason"], 1))
        what = f"{row['reason']}: {row['detail']}"
        raise click.ClickException(f"nothing in {source} could be read: {what}")


_HELP: Final = {Reason.UNREAD_FORM.value: 0, Reason.NOT_A_TRACE.value: 2}
"""Rank of a reason among those of which one is told."""


def note_losses(trajectories: Trajectories, source: str) -> None:
    """Say on standard error how much could not be read."""
    note_passed_over(trajectories)
    rows = trajectories.quarantined.to_pylist()
    lost = sum(row["count"] for row in rows if row["reason"] not in (Reason.PASSED_OVER, *READ))
    lacking = sum(row["count"] for row in rows if row["reason"] in READ)
    said = (
        f"{_things(lost)} could not be read" if lost else "",
        f"{_things(lacking)} {'was' if lacking == 1 else 'were'} read, with something missing"
        if lacking
        else "",
    )
    if any(said):
        note(f"{'; '.join(filter(None, said))}: trackway quarantine {source}")


def _things(count: int) -> str:
    return "1 thing" if count == 1 else f"{count} things"


def note_passed_over(trajectories: Trajectories) -> None:
    """Say on standard error which files of a folder nobody read."""
    for others in trajectories.passed_over:
        count = len(others.names)
        files = "1 file was" if count == 1 else f"{count} files were"
        note(f"{files} passed over in {others.folder}: {others}")


def note_sessions(trajectories: Trajectories, reading: Reading) -> None:
    """Say on standard error that conversations lie in several runs each."""
    if reading.by == "session":
        return
    sessions = trajectories.batch.runs.column("session_id").drop_null()
    if len(sessions) > len(sessions.unique()):
        found = len(sessions.unique())
        note(
            f"{len(sessions)} runs belong to {found} session{'s' if found > 1 else ''}: "
            "--by session joins the traces of a session into one run"
        )


def note(text: str) -> None:
    """Print one line on standard error."""
    click.echo(f"note: {text}", err=True)
