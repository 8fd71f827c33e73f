"""Which texts are secrets: one row a kind.

1. A row has `anchors`: literal texts of which one stands in every match. They are what makes a
   scan cheap; `pattern` decides. The group `secret`, where there is one, is what gets replaced.
   Every pattern is linear in the length of a text, whatever the text: what could begin inside a run
   that a failed match has read is read with that match.
2. A card number is 14 to 19 digits, grouped as cards are or not at all, that has the beginning and
   the length of an issuer's cards and passes Luhn; not behind a plus (a phone number), not in a
   hexadecimal digest, no fraction. Long numbers of phones, devices and articles have other lengths.
3. `screen.py` relies on the shape of vendor keys: 16 letters, digits, `_` or `-` in a row; behind a
   prefix that ends in an underscore 13 letters or digits; behind one that ends in a hyphen (after a
   letter g to z) 16 more. A new row that is shorter needs a place there.

Sources: the published formats of each vendor's keys; ISO/IEC 7812 for cards. E-mail addresses and
phone numbers are opt-in: too many harmless texts hold them.
"""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


def _always(_match: re.Match[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One kind of secret."""

    label: str
    """Stands in the marker: `[redacted:label]`."""
    pattern: re.Pattern[str]
    anchors: tuple[str, ...] = ()
    """One of these stands in every match; empty: the pattern is always tried."""
    accepts: Callable[[re.Match[str]], bool] = _always
    """Called on a match; False leaves the text as it is."""
    before: int | None = None
    """Characters of a match that stand before its anchor; None: any number, or `most_before`."""
    most_before: int | None = None
    """So many characters of a match at most."""
    overlaps: bool = False
    """A match may begin inside one that was not accepted."""


def _kind(label: str, pattern: str, *anchors: str) -> SecretPattern:
    return SecretPattern(label, re.compile(pattern), anchors)


def _key(label: str, pattern: str, *anchors: str) -> SecretPattern:
    return SecretPattern(label, re.compile(pattern), anchors, before=0)


_UNDERSCORED: Final = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "gsk_", "npm_", "whsec_"),
    *("sk_live_", "sk_test_", "rk_live_", "rk_test_", "r8_", "lsv2_pt_", "lsv2_sk_"),
    *("shpat_", "shpca_", "shppa_", "shpss_", "lin_api_", "ntn_", "sbp_", "dop_v1_", "doo_v1_"),
    *("dor_v1_", "napi_", "fw_", "key_live_", "glc_", "glsa_"),
)
_HYPHENATED: Final = (
    *("glpat-", "pypi-", "nvapi-", "pplx-", "tvly-", "xapp-", "dckr_pat-", "gldt-", "glrt-"),
    *("xai-", "key-", "fio-", "rubygems-"),
)

# Text of JSON stands in texts, and the letter of an escape is no part of the word behind it.
_ESCAPE: Final = r"(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})"

PRIVATE_KEY: Final = _kind(
    "private_key",
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    "-----BEGIN",
)
_VENDOR_KEYS: Final = (
    _key(
        "api_key",
        rf"(?:(?<![A-Za-z])|{_ESCAPE})sk-[A-Za-z0-9_-]{{16,}}"
        r"|sk-(?:[a-z0-9]{2,8}-){0,3}[A-Za-z0-9_]{20,}",
        "sk-",
    ),
    _key("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    _key("google_api_key", r"AIza[A-Za-z0-9_-]{30,}", "AIza"),
    _key("google_token", r"ya29\.[A-Za-z0-9_-]{16,}", "ya29."),
    SecretPattern(
        "jwt",
        re.compile(
            r"eyJ(?:[A-Za-z0-9_-]{13,}+(?P<rest>(?:\.[A-Za-z0-9_-]+){1,4})?|[A-Za-z0-9_-]{0,12}+)"
        ),
        ("eyJ",),
        lambda match: match["rest"] is not None,
        before=0,
    ),
    _key("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "SG."),
    _key("slack_token", r"xox[a-z]-[A-Za-z0-9-]{12,}", "xox"),
    _key(
        "slack_webhook",
        r"hooks\.slack\.com/[a-z]{1,16}/[A-Za-z0-9]{1,32}/[A-Za-z0-9]{1,32}/[A-Za-z0-9]{16,}",
        "hooks.slack.com/",
    ),
    _key("atlassian_token", r"ATATT3x[A-Za-z0-9_-]{16,}[A-Za-z0-9_=-]*", "ATATT3x"),
    _key("api_key", r"pcsk_[A-Za-z0-9_]{16,}", "pcsk_"),
    _key("databricks_token", r"dapi[0-9a-f]{32}", "dapi"),
    _kind("telegram_token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}", ":AA"),
)
UNDERSCORED_KEY: Final = _key(
    "api_key",
    "(?:" + "|".join(map(re.escape, _UNDERSCORED)) + r")[A-Za-z0-9]{13}[A-Za-z0-9_-]*",
    *_UNDERSCORED,
)
HYPHENATED_KEY: Final = _key(
    "api_key",
    "(?:" + "|".join(map(re.escape, _HYPHENATED)) + r")[A-Za-z0-9_-]{16,}",
    *_HYPHENATED,
)
KEYS: Final = (*_VENDOR_KEYS, UNDERSCORED_KEY, HYPHENATED_KEY)
_MIXED: Final = re.compile(r"[0-9]|[a-z][A-Z]")


def _is_credential(match: re.Match[str]) -> bool:
    """Whether what follows a scheme is no word: `bearer authentication`, `basic JavaScript`."""
    secret = match["secret"]
    if match["scheme"] == "earer":
        return _MIXED.search(secret) is not None or len(secret) >= 24
    try:
        return b":" in base64.b64decode(secret, validate=True)
    except ValueError:
        return False


AUTH_SCHEME: Final = SecretPattern(
    "authorization",
    re.compile(
        rf"(?:(?<![A-Za-z0-9_])|{_ESCAPE})[Bb](?P<scheme>earer|asic) {{1,4}}"
        r"(?P<secret>[A-Za-z0-9._~+/=-]{8,})"
    ),
    ("earer ", "asic "),
    _is_credential,
    before=1,
)
AUTH_SCREEN: Final = r"[Bb](?:earer|asic) {1,4}[A-Za-z0-9._~+/=-]{8}"
# A port is no password, whatever stands in the path: `http://h:80/a@b`.
URL_PASSWORD: Final = _kind(
    "url_password",
    r"://[^\s/:@\"'\[]{0,256}:(?![0-9]{1,5}/)"
    r"(?P<secret>(?:[^\s@\"'\[:]|:(?!//)){1,1024}+(?:@[^\s/@\"'\[]{0,256}+(?=@))*+)@",
    "://",
)
URL_SIGNATURE: Final = _kind(
    "url_signature", r"(?:sig|ignature)=(?P<secret>[A-Za-z0-9%+/_=-]{16,})", "sig=", "ignature="
)
# Python takes a dotted capital and a dotless small i for an i in either case, RE2 does not.
_OPTION: Final = (
    "(?i:password|passwd|passphrase|passcode|pass|pwd|token|secret|secret-key"
    "|ap[i\u0130\u0131]-?key|access-key)"
)
OPTION_SCREEN: Final = rf"--(?:[A-Za-z0-9]{{1,16}}-){{0,3}}{_OPTION} {{1,4}}[^ -]"
OPTION_VALUE: Final = _kind(
    "command_option",
    rf"--(?=[A-Za-z])(?:[A-Za-z0-9]{{1,16}}-){{0,3}}{_OPTION} {{1,4}}"
    r"(?P<secret>[^\s\"'\\-][^\s\"'\\]{3,})",
    "--",
)
# Engines differ in what `\s` is; these five all of them take for white space.
# In a list of arguments the next one is quoted by itself.
_NEXT_ARGUMENT: Final = r"\\*[\"'],(?:\\+[nrt]|[ \t\n\f\r]){0,32}\\*[\"']"
_USER_OPTION: Final = r"-(?:u(?:ser)?|U)(?:[ =]\\*[\"']?|" + _NEXT_ARGUMENT + ")"
USER_SCREEN: Final = _USER_OPTION + r"[^ \t\n\f\r:\"'\\]{1,64}:[^ \t\n\f\r\"']"
USER_OPTION: Final = _kind(
    "command_option",
    _USER_OPTION + r"[^\s:\"'\\]{1,64}:"
    r"(?P<secret>(?![0-9]+(?:[\s\"'\\]|\Z))[^\s:\"'\\/]{4,})(?=[\s\"'\\]|\Z)",
    *(f"-{name}{after}" for name in ("u", "user", "U") for after in " =\"'\\"),
)
_SOME_ARGUMENTS: Final = (
    r"(?:(?: [^\s]{1,65}+){0,8}? "
    rf"|(?:{_NEXT_ARGUMENT}[^\s\"'\\]{{1,64}}){{0,8}}?{_NEXT_ARGUMENT})"
)
CLIENTS: Final = ("mysql", "mariadb", "sshpass")
CLIENT_PASSWORD: Final = _kind(
    "command_option",
    rf"(?:{'|'.join(CLIENTS)})[a-z_-]{{0,16}}{_SOME_ARGUMENTS}-p[\"']?"
    r"(?P<secret>[^\s\"'\\]{4,})",
    *CLIENTS,
)
CLIENT_SCREEN: Final = "[ \"']-p"
LOGIN_PASSWORD: Final = _kind(
    "command_option",
    rf"(?:sshpass|login)\b{_SOME_ARGUMENTS}-p(?: {{1,4}}|=|{_NEXT_ARGUMENT})[\"']?"
    r"(?P<secret>(?![0-9]{1,5}(?:[\s\"'\\]|\Z))[^\s\"'\\<$[{-][^\s\"'\\]{3,})",
    *("sshpass", "login"),
)
TOLD_NAMES: Final = (
    "(?:[Pp]ass ?(?:word|phrase|code)|[Pp]wd|[Ss]ecret|[Tt]oken"
    "|(?:[Aa]pi|API|[Ss]ecret)[ _-]?[Kk]ey|(?:[Pp]in|PIN)(?: ?[Cc]ode)?)"
)
LONGEST_TOLD_NAME: Final = 16
TOLD_ENDINGS: Final = ("word", "phrase", "ode", "wd", "ecret", "oken", "ey", "in", "IN")
TOLD_VERBS: Final = ("is", "was", "to")
TOLD_SCREEN: Final = f"{TOLD_NAMES} (?:{'|'.join(TOLD_VERBS)})"
_WORDING: Final = re.compile(r"[A-Za-z]?[a-z]*(?:['-][A-Za-z]?[a-z]+)*[.,;:!?)]*")
_sets: Final = re.compile(
    r"\b(?i:set|sets|setting|change[sd]?|changing|reset|resets|resetting|updated?|updating)"
    r"(?: [A-Za-z']{1,16}){0,4} \Z"
).search
_BEFORE_TOLD: Final = 96


def _is_told(match: re.Match[str]) -> bool:
    """Whether a secret is told: `The password is required` and `send the token to x1` tell none."""
    if _WORDING.fullmatch(match["secret"]) is not None:
        return False
    start = match.start()
    return match["verb"] != "to" or (
        _sets(match.string[max(0, start - _BEFORE_TOLD) : start]) is not None
    )


TOLD: Final = SecretPattern(
    "assignment",
    re.compile(
        f"{TOLD_NAMES} (?P<verb>{'|'.join(TOLD_VERBS)})"
        + r"(?: now)?:? {1,4}(?P<quote>\\*[\"'`]|\*{1,3})?"
        r"(?P<secret>(?!\[redacted:)"
        r"(?(quote)[^\r\n\\\"'`*]{4,256}+|[^\s\"'\\<>(){}\[\]]{4,256}+))"
    ),
    tuple(f"{name} {verb}" for name in TOLD_ENDINGS for verb in TOLD_VERBS),
    _is_told,
    most_before=LONGEST_TOLD_NAME,
)
NETRC: Final = SecretPattern(
    "assignment",
    re.compile(
        r"login [^\s\"'\\]{1,128}(?:\s|\\+[nrt]){1,32}password(?:\s|\\+[nrt]){1,32}"
        r"(?P<secret>(?!\[redacted:)[^\s\"'\\]{4,256})"
    ),
    ("login ",),
    lambda match: _WORDING.fullmatch(match["secret"]) is None,
    before=0,
)
SQL_SCREEN: Final = "(?i:identified by|password) {1,4}'"
SQL_PASSWORD: Final = _kind(
    "sql_password",
    r"(?i:identified by|password) {1,4}'(?P<secret>[^'\\]+)",
    *("IDENTIFIED BY ", "identified by ", "PASSWORD ", "password "),
)
CREDENTIALS: Final = (
    AUTH_SCHEME,
    URL_PASSWORD,
    URL_SIGNATURE,
    OPTION_VALUE,
    USER_OPTION,
    CLIENT_PASSWORD,
    LOGIN_PASSWORD,
    TOLD,
    NETRC,
    SQL_PASSWORD,
)

# Text of JSON stands in texts, and the letter of an escape is no part of the number behind it. The
# first digit comes first and what stands before it is looked at from there: a pattern that begins
# with a look back is tried at every character.
_IN_NO_ESCAPE: Final = "".join(rf"(?<!\\u[0-9a-fA-F]{{{digits}}}[0-9])" for digits in range(4))
_CARD: Final = re.compile(
    r"[2-6](?<![0-9]{6})"  # deep in a run of digits nothing begins
    rf"(?:(?<![0-9][0-9])(?<![0-9]\.[0-9]){_IN_NO_ESCAPE}"
    r"|(?<=\\[nrtbf][0-9])|(?<=\\u[0-9a-fA-F]{4}[0-9]))(?:"
    r"[0-9]{3}([ .-])[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}"
    r"|[0-9]{3}([ .-])[0-9]{6}\2[0-9]{4,5}"
    r"|[0-9]{12,18})(?![0-9])"
)
_HEX_DIGEST: Final = re.compile(r"[0-9a-fA-F]{24,}")
_TOKEN_END: Final = re.compile(r"[0-9A-Za-z]*")
_LONGEST_DIGEST: Final = 128
_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_NO_DIGITS: Final = str.maketrans("", "", " .-")
_DOUBLED: Final = bytes.maketrans(b"0123456789", b"0246813579")
"""Twice a digit, or the sum of its digits where that is two of them."""


_ISSUED: Final = re.compile(
    r"4(?:[0-9]{15}|[0-9]{18})\Z"  # Visa
    r"|3[47][0-9]{13}\Z"  # American Express
    r"|3(?:0[0-5]|09|[689][0-9])[0-9]{11,16}\Z"  # Diners Club
    r"|35[0-9]{14,17}\Z"  # JCB
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}\Z"
    r"|220[0-4][0-9]{12,15}\Z"  # Mir
    r"|6[0-9]{15,18}\Z|(?:50|5[6-9])[0-9]{14,17}\Z"  # Discover, UnionPay, Maestro, RuPay
)
"""Numbers that card issuers give out: other runs of digits with a check digit are no cards."""


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit that ISO/IEC 7812 asks for."""
    raw = digits.encode()
    total = sum(raw[-1::-2]) + sum(raw[-2::-2].translate(_DOUBLED))
    return (total - 48 * len(raw)) % 10 == 0


def is_card_number(digits: str) -> bool:
    """Whether digits may be the number of a payment card."""
    return _ISSUED.match(digits) is not None and passes_luhn(digits)


def _is_card(match: re.Match[str]) -> bool:
    text = match.string
    if text[max(0, match.start() - 1) : match.start()] == "+":
        return False  # a telephone number with its country
    if not is_card_number(match[0].translate(_NO_DIGITS)):
        return False
    end = _TOKEN_END.match(text, match.end(), match.end() + _LONGEST_DIGEST)
    before = text[max(0, match.start() - _LONGEST_DIGEST) : match.start()]
    token = before[len(before.rstrip(_ALPHANUMERIC)) :] + match[0] + (end[0] if end else "")
    return len(token) == len(match[0]) or not _HEX_DIGEST.fullmatch(token)


CARD: Final = SecretPattern("card", _CARD, (), _is_card, overlaps=True)

EMAIL: Final = _kind(
    "email", r"(?<!\\)[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}", "@"
)
"""E-mail addresses; opt-in."""
PHONE: Final = _kind(
    "phone",
    rf"(?:(?<![\w.])|{_ESCAPE})"
    r"(?:\+|00)?[0-9]{1,3}?[ .-]?\(?[0-9]{2,4}\)?(?:[ .-]?[0-9]{2,4}){2,4}(?![\w])",
)
"""Phone numbers as people write them; opt-in, and it takes long numbers for phones too."""
