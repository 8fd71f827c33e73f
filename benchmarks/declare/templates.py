"""pm4py's templates as rules of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any, Final

from trackway_analyzer.rules import (
    Accompanied,
    Before,
    Called,
    Count,
    First,
    Immediately,
    Never,
    NotTogether,
    Responds,
    Rule,
    StepRegex,
    Together,
)

ALPHABET: Final = ("a", "b", "c", "d", "e")
About = tuple[str, Any]
"""A constraint: template, and the activity or pair that it is about."""
Rules = tuple[Rule, ...]
"""All of them have to hold."""

ONE: Final[dict[str, Callable[[str], Rules]]] = {
    "existence": lambda a: (Called(a),),
    "absence": lambda a: (Never(a),),
    "exactly_one": lambda a: (Count(a, exactly=1),),
    "init": lambda a: (First(a),),
}


def _regex(pattern: str) -> Rules:
    """An expression that passes over calls of tools that it does not name."""
    return (StepRegex(pattern, extra="allow"),)


def _alternate_response(a: str, b: str) -> Rules:
    return _regex(f"{b}* ({a} {b}+)*")


def _alternate_precedence(a: str, b: str) -> Rules:
    return _regex(f"({a}+ {b})* {a}*")


def _chain_precedence(a: str, b: str) -> Rules:
    others = " | ".join(name for name in ALPHABET if name not in (a, b))
    return _regex(f"({others} | {a} {b}?)*")


TWO: Final[dict[str, Callable[[str, str], Rules]]] = {
    "responded_existence": lambda a, b: (Accompanied(a, b),),
    "coexistence": lambda a, b: (Together(a, b),),
    "noncoexistence": lambda a, b: (NotTogether(a, b),),
    "response": lambda a, b: (Responds(a, b),),
    "precedence": lambda a, b: (Before(a, b),),
    "succession": lambda a, b: (Responds(a, b), Before(a, b)),
    "chainresponse": lambda a, b: (Immediately(a, b),),
    "chainprecedence": _chain_precedence,
    "chainsuccession": lambda a, b: (Immediately(a, b), *_chain_precedence(a, b)),
    "altresponse": _alternate_response,
    "altprecedence": _alternate_precedence,
    "altsuccession": lambda a, b: (*_alternate_response(a, b), *_alternate_precedence(a, b)),
}


def everything() -> list[About]:
    """All templates over all activities."""
    pairs = permutations(ALPHABET, 2)
    return [(name, a) for name in ONE for a in ALPHABET] + [
        (name, pair) for pair in pairs for name in TWO
    ]


def rules_of(about: About) -> Rules:
    """The rules that one constraint is."""
    name, activities = about
    return ONE[name](activities) if name in ONE else TWO[name](*activities)


def model_of(constraints: Iterable[About]) -> dict[str, dict[Any, dict[str, int]]]:
    """Constraints as pm4py takes them."""
    model: dict[str, dict[Any, dict[str, int]]] = {}
    for name, activities in constraints:
        model.setdefault(name, {})[activities] = {}
    return model
