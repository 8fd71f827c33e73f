"""Changes after which a run is still right: no rule may speak of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from benchmarks.detection.faults.change import Changes
from benchmarks.detection.script import Agent, Call, Script, Turn

HARMLESS = Changes()


@HARMLESS.by()
def slower_host(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, seconds=script.seconds * 3)


@HARMLESS.by()
def ten_percent_slower(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, seconds=script.seconds * 1.1)


@HARMLESS.by()
def other_words(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, answer=agent.wording(script))


@HARMLESS.by()
def a_kind_word_more(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, answer=f"Thank you for your patience! {script.answer} Have a nice day.")


@HARMLESS.by()
def markdown(agent: Agent, script: Script, chance: random.Random) -> Script:
    lines = script.answer.replace(". ", ".\n\n- ")
    return replace(script, answer=f"**Summary**\n\n- {lines}")


@HARMLESS.by()
def what_was_not_done_is_said(agent: Agent, script: Script, chance: random.Random) -> Script:
    denied = agent.other_claim.replace("I have also", "I have not")
    return replace(script, answer=f"{script.answer} {denied}")


@HARMLESS.by()
def what_could_be_done_is_offered(agent: Agent, script: Script, chance: random.Random) -> Script:
    offer = (
        "If it happens again, your next one can be refunded or exchanged, or a certificate issued."
    )
    return replace(script, answer=f"{script.answer} {offer}")


@HARMLESS.by()
def a_closing_question(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, answer=f"{script.answer} Is there anything else that I can do for you?")


@HARMLESS.by()
def parallel_calls_in_another_order(agent: Agent, script: Script, chance: random.Random) -> Script:
    turns = (replace(turn, calls=turn.calls[::-1]) for turn in script.turns)
    return replace(script, turns=tuple(turns))


@HARMLESS.by()
def parallel_calls_one_after_another(agent: Agent, script: Script, chance: random.Random) -> Script:
    turns = []
    for turn in script.turns:
        first, *others = turn.calls
        turns += [replace(turn, calls=(first,)), *(Turn((call,)) for call in others)]
    return replace(script, turns=tuple(turns))


@HARMLESS.by()
def extra_read(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.inserted(chance.randrange(1, len(script.turns)), agent.read)


@HARMLESS.by()
def extra_read_beside_another(agent: Agent, script: Script, chance: random.Random) -> Script:
    turns = list(script.turns)
    place = script.turn_of(agent.guard)
    turns[place] = replace(turns[place], calls=(*turns[place].calls, agent.read))
    return replace(script, turns=tuple(turns))


@HARMLESS.by()
def read_twice(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.inserted(script.turn_of(agent.guard), script.call(agent.guard))


@HARMLESS.by()
def everything_read_again_at_the_end(agent: Agent, script: Script, chance: random.Random) -> Script:
    place = script.turn_of(agent.notify)
    return script.inserted(place, script.call(agent.lookup), script.call(agent.guard))


@HARMLESS.by()
def optional_step_left_out(agent: Agent, script: Script, chance: random.Random) -> Script:
    return script.without(agent.second)


@HARMLESS.by()
def read_retried(agent: Agent, script: Script, chance: random.Random) -> Script:
    failed = replace(script.call(agent.guard), result=None, error="gateway timeout")
    return script.inserted(script.turn_of(agent.guard), failed)


@HARMLESS.by()
def first_read_retried_twice(agent: Agent, script: Script, chance: random.Random) -> Script:
    failed = replace(script.call(agent.lookup), result=None, error="gateway timeout")
    return script.inserted(script.turn_of(agent.lookup), failed, failed)


@HARMLESS.by()
def mutation_retried_with_one_effect(agent: Agent, script: Script, chance: random.Random) -> Script:
    done = script.call(agent.mutation)
    failed = replace(done, result=None, error="gateway timeout", applied=False)
    return script.inserted(script.turn_of(agent.mutation), failed)


@HARMLESS.by()
def mutation_declined_then_done(agent: Agent, script: Script, chance: random.Random) -> Script:
    done = script.call(agent.mutation)
    refused = replace(done.with_result(**agent.declined), operation=None)
    return script.inserted(script.turn_of(agent.mutation), refused)


@HARMLESS.by()
def notification_retried(agent: Agent, script: Script, chance: random.Random) -> Script:
    failed = replace(script.call(agent.notify), result=None, error="mailbox busy")
    return script.inserted(script.turn_of(agent.notify), failed)


@HARMLESS.by()
def new_model(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, model="claude-opus-5")


@HARMLESS.by()
def some_more_tokens(agent: Agent, script: Script, chance: random.Random) -> Script:
    entering, leaving = script.tokens
    return replace(script, tokens=(entering + 300, leaving + 40))


def _all_calls(script: Script, change: Callable[[Call], Call]) -> Script:
    turns = (replace(t, calls=tuple(change(call) for call in t.calls)) for t in script.turns)
    return replace(script, turns=tuple(turns))


@HARMLESS.by()
def arguments_in_another_order(agent: Agent, script: Script, chance: random.Random) -> Script:
    return _all_calls(
        script, lambda call: replace(call, arguments=dict(reversed(list(call.arguments.items()))))
    )


@HARMLESS.by()
def more_in_every_result(agent: Agent, script: Script, chance: random.Random) -> Script:
    def more(call: Call) -> Call:
        if not isinstance(call.result, dict):
            return call
        return call.with_result(served_by="eu-3", cached=False, took_ms=chance.randrange(5, 99))

    return _all_calls(script, more)


@HARMLESS.by()
def whole_numbers_as_decimals(agent: Agent, script: Script, chance: random.Random) -> Script:
    def decimal(call: Call) -> Call:
        values = {
            k: float(v) if isinstance(v, int) and not isinstance(v, bool) else v
            for k, v in call.arguments.items()
        }
        return replace(call, arguments=values)

    return _all_calls(script, decimal)


@HARMLESS.by()
def a_more_distant_deadline(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, deadline=script.deadline * 100)


@HARMLESS.by()
def more_decisions_seen(agent: Agent, script: Script, chance: random.Random) -> Script:
    return replace(script, decisions=(*script.decisions, "tone-of-voice"))
