"""A JSON Schema in a policy is looked at when it is read, and nothing is fetched for it."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from trackway_analyzer.rules import Arguments, Policy
from trackway_analyzer.rules.json_schema import FORMATS, checked_schema
from trackway_analyzer.rules.located import PolicyError

DRAFT7 = "http://json-schema.org/draft-07/schema#"
TREE = {"properties": {"left": {"$ref": "#"}, "value": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"typ": "integer"}, "`typ` is no keyword of JSON Schema, did you mean type"),
        ({"properties": {"a": {"maximun": 3}}}, "did you mean maximum"),
        ({"items": {"anyOf": [{"requird": ["a"]}]}}, "did you mean required"),
        ({"nullable": True}, "`nullable` is no keyword"),
        ({"dependencies": {"a": ["b"]}}, "`dependencies` is no keyword"),
        ({"type": "intger"}, "no JSON Schema: 'intger'"),
        ({"properties": {"a": {"pattern": "("}}}, "no JSON Schema: '\\('"),
        ({"$schema": "draft 9", "type": "object"}, "must be a draft of JSON Schema"),
        ({"$ref": "#/$defs/b", "$defs": {"a": {}}}, "must lead to a place in the schema"),
        ({"$ref": "http://localhost:1/x"}, "nothing is fetched"),
        ({"$ref": "other.json"}, "nothing is fetched"),
        ({"allOf": [{"$dynamicRef": "#node"}]}, "must lead to a place in the schema"),
        ({"$ref": "#"}, "leads back to itself"),
        ({"anyOf": [{"required": ["a"]}, {"$ref": "#"}]}, "leads back to itself"),
        ({"format": "emial"}, "found 'emial', did you mean email"),
        ({"properties": {"a": {"format": "int64"}}}, "must be one that is checked"),
    ],
)
def test_what_would_check_nothing_or_something_else_is_refused(
    schema: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Arguments("a", schema=schema)


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"required": ["x"]}}}, {"x": 1}, {}),
        ({"$schema": DRAFT7, "dependencies": {"a": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}),
        (
            {"$schema": DRAFT7, "definitions": {"a": {"type": "string"}}}
            | {"properties": {"x": {"$ref": "#/definitions/a"}}},
            {"x": "1"},
            {"x": 1},
        ),
        (TREE, {"left": {"left": {"value": 1}}}, {"left": {"left": {"value": "1"}}}),
        ({"$id": "http://shop.example/order", **TREE}, {"value": 1}, {"left": {"value": "1"}}),
        ({"x-internal": 1, "minProperties": 1}, {"a": 1}, {}),
        ({"properties": {"typ": {"const": 1}}}, {"typ": 1}, {"typ": 2}),
        ({"properties": {"mail": {"format": "email"}}}, {"mail": "a@b.c"}, {"mail": "a"}),
    ],
)
def test_what_a_schema_says_is_checked(
    schema: dict[str, Any], right: dict[str, Any], wrong: dict[str, Any]
) -> None:
    assert checked_schema(schema).is_valid(right)
    assert not checked_schema(schema).is_valid(wrong)


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-01-01T00:00:00.5Z", "2026-13-01T00:00:00Z"),
        ("date-time", "2026-01-01T23:59:60+01:00", "2026-01-01"),
        ("time", "12:00:00Z", "25:00:00Z"),
        ("email", "ann@example.com", "ann@"),
        ("hostname", "shop.example", "a_b"),
        ("uri", "https://shop.example/x", "/x"),
        ("uuid", "550e8400-e29b-41d4-a716-446655440000", "550e8400"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", ":::1"),
        ("regex", "a+", "("),
    ],
)
def test_formats_are_checked_of_texts(form: str, right: str, wrong: str) -> None:
    assert FORMATS.conforms(right, form)
    assert not FORMATS.conforms(wrong, form)
    assert FORMATS.conforms(5, form)


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **_: opened.append(where) or [])
    for where in ("http://localhost:1/x", "https://json-schema.org/draft/2020-12/other"):
        with pytest.raises(ValueError, match="nothing is fetched"):
            Arguments("a", schema={"properties": {"x": {"$ref": where}}})
    assert opened == []


@pytest.mark.parametrize(
    ("written", "line"),
    [("{typ: integer}", 7), ("{$ref: 'http://localhost:1/x'}", 7), ("{format: emial}", 7)],
)
def test_it_is_told_with_its_line(written: str, line: int) -> None:
    policy = (
        "version: 1\nrules:\n  - arguments:\n      tool: a\n      schema:\n"
        f"        properties:\n          x: {written}\n"
    )
    with pytest.raises(PolicyError) as refused:
        Policy.from_yaml(policy)
    assert f"policy:{line}: arguments: " in str(refused.value)
