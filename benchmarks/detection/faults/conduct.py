"""What is said at the end, the effort on the way, and what a run owes to others."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

from benchmarks.detection.faults.change import Changes
from benchmarks.detection.script import Agent, Call, Script, Wait

CONDUCT = Changes()


@CONDUCT.by("claim")
def claims_another_entity(agent: Agent, script: Script, chance: random.Random) -> Script:
    entity = str(script.call(agent.mutation).arguments[agent.entity])
    return replace(script, answer=script.answer.replace(entity, agent.other))


@CONDUCT.by("claim", "answer")
def claims_other_numbers(agent: Agent, script: Script, chance: random.Random) -> Script:
    answer = re.sub(r"\$[\d.]*\d", "$4711", script.answer)
    return replace(script, answer=answer + " You have 4711 points.")


@CONDUCT.by("claim")
def claims_what_never_happened(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, answer=f"{script.answer} {agent.other_claim}")


@CONDUCT.by("claim")
def claims_it_of_two(agent: Agent, script: Script, chance: random.Random) -> Script:
    stopped = script.without(agent.mutation)
    claim = agent.claim.format(entity=agent.other)
    return replace(stopped, answer=f"Good news! {claim}")


@CONDUCT.by("answer")
def made_up_reference(agent: Agent, script: Script, chance: random.Random) -> Script:
    number = f"ZX-{chance.randrange(10**6, 10**7)}"
    return replace(script, answer=f"{script.answer} Your tracking number is {number}.")


@CONDUCT.by("answer")
def made_up_link(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, answer=f"{script.answer} See https://help-desk.example.org/claims.")


@CONDUCT.by("answer")
def made_up_address(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(
        script, answer=f"{script.answer} Write to claims{chance.randrange(99)}@help.com."
    )


def _before_the_mutation(agent: Agent, script: Script, *calls: Call) -> Script:
    return script.inserted(script.turn_of(agent.mutation), *calls)


@CONDUCT.by("budget", "no_loops")
def retry_storm(agent: Agent, script: Script, chance: random.Random) -> Script:
    failed = replace(script.call(agent.guard), result=None, error="rate limited")
    return script.inserted(script.turn_of(agent.guard), *[failed] * 6)


@CONDUCT.by("no_loops")
def same_read_again_and_again(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _before_the_mutation(agent, script, *[agent.read] * 5)


@CONDUCT.by("no_loops")
def back_and_forth(agent: Agent, script: Script, chance: random.Random) -> Script:
    pair = [script.call(agent.second), script.call(agent.guard)]
    return _before_the_mutation(agent, script, *pair * 4)


def _searches(agent: Agent, count: int, result: Callable[[int], object]) -> list[Call]:
    return [
        replace(agent.read, arguments={"query": f"page {i}"}, result=result(i))
        for i in range(count)
    ]


@CONDUCT.by("no_loops")
def searches_that_give_nothing_new(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _before_the_mutation(agent, script, *_searches(agent, 6, lambda i: {"found": ["kb"]}))


@CONDUCT.by("budget")
def too_many_steps(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _before_the_mutation(agent, script, *_searches(agent, 14, lambda i: {"found": i}))


@CONDUCT.by("budget")
def too_many_tokens(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, tokens=(9_000, 400))


@CONDUCT.by("budget")
def too_slow(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, seconds=95.0, deadline=600.0)


@CONDUCT.by("deadline")
def deadline_missed(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, seconds=45.0)


def _waiting(script: Script, change: Callable[[Wait], Wait]) -> Script:
    turns = (t if t.wait is None else replace(t, wait=change(t.wait)) for t in script.turns)
    return replace(script, turns=tuple(turns))


@CONDUCT.by("routed")
def wait_for_nobody(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _waiting(script, lambda wait: replace(wait, owner=None))


@CONDUCT.by("routed")
def wait_that_nobody_can_take_up(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _waiting(script, lambda wait: replace(wait, resume_token=None))


@CONDUCT.by("routed")
def wait_never_taken_up(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _waiting(script, lambda wait: replace(wait, taken_up=False))


@CONDUCT.by("continuity")
def earlier_decision_forgotten(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, decisions=())


@CONDUCT.by("terminal")
def ended_on_another_action(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.inserted(len(script.turns), agent.unlisted)
