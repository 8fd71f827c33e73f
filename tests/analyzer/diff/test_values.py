"""Where two JSON values differ."""

from __future__ import annotations

from typing import Any

import pytest

from trackway_analyzer.diff.values import (
    ABSENT,
    Change,
    changes,
    is_identifier,
    mentions,
    path_text,
)


def differing(reference: Any, candidate: Any) -> list[tuple[str, Any, Any]]:
    return [(c.path, c.reference, c.candidate) for c in changes(reference, candidate)]


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": True}, {"a": 1}, [("$.a", True, 1)]),
        ({"a": None}, {}, [("$.a", None, ABSENT)]),
        ({}, {"a": None}, [("$.a", ABSENT, None)]),
        ({"a": []}, {"a": {}}, [("$.a", [], {})]),
        ({"a": "1"}, {"a": 1}, [("$.a", "1", 1)]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("$.a.b[1]", 2, 3)]),
        ([1, 2, 3], [2, 3], [("$", [1, 2, 3], [2, 3])]),
        ("raw", "text", [("$", "raw", "text")]),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, [("$.b", 1, 2), ("$.a", 1, 2)]),
    ],
)
def test_values_differ_strictly_and_where_they_differ(
    reference: Any, candidate: Any, expected: list[tuple[str, Any, Any]]
) -> None:
    assert differing(reference, candidate) == expected


def test_deep_values_are_compared_without_recursion() -> None:
    reference: Any = 1
    candidate: Any = 2
    for _ in range(5000):
        reference, candidate = [reference], [candidate]

    (change,) = changes(reference, candidate)
    assert (change.reference, change.candidate) == (1, 2)


def test_what_is_masked_is_not_compared() -> None:
    masked = frozenset({("at",), ("items", 0, "id")})
    reference = {"at": 1, "items": [{"id": 1, "n": 1}]}
    candidate = {"at": {"x": 2}, "items": [{"id": 2, "n": 2}]}

    assert list(changes(reference, candidate, masked)) == [Change(("items", 0, "n"), 1, 2)]


def test_a_path_is_written_as_rfc_9535_has_it() -> None:
    assert path_text(("a", 0, "odd name", "it's")) == '$.a[0]["odd name"]["it\'s"]'


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("order_id", "abc", True),
        ("orderId", 17, True),
        ("count", 17, False),
        ("to", "ann@example.com", True),
        ("target", "A-1001", True),
        ("note", "see A-1001", False),
        ("tier", "gold", False),
        ("paid", False, False),
        ("valid", "yes", False),
    ],
)
def test_an_identifier_is_known_by_its_name_or_its_shape(
    name: str, value: Any, expected: bool
) -> None:
    assert is_identifier((name,), value) is expected


def test_texts_mention_the_ids_and_amounts_in_them() -> None:
    found = mentions({"body": "Order A-1001: we refunded $84.00, 2 items, to ann@example.com."})

    assert found.identifiers == {"A-1001", "ann@example.com"}
    assert found.numbers == {84.0}
