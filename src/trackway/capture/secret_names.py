"""Under which names secrets are kept.

1. A name is denied when its letters and digits, in lower case and without trailing digits or a
   version (`_v2`), end in a name of `DENIED` or its plural, or are `pass`, `pw` or `auth` alone;
   unless they end in one of `HARMLESS`: `max_tokens` and `next_page_token` are no secrets. Behind a
   denied name a word of `_FORMS` may stand, that says which of them it is or in which form
   (`old_password_value`, `pwd_hash`), behind that of a password one of `_AGAIN`
   (`userPasswordConfirm`).
2. Names of `_BY_WORDS` and those of a user are matched by words, in the singular and the plural:
   `ssn` denies `ssn`, `customer_ssn` and `customerSsns`, but not `lesson`. Accents and wide
   letters make no difference.
3. A number, alone or in a container of nothing else, is no secret under `tokens`, `pass`, `pw` and
   `auth`: it counts. Nothing, booleans and empty texts are none under any name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

DENIED: Final = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token"),
    *("apikey", "apikeys", "accesskey", "accesskeyid", "secretkey", "privatekey", "signingkey"),
    *("encryptionkey", "authkey", "servicekey", "subscriptionkey", "sharedkey", "accountkey"),
    *("masterkey", "sshkey", "pgpkey", "secretaccesskey", "authorization", "credential"),
    *("credentials", "cookie", "cookies", "cvv", "cvc", "cardnumber", "connectionstring"),
    *("dbpass", "userpass", "adminpass", "rootpass", "smtppass", "mailpass", "ftppass"),
    *("loginpass", "authpass", "proxypass", "basicauth", "httpauth", "proxyauth"),
    *("clientassertion", "refreshtokens", "secretid"),
    *("passwort", "kennwort", "wachtwoord", "senha", "contrasena", "depasse", "phpsessid"),
    *("jsessionid", "socialsecuritynumber"),
    *("accesstokens", "bearer", "authheader", "xauth", "jwt", "otp", "mfacode"),
)
VENDORS: Final = (
    *("openai", "anthropic", "claude", "gemini", "google", "mistral", "cohere", "groq", "deepseek"),
    *("openrouter", "huggingface", "hf", "replicate", "together", "perplexity", "xai", "azure"),
    *("bedrock", "aws", "stripe", "twilio", "sendgrid", "mailgun", "pinecone", "weaviate"),
    *("qdrant", "langsmith", "langfuse", "tavily", "serpapi", "serper", "elevenlabs", "deepgram"),
    *("github", "gitlab", "slack", "datadog", "algolia", "firebase", "supabase", "cloudflare"),
    *("llm", "fireworks", "voyage", "exa", "firecrawl"),
)
BY_WORDS: Final = (
    *("pin", "ssn", "mnemonic", "seedphrase", "recoveryphrase", "walletphrase", "seedwords"),
    *("recoverycode", "backupcode", "2facode", "securityanswer", "secretanswer"),
)
"""Names that must be whole words."""
_BY_WORDS: Final = frozenset((*BY_WORDS, *(f"{vendor}key" for vendor in VENDORS)))
_WORDS_JOINED: Final = tuple(name + many for name in _BY_WORDS for many in ("", "s"))
_LONGEST_WORDS: Final = 64
OF_OTHER_ALPHABETS: Final = (
    *(
        "пароль",
        "密码",
        "密碼",
        "パスワード",
        "비밀번호",
        "كلمة المرور",
        "סיסמה",
        "รหัสผ่าน",
        "पासवर्ड",
    ),
)
HARMLESS: Final = (
    *("pagetoken", "nexttoken", "continuationtoken", "cursortoken", "synctoken", "pertoken"),
    *("firsttoken", "lasttoken", "eostoken", "bostoken", "padtoken", "unktoken", "septoken"),
    *("clstoken", "masktoken", "stoptoken", "specialtoken", "newtoken", "paginationtoken"),
    *("resumetoken", "cancellationtoken", "maxtoken", "mintoken", "inputtoken", "outputtoken"),
)
_COUNTS: Final = tuple(
    f"{what}tokens"
    for what in (
        *("total", "prompt", "completion", "cached", "cache", "reasoning", "audio", "text"),
        *("image", "prediction", "thinking", "thoughts", "used", "budget", "context", "num"),
        *("generated", "vocab", "bad", "candidates"),
    )
)
_NO_PLURALS: Final = ("pins",)
"""Those of a board, or of a map."""
_SINGULAR_ONLY: Final = "authorizations"
"""Payments have them."""
_PASSWORDS: Final = ("password", "passwd", "passphrase", "passcode", "pwd")
_AGAIN: Final = ("confirm", "confirmation", "again", "repeat", "verify", "verification")
_FORMS: Final = (
    *("old", "new", "current", "previous", "backup", "value", "plain", "hash", "base", "seed"),
    "code",
)
AGAIN: Final = f"(?:{'|'.join((*_AGAIN, *_FORMS, 'id', 'v'))})"
MORE: Final = f"(?:s|[_-]?{AGAIN})"
"""A regular expression, in lower case, of what may follow a name in a longer one."""
_version: Final = re.compile(r"(?:[^A-Za-z0-9]v|[^A-Za-z0-9]V|(?<=[a-z])V)[0-9]{0,3}\Z")
ALONE: Final = frozenset(("pass", "pw", "auth"))
_MANY: Final = "tokens"
_LONGEST: Final = 1024
_ENDINGS: Final = frozenset(
    name[-3:]
    for name in (
        *DENIED,
        *(f"{name}s" for name in (*DENIED, *_BY_WORDS)),
        *(*_AGAIN, *_FORMS, *ALONE, *_BY_WORDS),
        *(f"{name}v" for name in (*DENIED, *_BY_WORDS)),
    )
)
_is_amount: Final = re.compile(r"[0-9][0-9.,_]*").fullmatch
_is_wording: Final = re.compile(
    r"(?:[A-Z]?[a-z]+|[A-Z])(?:[ _'-]{1,2}(?:[A-Z]?[a-z]+|[A-Z]))*+[.:!?]?"
).fullmatch
_stands_in: Final = re.compile(
    r"[*•●█]{3,}|\$[A-Z][A-Z0-9_]+|%[A-Z][A-Z0-9_]+%|\$\{{1,2}[^{}\"']{1,128}\}{0,2}"
    r"|\{\{[^{}\"']{1,128}\}\}|\{[A-Za-z_][A-Za-z_.]{0,62}\}|<[A-Za-z][A-Za-z _-]{0,62}>"
    r"|(?i:your[_-][a-z]+(?:[_-][a-z]+)*)"
).fullmatch
_is_symbol: Final = re.compile("[A-Z]{2,5}").fullmatch
_URL: Final = re.compile(r"https?://[^\s/@?]+(?:/[^\s@?]*)?(?=\s|\Z)")
_LEFT_OUT: Final = ("…[", "[truncated ")
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
        """Whether a secret may stand under this name; `withholds` asks for its value too."""
        key = key[-_LONGEST:]  # how a name ends decides
        ending = key.rstrip(_DIGITS)[-3:]
        # Most keys end in letters that no denied name ends in.
        if not ending.isalpha() or not ending.isascii() or ending.lower() in _ENDINGS:
            key = _version.sub("", key)
            squeezed = _squeezed(key).rstrip(_DIGITS)
            if _is_denied(squeezed) or is_alone(key) or _ends_in_word(squeezed, key):
                return True
            if not key.isascii() and _letters(key).endswith(_OTHER_LETTERS):
                return True
        return bool(self._own) and _ends_in(self._own, key)

    def counts(self, key: str) -> bool:
        """Whether numbers under a denied name are no secrets."""
        many = _squeezed(key[-_LONGEST:]).rstrip(_DIGITS).endswith(_MANY)
        return (many or is_alone(key)) and not _ends_in(self._own, key)

    def withholds(self, key: str, value: Any) -> bool:
        """Whether a value, of plain JSON values, must never be recorded under this name."""
        if value is None or type(value) is bool or value == "" or not self.denies(key):
            return False
        if isinstance(value, str) and is_stand_in(value, key):
            return False
        return not (self.counts(key) and is_count(value, key))


def _ends_in_word(squeezed: str, key: str) -> bool:
    """Whether the last words of a key are one of `_BY_WORDS`; most keys end in none of them."""
    if not squeezed.endswith(_WORDS_JOINED):
        return False
    return _ends_in(_BY_WORDS, key.rstrip(_DIGITS)[-_LONGEST_WORDS:])


def _ends_in(names: frozenset[str], key: str) -> bool:
    """Whether the words of a key end in one of the names, or its plural."""
    words = [word.lower() for word in _WORD.findall(key[-_LONGEST:])]
    ends = ["".join(words[start:]) for start in range(len(words))]
    return any(
        end in names or (end[-1] == "s" and end not in _NO_PLURALS and end[:-1] in names)
        for end in ends
    )


def is_alone(key: str) -> bool:
    """Whether a name is one of `ALONE`, or ends in it behind a dot."""
    return _squeezed(key.rpartition(".")[2]) in ALONE


def is_password(name: str) -> bool:
    """Whether a name ends in that of a password."""
    return _squeezed(name).rstrip(_DIGITS).endswith(_PASSWORDS)


def is_stand_in(text: str, name: str) -> bool:
    """Whether a text under a name only stands for a secret, or names a currency."""
    if _stands_in(text) is not None:
        return True
    return _is_symbol(text) is not None and _squeezed(name).endswith("token")


def is_wording(text: str) -> bool:
    """Whether a text is plain words, as prose and names of fields have them: no secret."""
    return _is_wording(_URL.sub("", text).strip()) is not None


def is_count(value: Any, key: str) -> bool:
    """Whether there are but numbers in plain JSON values; texts of digits too, under `tokens`."""
    if isinstance(value, str):
        amount = _is_amount(value) and not is_alone(key)
        return bool(amount) or value == "" or value.startswith(_LEFT_OUT)
    if isinstance(value, Mapping):
        if "dtype" in value and "head" in value:  # an array
            return is_count(value["head"], key)
        return all(is_count(item, key) for item in value.values())
    if isinstance(value, list | tuple):
        return all(is_count(item, key) for item in value)
    return value is None or isinstance(value, int | float)


def _is_denied(squeezed: str) -> bool:
    if squeezed.endswith(DENIED):
        return not squeezed.endswith(HARMLESS)
    if squeezed.endswith("s"):
        if squeezed.endswith((_SINGULAR_ONLY, *_COUNTS)):
            return False
        one = squeezed[:-1]
        return one.endswith(DENIED) and one[-1] != "s" and not one.endswith(HARMLESS)
    if squeezed.endswith(_FORMS):
        return any(
            squeezed.endswith(form) and _is_denied(squeezed[: -len(form)]) for form in _FORMS
        )
    return any(
        squeezed.endswith(again) and squeezed[: -len(again)].endswith(_PASSWORDS)
        for again in _AGAIN
    )


def _squeezed(key: str) -> str:
    lower = key.lower().replace("_", "").replace("-", "")
    if lower.isalnum() and lower.isascii():
        return lower
    return _NOT_ALPHANUMERIC.sub("", lower if lower.isascii() else _letters(lower))


def _letters(key: str) -> str:
    """Return the letters of a key in lower case, wide ones made narrow and accents taken off."""
    plain = unicodedata.normalize("NFKD", key)
    return "".join(filter(str.isalnum, plain)).lower()


_OTHER_LETTERS: Final = tuple(map(_letters, OF_OTHER_ALPHABETS))
