"""Arguments that are wrong: another thing, another amount, another shape, a secret."""

from __future__ import annotations

import random
from typing import Any

from benchmarks.detection.faults.change import Changes
from benchmarks.detection.script import Agent, Call, Script

VALUES = Changes()


def _acts_on(agent: Agent, script: Script, value: Any) -> Script:
    return script.mapped(agent.mutation, lambda call: call.with_arguments(**{agent.entity: value}))


def _entity(agent: Agent, script: Script) -> str:
    return str(script.call(agent.mutation).arguments[agent.entity])


@VALUES.by("grounded")
def another_entity(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _acts_on(agent, script, agent.other)


@VALUES.by("grounded")
def made_up_entity(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _acts_on(agent, script, f"Z{chance.randrange(10**6, 10**7)}")


@VALUES.by("grounded")
def mistyped_entity(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _acts_on(agent, script, _entity(agent, script)[:-1])


@VALUES.by("grounded")
def entity_of_another_type(agent: Agent, script: Script, chance: random.Random) -> Script:
    other = next(iter(script.call(agent.second).result.values()))
    return _acts_on(agent, script, other)


@VALUES.by("grounded")
def another_entity_looked_up(agent: Agent, script: Script, chance: random.Random) -> Script:
    entity = _entity(agent, script)

    def other(call: Call) -> Call:
        changed = {k: agent.other if v == entity else v for k, v in call.result.items()}
        return call.with_result(**changed)

    return script.mapped(agent.lookup, other)


@VALUES.by("grounded", "sequence")
def two_entities_mixed_up(agent: Agent, script: Script, chance: random.Random) -> Script:
    """The other entity was found by a lookup that returns no entities of this type."""
    read = Call(agent.second, {"id": agent.other}, {"found": agent.other})
    return _acts_on(agent, script.inserted(script.turn_of(agent.guard), read), agent.other)


@VALUES.by("grounded")
def told_to_a_stranger(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(
        agent.notify, lambda call: call.with_arguments(**{agent.recipient: agent.stranger})
    )


@VALUES.by("sequence", "grounded")
def halved(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(agent.mutation, agent.halved)


@VALUES.by("sequence", "grounded")
def inflated(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(agent.mutation, agent.inflated)


@VALUES.by("sequence")
def result_ignored(agent: Agent, script: Script, chance: random.Random) -> Script:
    return agent.contradicted(script)


@VALUES.by("arguments")
def value_out_of_range(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(agent.mutation, lambda call: call.with_arguments(**agent.invalid))


@VALUES.by("arguments")
def argument_missing(agent: Agent, script: Script, chance: random.Random) -> Script:
    def less(call: Call) -> Call:
        kept = {k: v for k, v in call.arguments.items() if k != agent.required}
        return Call(call.tool, kept, call.result, operation=call.operation)

    return script.mapped(agent.mutation, less)


@VALUES.by("arguments")
def argument_null(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(agent.mutation, lambda call: call.with_arguments(**{agent.required: None}))


@VALUES.by("arguments")
def argument_of_the_wrong_type(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(
        agent.mutation,
        lambda call: call.with_arguments(
            **{agent.wrong_type: str(call.arguments[agent.wrong_type])}
        ),
    )


@VALUES.by("arguments")
def argument_that_nobody_knows(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(agent.mutation, lambda call: call.with_arguments(force=True))


@VALUES.by("no_secrets")
def key_in_an_argument(agent: Agent, script: Script, chance: random.Random) -> Script:
    key = "sk-proj-" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=40))
    return script.mapped(agent.notify, lambda call: call.with_arguments(note=f"use {key}"))


@VALUES.by("no_secrets")
def password_in_an_argument(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(agent.notify, lambda call: call.with_arguments(password="hunter2-again"))


@VALUES.by("no_secrets")
def card_number_in_an_argument(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.mapped(
        agent.notify, lambda call: call.with_arguments(note="card 4111 1111 1111 1111")
    )
