"""Whichever way a process goes, what had ended reaches its exporter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from trackway import exits

HEAD = '''
import os, signal, sys, threading, time
from pathlib import Path
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
import trackway

class FileExporter(SpanExporter):
    """Appends span names to a file, as a batch at a time."""
    def export(self, spans):
        with open(os.environ["SPANS"], "a") as file:
            file.write("".join(span.name + chr(10) for span in spans))
        return SpanExportResult.SUCCESS

trackway.configure(export=FileExporter(), **eval(os.environ.get("OPTIONS", "{}")))

@trackway.tool
def work(number=0):
    return number

'''


class Program:
    """A program of its own that records into a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spans = folder / "spans.txt"

    def start(self, body: str, options: str = "{}") -> subprocess.Popen[str]:
        path = self.folder / "program.py"
        path.write_text(HEAD + body)
        env = {**os.environ, "SPANS": str(self.spans), "OPTIONS": options}
        return subprocess.Popen(
            [sys.executable, str(path)], env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, body: str, options: str = "{}") -> int:
        process = self.start(body, options)
        out, err = process.communicate(timeout=60)
        self.output, self.errors = out, err
        return process.returncode

    @property
    def counts(self) -> Counter[str]:
        return (
            Counter(self.spans.read_text().split("\n")[:-1]) if self.spans.exists() else Counter()
        )


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_the_end_of_the_main_module(program: Program) -> None:
    assert program.run("for _ in range(3): work()") == 0
    assert program.counts == {"execute_tool work": 3}


def test_sys_exit_and_an_uncaught_exception(program: Program) -> None:
    assert program.run("work(); sys.exit(3)") == 3
    assert program.run("work(); raise KeyError") == 1
    assert program.counts == {"execute_tool work": 2}


def test_the_end_with_threads_alive(program: Program) -> None:
    body = """
def busy():
    while True:
        work()
        time.sleep(0.001)
for _ in range(3):
    threading.Thread(target=busy, daemon=True).start()
with trackway.run("done"):
    pass
"""
    assert program.run(body) == 0
    assert program.counts["run done"] == 1


def test_sigterm_keeps_its_exit_status(program: Program) -> None:
    assert program.run("work(); os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)") == -15
    assert program.counts == {"execute_tool work": 1}


def test_sigterm_from_outside_amid_work(program: Program) -> None:
    body = """
done = 0
while True:
    work()
    done += 1
    print(done, flush=True)
"""
    process = program.start(body)
    assert process.stdout is not None
    printed = ""
    for printed in process.stdout:
        if int(printed) == 50:
            process.send_signal(signal.SIGTERM)
            break
    with process:
        ended = int((printed + process.stdout.read()).split()[-1])
    assert process.returncode == -15
    assert ended <= program.counts["execute_tool work"] <= ended + 1


def test_sigterm_during_a_flush_does_not_hang(program: Program) -> None:
    body = """
class Slow(FileExporter):
    def export(self, spans):
        time.sleep(0.3)
        return super().export(spans)
trackway.configure(export=Slow())
work()
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
trackway.flush(30)
time.sleep(60)
"""
    begun = time.monotonic()
    assert program.run(body) == -15
    assert program.counts == {"execute_tool work": 1}
    assert time.monotonic() - begun < 30


def test_a_handler_of_the_program_s_own_stays(program: Program) -> None:
    body = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
trackway.configure(export=FileExporter(), version="2")
work()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
"""
    assert program.run(body) == 7
    assert program.counts == {"execute_tool work": 1}


def test_a_held_back_run_is_handed_on(program: Program) -> None:
    body = "block = trackway.run('t'); block.__enter__(); work()"
    assert program.run(body, options="{'sample': 0.0}") == 0
    assert program.counts == {"execute_tool work": 1}


def test_a_dead_exporter_holds_the_exit_up_for_a_bounded_time(program: Program) -> None:
    body = """
