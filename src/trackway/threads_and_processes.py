"""What Python's own threads, pools and processes take along of the run in which they are used.

1. Tasks and `asyncio.to_thread` copy the context on their own. `ThreadPoolExecutor.submit`,
   `Thread.start`, `ProcessPoolExecutor.submit`, the methods of `multiprocessing.Pool` and
   `Process.start` do not: `configure()` makes them hand the place over when, and only when, they
   are called inside a run. So it does with the pools of joblib, once they are loaded.
2. A worker that a pool starts inside a run takes nothing along: it outlives the run.
3. What goes to another process is a part of the run, and is missed if it comes to no end
   (`handed_over.py`).
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from inspect import getattr_static
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context, get_current

from trackway.driving import detach
from trackway.greenlets import hand_over_to_greenlets, stop_handing_over_to_greenlets
from trackway.handed_over import tell_end
from trackway.late_steps import started_in_run
from trackway.propagation import carrier, in_place
from trackway.recording import unseen
from trackway.run import Run, current_run

_FUNCTION: Final = "func"
_POOL_METHODS: Final = (
    *("apply_async", "map", "map_async", "starmap", "starmap_async", "imap", "imap_unordered"),
)
"""`apply` calls `apply_async`; the others each reach the queue by a way of their own."""
_LOKY: Final = ("joblib.externals.loky.", "loky.")
"""The pool of joblib, which is none of the standard library's."""
_SERVICES: Final = ("multiprocessing.", "concurrent.", *_LOKY)
"""Workers of pools and servers of managers: they serve whoever asks."""


class _InThread:
    """A function that runs under the context of the thread that submitted it."""

    __slots__ = ("_context", "_function")

    def __init__(self, function: Callable[..., Any], context: Context) -> None:
        self._function = function
        self._context = context

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        token = otel_context.attach(self._context)
        try:
            return self._function(*args, **kwargs)
        finally:
            detach(token)


class _InProcess:
    """A function that runs in the place of its submitter, in another process.

    It is a part of the run from when it is pickled or forked (`handed_over.py`); not in a pool of
    threads.
    """

    def __init__(self, function: Callable[..., Any], run: Run) -> None:
        self._function = function
        self._texts = carrier()
        self._run = run
        self._part: str | None = None
        self._calls = 1

    def for_calls(self, calls: int) -> _InProcess:
        """Return another one like it, a part of its own, which a worker calls so many times."""
        other = object.__new__(_InProcess)  # `copy` would pickle it, and so hand it over
        vars(other).update(vars(self), _calls=calls)
        return other

    def hand_over(self) -> None:
        """Make it a part of the run, once; of one that is not recorded nothing is missed."""
        if self._part is None and self._run.recording:
            self._part = self._run.parts.hand_over()

    def take_back(self) -> None:
        """Make it none: it did not start."""
        if self._part is not None:
            self._run.parts.take_back()

    def __reduce__(self) -> tuple[Any, ...]:
        self.hand_over()
        return _Part, (self._function, self._texts, self._part, self._calls)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Part(self._function, self._texts, self._part)(*args, **kwargs)


