"""What a command does not import: heavy libraries, and the rooms of other commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import trackway_analyzer

TRACE = Path(__file__).parents[2] / "data/frameworks/langgraph-otel-genai/fail.json"
SLOW = ["duckdb", "scipy", "pyarrow.dataset", "matplotlib", "IPython"]
ROOMS = [
    f"trackway_analyzer.{room}"
    for room in ("atif", "diff", "measure", "rules.policy", "check_files", "report.html", "stats")
]
POLICY = """\
version: 1
rules:
  - before: [lookup_order, refund_create]
"""


def imported(program: str, *arguments: str) -> set[str]:
    """Return the names of all modules that a process holds once it ran the program."""
    end = "\nimport sys; print('\\nmodules', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program + end, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(done.stdout.rpartition("\nmodules ")[2].split())


def of_command(*arguments: str) -> set[str]:
    program = """
from trackway_analyzer.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    return imported(program, *arguments)


def test_help_imports_no_library_beside_click() -> None:
    modules = of_command("--help")
    heavy = [*SLOW, *ROOMS, "numpy", "pandas", "pyarrow", "opentelemetry", "rich", "orjson"]
    assert not modules & {*heavy, "trackway_analyzer.trajectories"}
    assert "click" in modules


def test_an_import_of_the_library_costs_nothing_before_something_is_asked_of_it() -> None:
    modules = imported("import trackway_analyzer")
    assert not modules & {*SLOW, *ROOMS, "numpy", "pandas", "pyarrow", "opentelemetry"}


@pytest.mark.parametrize("command", ["steps", "gaps", "variants"])
def test_reading_otlp_json_imports_no_rule(command: str) -> None:
    modules = of_command(command, str(TRACE))
    assert not modules & {*SLOW, *ROOMS, "pandas", "yaml", "lark", "jsonschema", "jsonpath"}
    assert not modules & {"pyarrow.parquet", "pyarrow.fs"}
    assert "trackway_analyzer.trajectories" in modules


def test_a_check_imports_no_other_commands_room_and_no_rule_that_its_policy_lacks(
    tmp_path: Path,
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    modules = of_command("check", str(TRACE), "--policy", str(policy))
    assert not modules & {*SLOW, "pandas", *(set(ROOMS) - {"trackway_analyzer.rules.policy"})}
    assert "trackway_analyzer.rules.policy" in modules
    unasked = ("arguments", "claim_language", "grammar", "secrets", "effects")
    assert not modules & {f"trackway_analyzer.rules.{name}" for name in unasked}
    assert not modules & {"jsonpath", "jsonschema", "lark", "trackway.capture"}


def test_converting_imports_no_pandas(tmp_path: Path) -> None:
    modules = of_command("convert", str(TRACE), str(tmp_path / "spans.parquet"))
    assert not modules & {*SLOW, *ROOMS, "pandas", "duckdb"}
    assert "pyarrow.parquet" in modules


def test_a_command_that_prints_times_prints_their_nanoseconds() -> None:
    program = "from trackway_analyzer.cli import main; main()"
    arguments = ("steps", "--json", str(TRACE))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    printed = [step["timestamp"] for step in json.loads(done.stdout)["steps"]]
    (run,) = trackway_analyzer.load(TRACE)
    assert printed == [step.start and step.start.isoformat() for step in run.steps]
    assert any(len(time) == len("2026-01-01T00:00:00.000000000+00:00") for time in printed)


def test_a_command_inside_another_program_leaves_pandas_to_it() -> None:
    modules = imported(
        "import sys; from trackway_analyzer.cli.program import run; assert run(sys.argv[1:]) == 0",
        *("steps", str(TRACE)),
    )
    assert "pandas" in modules


def test_every_public_name_is_there_whatever_was_imported_before() -> None:
    """`load` is a module and a function, `rules` a module and a public name."""
    program = """
import trackway_analyzer.cli.check, trackway_analyzer.load
from trackway_analyzer import load, rules
assert callable(load) and trackway_analyzer.load is load
assert all(getattr(trackway_analyzer, name) is not None for name in trackway_analyzer.__all__)
assert all(isinstance(getattr(rules, name), type) or callable(getattr(rules, name))
           for name in rules.__all__)
"""
    assert "trackway_analyzer.diff" in imported(program)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'lode'"):
        _ = trackway_analyzer.lode


RECORDED = """
import sys, trackway
provider = trackway.configure(export=sys.argv[1])
tracer = provider.get_tracer("trackway")
for moment in (1_796_057_345_480_611_574, 1_796_057_345_480_611_999):
    span = tracer.start_span("run", start_time=moment, attributes={"trackway.run.id": str(moment)})
    span.end(moment + 1)
trackway.shutdown()
"""


@pytest.mark.parametrize("command", ["gaps", "stats", "steps"])
def test_a_command_reads_the_nanoseconds_of_the_recorders_files_without_pandas(
    tmp_path: Path, command: str
) -> None:
    traces = str(tmp_path / "traces")
    subprocess.run([sys.executable, "-c", RECORDED, traces], timeout=120, check=True)
    program = Path(sys.executable).with_name("trackway")
    done = subprocess.run(
        [program, command, traces], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
