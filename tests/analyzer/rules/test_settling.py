"""What is declared of tools goes into kinds and successes; columns are read as they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pyarrow as pa
import pytest

from trackway_analyzer.rules.columns import Codes, is_null, listed
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.rules.tools import ToolSpec


def text(value: Any) -> str:
    return orjson.dumps(value).decode()


def effect(applied: Any) -> dict[str, Any]:
    time = datetime(2026, 1, 5, tzinfo=UTC)
    return {"name": "trackway.effect", "time": time, "attributes": text({"applied": applied})}


def test_a_declared_kind_replaces_that_of_the_span(run_of: Any) -> None:
    steps = [
        {"tool": "a", "kind": "lookup"},
        {"tool": "b"},
        {"tool": "c", "kind": "notify"},
        {"tool": "d", "kind": "other"},
        {"operation": "llm"},
    ]
    tools = {"a": ToolSpec("mutate"), "b": ToolSpec("lookup"), "c": ToolSpec()}

    assert Evidence.of(run_of(steps), tools).kind == ["mutate", "lookup", "notify", "other", None]
    assert Evidence.of(run_of(steps)).kind == ["lookup", None, "notify", "other", None]
    assert Evidence.of(run_of([]), tools).kind == []


FAILED = text({"status": "failed"})


@pytest.mark.parametrize(
    ("spec", "step", "ok"),
    [
        (ToolSpec(), {"ok": False, "result": FAILED}, False),
        (ToolSpec("mutate"), {"ok": False, "result": FAILED}, False),
        (ToolSpec("lookup"), {"ok": False, "result": FAILED}, True),
        (ToolSpec("lookup"), {"ok": True, "result": FAILED}, True),
        (ToolSpec("lookup"), {"ok": False, "result": text({"error": "x"})}, False),
        (ToolSpec("lookup"), {"ok": False, "result": text({"status": "fine"})}, False),
        (ToolSpec("lookup"), {"ok": None, "result": text({"status": "pending"})}, True),
        (ToolSpec("lookup"), {"ok": None}, None),
        (ToolSpec("lookup"), {"ok": False, "kind": "lookup", "result": FAILED}, False),
        (ToolSpec("lookup"), {"ok": False, "error_type": "E", "result": FAILED}, False),
        (ToolSpec(success=compiled("$.x == 'a'")), {"ok": None, "result": text({"x": "a"})}, True),
        (ToolSpec(success=compiled("$.x == 'a'")), {"ok": True, "result": text({"x": "b"})}, False),
        (ToolSpec(success=compiled("$.x == 'a'")), {"ok": True, "result": text({"y": 1})}, False),
        (ToolSpec(success=compiled("$.x == 'a'")), {"ok": True}, None),
        (ToolSpec(success=compiled("$.x > 1")), {"ok": False, "result": text({"x": 2})}, True),
        (ToolSpec(success=compiled("y == 1")), {"ok": False, "arguments": text({"y": 1})}, True),
        (
            ToolSpec("lookup", success=compiled("$.x == 'a'")),
            {"ok": True, "result": text({"x": "b"})},
            False,
        ),
        (
            ToolSpec(success=compiled("$.x == 'a'")),
            {"ok": True, "error_type": "E", "result": text({"x": "a"})},
            False,
        ),
        (ToolSpec(), {"ok": True, "events": [effect(False)]}, False),
        (ToolSpec(), {"ok": True, "events": [effect(False), effect(True)]}, True),
        (ToolSpec(), {"ok": None, "events": [effect(False), effect(True)]}, True),
        (ToolSpec(), {"ok": None, "events": [effect(True)]}, True),
        (ToolSpec(), {"ok": False, "events": [effect(True)]}, False),
        (ToolSpec(), {"ok": None, "events": [effect(None)]}, None),
        (ToolSpec(), {"ok": True, "events": []}, True),
        (
            ToolSpec(success=compiled("$.x == 'a'")),
            {"ok": True, "events": [effect(True)]},
            True,
        ),
        (
            ToolSpec(success=compiled("$.x == 'a'")),
            {"ok": True, "result": text({"x": "a"}), "events": [effect(False)]},
            False,
        ),
    ],
)
def test_who_took_effect(run_of: Any, spec: ToolSpec, step: dict[str, Any], ok: Any) -> None:
    steps = [{"tool": "other", "ok": None}, {"tool": "a", **step}, {"tool": "other", "ok": False}]

    assert Evidence.of(run_of(steps), {"a": spec}).ok == [None, ok, False]


def test_evidence_that_is_settled_is_returned_as_it_is(run_of: Any) -> None:
    evidence = Evidence.of(run_of([{"tool": "a"}]), {"a": ToolSpec("mutate")})

    assert Evidence.of(evidence, {"a": ToolSpec("lookup")}) is evidence
    assert evidence.spec("a") == ToolSpec("mutate")
    assert evidence.spec("b") == evidence.spec(None) == ToolSpec()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["a", None, "b"]).dictionary_encode(), ["a", None, "b"]),
        (pa.array(["a", None, ""]), ["a", None, ""]),
        (pa.array([1, 2], pa.int32()), [1, 2]),
        (pa.array([1, None], pa.int32()), [1, None]),
        (pa.array([1.5, 2.0]), [1.5, 2.0]),
        (pa.array([1.5, None]), [1.5, None]),
        (pa.array([True, None, False]), [True, None, False]),
        (pa.array([["a"], None]), [["a"], None]),
    ],
)
def test_a_column_is_read_with_none_for_null(column: pa.Array, expected: list[Any]) -> None:
    table = pa.table({"x": column})
    found = listed(table, "x")

    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]
    assert is_null(table, "x").tolist() == [value is None for value in expected]


def test_codes_of_a_dictionary_column() -> None:
    codes = Codes.of(pa.table({"x": pa.array(["a", None, "b", "a"]).dictionary_encode()}), "x")

    assert codes.codes.tolist() == [0, -1, 1, 0]
    assert codes.names == ("a", "b")
    assert [codes.code(name) for name in ("a", "b", "c")] == [0, 1, -2]
    assert [codes.name(code) for code in (0, 1, -1, -2)] == ["a", "b", None, None]
    assert [codes.where(name).tolist() for name in ("a", "b", "c")] == [[0, 3], [2], []]
