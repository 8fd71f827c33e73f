"""Take secrets out of texts and name the keys whose values are never recorded.

1. `Redactor.text(text)` replaces every secret by `[redacted:kind]` and tells whether it changed
   anything. It is idempotent: a redacted text stays as it is. It never raises.
2. Order: private keys, `name=secret` and `"name": "secret"` inside a text, vendor keys, bearer and
   basic credentials, passwords in URLs, card numbers, patterns of the user, hooks of the user.
3. `Redactor.denies(key)`: the value under this key is replaced whole, whatever its type, by
   `[redacted:key_name]`; None, booleans and the empty string stay, they tell nothing.
4. A hook takes a string and returns a string. One that raises, or returns something else, costs
   the string: it becomes `[redacted:hook_failed]`, and the fault is counted.
5. `clean_json` (for JSON text and the strings in it) and `suspects` are the quick look: clean, or
   no suspects, means that nothing would change. The opposite proves nothing.
6. `Redactor.screen` is the same as one regular expression without look-around (RE2 takes it), for
   columns of foreign texts: no match, no change. It is None where patterns or hooks of the user
   make such a screen impossible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Final, TypeAlias

from trackway.capture import secret_patterns as kinds
from trackway.capture.errors import record_capture_error
from trackway.capture.secret_patterns import SecretPattern

Hook: TypeAlias = Callable[[str], str]

KEY_NAME_MARKER: Final = "[redacted:key_name]"
CARD_MARKER: Final = "[redacted:card]"
_ASSIGNMENT_MARKER: Final = "[redacted:assignment]"
HOOK_FAILED_MARKER: Final = "[redacted:hook_failed]"
SEARCHED: Final = 128 * 1024
"""Bytes in which the quick screen looks for literals; beyond, it knows byte classes only."""

_SHORTEST_KEY: Final = 13
"""No secret but an assignment is shorter."""
_FEWEST_CARD_DIGITS: Final = 13
_NO_DIGITS: Final = bytes(code for code in range(256) if not 0x30 <= code <= 0x39)
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
_search_url_password: Final = kinds.URL_PASSWORD.pattern.search
_UNDERSCORED: Final = kinds.UNDERSCORED_KEY.anchors
_HYPHENATED: Final = ("sk-", *kinds.HYPHENATED_KEY.anchors)
_DENIED_ENDINGS: Final = frozenset(name[-3:] for name in kinds.DENIED_NAMES)
_CARDS, _KEYS, _PRIVATE_KEYS, _CREDENTIALS, _ASSIGNMENTS, _CUSTOM = 1, 2, 4, 8, 16, 32
_CARD_SCREEN: Final = "[0-9](?:[ .-]?[0-9]){12}"
_SAFE_KEYS_KEPT: Final = 8192
_SAFE_KEY_LENGTH: Final = 64
_DIGIT_CHARACTERS: Final = "0123456789"
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_NAME: Final = 64
_CALL: Final = re.compile(r"[A-Za-z_][A-Za-z_.]{0,200}[(\[]")
_SHORTEST_ASSIGNED: Final = 4
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
        # The last word of each name: what stands before it is looked at when it is found.
        last_words = (_WORD.findall(name)[-1].lower() for name in deny_keys)
        self._names: Final = tuple(sorted({*kinds.ASSIGNED_NAMES, *last_words}))
        self.screen: Final = None if self.custom else _screen(self._names)
        self.safe_keys: Final[set[str]] = set()
        """Keys that were asked about and are not denied; a bounded memory."""

    def denies(self, key: str) -> bool:
        """Whether the value under this key must never be recorded."""
        squeezed = _squeezed(key).rstrip(_DIGIT_CHARACTERS)
        if (
            squeezed[-3:] in _DENIED_ENDINGS
            and squeezed.endswith(kinds.DENIED_NAMES)
            and not squeezed.endswith(kinds.HARMLESS_NAMES)
        ):
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
        return self.search(text, self.suspects(text))

    def suspects(self, text: str) -> int:
        """Return which families of secrets cannot be excluded by a quick look; 0: it is clean."""
        assigns = ":" in text or "=" in text
        found = 0
        if assigns or len(text) >= _SHORTEST_KEY:
            found = self._families(text, text.encode("utf-8", "replace"), assigns)
        return found | _CUSTOM if self.custom else found

    def search(self, text: str, suspects: int) -> tuple[str, bool]:
        """Do what `text` does, for the families that `suspects` found."""
        if not suspects:
            return text, False
        result = self._without_built_in(text, suspects)
        if self.custom:
            result = self._without_custom(result)
        return result, result != text

    def clean_json(self, text: str, raw: bytes) -> bool:
        """True: no built-in kind of secret is in any string of the JSON `text` (`raw` in UTF-8).

        Holds for text of `json_text` whose keys are not denied.
        """
        # Colons between key and value follow a quote, in-string ones do not, except behind an
        # escaped quote or at the start of a string, where no name can stand before them.
        assigns = (
            "=" in text
            or (":" in text and text.count(":") != text.count('":'))
            or ("\\" in text and '\\"' in text)
        )
        return not self._families(text, raw, assigns)

    def _families(self, text: str, raw: bytes, assigns: bool) -> int:
        """Return the families of secrets that cannot be excluded, as a set of bits.

        Scans of byte classes are cheap at any length; what they leave open is looked into only
        where the text is not longer than `SEARCHED`.
        """
        found = 0
        short = len(raw) <= SEARCHED
        if (
            len(raw.translate(None, _NO_DIGITS)) >= _FEWEST_CARD_DIGITS
            and _THIRTEEN_DIGITS in raw.translate(_DIGITS, _CARD_SEPARATORS)
            and not (short and _holds_no_card(text))
        ):
            found = _CARDS
        if _SIXTEEN_TOKEN_BYTES in raw.translate(_TOKENS) and not (short and _holds_no_key(text)):
            found |= _KEYS
        if "-----BEGIN" in text:
            found |= _PRIVATE_KEYS
        if "@" in text and "://" in text and not (short and _search_url_password(text) is None):
            found |= _CREDENTIALS
        if ("earer " in text or "asic " in text) and not (
            short and _search_auth_scheme(text) is None
        ):
            found |= _CREDENTIALS
        if assigns and not (short and self._assigns_nothing(text)):
            found |= _ASSIGNMENTS
        return found

    def _assigns_nothing(self, text: str) -> bool:
        return not any(kinds.separates(text, end) for _, end in self._names_in(text))

    def _names_in(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield each name that may be followed by a secret, and where it ends."""
        if not text.isascii():  # a character must stay a character
            text = text.encode("ascii", "replace").decode()
        lower = text.lower()
        for name in self._names:
            end = lower.find(name)
            while end >= 0:
                end += len(name)
                yield name, end
                end = lower.find(name, end)

    def _without_built_in(self, text: str, families: int) -> str:
        if families & _PRIVATE_KEYS:
            text = kinds.PRIVATE_KEY.pattern.sub("[redacted:private_key]", text)
        if families & _ASSIGNMENTS:
            text = self._without_assignments(text)
        if families & _KEYS:
            for kind in kinds.KEYS:
                if _has(text, kind.anchors):
                    text = _replaced(kind, text)
        if families & _CREDENTIALS:
            text = _replaced(kinds.URL_PASSWORD, _replaced(kinds.AUTH_SCHEME, text))
        if families & _CARDS:
            text = _replaced(kinds.CARD, text)
        return text

    def _without_assignments(self, text: str) -> str:
        done = 0
        pieces: list[str] = []
        for name, end in sorted(self._names_in(text), key=itemgetter(1)):
            if end < done or not self._denies_name(text, end):
                continue
            follows = kinds.assigned_header if name in kinds.HEADER_NAMES else kinds.assigned
            match = follows(text, end)
            if match is None:
                continue
            group = "bare" if match["quoted"] is None else "quoted"
            if _is_secret(match, group, name):
                start, stop = match.span(group)
                pieces += (text[done:start], _ASSIGNMENT_MARKER)
                done = stop
        return "".join((*pieces, text[done:])) if pieces else text

    def _denies_name(self, text: str, end: int) -> bool:
        """Whether the name that ends here is denied, alone or with the word before it."""
        before = text[max(0, end - _LONGEST_NAME) : end]
        rest = before.rstrip(_NAME_CHARACTERS)
        if self.denies(before[len(rest) :]):
            return True
        word = rest[:-1]
        return rest.endswith(" ") and self.denies(before[len(word.rstrip(_NAME_CHARACTERS)) :])

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


