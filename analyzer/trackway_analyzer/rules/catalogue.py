"""All rules by their key in a policy file."""

from __future__ import annotations

from typing import Final

from trackway_analyzer.rules.budgets import Budget
from trackway_analyzer.rules.claims import Claim
from trackway_analyzer.rules.grounding import Grounded
from trackway_analyzer.rules.matching import AnyOrder, AtLeast, AtMost, Exact, InOrder
from trackway_analyzer.rules.occurrence import (
    Accompanied,
    Called,
    First,
    Last,
    Never,
    NotTogether,
    Together,
)
from trackway_analyzer.rules.precedence import After, Before, Immediately, NotAfter, Responds
from trackway_analyzer.rules.rule import Rule, key_of
from trackway_analyzer.rules.safety import Allowed, Forbidden
from trackway_analyzer.rules.sequence import Sequence
from trackway_analyzer.rules.windows import AtMostOnceBetween, Between, Until

_ALL: Final[tuple[type[Rule], ...]] = (
    Sequence,
    Exact,
    InOrder,
    AnyOrder,
    AtLeast,
    AtMost,
    Called,
    Never,
    First,
    Last,
    Accompanied,
    Together,
    NotTogether,
    Before,
    After,
    NotAfter,
    Responds,
    Immediately,
    Between,
    AtMostOnceBetween,
    Until,
    Grounded,
    Forbidden,
    Allowed,
    Budget,
    Claim,
)

RULES: Final[dict[str, type[Rule]]] = {key_of(cls): cls for cls in _ALL}
ALIASES: Final = {"forbid": "forbidden", "allow": "allowed"}
