"""What holds for every value.

100,000 values a property: `HYPOTHESIS_PROFILE=deep pytest tests/sdk/capture -k properties`
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import hashlib
import json
import pathlib
import random
import re
import string
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import attrs
import msgspec
import numpy
import pydantic
from hypothesis import assume, example, given
from hypothesis import strategies as st

from trackway.capture import DEFAULT_REDACTOR, Capture, Limits, capture_errors, redactor

CAPTURE = Capture()
CAREFUL = Capture(redactor=redactor(hooks=[lambda text: text]))
"""Looks at every string by itself, and so checks the capture that looks at all in one go."""


class Colour(enum.Enum):
    RED = "red"
    ODD = (1, "two")


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Record:
    body: Any
    hidden: Any = dataclasses.field(default=None, repr=False)


@attrs.define
class Parcel:
    content: Any


class Struct(msgspec.Struct):
    content: Any


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)
    content: Any


class Plain:
    def __init__(self, content: Any) -> None:
        self.content = content


class Raising:
    def __getattribute__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    __repr__ = __str__ = __hash__ = __eq__ = __iter__ = __len__ = None  # type: ignore


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**12, max_value=10**20),
    st.integers(0, 20_000).map(lambda bits: 1 << bits),
    st.floats(),
    st.complex_numbers(),
    st.fractions(),
    st.decimals(),
    ANY_TEXT,
    st.text(max_size=3).map(lambda text: text * 400),
    st.binary(max_size=30),
    st.binary(max_size=30).map(bytearray),
    st.binary(max_size=30).map(memoryview),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.ip_addresses(),
    st.sampled_from(Colour),
    ANY_TEXT.map(lambda text: pathlib.PurePosixPath(text.replace("\0", ""))),
    st.builds(Raising),
    st.sampled_from([object, len, json, string, Plain, NotImplemented, ..., range(9), slice(1, 2)]),
    st.lists(st.floats(width=32), max_size=30).map(numpy.array),
    st.lists(ANY_TEXT, max_size=5).map(lambda texts: numpy.array(texts, dtype=object)),
    st.floats().map(numpy.float64),
)
KEYS = st.one_of(ANY_TEXT, st.sampled_from(["password", "id", "…", "x" * 500]), st.integers()) | (
    st.one_of(
        st.none(),
        st.floats(),
        st.dates(),
        st.tuples(ANY_TEXT, st.integers()),
        st.binary(max_size=4),
    )
)


def containers(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(values, max_size=8),
        st.lists(values, max_size=4).map(tuple),
        st.dictionaries(KEYS, values, max_size=8),
        st.dictionaries(ANY_TEXT, values, max_size=8),
        st.lists(values, max_size=4).map(collections.deque),
        st.sets(st.one_of(st.integers(), ANY_TEXT, st.none()), max_size=5),
        st.builds(Pair, values, values),
        st.builds(lambda make, content: make(content), st.sampled_from(HOLDERS), values),
    )


HOLDERS: list[Callable[[Any], Any]] = [
    Record,
    Parcel,
    Struct,
    Plain,
    ValueError,
    lambda content: Model.model_construct(content=content, extra=content),
    lambda content: types.SimpleNamespace(content=content),
    lambda content: types.MappingProxyType({"content": content}),
    lambda content: in_a_circle(content),
]


def in_a_circle(value: Any) -> Any:
    record = Record(value)
    record.body = {"value": value, "again": [record]}
    return record


VALUES = st.recursive(LEAVES, containers, max_leaves=25)
LIMITS = st.builds(
    Limits,
    value_bytes=st.sampled_from([128, 200, 1000, 65536]),
    depth=st.sampled_from([1, 3, 20]),
    hash_bytes=st.sampled_from([0, 1000, 640 * 1024]),
)


def no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


@given(VALUES, LIMITS)
def test_every_value_becomes_valid_json_within_the_limits(value: Any, limits: Limits) -> None:
    before = capture_errors()
    captured = Capture(limits).value(value)
    assert captured.text is not None
    assert len(captured.text.encode()) <= limits.value_bytes
    decoded = json.loads(captured.text, parse_constant=no_constant)
    again = json.dumps(decoded, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert captured.text == again
    assert (captured.digest is None) == (not captured.truncated)
    assert depth_of(decoded) <= limits.depth + 1
    assert capture_errors() == before


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(VALUES)
def test_the_same_value_gives_the_same_record(value: Any) -> None:
    assert CAPTURE.value(value) == CAPTURE.value(value)


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.text(max_size=30))
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda values: st.lists(values, max_size=6) | st.dictionaries(st.text(max_size=9), values),
    max_leaves=30,
)


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@given(JSON_VALUES, st.randoms(use_true_random=False))
def test_the_order_of_keys_never_matters(value: Any, order: random.Random) -> None:
    assert CAPTURE.value(shuffled(value, order)) == CAPTURE.value(value)


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(item, order) for item in value]
    if not isinstance(value, dict):
        return value
    items = [(key, shuffled(member, order)) for key, member in value.items()]
    order.shuffle(items)
    return dict(items)


@given(JSON_VALUES)
def test_the_digest_of_a_cut_value_is_that_of_its_canonical_json(value: Any) -> None:
    captured = Capture(Limits(value_bytes=128), redactor=None).value(value)
    if captured.truncated:
        expected = hashlib.sha256(canonical(value).encode()).hexdigest()
        assert captured.digest == f"sha256:{expected}"
    else:
        assert captured.text == canonical(value)


@given(st.text(min_size=300), st.integers(128, 300))
def test_a_cut_text_uses_its_room_and_counts_what_is_missing(text: str, room: int) -> None:
    captured = Capture(Limits(value_bytes=room), redactor=None).value(text)
    assert captured.text is not None
    kept, _, marker = json.loads(captured.text).rpartition("…[truncated ")
    assert text.startswith(kept)
    assert marker == f"{len(text) - len(kept)} chars]"
    # Where wide characters follow narrow ones, the estimate of where to cut falls short.
    assert len(captured.text.encode()) > (
        room - 16 if json.dumps(text) == f'"{text}"' else room // 2
    )


# Secrets: a kind and a random body that must not come out.
ALPHANUMERIC = string.ascii_letters + string.digits


def body(alphabet: str, length: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=length, max_size=length)


def with_check_digit(digits: str) -> str:
    for check in string.digits:
        total = 0
        for place, digit in enumerate(reversed(digits + check)):
            doubled = int(digit) * (1 + place % 2)
            total += doubled if doubled < 10 else doubled - 9
        if total % 10 == 0:
            return digits + check
    raise AssertionError


def in_groups(digits: str) -> st.SearchStrategy[str]:
    return st.sampled_from(["", " ", "-"]).map(lambda by: by.join(re.findall(".{1,4}", digits)))


SECRETS = st.one_of(
    body(ALPHANUMERIC, 24).map("sk-{}".format),
    body(ALPHANUMERIC + "_-", 40).map("sk-proj-{}".format),
    body(string.ascii_uppercase + string.digits, 16).map("AKIA{}".format),
    body(ALPHANUMERIC, 36).map("ghp_{}".format),
    body(ALPHANUMERIC, 24).map("sk_live_{}".format),
    body(ALPHANUMERIC, 35).map("AIza{}".format),
    body(string.digits, 12).map("xoxb-{}-abcdefgh".format),
    body(ALPHANUMERIC, 20).map("glpat-{}".format),
    body(ALPHANUMERIC, 64).map(lambda key: f"-----BEGIN PRIVATE KEY-----\n{key}\n-----END"),
    st.tuples(*[body(ALPHANUMERIC, 20)] * 3).map(lambda parts: "eyJ{}.eyJ{}.{}".format(*parts)),
    body(ALPHANUMERIC, 30).map("Bearer 7{}".format),
    body(string.digits, 14).map(lambda d: with_check_digit("4" + d)).flatmap(in_groups),
)
BETWEEN = st.sampled_from([" ", "\n", "\t", '"', "'", "(", ",", ";", "|", "<", "é", "\x01", "\\"])
AROUND = st.text(max_size=20)
HARMLESS_PARTS = re.compile(r"-----[A-Z ]*-----|-----END|Bearer|[a-z]+[-_]|-abcdefgh")

WRAPPERS: list[Callable[[Any], Any]] = [
    lambda inner: [inner],
    lambda inner: [1, "text", inner, None],
    lambda inner: (inner,),
    lambda inner: {"key": inner},
    lambda inner: {1: inner, "b": "c"},
    Record,
    Parcel,
    Struct,
    lambda inner: Model.model_construct(content=inner, note=inner),
    lambda inner: Pair(1, inner),
    lambda inner: collections.OrderedDict(a=inner),
    lambda inner: collections.deque([inner]),
    lambda inner: types.SimpleNamespace(a=inner),
    lambda inner: types.MappingProxyType({"a": inner}),
    ValueError,
    lambda inner: [inner, Raising(), 1.5, Colour.RED],
    lambda inner: {"password": inner, "kept": [inner]},
]
INNERMOST: list[Callable[[str], Any]] = [
    lambda text: text,
    lambda text: {text: 1},
    lambda text: {text, "a"},
    lambda text: json.dumps({"note": text}),
    lambda text: text.encode("utf-8", "replace"),
    lambda text: pathlib.PurePosixPath(text),
    lambda text: numpy.array([text], dtype=object),
    lambda text: {("key", text): 2},
]


@given(
    SECRETS,
    AROUND,
    BETWEEN,
    BETWEEN,
    AROUND,
    st.sampled_from(INNERMOST),
    st.lists(st.sampled_from(WRAPPERS), max_size=8),
    st.sampled_from([200, 65536]),
)
def test_no_planted_secret_comes_out(
    secret: str,
    before: str,
    left: str,
    right: str,
    after: str,
    innermost: Callable[[str], Any],
    wrappers: list[Callable[[Any], Any]],
    value_bytes: int,
) -> None:
    def captured(text: str) -> str:
        value = innermost(text)
        for wrap in wrappers:
            value = wrap(value)
        return Capture(Limits(value_bytes=value_bytes)).value(value).text or ""

    harmless = before + after + captured("")
    assume(not any(part in harmless for part in fragments_of(secret)))
    written = captured(before + left + secret + right + after)
    json.loads(written)
    assert len(written.encode()) <= value_bytes
    message = CAPTURE.text(before + left + secret + right + after)
    for part in fragments_of(secret):
        assert part not in written
        assert part not in message


def fragments_of(secret: str) -> set[str]:
    """Return all runs of eight characters of a secret that would betray it."""
    joined = re.sub("[ -]", "", secret)
    telling = [joined] if joined.isdigit() else HARMLESS_PARTS.sub(" ", secret).split()
    return {part[at : at + 8] for part in telling for at in range(len(part) - 7)}


# Texts made of what secrets are made of, so that near misses are common.
FRAGMENTS = st.sampled_from(
    [
        *(
            "password",
            "token",
            "api_key",
            "API key",
            "secret",
            "Authorization",
            "Cookie",
            "max_tokens",
        ),
        *(
            "=",
            ": ",
            ":",
            " ",
            '"',
            "'",
            "\\",
            '\\"',
            "\n",
            "\t",
            ",",
            ";",
            "&",
            "{",
            "}",
            "[",
            "(",
            "@",
        ),
        *("://", "user", "Bearer ", "Basic ", "sk-", "ghp_", "AKIA", "eyJ", "xoxb-", "-----BEGIN "),
        *(
            "PRIVATE KEY-----",
            "hunter2",
            "abcdefghijklmnop",
            "QRSTUVWXYZ012345",
            "4111",
            "1111",
            "-",
        ),
        *(
            "4111111111111111",
            ".",
            "_",
            "\x01",
            "é",
            "[redacted:card]",
            "dXNlcjpwYXNz",
            "Word",
            "null",
        ),
        *(
            "b'",
            "`",
            "**",
            "','",
            '","',
            "=>",
            "]",
            "''",
            "'\\''",
            "|\n  ",
            "&",
            "passphrase",
            "  ",
        ),
        *('<a name="', '="', "'/>", " value='", "word is ", "mysql ", " -p", "--pass "),
        *(
            "recovery_code",
            "pin",
            "ssn",
            "openai_key",
            "пароль",
            "name",
            "value",
            "seed phrase",
            "key",
        ),
        *("['", "\\\\", "a1", "\\n", "auth", "pass", "<password>", "</"),
    ]
)
SECRETIVE = st.lists(FRAGMENTS, max_size=14).map("".join)


@given(SECRETIVE)
@example('"password": "never closed')
def test_redacting_twice_changes_nothing(text: str) -> None:
    once, changed = DEFAULT_REDACTOR.text(text)
    assert changed == (once != text)
    assert DEFAULT_REDACTOR.text(once) == (once, False)


@given(SECRETIVE)
def test_the_screen_finds_every_text_that_would_change(text: str) -> None:
    if DEFAULT_REDACTOR.text(text)[1]:
        assert re.search(DEFAULT_REDACTOR.screen or "", text)
        assert re.search(DEFAULT_REDACTOR.screen or "", json.dumps([text], ensure_ascii=False))


@given(
    st.recursive(
        SECRETIVE | st.integers(0, 2**63 - 1) | st.floats(allow_nan=False) | st.none(),
        lambda values: (
            st.lists(values, max_size=4) | st.dictionaries(SECRETIVE, values, max_size=4)
        ),
        max_leaves=10,
    )
)
def test_a_look_at_all_in_one_go_finds_what_a_look_at_each_string_finds(value: Any) -> None:
    assert CAPTURE.value(value) == CAREFUL.value(value)
