"""The loss table tells the truth: what is lost is seen, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider

from benchmarks.loss.__main__ import cells
from benchmarks.loss.ledger import Ledger, read
from benchmarks.loss.measure import Found, Result, measure
from benchmarks.loss.rows import ROWS, Row


def row(name: str) -> Row:
    (found,) = [row for row in ROWS if row.name == name]
    return found


def test_every_row_has_a_name_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_a_program_that_ends_otherwise_than_it_should_is_no_result() -> None:
    with pytest.raises(RuntimeError, match=r"expected exit status 0, found 1\n(?s:.*)KeyError"):
        measure(Row("mistyped", ["edn"], "", collector=None))


def test_the_ledger_holds_what_ended_and_when_the_end_began(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(ledger)
    span = provider.get_tracer("t").start_span("a")
    assert read(tmp_path / "ledger").ended == {}
    span.end()
    ledger.leave()
    ledger.counted(3)
    entries = read(tmp_path / "ledger")
    (one,) = entries.ended
    assert one == f"{span.get_span_context().span_id:016x}"
    assert entries.left is not None
    assert entries.ended[one] <= entries.left
    assert entries.counted == 3


def test_two_processes_that_end_in_one_folder_lose_nothing() -> None:
    result = measure(row("two processes, one folder"))
    nothing_lost = Found(at_once=400, next_start=0, lost=0, twice=0, oldest_lost=None)
    assert result.ended == 400
    assert result.targets == {"Parquet": nothing_lost, "OTLP": nothing_lost}
    assert (result.counted, result.as_promised) == (0, True)


def test_what_waits_for_a_collector_is_found_by_the_next_start() -> None:
    result = measure(row("collector closing mid-batch, http"))
    assert result.targets == {
        "OTLP": Found(at_once=0, next_start=200, lost=0, twice=0, oldest_lost=None)
    }


def test_what_fits_nowhere_is_seen_as_lost_and_counted_by_the_sdk() -> None:
    result = measure(row("disk full to the end, Parquet"))
    assert result.lost == result.counted == result.ended == 200
    assert "200 of the 200 spans that ended are lost" in result.said


def test_a_loss_that_is_not_owed_stands_out() -> None:
    found = Found(at_once=1, next_start=2, lost=3, twice=0, oldest_lost=0.1)
    owed = Row("kill", ["steady"], "at work", owed="it is a kill")
    for one, shown in ((owed, "3"), (Row("end", ["end"], ""), "**3**")):
        result = Result(one, 6, 0, {"Parquet": found}, counted=0, hung=0.25, said="")
        assert result.as_promised is bool(one.owed)
        assert cells(result)[3:6] == ("1 + 2", "", shown)
