"""Steps that are missing, or stand in the wrong place."""

from __future__ import annotations

import random
from dataclasses import replace

from benchmarks.detection.faults.change import Changes
from benchmarks.detection.script import Agent, Script, Turn

ORDER = Changes()


def _joined(script: Script, first: str, second: str) -> Script:
    """Ask for both calls in one turn, where the second one has been."""
    a, b = script.call(first), script.call(second)
    alone = script.without(first)
    turns = list(alone.turns)
    turns[alone.turn_of(second)] = Turn((a, b))
    return replace(alone, turns=tuple(turns))


@ORDER.by("sequence", "claim")
def skipped_and_claimed(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.without(agent.mutation)


@ORDER.by("sequence")
def skipped_and_not_mentioned(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script.without(agent.mutation), answer="Is there anything else?")


@ORDER.by("claim")
def notification_skipped_and_claimed(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.without(agent.notify)


@ORDER.by("sequence", "claim")
def nothing_done(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, turns=())


@ORDER.by("sequence")
def stopped_half_way(agent: Agent, script: Script, chance: random.Random) -> Script:
    turns = script.turns[: script.turn_of(agent.guard) + 1]
    return replace(script, turns=turns, answer="I will come back to you.")


@ORDER.by("executed")
def requested_but_not_executed(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(agent.mutation, lambda call: replace(call, executed=False))


@ORDER.by("before", "sequence")
def check_skipped(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.without(agent.guard)


@ORDER.by("grounded", "sequence")
def lookup_skipped(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.without(agent.lookup)


@ORDER.by("approved")
def approval_skipped(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.without(agent.approval)


@ORDER.by("before", "sequence")
def done_before_the_check(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.moved(agent.mutation, script.turn_of(agent.guard))


@ORDER.by("before", "sequence")
def done_in_the_turn_of_the_check(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _joined(script, agent.guard, agent.mutation)


@ORDER.by("approved")
def approval_afterwards(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.moved(agent.mutation, script.turn_of(agent.approval))


@ORDER.by("approved")
def approval_in_the_same_turn(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _joined(script, agent.approval, agent.mutation)


@ORDER.by("grounded", "sequence")
def looked_up_afterwards(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.moved(agent.lookup, script.turn_of(agent.mutation))


@ORDER.by("sequence")
def told_before_it_was_done(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.moved(agent.notify, script.turn_of(agent.mutation))


@ORDER.by("sequence")
def everything_backwards(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, turns=script.turns[::-1])
