"""Spans as Parquet files. Needs the extra `trackway[parquet]`."""

from __future__ import annotations

try:
    from trackway.export.parquet.compaction import Compaction, compact
    from trackway.export.parquet.exporter import ParquetSpanExporter
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.partition(".")[0] != "pyarrow":
        raise
    raise ModuleNotFoundError(
        "export to Parquet needs pyarrow, which is not installed: pip install 'trackway[parquet]'",
        name=missing.name,
    ) from missing

__all__ = ["Compaction", "ParquetSpanExporter", "compact"]
