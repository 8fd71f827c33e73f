"""All rules by their key in a policy file."""

from __future__ import annotations

from typing import Final

from trackway_analyzer.rules.budgets import Budget
from trackway_analyzer.rules.claims import Claim
from trackway_analyzer.rules.grounding import Grounded
from trackway_analyzer.rules.matching import AnyOrder, AtLeast, AtMost, Exact, InOrder
from trackway_analyzer.rules.rule import Rule, key_of
from trackway_analyzer.rules.safety import Allowed, Forbidden
from trackway_analyzer.rules.sequence import Sequence
from trackway_analyzer.rules.temporal import Before

_ALL: Final[tuple[type[Rule], ...]] = (
    Sequence,
    Exact,
    InOrder,
    AnyOrder,
    AtLeast,
    AtMost,
    Before,
    Grounded,
    Forbidden,
    Allowed,
    Budget,
    Claim,
)

RULES: Final[dict[str, type[Rule]]] = {key_of(cls): cls for cls in _ALL}
ALIASES: Final = {"forbid": "forbidden", "allow": "allowed"}
