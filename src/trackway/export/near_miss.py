"""Is a text that would be a folder's name a slip for a target, or a folder after all?

1. A name without a path (`otpl`, `consol`, `OTLP`, `otlp-http`) that is nearly `otlp`, `console` or
   `none` is an error that names both readings, whatever lies on the disk; `./otpl` is a folder.
2. So is a text of several targets with commas, and `none`, which is no target.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

_TARGETS: Final = ("otlp", "console", "none")
_OVER: Final = re.compile(r"otlp[-_: ]?(http|https|grpc|grpcs)?(/.*)?", re.IGNORECASE)
_CLOSE: Final = 0.75
_MEANT: Final = {
    "otlp": 'write "otlp", or "otlp+http://host:4318" or "otlp+grpc://host:4317"',
    "console": 'write "console"',
    "none": "set TRACKWAY_DISABLED=true to record nothing",
}


def check_name(text: str) -> None:
    """Raise ValueError for the name of a folder that may be meant as another target."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 1 and any(_target(part) or part.startswith("otlp+") for part in parts):
        raise ValueError(
            f"export: expected one target, found {text!r}; give several as a list: "
            f"configure(export={parts!r})"
        )
    target = _target(text)
    if target is not None and text != target:
        raise ValueError(
            f"export: found {text!r}, which may be meant as {target} or as a folder; for {target} "
            f'{_MEANT[target]}, for the folder write "./{text}"'
        )
    if target == "none":
        raise ValueError(
            f"export: expected a target, found {text!r}; {_MEANT[target]}, or write "
            f'"./{text}" for a folder of that name'
        )


def _target(text: str) -> str | None:
    """Return the target that a text without a path names, or nearly names."""
    lowered = text.strip().lower()
    if _OVER.fullmatch(lowered):
        return "otlp"
    if not lowered.isalpha():
        return None
    close = get_close_matches(lowered, _TARGETS, n=1, cutoff=_CLOSE)
    return close[0] if close and close[0][0] == lowered[0] else None
