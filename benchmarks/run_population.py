"""A seeded population of refund runs as Parquet, as the recorder writes it: columns, not objects.

1. A run is a run span and eight steps: four model calls, and a lookup, a policy check, a refund and
   an e-mail between them. Run `i` has its own order, customer and refund, so that the arguments of
   no two runs are the same.
2. `FAULTY` of the runs deviate, each way equally often (`FAULTS`). What is planted in which run is
   known, so that a check can be counted.
3. `each_its_own=True`: three of the model calls become reads of tools drawn from many, so that
   nearly every run is a sequence of its own.
4. Files hold `RUNS_IN_FILE` runs. `arrival` files have their rows in the order in which the spans
   of many concurrent runs end; `sorted` files as the recorder sorts them, by run and start.
5. The same seed gives the same population, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trackway.schema import SCHEMA_VERSION, arrow_schema

Order: TypeAlias = Literal["arrival", "sorted"]
Ints: TypeAlias = npt.NDArray[np.int64]

RUNS_IN_FILE: Final = 125_000
FAULTY: Final = 0.08
FAULTS: Final = (
    "policy check skipped",
    "refund of another order",
    "refund before the policy check",
    "refund twice",
    "account deleted",
    "refund declined, success claimed",
    "no e-mail",
    "too many tokens",
)
READS: Final = 400
"""Tools that the reads of `each_its_own` are drawn from."""

_ROW_GROUP: Final = 65_536
_STEPS: Final = 8
SPANS_IN_RUN: Final = _STEPS + 1
_LLM, _LOOKUP, _CHECK, _REFUND, _EMAIL, _DELETE, _READ = range(7)
_TOOLS: Final = (
    None,
    "lookup_order",
    "check_policy",
    "refund_api.create",
    "send_email",
    "delete_account",
)
_KINDS: Final = (None, "lookup", "lookup", "mutate", "notify", "mutate", "lookup")
_PLAIN: Final = (_LLM, _LOOKUP, _LLM, _CHECK, _LLM, _REFUND, _LLM, _EMAIL)
_SEQUENCES: Final = {
    "policy check skipped": (_LLM, _LOOKUP, _LLM, _LLM, _LLM, _REFUND, _LLM, _EMAIL),
    "refund before the policy check": (_LLM, _LOOKUP, _LLM, _REFUND, _LLM, _CHECK, _LLM, _EMAIL),
    "refund twice": (_LLM, _LOOKUP, _LLM, _CHECK, _LLM, _REFUND, _REFUND, _EMAIL),
    "account deleted": (_LLM, _LOOKUP, _LLM, _CHECK, _LLM, _REFUND, _DELETE, _EMAIL),
    "no e-mail": (_LLM, _LOOKUP, _LLM, _CHECK, _LLM, _REFUND, _LLM, _LLM),
}
_EACH: Final = (_LLM, _LOOKUP, _READ, _CHECK, _READ, _REFUND, _READ, _EMAIL)
_RESOURCE: Final = (
    '{"telemetry.sdk.language":"python","telemetry.sdk.name":"opentelemetry",'
    '"telemetry.sdk.version":"1.45.2","service.instance.id":"bench","service.name":"bench"}'
)
_ROOT: Final = (
    '{"trackway.schema.version":"1","gen_ai.operation.name":"invoke_workflow",'
    '"trackway.fingerprint.agent":"refund_agent","trackway.run.last_step":8}'
)


@dataclass(frozen=True, slots=True)
class Population:
    """What was written."""

    folder: Path
    runs: int
    spans: int
    bytes: int
    planted: dict[str, int]
    """Runs of each fault."""


def write_population(
    folder: Path,
    runs: int,
    *,
    order: Order = "arrival",
    each_its_own: bool = False,
    seed: int = 7,
    faulty: float = FAULTY,
) -> Population:
    """Write the files of a population into an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    planted = dict.fromkeys(FAULTS, 0)
    for number, first in enumerate(range(0, runs, RUNS_IN_FILE)):
        count = min(RUNS_IN_FILE, runs - first)
        part = _Part(first, count, np.random.default_rng((seed, first)), faulty, each_its_own)
        for fault, name in enumerate(FAULTS):
            planted[name] += int((part.fault == fault).sum())
        table = part.table(order)
        path = folder / f"part-{number:04}.parquet"
        said = {"trackway.schema.version": SCHEMA_VERSION}
        if order == "sorted":
            said["trackway.order"] = "run,start"
        pq.write_table(
            table.replace_schema_metadata(said),
            path,
            row_group_size=_ROW_GROUP,
            compression="zstd",
            compression_level=3,
        )
    size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    return Population(folder, runs, runs * SPANS_IN_RUN, size, planted)


