"""Where values are cut, how that is marked, and what the digests cover."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from trackway.capture import DEFAULT_REDACTOR, Capture, Captured, Limits

CAPTURE = Capture()
SMALL = Capture(Limits(value_bytes=200))


def decoded(captured: Captured) -> Any:
    assert captured.text is not None
    return json.loads(captured.text)


def sha256(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_a_long_text_keeps_its_beginning_and_says_how_much_is_missing() -> None:
    text = "word " * 100
    captured = SMALL.value(text)
    written = decoded(captured)
    kept = written.partition("…")[0]
    assert text.startswith(kept)
    assert written == f"{kept}…[truncated {len(text) - len(kept)} chars]"
    assert len(captured.text or "") > 190
    assert captured.digest == sha256(json.dumps(text))


def test_a_text_is_measured_in_bytes_of_its_json() -> None:
    for character in ("é", "🚀", '"', "\n", "\x01"):
        captured = SMALL.value(character * 300)
        assert 150 < len((captured.text or "").encode()) <= 200
        assert decoded(captured).startswith(character)


def test_a_long_list_keeps_its_first_elements() -> None:
    captured = SMALL.value(list(range(1000)))
    *kept, marker = decoded(captured)
    assert kept == list(range(len(kept)))
    assert marker == f"…[truncated {1000 - len(kept)} items]"
    assert captured.digest == sha256("[" + ",".join(map(str, range(1000))) + "]")


def test_a_large_member_does_not_push_out_its_neighbours() -> None:
    value = {"a_document": "text " * 1000, "order_id": "o1", "zone": [1, 2, 3]}
    written = decoded(SMALL.value(value))
    assert written["order_id"] == "o1"
    assert written["zone"] == [1, 2, 3]
    assert written["a_document"].startswith("text text")


def test_an_object_of_many_keys_keeps_some_and_counts_the_rest() -> None:
    value = {f"key{number:03}": number for number in range(500)}
    written = decoded(SMALL.value(value))
    dropped = written.pop("…")
    assert dropped == f"[truncated {500 - len(written)} keys]"
    assert list(written) == [f"key{number:03}" for number in range(len(written))]


def test_large_members_share_what_is_left() -> None:
    written = decoded(Capture(Limits(value_bytes=2000)).value({"a": "x" * 5000, "b": "y" * 5000}))
    lengths = [len(written[name]) for name in ("a", "b")]
    assert min(lengths) > 900
    assert max(lengths) - min(lengths) < 10


def test_nested_values_are_cut_in_place() -> None:
    value = {"messages": [{"role": "user", "content": "hello " * 500}], "model": "m"}
    written = decoded(Capture(Limits(value_bytes=600)).value(value))
    assert written["model"] == "m"
    assert written["messages"][0]["role"] == "user"
    assert written["messages"][0]["content"].startswith("hello hello")


@pytest.mark.parametrize("value_bytes", [2_000, 65_536])
@pytest.mark.parametrize("dated", [False, True])
def test_what_is_cut_twice_counts_all_that_is_missing(dated: bool, value_bytes: int) -> None:
    value = {
        "text": "word " * 1_000_000,
        "rows": [[number, "some words of a row"] for number in range(60_000)],
        "date": datetime.date(2026, 1, 1) if dated else "",
    }
    written = decoded(Capture(Limits(value_bytes)).value(value))
    kept, _, marker = written["text"].partition("…")
    assert marker == f"[truncated {5_000_000 - len(kept)} chars]"
    *rows, marker = written["rows"]
    assert marker == f"…[truncated {60_000 - len(rows)} items]"


def test_an_object_that_is_cut_twice_counts_all_missing_keys() -> None:
    value = {f"key{number}": ["word"] * 3 for number in range(50_000)}
    written = decoded(Capture(Limits(value_bytes=2000)).value(value))
    marker = written.pop("…")
    assert marker == f"[truncated {50_000 - len(written)} keys]"


def test_an_own_key_that_looks_like_the_marker_is_not_mistaken_for_one() -> None:
    value: dict[str, Any] = {f"鍵{number:03}": "x" * 20 for number in range(100)}
    value["…"] = "mine"
    written = decoded(SMALL.value(value))
    dropped = written.pop("…")
    assert dropped == f"[truncated {101 - len(written)} keys]"


@pytest.mark.parametrize("extra", [0, 1])
def test_the_limit_of_a_value_is_exact(extra: int) -> None:
    captured = SMALL.value("x" * (198 + extra))
    assert captured.truncated is bool(extra)
    assert (captured.digest is not None) is bool(extra)


@pytest.mark.parametrize("depth", [20, 21])
def test_the_limit_of_depth_is_exact(depth: int) -> None:
    plain: Any = 1
    dated: Any = datetime.date(2026, 1, 1)
    for _ in range(depth):
        plain, dated = [plain], {"a": dated}
    for value in (plain, dated):
        captured = CAPTURE.value(value)
        assert captured.truncated is (depth == 21)
        assert ("too deep" in (captured.text or "")) is (depth == 21)


def test_a_digest_of_a_cut_value_tells_values_apart_that_differ_behind_the_cut() -> None:
    texts = ["same " * 20_000 + end for end in ("a", "b")]
    first, second = (CAPTURE.value(text) for text in texts)
    assert first.text == second.text
    assert [first.digest, second.digest] == [sha256(json.dumps(text)) for text in texts]


def test_beyond_the_hash_limit_the_digest_is_partial_and_covers_length_head_and_tail() -> None:
    text = "same " * 1_000_000
    digests = [
        CAPTURE.value(variant).digest or ""
        for variant in (text, text + "x", "x" + text[1:], text[:-1] + "x")
    ]
    assert all(digest.startswith("sha256-partial:") for digest in digests)
    assert len(set(digests)) == 4


def test_the_digest_of_a_list_that_is_too_long_covers_its_end() -> None:
    rows = [{"id": number} for number in range(50_000)]
    other = [*rows[:-1], {"id": -1}]
    first, second = CAPTURE.value(rows), CAPTURE.value(other)
    assert first.text == second.text
    assert first.digest != second.digest


def test_the_digest_is_of_the_redacted_value() -> None:
    filler = "word " * 20_000
    first = CAPTURE.value({"password": "hunter2", "text": filler})
    second = CAPTURE.value({"password": "swordfish", "text": filler})
    assert first.digest == second.digest
    assert (first.digest or "").startswith("sha256:")


def test_no_more_than_the_budget_is_searched_for_secrets() -> None:
    texts = ['password="{}"'.format("long phrase " * 30)] * 125
    written = decoded(CAPTURE.value(texts))
    searched = [text for text in written if text == 'password="[redacted:assignment]"']
    unsearched = [text for text in written if text == f"…[truncated {len(texts[0])} chars]"]
    # Twice what may be recorded, each string counting 512 besides, and the name and what it is
    # set to 408 together.
    assert len(searched) == 2 * (65_536 + 1_024) // (len(texts[0]) + 512 + 408)
    assert len(searched) + len(unsearched) == len(written) == 125


@pytest.mark.parametrize(
    "secret",
    [
        "password=hunter2-{}, ",
        '"password": "hunter2-{}", ',
        "AKIA" + "IOSFODNN7EXAMPLE{} ",
        "Bearer hunter2-{}-abcdefgh ",
        "https://user:hunter2-{}@host/ ",
        "4111111111111111 {} ",
    ],
)
def test_a_text_full_of_secrets_ends_where_the_search_ends(secret: str) -> None:
    text = "".join(secret.format(number) for number in range(40_000))
    for value in (text, text[:60_000], {"note": [text]}):
        captured = CAPTURE.value(value)
        written = captured.text or ""
        assert captured.redacted
        assert captured.truncated
        assert (captured.digest or "").startswith("sha256-partial:")
        assert "[redacted:" in written
        assert "chars]" in written
        for leak in ("hunter2", "IOSFODNN7", "4111111111111111"):
            assert leak not in written


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "cookie:",
        "authorization: f(a",
        "key: ",
        "sk-",
        "://a:",
        "4111",
        "password='",
        "-----BEGIN ",
    ],
)
def test_a_search_is_linear_in_the_length_of_a_text(piece: str) -> None:
    # A quadratic one would take hours here.
    text = (piece * (2_000_000 // len(piece)))[:2_000_000]
    DEFAULT_REDACTOR.text(text)
    CAPTURE.value([text, text[:100_000]])


def test_the_end_of_a_key_of_any_length_decides_whether_it_is_denied() -> None:
    captured = CAPTURE.value({"x" * 5_000_000 + "_password": "hunter2"})
    assert "hunter2" not in (captured.text or "")
    assert captured.redacted


def test_a_long_text_beside_other_than_plain_values_is_taken_up_to_the_searched_length() -> None:
    value = {"when": datetime.date(2026, 1, 1), "text": "word " * 20_000}
    assert (CAPTURE.value(value).digest or "").startswith("sha256:")
    value["text"] = "word " * 30_000
    captured = CAPTURE.value(value)
    assert (captured.digest or "").startswith("sha256-partial:")
    assert decoded(captured)["text"].startswith("word word")


DAY = datetime.date(2026, 1, 1)


def test_members_share_what_may_be_looked_at() -> None:
    written = decoded(CAPTURE.value({"all": [[DAY]] * 50_000, "few": [DAY, [DAY]]}))
    assert written["few"] == ["2026-01-01", ["2026-01-01"]]
    assert written["all"][0] == ["2026-01-01"]


def test_a_list_of_other_than_plain_values_is_cut_where_the_budget_ends() -> None:
    *kept, marker = decoded(CAPTURE.value([DAY] * 50_000))
    assert kept == ["2026-01-01"] * (655_360 // (440 + 17 * len("2026-01-01")))
    assert marker == f"…[truncated {50_000 - len(kept)} items]"


def test_many_texts_together_count_against_the_hash_limit() -> None:
    texts = ["word " * 1_000] * 60
    assert (CAPTURE.value(texts).digest or "").startswith("sha256:")
    assert (CAPTURE.value(texts * 3).digest or "").startswith("sha256-partial:")


def test_keys_that_were_met_before_change_nothing() -> None:
    value = {f"never met before {number}": number for number in range(2_500)}
    assert CAPTURE.value(value) == CAPTURE.value(value)
    assert (CAPTURE.value(value).digest or "").startswith("sha256:")


def test_what_one_member_does_not_use_is_left_to_the_others() -> None:
    written = decoded(CAPTURE.value({"few": [DAY], "many": [DAY] * 1_000}))
    assert written["many"] == ["2026-01-01"] * 1_000


def test_limits_that_hold_no_marker_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Limits.value_bytes: expected at least 128, found 64"):
        Limits(value_bytes=64)
    with pytest.raises(ValueError, match=r"Limits.depth: expected at least 1, found 0"):
        Limits(depth=0)


def test_more_bytes_than_the_hash_limit_may_be_kept() -> None:
    capture = Capture(Limits(value_bytes=3_000_000))
    text = "word " * 500_000
    assert capture.value(text) == Captured(json.dumps(text))


def test_with_content_off_only_a_keyed_digest_remains() -> None:
    capture = Capture(content=False, hash_key=b"key")
    expected = hmac.new(b"key", b'{"size":1234}', "sha256").hexdigest()
    assert capture.arguments({"size": 1234}) == Captured(
        None, False, False, f"hmac-sha256:{expected}"
    )


def test_with_content_off_a_redaction_is_still_told_and_a_large_value_is_partial() -> None:
    capture = Capture(content=False, hash_key=b"key")
    captured = capture.value({"password": "hunter2"})
    assert captured.redacted
    assert capture.value({"password": "swordfish"}).digest == captured.digest
    digest = capture.value("word " * 1_000_000).digest or ""
    assert digest.startswith("hmac-sha256-partial:")


def test_the_hash_key_comes_from_the_environment_or_is_one_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRACKWAY_HASH_KEY", "shared")
    shared = Capture(content=False).value("a").digest
    assert shared == Capture(content=False, hash_key=b"shared").value("a").digest
    monkeypatch.delenv("TRACKWAY_HASH_KEY")
    own = Capture(content=False).value("a").digest
    assert own == Capture(content=False).value("a").digest
    code = "from trackway.capture import *; print(Capture(content=False).value('a').digest)"
    environment = {name: value for name, value in os.environ.items() if "HASH_KEY" not in name}
    other = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert other.stdout.startswith("hmac-sha256:")
    assert other.stdout.strip() != own


def test_a_message_keeps_its_beginning_and_its_end() -> None:
    text = "Traceback " + "line " * 100 + "ValueError: boom"
    cut = SMALL.text(text)
    assert len(cut.encode()) <= 200
    assert cut.startswith("Traceback ")
    assert cut.endswith("ValueError: boom")
    assert " chars]" in cut
    assert SMALL.text("short") == "short"


def test_a_huge_message_is_cut_and_stays_text() -> None:
    cut = CAPTURE.text("é" * 20_000_000)
    assert len(cut.encode()) <= 65536
    assert cut.endswith(" chars]")


def test_a_message_without_utf8_form_is_spelled_out() -> None:
    assert CAPTURE.text("bad \udcff") == "bad \\udcff"