class Stuck(FileExporter):
    def export(self, spans):
        threading.Event().wait()
trackway.configure(export=Stuck())
work()
begun = time.monotonic()
assert trackway.flush(0.2) is False
assert time.monotonic() - begun < 2
"""
    begun = time.monotonic()
    assert program.run(body) == 0, program.errors
    assert time.monotonic() - begun < 20


def test_os_fork(program: Program) -> None:
    body = """
work()
child = os.fork()
work()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    assert program.run(body) == 0
    assert program.counts == {"execute_tool work": 3}


def test_a_forked_child_says_nothing_of_what_its_parent_opened(program: Program) -> None:
    body = """
@trackway.tool
def fork():
    if os.fork() == 0:
        work()
        sys.exit(0)
    os.wait()

with trackway.run("r"):
    fork()
    work()
"""
    assert program.run(body) == 0, program.errors
    assert program.counts == {"run r": 1, "execute_tool fork": 1, "execute_tool work": 2}


def test_a_forked_child_does_not_end_the_run_of_a_parent_that_is_killed(program: Program) -> None:
    body = """
with trackway.run("r"):
    if os.fork() == 0:
        sys.exit(0)
    os.wait()
    work()
    trackway.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert program.run(body) == -signal.SIGKILL
    assert program.counts == {"execute_tool work": 1}


MULTIPROCESSING = {
    "Process": """
    children = [context.Process(target=work) for _ in range(2)]
    for child in children: child.start()
    for child in children: child.join()
    assert [child.exitcode for child in children] == [0, 0]
""",
    "Pool": """
    with context.Pool(2) as pool:
        assert sorted(pool.map(work, range(4), chunksize=1)) == [0, 1, 2, 3]
        pool.close()
        pool.join()
""",
    "ProcessPoolExecutor": """
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(work, range(4))) == [0, 1, 2, 3]
""",
}


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("kind", list(MULTIPROCESSING))
def test_children_of_multiprocessing(program: Program, kind: str, method: str) -> None:
    body = f'if __name__ == "__main__":\n    context = multiprocessing.get_context("{method}")\n'
    assert program.run(body + MULTIPROCESSING[kind]) == 0, program.errors
    assert program.counts == {"execute_tool work": 2 if kind == "Process" else 4}


def test_a_fork_amid_an_export(program: Program) -> None:
    body = """
class Slow(FileExporter):
    def export(self, spans):
        time.sleep(0.2)
        return super().export(spans)
trackway.configure(export=Slow())
work()
threading.Thread(target=trackway.flush, args=(10,)).start()
time.sleep(0.05)
child = os.fork()
if child == 0:
    work(1)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    assert program.run(body) == 0, program.errors
    assert program.counts == {"execute_tool work": 2}


def test_threads_at_work_while_the_process_forks(program: Program) -> None:
    body = """
stop = threading.Event()
def busy():
    while not stop.is_set():
        with trackway.run("r"):
            work()
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads: thread.start()
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        with trackway.run("child"):
            pass
        trackway.flush()
        os._exit(0)
    children.append(child)
stop.set()
for thread in threads: thread.join()
for child in children: assert os.waitpid(child, 0)[1] == 0
"""
    assert program.run(body) == 0, program.errors
    assert program.counts["run child"] == 10


def test_a_frozen_platform_gets_its_spans_at_the_end_of_the_run(program: Program) -> None:
    body = """
with trackway.run("t"):
    work()
os._exit(0)
"""
    assert program.run(body, options="{'flush_at_run_end': True}") == 0
    assert program.counts == {"execute_tool work": 1, "run t": 1}


def test_a_platform_known_to_freeze_needs_no_argument(program: Program) -> None:
    body = """
os.environ["AWS_LAMBDA_FUNCTION_NAME"] = "refunds"
trackway.configure(export=FileExporter())
with trackway.run("t"):
    work()
os._exit(0)
"""
    assert program.run(body) == 0, program.errors
    assert program.counts == {"execute_tool work": 1, "run t": 1}


