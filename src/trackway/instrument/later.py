"""Turning a library on when the program imports it, for one whose import does more than import.

LiteLLM downloads a table of prices when it is imported, and waits where there is no network: a
program that has it installed and does not use it must not wait, too.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from trackway.capture import record_capture_error
from trackway.instrument.library import Library, Undo
from trackway.watching import watch


def once_imported(library: Library, turn_on: Callable[[], Undo]) -> Undo:
    """Turn a library on as soon as it is imported; return what takes that back."""
    undos: list[Undo] = []
    wanted = [True]

    def imported(_module: Any) -> None:
        if not wanted:
            return
        try:
            undos.append(turn_on())
        except Exception as error:  # noqa: BLE001 - an instrumentor must not break an import
            record_capture_error(f"instrument {library.name}", error)
            why = f"its instrumentor failed: {type(error).__name__}: {error}"
            watch(library.name, lambda: why)

    watch(library.name, lambda: None)  # on, and until it is imported there is nothing to lose
    # wrapt comes with every instrumentor; the SDK itself does without.
    import_module("wrapt").register_post_import_hook(imported, library.module)

    def undo() -> None:
        wanted.clear()
        for each in undos:
            each()

    return undo
