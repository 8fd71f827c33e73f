"""Files of equal content are runs of their own where their names say who they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta

CHAT = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "done"}]
TRAJ = {
    "trajectory": [{"action": "ls", "observation": "a", "response": "I look."}],
    "history": [],
    "info": {},
}
CONTENT: dict[str, Any] = {
    "traj": TRAJ,
    "json": CHAT,
    "jsonl": CHAT[1],
    "tau.json": [{"task_id": 1, "trial": 0, "reward": 1.0, "traj": None}],
}


def runs(folder: Path) -> list[Any]:
    return [run.run["variant"] for run in ta.load(folder)]


def written(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


@pytest.mark.parametrize("ending", CONTENT)
def test_equal_files_of_other_names_are_other_runs(ending: str, tmp_path: Path) -> None:
    for name in ("m1/one", "m1/two"):
        written(tmp_path / f"{name}.{ending}", CONTENT[ending])
    assert len(runs(tmp_path)) == 2


@pytest.mark.parametrize("ending", ["traj", "json"])
def test_equal_files_in_other_folders_are_other_runs(ending: str, tmp_path: Path) -> None:
    for name in ("m1/one", "m2/one"):
        written(tmp_path / f"{name}.{ending}", CONTENT[ending])
    assert len(runs(tmp_path)) == 2
    if ending == "traj":
        assert sorted(runs(tmp_path)) == ["m1", "m2"]


@pytest.mark.parametrize("ending", ["traj", "json"])
def test_a_file_and_its_compressed_copy_are_one_run(ending: str, tmp_path: Path) -> None:
    for name in (f"m1/one.{ending}", f"m1/one.{ending}.gz"):
        written(tmp_path / name, CONTENT[ending])
    assert len(runs(tmp_path)) == 1


def tried(command: str) -> dict[str, Any]:
    step = {"action": command, "observation": "a", "response": "I try."}
    return {"trajectory": [step], "history": [], "info": {"exit_status": "submitted"}}


@pytest.mark.parametrize("chosen", [0, 1, None], ids=["the first", "the second", "neither"])
def test_each_attempt_of_an_agent_that_tries_again_is_a_run(
    chosen: int | None, tmp_path: Path
) -> None:
    tries = [tried("rm a"), tried("ls a")]
    whole = tried("pwd") if chosen is None else tries[chosen]
    written(tmp_path / "m" / "t.traj", {"attempts": tries, "replay_config": "{}", **whole})
    told = [(run.run["task_id"], run.run["trial"], run.tools) for run in ta.load(tmp_path)]
    attempts = [("t", 0, ["rm"]), ("t", 1, ["ls"])]
    assert told == (attempts if chosen is not None else [*attempts, ("t", None, ["pwd"])])