def test_workers_renewed_after_every_task(program: Program) -> None:
    body = """
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        assert pool.map(work, range(10), chunksize=1) == list(range(10))
        pool.close()
        pool.join()
"""
    assert program.run(body) == 0, program.errors
    assert program.counts == {"execute_tool work": 10}


def test_sigterm_after_the_default_was_set_again(program: Program) -> None:
    body = """
before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
assert before is signal.SIG_DFL
assert signal.signal(signal.SIGTERM, lambda *_: None) is signal.SIG_DFL
signal.signal(signal.SIGTERM, signal.SIG_DFL)
work()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
"""
    assert program.run(body) == -15, program.errors
    assert program.counts == {"execute_tool work": 1}


def test_a_child_that_is_terminated(program: Program) -> None:
    body = """
def endless(ready):
    work()
    ready.set()
    time.sleep(60)
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    child = context.Process(target=endless, args=(ready,))
    child.start()
    ready.wait(30)
    child.terminate()
    child.join()
    assert child.exitcode == -15
"""
    assert program.run(body) == 0, program.errors
    assert program.counts == {"execute_tool work": 1}


ELSEWHERE = """
signal.signal = getattr(signal.signal, "original", signal.signal)
signal.signal(signal.SIGTERM, signal.SIG_DFL)  # as if nothing had been configured yet

def configured_in(name, **more):
    configure = lambda: trackway.configure(export=FileExporter(), **more)
    thread = threading.Thread(target=configure, name=name)
    thread.start()
    thread.join()

configured_in("boot")
configured_in("reload", version="2")
"""


def test_off_the_main_thread_it_is_said_once_that_sigterm_is_not_handled(
    program: Program,
) -> None:
    assert program.run(ELSEWHERE) == 0
    (said,) = [line for line in program.errors.splitlines() if "SIGTERM" in line]
    assert "configure() ran in the thread 'boot'" in said


def test_configured_in_the_main_thread_later_sigterm_is_handled(program: Program) -> None:
    body = """
trackway.configure(export=FileExporter(), version="3")
work()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
"""
    assert program.run(ELSEWHERE + body) == -15
    assert program.counts == {"execute_tool work": 1}


def test_the_first_process_of_a_container_goes_on_after_sigterm_as_it_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unexpected(*_: object) -> None:
        raise AssertionError("it goes on, and goes on recording")

    monkeypatch.setattr(exits.os, "getpid", lambda: 1)
    monkeypatch.setattr(exits.os, "kill", unexpected)
    monkeypatch.setattr(exits, "_close_and_say", unexpected)
    exits._terminate(signal.SIGTERM, None)


def test_a_signal_that_is_blocked_to_be_waited_for_is_not_taken(program: Program) -> None:
    body = """
work()
trackway.flush()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.kill(os.getpid(), signal.SIGTERM)
assert signal.sigwait([signal.SIGTERM]) == signal.SIGTERM
work()
"""
    assert program.run(body) == 0, program.errors
    assert program.counts == {"execute_tool work": 2}


def test_a_relative_folder_stays_where_it_was_when_the_program_goes_elsewhere(
    tmp_path: Path,
) -> None:
    program = """
import os, trackway
trackway.configure(export="traces")
os.mkdir("elsewhere")
for number in range(2):
    with trackway.run(f"t{number}"):
        pass
    assert trackway.flush(30)
    os.chdir("elsewhere" if number == 0 else ".")
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, timeout=60, check=True)
    assert len(list((tmp_path / "traces").rglob("*.parquet"))) == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_program_sees_the_default_that_it_left(program: Program) -> None:
    body = """
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
assert callable(signal.getsignal(signal.SIGTERM))
work()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
"""
    assert program.run(body) == 7, program.errors
    assert program.counts == {"execute_tool work": 1}
