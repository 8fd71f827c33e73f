"""Every rule is in the catalogue, says what it means, and stands in the documentation."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import trackway_analyzer.rules as rules
from trackway_analyzer.rules import Rule
from trackway_analyzer.rules.catalogue import ALIASES, RULES
from trackway_analyzer.rules.policy_file import field_names

DOCS = Path(__file__).parents[3] / "docs" / "checking.md"


def documented() -> dict[str, set[str]]:
    """Keys of each rule, as the table of the documentation lists them."""
    table = DOCS.read_text("utf-8").split("### `rules`")[1].split("## Claims")[0]
    found: dict[str, set[str]] = {}
    for line in table.splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) > 3 and cells[1].strip().startswith("`"):
            keys = set(re.findall(r"`(\w+)`", cells[2]))
            found |= dict.fromkeys(re.findall(r"`(\w+)`", cells[1]), keys)
    return found


def test_every_public_rule_is_in_the_catalogue() -> None:
    public = {
        value
        for name in rules.__all__
        if inspect.isclass(value := getattr(rules, name)) and issubclass(value, Rule)
    }

    assert public - {Rule} == set(RULES.values())


@pytest.mark.parametrize("key", RULES)
def test_a_rule_says_what_it_means_in_one_line(key: str) -> None:
    text = RULES[key].__doc__ or ""

    assert len(text.splitlines()[0]) > 20
    assert text.splitlines()[0].endswith(".")


@pytest.mark.parametrize("key", RULES)
def test_a_rule_stands_in_the_documentation_with_its_keys(key: str) -> None:
    keys = {name for name in field_names(RULES[key]) if name != "severity"}
    hidden = (
        {"references"}
        if key in ("exact", "in_order", "any_order", "at_least", "at_most")
        else set()
    )

    assert documented()[key] - hidden == keys - hidden


def test_aliases_stand_in_the_documentation() -> None:
    assert documented().keys() == RULES.keys() | ALIASES.keys()


@pytest.mark.parametrize("key", RULES)
def test_the_short_form_fills_fields_that_exist(key: str) -> None:
    assert set(RULES[key].short) <= set(inspect.signature(RULES[key]).parameters)
