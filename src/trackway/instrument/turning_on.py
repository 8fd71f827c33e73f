"""Turning libraries on and off; the rules are those of the package."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

from trackway.capture import record_capture_error
from trackway.configure import provider_in_use
from trackway.doubles import expect
from trackway.environment import is_disabled, read_environment
from trackway.instrument.connections import kept, losses
from trackway.instrument.detection import active_instrumentors, can_import, fits, version_of
from trackway.instrument.later import once_imported
from trackway.instrument.library import Library, Origin, Undo, Way
from trackway.instrument.registry import BY_NAME, KNOWN
from trackway.instrument.report import Entry, Report
from trackway.instrument.retries import watch_retries
from trackway.instrument.switches import SWITCHES, TAKES_PROVIDER, content_variables, with_variables
from trackway.recording import active
from trackway.run import open_runs
from trackway.schema import Trackway
from trackway.watching import unwatch, watch, why_lost

_UNSUPPORTED: Final = (
    "found, and not supported: decorate its calls with trackway.llm and trackway.tool; spans that "
    "it or an instrumentor of your own writes by the GenAI conventions are taken in"
)
_LATE: Final = "instrument() turned it on inside the run, what it did before is not recorded"
_OFF_INSIDE: Final = "uninstrument() turned it off inside the run"
_LOGGER: Final = logging.getLogger("trackway")


class _On:
    """What this process has turned on, and how each is turned off again."""

    entries: dict[str, Entry] = {}  # noqa: RUF012 - one per process
    undos: dict[str, Undo] = {}  # noqa: RUF012 - one per process
    shared: list[Undo] = []  # noqa: RUF012 - one per process
    """What is there for all of them, and goes once nothing is on any more."""


def instrument(*names: str, exclude: Iterable[str] = ()) -> Report:
    """Record the libraries that are installed; return what is on, what is off, and why.

    names: libraries of the registry; none means all. exclude: libraries to leave alone.
    """
    left_out = {exclude} if isinstance(exclude, str) else set(exclude)
    wanted = _with_needs(names) if names else [library.name for library in KNOWN]
    before = dict(_On.entries)
    loaded = [library.name for library in KNOWN if library.module in sys.modules]
    unknown = [name for name in (*names, *left_out) if name not in BY_NAME]
    entries = [_unknown(name) for name in unknown]
    for library in KNOWN:
        if library.name in wanted and library.name not in left_out:
            entries.append(_guarded(library))
    _expect_doubles()
    fresh = [name for name, entry in _On.entries.items() if entry is not before.get(name)]
    for run in open_runs() if fresh else ():
        run.tell(Trackway.INSTRUMENTATION_ON, fresh)
        run.tell(Trackway.INSTRUMENTATION_LOST, [f"{n}: {_LATE}" for n in fresh if n in loaded])
    on = {entry.library for entry in entries if entry.on} | set(_On.entries)
    return Report(tuple(_with_unseen(entry, on) for entry in entries))


def survey() -> Report:
    """Say what `instrument()` would turn on, and turn nothing on: no library is imported."""
    return Report(tuple(_guarded(library, dry=True) for library in KNOWN))


def uninstrument(*names: str) -> None:
    """Turn off what `instrument()` turned on: these libraries, or all of them."""
    going = [name for name in names or tuple(_On.undos) if name in _On.undos]
    for name in going:
        _turn_off(name)
    for run in open_runs() if going else ():
        run.tell(Trackway.INSTRUMENTATION_LOST, [f"{name}: {_OFF_INSIDE}" for name in going])
    while _On.shared and not _On.undos:
        _On.shared.pop()()
    _expect_doubles()


def _turn_off(name: str) -> None:
    undo = _On.undos.pop(name, None)
    _On.entries.pop(name, None)
    unwatch(name)
    try:
        if undo is not None:
            undo()
    except Exception as error:  # noqa: BLE001 - instrumentors are others' code
        record_capture_error(f"uninstrument {name}", error)


def _expect_doubles() -> None:
    expect(frozenset(scope for name in _On.undos for scope in _scopes(BY_NAME[name])))


def _scopes(library: Library) -> Iterable[str]:
    """Return the scopes of the spans that are there because the library is on."""
    patching = (way.target.partition(":")[0] for way in library.ways if not way.is_native)
    return (*patching, *library.scopes)


def _with_needs(names: Iterable[str]) -> list[str]:
    wanted = list(names)
    for name in wanted:
        wanted += [need for need in _needs(name) if need not in wanted]
    return wanted


def _needs(name: str) -> tuple[str, ...]:
    return BY_NAME[name].needs if name in BY_NAME else ()


def _with_unseen(entry: Entry, on: Collection[str]) -> Entry:
    """Say of a library that is on if its model calls stay unseen."""
    unseen = [need for need in _needs(entry.library) if entry.on and need not in on]
    unseen = [need for need in unseen if can_import(BY_NAME[need].module)]
    if not unseen:
        return entry
    why = f"its model calls through {unseen[0]} are not recorded: turn that on, too"
    return replace(entry, why=why)


def _unknown(name: str) -> Entry:
    near = get_close_matches(name, list(BY_NAME), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(BY_NAME)}"
    why = f"no library of the registry is called {name!r}; {hint}"
    _LOGGER.warning("trackway: instrument(): %s", why)
    return Entry(name, None, None, None, on=False, why=why, content=None)


def _guarded(library: Library, *, dry: bool = False) -> Entry:
    try:
        return _turned_on(library, dry=dry)
    except Exception as error:  # noqa: BLE001 - what is installed may be broken in any way
        record_capture_error(f"instrument {library.name}", error)
        return _off(library, None, f"not looked at: {type(error).__name__}: {error}")


def _turned_on(library: Library, *, dry: bool) -> Entry:
    if library.name in _On.entries:
        if why_lost(library.name) is None:
            return _On.entries[library.name]
        _turn_off(library.name)
    version = version_of(library.distribution)
    if not can_import(library.module):
        return _off(library, None, "")
    if is_disabled():
        return _off(library, version, "recording is disabled by TRACKWAY_DISABLED")
    if not library.ways:
        return _off(library, version, _UNSUPPORTED)
    fitting = [way for way in library.ways if fits(way, version)]
    others = active_instrumentors(library)
    if others:
        return _left_to(library, version, others, fitting)
    way = next((way for way in fitting if version_of(way.distribution)), None)
    if way is None:
        return _off(
            library, version, f"no instrumentor for it: pip install 'trackway[{library.name}]'"
        )
    return _entry(library, version, way) if dry else _try(library, version, way)


def _try(library: Library, version: str | None, way: Way) -> Entry:
    content = content_choice()
    if not _On.shared:
        _On.shared += [with_variables(content_variables(content)), watch_retries()]
    try:
        if library.import_is_costly and library.module not in sys.modules:
            undo = once_imported(library, lambda: _switch(library, way, content, provider_in_use()))
        else:
            undo = _switch(library, way, content, provider_in_use())
    except Exception as error:  # noqa: BLE001 - instrumentors are others' code
        record_capture_error(f"instrument {library.name}", error)
        return _off(library, version, f"{way.label} failed: {type(error).__name__}: {error}")
    entry = _entry(library, version, way)
    _On.entries[library.name] = entry
    _On.undos[library.name] = undo
    return entry


def _entry(library: Library, version: str | None, way: Way) -> Entry:
    best = library.ways[0]
    why = "" if way is best or not fits(best, version) else f"better: {best.label}"
    cut_off = why_lost(library.name)
    content = content_choice()
    return Entry(
        library.name,
        version,
        way.label,
        version_of(way.distribution),
        on=cut_off is None,
        why=cut_off or why,
        content=content if cut_off is None else None,
    )


def _switch(library: Library, way: Way, content: bool, provider: Any) -> Undo:
    if way.is_native:
        undo = SWITCHES[way.target](content, provider)
        watch(library.name, losses(library.name, None, _given(way, provider)))
        return undo
    module, _, name = way.target.partition(":")
    instrumentor: Any = getattr(import_module(module), name)()
    arguments: dict[str, Any] = {} if provider is None else {"tracer_provider": provider}
    if way.origin is Origin.OPENINFERENCE:
        config = import_module("openinference.instrumentation").TraceConfig
        arguments["config"] = config() if content else config(hide_inputs=True, hide_outputs=True)
    instrumentor.instrument(**arguments, raise_exception_on_conflict=True)
    release = kept(library.name, instrumentor)
    watch(library.name, losses(library.name, instrumentor, provider))

    def undo_all() -> None:
        if release is not None:
            release()
        if getattr(instrumentor, "is_instrumented_by_opentelemetry", True):
            instrumentor.uninstrument()

    return undo_all


def _given(way: Way, provider: Any) -> Any:
    """Most libraries that write their spans themselves take the global provider."""
    return provider if way.target in TAKES_PROVIDER else None


def content_choice() -> bool:
    """Whether content is recorded: what `configure()` was told, else what the environment says."""
    recorder = active()
    if recorder is not None:
        return recorder.capture.content
    found = read_environment().content
    return True if found is None else found


def _left_to(library: Library, version: str | None, others: list[str], fitting: list[Way]) -> Entry:
    ways = {way.target: way for way in fitting}
    names = [ways[o].distribution if o in ways else o.partition(":")[0] for o in others]
    why = (
        f"already recorded by {names[0]}, left to it: it decides whether there is content, "
        "without which the calls of a loop are not seen"
    )
    if len(names) > 1:
        why = f"recorded twice, by {' and '.join(names)}: turn one of them off"
        _LOGGER.warning("trackway: %s is %s", library.name, why)
    by = ways[others[0]].distribution if others[0] in ways else names[0]
    return Entry(library.name, version, by, version_of(by), on=True, why=why, content=None)


def _off(library: Library, version: str | None, why: str) -> Entry:
    return Entry(library.name, version, None, None, on=False, why=why, content=None)
