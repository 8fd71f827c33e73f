"""Which entities a value names: `type:id`, read at a path."""

from __future__ import annotations

import dataclasses
import enum
import uuid
from typing import Any

import pytest

from trackway.capture import capture_errors, entity_refs
from trackway.capture.errors import reset_capture_errors


class Region(enum.Enum):
    EU = "eu"


@dataclasses.dataclass
class Order:
    id: int
    lines: list[dict[str, Any]]


ORDER = Order(7, [{"sku": "a"}, {"sku": "b"}, {"sku": "a"}])


@pytest.mark.parametrize(
    ("value", "path", "refs"),
    [
        ({"id": "o1"}, "id", ("order:o1",)),
        ({"id": 5}, "id", ("order:5",)),
        ({"id": "ü1"}, "id", ("order:ü1",)),
        ({"order": {"id": "o1"}}, "order.id", ("order:o1",)),
        ({"order": {"id": "o1"}}, "$.order.id", ("order:o1",)),
        ({"items": [{"id": "a"}, {"id": "b"}]}, "items[*].id", ("order:a", "order:b")),
        ({"items": [{"id": "a"}, {"id": "b"}]}, "$.items[*].id", ("order:a", "order:b")),
        ({"items": [{"id": "a"}, {"id": "b"}]}, "items.id", ("order:a", "order:b")),
        ({"items": [{"id": "a"}, {"id": "b"}]}, "items[1].id", ("order:b",)),
        ({"items": [{"id": "a"}, {"id": "b"}]}, "items[-1].id", ("order:b",)),
        ([{"id": "a"}, {"id": "b"}], "id", ("order:a", "order:b")),
        ([{"id": "a"}, {"id": "b"}], "$.id", ()),
        ([{"id": "a"}, {"id": "b"}], "$[*].id", ("order:a", "order:b")),
        ({"ids": ["a", "b", "a"]}, "ids", ("order:a", "order:b")),
        ({"odd name": {"x.y": 1}}, "['odd name'][\"x.y\"]", ("order:1",)),
        ({"a": {"id": 1}, "b": {"id": 2}}, "*.id", ("order:1", "order:2")),
        ("o1", "$", ("order:o1",)),
        ('{"id": "o1"}', "id", ("order:o1",)),
        ('[{"id": 1}, {"id": 2}]', "id", ("order:1", "order:2")),
        (ORDER, "id", ("order:7",)),
        (ORDER, "lines[*].sku", ("order:a", "order:b")),
        ({"id": uuid.UUID(int=1)}, "id", ("order:00000000-0000-0000-0000-000000000001",)),
        ({"id": Region.EU}, "id", ("order:eu",)),
        ({"id": {"b": 1, "a": 2}}, "id", ('order:{"a":2,"b":1}',)),
        ({"id": "4111111111111111"}, "id", ("order:4111111111111111",)),
        ({"id": None}, "id", ()),
        ({"id": True}, "id", ()),
        ({"id": ""}, "id", ()),
        ({"name": "x"}, "id", ()),
        ("no json", "id", ()),
        (None, "id", ()),
        ({"token": "abc"}, "token", ()),
        ({"session": {"token": "abc"}}, "session.token", ()),
    ],
)
def test_the_entities_at_a_path(value: object, path: str, refs: tuple[str, ...]) -> None:
    assert entity_refs(value, path, "order") == refs


def test_without_a_type_the_first_colon_still_ends_it() -> None:
    assert entity_refs({"id": "urn:x:1"}, "id", None) == (":urn:x:1",)


def test_references_are_bounded() -> None:
    assert len(entity_refs({"ids": list(range(100_000))}, "ids", "order")) == 1000
    (ref,) = entity_refs({"id": "x" * 100_000}, "id", "order")
    assert len(ref) < 5000
    assert entity_refs([[{"id": 1}] * 10_000] * 10_000, "id", "order") == ("order:1",)
    many_without: list[Any] = []
    for _ in range(20):
        many_without = [many_without] * 10_000
    assert entity_refs(many_without, "id", "order") == ()


@pytest.mark.parametrize("path", ["", "a[", "a..b", "a[x]"])
def test_a_text_that_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="entity path"):
        entity_refs({}, path, "order")


def test_a_value_that_refers_to_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    reset_capture_errors()
    assert entity_refs(loop, "id", "order") == ()
    reset_capture_errors()
    assert capture_errors() == {}
