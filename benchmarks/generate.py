"""Seeded pairs of runs: eight steps of a refund, nine in ten as they should be.

1. Pair `i` has its own order, customer and amounts, so that no two pairs share a text.
2. One candidate in ten deviates, each way equally often: the refund is skipped, halved, made to
   another order, made before the policy was read, made twice; a read is added; an account is
   deleted.
3. The same seed gives the same pairs, whatever their number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Records = list[Record]

KINDS = {
    "lookup_order": "lookup",
    "get_customer": "lookup",
    "get_shipment": "lookup",
    "check_policy": "lookup",
    "search_kb": "lookup",
    "refund_api.create": "mutate",
    "update_ticket": "mutate",
    "delete_account": "mutate",
    "add_note": "notify",
    "send_email": "notify",
}
REFUND = 4
DEVIATING = 0.10


@dataclass(frozen=True, slots=True)
class Pair:
    """A reference run and a candidate run of one task."""

    task: str
    reference: Records
    candidate: Records
    fault: str | None


def _call(tool: str, result: Any, **arguments: Any) -> Record:
    return {"tool": tool, "arguments": arguments, "result": result}


def _reference(number: int, chance: random.Random) -> Records:
    order, customer = f"A-{100_000 + number}", f"C-{500_000 + number}"
    total = chance.randrange(1_000, 50_000) / 100
    refund = f"re_{chance.getrandbits(48):012x}"
    email = f"customer{number}@example.com"
    return [
        _call("lookup_order", {"id": order, "total": total, "customer": customer}, order_id=order),
        _call("get_customer", {"id": customer, "email": email}, customer_id=customer),
        _call("get_shipment", {"order_id": order, "delivered": True}, order_id=order),
        _call("check_policy", {"eligible": True, "refundable": total}, order_id=order),
        _call(
            "refund_api.create",
            {"refund_id": refund, "status": "succeeded"},
            order_id=order,
            amount=total,
        ),
        _call("update_ticket", {"ok": True}, order_id=order, state="refunded"),
        _call("add_note", {"ok": True}, order_id=order, text=f"Refunded {total} as {refund}."),
        _call("send_email", {"ok": True}, to=email, body=f"We refunded {total}."),
    ]


def _skipped(run: Records, number: int) -> Records:
    return run[:REFUND] + run[REFUND + 1 :]


def _with_refund(run: Records, **arguments: Any) -> Records:
    changed = {**run[REFUND], "arguments": {**run[REFUND]["arguments"], **arguments}}
    return [*run[:REFUND], changed, *run[REFUND + 1 :]]


def _halved(run: Records, number: int) -> Records:
    return _with_refund(run, amount=round(run[REFUND]["arguments"]["amount"] / 2, 2))


def _wrong_order(run: Records, number: int) -> Records:
    return _with_refund(run, order_id=f"A-{900_000 + number}")


def _reordered(run: Records, number: int) -> Records:
    return [*run[: REFUND - 1], run[REFUND], run[REFUND - 1], *run[REFUND + 1 :]]


def _twice(run: Records, number: int) -> Records:
    return [*run[: REFUND + 1], run[REFUND], *run[REFUND + 1 :]]


def _extra_read(run: Records, number: int) -> Records:
    read = _call("search_kb", [], query=f"refund {number}")
    return [*run[: REFUND - 1], read, *run[REFUND - 1 :]]


def _deleted(run: Records, number: int) -> Records:
    customer = run[1]["arguments"]["customer_id"]
    return [*run[:-1], _call("delete_account", {"ok": True}, customer_id=customer), run[-1]]


FAULTS: dict[str, Callable[[Records, int], Records]] = {
    "skipped": _skipped,
    "halved": _halved,
    "wrong order": _wrong_order,
    "reordered": _reordered,
    "twice": _twice,
    "extra read": _extra_read,
    "deleted": _deleted,
}


def pairs(count: int, seed: int = 0) -> Iterator[Pair]:
    """Yield `count` pairs."""
    names = list(FAULTS)
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        reference = _reference(number, chance)
        fault = chance.choice(names) if chance.random() < DEVIATING else None
        candidate = FAULTS[fault](reference, number) if fault else reference
        yield Pair(f"pair-{number}", reference, candidate, fault)


def record(made: Sequence[Pair], directory: Path) -> None:
    """Record all runs with the SDK as Parquet, as a service would have."""
    import trackway

    answers: Records = []

    def act(**_: Any) -> Any:
        return answers[-1]["result"]

    trackway.configure("bench", export=str(directory))
    tools = {name: trackway.tool(name, kind=kind)(act) for name, kind in KINDS.items()}
    for number, pair in enumerate(made, start=1):
        # Nothing waits between these calls, so the writer would fall behind and drop spans.
        if number % 500 == 0 and not trackway.flush(60):
            raise RuntimeError(f"not all spans were written: {trackway.capture_errors()}")
        for variant, run in (("reference", pair.reference), ("candidate", pair.candidate)):
            with trackway.run(task=pair.task, variant=variant) as active:
                for call in run:
                    answers[:] = [call]
                    tools[call["tool"]](**call["arguments"])
                active.final(text="Your refund is on its way.")
    if not trackway.shutdown(600):
        raise RuntimeError(f"not all spans were written: {trackway.capture_errors()}")


def messages(run: Records) -> list[dict[str, Any]]:
    """A run as OpenAI messages, the form that agentevals takes."""
    import json

    made: list[dict[str, Any]] = [{"role": "user", "content": "Please refund my order."}]
    for number, call in enumerate(run):
        function = {"name": call["tool"], "arguments": json.dumps(call["arguments"])}
        asked = {"id": f"call_{number}", "type": "function", "function": function}
        made.append({"role": "assistant", "content": "", "tool_calls": [asked]})
        result = json.dumps(call["result"])
        made.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})
    made.append({"role": "assistant", "content": "Your refund is on its way."})
    return made
