"""What a file is, told by its first bytes and, for JSON, by its keys; never by its name alone.

| format | how it is told |
|---|---|
| `parquet` | first four bytes `PAR1` |
| `otlp-json` | JSON with `resourceSpans`, bare or wrapped, one document or one a line |
"""

from __future__ import annotations

from typing import Final

FORMATS: Final = ("parquet", "otlp-json")
_PARQUET = b"PAR1"


def format_of(head: bytes) -> str:
    """Return the format of a file that begins with these bytes."""
    return "parquet" if head.startswith(_PARQUET) else "otlp-json"


def checked(name: str) -> str:
    """Return a format's name. Raises ValueError that lists the known names."""
    if name not in FORMATS:
        raise ValueError(f"no format {name!r}; known: {', '.join(FORMATS)}")
    return name
