"""Small populations of spans with everything that a check in files must not trip over.

Runs are drawn from a few sequences, so that many are alike; then each gets what was asked for with
some chance: a harmless difference, a fault, a hole, a strange span.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trackway.schema import SCHEMA_VERSION
from trackway_analyzer.tables import SPAN_SCHEMA, table_of

Row = dict[str, Any]
Rows = list[Row]
Twist = Callable[[Rows, random.Random], None]

BEGIN: Final = 1_795_000_000 * 10**9
MS: Final = 1_000_000
KINDS: Final = {
    "lookup_order": "lookup",
    "check_policy": "lookup",
    "refund_api.create": "mutate",
    "send_email": "notify",
    "delete_account": "mutate",
    "cancel_order": "mutate",
    "search": None,
}
SEQUENCES: Final = (
    ("lookup_order", "check_policy", "refund_api.create", "send_email"),
    ("lookup_order", None, "check_policy", "refund_api.create", None, "send_email"),
    ("lookup_order", "refund_api.create", "send_email"),
    ("refund_api.create", "lookup_order"),
    ("lookup_order", "check_policy", "refund_api.create", "refund_api.create", "send_email"),
    ("search", "lookup_order", "search", "check_policy", "refund_api.create"),
    ("lookup_order", "check_policy", "send_email", "delete_account"),
    (None, None, "cancel_order"),
    (None,),
    (),
)
TEXTS: Final = (
    "Your refund of $84.00 for order {order} has been processed.",
    "Your refund was not processed.",
    "Once it is approved, your refund will be processed.",
    "There is nothing to do.",
    "Refund processed […truncated",
)
RESULTS: Final[dict[str, tuple[Any, ...]]] = {
    "lookup_order": (
        '{"id":"%s","total":84.0}',
        '{"id":"%s","status":"cancelled"}',
        '{"id":7}',
        '{"order":{"id":"%s"}}',
        '[{"id":"%s"},{"id":"B"}]',
        '{"error":"none"}',
        None,
        '{"id":["%s"]}',
        '{"id":null}',
        '"Failed: no order"',
    ),
    "check_policy": (
        '{"eligible":true}',
        '{"eligible":true,"id":"%s"}',
        '"fine"',
        "true",
        "false",
        '{"ok":false}',
        '"Error: no policy"',
        "[]",
        "3",
    ),
    "refund_api.create": (
        '{"status":"succeeded"}',
        '{"status":"declined"}',
        '{"status":"pending"}',
        '{"state":1}',
        '"done"',
        None,
        '{"status":"[redacted:key]"}',
    ),
    "send_email": ('{"queued":1}', '{"success":true}', '"sent"'),
    "delete_account": ('{"deleted":true}',),
    "cancel_order": ('{"status":"cancelled"}',),
    "search": ("[]", '{"id":"%s"}', '{"isError":true}'),
}


def run_rows(number: int, chance: random.Random, steps: Sequence[str | None] | None = None) -> Rows:
    """A plain run: a root and steps below it, one after the other."""
    order = f"A-{number}"
    run, trace = f"{number:032x}", f"{chance.getrandbits(128):032x}"
    begin = BEGIN + number * 1_000 * MS
    steps = chance.choice(SEQUENCES) if steps is None else steps
    shared = {
        "run_id": run,
        "trace_id": trace,
        "scope": "trackway",
        "status": "UNSET",
        "resource": '{"service.name":"bench"}',
        "schema_version": SCHEMA_VERSION,
        "source": "trackway",
        "kind": "INTERNAL",
        "task_id": f"task-{number % 3}",
        "flags": 259,
    }
    root = shared | {
        "span_id": _id(chance),
        "name": "run refund",
        "operation": "workflow",
        "start": begin,
        "end": begin + (len(steps) + 2) * 10 * MS,
        "output": chance.choice(TEXTS[:3] if chance.random() < 0.8 else TEXTS).format(order=order),
        "attributes": json.dumps(
            {"trackway.schema.version": "1", "trackway.run.last_step": len(steps)},
            separators=(",", ":"),
        ),
    }
    rows = [root]
    for place, tool in enumerate(steps, start=1):
        start = begin + place * 10 * MS + chance.randrange(3 * MS)
        row = shared | {
            "span_id": _id(chance),
            "parent_span_id": root["span_id"],
            "name": f"execute_tool {tool}" if tool else "chat",
            "operation": "tool" if tool else "llm",
            "start": start,
            "end": start + chance.randrange(6 * MS),
            "step_index": place,
            "attempt": 1,
            "attributes": "{}",
        }
        if tool is None:
            row |= {"tokens_in": chance.choice((100, 15_000)), "tokens_out": 10, "cost": 0.001}
        else:
            likely = RESULTS[tool][0] if chance.random() < 0.85 else chance.choice(RESULTS[tool])
            row |= {
                "tool": tool,
                "tool_kind": KINDS[tool],
                "arguments": json.dumps({"order_id": order}, separators=(",", ":")),
                "result": likely.replace("%s", order) if likely else None,
            }
            if KINDS[tool] == "mutate":
                row["operation_id"] = f"{run}:{place}"
        rows.append(row)
    return rows


def _id(chance: random.Random) -> str:
    return f"{chance.getrandbits(64):016x}"


def _one(rows: Rows, chance: random.Random, operation: str | None = None) -> Row | None:
    fitting = [row for row in rows[1:] if operation in (None, row["operation"])]
    return chance.choice(fitting) if fitting else None


def _set(operation: str | None = None, /, **values: Any) -> Twist:
    def twist(rows: Rows, chance: random.Random) -> None:
        row = _one(rows, chance, operation)
        if row is not None:
            row.update({k: v(row) if callable(v) else v for k, v in values.items()})

    return twist


WATCHED: Final = '{"trackway.schema.version":"1","trackway.instrumentation.on":["openai"]}'


def _set_root(**values: Any) -> Twist:
    def twist(rows: Rows, chance: random.Random) -> None:
        rows[0].update(values)

    return twist


def _drop(rows: Rows, chance: random.Random) -> None:
    rows.pop(chance.randrange(len(rows)))


def _copy(rows: Rows, chance: random.Random) -> None:
    rows.append(dict(chance.choice(rows)))


def _nested(rows: Rows, chance: random.Random) -> None:
    if len(rows) > 2:
        rows[2]["parent_span_id"] = rows[1]["span_id"]


def _together(rows: Rows, chance: random.Random) -> None:
    if len(rows) > 2:
        rows[1]["end"] = rows[2]["end"] + chance.choice((0, 20 * MS))


def _tied(rows: Rows, chance: random.Random) -> None:
    if len(rows) > 2:
        rows[2]["start"] = rows[1]["start"]
        rows[2]["end"] = rows[1]["end"]


def _swapped(rows: Rows, chance: random.Random) -> None:
    if len(rows) > 2:
        for name in ("start", "end"):
            rows[1][name], rows[2][name] = rows[2][name], rows[1][name]


def _other_order(rows: Rows, chance: random.Random) -> None:
    row = _one(rows, chance, "tool")
    if row is not None:
        wrong = ("B", 7, 7.0, None, ["A"], True, 'quo"ted', "[redacted:key]")
        row["arguments"] = json.dumps({"order_id": chance.choice(wrong)}, separators=(",", ":"))


def _retried(rows: Rows, chance: random.Random) -> None:
    row = _one(rows, chance, "tool")
    if row is not None:
        again = row | {"span_id": _id(chance), "start": row["end"] + MS, "end": row["end"] + 2 * MS}
        row |= {"status": "ERROR", "error_type": "TimeoutError", "ok": False, "result": None}
        row["events"] = [{"name": "exception", "time": row["end"], "attributes": "{}"}]
        rows.append(again | {"step_index": len(rows)})
        rows[0]["attributes"] = rows[0]["attributes"].replace(
            f'"trackway.run.last_step":{len(rows) - 2}', f'"trackway.run.last_step":{len(rows) - 1}'
        )


def _waited(**said: Any) -> Twist:
    """A call that gives back the words by which somebody ended its wait."""

    def twist(rows: Rows, chance: random.Random) -> None:
        row = _one(rows, chance, "tool")
        if row is not None:
            told = json.dumps({"reason": "not this time", **said})
            resume = {"name": "trackway.resume", "time": row["start"], "attributes": told}
            row |= {"result": '"not this time"', "events": [resume]}

    return twist


def _asked(rows: Rows, chance: random.Random) -> None:
    row = _one(rows, chance, "llm")
    if row is not None:
        part = {"type": "tool_call", "id": "c1", "name": "delete_account", "arguments": {}}
        row["output"] = json.dumps([{"role": "assistant", "parts": [part]}], separators=(",", ":"))


def _answered(tool: str) -> Twist:
    """A call that a model asked for and was answered, and that no span shows."""

    def twist(rows: Rows, chance: random.Random) -> None:
        row = _one(rows, chance, "llm")
        if row is not None:
            call = {"type": "tool_call", "id": "c9", "name": tool, "arguments": {}}
            answer = {"type": "tool_call_response", "id": "c9", "response": "there is no such tool"}
            asked = {"role": "assistant", "parts": [call]}
            told = [asked, {"role": "tool", "parts": [answer]}]
            row["output"] = json.dumps([asked], separators=(",", ":"))
            last = rows[-1]["end"]
            again = row | {"span_id": _id(chance), "start": last + MS, "end": last + 2 * MS}
            number = {"step_index": len(rows)}
            rows.append(again | number | {"input": json.dumps(told), "output": None})

    return twist


def _spoken(rows: Rows, chance: random.Random) -> None:
    for row in rows[1:]:
        if row["operation"] == "llm":
            part = {"type": "text", "content": "Your refund was processed."}
            row["output"] = json.dumps([{"role": "assistant", "parts": [part]}])


def _answered_by_the_user(rows: Rows, chance: random.Random) -> None:
    """A first model says that it refunded, and a second is told so, with what the user said."""
    models = [row for row in rows[1:] if row["operation"] == "llm"]
    if len(models) > 1:
        texts = {"assistant": "Your refund was processed.", "user": "Thanks."}
        told = [
            {"role": role, "parts": [{"type": "text", "content": text}]}
            for role, text in texts.items()
        ]
        models[0]["output"] = json.dumps(told[:1])
        models[1]["input"] = json.dumps(told)


def _two_traces(rows: Rows, chance: random.Random) -> None:
    row = _one(rows, chance)
    if row is not None:
        row["trace_id"] = _id(chance) * 2


def _effect(rows: Rows, chance: random.Random) -> None:
    row = _one(rows, chance, "tool")
    if row is not None:
        said = '{"operation":"refund","applied":false}'
        row["events"] = [{"name": "trackway.effect", "time": row["end"], "attributes": said}]


def _beside(rows: Rows, chance: random.Random) -> None:
    row = _one(rows, chance)
    if row is not None:
        beside = row | {"span_id": _id(chance), "operation": "other", "tool": None}
        rows.append(beside | {"start": row["end"] + 1, "end": row["end"] + 2, "step_index": None})


def _no_clock(rows: Rows, chance: random.Random) -> None:
    for row in rows:
        row["step_index"] = None


def _nothing_seen(rows: Rows, chance: random.Random) -> None:
    del rows[1:]
    rows[0].update(attributes=WATCHED)


TWISTS: Final[dict[str, Twist]] = {
    "another order": _other_order,
    "retried": _retried,
    "failed": _set("tool", status="ERROR", error_type="ValueError", ok=False, result=None),
    "a tool without a name": _set("tool", tool=None),
    "declared ok": _set("tool", ok=True),
    "declared not ok": _set("tool", ok=False),
    "nobody judged it": _set("tool", attributes='{"trackway.capture_error":"success: KeyError"}'),
    "left early": _set("tool", attributes='{"trackway.stream.abandoned":true}'),
    "returned at its end": _set(
        "tool", attributes='{"trackway.stream.returned":"{\\"status\\":\\"failed\\"}"}'
    ),
    "a key not read": _set(
        "tool", attributes='{"trackway.capture_error":"operation_id: KeyError"}'
    ),
    "no arguments": _set("tool", arguments=None),
    "no content": _set("tool", arguments=None, result=None, entity_refs=["order:A-1"]),
    "arguments no JSON": _set("tool", arguments='{"order_id":'),
    "arguments in a text": _set("tool", arguments=lambda row: json.dumps(row.get("arguments"))),
    "a list of arguments": _set("tool", arguments="[1]"),
    "no result": _set("tool", result=None),
    "own operation id": _set("tool", operation_id="op-1"),
    "idempotency key": _set(
        "tool", operation_id=None, arguments='{"idempotency_key":"k","order_id":"A"}'
    ),
    "result in a text": _set("tool", result=lambda row: json.dumps(row.get("result") or "x")),
    "nested": _nested,
    "together": _together,
    "tied": _tied,
    "swapped": _swapped,
    "span lost": _drop,
    "exported twice": _copy,
    "unfinished": _set(end=None),
    "negative": _set(end=lambda row: row["start"] - 1),
    "truncated": _set("tool", truncated=["result"]),
    "redacted": _set("tool", arguments='{"order_id":"[redacted:key]"}', redacted=["arguments"]),
    "orphan": _set(parent_span_id="ffffffffffffffff"),
    "second root": _set(parent_span_id=None),
    "two traces": _two_traces,
    "early": _set(start=lambda row: row["start"] - 100 * MS),
    "asked": _asked,
    "told without a span": _answered("refund_now"),
    "told of a refund without a span": _answered("refund_api.create"),
    "spoken": _spoken,
    "answered by the user": _answered_by_the_user,
    "waited": _waited(),
    "refused": _waited(granted=False),
    "effect": _effect,
    "beside": _beside,
    "linked": lambda rows, chance: rows[-1].update(
        links=[{"trace_id": rows[0]["trace_id"], "span_id": rows[0]["span_id"], "attributes": "{}"}]
    ),
    "dropped": _set(dropped_attributes=2),
    "attempt": _set("tool", attempt=2),
    "no clock": _no_clock,
    "clock hole": _set(step_index=lambda row: (row["step_index"] or 0) + 7),
    "no last step": _set_root(attributes="{}"),
    "cut off": _set_root(
        attributes='{"trackway.schema.version":"1","trackway.instrumentation.lost":["mcp: gone"]}'
    ),
    "watched": _set_root(attributes=WATCHED),
    "watched, and nothing seen": _nothing_seen,
    "final text lost": _set_root(output=None),
    "final text null": _set_root(output="null"),
    "agent": _set_root(operation="agent", agent="refunds"),
    "agent of a step": _set(agent="helper"),
    "other scope": _set(scope="other"),
    "other process": _set(resource='{"service.name":"other"}'),
    "alias": _set("tool", tool_alias="delete_account"),
    "no kind": _set("tool", tool_kind=None),
    "no tokens": _set("llm", tokens_in=None),
    "expensive": _set("llm", tokens_in=40_000, cost=1.0),
    "slow": _set_root(end=BEGIN + 10**15),
    "merged tools": _set("tool", tool="(merged tools)"),
    "tool that is an agent": _set("tool", operation="agent"),
    "retrieval": _set("llm", operation="retrieval"),
    "finish reasons": _set("llm", finish_reasons=["tool_call"]),
}


def population(runs: int, twists: Sequence[str], share: float, seed: int) -> pa.Table:
    """Spans of some runs, each twisted in these ways with this chance, in no order."""
    chance = random.Random(seed)
    return _table(
        (
            (run_rows(number, chance), [name for name in twists if chance.random() < share])
            for number in range(runs)
        ),
        chance,
    )


def alike(runs: int, steps: Sequence[str], seed: int) -> pa.Table:
    """Spans of runs with these calls, each about one of two things that are the run's own."""
    chance = random.Random(seed)
    found: list[tuple[Rows, list[str]]] = []
    for number in range(runs):
        rows = run_rows(number, chance, steps)
        for row in rows[1:]:
            thing = f"{chance.choice('AB')}-{number}"
            row["arguments"] = json.dumps({"order_id": thing}, separators=(",", ":"))
            likely = chance.choice(RESULTS[row["tool"]][:2])
            row["result"] = likely.replace("%s", thing) if likely else None
        found.append((rows, []))
    return _table(found, chance)


def one_each(copies: int, seed: int) -> pa.Table:
    """Spans of some runs for each twist, and as many without, in no order."""
    chance = random.Random(seed)
    wanted = [[name] for name in TWISTS for _ in range(copies)]
    wanted += [[] for _ in range(len(wanted) // 2)]
    return _table(
        ((run_rows(number, chance), names) for number, names in enumerate(wanted)), chance
    )


def _table(runs: Iterable[tuple[Rows, list[str]]], chance: random.Random) -> pa.Table:
    rows: Rows = []
    for own, names in runs:
        for name in names:
            if own:
                TWISTS[name](own, chance)
        rows += own
    chance.shuffle(rows)
    columns = {name: [row.get(name) for row in rows] for name in SPAN_SCHEMA.names}
    return table_of(SPAN_SCHEMA, columns, len(rows))


def write(table: pa.Table, folder: Path, *, files: int = 1) -> None:
    """Write spans as files of ours, row by row to each in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    said = {"trackway.schema.version": SCHEMA_VERSION}
    for number in range(files):
        part = table.take(pa.array(range(number, len(table), files), pa.int64()))
        pq.write_table(part.replace_schema_metadata(said), folder / f"{number}.parquet")
