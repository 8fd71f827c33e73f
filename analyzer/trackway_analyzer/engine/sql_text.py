"""Texts and small numbers as DuckDB reads them in a query."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A text as a constant."""
    return "'" + text.replace("'", "''") + "'"


def word(number: int) -> str:
    """A small number as one of the 64 bits that hashes have."""
    return f"{number}::UBIGINT"


def cases(what: str, found: dict[int, str], otherwise: str) -> str:
    """The expression for the number that `what` is."""
    if not found:
        return otherwise
    whens = " ".join(f"WHEN {number} THEN {text}" for number, text in found.items())
    return f"CASE {what} {whens} ELSE {otherwise} END"
