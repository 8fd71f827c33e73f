"""A part of a run that went to another process and left nothing there is missed, not overlooked."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import trackway_analyzer as ta
from trackway_analyzer import Policy, Trajectory

NEVER_REFUNDS = Policy.from_yaml("version: 1\nrules:\n  - never: [refund]\n")

PROGRAM = """
import json, multiprocessing, os, signal, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.pool import ThreadPool
import trackway

{at_import}

@trackway.tool(kind="mutate")
def delete(number=0):
    return number

@trackway.tool(kind="mutate")
def last_words(number=0):
    os.kill(os.getpid(), signal.SIGKILL)

def outside(number=0):
    return number

def cut(number=0):
    delete(number)
    os._exit(0)

def configured_first(number=0):
    trackway.configure("agent", export="traces")
    delete(number)

def configured_late(number=0):
    delete(number)
    trackway.configure("agent", export="traces")
    delete(number)

def fail(number=0):
    delete(number)
    raise ValueError

class Deleter(multiprocessing.Process):
    def run(self):
        delete()

class Dying(multiprocessing.Process):
    def run(self):
        last_words()

if __name__ == "__main__":
    {at_start}
    context = multiprocessing.get_context(sys.argv[1])
    {body}
    trackway.shutdown()
"""
CONFIGURE = 'trackway.configure("agent", export="traces")'
IN_POOL = """
    with trackway.run("t"), context.Pool(2) as pool:
        pool.map(delete, range(3)), pool.map(delete, []), pool.apply(outside, (1,))
"""
IN_EXECUTOR = """
    with trackway.run("t"):
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            list(pool.map(delete, range(3))), pool.submit(outside, 1).result()
"""
IN_PROCESSES = """
    with trackway.run("t"):
        both = [context.Process(target=delete, args=(number,)) for number in range(3)]
        [each.start() for each in both], [each.join() for each in both]
"""
CANCELLED = """
    with trackway.run("t"):
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            waiting = [pool.submit(delete, number) for number in range(30)]
            [each.cancel() for each in reversed(waiting)]
            began = sum(not each.cancelled() for each in waiting)
            assert began < 30
            [delete() for _ in range(3)]
"""
NOT_STARTED = """
    with trackway.run("t"):
        process = context.Process(target=delete)
        process._popen = object()
        try:
            process.start()
        except AssertionError:
            [delete() for _ in range(3)]
"""
IN_SUBCLASSES = """
    multiprocessing.set_start_method(sys.argv[1])
    with trackway.run("t"):
        both = [Deleter() for _ in range(3)]
        [each.start() for each in both], [each.join() for each in both]
        assert "run" not in vars(both[0])
"""
IN_THREADS = """
    with trackway.run("t"), ThreadPool(2) as pool:
        pool.map(delete, range(3))
"""


def executed(
    folder: Path, body: str, method: str = "fork", *, guarded: bool = False
) -> subprocess.CompletedProcess[str]:
    at_import, at_start = ("", CONFIGURE) if guarded else (CONFIGURE, "")
    path = folder / "program.py"
    path.write_text(
        PROGRAM.format(at_import=at_import, at_start=at_start or "pass", body=body.strip())
    )
    return subprocess.run(
        [sys.executable, str(path), method],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def only_run(folder: Path) -> Trajectory:
    (run,) = ta.load(folder / "traces")
    return run


def unfinished(run: Trajectory) -> int:
    return sum(gap.count for gap in run.gaps if gap.name == "unfinished_span")


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("body", [IN_POOL, IN_EXECUTOR, IN_PROCESSES, IN_SUBCLASSES])
def test_parts_that_ended_elsewhere_leave_no_gap(tmp_path: Path, body: str, method: str) -> None:
    assert executed(tmp_path, body, method).returncode == 0
    run = only_run(tmp_path)
    assert [step.name for step in run.steps] == ["delete"] * 3
    assert run.gaps == ()
    assert ta.load(tmp_path / "traces").check(NEVER_REFUNDS).verdict == "pass"


@pytest.mark.parametrize(("body", "parts"), [(IN_EXECUTOR, 4), (IN_PROCESSES, 3)])
def test_processes_that_do_not_record_are_missed_and_say_so(
    tmp_path: Path, body: str, parts: int
) -> None:
    done = executed(tmp_path, body, "spawn", guarded=True)
    assert done.returncode == 0
    assert "took part in a recorded run and records nothing" in done.stderr
    assert "Call it where each process comes by" in done.stderr
    assert unfinished(only_run(tmp_path)) == parts
    assert ta.load(tmp_path / "traces").check(NEVER_REFUNDS).verdict == "insufficient"


@pytest.mark.parametrize("target", ["last_words", "cut"])
def test_a_process_that_dies_amid_its_part_is_missed(tmp_path: Path, target: str) -> None:
    body = f"""
    with trackway.run("t"):
        process = context.Process(target={target})
        process.start(), process.join()
