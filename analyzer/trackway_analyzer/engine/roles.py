"""What a digested row is: a span's role in its run, and numbers that stand for no hash."""

from __future__ import annotations

from typing import Final

ROOT, STEP, TOOL_STEP, BESIDE = 0, 1, 2, 3
ODD: Final = 8
"""Added to the role of a span that takes the whole reconstruction to read it."""
DOUBTFUL, ABSENT, UNRECORDED = 0, 1, 2
FIRST: Final = 16
"""Hashes below it stand for what has no hash; of a value it happens once in 10^18."""

_ROLES: Final = {
    "tool": TOOL_STEP,
    "llm": STEP,
    "retrieval": STEP,
    "wait": STEP,
    "agent": ROOT,
    "workflow": ROOT,
}
_WHENS: Final = " ".join(f"WHEN hash('{name}') THEN {role}" for name, role in _ROLES.items())
WHAT: Final = f"(CASE named_operation {_WHENS} ELSE {BESIDE} END)::TINYINT"
"""The role of a row, by the hash of its operation."""
