"""`trackway convert SRC DST`: any readable source to canonical Parquet, or to ATIF trajectories."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

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
from trackway_analyzer.read.source import ENDINGS, STDIN
from trackway_analyzer.report.json import line
from trackway_analyzer.report.terminal import console

_SEPARATORS: Final = ("/", os.sep)
_FILES: Final = frozenset([".json", ".jsonl", ".ndjson"])
"""Endings of a file of trajectories; any other name is that of a folder, which is made."""
_OTHERS: Final = frozenset(
    suffix for ending in ENDINGS if ending != ".parquet" for suffix in [Path(f"_{ending}").suffix]
)
"""Endings of names under which something else than Parquet is looked for."""


@click.command(cls=Command)
@source_options
@click.argument("destination", metavar="DST", type=click.Path())
@click.option(
    "--to",
    "form",
    type=click.Choice(["parquet", "atif"]),
    default="parquet",
    show_default=True,
    help="What to write: spans as Parquet, or each run as an ATIF trajectory.",
)
def command(source: str, destination: str, form: str, as_json: bool, reading: Reading) -> None:
    """Write the spans of SRC to DST as canonical Parquet, streaming.

    DST is a file, or a folder that exists: then the file in it is named after SRC. A file that is
    there already is replaced, once the new one is complete.

    With --to atif each run becomes an ATIF trajectory: DST is a folder that gets one file a run,
    or a name that ends in .jsonl for one trajectory a line, or in .json for the only run.

    DST is never SRC, nor a file in it.
    """
    wanted = run_name.parse(source)
    target = _target(wanted.source, destination, form)
    if form == "atif":
        _to_atif(source, target, as_json, reading)
        return
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


def _target(source: str, destination: str, form: str) -> Path:
    """Return the file or folder to write. Raises click.UsageError where it cannot be meant."""
    target = Path(destination)
    if destination == STDIN:
        raise click.UsageError("nothing is written to standard output: name a file or a folder")
    if form == "parquet":
        target = _parquet_file(source, destination)
    if (form == "parquet" or target.suffix in _FILES) and not target.parent.is_dir():
        raise click.UsageError(f"no folder {target.parent}: make it, or choose another place")
    _refuse_to_replace(source, target)
    return target


def _parquet_file(source: str, destination: str) -> Path:
    target = Path(destination)
    if target.is_dir():
        name = "stdin" if source == STDIN else Path(source).name.split(".")[0]
        return target / f"{name or 'traces'}.parquet"
    if destination.endswith(_SEPARATORS):
        raise click.UsageError(f"{destination} is no folder that exists: make it, or name a file")
    if target.suffix.lower() in _OTHERS:
        raise click.UsageError(
            f"{destination} would hold Parquet, and its name says {target.suffix}: name a file "
            "that ends in .parquet, or give --to atif for trajectories as JSON"
        )
    return target


def _refuse_to_replace(source: str, destination: Path) -> None:
    folder = Path(source)
    named = [folder] if folder.exists() else map(Path, glob.glob(source, recursive=True))
    if destination.exists() and any(map(destination.samefile, named)):
        raise click.UsageError(f"{destination} is what is read itself; choose another place")
    if folder.is_dir() and destination.resolve().is_relative_to(folder.resolve()):
        raise click.UsageError(
            f"{destination} lies in {source}, which would then hold every span twice; "
            "choose a place outside"
        )


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
