"""What it costs to capture a value, whatever it is and whatever its size.

1. `python -m benchmarks.capture [WORD …]` prints a Markdown table; words choose rows by name.
2. Time is time of the thread on the processor, the best of all rounds: the machine may be shared.
   The last column is `json.dumps` of the same value, where that is possible.
3. `raised` is a call of a decorated function that raises an error with the value as its argument,
   over such a call without one: message and stack trace are written too.
4. What a span by hand costs in the same minute tells how quick the machine is just then.
5. It exits with 1 where a capture takes more than the 10 ms that are promised for any value.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime
import decimal
import fractions
import json
import random
import string
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pydantic
from opentelemetry.sdk.trace import SpanProcessor

import trackway
from benchmarks.decorators import run_in_turns
from benchmarks.report import setting, table
from trackway.capture import Capture

MOST = 0.010
ROUNDS = 7
SHORTEST_ROUND = 0.01
LONG_ROUND = 0.1
PACKAGES = ("trackway", "opentelemetry-sdk", "pydantic", "numpy", "pandas")

PROSE = "The order arrived broken, and the customer asks for a refund. "
DAY = datetime.date(2026, 1, 2)


class Order(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    id: int
    name: str
    on: datetime.date


@dataclasses.dataclass
class Row:
    id: int
    name: str
    on: datetime.date


_FIELDS: dict[str, Any] = {f"field{n}": (int, n) for n in range(3_000)}
WIDE: Any = pydantic.create_model("WIDE", **_FIELDS)


def filled(text: str, length: int = 1_000_000) -> str:
    return (text * (length // len(text) + 1))[:length]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def circular() -> list[Any]:
    value: list[Any] = [1]
    value.append({"again": value})
    return value


VALUES: dict[str, Callable[[], Any]] = {
    "small dict of 4 fields": lambda: {
        "order_id": "ord_1234567",
        "amount": 42.5,
        "reason": "The item arrived broken",
        "currency": "EUR",
    },
    "the same with a date": lambda: {"order_id": "ord_1234567", "amount": 42.5, "when": DAY},
    "messages, 4 KB": lambda: [{"role": "user", "content": PROSE * 66}],
    "100 rows": lambda: [{"id": row, "name": f"Row {row}", "ok": True} for row in range(100)],
    "text of 64 KB": lambda: PROSE * 1_050,
    # Size.
    "text of 1 MB": lambda: PROSE * 16_900,
    "text of 20 MB": lambda: PROSE * 338_000,
    "text of 200 MB": lambda: PROSE * 3_380_000,
    "20 MB of base64": lambda: "QUJDRA+/" * 2_600_000,
    "20 MB data URL": lambda: "data:image/png;base64," + "QUJDRA+/" * 2_600_000,
    "1 MB of emoji": lambda: "\U0001f600" * 1_000_000,
    "1 MB of NUL characters": lambda: "\0" * 1_000_000,
    "1 MB of lone surrogates": lambda: "\ud800" * 1_000_000,
    "200 MB of bytes": lambda: bytes(200_000_000),
    "1 MB of bytes": lambda: bytes(1 << 20),
    "dict with 20 MB in one field": lambda: {"blob": PROSE * 338_000, "order_id": "o1"},
    "20 MB of text in 2,000 fields": lambda: {f"f{n}": PROSE * 169 for n in range(2_000)},
    # Number.
    "50,000 rows": lambda: [{"id": row, "name": f"Row {row}"} for row in range(50_000)],
    "50,000 rows with a date": lambda: [{"id": row, "on": DAY} for row in range(50_000)],
    "500,000 floats": lambda: [n / 7 for n in range(500_000)],
    "500,000 integers": lambda: list(range(500_000)),
    "500,000 short texts": lambda: [f"word {n}" for n in range(500_000)],
    "1,000,000 keys": lambda: {f"key{number}": number for number in range(1_000_000)},
    "100,000 keys of 100 characters": lambda: {f"{n:0100d}": n for n in range(100_000)},
    "20 keys of 2 MB": lambda: {PROSE * 33_000 + str(n): 1 for n in range(20)},
    "a set of 500,000": lambda: {f"s{n}" for n in range(500_000)},
    "100,000 texts of 1 KB": lambda: ["a" * 1_000] * 100_000,
    "2,000 texts of 1 KB of any characters": lambda: [
        "".join(random.Random(n).choices(string.printable, k=1_000)) for n in range(2_000)
    ],
    "all modules": lambda: sys.modules,
    "a deque of 500,000": lambda: collections.deque(range(500_000)),
    "100,000 frozen sets": lambda: [frozenset((n,)) for n in range(100_000)],
    "100,000 byte strings": lambda: [b"4111111111111111"] * 100_000,
    "100,000 decimals": lambda: [decimal.Decimal(n) / 7 for n in range(100_000)],
    "10,000 integers of 3,900 digits": lambda: [10**3_900] * 10_000,
    "10,000 decimals of 4,000 digits": lambda: [decimal.Decimal("1." + "3" * 4_000)] * 10_000,
    "10,000 fractions": lambda: [fractions.Fraction(10**300 + 1, 10**300 + 3)] * 10_000,
    "10,000 exceptions": lambda: [ValueError(PROSE * 100)] * 10_000,
    # Depth.
    "100,000 nested lists": lambda: nested(100_000),
    "a list inside itself": circular,
    # Classes.
    "20,000 pydantic models": lambda: [Order(id=n, name="x", on=DAY) for n in range(20_000)],
    "20 models of 3,000 fields": lambda: [WIDE() for _ in range(20)],
    "a model with 200,000 extras": lambda: Order(
        id=1, name="x", on=DAY, **{f"k{n}": n for n in range(200_000)}
    ),
    "50,000 dataclasses": lambda: [Row(n, "x", DAY) for n in range(50_000)],
    "array of 200 MB": lambda: np.zeros(25_000_000),
    "200 arrays of 1 MB": lambda: [np.zeros(131_072)] * 200,
    "array of 30 texts of 20 MB": lambda: np.array([PROSE * 338_000] * 30, dtype=object),
    "frame of 1,000 × 20,000": lambda: pd.DataFrame(np.zeros((1_000, 20_000))),
    "500 frames": lambda: [pd.DataFrame({"a": range(10), "b": range(10)})] * 500,
    "1,000 series with labels": lambda: [pd.Series(range(10), index=list("abcdefghij"))] * 1_000,
    "a generator": lambda: (n for n in range(10)),
    "a module": lambda: sys,
    # Texts that look like secrets.
    "1 MB of `token: …` lines": lambda: "token: abc123def, " * 58_000,
    "64 KB of `token: …` lines": lambda: filled("token: abc123def, ", 64_000),
    "1 MB of `password=`": lambda: filled("password="),
    "64 KB of `cookie:`": lambda: filled("cookie:", 64_000),
    "64 KB of card numbers": lambda: filled("4111 1111 1111 1111, ", 64_000),
    "64 KB of numbers that are no cards": lambda: filled("4111111111111112 ", 64_000),
    "64 KB of `eyJ`": lambda: filled("eyJ", 64_000),
    "64 KB of keys": lambda: filled("ghp_abcdefghijklm ", 64_000),
    "64 KB of URLs with passwords": lambda: filled("http://u:p@h ", 64_000),
    "1,000 texts of `://`": lambda: [filled("://", 1_000)] * 1_000,
    "1,000 texts of card numbers": lambda: [filled("4111111111111111 ", 1_000)] * 1_000,
    '1,000 texts of `"password": …`': lambda: [filled('"password": "abcd", ', 1_000)] * 1_000,
    "1 MB of digits": lambda: "4" * 1_000_000,
    "64 KB of `<password>`": lambda: filled("<password>x", 64_000) + "</password>",
    "64 KB of lists of tokens": lambda: filled("tokens: ['a' ", 64_000),
    '100,000 pairs of "password" and …': lambda: [("password", "x" * 20)] * 100_000,
    "100,000 names with values": lambda: [{"name": "Cookie", "value": "v" * 50}] * 100_000,
    "20,000 strings with secrets": lambda: [f"password={n:012d}x" for n in range(20_000)],
    "20,000 keys that look like secrets": lambda: {
        f"{n:032x}{n:032x}": "4111111111111112" for n in range(20_000)
    },
}


@trackway.tool
def raising(value: object) -> None:
    raise ValueError(value)


def best(function: Callable[[], Any]) -> float:
    """Return the best seconds a call of all rounds; what takes long has fewer."""
    calls, fastest, rounds = 1, float("inf"), ROUNDS
    while rounds > 0:
        start = time.thread_time()
        for _ in range(calls):
            function()
        elapsed = time.thread_time() - start
        fastest = min(fastest, elapsed / calls)
        rounds -= ROUNDS if elapsed > LONG_ROUND else 1
        if elapsed < SHORTEST_ROUND:
            calls = max(calls, int(SHORTEST_ROUND / max(fastest, 1e-7)))
    return fastest


def raised(value: object) -> float:
    """Return the best seconds that an error takes that holds the value; its arguments too."""

    def call() -> None:
        try:
            raising(value)
        except ValueError:
            return

    fastest = float("inf")
    for _ in range(3):
        start = time.thread_time()
        call()
        fastest = min(fastest, time.thread_time() - start)
    return fastest


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """What one value took."""

    name: str
    seconds: float
    raised: float
    kept: int
    cut: bool
    dumped: float | None

    def cells(self) -> tuple[str, ...]:
        dumped = "" if self.dumped is None else f"{self.dumped * 1e3:,.3f}"
        within = f"{self.seconds * 1e3:,.3f}"
        return (
            self.name,
            within if self.seconds <= MOST else f"**{within}**",
            f"{self.raised * 1e3:,.2f}",
            f"{self.kept:,}{' (cut)' if self.cut else ''}",
            dumped,
        )


def measure(name: str, value: Any, capture: Capture) -> Figure:
    """Measure one value."""
    captured = capture.value(value)
    try:
        dumped = best(lambda: json.dumps(value))
    except (TypeError, RecursionError, ValueError):
        dumped = None
    return Figure(
        name,
        best(lambda: capture.value(value)),
        raised(value),
        len((captured.text or "").encode()),
        captured.truncated,
        dumped,
    )


def main() -> int:
    """Measure the chosen values, all by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of rows")
    words = parser.parse_args().words
    by_hand = median(cpu for ((_, cpu),) in run_in_turns(["by_hand"], 5_000)) / 1e6
    trackway.configure("bench", export=SpanProcessor())
    capture = Capture()
    chosen = [name for name in VALUES if not words or any(word in name for word in words)]
    head = ("value", "capture ms", "argument and error ms", "bytes kept", "`json.dumps` ms")
    figures = []
    for name in chosen:
        figures.append(measure(name, VALUES[name](), capture))
        print(*figures[-1].cells(), file=sys.stderr, flush=True)
    print(table(head, [figure.cells() for figure in figures]), setting(PACKAGES), sep="\n\n")
    print(f"- a span by hand, with `json.dumps` of both sides: {by_hand * 1e3:,.3f} ms")
    return int(any(figure.seconds > MOST for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
