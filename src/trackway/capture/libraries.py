"""NumPy and pandas values: type, shape and head; read only where the program has imported them.

What has a name stands under it: fields of records, columns, labelled elements. That of a series or
an index decides too on whether its elements are recorded, and the label of a row on the row.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any, Final

from trackway.capture.parts import Digest, Inner, Members, Opaque, Parts, Under
from trackway.capture.storage import type_name

HEAD_ELEMENTS: Final = 20
"""Elements of an array or a series that are recorded."""
_HEAD_ROWS: Final = 5
_HEAD_COLUMNS: Final = 50
_HASHED_BYTES: Final = 1 << 20
_ARRAY_COST: Final = 2_048
_SERIES_COST: Final = 16_384
_FRAME_COST: Final = 65_536


def _ndarray(value: Any, numpy: Any) -> Parts:
    plain = numpy.ndarray.view(value, numpy.ndarray)
    head = plain.flat[:HEAD_ELEMENTS].tolist()
    if plain.dtype.names:
        head = [_record(fields, plain.dtype) for fields in head]
    pairs = [
        ("type", type_name(type(value))),
        ("dtype", _dtype(plain.dtype)),
        ("shape", list(plain.shape)),
        ("head", head),
    ]
    if plain.dtype.kind in "biufc" and plain.nbytes <= _HASHED_BYTES:
        pairs.append(("sha256", Digest(plain.nbytes, lambda: _sha256(plain))))
    return Members(pairs, len(pairs), partial=plain.size > len(head), cost=_ARRAY_COST)


def _sha256(plain: Any) -> str:
    return hashlib.sha256(plain.tobytes()).hexdigest()


def _dtype(dtype: Any) -> str:
    fields = len(dtype.names or ())
    return str(dtype) if fields <= _HEAD_COLUMNS else f"{fields} fields"


def _record(fields: Any, dtype: Any) -> Any:
    """Return what stands in an array by the names of its fields, of arrays in it too."""
    if isinstance(fields, list):
        return [_record(item, dtype) for item in fields]
    if not dtype.names or not isinstance(fields, tuple):
        return fields
    kinds = [dtype[name].base for name in dtype.names]
    pairs = zip(dtype.names, fields, kinds, strict=True)
    return {name: _record(_listed(field), kind) for name, field, kind in pairs}


def _listed(field: Any) -> Any:
    return field.tolist() if type_name(type(field)) == "numpy.ndarray" else field


def _numpy_scalar(value: Any, numpy: Any) -> Parts:
    plain = numpy.generic.item(value)
    if isinstance(value, numpy.void) and value.dtype.names:
        return Inner(_record(plain, value.dtype))
    return Opaque(str(plain)) if isinstance(plain, numpy.generic) else Inner(plain)


def _frame(value: Any, pandas: Any) -> Parts:
    head = value.iloc[:_HEAD_ROWS, :_HEAD_COLUMNS]
    columns = list(head.columns)
    rows: list[Any] = [
        dict(zip(columns, row, strict=True)) for row in head.itertuples(index=False, name=None)
    ]
    if not isinstance(value.index, pandas.RangeIndex):
        labels = (label if isinstance(label, tuple) else (label,) for label in head.index)
        rows = [Under(label, row) for label, row in zip(labels, rows, strict=True)]
    pairs = [
        ("type", type_name(type(value))),
        ("shape", list(value.shape)),
        ("columns", columns),
        ("head", rows),
    ]
    complete = value.shape[0] <= _HEAD_ROWS and value.shape[1] <= _HEAD_COLUMNS
    return Members(pairs, len(pairs), partial=not complete, cost=_FRAME_COST)


def _series(value: Any, pandas: Any) -> Parts:
    head = value.iloc[:HEAD_ELEMENTS]
    labelled = not isinstance(value.index, pandas.RangeIndex)
    pairs = [
        ("type", type_name(type(value))),
        ("name", value.name),
        ("dtype", str(value.dtype)),
        ("shape", list(value.shape)),
        # Labels name values as keys do, and a denied name must be seen.
        (
            "head",
            Under(
                (value.name, *value.index.names),
                dict(zip(head.index, head, strict=True)) if labelled else list(head),
            ),
        ),
    ]
    return Members(pairs, len(pairs), partial=value.shape[0] > HEAD_ELEMENTS, cost=_SERIES_COST)


def _index(value: Any, _pandas: Any) -> Parts:
    head = list(value[:HEAD_ELEMENTS])
    pairs = [
        ("type", type_name(type(value))),
        ("shape", list(value.shape)),
        ("head", Under(tuple(value.names), head)),
    ]
    return Members(pairs, len(pairs), partial=value.shape[0] > HEAD_ELEMENTS, cost=_SERIES_COST)


_OF_LIBRARIES: Final[tuple[tuple[str, str, Callable[[Any, Any], Parts]], ...]] = (
    ("numpy", "ndarray", _ndarray),
    ("numpy", "generic", _numpy_scalar),
    ("pandas", "DataFrame", _frame),
    ("pandas", "Series", _series),
    ("pandas", "Index", _index),
)


def of_library(value: Any, mro: tuple[type, ...]) -> Parts | None:
    """Return the parts of a value of a known library, else None."""
    for library, name, reader in _OF_LIBRARIES:
        module = sys.modules.get(library)
        known = getattr(module, name, None)
        if known is not None and any(base is known for base in mro):
            return reader(value, module)
    return None
