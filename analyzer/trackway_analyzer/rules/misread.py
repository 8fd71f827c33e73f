"""Which names in a rule may be misspellings of what is declared?

A rule reads results of tools and entity types (`from`, `where`, `guard`, `granted`, `relation`). A
name that is neither may be an argument of the call, and is no fault; spelt nearly as one of them,
it may be meant for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Final

from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.source_path import source_path
from trackway_analyzer.rules.tools import Tools

_SPLITS: Final = re.compile(r"^[^\W\d]\w*[.\[]|^[\"']")
"""A name with a path behind it, or in quotes."""
_NEARLY: Final = 0.85
"""From 0 to 1: how alike two names are of which one may be the other misspelt."""


def misread(rule: Rule, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Names that a rule reads and that nobody knows, each with the known one that is meant."""
    for text in sorted(rule.reads_names()):
        names = (text, source_path(text)[0] if _SPLITS.search(text) else text)
        if any(name in known for name in names):
            continue
        for name in names:
            if near := get_close_matches(name, list(known), n=1, cutoff=_NEARLY):
                yield name, near[0]
                break


def misnamed_entities(rule: Rule, tools: Tools) -> Iterator[tuple[str, str, str]]:
    """(tool, argument of a step, the declared argument that is meant)."""
    specs = getattr(rule, "specs", ())
    for spec in (spec for spec in specs if isinstance(spec, StepSpec)):
        tool = tools.get(spec.tool or "")
        declared = None if tool is None else tool.entity.argument
        if spec.entity_arg is None or declared is None or declared == spec.entity_arg:
            continue
        if get_close_matches(spec.entity_arg, [declared], n=1, cutoff=_NEARLY):
            yield spec.tool or "", spec.entity_arg, declared
