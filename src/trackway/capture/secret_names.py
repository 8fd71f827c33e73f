"""Under which names secrets are kept.

1. A name is denied when its letters and digits, in lower case and without trailing digits, end in a
   name of `_DENIED`, unless they end in one of `_HARMLESS`: `max_tokens` and `next_page_token` are
   no secrets.
2. Names of a user are matched by words: `ssn` denies `ssn`, `customer_ssn` and `customerSsn`, but
   not `lesson`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_DENIED: Final = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token"),
    *("apikey", "apikeys", "accesskey", "accesskeyid", "secretkey", "privatekey", "signingkey"),
    *("encryptionkey", "authkey", "servicekey", "subscriptionkey", "sharedkey", "accountkey"),
    *("masterkey", "sshkey", "pgpkey", "secretaccesskey", "authorization", "credential"),
    *("credentials", "cookie", "cookies", "cvv", "cvc", "cardnumber", "connectionstring"),
    *("passwordhash", "secretvalue", "tokenvalue", "clientassertion", "refreshtokens"),
    *("accesstokens", "bearer", "authheader", "xauth", "jwt", "otp", "mfacode"),
)
_HARMLESS: Final = (
    *("pagetoken", "nexttoken", "continuationtoken", "cursortoken", "synctoken", "pertoken"),
    *("firsttoken", "lasttoken", "eostoken", "bostoken", "padtoken", "unktoken", "septoken"),
    *("clstoken", "masktoken", "stoptoken", "specialtoken", "newtoken", "paginationtoken"),
    *("resumetoken", "cancellationtoken", "maxtoken", "mintoken", "inputtoken", "outputtoken"),
)
_LONGEST: Final = 1024
_ENDINGS: Final = frozenset(name[-3:] for name in _DENIED)
_DIGITS: Final = "0123456789"
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class DeniedNames:
    """The built-in names and those of a user."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Raise ValueError on a name without letters or digits of ASCII."""
        own = frozenset(names)
        for name in own:
            if not _squeezed(name):
                raise ValueError(
                    f"deny_keys: expected names with letters or digits, found {name!r}"
                )
        self._own: Final = frozenset(map(_squeezed, own))
        self.last_words: Final = frozenset(_WORD.findall(name)[-1].lower() for name in own)
        """The last word of each name of the user, in lower case."""

    def denies(self, key: str) -> bool:
        """Whether the value under this name must never be recorded."""
        key = key[-_LONGEST:]  # how a name ends decides
        ending = key.rstrip(_DIGITS)[-3:]
        # Most keys end in letters that no denied name ends in.
        if not ending.isalpha() or not ending.isascii() or ending.lower() in _ENDINGS:
            squeezed = _squeezed(key).rstrip(_DIGITS)
            if squeezed.endswith(_DENIED) and not squeezed.endswith(_HARMLESS):
                return True
        if not self._own:
            return False
        words = [word.lower() for word in _WORD.findall(key)]
        return any("".join(words[start:]) in self._own for start in range(len(words)))


def _squeezed(key: str) -> str:
    lower = key.lower().replace("_", "").replace("-", "")
    return lower if lower.isalnum() and lower.isascii() else _NOT_ALPHANUMERIC.sub("", lower)
