"""Times as Python values, in a process where pyarrow was told that there is no pandas."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pytest

from trackway_analyzer.times import decoded, without_pandas

MOMENT = 1_795_974_876_640_102_836
TIME = pa.timestamp("ns", "UTC")
PLACES = {
    "a column": (TIME, MOMENT),
    "a list": (pa.list_(TIME), [MOMENT]),
    "a map": (pa.map_(pa.string(), TIME), [("at", MOMENT)]),
    "a list of objects": (pa.list_(pa.struct([("at", TIME)])), [{"at": MOMENT}]),
    "a duration": (pa.duration("ns"), MOMENT),
}


def alone(program: str) -> list[str]:
    """Lines that a program prints in a process of its own, pandas held back."""
    head = "import sys, pyarrow as pa; from trackway_analyzer.times import *; without_pandas()\n"
    done = subprocess.run(
        [sys.executable, "-c", head + program], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("place", PLACES)
def test_nanoseconds_are_told_wherever_they_stand(place: str) -> None:
    kind, value = PLACES[place]
    array = pa.array([value, None], kind)
    (printed,) = alone(
        "from pyarrow import *\n"
        f"kind, value = {_written(kind)}, {value!r}\n"
        "print(decoded(pa.array([value, None], kind)))"
    )
    assert printed == repr(decoded(array)) == repr(array.to_pylist())


def _written(kind: pa.DataType) -> str:
    if pa.types.is_map(kind):
        return f"map_(string(), {_written(kind.item_type)})"
    if pa.types.is_list(kind):
        return f"list_({_written(kind.value_type)})"
    if pa.types.is_struct(kind):
        return f"struct([({kind[0].name!r}, {_written(kind[0].type)})])"
    return "duration('ns')" if pa.types.is_duration(kind) else "timestamp('ns', 'UTC')"


def test_a_table_becomes_rows() -> None:
    table = pa.table({"at": pa.array([MOMENT], TIME), "name": ["a"]})
    assert decoded(table) == [{"at": pd.Timestamp(MOMENT, tz="UTC"), "name": "a"}]


def test_pandas_is_imported_with_the_first_time_and_not_before() -> None:
    assert alone(
        """
array = pa.array([1, 2])
print(decoded(array), decoded(pa.array([1], pa.timestamp("s"))), "pandas" in sys.modules)
decoded(array.cast(pa.timestamp("ns")))
print("pandas" in sys.modules)
import pandas
print(pa.array(pandas.Series([1.0, float("nan")])).null_count)
"""
    ) == ["[1, 2] [datetime.datetime(1970, 1, 1, 0, 0, 1)] False", "True", "1"]


def test_frames_are_there_without_any_time_before() -> None:
    assert alone("print(len(pa.table({'a': [1, 2]}).to_pandas()))") == ["2"]


def test_where_pandas_is_there_already_nothing_changes() -> None:
    without_pandas()
    assert pa.array(pd.Series([1.0, float("nan")])).null_count == 1
