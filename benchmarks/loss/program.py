"""The program under test: `python -m benchmarks.loss.program WAY`, one function a way to end.

It is set up as a user would, from `configure`, and says in a ledger what ended and when it leaves.
Children that multiprocessing spawns import this module again and are set up by that.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import trackway
from benchmarks.loss.ledger import Ledger
from trackway.export import processors_for

SPANS: Final = 200
FREE: Final = 8192
"""Bytes that a full disk has left."""
LEDGER: Final = Ledger(Path(os.environ["LOSS_LEDGER"]))


def set_up() -> None:
    """Configure the exporters that the row asks for, and keep the books."""
    targets = json.loads(os.environ["LOSS_TARGETS"])
    processors = [one for target, options in targets for one in processors_for(target, **options)]
    # Registered before `configure`, so it runs when the exporters are closed.
    atexit.register(lambda: LEDGER.counted(sum(one.counts.lost for one in processors)))  # type: ignore[attr-defined]  # ours count
    redact = trackway.redactor(hooks=[raising_hook]) if "raising_redactor" in sys.argv else None
    provider = trackway.configure("loss", export=processors, redact=redact)
    assert provider is not None
    provider.add_span_processor(LEDGER)


def raising_hook(text: str) -> str:
    raise LookupError(text)


class Hostile:
    """Raises, or never ends, whatever it is asked."""

    def never(self, *_: object) -> Any:
        while True:
            pass

    def refuse(self, *_: object) -> Any:
        raise RuntimeError("no")

    __repr__ = __str__ = __eq__ = __hash__ = __iter__ = never
    __getattr__ = __len__ = __bool__ = __reduce__ = refuse


@trackway.tool(kind="mutate")
def take(value: object) -> object:
    return value


@trackway.tool
def deeper(left: int) -> int:
    return deeper(left + 1)


@trackway.tool(kind="lookup")
def lookup(order: int) -> dict[str, Any]:
    return {"id": f"A-{order}", "total": 84.0, "text": "late" * 50}


def work(spans: int = SPANS) -> int:
    """End so many spans: a run and its calls."""
    with trackway.run(task="refund"):
        for order in range(spans - 1):
            lookup(order)
    return spans


def fill_the_disk(full: bool) -> None:
    """Fill a file system of the program's own, or limit the size of files: writes fail half-way."""
    ballast = os.environ["LOSS_BALLAST"]
    if ballast and full:
        with open(ballast, "wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)) == 4096:
                pass
        os.truncate(ballast, max(0, os.path.getsize(ballast) - FREE))
    elif ballast:
        os.unlink(ballast)
    else:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = int(os.environ["LOSS_FILE_BYTES"]) if full else most
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))


# Ways to end.


def end() -> None:
    work()
    LEDGER.leave()


def sys_exit() -> None:
    work()
    LEDGER.leave()
    sys.exit(3)


def unhandled() -> None:
    work()
    LEDGER.leave()
    raise KeyError("nobody catches this")


def os_exit() -> None:
    for _ in range(50):
        work(4)
        time.sleep(0.02)
    LEDGER.leave()
    os._exit(0)


def steady() -> None:
    """Work until a signal comes."""
    while True:
        work(4)
        time.sleep(0.002)


def steady_with_handler() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    steady()


def flushing() -> None:
    """Flush, without end, while signals come."""
    while True:
        work(20)
        trackway.flush(30)


def daemon_threads() -> None:
    for _ in range(3):
        threading.Thread(target=steady, daemon=True).start()
    work()
    LEDGER.leave()


def threads_that_finish() -> None:
    """Threads that the interpreter waits for, and that work on after the main module's end."""

    def late() -> None:
        threading.main_thread().join()
        work()
        LEDGER.leave()

    for _ in range(3):
        threading.Thread(target=late).start()


def fork() -> None:
    work(10)
    child = os.fork()
    work()
    if child:
        os.waitpid(child, 0)
    LEDGER.leave()


def fork_amid_export() -> None:
    work()
    threading.Thread(target=trackway.flush, args=(20,)).start()
    children = []
    for _ in range(3):
        child = os.fork()
        work(20)
        if child == 0:
            sys.exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    LEDGER.leave()


def process(method: str) -> None:
    context = multiprocessing.get_context(method)
    children = [context.Process(target=work) for _ in range(2)]  # type: ignore[attr-defined]  # of each kind
    for child in children:
        child.start()
    for child in children:
        child.join()
    LEDGER.leave()


def pool(method: str) -> None:
    """A pool left as most are: by `with`, which terminates the workers."""
    with multiprocessing.get_context(method).Pool(2) as workers:
        workers.map(work, [20] * 10, chunksize=1)
        LEDGER.leave()


def executor(method: str) -> None:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as workers:
        list(workers.map(work, [20] * 10))
    LEDGER.leave()


def a_while() -> None:
    """Three flushes a second apart: a collector that asks for patience gets some."""
    for _ in range(3):
        work(SPANS // 3)
        trackway.flush(1)
        time.sleep(1)
    LEDGER.leave()


def disk_full() -> None:
    fill_the_disk(True)
    end()


def disk_full_for_a_while() -> None:
    fill_the_disk(True)
    for _ in range(4):
        work(SPANS // 4)
        trackway.flush(2)
    fill_the_disk(False)
    end()


def clock_backwards() -> None:
    """The wall clock is set back by an hour at every reading."""
    readings = iter(range(10**9))
    now = time.time_ns()
    time.time_ns = lambda: now - next(readings) * 3_600_000_000
    end()


def odd(*values: object) -> None:
    """Calls with odd arguments and results, among the others."""
    with trackway.run(task="odd"):
        for value in values:
            take(value)
    work(SPANS - len(values) - 1)
    LEDGER.leave()


def hostile_objects() -> None:
    odd(Hostile(), [Hostile()] * 1_000, {"inside": Hostile()}, ValueError(Hostile()))


def huge_argument() -> None:
    odd("late " * 40_000_000, bytes(200_000_000))


def nested_lists() -> None:
    value: list[Any] = []
    for _ in range(10_000):
        value = [value]
    around: list[Any] = []
    around.append(around)
    odd(value, around)


def recursion() -> None:
    """A recorded function that calls itself until Python stops it: each of its calls is a span."""
    with trackway.run(task="recursion"), suppress(RecursionError):
        deeper(0)
    end()


def raising_redactor() -> None:
    end()


def next_start() -> None:
    """What any later start of the program does: it finds what an earlier one left."""
    trackway.flush(30)


WAYS: Final[dict[str, Callable[..., None]]] = {
    way.__name__: way
    for way in (
        end, sys_exit, unhandled, os_exit, steady, steady_with_handler, flushing, daemon_threads,
        threads_that_finish, fork, fork_amid_export, process, pool, executor, a_while, disk_full,
        disk_full_for_a_while, clock_backwards, hostile_objects, huge_argument, nested_lists,
        recursion, raising_redactor, next_start,
    )
}  # fmt: skip

if __name__ in ("__main__", "__mp_main__"):
    set_up()
if __name__ == "__main__":
    WAYS[sys.argv[1]](*sys.argv[2:])
