"""JSON Schema of the policy file, so that editors complete and check it.

Made from the rules themselves: their keys, the types of their fields, the first line of what they
mean. The published copy is `policy.schema.json` beside this module; a test holds the two together.
Write it anew with `python -m trackway_analyzer.rules.policy_schema`.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin

from trackway.schema import StepKind
from trackway_analyzer.rules.catalogue import ALIASES, RULES
from trackway_analyzer.rules.field_kinds import WRITTEN, hints_of
from trackway_analyzer.rules.finding import Severity
from trackway_analyzer.rules.matching import Exact
from trackway_analyzer.rules.pattern import StepSpec
from trackway_analyzer.rules.policy_file import (
    field_names,
    nullable_names,
    required_names,
    takes_a_text,
)
from trackway_analyzer.rules.rule import Rule
from trackway_analyzer.rules.schema_bounds import NAME, OF_FIELD, OF_RULE, OF_SHORT
from trackway_analyzer.rules.sequence import Sequence

PUBLISHED: Final = Path(__file__).with_name("policy.schema.json")
Schema = dict[str, Any]

_PLAIN: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {},
}
_LEFT_OUT: Final = frozenset({"references"})
"""Fields that a policy file cannot hold: they need another run."""


def policy_schema() -> Schema:
    """Return the JSON Schema (2020-12) of a policy file."""
    rules = {key: _rule(cls) for key, cls in RULES.items()}
    rules |= {alias: rules[key] for alias, key in ALIASES.items()}
    severity = {"enum": [severity.value for severity in Severity]}
    item = {
        "type": "object",
        "properties": {**rules, "severity": severity},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 2,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Trackway policy",
        "type": "object",
        "required": ["version", "rules"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": 1},
            "tools": {"type": ["object", "null"], "additionalProperties": _tool()},
            "rules": {"type": "array", "minItems": 1, "items": item},
        },
    }


def _tool() -> Schema:
    text = {"type": "string"}
    entity = {"type": text, "argument": text, "result": text}
    return _object(
        {
            "kind": {"enum": [kind.value for kind in StepKind]},
            "entity": _object(entity) | {"type": ["object", "null"]},
            "success": text,
        }
    )


def _object(properties: Schema, required: Iterable[str] = ()) -> Schema:
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": list(required)} if required else {})


def _row(items: list[Schema]) -> Schema:
    size = len(items)
    return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}


def _rule(cls: type[Rule]) -> Schema:
    hints = hints_of(cls)
    nullable = nullable_names(cls)
    names = [field.name for field in fields(cls) if field.name != "severity"]
    schemas = {
        name: _field(cls, name, hints[name], nullable) for name in names if name not in _LEFT_OUT
    }
    spelt = dict(zip(names, field_names(cls), strict=False))
    full = _object(
        {spelt[name]: schema for name, schema in schemas.items()}
        | {"severity": {"enum": [severity.value for severity in Severity]}},
        required_names(cls),
    ) | OF_RULE.get(cls.__name__, {})
    short = cls.short
    if not short:
        forms = [full]
    elif len(short) == 1:
        alone = _bounded(schemas[short[0]], OF_SHORT.get(cls.__name__, {}))
        forms = [alone, full]
        if takes_a_text(cls):
            forms.insert(1, _row([schemas[short[0]]]))
        if cls.short_of_lists:
            row = _row([schemas[name] for name in cls.short_of_lists])
            forms.insert(1, row | {"minItems": 1})
    else:
        forms = [_row([schemas[name] for name in short]), full]
    if not required_names(cls) and not {"anyOf", "minProperties"} & full.keys():
        forms.append({"type": "null"})
    meaning = (cls.__doc__ or "").splitlines()[0]
    return {"description": meaning, **(forms[0] if len(forms) == 1 else {"anyOf": forms})}


def _field(cls: type[Rule], name: str, hint: Any, nullable: list[str]) -> Schema:
    schema = _SPECIAL.get((name, cls.__module__)) or _type(hint)
    if name not in WRITTEN:
        schema = _named(schema)
    schema = _bounded(schema, OF_FIELD.get((cls.__name__, name), {}))
    if name in nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return schema


def _named(schema: Schema) -> Schema:
    """Texts as names, wherever they stand in a schema."""
    if schema == _PLAIN[str]:
        return dict(NAME)
    inner = {"items", "anyOf", "prefixItems"}
    return {
        key: ([*map(_named, value)] if isinstance(value, list) else _named(value))
        if key in inner
        else value
        for key, value in schema.items()
    }


def _bounded(schema: Schema, bounds: Schema) -> Schema:
    return schema if not bounds else {"allOf": [schema, bounds]}


def _step_field(name: str) -> Schema:
    if name == "kind":
        return {"enum": [kind.value for kind in StepKind]}
    if name == "optional":
        return {"type": "boolean"}
    return {"type": "string"} if name in WRITTEN else dict(NAME)


def _type(hint: Any) -> Schema:
    """Schema of a type as fields of rules use them; a type that says nothing allows anything."""
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        forms = [_type(argument) for argument in arguments if argument is not type(None)]
        distinct = [form for n, form in enumerate(forms) if form not in forms[:n]]
        return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type(arguments[1])}
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _row([_type(argument) for argument in arguments])
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return {"type": "array", "items": _type(arguments[0])}
    return {}


_STEP: Final = _object({field.name: _step_field(field.name) for field in fields(StepSpec)}) | {
    "anyOf": [{"required": ["tool"]}, {"required": ["kind"]}]
}
_CALL: Final[Schema] = {
    "anyOf": [
        {"type": "string"},
        _object({"tool": {"type": "string"}, "arguments": {}, "ok": {"type": "boolean"}}, ["tool"]),
    ]
}
_SPECIAL: Final[dict[tuple[str, str], Schema]] = {
    ("steps", Sequence.__module__): {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [{"type": "string"}, _STEP]},
    },
    ("calls", Exact.__module__): {
        "type": "array",
        "items": {"anyOf": [*_CALL["anyOf"], {"type": "array", "items": _CALL}]},
    },
}
"""Fields whose types say less than their readers, with the module of their rules."""

if __name__ == "__main__":
    PUBLISHED.write_text(json.dumps(policy_schema(), indent=2) + "\n", "utf-8")
