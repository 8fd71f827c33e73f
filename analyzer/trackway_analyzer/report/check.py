"""What a person reads of a check.

1. Rules are grouped by what they protect, safety first; below a rule one line a finding: the run,
   its task where one is recorded, and the sentence. Rules that nobody wrote are named only where
   they do not hold.
2. Runs in which a rule cannot be decided stand apart, under their own heading: they are no pass.
3. Of each rule at most `PER_RULE` findings are printed, and how many more there are.
4. The last line is the verdict, and how much of the source could not be read.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from trackway_analyzer.check import CheckReport, RuleCount, Verdict, finding_row, unread_text
from trackway_analyzer.report.shorten import one_line
from trackway_analyzer.rules.finding import Layer, Severity, State

PER_RULE: Final = 10

_LAYERS: Final = (Layer.SAFETY, Layer.OUTCOME, Layer.TRAJECTORY)
_VERDICTS: Final = {
    Verdict.PASS: ("pass", "bold green"),
    Verdict.VIOLATION: ("violation", "bold red"),
    Verdict.INSUFFICIENT: ("insufficient evidence: do not read this as a pass", "bold yellow"),
}


def print_report(report: CheckReport, to: Console, *, per_rule: int | None = PER_RULE) -> None:
    """Print a check; `per_rule=None` prints every finding."""
    numbered = list(enumerate(report.counts))
    for layer in _LAYERS:
        broken = [(i, c) for i, c in numbered if c.layer is layer and c.violated]
        _print_group(report, layer.value, State.VIOLATED, broken, to, per_rule)
    undecided = [(i, c) for i, c in numbered if c.insufficient]
    _print_group(report, "insufficient evidence", State.INSUFFICIENT, undecided, to, per_rule)
    written = [c for i, c in numbered if i not in report.policy.implied]
    held = [one_line(c.rule) for c in written if not c.violated and not c.insufficient]
    if held and len(report.checked):
        to.print(Text(f"held in every run: {', '.join(held)}", style="dim"), soft_wrap=True)
    for loss in report.naming[:_MOST_NAMING]:
        to.print(Text(f"  ? {one_line(str(loss))}", style="yellow"), soft_wrap=True)
    if len(report.naming) > _MOST_NAMING:
        more = len(report.naming) - _MOST_NAMING
        to.print(Text(f"      … and {more} more like it", style="dim"))
    to.print(_verdict(report), soft_wrap=True)


_MOST_NAMING: Final = 5


def report_json(report: CheckReport) -> dict[str, Any]:
    """A check as plain values: verdict, counts of each rule, every finding."""
    return {
        "verdict": report.verdict.value,
        "exit_code": report.exit_code,
        "runs": len(report.checked),
        "runs_kept": report.runs_kept,
        "unread": report.unread,
        "not_read_and_named": [str(loss) for loss in report.naming],
        "rules": [
            {
                "rule": count.rule,
                "layer": count.layer.value,
                "severity": count.severity.value,
                "violated": count.violated,
                "insufficient": count.insufficient,
            }
            for count in report.counts
        ],
        "findings": [finding_row(*found) for found in report.told()],
    }


def _print_group(
    report: CheckReport,
    title: str,
    state: State,
    rules: list[tuple[int, RuleCount]],
    to: Console,
    per_rule: int | None,
) -> None:
    if not rules:
        return
    to.print(Text(title, style="bold"))
    for index, count in rules:
        runs = count.violated if state is State.VIOLATED else count.insufficient
        to.print(_rule_line(count, state, runs), soft_wrap=True)
        for finding, task in islice(report.told(rule=index, state=state), per_rule):
            named = "" if task is None else f"task {one_line(task)}  "
            line = Text(f"      {one_line(finding.run_id)}  {named}", style="dim")
            to.print(line.append(one_line(finding.sentence), style="not dim"), soft_wrap=True)
        if per_rule is not None and runs > per_rule:
            to.print(Text(f"      … and {runs - per_rule} more (--all)", style="dim"))
    to.print()


def _rule_line(count: RuleCount, state: State, runs: int) -> Text:
    warning = count.severity is Severity.WARNING
    sign, style = ("?", "yellow") if state is State.INSUFFICIENT else ("✗", "red")
    if warning and state is State.VIOLATED:
        sign, style = "!", "yellow"
    line = Text(f"  {sign} {one_line(count.rule)}", style=style)
    if warning:
        line.append(" (warning)")
    return line.append(f"  {_runs(runs)}", style="default")


def _verdict(report: CheckReport) -> Text:
    words, style = _VERDICTS[report.verdict]
    broken = sum(count.violated for count in report.counts)
    undecided = sum(count.insufficient for count in report.counts)
    unread = f"; {unread_text(report.unread)}" if report.unread else ""
    line = Text(words, style=style)
    return line.append(
        f"  {_runs(len(report.checked))}, {report.runs_kept:,} without a finding; "
        f"{broken:,} violated, {undecided:,} undecided{unread}",
        style="default not bold",
    )


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"
