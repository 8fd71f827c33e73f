"""Objects that fight back: their code never runs, and nothing they do reaches the caller."""

from __future__ import annotations

import collections
import itertools
import json
import sys
import threading
from typing import Any, NoReturn
from unittest import mock

import pytest

from trackway.capture import Capture, capture_errors
from trackway.capture.encode import snapshot
from trackway.capture.errors import reset_capture_errors

CAPTURE = Capture()


def never(*_args: Any, **_named: Any) -> NoReturn:
    raise AssertionError("code of the value ran")


class Hostile:
    __repr__ = __str__ = __eq__ = __hash__ = __iter__ = __len__ = __bool__ = never  # type: ignore
    __getattribute__ = __getattr__ = __reduce__ = __format__ = __dir__ = never  # type: ignore


class HostileMeta(type):
    __eq__ = __hash__ = __repr__ = __getattribute__ = __instancecheck__ = never  # type: ignore


class HostileClass(metaclass=HostileMeta):
    pass


class Pretender:
    """Claims to be a dict, as proxies do."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        never()

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        never()


class EndlessList(list[int]):
    def __iter__(self) -> Any:
        return itertools.count()

    def __len__(self) -> int:
        return sys.maxsize


class HostileDict(dict[str, int]):
    items = keys = values = __iter__ = __getitem__ = __contains__ = __len__ = never  # type: ignore


class HostileText(str):
    __str__ = __repr__ = __len__ = __eq__ = __hash__ = __getitem__ = __format__ = never  # type: ignore


class HostileNumber(int):
    __int__ = __str__ = __repr__ = __lt__ = __le__ = __index__ = __abs__ = never  # type: ignore


HOSTILE: list[tuple[Any, str]] = [
    (Hostile(), f'"<{__name__}.Hostile>"'),
    ([Hostile(), 1], f'["<{__name__}.Hostile>",1]'),
    (HostileClass(), f'"<{__name__}.HostileClass>"'),
    ({"a": HostileClass()}, f'{{"a":"<{__name__}.HostileClass>"}}'),
    (Pretender(), f'"<{__name__}.Pretender>"'),
    (EndlessList([1, 2]), "[1,2]"),
    (HostileDict(a=1), '{"a":1}'),
    (HostileText("abc"), '"abc"'),
    (HostileNumber(5), "5"),
    (mock.MagicMock(), '"<unittest.mock.MagicMock>"'),
    (threading.Lock(), '"<_thread.lock>"'),
    (itertools.count(), '"<itertools.count>"'),
]


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_no_code_of_the_value_runs(place: int) -> None:
    value, text = HOSTILE[place]
    reset_capture_errors()
    assert CAPTURE.value(value).text == text
    assert capture_errors() == {}


def test_a_generator_is_not_consumed() -> None:
    numbers = iter([1, 2, 3])
    CAPTURE.value(numbers)
    CAPTURE.arguments({"numbers": numbers})
    assert list(numbers) == [1, 2, 3]


def test_ten_thousand_nested_lists_are_cut_at_the_depth() -> None:
    nested: list[Any] = []
    for _ in range(10_000):
        nested = [nested]
    captured = CAPTURE.value(nested)
    assert captured.text == "[" * 20 + '"…[truncated: too deep]"' + "]" * 20
    assert captured.truncated


def test_values_that_refer_to_each_other_through_objects_end() -> None:
    import types

    first, second = types.SimpleNamespace(), types.SimpleNamespace()
    first.other, second.other = second, first
    assert "…[circular]" in (CAPTURE.value(first).text or "")


def test_a_long_chain_of_wrappers_is_cut_at_the_depth() -> None:
    chain: Any = collections.UserDict()
    for _ in range(5_000):
        outer: Any = collections.UserDict()
        outer.data, chain = chain, outer
    reset_capture_errors()
    assert CAPTURE.value(chain).text == '"…[truncated: too deep]"'
    assert capture_errors() == {}


def test_a_container_that_changes_while_it_is_read_is_read_again() -> None:
    class Changing:
        changes = 2

        def __iter__(self) -> Any:
            if self.changes:
                self.changes -= 1
                raise RuntimeError("dictionary changed size during iteration")
            return iter([1, 2, 3])

    assert snapshot(Changing(), 2) == [1, 2]


def test_a_call_near_the_recursion_limit_survives() -> None:
    def deeper(left: int) -> Any:
        return CAPTURE.value({"a": [{"b": Hostile()}]}) if left == 0 else deeper(left - 1)

    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1  # type: ignore[assignment]
    for spare in range(3, 40):
        try:
            captured = deeper(sys.getrecursionlimit() - used - spare)
        except RecursionError:
            continue  # the test's own frames did not fit
        json.loads(captured.text or "")
    reset_capture_errors()


def test_a_dict_that_another_thread_changes_is_survived() -> None:
    shared: dict[str, Any] = {str(number): number for number in range(100)}
    shared["odd"] = Hostile()
    stop = threading.Event()

    def change() -> None:
        for number in itertools.count():
            if stop.is_set():
                return
            shared[f"new{number % 500}"] = number
            shared.pop(f"new{(number + 250) % 500}", None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            json.loads(CAPTURE.value(shared).text or "")
    finally:
        stop.set()
        thread.join()


def test_a_payload_of_200_megabytes_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = CAPTURE.value({"blob": "x" * 200_000_000, "order_id": "o1"})
    written = json.loads(captured.text or "")
    assert written["order_id"] == "o1"
    assert len((captured.text or "").encode()) <= 65536
    assert captured.truncated