class _Part:
    """The runs of one file."""

    def __init__(
        self,
        first: int,
        count: int,
        chance: np.random.Generator,
        faulty: float,
        each_its_own: bool,
    ) -> None:
        self.chance = chance
        self.count = count
        self.number = np.arange(first, first + count)
        drawn = chance.integers(0, len(FAULTS), count)
        self.fault = np.where(chance.random(count) < faulty, drawn, -1)
        self.what = np.tile(np.array(_EACH if each_its_own else _PLAIN), (count, 1))
        if not each_its_own:
            for name, sequence in _SEQUENCES.items():
                self.what[self.has(name)] = sequence

    def has(self, fault: str) -> npt.NDArray[np.bool_]:
        """Which runs have a fault."""
        where: npt.NDArray[np.bool_] = self.fault == FAULTS.index(fault)
        return where

    def table(self, order: Order) -> pa.Table:
        """All spans, in the order of the file."""
        width = SPANS_IN_RUN
        run = np.repeat(np.arange(self.count), width)
        place = np.tile(np.arange(width), self.count)
        self.run, self.place = run, place
        self.kind = np.where(place == 0, -1, self.what[run, np.maximum(place - 1, 0)])
        self.reads = self.chance.integers(0, READS, len(run))
        start, end = self._times()
        columns = self._columns(start, end)
        rows = len(run)
        schema = arrow_schema(pa)
        schema = schema.remove(schema.get_field_index("service"))
        table = pa.Table.from_arrays(
            [_as(columns.get(field.name), field, rows) for field in schema], schema=schema
        )
        if order == "sorted":
            by = pc.sort_indices(
                pa.table({"run": columns["run_id"], "start": columns["start"]}),
                sort_keys=[("run", "ascending"), ("start", "ascending")],
            )
        else:
            by = pa.array(np.argsort(end, kind="stable"))
        return table.take(by)

    def _times(self) -> tuple[Ints, Ints]:
        day = 86_400 * 10**9
        begun = 1_795_000_000 * 10**9 + self.chance.integers(0, day // 24, self.count)
        pace, jitter = 300_000_000, self.chance.integers(0, 90_000_000, len(self.run))
        start = begun[self.run] + np.where(self.place == 0, 0, self.place * pace + jitter)
        length = self.chance.integers(1_000_000, 200_000_000, len(self.run))
        end = start + np.where(self.place == 0, (_STEPS + 2) * pace, length)
        return start, end

    def _columns(self, start: Ints, end: Ints) -> dict[str, Any]:
        run, place, kind = self.run, self.place, self.kind
        root, model = place == 0, kind == _LLM
        tool = ~root & ~model
        ids = _hex(self.chance, self.count, 2)
        spans = _hex(self.chance, len(run), 1)
        roots = spans.take(pa.array(np.flatnonzero(root)))
        names = pa.array([*_TOOLS, *(f"search_{n}" for n in range(READS))])
        code = np.where(kind == _READ, _READ + self.reads, np.maximum(kind, 0))
        tools = names.take(pa.array(code, mask=~tool))
        spent = 400 + self.chance.integers(0, 1200, len(run))
        spent[self.has("too many tokens")[run]] += 8_000
        tokens = pa.array(spent, mask=~model)
        return {
            "run_id": ids.take(pa.array(run)),
            "trace_id": _hex(self.chance, self.count, 2).take(pa.array(run)),
            "span_id": spans,
            "parent_span_id": _where(tool | model, roots.take(pa.array(run))),
            "task_id": _text("refund-", run % 50),
            "scope": "trackway",
            "scope_version": "0.1.0",
            "name": _pick(["run refund", "chat", "execute_tool"], np.where(root, 0, 2 - model)),
            "kind": _pick(["INTERNAL", "CLIENT"], model),
            "operation": _pick(["workflow", "llm", "tool"], np.where(root, 0, 2 - model)),
            "start": pa.array(start).cast(pa.timestamp("ns", tz="UTC")),
            "end": pa.array(end).cast(pa.timestamp("ns", tz="UTC")),
            "status": "UNSET",
            "step_index": pa.array(place, pa.int32(), mask=root),
            "attempt": pa.array(np.ones_like(place), pa.int32(), mask=root),
            "tool": tools,
            "tool_kind": _pick(_KINDS[1:], np.maximum(kind, 1) - 1, ~tool),
            "arguments": self._arguments(),
            "result": self._results(),
            "input": _pick(["Please refund my order, it is broken."], np.zeros_like(place), ~root),
            "output": self._final(),
            "operation_id": _where(
                np.isin(kind, [_REFUND, _DELETE]),
                pc.binary_join_element_wise(ids.take(pa.array(run)), _digits(place), ":"),
            ),
            "model_requested": _pick(["gpt-5"], np.zeros_like(place), ~model),
            "provider": _pick(["openai"], np.zeros_like(place), ~model),
            "tokens_in": tokens,
            "tokens_out": pa.array(20 + self.chance.integers(0, 300, len(run)), mask=~model),
            "cost": pa.array(spent * 2.5e-6, mask=~model),
            "attributes": _pick(
                [
                    _ROOT,
                    '{"gen_ai.operation.name":"chat"}',
                    '{"gen_ai.operation.name":"execute_tool","gen_ai.tool.type":"function"}',
                ],
                np.where(root, 0, 2 - model),
            ),
            "resource": _RESOURCE,
            "flags": pa.array(np.full(len(run), 259), pa.int32()),
            "schema_version": SCHEMA_VERSION,
            "source": "trackway",
        }

    @property
    def _order(self) -> pa.Array:
        return _text("A-", 100_000 + self.number[self.run])

    def _total(self) -> pa.Array:
        cents = (self.number[self.run] * 7919) % 49_000 + 1_000
        return _join(_digits(cents // 100), ".", _digits(10 + cents % 90))

    def _arguments(self) -> pa.Array:
        run, kind = self.run, self.kind
        order = self._order
        wrong = _text("A-", 900_000 + self.number[run])
        refunded = pc.if_else(pa.array(self.has("refund of another order")[run]), wrong, order)
        to = _text("customer", self.number[run])
        texts = {
            _LOOKUP: _join('{"order_id":"', order, '"}'),
            _CHECK: _join('{"order_id":"', order, '","reason":"damaged"}'),
            _REFUND: _join('{"amount":', self._total(), ',"order_id":"', refunded, '"}'),
            _EMAIL: _join(
                '{"body":"We refunded ', self._total(), '.","to":"', to, '@example.com"}'
            ),
            _DELETE: _join('{"customer_id":"', to, '"}'),
            _READ: _join('{"query":"refund of ', order, '"}'),
        }
        return _choose(texts, kind)

    def _results(self) -> pa.Array:
        run, kind = self.run, self.kind
        order = self._order
        declined = pa.array(self.has("refund declined, success claimed")[run])
        said = pc.if_else(declined, "declined", "succeeded")
        texts = {
            _LOOKUP: _join(
                '{"customer":"',
                _text("customer", self.number[run]),
                '","id":"',
                order,
                '","total":',
                self._total(),
                "}",
            ),
            _CHECK: _join('{"eligible":true,"refundable":', self._total(), "}"),
            _REFUND: _join(
                '{"refund_id":"re_', _digits(self.number[run] * 31), '","status":"', said, '"}'
            ),
            _EMAIL: _join('{"queued_as":"m', _digits(self.number[run]), '"}'),
            _DELETE: _join('{"deleted":"', _text("customer", self.number[run]), '"}'),
            _READ: _join('[{"title":"Refunds, page ', _digits(self.number[run] % 90), '"}]'),
        }
        return _choose(texts, kind)

    def _final(self) -> pa.Array:
        text = _join(
            "Your refund of $",
            self._total(),
            " for order ",
            self._order,
            " has been processed. You will get an e-mail.",
        )
        return _where(self.place == 0, text)


def _hex(chance: np.random.Generator, count: int, words: int) -> pa.Array:
    raw = chance.bytes(8 * words * count).hex()
    width = 16 * words
    offsets = pa.array(np.arange(count + 1) * width, pa.int32())
    return pa.StringArray.from_buffers(
        count, offsets.buffers()[1], pa.py_buffer(raw.encode()), None, 0
    )


def _digits(values: Ints) -> pa.Array:
    return pa.array(values).cast(pa.string())


def _text(before: str, values: Ints) -> pa.Array:
    return _join(before, _digits(values))


def _join(*parts: Any) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


def _where(rows: npt.NDArray[np.bool_], values: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(rows), values, None)


def _pick(names: Any, codes: Any, mask: Any = None) -> pa.Array:
    return pa.array(list(names)).take(pa.array(np.asarray(codes, dtype=np.int64), mask=mask))


def _choose(texts: dict[int, pa.Array], kind: Ints) -> pa.Array:
    chosen = pa.nulls(len(kind), pa.string())
    for code, values in texts.items():
        chosen = pc.if_else(pa.array(kind == code), values, chosen)
    return chosen


def _as(values: Any, field: pa.Field, rows: int) -> pa.Array:
    if values is None:
        return pa.nulls(rows, field.type)
    if isinstance(values, str):
        values = pa.repeat(pa.scalar(values), rows)
    if pa.types.is_dictionary(field.type):
        return pc.dictionary_encode(values)
    return values.cast(field.type)
