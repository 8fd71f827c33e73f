"""Being installed changes nothing under `opentelemetry-instrument`; being chosen does."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pytest

from trackway.instrument import zero_code

DISTRO, CONFIGURATOR = "OTEL_PYTHON_DISTRO", "OTEL_PYTHON_CONFIGURATOR"


class Other:
    """Another configurator that is installed."""

    given: Any = None

    def configure(self, **arguments: Any) -> None:
        Other.given = arguments


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DISTRO, raising=False)
    monkeypatch.delenv(CONFIGURATOR, raising=False)
    monkeypatch.setattr(Other, "given", None)


def test_both_entry_points_are_declared() -> None:
    for group in ("opentelemetry_distro", "opentelemetry_configurator"):
        assert [e.name for e in entry_points(group=group)].count("trackway") == 1


@pytest.mark.parametrize("chosen", [None, "other"])
def test_a_distro_that_was_not_chosen_is_none(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    if chosen is not None:
        monkeypatch.setenv(DISTRO, chosen)
    assert zero_code.distro() is None


def test_the_chosen_distro_brings_its_configurator(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv(DISTRO, "trackway")
    monkeypatch.setenv(CONFIGURATOR, "")
    monkeypatch.delenv(CONFIGURATOR)
    zero_code.distro().configure()
    assert os.environ[CONFIGURATOR] == "trackway"


def test_the_distro_leaves_the_registry_s_libraries_to_instrument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(DISTRO, "trackway")
    loaded: list[str] = []

    def entry_point(value: str) -> Any:
        def load() -> Any:
            loaded.append(value)
            return type("Any", (), {"instrument": lambda self, **_: None})

        return type("Point", (), {"value": value, "load": staticmethod(load)})

    distro = zero_code.distro()
    for value in (
        "opentelemetry.instrumentation.genai.openai:OpenAIInstrumentor",
        "opentelemetry.instrumentation.openai:OpenAIInstrumentor",
        "opentelemetry.instrumentation.fastapi:FastAPIInstrumentor",
    ):
        distro.load_instrumentor(entry_point(value), skip_dep_check=True)
    assert loaded == ["opentelemetry.instrumentation.fastapi:FastAPIInstrumentor"]


def test_a_configurator_that_was_not_chosen_hands_over_to_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = EntryPoint("trackway", "x:X", "opentelemetry_configurator")
    other = type("Point", (), {"name": "other", "load": staticmethod(lambda: Other)})
    monkeypatch.setattr(zero_code.metadata, "entry_points", lambda group: [ours, other])
    zero_code.Configurator().configure(auto_instrumentation_version="1")
    assert Other.given == {"auto_instrumentation_version": "1"}


def test_a_configurator_that_was_not_chosen_and_is_alone_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = EntryPoint("trackway", "x:X", "opentelemetry_configurator")
    monkeypatch.setattr(zero_code.metadata, "entry_points", lambda group: [ours])
    monkeypatch.setattr(zero_code, "configure", lambda: pytest.fail("configured"))
    zero_code.Configurator().configure()


def test_a_recorder_that_fails_lets_the_service_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> None:
        raise ValueError("no such target")

    monkeypatch.setenv(CONFIGURATOR, "trackway")
    monkeypatch.setattr(zero_code, "configure", fails)
    zero_code.Configurator().configure()
    assert [r.getMessage() for r in caplog.records] == [
        "trackway: nothing is recorded: ValueError: no such target"
    ]