"""
    assert executed(tmp_path, body).returncode == 0
    assert unfinished(only_run(tmp_path)) == 1
    assert ta.load(tmp_path / "traces").check(NEVER_REFUNDS).verdict == "insufficient"


DIES_LATER = """
    def delete_or_die(number):
        delete(number)
        if number == 2:
            last_words()
    with trackway.run("t"):
        pool = context.Pool(1)
        pool.map_async(delete_or_die, range(6), chunksize=3)
        first = pool._pool[0]
        first.join()
        pool.terminate()
"""


def test_so_is_a_worker_that_dies_amid_a_chunk(tmp_path: Path) -> None:
    assert executed(tmp_path, DIES_LATER).returncode == 0
    assert unfinished(only_run(tmp_path)) >= 1


@pytest.mark.parametrize("method", ["map", "imap", "imap_unordered"])
def test_the_chunks_of_a_pool_are_parts_that_end(tmp_path: Path, method: str) -> None:
    body = f"""
    with trackway.run("t"), context.Pool(2) as pool:
        list(pool.{method}(delete, range(7), chunksize=3))
        list(pool.starmap(delete, [(number,) for number in range(4)], chunksize=2))
        try:
            pool.map(fail, range(4), chunksize=4)
        except ValueError:
            pass
"""
    assert executed(tmp_path, body).returncode == 0
    run = only_run(tmp_path)
    assert [step.name for step in run.steps] == ["delete"] * 12
    assert run.gaps == ()


def test_so_is_one_whose_class_says_what_it_does(tmp_path: Path) -> None:
    body = """
    with trackway.run("t"):
        process = Dying()
        process.start(), process.join()
"""
    assert executed(tmp_path, body).returncode == 0
    assert unfinished(only_run(tmp_path)) == 1


IN_CARRIED = """
    with trackway.run("t"):
        json.dump(trackway.carrier(), open("carrier.json", "w"))
        subprocess.run([sys.executable, "child.py"])
"""
CHILD = """
import json, trackway
@trackway.tool(kind="mutate")
def delete(): ...
with trackway.carried(json.load(open("carrier.json"))):
    {early}
    trackway.configure("agent", export="traces")
    delete()
"""
IN_PROCESS = """
    with trackway.run("t"):
        process = context.Process(target={target})
        process.start(), process.join()
"""


def test_a_part_that_configures_first_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD.format(early=""))
    in_process = IN_PROCESS.format(target="configured_first")
    assert executed(tmp_path, in_process + IN_CARRIED, "spawn", guarded=True).returncode == 0
    for run in ta.load(tmp_path / "traces"):
        assert ([step.name for step in run.steps], run.gaps) == (["delete"], ())


def test_a_part_that_configures_after_its_first_call_is_missed(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD.format(early="delete()"))
    in_process = IN_PROCESS.format(target="configured_late")
    done = executed(tmp_path, in_process + IN_CARRIED, "spawn", guarded=True)
    assert done.stderr.count("records nothing before trackway.configure()") == 2
    for run in ta.load(tmp_path / "traces"):
        assert unfinished(run) == 1


JOBS = """
import trackway
trackway.configure("agent", export="traces")
@trackway.tool(kind="mutate")
def delete(number=0): ...
"""
JOBLIB = """
import sys, trackway
from joblib import Parallel, delayed
from jobs import delete
if __name__ == "__main__":
    {before}
    for number in range(2):
        with trackway.run(f"t{{number}}"):
            Parallel(n_jobs=2)(delayed(delete)() for _ in range(3))
    trackway.shutdown()
