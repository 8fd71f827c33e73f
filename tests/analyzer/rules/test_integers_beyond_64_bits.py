"""No integer is too long for a reader, a rule or a report, and two that differ are two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trackway_analyzer as ta
from analyzer.engine.test_check_files import assert_same
from analyzer.read.test_odd_values_everywhere import FORMS, SESSIONS, VALUES, spoilt
from analyzer.span_builder import EPOCH, Recording

POLICY = ta.Policy.from_yaml("""
version: 1
rules:
  - effects: {}
  - count: {tool: pay, max: 1, per: order, effects: true}
  - arguments: {tool: pay, where: "amount < 5"}
  - arguments: {tool: pay, equals: {order: 1}}
  - grounded: {tool: pay, argument: order, from: lookup.id}
  - no_loops: {}
  - budget: {tokens: 100, seconds: 1}
  - outcome: {success: true}
  - no_secrets: {}
  - deadline: {}
  - routed: {}
  - continuity: {}
  - admits_failure: {}
""")
ID = 2**64 + 5


def paid(*ids: int) -> pa.Table:
    """Two payments of a run, told with such numbers as numbers, as earlier recorders did."""
    record = Recording(source="trackway", run_id="r1", schema_version="1")
    run = record.span("run", lasts=10_000, attributes={"trackway.trial.seed": ID})
    for number in ids:
        effect = {"operation": "refund", "operation_id": number, "entity": ID, "applied": True}
        event = {"name": "trackway.effect", "time": EPOCH, "attributes": json.dumps(effect)}
        record.tool(
            "pay", {"order": number, "amount": ID}, {"ok": True}, run, events=[event], ok=True
        )
    return record.table()


def sentences(source: Any) -> list[str]:
    return [finding.sentence for finding in ta.load(source).check(POLICY).explained()]


def test_two_effects_of_one_long_id_are_one_operation_done_twice(tmp_path: Path) -> None:
    pq.write_table(paid(ID, ID), tmp_path / "a.parquet")
    found = sentences(tmp_path)
    assert f"operation {ID} took effect twice, at steps 1 and 2 pay" in found
    assert f"step 1 pay: amount {ID}, expected < 5" in found


def test_two_long_ids_that_differ_are_two_operations(tmp_path: Path) -> None:
    pq.write_table(paid(ID, ID + 1), tmp_path / "a.parquet")
    assert not [said for said in sentences(tmp_path) if "took effect twice" in said]


def test_files_that_are_checked_where_they_lie_say_the_same() -> None:
    assert_same(paid(ID, ID, ID + 1), POLICY)


def test_raw_rows_keep_every_digit(tmp_path: Path) -> None:
    record = Recording(source=None, scope="theirs")
    record.span("llm", attributes={"order": ID, "gen_ai.operation.name": "chat"})
    pq.write_table(record.table(), tmp_path / "a.parquet")
    (row,) = ta.load(tmp_path).span_table.to_pylist()
    assert f'"order":{ID}' in row["attributes"]


def test_a_run_with_them_becomes_a_trajectory_file(tmp_path: Path) -> None:
    pq.write_table(paid(ID), tmp_path / "a.parquet")
    ta.load(tmp_path).to_atif(tmp_path / "runs.jsonl")
    assert str(ID) in (tmp_path / "runs.jsonl").read_text()


@pytest.mark.parametrize("form", sorted(FORMS.keys() - SESSIONS))
def test_a_long_integer_in_any_place_of_any_export_is_checked(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(spoilt(form, VALUES["integer beyond 64 bits"])))
    assert [finding.sentence for finding in ta.load(path).check(POLICY).explained()]
