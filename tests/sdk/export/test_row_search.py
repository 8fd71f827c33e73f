"""A column is searched for secrets by RE2 or, where `hyperscan` is installed, by Vectorscan.

Neither may miss what the other finds, and what becomes of spans must not depend on which it was.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from sdk.export.refunds import rows_below
from trackway.capture import DEFAULT_REDACTOR, Capture, redactor
from trackway.export.parquet import ParquetSpanExporter, row_search
from trackway.export.parquet.row_search import RowSearch, vectorscan

SCREENS = DEFAULT_REDACTOR.screens or ()
HARMLESS = "The order was refunded."
SECRET = "password=hunter2"


@pytest.fixture
def without_hyperscan(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    vectorscan.cache_clear()
    yield
    vectorscan.cache_clear()


needs_hyperscan = pytest.mark.skipif(
    vectorscan(SCREENS) is None, reason="hyperscan is not installed"
)


def re2(columns: list[pa.Array]) -> set[int]:
    """The rows that hold a match in one of the columns."""
    pattern = DEFAULT_REDACTOR.screen
    hits = [pc.indices_nonzero(pc.match_substring_regex(each, pattern)) for each in columns]
    return {row for rows in hits for row in rows.to_pylist()}


# What the screen is made of, and what the engines might take differently: letters that fold onto
# ASCII ones (long s, Kelvin, dotted and dotless i), white space of several kinds, bytes of UTF-8 of
# every length.
PIECES = st.sampled_from(
    [
        *("password", "PASSWORD", "token", "toKen", "to\u212aen", "\u017fecret", "Cookie", "jwt"),
        *("api-key", "ap\u0130key", "ap\u0131-key", "connection string", "identified by", "otp"),
        *("pass", "pw", "auth", "s", "Confirm", "<", ">", "</", "<\\/", "['", "']", ":=", "a.b-"),
        *('<a name="', '="', "value='", " is ", "mysql", " -p", "--pass "),
        *("`", "*", "]", "b'", "','", '",', "\\t", "\\n", "|\n "),
        *("=", ":", "'", '"', '\\"', "\\\\\\", ",", "}", " ", "    ", "--", "-u ", "-user ", "a-"),
        *("://", "sk-", "sig=", "earer ", "4111", "1111", "1", ".", "hunter2", "x" * 17, "ghp_"),
        *("\t", "\n", "\x0b", "\x0c", "\r", "\x00", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff"),
        *("e\u0301", "é" * 31, "ß", "中" * 21, "😀", "😀" * 16, "\uff1a", "\uff11", "\U0010ffff"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)
ROWS = st.lists(st.none() | TEXTS, min_size=1, max_size=8)


@needs_hyperscan
@given(TEXTS)
@example("-u a\x0bb:c")
@example("-u " + "é" * 64 + ":x")
@example("-u " + "😀" * 65 + ":x")
@example("--ap\u0130-key abcd")
@example("pa\u017f\u017fword:")
def test_of_one_text_both_engines_say_the_same(text: str) -> None:
    column = pa.array([text])
    assert set(RowSearch(SCREENS).rows([column])) == re2([column])


@needs_hyperscan
@given(st.lists(ROWS, min_size=1, max_size=3), st.integers(0, 3))
def test_no_row_is_missed_whatever_stands_around_it(
    columns: list[list[str | None]], start: int
) -> None:
    count = max(map(len, columns))
    arrays = [
        pa.array(texts + [None] * (count - len(texts)), pa.string()).slice(min(start, count - 1))
        for texts in columns
    ]
    assert set(RowSearch(SCREENS).rows(arrays)) >= re2(arrays)


@needs_hyperscan
@given(st.lists(st.sampled_from([HARMLESS, SECRET, "", None, "Zoë 😀"]), min_size=1))
def test_a_match_counts_for_its_own_row(texts: list[str | None]) -> None:
    rows = [row for row, text in enumerate(texts) if text == SECRET]
    assert RowSearch(SCREENS).rows([pa.array(texts, pa.string())]) == rows


@given(TEXTS)
@example("--ap\u0130-key hunter2")
@example("--ap\u0131key hunter2")
@example("--to\u212aen hunter2")
@example("<a:dbPasswordConfirm x='1'>hunter2</a:dbPasswordConfirm>")
@example("passwords=['hunter2']")
def test_what_would_be_redacted_is_found(text: str) -> None:
    if DEFAULT_REDACTOR.text(text)[1]:
        assert RowSearch(SCREENS).rows([pa.array([HARMLESS, text])]) == [1]


@pytest.mark.parametrize(
    "name",
    [
        *("passwords", "Password:", "Password (new)", "userPasswordConfirm", "pwd_again", "pass"),
        *("card_number", "access-key-id", "mfa_code", "mfacode", "password_hash", "secretValue"),
        *("client_assertion", "authHeader", "x-api-keys", "basic_auth", "pw", "connection string"),
        *('password\\"', "token\n"),
    ],
)
def test_a_secret_beside_any_denied_name_is_found(name: str) -> None:
    for pair in ({"name": name, "value": "hunter2"}, [[name, "hunter2"], ["host", "x"]]):
        text = json.dumps(pair, separators=(",", ":"))
        texts = pa.array([HARMLESS, text, json.dumps({"body": text})])
        assert RowSearch(SCREENS).rows([texts]) == [1, 2]
        assert "hunter2" not in (Capture().value(pair).text or "")


def test_names_of_a_user_are_searched_for_too() -> None:
    screens = redactor(deny_keys=["Straße der Köche", "ssn"]).screens or ()
    texts = pa.array(["customer_SSN: 123-45", "ssn", HARMLESS])
    assert RowSearch(screens).rows([texts]) == [0]


def test_without_hyperscan_the_rows_are_those_of_re2(without_hyperscan: None) -> None:
    columns = [pa.array([HARMLESS, SECRET, None]), pa.array(["://", HARMLESS, None])]
    search = RowSearch(SCREENS)
    assert search.engine == "RE2"
    assert search.rows(columns) == [0, 1]


@needs_hyperscan
def test_with_hyperscan_it_is_used() -> None:
    assert RowSearch(SCREENS).engine == "Vectorscan"


@needs_hyperscan
def test_where_matches_are_too_many_re2_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    column = pa.array([HARMLESS, "1" * 200, "token=", "to", "ken="])
    assert RowSearch(SCREENS).rows([column]) == [1, 2, 4]  # the last two look like one word
    monkeypatch.setattr(row_search, "_MATCHES_A_ROW", 8)
    assert RowSearch(SCREENS).rows([column]) == [1, 2]


@needs_hyperscan
def test_an_expression_that_vectorscan_refuses_goes_to_re2(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert RowSearch(("(?U:a+)b",)).rows([pa.array(["b", "ab"])]) == [1]
    assert [record.message for record in caplog.records] == [
        "trackway redacts without hyperscan, which refuses a pattern: "
        "Unrecognised character after (? at index 0."
    ]


def test_threads_search_side_by_side() -> None:
    search, ready = RowSearch(SCREENS), threading.Barrier(4)
    columns = [pa.array([HARMLESS * 50] * place + [SECRET] * 3) for place in range(4)]

    def rows(place: int) -> list[list[int]]:
        ready.wait()
        return [search.rows([columns[place]]) for _ in range(50)]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(rows, range(4)))
    assert found == [[[place, place + 1, place + 2]] * 50 for place in range(4)]


def _answer(search: RowSearch, say: Callable[[Any], None]) -> None:
    say(search.rows([pa.array([HARMLESS, SECRET])]))


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")
def test_a_child_that_is_forked_searches_as_its_parent_does() -> None:
    search = RowSearch(SCREENS)
    assert search.rows([pa.array([SECRET])]) == [0]
    forking = multiprocessing.get_context("fork")
    ours, theirs = forking.Pipe()
    child = forking.Process(target=_answer, args=(search, theirs.send))
    child.start()
    assert ours.poll(30)
    assert ours.recv() == [1]
    child.join()
    assert child.exitcode == 0


def _spans() -> list[ReadableSpan]:
    """Spans of our own and of others in turn, some with secrets, at fixed times."""
    provider = TracerProvider(shutdown_on_exit=False)
    tracers = [provider.get_tracer(name) for name in ("lib", "trackway")]
    texts = [HARMLESS, SECRET, '{"token":"hunter2"}', "to", "ken=hunter2", "https://a:b@c", "é" * 9]
    spans: list[ReadableSpan] = []
    for number, text in enumerate(texts * 3):
        # Under our own keys our own capture has cleaned everything already.
        result = HARMLESS if number % 2 else text
        attributes = {"gen_ai.tool.call.result": result, "app.note": texts[number % 5]}
        span = tracers[number % 2].start_span(text, attributes=attributes, start_time=number)
        span.end(number + 1)
        assert isinstance(span, ReadableSpan)
        spans.append(span)
    return spans


@needs_hyperscan
def test_files_do_not_depend_on_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spans, files = _spans(), []
    for folder in ("with", "without"):
        exporter = ParquetSpanExporter(tmp_path / folder)
        exporter.export(spans)
        exporter.shutdown()
        files.append(rows_below(tmp_path / folder))
        monkeypatch.setitem(sys.modules, "hyperscan", None)
        vectorscan.cache_clear()
    vectorscan.cache_clear()
    assert files[0] == files[1]
    assert sum("[redacted:" in str(row) for row in files[0]) > 3
    assert not any(SECRET in str(row) for row in files[0])
