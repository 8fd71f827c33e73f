"""tau-bench and tau2-bench result files: task × trial, a chat each, and the reward.

1. tau-bench: a list of `{task_id, trial, reward, info, traj}`, `traj` in OpenAI's chat form, its
   calls in `tool_calls` or in the text (`react_text`). The file names neither model nor domain: the
   variant is the file's name.
2. tau2-bench: `{info, tasks, simulations}`; the domain is the suite, the agent's model the variant,
   the simulation's id the run id; where several of a file have one id, trial and place tell them
   apart. A message bears the time at which it was complete, so turns have
   an end and no start. What the simulated user called is no step of the agent.
3. Reward 1 is success, any other number failure; null: nobody judged. tau2's termination reason is
   the failure mode of a run that did not end by a stop of user or agent.
4. A run whose chat is null or missing is a run without steps: its task, trial and reward count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from trackway.schema import GenAI, Trackway
from trackway_analyzer.model import JsonValue
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.source import STDIN
from trackway_analyzer.read.transcripts.beside_messages import put_words_aside, tell_of_the_rest
from trackway_analyzer.read.transcripts.dialogue import Facts, write_dialogue
from trackway_analyzer.read.transcripts.react_text import with_actions
from trackway_analyzer.read.transcripts.written import (
    KEPT,
    WrittenRun,
    judged,
    kept,
    nanoseconds,
    note_no_task,
    task_and_trial,
    text_at,
    within_bounds,
)
from trackway_analyzer.spans import Attributes, RawSpan

_STOPS: Final = ("user_stop", "agent_stop")
_TAU: Final = ("task_id", "trial", "reward", "traj")
_TAU2: Final = (
    *("task_id", "trial", "seed", "reward_info", "messages", "id"),
    *("start_time", "end_time", "termination_reason", "agent_cost"),
)
_TAU2_LOOKED_AT: Final = frozenset([*_TAU2, "timestamp", "duration", "user_cost", "info", "mode"])
"""Members of a simulation that are read, or that hold no call."""


def tau_bench_records(document: Any) -> list[Any] | None:
    """Return the runs of a tau-bench document; None where it is none."""
    items = document if isinstance(document, list) else [document]
    return items if any(map(_is_record, items)) else None


def _is_record(item: Any) -> bool:
    return isinstance(item, dict) and "traj" in item and "reward" in item


def tau_bench_spans(
    records: list[Any], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Write tau-bench's runs as spans."""
    name = PurePath(quarantine.file).name.removesuffix(".gz").removesuffix(".json")
    variant = None if name in ("", STDIN) else name
    for place, record in enumerate(records):
        chat = _chat(record, "traj", "reward")
        if chat is None:
            quarantine.add(Reason.BROKEN_SPAN, "a run without traj and reward", offset)
        elif within_bounds(record, quarantine, offset):
            run = WrittenRun("tau-bench", record, place, named=(variant,))
            write_dialogue(run, with_actions(chat))
            put_words_aside(run, quarantine, offset)
            note_no_task(record, quarantine, offset)
            facts = task_and_trial(record) | judged(record.get("reward")) | kept(record, _TAU)
            yield from run.ended({Trackway.VARIANT: variant, **facts})


def _chat(record: Any, name: str, verdict: str) -> list[Any] | None:
    """Return the messages of a run, none where they are null or missing; None where it is none."""
    if not isinstance(record, dict) or not (name in record or verdict in record):
        return None
    chat = record.get(name)
    return [] if chat is None else chat if isinstance(chat, list) else None


def tau2_simulations(document: Any) -> list[Any] | None:
    """Return the simulations of a tau2-bench document, each with the file's `info`."""
    if not isinstance(document, dict) or not isinstance(document.get("simulations"), list):
        return None
    info = document.get("info")
    return [(info, simulation) for simulation in document["simulations"]]


def tau2_spans(
    simulations: list[Any], quarantine: Quarantine, offset: int | None
) -> Iterator[RawSpan]:
    """Write tau2-bench's simulations as spans."""
    run_ids = Counter(text_at(simulation, "id") for _, simulation in simulations)
    for place, (info, simulation) in enumerate(simulations):
        messages = _chat(simulation, "messages", "reward_info")
        if messages is None:
            quarantine.add(Reason.BROKEN_SPAN, "a simulation without messages", offset)
        elif within_bounds(simulation, quarantine, offset):
            note_no_task(simulation, quarantine, offset)
            model = text_at(info, "agent_info", "llm")
            run_id = text_at(simulation, "id")
            if run_id is not None and run_ids[run_id] > 1:
                run_id = f"{run_id}-trial{simulation.get('trial', '')}-{place + 1}"
            run = WrittenRun("tau2-bench", simulation, place, model=model, named=(model,))
            write_dialogue(run, messages, turn=_turn)
            rest = {key: value for key, value in simulation.items() if key not in _TAU2_LOOKED_AT}
            tell_of_the_rest(run, rest, run.called)
            put_words_aside(run, quarantine, offset)
            yield from run.ended(
                {
                    Trackway.RUN_ID: run_id,
                    Trackway.SUITE_ID: text_at(info, "environment_info", "domain_name"),
                    Trackway.VARIANT: model,
                    GenAI.AGENT_NAME: text_at(info, "agent_info", "implementation"),
                    **_tau2_facts(simulation),
                },
                start=nanoseconds(simulation.get("start_time")),
                end=nanoseconds(simulation.get("end_time")),
            )


def _tau2_facts(simulation: Mapping[str, JsonValue]) -> Attributes:
    facts = task_and_trial(simulation)
    seed, verdict = simulation.get("seed"), simulation.get("reward_info")
    if isinstance(seed, int) and not isinstance(seed, bool):
        facts[Trackway.TRIAL_SEED] = seed
    if isinstance(verdict, dict):
        facts |= judged(verdict.get("reward"))
        facts[f"{KEPT}reward_info"] = verdict
    reason = text_at(simulation, "termination_reason")
    facts[f"{KEPT}termination_reason"] = reason
    if reason not in _STOPS and facts.get(Trackway.OUTCOME_SUCCESS) is False:
        facts[Trackway.OUTCOME_FAILURE_MODE] = reason
    return facts | kept(simulation, _TAU2)


def _turn(message: Mapping[str, JsonValue]) -> Facts:
    usage, cost = message.get("usage"), message.get("cost")
    usage = usage if isinstance(usage, dict) else {}
    reason = text_at(message, "raw_data", "finish_reason")
    return Facts(
        {
            GenAI.INPUT_TOKENS: usage.get("prompt_tokens"),
            GenAI.OUTPUT_TOKENS: usage.get("completion_tokens"),
            GenAI.RESPONSE_FINISH_REASONS: [reason] if reason else None,
            Trackway.COST_USD: cost if isinstance(cost, int | float) else None,
        },
        end=nanoseconds(message.get("timestamp")),
    )