def _has(text: str, anchors: tuple[str, ...]) -> bool:
    for anchor in anchors:  # noqa: SIM110 - a generator costs more than the search
        if anchor in text:
            return True
    return False


def _holds_no_key(text: str) -> bool:
    return not (
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
        or "pcsk_" in text
        or ("_" in text and _search_underscored(text) is not None and _has(text, _UNDERSCORED))
        or ("-" in text and _search_hyphenated(text) is not None and _has(text, _HYPHENATED))
    )


def _holds_no_card(text: str) -> bool:
    if "\\u" in text:  # an escape's digits may hide where the number begins
        return False
    return not any(kinds.CARD.accepts(match) for match in kinds.CARD.pattern.finditer(text))


def _is_secret(match: re.Match[str], group: str, name: str) -> bool:
    """Whether what a denied name is set to is a secret, and not prose, code or a placeholder."""
    secret = match[group]
    if len(secret) < _SHORTEST_ASSIGNED or secret.lower() in _NO_SECRETS:
        return False
    if group == "quoted":
        return True
    if name == "cookie" and "=" not in secret:
        return False
    return not _is_prose(match, secret) and _CALL.match(match.string, match.start(group)) is None


def _is_prose(match: re.Match[str], secret: str) -> bool:
    """Whether what follows a colon and a space is a plain word: `Reset your password: click`."""
    if match["separator"] != ":" or not match["space"]:
        return False
    words = secret.split()
    return all(word.isalpha() and (word.islower() or word.istitle()) for word in words)


def _squeezed(key: str) -> str:
    lower = key.lower().replace("_", "").replace("-", "")
    return lower if lower.isalnum() and lower.isascii() else _NOT_ALPHANUMERIC.sub("", lower)


def _screen(names: tuple[str, ...]) -> str:
    screened = (*kinds.KEYS, kinds.PRIVATE_KEY, kinds.AUTH_SCHEME, kinds.URL_PASSWORD)
    anchors = {anchor for kind in screened for anchor in kind.anchors}
    assignment = f"(?i:{'|'.join(map(re.escape, names))}){kinds.SEPARATOR_SCREEN}"
    return "|".join((*sorted(map(re.escape, anchors)), _CARD_SCREEN, assignment))


DEFAULT_REDACTOR: Final = redactor()
"""The built-in kinds and names."""
