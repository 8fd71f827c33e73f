"""Recording without a line of code: `OTEL_PYTHON_DISTRO=trackway opentelemetry-instrument …`.

1. Chosen by name only: `OTEL_PYTHON_DISTRO=trackway` (which brings the configurator along) or
   `OTEL_PYTHON_CONFIGURATOR=trackway`. Where it is merely installed, everything goes on as without
   it.
2. The configurator is `configure()` and `instrument()`, with the environment's word for everything.
3. Instrumentors of libraries in the registry are left to `instrument()`: one a library. All others
   (web frameworks, databases) are loaded as ever.
4. `OTEL_PYTHON_DISABLED_INSTRUMENTATIONS` holds for the registry's libraries, too.
5. `TRACKWAY_RUN=TASK` makes the whole process one run of that task, for programs whose agent is a
   loop of their own: no span says where that begins. A process that it starts belongs to the run,
   too: a tool server on stdio would else be a run of the same task.
6. What fails is logged; the program starts.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
from contextlib import AbstractContextManager
from importlib import import_module, metadata
from typing import Any, Final

from trackway.blocks import run
from trackway.configure import configure
from trackway.export.shown import shown
from trackway.instrument.registry import BY_NAME, LIBRARIES
from trackway.instrument.turning_on import instrument
from trackway.propagation import carrier, in_place

NAME: Final = "trackway"
_DISTRO: Final = "OTEL_PYTHON_DISTRO"
_CONFIGURATOR: Final = "OTEL_PYTHON_CONFIGURATOR"
_DISABLED: Final = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
_RUN: Final = "TRACKWAY_RUN"
_CARRIER: Final = "TRACKWAY_RUN_CARRIER"
"""Set by the process that opened the run, for those that it starts."""
_LOGGER: Final = logging.getLogger("trackway")
_OURS: Final = frozenset(
    target
    for library in LIBRARIES
    for target in (*(way.target for way in library.ways if not way.is_native), *library.rivals)
)


def distro() -> Any:
    """Return the distribution where it was chosen, else None, which the loader passes over."""
    if os.environ.get(_DISTRO) != NAME:
        return None
    base: Any = import_module("opentelemetry.instrumentation.distro").BaseDistro

    class Distro(base):  # type: ignore[misc]  # a base known when it runs
        """Leaves the registry's libraries to `instrument()`."""

        def _configure(self, **_: Any) -> None:
            os.environ.setdefault(_CONFIGURATOR, NAME)

        def load_instrumentor(self, entry_point: Any, **arguments: Any) -> None:
            if entry_point.value not in _OURS:
                super().load_instrumentor(entry_point, **arguments)

    return Distro()


class Configurator:
    """What the entry point `opentelemetry_configurator` loads."""

    def configure(self, **arguments: Any) -> None:
        """Record from here on, where Trackway was chosen; else hand over to who else is there."""
        if os.environ.get(_CONFIGURATOR) != NAME:
            _configure_another(arguments)
            return
        try:
            configure()
            _open_run_of_process()
            report = instrument(exclude=_disabled())
        except Exception as error:  # noqa: BLE001 - a service must start without its recorder
            _LOGGER.error(
                "trackway: nothing is recorded: %s: %s", type(error).__name__, shown(error)
            )
            return
        _LOGGER.info("%s", report)


def _configure_another(arguments: dict[str, Any]) -> None:
    """The loader takes the first configurator that it finds, and that must not be this one."""
    for entry_point in metadata.entry_points(group="opentelemetry_configurator"):
        if entry_point.name != NAME:
            entry_point.load()().configure(**arguments)
            return


def _disabled() -> list[str]:
    named = [name.strip().replace("_", "-") for name in os.environ.get(_DISABLED, "").split(",")]
    return list(BY_NAME) if "*" in named else [name for name in named if name in BY_NAME]


def _open_run_of_process() -> None:
    task = os.environ.get(_RUN, "").strip()
    if not task:
        return
    given = os.environ.get(_CARRIER)
    # A process that was started for the run may serve on until it is killed: no part, no marks.
    block: AbstractContextManager[Any] = run(task) if given is None else in_place(json.loads(given))
    block.__enter__()
    if given is None:
        os.environ[_CARRIER] = json.dumps(carrier())
    process = os.getpid()

    def close() -> None:
        if os.getpid() == process:  # a forked child ends by itself, not the run
            block.__exit__(None, None, None)

    atexit.register(close)
