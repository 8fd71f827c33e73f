"""A child of `multiprocessing` ends by SIGTERM wherever its main thread waits, as by default."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, multiprocessing, os, signal, socket, sys, threading
from pathlib import Path
import trackway

trackway.configure("agent", export="traces")

@trackway.tool
def work(number=0):
    return number

def switches(thread):
    lines = Path(f"/proc/self/task/{thread}/status").read_text().splitlines()
    return [line for line in lines if "ctxt" in line]

def tell_another_thread():
    # The main thread waits in the lock, and Python hears of the signal where nobody asks for it.
    main, before = threading.main_thread().native_id, None
    while before != (before := switches(main)):
        threading.Event().wait(0.05)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

def wait_in(lock):
    work()
    threading.Thread(target=tell_another_thread, daemon=True).start()
    lock.acquire()

def in_another_child(lock):
    inner = multiprocessing.get_context("fork").Process(target=wait_in, args=(lock,))
    inner.start()
    inner.join()
    sys.exit(-inner.exitcode)

def taken(number, frame):
    sys.exit(7)

def with_a_handler_of_its_own():
    signal.signal(signal.SIGTERM, taken)
    work()
    signal.raise_signal(signal.SIGTERM)
    threading.Event().wait()

async def told():
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    work()
    os.kill(os.getpid(), signal.SIGTERM)
    await asked.wait()
    return 8

def with_a_loop():
    sys.exit(asyncio.run(told()))

def in_pools(context):
    done = 0
    for _ in range(3):
        with context.Pool(3) as pool:
            done += len(pool.map(work, range(6), chunksize=1))
    return done

def code(context, target, *arguments):
    child = context.Process(target=target, args=arguments)
    child.start()
    child.join()
    return child.exitcode

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    lock = context.Lock()
    lock.acquire()
    print({body})
    print(signal.set_wakeup_fd(-1), signal.getsignal(signal.SIGURG) is signal.SIG_DFL)
"""
NOTHING_OF_OURS = "-1 True"
"""The wakeup fd and SIGURG of a program that is not such a child."""


def printed(folder: Path, method: str, body: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(PROGRAM.replace("{body}", body))
    done = subprocess.run(
        [sys.executable, str(path), method],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def recorded(folder: Path) -> int:
    import trackway_analyzer as ta

    return sum(len(run.steps) for run in ta.load(folder / "traces"))


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_child_that_waits_in_a_lock_ends_and_leaves_its_spans(
    tmp_path: Path, method: str
) -> None:
    assert printed(tmp_path, method, "code(context, wait_in, lock)") == ["-15", NOTHING_OF_OURS]
    assert recorded(tmp_path) == 1


def test_so_does_a_child_of_a_child(tmp_path: Path) -> None:
    ended = printed(tmp_path, "spawn", "code(context, in_another_child, lock)")
    assert ended == ["15", NOTHING_OF_OURS]
    assert recorded(tmp_path) == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_handlers_of_the_child_s_own_and_of_its_loop_stay(tmp_path: Path, method: str) -> None:
    body = "code(context, with_a_handler_of_its_own), code(context, with_a_loop)"
    assert printed(tmp_path, method, body) == ["7 8", NOTHING_OF_OURS]
    assert recorded(tmp_path) == 2


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_that_is_left_by_its_block_ends_its_workers(tmp_path: Path, method: str) -> None:
    assert printed(tmp_path, method, "in_pools(context)") == ["18", NOTHING_OF_OURS]
    assert recorded(tmp_path) == 18
