"""`tool.path`: a tool's name and a path into its result, as rules write it."""

from __future__ import annotations

import re
from typing import Final

from trackway_analyzer.rules.values import reader

_SOURCE: Final = re.compile(
    r"""(?P<name>[^\W\d]\w*|"(?:\\.|[^"\\])*"|'(?:[^'\\])*')(?P<path>.*)\Z"""
)


def source_path(text: str) -> tuple[str, str]:
    """Split `tool.path` into the tool and a JSONPath; a name with dots stands in quotes.

    Raises ValueError.
    """
    match = _SOURCE.match(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r}: expected a tool, `tool.path`, an entity type or `input`")
    name, path = match["name"], match["path"]
    if name[0] in "\"'":
        name = name[1:-1]
    if path and path[0] not in ".[":
        raise ValueError(f"{text!r}: expected `.name` or `[…]` after the tool, found {path!r}")
    reader(f"${path}")
    return name, f"${path}"