"""
EARLY_WORKERS = "Parallel(n_jobs=2)(delayed(int)() for _ in range(3))"


@pytest.mark.parametrize("before", ["pass", EARLY_WORKERS])
def test_joblib_takes_each_run_along(tmp_path: Path, before: str) -> None:
    for name, program in (("jobs", JOBS), ("program", JOBLIB.format(before=before))):
        (tmp_path / f"{name}.py").write_text(program)
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, timeout=60, check=True)
    assert done.returncode == 0
    for run in ta.load(tmp_path / "traces"):
        assert ([step.name for step in run.steps], run.gaps) == (["delete"] * 3, ())


def test_a_run_that_meets_joblib_first_is_open_and_the_next_is_whole(tmp_path: Path) -> None:
    program = JOBLIB.format(before="pass").replace("from joblib import Parallel, delayed", "")
    program = program.replace('"):\n', '"):\n            from joblib import Parallel, delayed\n')
    for name, text in (("jobs", JOBS), ("program", program)):
        (tmp_path / f"{name}.py").write_text(text)
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, timeout=60, check=True)
    runs = {run.run.get("task_id"): run for run in ta.load(tmp_path / "traces")}
    assert [unfinished(runs["t0"]), unfinished(runs["t1"])] == [1, 0]
    assert [step.name for step in runs["t1"].steps] == ["delete"] * 3


@pytest.mark.parametrize("body", [CANCELLED, NOT_STARTED, IN_THREADS])
def test_what_never_left_is_not_missed(tmp_path: Path, body: str) -> None:
    done = executed(tmp_path, body)
    assert done.returncode == 0, done.stderr
    run = only_run(tmp_path)
    assert {step.name for step in run.steps} == {"delete"}
    assert len(run.steps) >= 3
    assert run.gaps == ()


def test_a_part_says_what_it_handed_over_in_its_turn(tmp_path: Path) -> None:
    body = """
    def further():
        below = context.Process(target=last_words)
        below.start(), below.join()
    with trackway.run("t"):
        process = context.Process(target=further)
        process.start(), process.join()
"""
    assert executed(tmp_path, body).returncode == 0
    assert unfinished(only_run(tmp_path)) == 1


WAITS = """
    with trackway.run("t"):
        trackway.wait(owner="a", resume_token="t")
        json.dump(trackway.carrier(), open("carrier.json", "w"))
"""
GOES_ON = """
    with trackway.{taken_up}:
        {call}()
"""
RESUMED = 'run(resume_from=json.load(open("carrier.json")))'
CARRIED = 'carried(json.load(open("carrier.json")))'


@pytest.mark.parametrize("taken_up", [RESUMED, CARRIED])
def test_a_run_that_is_taken_up_and_ends_has_no_gap(tmp_path: Path, taken_up: str) -> None:
    assert executed(tmp_path, WAITS).returncode == 0
    assert executed(tmp_path, GOES_ON.format(taken_up=taken_up, call="delete")).returncode == 0
    run = only_run(tmp_path)
    assert "delete" in [step.name for step in run.steps]
    assert run.gaps == ()


@pytest.mark.parametrize("taken_up", [RESUMED, CARRIED])
def test_a_run_that_is_taken_up_and_killed_amid_its_first_call_is_unfinished(
    tmp_path: Path, taken_up: str
) -> None:
    assert executed(tmp_path, WAITS).returncode == 0
    # It dies once the mark of its beginning is on disk, as any process does that lives so long.
    call = "trackway.flush(), last_words"
    died = executed(tmp_path, GOES_ON.format(taken_up=taken_up, call=call))
    assert died.returncode == -signal.SIGKILL
    # The next start brings in what the dead process had put aside.
    assert executed(tmp_path, "outside()").returncode == 0
    assert unfinished(only_run(tmp_path)) >= 1
    assert ta.load(tmp_path / "traces").check(NEVER_REFUNDS).verdict == "insufficient"
