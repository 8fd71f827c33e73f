"""A quick look at a text: which families of secrets can be excluded.

1. The look is wide: a family that it excludes has no match; one that it names may have none.
2. It takes JSON text as well as plain text, so that a whole value is looked at in one go. Escapes
   of JSON must not hide a secret from it: it relies on no character before a secret.
3. Scans of byte classes (runs of digits, runs of letters and digits) are cheap at any length. What
   they leave open is looked into only where the text has no more than `SEARCHED` bytes.
"""

from __future__ import annotations

import re
from typing import Final

from trackway.capture import secret_patterns as kinds
from trackway.capture.search import Work

SEARCHED: Final = 128 * 1024
"""Bytes of a text that is looked into literal by literal."""
TYPED: Final = 4 * 1024
"""Bytes of a text in which what somebody types is looked for: `set password to …`, netrc."""
CARDS: Final = 1
KEYS: Final = 2
PRIVATE_KEYS: Final = 4
CREDENTIALS: Final = 8

_FEWEST_CARD_DIGITS: Final = 13
_NO_DIGITS: Final = bytes(code for code in range(256) if not 0x30 <= code <= 0x39)
_DIGITS: Final = bytes(ord("0") if 0x30 <= code <= 0x39 else 32 for code in range(256))
_TOKENS: Final = bytes(
    ord("a") if code < 128 and (chr(code).isalnum() or chr(code) in "_-") else 32
    for code in range(256)
)
_ORDINARY: Final = b'{}[]",:._@' + bytes(code for code in range(128) if chr(code).isalnum())
_CARD_SEPARATORS: Final = b" .-"
_THIRTEEN_DIGITS: Final = b"0" * 13
_SIXTEEN_TOKEN_BYTES: Final = b"a" * 16
_search_underscored: Final = re.compile(r"_[A-Za-z0-9]{13}").search
_search_hyphenated: Final = re.compile(r"-(?<=[g-zG-Z]-)[A-Za-z0-9_-]{16}").search
_search_auth: Final = re.compile(kinds.AUTH_SCREEN).search
_search_url_password: Final = kinds.URL_PASSWORD.pattern.search
_search_option: Final = re.compile(f"{kinds.OPTION_SCREEN}|{kinds.USER_SCREEN}").search
_names_secret: Final = re.compile(f"{kinds.TOLD_NAMES}\\Z").search
_PASSWORD_OPTIONS: Final = kinds.CLIENT_PASSWORD.anchors + kinds.LOGIN_PASSWORD.anchors
_UNDERSCORED: Final = kinds.UNDERSCORED_KEY.anchors
_HYPHENATED: Final = ("sk-", *kinds.HYPHENATED_KEY.anchors)
QUICK_LOOK: Final = 32_768
"""What a quick look at all texts of a value may cost besides the scans."""
_NUMBER: Final = 24
_URL: Final = 24
_MOST_TOLD: Final = 20_000
"""Verbs of a text that are looked at; behind more of them anything may stand."""
_ANCHORS: Final = 64
_CARD_SCREEN: Final = "[0-9](?:[ .-]?[0-9]){12}"


