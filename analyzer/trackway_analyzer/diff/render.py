"""A diff as text for a person: the verdict line, the alignment side by side, then the sentences.

Long stretches of equal steps fold into one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from trackway_analyzer.diff.result import Row, TrajectoryDiff
from trackway_analyzer.model import Step

_FOLD_FROM = 4
_EDGE = 1


def diff_text(diff: TrajectoryDiff) -> str:
    """Write the whole report."""
    blocks = [
        [_headline(diff), f"  reference {diff.reference_run}, candidate {diff.candidate_run}"]
    ]
    if diff.rows:
        blocks.append(list(_table(diff.rows)))
    blocks += [
        [f"{title}:", *(f"  {sentence}" for sentence in found)]
        for title, found in (
            ("failures", diff.failures),
            ("warnings", diff.warnings),
            ("not enough evidence", diff.insufficient),
            ("results that differ", _results(diff)),
            ("volatile, not compared", diff.masked),
        )
        if found
    ]
    return "\n\n".join("\n".join(_printable(line) for line in block) for block in blocks)


def _printable(line: str) -> str:
    """Control characters as their escape: a trace cannot paint the reader's terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def _headline(diff: TrajectoryDiff) -> str:
    counts = [
        f"{diff.matched_steps} matched",
        f"{diff.drifted_steps} drifted",
        f"{len(diff.missing_in_candidate)} missing",
        f"{len(diff.unexpected_in_candidate)} unexpected",
        f"{len(diff.reordered)} reordered",
    ]
    return f"{diff.status}: {', '.join(counts)}"


def _results(diff: TrajectoryDiff) -> tuple[str, ...]:
    """Result drift that counts for nothing; what counts stands among the warnings or failures."""
    counted = {*diff.failures, *diff.warnings}
    return tuple(d.sentence for d in diff.result_drift if d.sentence not in counted)


def _table(rows: Iterable[Row]) -> Iterator[str]:
    cells = [(_mark(row), _cell(row.reference), _cell(row.candidate)) for row in rows]
    width = max(len("reference"), *(len(reference) for _, reference, _ in cells))
    yield f"    {'reference':<{width}}  candidate"
    for same, group in groupby(cells, key=lambda cell: cell[0] == " "):
        lines = [f"  {mark} {left:<{width}}  {right}".rstrip() for mark, left, right in group]
        if same and len(lines) >= _FOLD_FROM + 2 * _EDGE:
            middle = f"    … {len(lines) - 2 * _EDGE} equal steps"
            lines = [*lines[:_EDGE], middle, *lines[-_EDGE:]]
        yield from lines


def _mark(row: Row) -> str:
    if row.candidate is None:
        return "-"
    if row.reference is None:
        return "+"
    return "~" if any(d.level != "ok" for d in row.differences) else " "


def _cell(step: Step | None) -> str:
    return "" if step is None else f"{step.number} {step.tool}"
