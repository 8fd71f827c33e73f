"""Is a JSON Schema one that can be held against arguments? Asked when it is read.

1. It is of the draft that its `$schema` names, else of 2020-12, and valid there. Keywords that this
   draft does not know are refused, but those that begin with `x-`: a misspelt one would check
   nothing.
2. `$ref` leads to a place in the schema itself or to a draft's own schema; nothing is ever fetched.
   A schema that leads back to itself without looking at a member is refused.
3. `format` is checked; one that nobody checks here is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time
from difflib import get_close_matches
from typing import Any, Final
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY as DRAFTS  # type: ignore[import-untyped]  # no py.typed
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, Schema

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_DRAFTS: Final = frozenset(uri.rstrip("#") for uri in DRAFTS)
_SAID: Final = frozenset(
    """
    $schema $id $anchor $dynamicAnchor $recursiveAnchor $comment $defs $vocabulary id definitions
    title description default examples deprecated readOnly writeOnly if then else minContains
    maxContains contentEncoding contentMediaType contentSchema additionalItems
    """.split()  # noqa: SIM905 - a word list reads better as one
)
"""Keywords that no validator acts on by themselves."""
_ANYTHING: Final[tuple[Any, ...]] = ({}, [], "", 0, True, None)
_TIME: Final = re.compile(r"\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})")
_DATE_TIME: Final = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}[Tt]{_TIME.pattern}")
_ADDRESS: Final = re.compile(r"[^\s@<>]+@[^\s@<>]+")
_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)


def checked_schema(schema: Any) -> Validator:
    """Return what holds values against a schema. Raises ValueError where nothing can."""
    draft = schema.get("$schema")
    cls = validator_for(schema, default=Draft202012Validator)
    if draft is not None and str(draft).rstrip("#") not in _DRAFTS:
        raise ValueError(f"`$schema` must be a draft of JSON Schema, found {draft!r}")
    try:
        cls.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"no JSON Schema: {error.message}") from error
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    registry = DRAFTS.with_resource(resource.id() or "", resource)
    known = _SAID | cls.VALIDATORS.keys()
    for resolver, contents in _places(registry.resolver_with_root(resource), resource):
        _refuse_keywords(contents, known)
        _refuse_references(contents, resolver)
    validator = cls(schema, registry=DRAFTS, format_checker=FORMATS)
    try:
        for value in _ANYTHING:
            validator.is_valid(value)
    except RecursionError:
        raise ValueError("no JSON Schema: it leads back to itself for ever") from None
    return validator


def _places(resolver: Any, resource: Resource[Schema]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Every schema inside a schema, itself first, with what resolves its references."""
    if isinstance(resource.contents, dict):
        yield resolver, resource.contents
    for inner in resource.subresources():
        yield from _places(resolver.in_subresource(inner), inner)


def _refuse_keywords(contents: dict[str, Any], known: frozenset[str]) -> None:
    for key in contents:
        if key not in known and not key.startswith("x-"):
            near = get_close_matches(key, known, n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            raise ValueError(f"`{key}` is no keyword of JSON Schema{hint}")
    form = contents.get("format")
    if form is not None and form not in FORMATS.checkers:
        near = get_close_matches(str(form), FORMATS.checkers, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ValueError(
            f"`format` must be one that is checked ({', '.join(sorted(FORMATS.checkers))}), found"
            f" {form!r}{hint}: a pattern says the same of a text"
        )


def _refuse_references(contents: dict[str, Any], resolver: Any) -> None:
    for key in _REFERENCES:
        if key in contents:
            try:
                resolver.lookup(contents[key])
            except Unresolvable:
                raise ValueError(
                    f"`{key}` must lead to a place in the schema itself, found {contents[key]!r}:"
                    " nothing is fetched, write what it says under $defs"
                ) from None


FORMATS: Final = FormatChecker(["date", "ipv4", "ipv6", "regex", "uuid"])
"""Formats that are checked, on every machine the same."""


def _text(value: object, like: re.Pattern[str]) -> bool:
    return not isinstance(value, str) or like.fullmatch(value) is not None


@FORMATS.checks("email")
def _is_address(value: object) -> bool:
    return _text(value, _ADDRESS)


@FORMATS.checks("hostname")
def _is_host(value: object) -> bool:
    return _text(value, _HOST)


@FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return bool(_DATE_TIME.fullmatch(value) and datetime.fromisoformat(_before_leap(value)))


@FORMATS.checks("time", raises=ValueError)
def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return bool(_TIME.fullmatch(value)) and time.fromisoformat(_before_leap(value)) is not None


def _before_leap(text: str) -> str:
    """A time that Python reads: it knows no leap seconds."""
    return text.upper().replace(":60", ":59")


@FORMATS.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or bool(
        re.fullmatch(r"[\x21-\x7e]+", value) and urlsplit(value).scheme
    )
