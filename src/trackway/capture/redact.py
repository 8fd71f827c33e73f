"""Take secrets out of texts and name the keys whose values are never recorded.

1. `Redactor.text(text)` replaces every secret by `[redacted:kind]` and tells whether it changed
   anything. It is idempotent: a redacted text stays as it is. It never raises.
2. Order: private keys, `name=secret` and `"name": "secret"` inside a text, vendor keys, bearer and
   basic credentials, passwords in URLs, card numbers, patterns of the user, hooks of the user.
3. `Redactor.denies(key)`: the value under this key is replaced whole, whatever its type, by
   `[redacted:key_name]`; None, booleans and the empty string stay, they tell nothing.
4. A hook takes a string and returns a string. One that raises, or returns something else, costs
   the string: it becomes `[redacted:hook_failed]`, and the fault is counted.
5. `clean_text` and `clean_json` are the quick no: True means that the text (the strings in the
   JSON) would not change. False proves nothing.
6. `Redactor.screen` is the same as one regular expression without look-around (RE2 takes it), for
   columns of foreign texts: no match, no change. It is None where patterns or hooks of the user
   make such a screen impossible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from trackway.capture import secret_patterns as kinds
from trackway.capture.errors import record_capture_error
from trackway.capture.secret_patterns import SecretPattern

Hook: TypeAlias = Callable[[str], str]

KEY_NAME_MARKER: Final = "[redacted:key_name]"
CARD_MARKER: Final = "[redacted:card]"
HOOK_FAILED_MARKER: Final = "[redacted:hook_failed]"
SHORTEST_SECRET: Final = 8
"""No built-in pattern matches fewer characters."""

_LONG: Final = 400
"""From this length on one scan of byte classes is cheaper than a search for each literal."""
_DIGITS: Final = bytes(ord("0") if 0x30 <= code <= 0x39 else 32 for code in range(256))
_TOKENS: Final = bytes(
    ord("a") if code < 128 and (chr(code).isalnum() or chr(code) in "_-") else 32
    for code in range(256)
)
_CARD_SEPARATORS: Final = b" .-"
_THIRTEEN_DIGITS: Final = b"0" * 13
_SIXTEEN_TOKEN_BYTES: Final = b"a" * 16
_search_underscored: Final = re.compile(r"_[A-Za-z0-9]{13}").search
_search_hyphenated: Final = re.compile(r"-(?<=[g-zG-Z]-)[A-Za-z0-9_-]{16}").search
_search_auth_scheme: Final = re.compile(kinds.AUTH_SCREEN).search
_HYPHENATED: Final = (kinds.LITERAL_KEYS[0], kinds.HYPHENATED_KEY)
_BUILT_IN: Final = (
    *kinds.LITERAL_KEYS,
    kinds.UNDERSCORED_KEY,
    kinds.HYPHENATED_KEY,
    kinds.AUTH_SCHEME,
    kinds.URL_PASSWORD,
    kinds.CARD,
)
_CARD_SCREEN: Final = "[0-9](?:[ .-]?[0-9]){12}"
_SAFE_KEYS_KEPT: Final = 4096
_SAFE_KEY_LENGTH: Final = 64
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME_BEFORE: Final = re.compile(r"[A-Za-z0-9_.-]*\Z")
_CALL: Final = re.compile(r"[A-Za-z_][A-Za-z_.]*[(\[]")
_NO_SECRETS: Final = frozenset(("none", "null", "true", "false", "undefined"))


class Redactor:
    """A frozen policy of what is secret; build one with `redactor()`. Threads may share it."""

    def __init__(
        self,
        patterns: tuple[SecretPattern, ...] = (),
        deny_keys: frozenset[str] = frozenset(),
        hooks: tuple[Hook, ...] = (),
    ) -> None:
        self.custom: Final = bool(patterns or hooks)
        self._patterns: Final = patterns
        self._hooks: Final = hooks
        self._denied_words: Final = frozenset(map(_squeezed, deny_keys))
        names = tuple(_loose_name(key) for key in sorted(deny_keys))
        self._assignment: Final = kinds.assignment(names)
        self._screen_assignment: Final = re.compile(kinds.assignment_screen(names), re.ASCII)
        self._anchors: Final = (*kinds.ASSIGNMENT_ANCHORS, *map(_longest_word, sorted(deny_keys)))
        self.screen: Final = None if self.custom else _screen(self._screen_assignment.pattern)
        self.safe_keys: Final[set[str]] = set()
        """Keys that were asked about and are not denied; a bounded memory."""

    def denies(self, key: str) -> bool:
        """Whether the value under this key must never be recorded."""
        squeezed = _squeezed(key).rstrip("0123456789")
        if squeezed.endswith(kinds.DENIED_NAMES) and not squeezed.endswith(kinds.HARMLESS_NAMES):
            return True
        if not self._denied_words:
            return False
        words = [word.lower() for word in _WORD.findall(key)]
        return any("".join(words[start:]) in self._denied_words for start in range(len(words)))

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
        result = text
        if len(text) >= SHORTEST_SECRET and not self.clean_text(text):
            result = self._without_built_in(text)
        if self.custom:
            result = self._without_custom(result)
        return result, result != text

    def clean_text(self, text: str) -> bool:
        """True: no built-in kind of secret is in the text."""
        if len(text) < SHORTEST_SECRET:
            return True
        assigns = ":" in text or "=" in text
        return self._clean(text, text.encode("utf-8", "replace"), assigns)

    def clean_json(self, text: str, raw: bytes) -> bool:
        """True: no built-in kind of secret is in any string of the JSON `text` (`raw` in UTF-8).

        Holds for text of `json_text` whose keys are not denied.
        """
        # Colons between key and value follow a quote, in-string ones do not, except behind an
        # escaped quote or at the start of a string, where no name can stand before them.
        assigns = "=" in text or text.count(":") != text.count('":') or '\\"' in text
        return self._clean(text, raw, assigns)

    def _clean(self, text: str, raw: bytes, assigns: bool) -> bool:
        if _THIRTEEN_DIGITS in raw.translate(_DIGITS, _CARD_SEPARATORS) and _may_hold_card(text):
            return False
        if (len(raw) < _LONG or _SIXTEEN_TOKEN_BYTES in raw.translate(_TOKENS)) and (
            "AKIA" in text
            or "ASIA" in text
            or "AIza" in text
            or "eyJ" in text
            or "xox" in text
            or "dapi" in text
            or "SG." in text
            or "ya29." in text
            or ":AA" in text
            or "hooks.slack.com/" in text
            or "ABIA" in text
            or "ACCA" in text
            or "ATATT3x" in text
            or ("_" in text and _search_underscored(text) and _has(text, kinds.UNDERSCORED_KEY))
            or (
                "-" in text and _search_hyphenated(text) and any(_has(text, k) for k in _HYPHENATED)
            )
        ):
            return False
        if "-----BEGIN" in text:
            return False
        if "://" in text and "@" in text and kinds.URL_PASSWORD.pattern.search(text):
            return False
        if (
            "earer" in text or "asic" in text or "EARER" in text or "ASIC" in text
        ) and _search_auth_scheme(text):
            return False
        if assigns:
            lower = text.lower()
            for anchor in self._anchors:
                if anchor in lower:
                    return self._screen_assignment.search(text) is None
        return True

    def _without_built_in(self, text: str) -> str:
        if "-----BEGIN" in text:
            text = kinds.PRIVATE_KEY.pattern.sub("[redacted:private_key]", text)
        if ":" in text or "=" in text:
            text = kinds.HEADER.sub(self._assigned, text)
            text = self._assignment.sub(self._assigned, text)
        for kind in _BUILT_IN:
            if not kind.anchors or _has(text, kind):
                text = _replaced(kind, text)
        return text

    def _assigned(self, match: re.Match[str]) -> str:
        """Replace the secret of an assignment, unless it is prose, code or no secret."""
        group = "quoted" if match["quoted"] is not None else "bare"
        secret = match[group]
        text = match.string
        before = _NAME_BEFORE.search(text, max(0, match.start() - 64), match.start())
        name = (before[0] if before else "") + match["name"]
        keep = (
            len(secret) < 4
            or secret.lower() in _NO_SECRETS
            or not self.denies(name)
            or (group == "bare" and _is_prose(match, secret))
            or (group == "bare" and _CALL.match(text, match.start(group)) is not None)
        )
        if keep:
            return match[0]
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return f"{match[0][:start]}[redacted:assignment]{match[0][end:]}"

    def _without_custom(self, text: str) -> str:
        try:
            for kind in self._patterns:
                text = _replaced(kind, text)
            for hook in self._hooks:
                text = hook(text)
                if type(text) is not str:
                    raise TypeError(f"a redaction hook must return str, not {type(text).__name__}")
        except Exception as error:  # noqa: BLE001 - code of the user must not break their call
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
    names = frozenset(deny_keys)
    for name in names:
        if not _squeezed(name):
            raise ValueError(f"deny_keys: expected names with letters or digits, found {name!r}")
    return Redactor(tuple(map(_as_pattern, patterns)), names, tuple(hooks))


def _as_pattern(pattern: SecretPattern | re.Pattern[str] | str) -> SecretPattern:
    if isinstance(pattern, SecretPattern):
        return pattern
    try:
        return SecretPattern("custom", re.compile(pattern))
    except re.error as error:
        raise ValueError(f"redaction pattern {pattern!r} does not compile: {error}") from error


def _replaced(kind: SecretPattern, text: str) -> str:
    marker = f"[redacted:{kind.label}]"

    def replace(match: re.Match[str]) -> str:
        if not kind.accepts(match):
            return match[0]
        if "secret" not in kind.pattern.groupindex:
            return marker
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return match[0] if start < 0 else f"{match[0][:start]}{marker}{match[0][end:]}"

    return kind.pattern.sub(replace, text)


def _has(text: str, kind: SecretPattern) -> bool:
    return any(anchor in text for anchor in kind.anchors)


def _may_hold_card(text: str) -> bool:
    if "\\u" in text:  # an escape's digits may hide where the number begins
        return True
    return any(kinds.CARD.accepts(match) for match in kinds.CARD.pattern.finditer(text))


def _is_prose(match: re.Match[str], secret: str) -> bool:
    """Whether what follows a colon and a space is a plain word: `Reset your password: click`."""
    if match["separator"] != ":" or not match["space"]:
        return False
    words = secret.split()
    return all(word.isalpha() and (word.islower() or word.istitle()) for word in words)


def _squeezed(key: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", key.lower())


def _loose_name(key: str) -> str:
    return "[-_ ]?".join(map(re.escape, map(str.lower, _WORD.findall(key)))) or re.escape(key)


def _longest_word(key: str) -> str:
    return max(map(str.lower, _WORD.findall(key)), key=len, default=key.lower())


def _screen(assignment: str) -> str:
    anchors = {a for kind in (*_BUILT_IN, kinds.PRIVATE_KEY) for a in kind.anchors}
    return "|".join((*sorted(map(re.escape, anchors)), _CARD_SCREEN, assignment))


DEFAULT_REDACTOR: Final = redactor()
"""The built-in kinds and names."""
