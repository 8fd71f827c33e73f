"""Which run `SRC#…` names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pytest

from trackway_analyzer.cli.run_name import RunName, find, parse
from trackway_analyzer.tables import RUN_SCHEMA, table_of


def runs() -> pa.Table:
    columns = {
        "run_id": ["abc1", "abd2", "abd3", "x/y", "task=refund"],
        "task_id": ["refund", "refund", "refund", "cancel", None],
        "trial": [1, 2, 3, 1, None],
        "start": [datetime(2026, 1, day, tzinfo=UTC) for day in (3, 2, 1, 5)] + [None],
    }
    return table_of(RUN_SCHEMA, columns, 5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("traces", RunName("traces")),
        ("traces#abc1", RunName("traces", "abc1")),
        ("s3://bucket/traces#task=T,trial=3", RunName("s3://bucket/traces", "task=T,trial=3")),
        ("a#b#c", RunName("a#b", "c")),
        ("-#abc1", RunName("-", "abc1")),
        ("traces#task=a/b#c", RunName("traces", "task=a/b#c")),
        (
            "s3://bucket/traces#1#task=a#b,trial=3",
            RunName("s3://bucket/traces#1", "task=a#b,trial=3"),
        ),
    ],
)
def test_a_hash_divides_source_and_run(text: str, name: RunName) -> None:
    assert parse(text) == name


def test_a_path_that_exists_is_a_source_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "traces#1"
    path.touch()
    assert parse(str(path)) == RunName(str(path))
    assert parse(f"{path}#abc1") == RunName(str(path), "abc1")
    assert parse(f"{path}#a#b") == RunName(str(path), "a#b")


@pytest.mark.parametrize(
    ("wanted", "ordinal"),
    [
        ("abd2", 1),
        ("abc", 0),
        ("x/y", 3),
        ("task=refund,trial=3", 2),
        ("task=cancel", 3),
        ("trial=1,task=cancel", 3),
        ("task=refund@latest", 0),
        ("task=refund,trial=2@latest", 1),
        ("task_id=cancel", 3),
        ("task=refund", 4),
    ],
)
def test_a_run_is_named_by_id_its_beginning_or_its_columns(wanted: str, ordinal: int) -> None:
    assert find(RunName("traces", wanted), runs()) == ordinal


@pytest.mark.parametrize("task", ["a/b#c", "a,b", "a = b, c", "x@y"])
def test_a_task_may_have_any_sign_in_its_id(task: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"run_id": ["1", "2"], "task_id": [task, "a"], "trial": [1, 1]}
    table = table_of(RUN_SCHEMA, columns, 2)
    path = tmp_path / "traces"
    path.touch()
    assert find(parse(f"{path}#task={task}"), table) == 0
    if "=" not in task:
        assert find(parse(f"{path}#trial=1,task={task}@latest"), table) == 0


def test_the_only_run_needs_no_name() -> None:
    assert find(RunName("traces"), runs().slice(3, 1)) == 0


def message(name: RunName, table: pa.Table) -> str:
    with pytest.raises(click.ClickException) as raised:
        find(name, table)
    return raised.value.format_message()


def test_several_runs_are_listed() -> None:
    assert message(RunName("traces", "abd"), runs()) == (
        "2 runs of traces are named by 'abd'; name one of them:\n"
        "  traces#abd2  task refund  trial 2\n"
        "  traces#abd3  task refund  trial 3"
    )
    assert message(RunName("traces"), runs()).startswith(
        "traces holds 5 runs; name one of them:\n  traces#abc1  task refund  trial 1\n"
    )


def test_no_run_says_what_is_there() -> None:
    assert message(RunName("traces", "zzz"), runs().slice(3, 1)) == (
        "no run 'zzz' in traces, which holds:\n  traces#x/y  task cancel  trial 1"
    )
    assert message(RunName("traces", "zzz"), runs().slice(0, 0)) == "traces holds no run"


def test_an_unknown_column_names_the_nearest() -> None:
    with pytest.raises(
        ValueError, match="'trail' is no column of the runs table; did you mean 'tr"
    ):
        find(RunName("traces", "trail=3"), runs())


def test_latest_without_any_start_time_does_not_guess() -> None:
    table = table_of(RUN_SCHEMA, {"run_id": ["a", "b"], "task_id": ["t", "t"]}, 2)
    assert "2 runs" in message(RunName("traces", "task=t@latest"), table)
