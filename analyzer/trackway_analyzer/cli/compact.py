"""`trackway compact DIR`: many small Parquet files become few."""

from __future__ import annotations

from pathlib import Path

import click

from trackway.export.parquet import compact
from trackway_analyzer.cli.options import Command, json_option
from trackway_analyzer.report.json import line


@click.command(cls=Command)
@click.argument("target", metavar="DIR")
@json_option
@click.option(
    "--file-mb",
    type=click.FloatRange(min=0, min_open=True),
    default=64.0,
    show_default=True,
    help="Files smaller than this are merged, up to about this size.",
)
def command(target: str, as_json: bool, file_mb: float) -> None:
    """Merge the small files that recorders left below DIR, a folder or a URL.

    Recorders may be at work meanwhile. No span is lost or doubled, also where a compaction was
    interrupted: the next one completes it.
    """
    if "://" not in target and not Path(target).is_dir():
        raise click.ClickException(f"{target} is no folder: expected one that holds Parquet files")
    done = compact(target, file_bytes=int(file_mb * 2**20))
    if as_json:
        click.echo(
            line({"merged": done.merged_files, "written": done.new_files, "spans": done.spans})
        )
    elif done.new_files:
        click.echo(
            f"{done.merged_files:,} files became {done.new_files:,}, {done.spans:,} spans in them"
        )
    else:
        click.echo("nothing to merge")
