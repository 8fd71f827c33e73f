"""Runs as HTML fragments, for notebooks.

1. It says what the terminal says, in the same order: both print `TrajectoryView`.
2. Styles are inline and colours readable on light and dark pages: no script, no page of its own.
3. Text from a trace is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from trackway_analyzer.model import Trajectory
from trackway_analyzer.report.shorten import cut, one_line
from trackway_analyzer.report.trajectory import (
    Mark,
    StepLine,
    Tone,
    TrajectoryView,
    trajectory_view,
)
from trackway_analyzer.summary import sequence_text

_STYLES: Final = {
    Tone.PLAIN: "",
    Tone.QUIET: "opacity:.65",
    Tone.BAD: "color:#d1242f;font-weight:600",
    Tone.DOUBTFUL: "color:#9a6700",
}
_TEXT_WIDTH: Final = 600


def trajectory_html(trajectory: Trajectory) -> str:
    """Render one run as an HTML fragment."""
    view = trajectory_view(trajectory)
    rows = [
        _step(row) if isinstance(row, StepLine) else _row("⏸", _mark(row))
        for row in view.rows(view.steps)
    ] or [_row("", "<i>no step was recorded</i>")]
    return "".join(
        [
            '<div style="font-size:13px;line-height:1.45;text-align:left">',
            f"<p>run <b>{escape(view.run_id)}</b>{_facts(view)}</p>",
            f"<p><b>asked</b> {_text(view.asked)}</p>",
            '<table style="border-collapse:collapse;font-size:13px"><tbody>',
            *rows,
            "</tbody></table>",
            f"<p><b>said</b> {_text(view.said)}</p>",
            f"<p><b>outcome</b> {_mark(view.outcome)}</p>",
            f"<p><b>gaps</b> {_gaps(view)}</p>",
            "</div>",
        ]
    )


def runs_html(runs: Iterable[Trajectory], total: int) -> str:
    """Render one row a run as an HTML fragment; `total` is how many there are."""
    rows = [_run_row(run) for run in runs]
    more = f"<p>… and {total - len(rows)} more</p>" if total > len(rows) else ""
    head = "".join(
        f'<th style="text-align:left">{name}</th>'
        for name in ("run", "task", "trial", "tools", "gaps")
    )
    return (
        f'<p>{total} runs</p><table style="font-size:13px"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{more}"
    )


def _run_row(trajectory: Trajectory) -> str:
    run = trajectory.run
    gaps = ", ".join(dict.fromkeys(gap.name for gap in trajectory.gaps))
    sequence = cut(one_line(sequence_text(trajectory)), _TEXT_WIDTH)
    cells = (trajectory.run_id, run["task_id"], run["trial"], sequence, gaps)
    return "<tr>" + "".join(_cell(value) for value in cells) + "</tr>"


def _cell(value: object) -> str:
    text = "" if value is None else escape(str(value))
    return f'<td style="text-align:left;vertical-align:top">{text}</td>'


def _facts(view: TrajectoryView) -> str:
    return "".join(f" · {escape(name)} {escape(value)}" for name, value in view.facts)


def _text(text: str | None) -> str:
    if text is None:
        return _mark(Mark("not recorded", Tone.DOUBTFUL))
    return escape(cut(text, _TEXT_WIDTH))


def _gaps(view: TrajectoryView) -> str:
    marks = [Mark(gap, Tone.DOUBTFUL) for gap in view.gaps] or [Mark("none", Tone.QUIET)]
    if view.joined:
        marks.append(Mark(view.joined, Tone.QUIET))
    return "<br>".join(_mark(mark) for mark in marks)


def _step(line: StepLine) -> str:
    kind = f' <span style="opacity:.65">[{escape(line.kind)}]</span>' if line.kind else ""
    result = "" if line.result is None else f" → {escape(line.result)}"
    marks = "".join(f"<br>{_mark(mark)}" for mark in line.marks)
    cell = (
        f'<span style="{_STYLES[line.tone]}"><b>{escape(line.title)}</b>{kind} '
        f"<code>{escape(line.call)}{result}</code></span>{marks}"
    )
    return _row(f"{'∥ ' if line.parallel else ''}{line.number}", cell)


def _row(margin: str, cell: str) -> str:
    return (
        '<tr><td style="text-align:right;vertical-align:top;opacity:.65">'
        f'{margin}</td><td style="text-align:left">{cell}</td></tr>'
    )


def _mark(mark: Mark) -> str:
    return f'<span style="{_STYLES[mark.tone]}">{escape(mark.text)}</span>'
