"""Every rule, by the key under which a policy file names it; imported when a policy does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from trackway_analyzer.rules.rule import Rule, key_of

_CLASSES: Final = """
    Sequence Exact InOrder AnyOrder AtLeast AtMost Called Never First Last Accompanied Together
    NotTogether Before After NotAfter Responds Immediately Between AtMostOnceBetween Until
    PartialOrder StepRegex Count NoLoops Budget Arguments Grounded Forbidden Allowed Approved
    NoSecrets Recovered Executed AdmitsFailure ResultUsed Claim Answer Outcome Effects
    Continuity Routed Deadline Terminal
    """.split()  # noqa: SIM905 - a word list reads better as one


class _Rules(Mapping[str, type[Rule]]):
    """The classes of the package by their keys."""

    def __init__(self, names: list[str]) -> None:
        self._names = {key_of(name): name for name in names}

    def __getitem__(self, key: str) -> type[Rule]:
        found: type[Rule] = getattr(import_module("trackway_analyzer.rules"), self._names[key])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


RULES: Final[Mapping[str, type[Rule]]] = _Rules(_CLASSES)
ALIASES: Final = {"forbid": "forbidden", "allow": "allowed"}
