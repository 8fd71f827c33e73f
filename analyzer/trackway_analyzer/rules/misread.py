"""Which names in a rule may be misspellings of what is declared?

1. A rule reads results of tools and entity types (`from`, `where`, `guard`, `granted`, `relation`,
   `agrees`). A name that is neither may be an argument of the call, and is no fault; spelt nearly
   as one of them, or as `input`, it may be meant for it.
2. Other names are compared with what is declared for their place (`misnamed`): the argument that
   names a tool's entity, the type of an entity with those that lookups return, the category of the
   last action with those of the tools. A category is no kind: `mutate` is none.
3. A `between` that nothing closes is told of as well (`open_windows`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Final, NamedTuple

from trackway.schema import StepKind
from trackway_analyzer.rules.grounding import Grounded
from trackway_analyzer.rules.occurrence import Called
from trackway_analyzer.rules.offered import INPUT
from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.precedence import Responds
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.source_path import source_path
from trackway_analyzer.rules.terminal import Terminal, category_of
from trackway_analyzer.rules.tools import MUTATE, Tools
from trackway_analyzer.rules.windows import Between

_SPLITS: Final = re.compile(r"^[^\W\d]\w*[.\[]|^[\"']")
"""A name with a path behind it, or in quotes."""
_NEARLY: Final = 0.85
"""From 0 to 1: how alike two names are of which one may be the other misspelt."""
_SHORT_NEARLY: Final = 0.8
"""The same of a word of five letters, of which two may be exchanged."""


def misread(rule: Rule, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Names that a rule reads and that nobody knows, each with the known one that is meant."""
    for text in sorted(rule.reads_names()):
        names = (text, source_path(text)[0] if _SPLITS.search(text) else text)
        if any(name in known for name in names):
            continue
        for name in names:
            near = _near(name, known) or (
                INPUT if get_close_matches(name, [INPUT], cutoff=_SHORT_NEARLY) else None
            )
            if near:
                yield name, near
                break


class Doubt(NamedTuple):
    """A name that may be misspelt, and the words that say so."""

    name: str
    text: str


def misnamed(rule: Rule, tools: Tools) -> Iterator[Doubt]:
    """Names of a rule that are not those declared for their place."""
    yield from _arguments(rule, tools)
    yield from _types(rule, tools)
    yield from misnamed_categories(rule, tools)


def misnamed_types(tools: Tools) -> Iterator[tuple[str, Doubt]]:
    """(tool whose declaration names an entity type that no lookup returns, the doubt)."""
    given = _given(tools)
    for name, spec in tools.items():
        if near := _near(spec.entity.type, given):
            yield name, Doubt(spec.entity.type or "", _no_type(spec.entity.type or "", near))


def _arguments(rule: Rule, tools: Tools) -> Iterator[Doubt]:
    for tool, argument in _named_arguments(rule):
        spec = tools.get(tool)
        declared = None if spec is None else spec.entity.argument
        if declared is not None and (near := _near(argument, [declared])):
            yield Doubt(
                argument,
                f"{argument} is not the argument of {tool} that is declared to name its entity,"
                f" did you mean {near}?",
            )
        elif declared not in (None, argument) and _asks_for_entity(rule, tools):
            yield Doubt(
                argument,
                f"{argument} is not the argument of {tool} that is declared to name its entity, and"
                f" only that comes from {spec.entity.type if spec else None}: did you mean"
                f" {declared}?",
            )


def _asks_for_entity(rule: Rule, tools: Tools) -> bool:
    """Whether a rule asks that an argument is an id of the type that the tool is about."""
    if not isinstance(rule, Grounded) or rule.tool not in tools:
        return False
    return rule.sources == (tools[rule.tool].entity.type,)


def _named_arguments(rule: Rule) -> Iterator[tuple[str, str]]:
    """(tool, argument of it that a rule names in full)."""
    for spec in _steps(rule):
        if spec.tool is not None and spec.entity_arg is not None:
            yield spec.tool, spec.entity_arg
    tool = getattr(rule, "tool", None)
    for field in ("argument", "per"):
        argument = getattr(rule, field, None)
        if isinstance(tool, str) and isinstance(argument, str):
            yield tool, argument


def _types(rule: Rule, tools: Tools) -> Iterator[Doubt]:
    for spec in _steps(rule):
        tool = tools.get(spec.tool or "")
        declared = None if tool is None else tool.entity.type
        known = _given(tools) if declared is None else {*_given(tools), declared}
        if spec.entity_type is not None and (near := _near(spec.entity_type, known)):
            yield Doubt(spec.entity_type, _no_type(spec.entity_type, near))


def misnamed_categories(rule: Rule, tools: Collection[str]) -> Iterator[Doubt]:
    """Categories of the last action that no tool has."""
    if not isinstance(rule, Terminal):
        return
    known = {category_of(name) for name in tools}
    kinds = [kind.value for kind in StepKind]
    for category in rule.category:
        if category in known:
            continue
        kind = category if category in kinds else _near(category, kinds)
        if near := _near(category, known):
            yield Doubt(category, f"{category} is no category of a tool, did you mean {near}?")
        elif kind is not None:
            yield Doubt(
                category,
                f"{category} is no category of a tool: that is its name up to the first dot, while"
                f" {kind} is a kind",
            )


def open_windows(rules: Collection[Rule]) -> Iterator[tuple[Rule, str]]:
    """(a `between` of which nothing says whether its end must come, what to write)."""
    ended = {rule.second for rule in rules if isinstance(rule, Responds)}
    ended |= {rule.tool for rule in rules if isinstance(rule, Called)}
    for rule in rules:
        if isinstance(rule, Between) and rule.required is None and rule.end not in ended:
            yield (
                rule,
                f"a run in which {rule.end} never comes keeps it: say required: true where it must"
                " come after each successful"
                f" {rule.tool}, required: false where it need not",
            )


def _steps(rule: Rule) -> Iterator[StepSpec]:
    return (spec for spec in getattr(rule, "specs", ()) if isinstance(spec, StepSpec))


def _given(tools: Tools) -> set[str]:
    """Types of entities that lookups return."""
    return {
        spec.entity.type
        for spec in tools.values()
        if spec.entity.type is not None and spec.entity.argument is None and spec.kind != MUTATE
    }


def _near(name: str | None, known: Collection[str]) -> str | None:
    """The known name that an unknown one may be meant for."""
    if name is None or name in known:
        return None
    near = get_close_matches(name, list(known), n=1, cutoff=_NEARLY)
    return near[0] if near else None


def _no_type(name: str, near: str) -> str:
    return f"{name} is no entity type that a lookup returns, did you mean {near}?"
