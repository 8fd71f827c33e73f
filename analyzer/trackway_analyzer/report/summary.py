"""Totals and tools of some runs, for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from rich.console import Console

from trackway_analyzer.measure import PassRate, PassSet
from trackway_analyzer.report.terminal import print_table
from trackway_analyzer.summary import Totals


def print_stats(totals: Totals, tools: pa.Table, to: Console) -> None:
    """Print totals, then one row a tool."""
    print_table(("", "total", ""), _rows(totals), to)
    if len(tools):
        to.print()
        header = [name.replace("_", " ") for name in tools.schema.names]
        print_table(header, [list(row.values()) for row in tools.to_pylist()], to)


def print_passes(sets: Sequence[PassSet], to: Console, *, set_aside: int = 0) -> None:
    """Print pass^k of each set, one table a set, with how much that may be runs is in none."""
    for each in sets:
        to.print()
        to.print(set_text(each), highlight=False)
        if set_aside and each.passes:
            things = "1 thing that was" if set_aside == 1 else f"{set_aside:,} things that were"
            to.print(f"without {things} set aside and may have been runs", highlight=False)
        if each.passes:
            print_table(("k", "pass^k"), [(rate.k, rate_text(rate)) for rate in each.passes], to)


def set_name(each: PassSet) -> str:
    """Name a set by what tells it from others."""
    parts = (("suite", each.suite_id), ("", each.variant), ("version", each.agent_version))
    named = [f"{word} {name}".strip() for word, name in parts if name is not None]
    return ", ".join(named) or "all runs"


def set_text(each: PassSet) -> str:
    """Say what a set consists of: `gpt-4.1: 10 of 20 runs succeeded; 20 tasks × 1 trial`."""
    text = f"{set_name(each)}: {each.succeeded:,} of {each.runs:,} runs succeeded"
    if each.not_judged:
        text += f", {each.not_judged:,} were not judged"
    if each.refused:
        return f"{text}; no pass^k, for {each.refused}"
    fewest, most = each.fewest_trials, each.most_trials
    trials = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    tasks = f"{each.tasks:,} task{'s' if each.tasks > 1 else ''}"
    text += f"; {tasks} × {trials} trial{'s' if most > 1 else ''}"
    if each.repeated:
        text += f"; {each.repeated:,} runs repeat a task and trial: are these several sets?"
    return text


def rate_text(rate: PassRate) -> str:
    """Write a rate with four decimals; as a range where runs were not judged."""
    if rate.low == rate.high:
        return f"{rate.low:.4f}"
    return f"{rate.low:.4f} to {rate.high:.4f}"


def _rows(totals: Totals) -> Iterator[tuple[str, object, str]]:
    yield "runs", totals.runs, ""
    yield "sessions", totals.sessions, ""
    yield "tasks", totals.tasks, ""
    yield "succeeded", totals.succeeded, f"{totals.not_judged:,} not judged"
    yield "failed", totals.failed, ""
    yield "variants", totals.variants, ""
    yield "with gaps", totals.runs_with_gaps, ""
    for name, total in totals.summed.items():
        known = [] if total.of == totals.runs else [f"recorded by {total.of:,} of {totals.runs:,}"]
        if total.lacking_calls:
            calls = f"{total.lacking_calls:,} model call{'s' if total.lacking_calls > 1 else ''}"
            known.append(f"without {calls} that recorded none")
        title = name.replace("_", " ").replace("duration s", "seconds")
        yield title, total.value, ", ".join(known)
