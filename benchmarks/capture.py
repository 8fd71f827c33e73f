"""What it costs to capture a value, whatever its size: `python -m benchmarks.capture`.

Time is CPU time of the thread, the best of all rounds: the box may be shared. The last column is
`json.dumps` of the same value, where that is possible.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import time
from collections.abc import Callable
from typing import Any

from trackway.capture import Capture

ROUNDS = 7
SHORTEST_ROUND = 0.02

PROSE = "The order arrived broken, and the customer asks for a refund. "
VALUES: dict[str, Callable[[], Any]] = {
    "small dict of 4 fields": lambda: {
        "order_id": "ord_1234567",
        "amount": 42.5,
        "reason": "The item arrived broken",
        "currency": "EUR",
    },
    "the same with a date": lambda: {
        "order_id": "ord_1234567",
        "amount": 42.5,
        "when": datetime.date(2026, 1, 2),
    },
    "messages, 4 KB": lambda: [{"role": "user", "content": PROSE * 66}],
    "100 rows": lambda: [{"id": row, "name": f"Row {row}", "ok": True} for row in range(100)],
    "text of 64 KB": lambda: PROSE * 1_050,
    "text of 1 MB": lambda: PROSE * 16_900,
    "text of 20 MB": lambda: PROSE * 338_000,
    "20 MB of base64": lambda: "QUJDRA+/" * 2_600_000,
    "dict with 20 MB in one field": lambda: {"blob": PROSE * 338_000, "order_id": "o1"},
    "20 MB of text in 2,000 fields": lambda: {f"f{n}": PROSE * 169 for n in range(2_000)},
    "50,000 rows": lambda: [{"id": row, "name": f"Row {row}"} for row in range(50_000)],
    "50,000 rows with a date": lambda: [
        {"id": row, "on": datetime.date(2026, 1, 2)} for row in range(50_000)
    ],
    "1,000,000 keys": lambda: {f"key{number}": number for number in range(1_000_000)},
    "100,000 nested lists": lambda: nested(100_000),
    "1 MB of `token: …` lines": lambda: "token: abc123def, " * 58_000,
    "20,000 strings with secrets": lambda: [f"password={n:012d}x" for n in range(20_000)],
}


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def best(function: Callable[[], Any]) -> float:
    """Return the best seconds a call of all rounds."""
    calls, fastest = 1, float("inf")
    for _ in range(ROUNDS):
        start = time.thread_time()
        for _ in range(calls):
            function()
        elapsed = time.thread_time() - start
        fastest = min(fastest, elapsed / calls)
        if elapsed < SHORTEST_ROUND:
            calls = max(calls, int(SHORTEST_ROUND / max(fastest, 1e-7)))
    return fastest


def row(name: str, value: Any, capture: Capture) -> tuple[str, ...]:
    captured = capture.value(value)
    ours = best(lambda: capture.value(value))
    try:
        dumped = f"{best(lambda: json.dumps(value)) * 1e6:,.1f}"
    except (TypeError, RecursionError):
        dumped = "not possible"
    size = len((captured.text or "").encode())
    return name, f"{ours * 1e6:,.1f}", f"{size:,}", "cut" if captured.truncated else "", dumped


def main() -> None:
    capture = Capture()
    columns = "{:32}{:>12}{:>12}{:>6}{:>14}"
    print(columns.format("value", "capture µs", "bytes kept", "", "json.dumps µs"))
    for name, make in VALUES.items():
        print(columns.format(*row(name, make(), capture)), flush=True)
    print(f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
