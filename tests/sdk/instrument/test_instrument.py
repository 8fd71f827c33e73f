"""`instrument()` turns on what is there, leaves what is on, and reports both."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import types
from collections.abc import Collection, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

import trackway
from trackway.environment import OTEL_CONTENT
from trackway.instrument import turning_on as room
from trackway.instrument.detection import fits, version_of
from trackway.instrument.library import Library, Origin, Way
from trackway.instrument.report import Entry, Report
from trackway.instrument.switches import content_variables
from trackway.watching import why_lost

OPENAI = version_of("openai")


class Instrumentor(BaseInstrumentor):  # type: ignore[misc]
    """One that remembers what it was given."""

    given: Any = None
    fails: Exception | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        return ()

    def _instrument(self, **arguments: Any) -> None:
        if type(self).fails is not None:
            raise type(self).fails
        type(self).given = arguments

    def _uninstrument(self, **arguments: Any) -> None: ...


def way(name: str, **changes: Any) -> Way:
    return replace(
        Way(Origin.OFFICIAL, "pytest", f"made_up_instrumentors:{name}", "because"), **changes
    )


def library(*ways: Way, **changes: Any) -> Library:
    return replace(Library("openai", "openai", "openai", ways, "model calls"), **changes)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Instrumentors `First` and `Second`, fresh and off."""
    module = types.ModuleType("made_up_instrumentors")
    for name in ("First", "Second"):
        setattr(module, name, type(name, (Instrumentor,), {}))
    monkeypatch.setitem(sys.modules, "made_up_instrumentors", module)
    monkeypatch.setattr(
        room, "_On", type("_On", (room._On,), {"entries": {}, "undos": {}, "shared": []})
    )
    yield module
    trackway.uninstrument()


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Any:
    def known(*libraries: Library) -> None:
        monkeypatch.setattr(room, "KNOWN", libraries)
        monkeypatch.setattr(room, "BY_NAME", {one.name: one for one in libraries})

    return known


def test_the_first_way_that_is_installed_is_taken(module: Any, known: Any) -> None:
    known(library(way("First", distribution="not-installed-here"), way("Second")))
    entry = trackway.instrument()["openai"]
    assert entry.on
    assert module.Second().is_instrumented_by_opentelemetry
    assert not module.First().is_instrumented_by_opentelemetry
    assert (entry.by, entry.by_version) == ("pytest", version_of("pytest"))
    assert entry.why == "better: not-installed-here"


def test_a_way_for_another_version_is_passed_over(module: Any, known: Any) -> None:
    known(library(way("First", before="1"), way("Second", since="1")))
    trackway.instrument()
    assert module.Second().is_instrumented_by_opentelemetry
    assert not module.First().is_instrumented_by_opentelemetry


def test_a_library_that_another_instrumentor_records_is_left_to_it(module: Any, known: Any) -> None:
    module.Second().instrument()
    known(library(way("First"), rivals=("made_up_instrumentors:Second",)))
    entry = trackway.instrument()["openai"]
    assert entry.on
    assert entry.why == (
        "already recorded by made_up_instrumentors, left to it: it decides whether there is"
        " content, without which the calls of a loop are not seen"
    )
    assert not module.First().is_instrumented_by_opentelemetry
    trackway.uninstrument()
    assert module.Second().is_instrumented_by_opentelemetry


def test_a_library_that_is_recorded_twice_is_told_of(
    module: Any, known: Any, caplog: pytest.LogCaptureFixture
) -> None:
    module.First().instrument()
    module.Second().instrument()
    known(library(way("First"), rivals=("made_up_instrumentors:Second",)))
    entry = trackway.instrument()["openai"]
    told = "recorded twice, by pytest and made_up_instrumentors: turn one of them off"
    assert entry.why == told
    assert [r.getMessage() for r in caplog.records] == [f"trackway: openai is {told}"]


