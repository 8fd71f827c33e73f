"""Do the runs in these files keep to the policy? The same findings, for files beyond memory.

1. Runs that nobody can tell apart by what the policy looks at (`engine.twins`) are judged once: one
   of them is fetched, reconstructed and checked, and its findings are those of all.
2. A run that may exceed a limit is judged by rules with limits on its own numbers.
3. Every run that is not plain is fetched whole, reconstructed and checked like any run.
4. A policy that looks at more than can be told beforehand gets all runs whole, a part at a time.
5. Findings hold numbers of runs in the order of their starts, as in memory; a finding gets its
   sentence when somebody looks at it: then its run is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.check import CheckReport, require_policy, with_losses
from trackway_analyzer.engine.groups import WHOLE, Groups, grouped
from trackway_analyzer.engine.native_files import NativeFiles
from trackway_analyzer.engine.store import Store, store_of
from trackway_analyzer.reconstruct import reconstruct
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import FINDING_SCHEMA
from trackway_analyzer.rules.policy import Policy

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

_FEW: Final = 2_000
"""Runs that are looked for by their ids."""


def check_files(
    files: NativeFiles,
    policy: Policy,
    *,
    strict: bool = False,
    everything: Callable[[], RunBatch],
    threads: int | None = None,
) -> CheckReport:
    """Check every run of some files against a policy. `everything` reads them into memory.

    Raises TypeError where the policy is none.
    """
    require_policy(policy)
    judged = judge_files(files, policy, threads=threads)
    found = InFiles(files, judged.keys, everything)
    report = CheckReport(found, policy, judged.table, strict)
    return with_losses(report, files.quarantine)


@dataclass(frozen=True)
class InFiles:
    """Checked runs that lie in files."""

    files: NativeFiles
    keys: Words
    """Key of each run in the engine."""
    everything: Callable[[], RunBatch]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def batch(self) -> RunBatch:
        """All of them in memory."""
        return self.everything()

    def taken(self, runs: Sequence[int]) -> RunBatch:
        """Fetch those with these numbers, in this order."""
        with store_of(self.files) as store:
            return runs_with(store, self.keys[np.asarray(runs, dtype=np.int64)])

    def notes(self, policy: Policy) -> list[str]:
        """What may be wrong with the policy itself."""
        with store_of(self.files) as store:
            aliases = store.names("tool_alias") if "tool_alias" in self.files.columns else ()
            return policy.notes_on(store.names("tool"), store.names("agent"), aliases)


@dataclass(frozen=True, slots=True)
class Judged:
    """Findings of the runs of some files."""

    table: pa.Table
    """Rows of `rules.finding.FINDING_SCHEMA`, as a check in memory gives them."""
    keys: Words
    """Key of each run in the engine, in the order of their starts."""


def judge_files(files: NativeFiles, policy: Policy, *, threads: int | None = None) -> Judged:
    """Check every run of some files against a policy."""
    looks = policy.looks()
    with store_of(files, threads=threads) as store:
        if looks is None:
            return _merged(store, list(_judged_whole(store, policy, None)))
        runs = grouped(store, looks)
        found = _judged_groups(store, policy, runs)
        parts = [found.spread(policy, runs)]
        whole = np.unique(runs.key[runs.group == WHOLE])
        if len(whole):
            parts += _judged_whole(store, policy, whole)
        return _merged(store, parts)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some runs and their findings; `run` of the table is the place in `key`."""

    key: Words
    start: Ints
    table: pa.Table


def _merged(store: Store, parts: Sequence[_Part]) -> Judged:
    """Number all runs in the order of their starts, then of their ids, and their findings so."""
    key = np.concatenate([part.key for part in parts]) if parts else np.empty(0, np.uint64)
    start = np.concatenate([part.start for part in parts]) if parts else np.empty(0, np.int64)
    order = np.argsort(start, kind="stable")
    tied = start[order][1:] == start[order][:-1]
    if tied.any():
        either = np.append(tied, False) | np.append(False, tied)
        names = store.ids(key[order[either]])
        ids = dict(zip(*(names.column(n).to_pylist() for n in ("key", "run_id")), strict=True))
        by_id = [(int(start[at]), ids.get(int(key[at]), ""), int(at)) for at in order[either]]
        order[either] = [at for _, _, at in sorted(by_id)]
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    first, tables = 0, [FINDING_SCHEMA.empty_table()]
    for part in parts:
        run = number[part.table.column("run").to_numpy() + first]
        tables.append(part.table.set_column(0, FINDING_SCHEMA.field("run"), pa.array(run)))
        first += len(part.key)
    table = pa.concat_tables(tables).unify_dictionaries()
    by = [("run", "ascending"), ("rule", "ascending")]
    return Judged(table.sort_by(by), key[order])