class _Part:
    """The same as it arrives in the other process.

    It ends with the last of its calls, or with the first that fails: a pool makes no other then.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        texts: Mapping[str, str],
        part: str | None,
        calls: int = 1,
    ) -> None:
        self._function = function
        self._texts = texts
        self._part = part
        self._calls = calls
        self._unseen: int | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = self._unseen = unseen() if self._unseen is None else self._unseen
        self._calls -= 1
        with in_place(self._texts) as run:
            try:
                result = self._function(*args, **kwargs)
            except BaseException:  # whatever it is, the pool calls no more
                self._end(run, before)
                raise
            if self._calls <= 0:
                self._end(run, before)
            return result

    def _end(self, run: Run | None, before: int) -> None:
        part, self._part = self._part, None
        if part is not None and run is not None:
            tell_end(part, run.attributes, run.parts, before)


def _in_chunks(get_tasks: Callable[..., Any]) -> Callable[..., Any]:
    """Give each chunk of items that a pool sends to a worker a part of its own."""

    def get_tasks_in_place(function: Any, *args: Any) -> Iterator[Any]:
        for task in get_tasks(function, *args):
            if type(function) is _InProcess:
                _, items = task
                yield function.for_calls(len(items)), items
            else:
                yield task

    return get_tasks_in_place


@contextmanager
def _outside() -> Iterator[None]:
    """Do what starts or forks workers, which must not keep the run for life."""
    token = otel_context.attach(Context())
    try:
        yield
    finally:
        detach(token)


def _submitting(
    submit: Callable[..., Any],
    hand_over: Callable[[Callable[..., Any], Run], Callable[..., Any]],
) -> Callable[..., Any]:
    def submitin_place(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = current_run()
        if run is None:
            return submit(self, *args, **kwargs)
        if args:
            args = (hand_over(args[0], run), *args[1:])
        elif _FUNCTION in kwargs:
            kwargs[_FUNCTION] = hand_over(kwargs[_FUNCTION], run)
        with _outside():
            return submit(self, *args, **kwargs)

    return submitin_place


def _submit_to_threads(submit: Callable[..., Any]) -> Callable[..., Any]:
    return _submitting(submit, lambda function, _: _InThread(function, get_current()))


def _submit_to_processes(submit: Callable[..., Any]) -> Callable[..., Any]:
    return _submitting(submit, _InProcess)


def _start_thread(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    def startin_place(self: threading.Thread) -> None:
        if current_run() is not None and not self.name.startswith("trackway-"):
            # On the instance: the class stays as it is, and so do other threads.
            work = functools.partial(started_in_run, self.run)
            self.run = _InThread(work, get_current())  # type: ignore[method-assign]  # of this thread alone
        start(self)

    return startin_place


def _start_process(start: Callable[[Any], None]) -> Callable[[Any], None]:
    def startin_place(self: Any) -> None:
        run = current_run()
        if type(self).__module__.startswith(_LOKY):
            _meet_loky(run)
        if run is None:
            start(self)
        elif _is_service(self):
            with _outside():
                start(self)
        else:
            own = vars(self).get("run")
            # On the instance: the class stays as it is, and so do other processes.
            part = self.run = _InProcess(own or functools.partial(type(self).run, self), run)
            part.hand_over()
            try:
                start(self)
            except BaseException:  # whatever it is, it is the caller's: nothing has started
                part.take_back()
                raise
            finally:
                del self.run
                if own is not None:
                    self.run = own

    return startin_place


def _is_service(process: Any) -> bool:
    target = getattr(process, "_target", None)
    serves = type(process).run if target is None else target
    return str(getattr(serves, "__module__", "")).startswith(_SERVICES)


class _Patches:
    """The functions of others as they were, to be put back."""

    originals: list[tuple[type, str, Any]] = []  # noqa: RUF012 - one per process

    @classmethod
    def put(cls, owner: type, name: str, patch: Callable[[Any], Any]) -> None:
        function, original = getattr(owner, name), getattr_static(owner, name)
        cls.originals.append((owner, name, original))
        patched = functools.wraps(function)(patch(function))
        is_static = isinstance(original, staticmethod)
        setattr(owner, name, staticmethod(patched) if is_static else patched)


def _hand_over_to_loky() -> bool:
    """Have joblib's pools take the run along, where they are loaded; whether any is new."""
    patched = {owner for owner, _, _ in _Patches.originals}
    loaded = [sys.modules.get(f"{package}process_executor") for package in _LOKY]
    fresh = {module.ProcessPoolExecutor for module in loaded if module is not None} - patched
    for owner in fresh:
        _Patches.put(owner, "submit", _submit_to_processes)
    return bool(fresh)


def _meet_loky(run: Run | None) -> None:
    """A worker of joblib starts; what it was started for went without the run, which is missed."""
    if _hand_over_to_loky() and run is not None and run.recording:
        run.parts.hand_over()


def hand_over_to_threads_and_processes() -> None:
    """Make pools and threads that are used inside a run take the run along; once."""
    if _Patches.originals:
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.pool import Pool
    from multiprocessing.process import BaseProcess

    replacements: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
        (ThreadPoolExecutor, "submit", _submit_to_threads),
        (ProcessPoolExecutor, "submit", _submit_to_processes),
        (threading.Thread, "start", _start_thread),
        (BaseProcess, "start", _start_process),
        *((Pool, name, _submit_to_processes) for name in _POOL_METHODS),
        (Pool, "_get_tasks", _in_chunks),
    )
    for owner, name, patch in replacements:
        _Patches.put(owner, name, patch)
    _hand_over_to_loky()
    hand_over_to_greenlets()


def stop_handing_over() -> None:
    """Put the functions of others back."""
    stop_handing_over_to_greenlets()
    while _Patches.originals:
        owner, name, original = _Patches.originals.pop()
        setattr(owner, name, original)
