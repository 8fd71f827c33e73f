"""Extras that the page calls held back are, and a few others get the newest of both.

Every pair takes a resolution by the package index; all of them would take longer than the agents.
"""

from __future__ import annotations

import pytest

from frameworks.together import HELD, are_free

FREE = (
    ("openai", "anthropic"),
    ("langchain", "openai-agents"),
    ("pydantic-ai", "mcp"),
    ("google-adk", "agent-framework"),
    ("litellm", "smolagents"),
)


@pytest.mark.parametrize(("one", "other"), HELD)
def test_a_pair_that_is_said_to_be_held_back_is(one: str, other: str) -> None:
    assert not are_free(one, other)


@pytest.mark.parametrize(("one", "other"), FREE)
def test_other_pairs_get_the_newest_of_both(one: str, other: str) -> None:
    assert are_free(one, other)
