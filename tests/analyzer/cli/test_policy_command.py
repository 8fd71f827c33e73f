"""`trackway policy init`: a proposal that the runs it came from keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trackway_analyzer.cli.program import run

Write = Callable[..., Path]


def refund(order: str) -> list[tuple[str, dict[str, Any], Any]]:
    return [
        ("lookup_order", {"order_id": order}, {"id": order, "total": 840.0}),
        ("refund", {"order_id": order, "amount": 840.0}, {"status": "succeeded"}),
    ]


def test_the_proposal_is_a_policy_that_the_runs_keep(
    otlp: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = otlp({letter * 32: refund(f"A-1{number}") for number, letter in enumerate("abc")})

    assert run(["policy", "init", str(traces)]) == 0
    printed = capsys.readouterr().out
    assert "  - before: [lookup_order, refund]  # in 3 of 3 runs\n" in printed
    policy = tmp_path / "policy.yaml"
    policy.write_text(printed)
    assert run(["check", str(traces), "--policy", str(policy)]) == 0


def test_too_few_runs_are_an_error(otlp: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "init", str(otlp({"a" * 32: refund("A-1")}))]) == 4
    assert "expected at least 3 runs to mine, found 1" in capsys.readouterr().err


def test_a_check_says_what_in_the_policy_fits_no_run(
    otlp: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("version: 1\nrules:\n  - before: [lookup_orders, refund]\n")

    run(["check", str(otlp({"a" * 32: refund("A-1")})), "--policy", str(policy)])
    assert f"{policy}:3: before: lookup_orders, refund: no run calls lookup_orders" in (
        capsys.readouterr().err
    )
