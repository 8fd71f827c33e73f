"""What the rules ask of their fields beyond a kind, as JSON Schema: for editors (`policy_schema`).

1. Names are not empty and have no blanks around them; what must be found in a text is not blank.
2. Bounds of numbers and least lengths of lists, and which fields a rule cannot do without.
3. What compares two values (`min` with `max`), or rules with each other, no JSON Schema says; nor
   that 2.0 is no whole number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from trackway_analyzer.rules.budgets import LIMITS

Schema = dict[str, Any]

NAME: Final[Schema] = {"type": "string", "pattern": r"^\S([\s\S]*\S)?$"}
_SAYS: Final[Schema] = {"pattern": r"\S"}
_SOME: Final[Schema] = {"minItems": 1}
_FROM_0: Final[Schema] = {"minimum": 0}
_LOOP: Final[Schema] = {"anyOf": [{"const": 0}, {"minimum": 2}]}
_LISTED: Final = ("Exact", "InOrder", "AnyOrder", "AtLeast", "AtMost")
_CHECKS: Final = ("equals", "regex", "one_of", "within", "schema")

OF_FIELD: Final[Mapping[tuple[str, str], Schema]] = {
    **{("Count", name): _FROM_0 for name in ("min", "max", "exactly")},
    ("Called", "times"): {"minimum": 1},
    **{("Budget", name): _FROM_0 for name in LIMITS},
    **{("NoLoops", name): _LOOP for name in ("identical", "cycles", "stagnation")},
    **{(rule, "tool_names"): _SOME | _SAYS | {"items": _SAYS} for rule in ("Forbidden", "Allowed")},
    **{(rule, "calls"): _SOME for rule in _LISTED},
    ("StepRegex", "pattern"): _SAYS,
    ("Claim", "says"): _SAYS,
    **{("Answer", name): _SAYS | {"items": _SAYS} for name in ("contains", "matches")},
    ("Arguments", "one_of"): {"additionalProperties": {"type": "array", "minItems": 1}},
}
"""Of a field of a class of rules, what its type does not say."""
OF_SHORT: Final[Mapping[str, Schema]] = dict.fromkeys(("PartialOrder", "Answer", "Terminal"), _SOME)
"""Of the short form of a class of rules."""


def _one(names: Iterable[str], least: Schema | None = None) -> Schema:
    """One of these fields at least, with something in it."""
    return {"anyOf": [{"required": [name], "properties": {name: least or {}}} for name in names]}


_FILLED: Final[Schema] = {"minItems": 1, "minProperties": 1}
OF_RULE: Final[Mapping[str, Schema]] = {
    "Count": {
        "oneOf": [
            {"required": ["exactly"], "not": _one(["min", "max"])},
            {"not": {"required": ["exactly"]}, **_one(["min", "max"])},
        ]
    },
    "Budget": _one(LIMITS),
    "Answer": {
        "anyOf": [
            *_one(["contains", "matches", "agrees"], _FILLED)["anyOf"],
            *_one(["grounded"], {"const": True})["anyOf"],
        ]
    },
    "Terminal": {
        "anyOf": [
            *_one(["action", "category"], _FILLED)["anyOf"],
            *_one(["claimed"])["anyOf"],
        ]
    },
    **{rule: _one(["calls"], {"minItems": 1}) for rule in _LISTED},
    "PartialOrder": _one(["edges", "tools"], _FILLED),
    "Arguments": {
        "allOf": [
            _one([*_CHECKS, "absent", "where"], _FILLED),
            {
                "if": {"properties": {"exact": {"const": True}}, "required": ["exact"]},
                "then": _one(["equals"], _FILLED),
            },
        ]
    },
}
"""Of a class of rules, which of its fields it needs."""
