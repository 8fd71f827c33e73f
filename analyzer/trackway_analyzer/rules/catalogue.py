"""All rules by their key in a policy file."""

from __future__ import annotations

from typing import Final

from trackway_analyzer.rules.admits_failure import AdmitsFailure
from trackway_analyzer.rules.answers import Answer
from trackway_analyzer.rules.approvals import Approved
from trackway_analyzer.rules.arguments import Arguments
from trackway_analyzer.rules.budgets import Budget
from trackway_analyzer.rules.claims import Claim
from trackway_analyzer.rules.counts import Count
from trackway_analyzer.rules.effects import Effects, Outcome
from trackway_analyzer.rules.grounding import Grounded
from trackway_analyzer.rules.loops import NoLoops
from trackway_analyzer.rules.matching import AnyOrder, AtLeast, AtMost, Exact, InOrder
from trackway_analyzer.rules.obligations import Continuity, Deadline, Routed
from trackway_analyzer.rules.occurrence import (
    Accompanied,
    Called,
    First,
    Last,
    Never,
    NotTogether,
    Together,
)
from trackway_analyzer.rules.partial_order import PartialOrder
from trackway_analyzer.rules.precedence import After, Before, Immediately, NotAfter, Responds
from trackway_analyzer.rules.result_used import ResultUsed
from trackway_analyzer.rules.rule import Rule, key_of
from trackway_analyzer.rules.safety import Allowed, Forbidden
from trackway_analyzer.rules.secrets import NoSecrets
from trackway_analyzer.rules.sequence import Sequence
from trackway_analyzer.rules.status import Executed, Recovered
from trackway_analyzer.rules.step_regex import StepRegex
from trackway_analyzer.rules.terminal import Terminal
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
    PartialOrder,
    StepRegex,
    Count,
    NoLoops,
    Budget,
    Arguments,
    Grounded,
    Forbidden,
    Allowed,
    Approved,
    NoSecrets,
    Recovered,
    Executed,
    AdmitsFailure,
    ResultUsed,
    Claim,
    Answer,
    Outcome,
    Effects,
    Continuity,
    Routed,
    Deadline,
    Terminal,
)

RULES: Final[dict[str, type[Rule]]] = {key_of(cls): cls for cls in _ALL}
ALIASES: Final = {"forbid": "forbidden", "allow": "allowed"}
