"""Reference runs that other runs are held against, and runs whose texts alone tell enough."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow.compute as pc

from trackway.schema import REDACTION_MARKER
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import NOT_RECORDED
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expected import ExpectedCall, Group
from trackway_analyzer.rules.terms import Source
from trackway_analyzer.rules.values import CUT_MARK

CallText: TypeAlias = tuple[str, str]
"""Tool and arguments of a call, as canonical JSON: equal texts are equal calls."""


@dataclass(frozen=True)
class References:
    """Reference runs, one for each value of a column of `runs`."""

    batch: RunBatch
    by: str = "task_id"

    @cached_property
    def evidence(self) -> Evidence:
        """The reference runs as rules see them."""
        return Evidence.of(self.batch)

    def ordinal(self, evidence: Evidence, run: int) -> int | None:
        """Ordinal of the reference of a run; None: it has none."""
        values = evidence.memo(("values", self.by), lambda: self._values(evidence.batch))
        return self._ordinals.get(values[run])

    @cached_property
    def _ordinals(self) -> dict[Any, int]:
        """Reference run of each value. Raises ValueError where a value has several."""
        values = self._values(self.batch)
        ordinals = {value: ordinal for ordinal, value in enumerate(values) if value is not None}
        twice = [value for value, count in Counter(values).items() if count > 1 and value]
        if twice:
            raise ValueError(f"several reference runs have {self.by} {twice[0]!r}, expected one")
        return ordinals

    def _values(self, batch: RunBatch) -> list[Any]:
        values: list[Any] = batch.runs.column(self.by).to_pylist()
        return values

    def groups(self, ordinal: int) -> list[Group]:
        """The calls of a reference run as expected calls."""
        evidence = self.evidence
        found: dict[int, list[ExpectedCall]] = {}
        for row in evidence.calls(ordinal):
            source = evidence.arguments(row)
            whole = (
                source
                if isinstance(source, Source) and not (source.cut or source.redacted)
                else None
            )
            value = NOT_RECORDED if whole is None else whole.value
            known = whole is not None
            call = ExpectedCall(evidence.tool[row] or "", value, evidence.ok[row], known=known)
            found.setdefault(evidence.group[row], []).append(call)
        return [tuple(group) for group in found.values()]


@dataclass(frozen=True)
class CallTexts:
    """The calls of all runs as texts.

    A run is plain if nothing but texts could matter: it has calls, they took effect, one after the
    other, their arguments are recorded whole, and no gap concerns it.
    """

    evidence: Evidence
    rows: list[list[int]]
    texts: list[str]
    plain: list[bool]

    @classmethod
    def of(cls, evidence: Evidence) -> CallTexts:
        """Read the calls of all runs, once for each evidence."""
        return evidence.memo("call texts", lambda: cls._read(evidence))

    @classmethod
    def _read(cls, evidence: Evidence) -> CallTexts:
        steps = evidence.batch.steps
        rows = [evidence.calls(run) for run in range(len(evidence))]
        call = np.asarray(evidence.is_call, dtype=bool)
        run, group = (
            np.asarray(column, dtype=np.int64)[call] for column in (evidence.run, evidence.group)
        )
        clear = np.asarray([ok is True for ok in evidence.ok], dtype=bool)
        clear &= steps.column("arguments").combine_chunks().is_valid().to_numpy(False)
        clear &= ~steps.column("truncated").combine_chunks().is_valid().to_numpy(False)
        marked = pc.match_substring_regex(
            steps.column("arguments").combine_chunks(),
            f"{REDACTION_MARKER.pattern}|{re.escape(CUT_MARK)}",
        )
        clear &= ~marked.fill_null(False).to_numpy(False)
        alone = np.ones(len(run), dtype=bool)
        alone[1:] = (group[1:] != group[:-1]) | (run[1:] != run[:-1])
        plain = np.asarray([bool(calls) for calls in rows], dtype=bool)
        plain[run[~(clear[call] & alone)]] = False
        plain[list(evidence.gaps)] = False
        return cls(evidence, rows, steps.column("arguments").to_pylist(), plain.tolist())

    def of_run(self, run: int) -> list[CallText]:
        """The calls of a plain run, in order."""
        tool = self.evidence.tool
        return [(tool[row] or "", self.texts[row]) for row in self.rows[run]]
