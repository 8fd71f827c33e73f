"""JSON values: equal under strict types, read at paths, shown in sentences."""

from __future__ import annotations

from typing import Any

import pytest

from trackway_analyzer.rules.values import (
    ABSENT,
    at_path,
    is_cut,
    is_number,
    is_redacted,
    is_singular,
    likeness,
    member_path,
    members,
    reader,
    same,
    shown,
    shown_apart,
    type_name,
)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (1, "1", False),
        (None, False, False),
        (None, None, True),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ([True], [1], False),
        ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([], {}, False),
        ({}, {}, True),
    ],
)
def test_types_are_strict(left: Any, right: Any, expected: bool) -> None:
    assert same(left, right) is expected
    assert same(right, left) is expected


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ({"a": 1}, "a", [1]),
        ({"a": None}, "a", [None]),
        ({"b": 1}, "a", []),
        ([{"a": 1}, {"b": 0}, 7, {"a": 2}], "a", [1, 2]),
        ({"x": {"a": 1}, "y": [{"a": 2}]}, "a", [1, 2]),
        ({"x": {"a": 1}, "a": 0}, "a", [0]),
        ({"a": {"b": [5, 6]}}, "a.b[1]", [6]),
        ({"a": {"b": [5, 6]}}, "$.a.b[1]", [6]),
        ({"a": {"b": [5, 6]}}, "$.a.b[2]", []),
        ({"a": {"b": [5, 6]}}, "$.a.c", []),
        ({"a": {"b": {}}}, "$.a.b[0]", []),
        ([7], "$.a", []),
        ([7, 8], "$[1]", [8]),
        (7, "$", [7]),
        ({"a": [{"b": 1}, {"b": 2}]}, "$.a[*].b", [1, 2]),
        ({"a": [{"b": 1}, {"b": 2}]}, "a[*].b", [1, 2]),
        ('{"a": 1}', "$.*", []),
        ({"a-b": 1}, "a-b", [1]),
        ({"a b": 1}, "$['a b']", [1]),
    ],
)
def test_a_path_or_a_plain_name_reads_a_list_of_values(
    value: Any, path: str, expected: list[Any]
) -> None:
    assert at_path(value, path) == expected


@pytest.mark.parametrize("path", ["$.a[", "a b", "", "$..["])
def test_a_wrong_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is no JSONPath: "):
        reader(path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("$.a.b[0]", True), ("$['a b']", True), ("$.a[*]", False), ("$..a", False), ("$", True)],
)
def test_a_path_yields_one_value_or_maybe_several(path: str, expected: bool) -> None:
    assert is_singular(path) is expected


def test_no_path_yields_any_number_of_values() -> None:
    with pytest.raises(ValueError, match=r"'\$\.a\[' is no JSONPath: "):
        is_singular("$.a[")


def test_a_value_is_walked_from_the_outside_in_its_own_order() -> None:
    value = {"a": [1, {"b c": None}], "d": "x"}

    assert list(members(value)) == [
        ("$", None, value),
        ("$.a", "a", value["a"]),
        ("$.a[0]", 0, 1),
        ("$.a[1]", 1, {"b c": None}),
        ('$.a[1]["b c"]', "b c", None),
        ("$.d", "d", "x"),
    ]
    assert [path for path, _, _ in members([1], "$.x")] == ["$.x", "$.x[0]"]


def test_a_member_is_named_plainly_where_its_name_allows_it() -> None:
    assert [member_path(name) for name in ("a_1", "é", "1a", "a-b")] == [
        ".a_1",
        ".é",
        '["1a"]',
        '["a-b"]',
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (42.0, "42.0"),
        (42, "42"),
        ("é", '"é"'),
        (None, "null"),
        (True, "true"),
        ({"a": [1, 2]}, '{"a":[1,2]}'),
        (ABSENT, "absent"),
        ("x" * 78, f'"{"x" * 78}"'),
        ("x" * 79, f'"{"x" * 78}…'),
    ],
)
def test_how_a_sentence_shows_a_value(value: Any, expected: str) -> None:
    assert shown(value) == expected
    assert len(shown(value)) <= 80


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 2, ("1", "2")),
        (1, "1", ("1 (number)", '"1" (text)')),
        ("a", 1.5, ('"a" (text)', "1.5 (number)")),
        (None, "a", ("null", '"a"')),
        ("a", ABSENT, ('"a"', "absent")),
        (True, 1, ("true", "1")),
        ([1], "1", ("[1]", '"1"')),
        ("1", {}, ('"1"', "{}")),
    ],
)
def test_different_values_look_different(left: Any, right: Any, expected: tuple[str, str]) -> None:
    assert shown_apart(left, right) == expected


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "bool"),
        (1, "number"),
        (1.5, "number"),
        ({}, "object"),
        ([], "list"),
        ("", "text"),
        (None, "null"),
        (ABSENT, "absent"),
    ],
)
def test_the_type_of_a_value_in_a_word(value: Any, name: str) -> None:
    assert type_name(value) == name
    assert is_number(value) is (name == "number")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a…[truncated 9 chars]", True),
        ("[truncated 9 items]", True),
        ("…", True),
        ("a… and more", False),
        ("[truncated 9 chars] and more", False),
        (["a", ["…"]], True),
        ({"a": {"b": "x…[truncated 1 keys]"}}, True),
        ({"…": "a"}, False),
        (["a"], False),
        ({}, False),
        (7, False),
    ],
)
def test_what_was_cut_says_so(value: Any, expected: bool) -> None:
    assert is_cut(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("my [redacted:email] address", True),
        (["a", ["[redacted:card]"]], True),
        ({"a": {"b": "[redacted:key_name]"}}, True),
        ({"[redacted:email]": "a"}, False),
        (["a"], False),
        ({"a": 1}, False),
        (7, False),
        ("redacted", False),
    ],
)
def test_what_was_taken_out_left_a_mark(value: Any, expected: bool) -> None:
    assert is_redacted(value) is expected


def test_likeness_is_a_share() -> None:
    assert likeness("A123", "A123") == 1
    assert 0.7 < likeness("A123", "A124") < 1
    assert likeness("xyz", 7) == 0


def test_absence_is_shown_as_what_it_is() -> None:
    assert repr(ABSENT) == "ABSENT"
