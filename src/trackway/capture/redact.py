"""Take secrets out of texts and name the keys whose values are never recorded.

1. `Redactor.text(text)` replaces every secret by `[redacted:kind]` and tells whether it changed
   anything. It is idempotent: a redacted text stays as it is. It never raises.
2. Order: private keys, `name=secret` and `"name": "secret"` inside a text, vendor keys, credentials
   (bearer and basic, in URLs, in options of commands, in SQL), card numbers, patterns of the user,
   hooks of the user. Beside their names secrets stand in values (`pairs.py`), not in texts.
3. `Redactor.withholds(key, value)`: the value under this key is replaced whole, whatever its type,
   by `[redacted:key_name]`; None, booleans and the empty string stay, they tell nothing
   (`secret_names.py`).
4. A hook takes a string and returns a string. One that raises, or returns something else, costs
   the string: it becomes `[redacted:hook_failed]`, and the fault is counted.
5. `search` takes a bound on its work; where that is spent, the text ends (`search.py`), and its
   last 1,024 characters with it: half a secret there would not be recognised. `text` has no bound.
6. `clean_json` (for JSON text and the strings in it) and `suspects` are the quick look: clean, or
   no suspects, means that nothing would change. The opposite proves nothing.
7. `Redactor.screen` is the same as one regular expression without look-around (RE2 takes it), for
   columns of foreign texts: no match, no change. It is None where patterns or hooks of the user
   make such a screen impossible. `Redactor.screens` are its alternatives, one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from trackway.capture import secret_patterns as kinds
from trackway.capture.assignments import Assignments
from trackway.capture.errors import record_capture_error
from trackway.capture.pairs import Pairs, names_no_pair
from trackway.capture.screen import (
    CARDS,
    CREDENTIALS,
    KEYS,
    PRIVATE_KEYS,
    QUICK_LOOK,
    SEARCHED,
    TYPED,
    families_in,
    has_anchor,
    is_ordinary,
    may_be_typed,
    screen_patterns,
)
from trackway.capture.search import FREE, MARGIN, Work, replaced
from trackway.capture.secret_names import DeniedNames
from trackway.capture.secret_patterns import SecretPattern
from trackway.faults import goes_on
from trackway.schema import redaction_marker

Hook: TypeAlias = Callable[[str], str]

KEY_NAME_MARKER: Final = redaction_marker("key_name")
CARD_MARKER: Final = redaction_marker("card")
HOOK_FAILED_MARKER: Final = redaction_marker("hook_failed")
_ASSIGNMENTS: Final = 16
_CUSTOM: Final = 32
_PASSES: Final = 4
_SHORTEST_KEY: Final = 13
"""No secret but an assignment is shorter."""
_SHORT: Final = 4096
"""Bytes of a text that nothing is counted for."""
_SAFE_KEYS_KEPT: Final = 8192
_SAFE_KEY_LENGTH: Final = 64


class Redactor:
    """A frozen policy of what is secret; build one with `redactor()`. Threads may share it."""

    def __init__(
        self,
        patterns: tuple[SecretPattern, ...] = (),
        names: DeniedNames | None = None,
        hooks: tuple[Hook, ...] = (),
    ) -> None:
        self._patterns: Final = patterns
        self._hooks: Final = hooks
        names = names or DeniedNames()
        self.denies: Final = names.denies
        """Whether a secret may stand under a key."""
        self.counts: Final = names.counts
        """Whether numbers under a denied key are no secrets."""
        self.withholds: Final = names.withholds
        """Whether a value must never be recorded under a key."""
        self._assignments: Final = Assignments(names)
        self.custom: Final = bool(patterns or hooks)
        """Every string must be looked at by itself."""
        self.pairs: Final = Pairs(names.withholds, self._assignments.endings)
        screens = (*screen_patterns(), *self._assignments.screens, self.pairs.screen)
        self.screens: Final = None if self.custom else screens
        self.screen: Final = None if self.custom else "|".join(screens)
        self.safe_keys: Final[set[str]] = set()
        """Keys that were asked about and are not denied; a bounded memory."""

    def learn(self, key: str) -> bool:
        """Whether a key is safe; remembers that it is, so that `safe_keys` answers next time."""
        if self.denies(key):
            return False
        if len(key) <= _SAFE_KEY_LENGTH:
            if len(self.safe_keys) >= _SAFE_KEYS_KEPT:
                self.safe_keys.clear()
            self.safe_keys.add(key)
        return True

    def text(self, text: str) -> tuple[str, bool]:
        """Return the text without its secrets, and whether anything was taken out."""
        return self.search(text, self.suspects(text))

    def suspects(self, text: str, look: Work | None = None) -> int:
        """Return which families of secrets a quick look cannot exclude; 0: the text is clean."""
        found = self.built_in_suspects(text, look)
        return found | _CUSTOM if self.custom else found

    def built_in_suspects(self, text: str, look: Work | None = None) -> int:
        """As `suspects`, without the patterns and hooks of the user."""
        assigns = ":" in text or "=" in text or is_paired(text) or _has_arrow(text)
        assigns = assigns or ("<" in text and ("</" in text or "<\\" in text))
        if len(text) < _SHORTEST_KEY and not assigns:
            return 0
        return self._families(text, text.encode("utf-8", "replace"), assigns, look)

    def search(self, text: str, suspects: int, work: Work | None = None) -> tuple[str, bool]:
        """Do what `text` does, for the families that `suspects` found.

        Where the `work` has stopped afterwards, the result is only the beginning of the text.
        """
        if not suspects:
            return text, False
        work = work or Work()
        budget = work.left
        result = text
        passing = work
        for _ in range(_PASSES):
            before = result
            result = _ended(self._without_built_in(result, suspects, passing), passing, work)
            if result == before:
                break
            # Where a secret was, its neighbour may show: a card number behind a key, say.
            suspects = suspects & _CUSTOM | self.built_in_suspects(result)
            passing = Work(budget)
        if suspects & _CUSTOM:
            passing = Work(budget)
            result = self._hooked(_ended(self._without_own(result, passing), passing, work))
        return result, result != text

    def clean_json(self, text: str, raw: bytes) -> bool:
        """True: no built-in kind of secret is in any string of the JSON `text` (`raw` in UTF-8).

        Holds for text of `json_text` whose keys are not denied.
        """
        if is_ordinary(text, raw) and names_no_pair(text.lower()):
            return True
        # Colons between key and value follow a quote, in-string ones do not, except behind an
        # escaped quote or at the start of a string, where no name can stand before them.
        assigns = (
            "=" in text
            or (":" in text and text.count(":") != text.count('":'))
            or ("\\" in text and '\\"' in text)
            or _has_arrow(text)
            or ("'" in text and "'," in text)
            or ("<" in text and ("</" in text or "<\\" in text))
        )
        if (assigns and len(raw) > SEARCHED) or self.pairs.may_stand_in(text):
            return False
        # A long value may be of short texts, which are looked at for more than long ones are.
        if len(raw) > TYPED and may_be_typed(text):
            return False
        return not self._families(text, raw, assigns)

    def _families(self, text: str, raw: bytes, assigns: bool, look: Work | None = None) -> int:
        if look is None:
            look = FREE if len(raw) <= _SHORT else Work(QUICK_LOOK)
        found = families_in(text, raw, look)
        if assigns and (len(raw) > SEARCHED or self._assignments.may_stand_in(text, look)):
            found |= _ASSIGNMENTS
        return found

    def _without_built_in(self, text: str, families: int, work: Work) -> str:
        if families & PRIVATE_KEYS:
            text = replaced(kinds.PRIVATE_KEY, text, work)
        if families & _ASSIGNMENTS:
            text = self._assignments.without(text, work)
        if families & KEYS:
            for kind in kinds.KEYS:
                if has_anchor(text, kind.anchors):
                    text = replaced(kind, text, work)
        if families & CREDENTIALS:
            for kind in kinds.CREDENTIALS:
                if has_anchor(text, kind.anchors):
                    text = replaced(kind, text, work)
        if families & CARDS:
            text = replaced(kinds.CARD, text, work)
        return text

    def _without_own(self, text: str, work: Work) -> str:
        for kind in self._patterns:
            text = replaced(kind, text, work)
        return text

    def _hooked(self, text: str) -> str:
        try:
            for hook in self._hooks:
                text = hook(text)
                if type(text) is not str:
                    raise TypeError(f"a redaction hook must return str, not {type(text).__name__}")
        except Exception as error:  # code of the user must not break their call
            if goes_on(error):
                raise
            record_capture_error("redaction hook", error)
            return HOOK_FAILED_MARKER
        return text


def redactor(
    *,
    patterns: Iterable[SecretPattern | re.Pattern[str] | str] = (),
    deny_keys: Iterable[str] = (),
    hooks: Iterable[Hook] = (),
) -> Redactor:
    """Build a redactor: the built-in kinds and, besides, patterns, key names and hooks of a user.

    A pattern's group `secret`, where it has one, is what is replaced. A key name is denied wherever
    the words of a key end in it (`ssn` denies `customer_ssn` and `customerSsn`). A hook gets each
    string after the built-in redaction and returns what may be recorded. `EMAIL` and `PHONE` are
    ready-made patterns. Raises ValueError on a pattern that does not compile or an empty key name.
    """
    if isinstance(deny_keys, str):
        raise ValueError(f"deny_keys: expected a collection of names, found the text {deny_keys!r}")
    return Redactor(tuple(map(_as_pattern, patterns)), DeniedNames(deny_keys), tuple(hooks))


def is_paired(text: str) -> bool:
    """Whether a quoted text may stand before another one in it."""
    # A single character is looked for much faster than two.
    return ('"' in text and '",' in text) or ("'" in text and "'," in text)


def _has_arrow(text: str) -> bool:
    return ">" in text and "->" in text


def _as_pattern(pattern: SecretPattern | re.Pattern[str] | str) -> SecretPattern:
    if isinstance(pattern, SecretPattern):
        return pattern
    try:
        return SecretPattern("custom", re.compile(pattern))
    except re.error as error:
        raise ValueError(f"redaction pattern {pattern!r} does not compile: {error}") from error


def _ended(text: str, passing: Work, work: Work) -> str:
    """Return a text without the end that a search had no work left for."""
    if not passing.stopped:
        return text
    work.stopped = True
    return text[:-MARGIN]


DEFAULT_REDACTOR: Final = redactor()
"""The built-in kinds and names."""