def families_in(text: str, raw: bytes, look: Work) -> int:
    """Return the families of secrets that cannot be excluded, as a set of bits; `raw` is UTF-8.

    Places that take more than a scan are paid for from `look`; unpaid, nothing is excluded there.
    """
    found = 0
    short = len(raw) <= SEARCHED
    digits = len(raw.translate(None, _NO_DIGITS))
    if (
        digits >= _FEWEST_CARD_DIGITS
        and _THIRTEEN_DIGITS in raw.translate(_DIGITS, _CARD_SEPARATORS)
        and not (short and look.spend(digits) and _holds_no_card(text, look))
    ):
        found = CARDS
    if _SIXTEEN_TOKEN_BYTES in raw.translate(_TOKENS) and not (short and _holds_no_key(text, look)):
        found |= KEYS
    if "-" in text and "-----BEGIN" in text:
        found |= PRIVATE_KEYS
    if "@" in text and "://" in text:
        paid = short and look.spend(_URL * text.count("://"))
        if not paid or _search_url_password(text) is not None:
            found |= CREDENTIALS
    if ("earer" in text and "earer " in text) or ("asic" in text and "asic " in text):
        paid = short and look.spend(_URL * (text.count("earer ") + text.count("asic ")))
        if not paid or _search_auth(text) is not None:
            found |= CREDENTIALS
    # A single character is looked for much faster than several.
    if "=" in text and ("sig=" in text or "ignature=" in text):
        found |= CREDENTIALS
    if "'" in text and " '" in text and has_anchor(text, kinds.SQL_PASSWORD.anchors):
        found |= CREDENTIALS
    is_option = "-" in text and "-p" in text and (" -p" in text or '"-p' in text or "'-p" in text)
    if is_option and has_anchor(text, _PASSWORD_OPTIONS):
        found |= CREDENTIALS
    if " is" in text and _may_be_told(text, " is"):
        found |= CREDENTIALS
    if " was" in text and _may_be_told(text, " was"):
        found |= CREDENTIALS
    if len(raw) <= TYPED and may_be_typed(text):
        found |= CREDENTIALS
    if "-" in text and ("--" in text or "-u" in text or "-U" in text):
        options = text.count("--") + text.count("-u") + text.count("-U")
        paid = short and look.spend(_URL * options)
        if not paid or _search_option(text) is not None:
            found |= CREDENTIALS
    return found


def is_ordinary(text: str, raw: bytes) -> bool:
    """Whether JSON text is of short words and a few marks alone: no secret but a pair fits in.

    Nothing is assigned, told, escaped, listed, an option or a path in it.
    """
    return not (
        raw.translate(None, _ORDINARY)
        or '["' in text
        or text.count(":") != text.count('":')
        or len(raw.translate(None, _NO_DIGITS)) >= _FEWEST_CARD_DIGITS
        or _SIXTEEN_TOKEN_BYTES in raw.translate(_TOKENS)
    )


def screen_patterns() -> tuple[str, ...]:
    """Return the same as regular expressions without look-around, which RE2 takes."""
    in_words = (
        *(kinds.OPTION_VALUE, kinds.USER_OPTION, kinds.CLIENT_PASSWORD, kinds.LOGIN_PASSWORD),
        *(kinds.TOLD, kinds.SQL_PASSWORD),
    )
    screened = {*kinds.KEYS, kinds.PRIVATE_KEY, *kinds.CREDENTIALS}.difference(in_words)
    anchors = {anchor for kind in screened for anchor in kind.anchors}
    patterns = (
        *(_CARD_SCREEN, kinds.OPTION_SCREEN, kinds.USER_SCREEN, kinds.CLIENT_SCREEN),
        *(kinds.TOLD_SCREEN, kinds.SQL_SCREEN),
    )
    return (*sorted(map(re.escape, anchors)), *patterns)


def may_be_typed(text: str) -> bool:
    """Whether a password may stand in a text in the words of who sets or sends it."""
    told = " to" in text and _may_be_told(text, " to")
    return told or ("login " in text and "password" in text)


def has_anchor(text: str, anchors: tuple[str, ...]) -> bool:
    """Whether one of the literals stands in a text."""
    for anchor in anchors:  # noqa: SIM110 - a generator costs more than the search
        if anchor in text:
            return True
    return False


def _may_be_told(text: str, verb: str) -> bool:
    """Whether a name of secrets stands before a verb."""
    pieces = text.split(verb, _MOST_TOLD)
    if len(pieces) > _MOST_TOLD:
        return True
    return any(
        piece.endswith(kinds.TOLD_ENDINGS)
        and _names_secret(piece, max(0, len(piece) - kinds.LONGEST_TOLD_NAME))
        for piece in pieces[:-1]
    )


def _holds_no_key(text: str, look: Work) -> bool:
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
        or (
            "_" in text
            and _search_underscored(text) is not None
            and not (look.spend(_ANCHORS + len(text)) and not has_anchor(text, _UNDERSCORED))
        )
        or (
            "-" in text
            and _search_hyphenated(text) is not None
            and not (look.spend(_ANCHORS + len(text)) and not has_anchor(text, _HYPHENATED))
        )
    )


def _holds_no_card(text: str, look: Work) -> bool:
    search, accepts = kinds.CARD.pattern.search, kinds.CARD.accepts
    match = search(text)
    while match is not None and look.spend(_NUMBER):
        if accepts(match):
            return False
        match = search(text, match.start() + 1)
    return match is None
