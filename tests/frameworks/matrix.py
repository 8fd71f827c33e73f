"""The page docs/frameworks.md, written from what the tests found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Final

from frameworks.catalogue import ENVIRONMENTS, FRAMEWORKS, Framework
from frameworks.features import FEATURES, GAPS, NOTES, not_applicable
from frameworks.record import python_of, runs_of
from frameworks.together import table as together_table

YES: Final = "✓"
FAILED: Final = "✗"
NONE: Final = "–"

Cells = Mapping[tuple[str, str], str]
"""(framework, feature) → what the table shows."""

_HEAD: Final = (
    "One refund agent, written as a person of each framework would write it, runs against a "
    "scripted model endpoint (`@copilotkit/aimock`) in an environment of its own. It is recorded "
    "with `trackway.configure()` and `trackway.instrument()`, and the analyzer has to give back "
    "what the script says: calls, values, ids, tokens, order."
)
_HOW: Final = (
    "`make frameworks` builds the environments, lets the agents run and writes this page. Every "
    f"{YES} is a test that passed, every number a gap with its reason below; a gap that closes "
    "fails the tests until it is taken off the list."
)

_TOGETHER: Final = (
    "Each extra gets its newest framework, and most of them together, too. Where two of these are "
    "in one environment, one is held back at an older version; install them apart."
)


def expected_cells() -> dict[tuple[str, str], str]:
    """What the table has to show, as `features` declares it."""
    numbers = {reason: str(n) for n, reason in enumerate(dict.fromkeys(GAPS.values()), 1)}
    letters = {
        text: f"{YES}{chr(96 + n)}" for n, text in enumerate(dict.fromkeys(NOTES.values()), 1)
    }
    cells: dict[tuple[str, str], str] = {}
    for name, framework in FRAMEWORKS.items():
        for feature in FEATURES:
            place = name, feature
            cells[place] = letters[NOTES[place]] if place in NOTES else YES
            if not_applicable(framework, feature):
                cells[place] = NONE
            elif place in GAPS:
                cells[place] = numbers[GAPS[place]]
    return cells


def page(cells: Cells, today: date) -> str:
    """Return the whole page."""
    parts = ["# Frameworks", _HEAD, _HOW, f"Run on {today}.", _table(cells)]
    if GAPS:
        parts.append("## What is not to be had")
        parts.append(_listed(dict.fromkeys(GAPS.values()), "1"))
    if NOTES:
        parts.append("## Remarks")
        parts.append(_listed(dict.fromkeys(NOTES.values()), "a"))
    reasons = dict.fromkeys(
        reason
        for framework in FRAMEWORKS.values()
        for feature in FEATURES
        if (reason := not_applicable(framework, feature))
    )
    parts.append("\n".join(f"{NONE}: {reason}." for reason in reasons))
    parts += ["## What each column asks", _columns(), "## What ran", _versions()]
    parts += ["## Extras that do not go together", _TOGETHER, together_table()]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _table(cells: Cells) -> str:
    titles = [feature.title for feature in FEATURES.values()]
    lines = [f"| framework | {' | '.join(titles)} |", f"|---|{':-:|' * len(titles)}"]
    for name, framework in FRAMEWORKS.items():
        row = [cells.get((name, feature), FAILED) for feature in FEATURES]
        lines.append(f"| {framework.title} | {' | '.join(row)} |")
    return "\n".join(lines)


def _listed(texts: Mapping[str, None], first: str) -> str:
    marks = (chr(ord(first) + n) if first == "a" else str(n + 1) for n in range(len(texts)))
    return "\n\n".join(f"{mark}: {text}." for mark, text in zip(marks, texts, strict=True))


def _columns() -> str:
    lines = ["| column | holds if |", "|---|---|"]
    return "\n".join(lines + [f"| {f.title} | {f.means} |" for f in FEATURES.values()])


def _versions() -> str:
    lines = ["| framework | versions | recorded by |", "|---|---|---|"]
    for framework in FRAMEWORKS.values():
        shown = ENVIRONMENTS[framework.environment].shown
        installed = _installed(framework.environment)
        versions = ", ".join(f"{name} {installed.get(name, '?')}" for name in shown)
        lines.append(f"| {framework.title} | {versions} | {_recorded_by(framework)} |")
    return "\n".join(lines)


def _installed(environment: str) -> dict[str, str]:
    path = python_of(environment).parents[1] / "versions.json"
    found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _recorded_by(framework: Framework) -> str:
    path = Path(f"{runs_of(framework.name, 'happy')}/state.report")
    entries = json.loads(path.read_text()) if path.exists() else []
    return ", ".join(
        f"{library}: its own spans" if by == "native" else f"{by} {version}"
        for library, by, version in entries
    )