def test_an_instrumentor_that_fails_is_off_and_raises_nothing(module: Any, known: Any) -> None:
    module.First.fails = RuntimeError("wants openai >= 9")
    known(library(way("First")))
    entry = trackway.instrument()["openai"]
    assert not entry.on
    assert entry.why == "pytest failed: RuntimeError: wants openai >= 9"
    assert "instrument openai" in trackway.capture_errors()


def test_a_broken_installation_raises_nothing(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(distribution: str) -> str:
        raise OSError("no metadata")

    monkeypatch.setattr(room, "version_of", broken)
    known(library(way("First")))
    assert trackway.instrument()["openai"].why == "not looked at: OSError: no metadata"


def test_what_is_not_installed_is_passed_over(known: Any) -> None:
    known(library(way("First"), module="no_such_module", distribution="no-such-thing"))
    report = trackway.instrument()
    assert (report.on, report.off) == ((), ())
    assert str(report) == "trackway records 0 of 0 libraries that are installed"


def test_a_library_without_instrumentor_says_what_to_install(known: Any) -> None:
    known(library(way("First", distribution="not-installed-here")))
    report = trackway.instrument()
    assert report.off == ("openai",)
    assert report["openai"].why == "no instrumentor for it: pip install 'trackway[openai]'"


def test_what_is_found_and_not_supported_is_said(known: Any) -> None:
    known(library(name="some-client"))
    report = trackway.instrument()
    assert report.off == ("some-client",)
    assert report["some-client"].why.startswith("found, and not supported: decorate its calls")


def test_calling_it_again_changes_nothing(module: Any, known: Any) -> None:
    known(library(way("First")))
    assert trackway.instrument()["openai"] == trackway.instrument()["openai"]


def test_uninstrument_takes_back_what_it_did(
    module: Any, known: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OTEL_CONTENT, raising=False)
    known(library(way("First")))
    trackway.instrument()
    assert os.environ[OTEL_CONTENT] == "SPAN_ONLY"
    trackway.uninstrument()
    assert not module.First().is_instrumented_by_opentelemetry
    assert OTEL_CONTENT not in os.environ


def test_a_provider_that_is_not_global_is_handed_on(module: Any, known: Any) -> None:
    from opentelemetry.sdk.trace import TracerProvider

    from trackway.testing import MemorySpans

    provider = TracerProvider()
    MemorySpans().configure(tracer_provider=provider)
    known(library(way("First")))
    trackway.instrument()
    trackway.shutdown()
    assert module.First.given["tracer_provider"] is provider


def test_names_and_exclude_choose(module: Any, known: Any) -> None:
    agents = library(way("Second"), name="agents", needs=("openai",))
    known(library(way("First")), agents)
    assert trackway.instrument("openai").on == ("openai",)
    assert trackway.instrument("agents").on == ("openai", "agents")
    assert trackway.instrument(exclude=["openai"]).on == ("agents",)


def test_a_framework_whose_model_calls_stay_unseen_says_so(module: Any, known: Any) -> None:
    agents = library(way("Second"), name="agents", needs=("openai",))
    known(library(way("First")), agents)
    unseen = "its model calls through openai are not recorded: turn that on, too"
    assert trackway.instrument(exclude=["openai"])["agents"].why == unseen
    assert trackway.instrument()["agents"].why == ""


def test_a_misspelt_name_is_told_of_and_raises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    report = trackway.instrument("opnai")
    told = "no library of the registry is called 'opnai'; did you mean 'openai'?"
    assert report["opnai"].why == told
    assert [r.getMessage() for r in caplog.records] == [f"trackway: instrument(): {told}"]
    assert str(report).splitlines()[-1].strip() == told


def test_disabled_recording_turns_nothing_on(
    module: Any, known: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKWAY_DISABLED", "true")
    known(library(way("First")))
    assert trackway.instrument().on == ()
    assert module.First.given is None


@pytest.mark.parametrize(
    ("asked", "content", "told"),
    [
        (None, True, "SPAN_ONLY"),
        ("true", True, "SPAN_ONLY"),
        ("EVENT_ONLY", True, "SPAN_AND_EVENT"),
        ("span_and_event", True, "SPAN_AND_EVENT"),
        ("SPAN_ONLY", False, "NO_CONTENT"),
        (None, False, "NO_CONTENT"),
    ],
)
def test_instrumentors_are_told_the_content_choice_in_their_words(
    monkeypatch: pytest.MonkeyPatch, asked: str | None, content: bool, told: str
) -> None:
    monkeypatch.delenv(OTEL_CONTENT, raising=False)
    if asked is not None:
        monkeypatch.setenv(OTEL_CONTENT, asked)
    assert content_variables(content) == {OTEL_CONTENT: told}


@pytest.mark.parametrize(
    ("version", "since", "before", "fitting"),
    [
        ("2.14.0", "2", None, True),
        ("1.9", "2", None, False),
        ("1.9", "0", "2", True),
        ("2.0.0", "0", "2", False),
        ("2.0.0b1", "2", None, True),
        (None, "2", None, True),
        (None, "0", "2", False),
    ],
)
def test_a_way_fits_a_range_of_versions(
    version: str | None, since: str, before: str | None, fitting: bool
) -> None:
    assert fits(way("First", since=since, before=before), version) is fitting


def test_the_report_reads_as_a_table() -> None:
    report = Report(
        (
            Entry("openai", "3.57.0", "some-instrumentor", "1.3b0", True, "", True),
            Entry("langchain", "1.8.3", None, None, False, "no instrumentor for it", None),
            Entry("mcp", None, None, None, False, "", None),
        )
    )
    assert str(report) == (
        "trackway records 1 of 2 libraries that are installed\n"
        "on   openai 3.57.0             some-instrumentor 1.3b0"
        "                               content on\n"
        "off  langchain 1.8.3\n"
        "     no instrumentor for it"
    )


def test_importing_trackway_imports_no_framework() -> None:
    code = (
        "import sys, trackway, trackway.instrument.registry\n"
        "from trackway.instrument.registry import LIBRARIES\n"
        "loaded = [l.module for l in LIBRARIES if l.module in sys.modules]\n"
        "assert not loaded, loaded\n"
        "assert 'opentelemetry.instrumentation' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_module_prints_the_report_and_imports_no_library() -> None:
    code = (
        "import runpy, sys\n"
        "runpy.run_module('trackway.instrument', run_name='__main__')\n"
        "from trackway.instrument.registry import LIBRARIES\n"
        "loaded = [l.module for l in LIBRARIES if l.module in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert told.startswith("trackway records ")
    assert "on   anthropic" in told


def test_a_library_whose_import_is_costly_is_turned_on_when_the_program_imports_it(
    module: Any, known: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_client.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    known(library(way("First"), module="slow_client", import_is_costly=True))
    assert trackway.instrument()["openai"].on
    assert "slow_client" not in sys.modules
    assert not module.First().is_instrumented_by_opentelemetry
    import_module("slow_client")
    assert module.First().is_instrumented_by_opentelemetry
    trackway.uninstrument()
    assert not module.First().is_instrumented_by_opentelemetry
    del sys.modules["slow_client"]


def test_an_instrumentor_that_fails_late_does_not_break_the_import(
    module: Any, known: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_client.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    known(library(way("First"), module="broken_client", import_is_costly=True))
    module.First.fails = RuntimeError("wants another version")
    trackway.instrument()
    assert import_module("broken_client").value == 1
    assert why_lost("openai") == "its instrumentor failed: RuntimeError: wants another version"
    assert "instrument openai" in trackway.capture_errors()
    del sys.modules["broken_client"]


def test_nothing_is_logged_for_what_is_simply_not_there(
    known: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "trackway")
    known(library(way("First", distribution="not-installed-here")))
    trackway.instrument()
    assert not caplog.records
