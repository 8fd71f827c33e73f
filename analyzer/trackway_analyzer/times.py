"""How do Arrow's times become Python values? As pandas' timestamps, which alone hold nanoseconds.

1. `decoded` decodes a column or table that may hold times in nanoseconds.
2. pyarrow imports pandas by itself as soon as it makes an array of a list or of a NumPy array, only
   to ask whether it was given a pandas object: a third of a second. `without_pandas` answers that
   question with no, for a process that gives it none, a command. pandas is imported then by
   `decoded`, where there is a time in nanoseconds, and by `to_pandas`.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import pyarrow as pa


class _NoPandas:
    """An importer that finds no pandas."""

    told: ClassVar[bool] = False
    """Whether pyarrow was told so, and nobody has let it look again."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        """Raise ModuleNotFoundError for pandas and pass for anything else."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not looked for yet", name=name)


def without_pandas() -> None:
    """Keep pyarrow from importing pandas before a time needs it; no effect if it is there."""
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.array([])  # pyarrow asks once and remembers
        _NoPandas.told = True
    finally:
        sys.meta_path.remove(_NoPandas)


def decoded(values: pa.Table | pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return a column as Python values or a table as rows; its times are pandas' timestamps."""
    if _NoPandas.told:
        kinds = values.schema.types if isinstance(values, pa.Table) else [values.type]
        if any(map(_needs_pandas, kinds)):
            pa.table({}).to_pandas()  # pyarrow looks for pandas again
            _NoPandas.told = False
    listed: list[Any] = values.to_pylist()
    return listed


def _needs_pandas(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return bool(kind.unit == "ns")
    if pa.types.is_dictionary(kind):
        return _needs_pandas(kind.value_type)
    return any(_needs_pandas(kind.field(place).type) for place in range(kind.num_fields))
