"""Print results to a person: in colour on a terminal, in the same words elsewhere.

1. Colour only repeats what a word or a sign already says.
2. On a terminal a line is as wide as the window; in a file or a pipe a run is `PLAIN_WIDTH` wide
   and a table as wide as its values.
3. Text from a trace is never read as markup, and its control characters are escaped.
4. A run that is longer than the window is printed without its plain model turns, and says so. In a
   file or a pipe nothing is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trackway_analyzer.model import Trajectory
from trackway_analyzer.report.shorten import cut, one_line
from trackway_analyzer.report.trajectory import (
    StepLine,
    Tone,
    TrajectoryView,
    trajectory_view,
)
from trackway_analyzer.summary import sequence_text

PLAIN_WIDTH: Final = 120
_UNLIMITED: Final = 100_000
"""Width of a table in a file or a pipe: a cut or folded path is of no use to the next program."""
_MARGIN: Final = 9
"""Width of the first column, with the blanks behind it."""
_PARAGRAPH: Final = 400
_OTHER_LINES: Final = 8
"""Lines around the steps of a run."""

_STYLES: Final = {
    Tone.PLAIN: "",
    Tone.QUIET: "dim",
    Tone.BAD: "bold red",
    Tone.DOUBTFUL: "yellow",
}


class _Console(Console):
    """A console that lets its program say how a closed pipe ends it: rich itself exits with 1."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 - rich calls this while it handles the BrokenPipeError


