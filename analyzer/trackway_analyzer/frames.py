"""Arrow tables as the pandas frames that people get.

1. Columns have Arrow-backed dtypes: null stays null, integers stay integers.
2. Dictionary columns become plain text, so that `==`, `groupby` and `merge` do what one expects.
3. What could not be read beside a table goes along, in `attrs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from trackway.schema import UNREAD_FOOTER

if TYPE_CHECKING:
    import pandas as pd


def frame(table: pa.Table) -> pd.DataFrame:
    """Return the table as a pandas frame."""
    import pandas as pd  # not before somebody asks for a frame: it is slow to import

    plain: pd.DataFrame = _plain(table).to_pandas(types_mapper=pd.ArrowDtype)
    unread = (table.schema.metadata or {}).get(UNREAD_FOOTER.encode())
    if unread is not None:
        plain.attrs[UNREAD_FOOTER] = unread.decode()
    return plain


def _plain(table: pa.Table) -> pa.Table:
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))
