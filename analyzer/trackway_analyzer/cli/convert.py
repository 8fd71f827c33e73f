"""`trackway convert SRC DST`: any readable source to canonical Parquet, or to ATIF trajectories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pyarrow as pa
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from trackway_analyzer.cli import run_name
from trackway_analyzer.cli.options import (
    Command,
    Reading,
    note_losses,
    notes,
    refuse_unreadable,
    source_options,
)
from trackway_analyzer.read.source import STDIN
from trackway_analyzer.report.json import line
from trackway_analyzer.report.terminal import console


@click.command(cls=Command)
@source_options
@click.argument("destination", metavar="DST", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "form",
    type=click.Choice(["parquet", "atif"]),
    default="parquet",
    show_default=True,
    help="What to write: spans as Parquet, or each run as an ATIF trajectory.",
)
def command(source: str, destination: Path, form: str, as_json: bool, reading: Reading) -> None:
    """Write the spans of SRC to DST as canonical Parquet, streaming.

    DST is a file, or a folder that exists: then the file in it is named after SRC. A file that is
    there already is replaced, once the new one is complete.

    With --to atif each run becomes an ATIF trajectory: DST is a folder that gets one file a run,
    or a name that ends in .jsonl for one trajectory a line, or in .json for the only run.
    """
    if form == "atif":
        _to_atif(source, destination, as_json, reading)
        return
    wanted = run_name.parse(source)
    target = _target(wanted.source, destination)
    trajectories = reading.unread(source) if wanted.run is None else reading.open(source)

    def watch(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        empty = True
        for table in _progress(tables):
            empty = empty and not len(table)
            yield table
        if empty:
            refuse_unreadable(trajectories, source)

    spans = trajectories.to_parquet(target, watch=watch)
    if as_json:
        click.echo(line({"path": str(target), "spans": spans}))
    else:
        click.echo(f"{spans:,} spans to {target}")
    note_losses(trajectories, wanted.source)


def _to_atif(source: str, destination: Path, as_json: bool, reading: Reading) -> None:
    trajectories = reading.open(source)
    runs = trajectories.to_atif(destination)
    if as_json:
        click.echo(line({"path": str(destination), "runs": runs}))
    else:
        click.echo(f"{runs:,} {'run' if runs == 1 else 'runs'} to {destination}")
    notes(trajectories, source, reading)


def _target(source: str, destination: Path) -> Path:
    if destination.is_dir():
        name = "stdin" if source == STDIN else Path(source).name.split(".")[0]
        destination = destination / f"{name or 'traces'}.parquet"
    folder = Path(source)
    if folder.is_dir() and destination.resolve().is_relative_to(folder.resolve()):
        raise click.UsageError(
            f"{destination} lies in {source}, which would then hold every span twice; "
            "choose a place outside"
        )
    return destination


def _progress(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Pass tables on, and count their spans on a terminal."""
    screen = console(stderr=True)
    columns = (
        TextColumn("converting"),
        BarColumn(),
        TextColumn("{task.completed:,} spans"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=None)
        for table in tables:
            yield table
            bar.advance(task, len(table))
