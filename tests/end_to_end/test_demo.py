"""The demo of the README: five behaviours recorded by a real client, four of them caught."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import trackway_analyzer as ta

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "examples" / "support_agent" / "policy.yaml"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    directory = tmp_path_factory.mktemp("demo") / "traces"
    command = [sys.executable, "-m", "examples.support_agent", str(directory)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return directory, done.stdout


def sentences(directory: Path, behaviour: str) -> list[str]:
    runs = ta.load(directory).filter(task_id=behaviour)
    assert len(runs) == 1
    return [found.sentence for found in runs.check(ta.Policy.from_yaml(POLICY)).explained()]


CLAIM = '"Your refund of $84.00 for order A-1001 has been processed and is on its way"'


def test_the_healthy_run_keeps_to_the_policy(demo: tuple[Path, str]) -> None:
    runs = ta.load(demo[0]).filter(task_id="healthy")
    assert len(runs) == 1
    assert runs.check(ta.Policy.from_yaml(POLICY)).verdict == "pass"


@pytest.mark.parametrize(
    ("behaviour", "values"),
    [
        ("skips-refund", ["never recorded"]),
        ("halves-amount", ["amount 42.0", "84.00"]),
        ("refunds-other-order", ["A-1002", "A-1001"]),
        ("refunds-twice", ["A-1001", "steps 6 and 8"]),
    ],
)
def test_each_fault_is_caught_by_a_sentence_with_tool_values_and_claim(
    demo: tuple[Path, str], behaviour: str, values: list[str]
) -> None:
    needed = ["refund_api.create", CLAIM, *values]
    found = sentences(demo[0], behaviour)
    assert any(all(part in sentence for part in needed) for sentence in found), found


def test_the_screen_marks_what_passed_and_what_did_not(demo: tuple[Path, str]) -> None:
    lines = demo[1].splitlines()
    marked = [line.split("  ")[0] for line in lines if line[:1] in "✓✗" and line]
    assert marked == [
        "✓ healthy",
        "✗ skips-refund",
        "✗ halves-amount",
        "✗ refunds-other-order",
        "✗ refunds-twice",
    ]


def test_the_demo_refuses_a_folder_that_holds_files(demo: tuple[Path, str]) -> None:
    command = [sys.executable, "-m", "examples.support_agent", str(demo[0])]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode != 0
    assert "holds files already" in done.stderr


def test_the_record_speaks_of_the_tool_by_its_own_name_and_of_the_alias_the_model_saw(
    demo: tuple[Path, str],
) -> None:
    run = next(iter(ta.load(demo[0]).filter(task_id="healthy")))
    refund = next(step for step in run.tool_steps if step.kind == "mutate")
    assert (refund.tool, refund.tool_alias, refund.requested) == (
        "refund_api.create",
        "refund_create",
        True,
    )
