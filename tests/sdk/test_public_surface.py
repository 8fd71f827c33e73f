"""What a user's program leans on: names, parameters, dependencies, what an import costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import trackway

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# Adding to this is a feature. Taking away from it breaks programs: deprecate first.
PARAMETERS = {
    "agent": "name version",
    "tool": "name kind alias entity entity_type returns success operation_id description",
    "llm": "name model provider",
    "retriever": "name",
    "configure": "service_name export redact capture_content sample keep_failed resource version"
    " variant limits hand_over baggage flush_at_run_end tools tracer_provider",
    "flush": "timeout",
    "instrument": "names exclude",
    "waiting": "result owner deadline",
    "shutdown": "timeout",
}
NAMES = """
Limits Run TrajectoryRecorder __version__ agent capture_errors carried carrier configure context
continuity current_run decision effect final flush instrument llm outcome redactor requested resume
retriever run shutdown state step tool tools uninstrument wait waiting
"""


def test_no_public_name_goes_away() -> None:
    assert set(NAMES.split()) <= set(trackway.__all__)
    assert all(hasattr(trackway, name) for name in trackway.__all__)


def test_names_that_are_modules_too_are_the_public_ones_whatever_was_imported_before() -> None:
    program = """
import trackway.schema, trackway.instrument.registry, trackway.run, trackway.llm, trackway.configure
import sys
import trackway
assert "run" in dir(trackway)
for name in ("run", "llm", "configure", "instrument"):
    assert callable(getattr(trackway, name)), name
    assert getattr(trackway, name) is getattr(sys.modules["trackway.public"], name)
from trackway import instrument, run
from trackway.instrument import Report, uninstrument
assert trackway.uninstrument is uninstrument
assert isinstance(trackway.instrument(exclude=()), Report)
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)


def test_a_public_name_can_be_replaced_and_put_back() -> None:
    for name in ("run", "tool"):
        before = getattr(trackway, name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trackway, name, "mine")
            assert getattr(trackway, name) == "mine"
        assert getattr(trackway, name) is before


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'trackway' has no attribute 'tol'"):
        _ = getattr(trackway, "to" + "l")
    with pytest.raises(ImportError, match="cannot import name 'tol' from 'trackway'"):
        exec("from trackway import tol")


def test_what_is_handed_out_is_what_is_named() -> None:
    assert trackway.__all__ == sys.modules["trackway.public"].__all__


def test_the_schema_alone_imports_no_recorder() -> None:
    program = """
import sys
import trackway.schema
ours = {name for name in sys.modules if name.startswith("trackway.")}
assert ours == {"trackway.schema"}, ours
assert "opentelemetry" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)


def test_no_parameter_goes_away_or_changes_places() -> None:
    for name, expected in PARAMETERS.items():
        parameters = inspect.signature(getattr(trackway, name)).parameters
        assert [found for found in parameters if found in expected.split()] == expected.split()


def test_the_base_needs_opentelemetry_alone_within_ranges() -> None:
    packages = {"opentelemetry-api", "opentelemetry-sdk", "opentelemetry-exporter-otlp"}
    assert {line.partition(">=")[0] for line in PROJECT["dependencies"]} == packages
    everything = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["parquet"]]
    assert not [line for line in everything if "==" in line or "~=" in line or ">=" not in line]


def test_an_import_brings_no_framework_and_opens_no_connection() -> None:
    program = """
import sys, threading
import trackway
assert callable(trackway.tool)
heavy = {"pyarrow", "pandas", "numpy", "grpc", "requests", "openai", "anthropic", "httpx",
         "fastapi", "pydantic", "asyncio", "multiprocessing.pool"}
assert not heavy & set(sys.modules), sorted(heavy & set(sys.modules))
assert threading.active_count() == 1
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
