"""What is read of published recordings agrees: with each other, with the truth, with rewards."""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from benchmarks import agreement
from trackway_analyzer.cli.program import run

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not os.environ.get("TRACKWAY_CORPUS"), reason="TRACKWAY_CORPUS names no folder of traces"
    ),
]

PUBLIC = Path(os.environ.get("TRACKWAY_CORPUS") or ".") / "public"
REPLAYS = PUBLIC / "replay-taubench-6-dialects"
TRUTH = REPLAYS / "truth.tasks00-24.jsonl"
TAU2 = PUBLIC / "tau2-bench" / "official"


def test_one_run_is_the_same_whoever_recorded_it_or_a_gap_says_why() -> None:
    runs = list(agreement.same_runs(PUBLIC / "same-run-5-dialects"))
    assert len(runs) == 49
    assert [run.name for run in runs if run.unexplained] == []
    assert sum(not run.deviating for run in runs) == 42
    executed = [call for run in runs for call in run.views["mlflow"] if call[1]]
    assert len(executed) == 3


@pytest.mark.parametrize("sdk", agreement.REPLAYS)
def test_a_replay_holds_the_calls_that_were_made(sdk: str) -> None:
    found = agreement.replay(REPLAYS, sdk)
    assert (found.runs, found.order) == (100, 100)
    assert found.partial == (0 if sdk == "pydantic-ai" else 2)
    assert found.calls == (621 if sdk == "pydantic-ai" else 609)
    assert found.arguments / found.calls >= 0.995
    assert (found.results, found.errors) == (found.calls, found.calls)
    assert found.unexplained == []


def test_every_truth_of_agentevals_is_met() -> None:
    files = agreement.truth_files(PUBLIC / "agentevals" / "otlp")
    assert len(files) == 61
    unmet = {path.name: found for path in files if (found := agreement.differences(path))}
    assert unmet == {}


def stats(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert run(["stats", *map(str, arguments), "--json"]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


PASS = [0.310, 0.1933, 0.170, 0.160]


def rates(printed: dict[str, Any]) -> list[float]:
    (one,) = printed["passes"]
    assert (one["tasks"], one["runs"], one["not_judged"]) == (25, 100, 0)
    assert [rate["low"] for rate in one["passes"]] == [rate["high"] for rate in one["passes"]]
    return [round(rate["low"], 4) for rate in one["passes"]]


def test_the_rates_of_tau_bench_are_those_of_brute_force() -> None:
    rewards = Counter[int]()
    for row in map(json.loads, TRUTH.read_text().splitlines()):
        rewards[row["task_id"]] += row["reward"] == 1.0
    trials = [[True] * rewards[task] + [False] * (4 - rewards[task]) for task in range(25)]
    brute = [fmean(fmean(map(all, combinations(t, k))) for t in trials) for k in range(1, 5)]
    assert [round(rate, 4) for rate in brute] == PASS


def test_the_rates_of_tau_bench_from_its_transcripts(capsys: pytest.CaptureFixture[str]) -> None:
    assert rates(stats(capsys, PUBLIC / "tau-bench")) == PASS


@pytest.mark.parametrize("sdk", agreement.REPLAYS)
def test_the_rates_of_tau_bench_from_its_replays_with_rewards_joined(
    sdk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = stats(capsys, REPLAYS / sdk, "--by", "session", "--outcomes", TRUTH)
    assert rates(printed) == PASS


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("gpt-4.1_airline_default_gpt-4.1_1trials.json", (10, 20)),
        ("ft_*_airline_default_gpt-4.1_1trials.json", (13, 20)),
        ("ollama_chat__qwen2.5_7b_airline_*_1trials.json.gz", (9, 50)),
        ("gpt-4.1_retail_*_1trials.json.gz", (34, 40)),
        ("ft_*_retail_default_gpt-4.1_1trials.json.gz", (34, 40)),
    ],
)
def test_the_rates_of_tau2_bench(
    name: str, passed: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = TAU2.glob(name)
    printed = stats(capsys, path)
    (one,) = printed["passes"]
    assert (one["succeeded"], one["runs"]) == passed
    assert [rate["low"] for rate in one["passes"]] == [pytest.approx(passed[0] / passed[1])]


def test_an_upload_without_simulations_is_an_empty_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (path,) = TAU2.glob("*_EMPTY.json")
    printed = stats(capsys, path)
    assert (printed["runs"], printed["passes"]) == (0, [])


def test_all_uploads_at_once_are_one_set_each(capsys: pytest.CaptureFixture[str]) -> None:
    printed = stats(capsys, TAU2)
    found = {(each["suite_id"], each["succeeded"], each["runs"]) for each in printed["passes"]}
    assert found == {
        *(("airline", 10, 20), ("airline", 13, 20), ("airline", 9, 50)),
        ("retail", 34, 40),
    }
    assert len(printed["passes"]) == 5
