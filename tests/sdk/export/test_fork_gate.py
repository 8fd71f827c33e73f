"""A child is forked between the things that a gate guards, never in the middle of one."""

from __future__ import annotations

import os
import threading

import pytest

from trackway.export.fork import ForkGate

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def test_a_fork_waits_for_what_stands_in_the_gate() -> None:
    gate = ForkGate(patience=60)
    inside, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def guarded() -> None:
        with gate.held():
            inside.set()
            may_end.wait()
            sum(range(1_000_000))  # a fork that does not wait comes in the meantime
            ended.set()

    thread = threading.Thread(target=guarded)
    thread.start()
    inside.wait()
    os.register_at_fork(before=may_end.set)  # called before what was registered earlier
    child = os.fork()
    if child == 0:
        os._exit(0 if ended.is_set() else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()


def test_a_child_and_its_parent_use_the_gate_again() -> None:
    gate = ForkGate()
    child = os.fork()
    with gate.held():
        if child == 0:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    used = threading.Event()

    def use() -> None:
        with gate.held():
            used.set()

    thread = threading.Thread(target=use)
    thread.start()
    thread.join(timeout=30)
    assert used.is_set()


def test_a_fork_out_of_patience_goes_on_and_its_child_uses_the_gate() -> None:
    gate = ForkGate(patience=0)
    inside, may_end = threading.Event(), threading.Event()

    def guarded() -> None:
        with gate.held():
            inside.set()
            may_end.wait()

    thread = threading.Thread(target=guarded)
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        with gate.held():
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    may_end.set()
    thread.join()
    with gate.held():
        pass


def test_who_stands_in_the_gate_forks_at_once() -> None:
    gate = ForkGate(patience=60)
    with gate.held():
        child = os.fork()
    if child == 0:
        with gate.held():
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