def console(file: IO[str] | None = None, *, stderr: bool = False) -> Console:
    """Return a console for standard output, standard error or a file."""
    found = _Console(file=file, stderr=stderr, highlight=False, markup=False, emoji=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = PLAIN_WIDTH
    return found


def print_trajectory(trajectory: Trajectory, to: Console, *, every_step: bool = False) -> None:
    """Print one run, on one screen if it can be done; with `every_step` nothing is left out."""
    view = trajectory_view(trajectory)
    shown = view.steps
    if to.is_terminal and not every_step:
        shown = fitting(view, to.height)
    _print(_frame(view, shown, trajectory, to.width), to, to.width)


def fitting(view: TrajectoryView, height: int) -> tuple[StepLine, ...]:
    """Return the steps to print in a window of `height` lines."""
    lines = sum(1 + len(line.marks) for line in view.steps) + len(view.gaps)
    lines += len(view.pauses) + _OTHER_LINES
    if lines <= height:
        return view.steps
    return tuple(line for line in view.steps if line.tone is not Tone.QUIET or line.marks)


def trajectory_text(trajectory: Trajectory, width: int = PLAIN_WIDTH) -> str:
    """One run as plain text."""
    plain = Console(width=width, color_system=None, highlight=False, markup=False, emoji=False)
    with plain.capture() as captured:
        print_trajectory(trajectory, plain)
    return captured.get().rstrip("\n")


def print_sequences(trajectories: Iterable[Trajectory], to: Console) -> None:
    """Print one line a run: its name and its tools in order."""
    for trajectory in trajectories:
        line = Text(trajectory.run_id, style="bold")
        for label, value in (("task", trajectory.task_id), ("trial", trajectory.trial)):
            if value is not None:
                line.append(f"  {label} {value}", style="default not bold")
        shapes = trajectory.batch.shapes(trajectory.ordinal)
        line.append(f"  {one_line(sequence_text(shapes))}", style="default not bold")
        if trajectory.gaps:
            names = ", ".join(dict.fromkeys(gap.name for gap in trajectory.gaps))
            line.append(f"  gaps: {names}", style="yellow not bold")
        to.print(line, soft_wrap=True)


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]], to: Console) -> None:
    """Print a plain table; numbers stand to the right."""
    listed = [[_cell(value) for value in row] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        digits = bool(listed) and all(
            row[index].replace(",", "").replace(".", "").isdigit() or row[index] == "-"
            for row in listed
        )
        table.add_column(name, justify="right" if digits else "left", overflow="fold")
    for row in listed:
        table.add_row(*row)
    _print(table, to, to.width if to.is_terminal else _UNLIMITED)


def _print(table: Table, to: Console, width: int) -> None:
    """Print a table; in a file or a pipe without the blanks that fill its last column."""
    if to.is_terminal:
        to.print(table)
        return
    for segments in to.render_lines(table, to.options.update_width(width), pad=False):
        to.print(Text("".join(segment.text for segment in segments).rstrip()), soft_wrap=True)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if type(value) is int else one_line(str(value))


def _frame(
    view: TrajectoryView, steps: tuple[StepLine, ...], trajectory: Trajectory, width: int
) -> Table:
    frame = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    frame.add_column(style="dim", no_wrap=True)
    frame.add_column(overflow="ellipsis")
    frame.add_row("run", Text(view.run_id, style="bold"))
    if view.facts:
        frame.add_row("", Text(" · ".join(f"{label} {value}" for label, value in view.facts)))
    frame.add_row("asked", _paragraph(view.asked))
    frame.add_row("", "")
    for row in view.rows(steps):
        if isinstance(row, StepLine):
            _add_step(frame, row, width - _MARGIN)
        else:
            frame.add_row("", Text(f"⏸ {row.text}", style=_STYLES[row.tone]))
    hidden = len(view.steps) - len(steps)
    if hidden:
        frame.add_row("", Text(f"{hidden} model turns are not shown (--all)", style="dim"))
    if not view.steps:
        frame.add_row("", Text("no step was recorded", style="yellow"))
    frame.add_row("", "")
    frame.add_row("said", _paragraph(view.said))
    frame.add_row("outcome", Text(view.outcome.text, style=_STYLES[view.outcome.tone]))
    if trajectory.run["error_type"] or trajectory.run["error_message"]:
        frame.add_row("error", Text(_run_error(trajectory), style=_STYLES[Tone.BAD]))
    for number, gap in enumerate(view.gaps):
        frame.add_row("gaps" if number == 0 else "", Text(gap, style=_STYLES[Tone.DOUBTFUL]))
    if not view.gaps:
        frame.add_row("gaps", Text("none", style="dim"))
    if view.joined:
        frame.add_row("", Text(view.joined, style="dim"))
    return frame


def _run_error(trajectory: Trajectory) -> str:
    run = trajectory.run
    return ": ".join(part for part in (run["error_type"], run["error_message"]) if part)


def _paragraph(text: str | None) -> Text:
    if text is None:
        return Text("not recorded", style="yellow")
    paragraph = Text(text)
    paragraph.truncate(_PARAGRAPH, overflow="ellipsis")
    return paragraph


def _add_step(frame: Table, line: StepLine, width: int) -> None:
    style = _STYLES[line.tone]
    margin = f"{'∥' if line.parallel else ' '}{line.number:>4}"
    text = Text(line.title, style=style or "bold")
    if line.kind:
        text.append(f" [{line.kind}]", style="dim not bold")
    for part in _fitted(line.call, line.result, width - len(text)):
        text.append(part, style=style or "default not bold")
    text.no_wrap = True
    frame.add_row(margin, text)
    for mark in line.marks:
        frame.add_row("", Text(f"  {_sign(mark.tone)} {mark.text}", style=_STYLES[mark.tone]))


def _fitted(call: str, result: str | None, width: int) -> Iterator[str]:
    """Cut a call and its result to one line: each gets half, and what the other leaves over."""
    before, between = len("  "), len("  → ")
    room = width - before - (0 if result is None else between)
    if call:
        yield f"  {cut(call, max(room - len(result or ''), room // 2))}"
        room -= min(len(call), max(room - len(result or ""), room // 2))
    if result is not None:
        yield f"  → {cut(result, room)}"


def _sign(tone: Tone) -> str:
    return {Tone.BAD: "✗", Tone.DOUBTFUL: "!"}.get(tone, "·")
