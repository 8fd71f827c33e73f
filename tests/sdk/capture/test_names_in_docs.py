"""The table of denied names in the docs is the code's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from trackway.capture import DEFAULT_REDACTOR
from trackway.capture import secret_names as names

PAGE = (Path(__file__).parents[3] / "docs" / "recording.md").read_text("utf-8")


def shown(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("| ends in, whatever its case and separators | {} |", names.DENIED),
        ("| is, or ends in as a whole word | {} |", names.BY_WORDS),
        ("| is the key of a vendor (`openai_key`) | {} |", names.VENDORS),
        ("| ends in, in other alphabets (keys only) | {} |", names.OF_OTHER_ALPHABETS),
        ("| is alone, numbers apart | {} |", sorted(names.ALONE)),
        ("Not denied: what ends in {}, and counts", names.HARMLESS),
    ],
)
def test_the_docs_show_every_name(said: str, words: Iterable[str]) -> None:
    assert said.format(shown(words)) in PAGE


def test_every_name_of_the_table_is_denied() -> None:
    keys = (f"{vendor}_key" for vendor in names.VENDORS)
    for name in (*names.DENIED, *names.BY_WORDS, *names.OF_OTHER_ALPHABETS, *names.ALONE, *keys):
        assert DEFAULT_REDACTOR.denies(name)
    for name in (*names.HARMLESS, "session_id", "dsn"):
        assert not DEFAULT_REDACTOR.denies(name)
