"""Calls whose argument surely comes from an earlier result: the quick look before the exact one.

A row is in the set only if the exact rules say so as well. A row that is not in it has to be judged
exactly. Looked at: arguments and ids at plain paths, scalars of equal type and value, sources that
succeeded in an earlier turn, runs without gaps. Nothing is searched for, nothing is nested.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

import orjson

from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.tools import DEFAULT_KEY, MUTATE, NOTIFY
from trackway_analyzer.rules.values import Key, is_cut, is_redacted, simple_keys

Keys = tuple[Key, ...]
_EXACT: Final = 2.0**53
Where = tuple[str, Keys]
"""A tool and where its result holds the value."""


def surely_grounded(
    evidence: Evidence, tool: str, argument: str, kind_of_thing: str | None
) -> frozenset[int]:
    """Rows of a tool's calls whose entity a lookup of this type surely returned before."""
    key = ("surely returned", tool, argument, kind_of_thing)
    return evidence.memo(key, partial(_returned, evidence, tool, argument, kind_of_thing))


def _returned(
    evidence: Evidence, tool: str, argument: str, kind_of_thing: str | None
) -> frozenset[int]:
    sources = []
    for name in evidence.codes("tool").names:
        entity = evidence.spec(name).entity
        if entity.type == kind_of_thing if kind_of_thing else entity.result is not None:
            keys = plain_keys(entity.result or DEFAULT_KEY)
            sources += [(name, keys)] if keys else []
    return surely_from(evidence, tool, argument, tuple(sources))


def surely_from(
    evidence: Evidence, tool: str, argument: str, sources: tuple[Where, ...]
) -> frozenset[int]:
    """Rows of a tool's calls whose argument surely stood at one of these places before."""
    keys = plain_keys(argument)
    if not keys or not sources:
        return frozenset()
    make = partial(_found, evidence, tool, keys, sources)
    return evidence.memo(("surely", tool, keys, sources), make)


def plain_keys(path: str) -> Keys | None:
    """Keys of a plain path; None: it takes more than a look."""
    if path.startswith("$"):
        return simple_keys(path) or None
    return simple_keys(f"$.{path}")


def _found(evidence: Evidence, tool: str, keys: Keys, sources: Iterable[Where]) -> frozenset[int]:
    offered: dict[int, list[tuple[int, JsonValue]]] = {}
    for name, path in sources:
        for run, rows in evidence.rows(name).items():
            for row in rows:
                if evidence.found(row) and evidence.kind[row] not in (MUTATE, NOTIFY):
                    value = _scalar(evidence.result_text(row), path)
                    offered.setdefault(run, []).append((row, value))
    found = []
    for run, rows in evidence.rows(tool).items():
        if run in offered and run not in evidence.blurred:
            for row in rows:
                value = _scalar(evidence.asked(row)[1], keys)
                if value is not None and _offers(evidence, offered[run], row, value):
                    found.append(row)
    return frozenset(found)


def _offers(
    evidence: Evidence, offered: list[tuple[int, JsonValue]], row: int, value: JsonValue
) -> bool:
    group = evidence.group
    return any(
        source < row and seen == value and type(seen) is type(value) and group[source] != group[row]
        for source, seen in offered
    )


def _scalar(text: str | None, keys: Keys) -> JsonValue:
    """A text or number at a plain path; None: anything else."""
    if text is None:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    if isinstance(value, float):
        return value if abs(value) < _EXACT else None  # longer integers come as rounded floats
    if isinstance(value, str):
        return None if is_redacted(value) or is_cut(value) else value
    return value if isinstance(value, int) else None