def _judged_whole(store: Store, policy: Policy, keys: Words | None) -> Iterator[_Part]:
    """Reconstruct and check these runs, or all."""
    for spans in store.whole(keys):
        batch = reconstruct(spans)
        key = store.key_of(batch.runs.column("run_id").combine_chunks())
        if keys is not None and not (wanted := np.isin(key, keys)).all():
            batch, key = batch.take(np.flatnonzero(wanted)), key[wanted]
        start = batch.runs.column("start").cast(pa.int64()).to_numpy()
        yield _Part(key, start, policy.check(batch))


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What was found of the runs that stand for their groups, in the order of the groups."""

    batch: RunBatch
    table: pa.Table

    def spread(self, policy: Policy, runs: Groups) -> _Part:
        """Give every run what was found of its group."""
        member = np.flatnonzero(runs.group != WHOLE)
        group = runs.group[member]
        limited = np.array([bool(self._limits(policy, rule)) for rule in range(len(policy.rules))])
        of, rule = (self.table.column(name).to_numpy() for name in ("run", "rule"))
        own = runs.over[of] & limited[rule] if len(of) else np.empty(0, dtype=bool)
        shared = self.table.filter(pa.array(~own))
        of = of[~own]
        count = np.bincount(of, minlength=len(runs.stand_in))
        first = np.cumsum(count) - count
        repeat = count[group]
        run = np.repeat(np.arange(len(member)), repeat)
        within = np.arange(len(run)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        rows = first[group][run] + within
        table = shared.take(pa.array(rows)).set_column(
            0, FINDING_SCHEMA.field("run"), pa.array(run.astype(np.int32))
        )
        tables = [table, *self._beyond(policy, runs, np.flatnonzero(limited), member)]
        return _Part(runs.key[member], runs.start[member], pa.concat_tables(tables))

    @staticmethod
    def _limits(policy: Policy, rule: int) -> bool:
        looks = policy.rules[rule].looks(policy.tools)
        return looks is not None and bool(looks.limits)

    def _beyond(
        self, policy: Policy, runs: Groups, rules: Ints, member: Ints
    ) -> Iterator[pa.Table]:
        """Judge runs that may exceed a limit on what they spent themselves."""
        over = np.flatnonzero(runs.over[runs.group[member]])
        if not len(over) or not len(rules):
            return
        batch = self.batch.take(runs.group[member[over]])
        spent = runs.spent.filter(pc.is_in(runs.spent.column("run"), pa.array(member[over])))
        steps = batch.steps
        for name in spent.column_names:
            if name in steps.column_names and name != "run":
                place = steps.schema.get_field_index(name)
                kind = steps.schema.field(name)
                steps = steps.set_column(place, kind, spent.column(name).cast(kind.type))
        seconds = spent.column("seconds").take(pa.array(batch.offsets[:-1]))
        place = batch.runs.schema.get_field_index("duration_s")
        table = batch.runs.set_column(place, batch.runs.schema.field("duration_s"), seconds)
        evidence = Evidence.of(RunBatch.of(table, steps), policy.tools)
        for number in rules.tolist():
            found = policy.rules[number].found(number, evidence)
            run = over[found.column("run").to_numpy()].astype(np.int32)
            yield found.set_column(0, FINDING_SCHEMA.field("run"), pa.array(run))


def runs_with(
    store: Store,
    keys: Words,
    *,
    plain: bool = False,
    until: int | None = None,
    rows: int | None = None,
) -> RunBatch:
    """The runs with these keys, whole, in this order.

    `plain`: they stand for themselves; `until`: no span of them starts later, in ns; `rows`: all of
    them are among the first rows of the files.
    """
    if not len(keys):
        return RunBatch.empty()
    if len(keys) <= _FEW:
        found = store.few(keys, plain=plain, until=until, rows=rows)
        return _in_order(store, [reconstruct(found)], keys)
    return _in_order(store, [reconstruct(spans) for spans in store.whole(keys)], keys)


def _in_order(store: Store, batches: Sequence[RunBatch], keys: Words) -> RunBatch:
    batch = RunBatch.concat(batches)
    own = store.key_of(batch.runs.column("run_id").combine_chunks()).tolist()
    place = {key: ordinal for ordinal, key in enumerate(own)}
    return batch.take([place[key] for key in keys.tolist()])


def _judged_groups(store: Store, policy: Policy, runs: Groups) -> _Judgement:
    """Judge one run of each group. A group whose steps stand in another order is no group."""
    batch = runs_with(store, runs.stand_in, plain=True, until=runs.until, rows=runs.rows)
    start = batch.steps.column("start").cast(pa.int64()).to_numpy()
    run = batch.steps.column("run").to_numpy()
    falls = (np.diff(start) < 0) & (np.diff(run) == 0)
    moved = np.zeros(len(batch), dtype=bool)
    moved[run[1:][falls]] = True
    runs.group[np.isin(runs.group, np.flatnonzero(moved & runs.over))] = WHOLE
    return _Judgement(batch, policy.check(batch))
