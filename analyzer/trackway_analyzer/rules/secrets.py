"""Does an argument carry a secret?

1. Secret is what the recorder would redact: vendor keys, bearer tokens, private keys, passwords,
   card numbers, and what stands under a key name such as `api_key`. Its patterns are used, so that
   recorder and check cannot drift apart.
2. Attempts count, also those that nobody ran. Entity arguments that the policy declares are exempt
   from patterns, as in the recorder: one order number in ten passes for a card.
3. Where the recorder took a secret out, its mark says of which kind it was: the call had it all the
   same. What a pattern of the user's own or another recorder took out may have been one:
   insufficient, as arguments that were not recorded are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow.compute as pc

from trackway.capture.redact import DEFAULT_REDACTOR
from trackway.schema import REDACTION_MARKER, Operation
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import JsonValue
from trackway_analyzer.rules.columns import is_null
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import Layer, Result
from trackway_analyzer.rules.gaps import REDACTED_GAP
from trackway_analyzer.rules.rule import Rule, Said, insufficient, may_hide_a_call, violated
from trackway_analyzer.rules.sentences import cannot_judge, step
from trackway_analyzer.rules.terms import Hidden, Source
from trackway_analyzer.rules.values import CUT_MARK, Key, members, simple_keys

_WORDS: Final = {"key_name": "a value that its name calls secret"}
_NO_SECRET: Final = frozenset({"email", "phone"})
"""Kinds that a recorder may take out, and that are personal rather than secret."""
_UNKNOWN: Final = frozenset({"custom", "hook_failed", "elsewhere"})
"""Marks that do not say what was there."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret in an argument. The secret itself is never shown."""

    path: str
    kind: str


@dataclass(frozen=True)
class NoSecrets(Rule):
    """No call is given a key, token, password or card number."""

    layer = Layer.SAFETY

    def check(self, batch: RunBatch | Evidence) -> list[Result]:
        """Return one result for each run with a secret in an argument, or arguments unseen."""
        evidence = self.evidence(batch)
        found: dict[int, Result] = {}
        unknown: dict[int, Result] = {}
        for row in self._suspects(evidence):
            run, position = evidence.run[row], evidence.position(row)
            if run in found:
                continue
            kinds = [leak.kind for leak in leaks(evidence, row)]
            if any(kind not in _UNKNOWN for kind in kinds):
                found[run] = violated(run, position)
            elif kinds:
                unknown.setdefault(run, insufficient(run, REDACTED_GAP, position, at=position))
        found = {**unknown, **found}
        for row in self._unseen(evidence):
            run = evidence.run[row]
            arguments = evidence.arguments(row)
            hidden = arguments if isinstance(arguments, Hidden) else arguments.cut
            if run not in found and hidden is not None:
                position = evidence.position(row)
                found[run] = insufficient(run, hidden.gap, position, at=position)
        for run in evidence.gaps.keys() - found.keys():
            result = may_hide_a_call(evidence, run)
            if result is not None:
                found[run] = result
        return sorted(found.values(), key=lambda result: result.run)

    def _suspects(self, evidence: Evidence) -> list[int]:
        """Rows that a quick look does not clear."""
        texts = evidence.batch.steps.column("arguments")
        marked = pc.match_substring_regex(texts, _screen())
        hit = pc.fill_null(marked, False).to_numpy().astype(bool)
        rows: list[int] = np.flatnonzero(hit & evidence.is_operation(Operation.TOOL)).tolist()
        return rows

    def _unseen(self, evidence: Evidence) -> list[int]:
        """Rows whose arguments were not recorded, or may have been cut."""
        steps = evidence.batch.steps
        texts = steps.column("arguments")
        marked = pc.fill_null(pc.match_substring(texts, CUT_MARK), True).to_numpy().astype(bool)
        unseen = marked | ~is_null(steps, "truncated")
        rows: list[int] = np.flatnonzero(unseen & evidence.is_operation(Operation.TOOL)).tolist()
        return rows

    def say(self, evidence: Evidence, result: Result) -> Said:
        """Make the sentence of one result."""
        if result.position is None:
            gap = result.detail["gap"]
            return Said(sentence=f"no secret was seen, but {gap} may hide a call")
        if "gap" in result.detail:
            return Said(sentence=cannot_judge(evidence, result, "its arguments"))
        row = int(evidence.batch.offsets[result.run]) + result.position
        leak = next(leak for leak in leaks(evidence, row) if leak.kind not in _UNKNOWN)
        kind = _WORDS.get(leak.kind, f"a secret ({leak.kind})")
        return Said(sentence=f"{step(evidence, row)}: {leak.path} holds {kind}", got=leak.path)


def _screen() -> str:
    """RE2 pattern without which no text holds a secret: kinds, suspicious names, and marks."""
    return (
        f'{DEFAULT_REDACTOR.screen}|\\[redacted:|(?i)"[^"]*(?:{"|".join(_NAME_PARTS)})[^"]*"\\s*:'
    )


_NAME_PARTS: Final = (
    *("pass", "pw", "secret", "token", "key", "auth", "cred", "cvv", "cvc", "pin", "card"),
    *("assertion", "bearer", "otp", "mfa", "cookie", "jwt", "connection", "sessid", "session"),
    *("phrase", "mnemonic", "words", "code", "answer", "ssn", "security", "wort", "woord"),
    *("senha", "contrase", r"[^\x00-\x7f]"),
)
"""One of them stands in every name that the recorder denies."""


def leaks(evidence: Evidence, row: int) -> Iterator[Leak]:
    """Secrets in the arguments of a call."""
    arguments = evidence.arguments(row)
    if isinstance(arguments, Source):
        exempt = evidence.spec_of(row).entity.argument
        yield from _leaks(arguments.value, _keys(exempt))


def _keys(path: str | None) -> tuple[Key, ...] | None:
    if path is None:
        return None
    return simple_keys(path if path.startswith("$") else f"$.{path}")


def _leaks(value: JsonValue, exempt: tuple[Key, ...] | None) -> Iterator[Leak]:
    for path, key, item in members(value):
        if isinstance(item, str) and (marks := REDACTION_MARKER.findall(item)):
            yield from (Leak(path, kind) for kind in marks if kind not in _NO_SECRET)
        elif isinstance(key, str) and DEFAULT_REDACTOR.withholds(key, item):
            yield Leak(path, "key_name")
        elif exempt is None or simple_keys(path) != exempt:
            text = str(item) if type(item) is int else item
            if isinstance(text, str) and (kind := _kind(text)) is not None:
                yield Leak(path, kind)


def _kind(text: str) -> str | None:
    """What kind of secret a text holds."""
    clean, changed = DEFAULT_REDACTOR.text(text)
    kinds = REDACTION_MARKER.findall(clean) if changed else []
    return next(iter(kinds), "custom") if changed else None
