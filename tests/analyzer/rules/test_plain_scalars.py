"""What a plain word, a tag, a depth and a wrong sign in a policy file mean."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import yaml

from trackway_analyzer.rules import Forbidden, Policy, PolicyError
from trackway_analyzer.rules.located import DEEPEST, Reader
from trackway_analyzer.rules.plain_scalars import plain_scalar


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("0", 0),
        ("-12", -12),
        ("8.5", 8.5),
        ("2e4", 20000.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("y", "y"),
        ("2020-01-01", "2020-01-01"),
        ("1.2.3", "1.2.3"),
        ("refund_api.create", "refund_api.create"),
        ("12:ab", "12:ab"),
    ],
)
def test_a_word_is_what_yaml_1_2_says(word: str, value: Any) -> None:
    assert plain_scalar(word) == value
    assert type(plain_scalar(word)) is type(value)


@pytest.mark.parametrize(
    "word", ["no", "Yes", "ON", "off", "0100", "-007", "1:30", "1:30:15.5", "20_000", "0x1F", "0o7"]
)
def test_a_word_with_two_meanings_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=f"some readers of YAML take {word} for .* in quotes"):
        plain_scalar(word)
    assert Reader("p").read(f"'{word}'") == word


@pytest.mark.parametrize("word", ["no", "0100", "1:30", "20_000", "12", "2020-01-01", "1e3", "x"])
def test_nothing_that_another_reader_takes_for_something_else_is_taken(word: str) -> None:
    other = yaml.safe_load(word)
    try:
        found = plain_scalar(word)
    except ValueError:
        return
    assert found == other or isinstance(other, datetime.date) or other == word


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("rules:\n  - forbid: [a\x00]", 2, "no YAML: the character U+0000 may not stand here"),
        ("rules:\n  - forbid: !!str a", 2, "found tag:yaml.org,2002:str: leave the tag out"),
        ("rules:\n  - forbid: !include a", 2, "expected a value without a tag, found !include"),
        ("rules:\n  - !!python/name:os.system x", 2, "expected a value without a tag"),
        ("rules:\n  " + "[" * 2000 + "]" * 2000, 2, "at most 64 levels of lists and mappings"),
        ("rules:\n" + "".join(f"{' ' * n}- \n" for n in range(1, 300)), 65, "at most 64 levels"),
        ("rules:\n  - budget: {steps: 0100}", 2, "write a decimal number such as 100"),
        ("rules:\n  - forbid: [no]", 2, "write false, or 'no' in quotes"),
    ],
)
def test_what_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.from_yaml(text + "\n")
    assert raised.value.line == line
    assert message in str(raised.value)


def test_aliases_cannot_grow_beyond_measure_or_nest_too_deeply() -> None:
    bomb = ["a: &a [x]"]
    bomb += [f"b{n}: &b{n} [{', '.join([f'*b{n - 1}' if n else '*a'] * 9)}]" for n in range(9)]
    with pytest.raises(PolicyError, match="at most 100,000 values"):
        Policy.from_yaml("\n".join(bomb))

    chain = ["c0: &c0 [x]", *(f"c{n}: &c{n} [*c{n - 1}]" for n in range(1, DEEPEST + 2))]
    with pytest.raises(PolicyError, match="at most 64 levels"):
        Policy.from_yaml("\n".join(chain))


@pytest.mark.parametrize(
    "rule",
    [
        f"step_regex: '{'(' * 3000}a{')*' * 3000}'",
        f"arguments: {{tool: a, where: '{'not ' * 3000}x'}}",
        f"claim: {{needs: a, says: '{'(' * 3000}x{')' * 3000}'}}",
    ],
)
def test_an_expression_with_too_many_levels_is_refused_with_its_line(rule: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.from_yaml(f"version: 1\nrules:\n  - {rule}\n")
    assert raised.value.line == 3


def test_a_text_in_quotes_and_a_number_are_what_they_look_like() -> None:
    text = 'version: 1\nrules:\n  - forbid: ["no", "12"]\n'
    assert Policy.from_yaml(text).rules == (Forbidden(["no", "12"]),)

    for wrong in ("1.0", "'1'", "true", "2"):
        with pytest.raises(PolicyError, match="expected version: 1, found"):
            Policy.from_yaml(f"version: {wrong}\nrules: [{{forbid: a}}]\n")
