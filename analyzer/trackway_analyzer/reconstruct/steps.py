"""The steps table: what each step's spans recorded, completed by what the messages say.

1. The innermost span wins each field; what it lacks comes from the next span out that records the
   same call. The call failed if any of them did.
2. Arguments that the span lacks, or recorded without their names, come from the request; a result
   that it lacks comes from the answer that the model read, and so does the message of an error.
3. `ok` is what was declared, else what the result says (`happened`). A model call is ok if it ended
   without an error. A call that was never executed is not ok; where nobody could have seen its
   execution, or nobody saw it and the model was answered all the same, unknown; also where what was
   to say so failed (`faults`). Of a stream see `streamed`. A handover that
   another agent took up is ok. What a person answered who was waited for may leave a call open, or
   say that it took no effect (`resumed`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway_analyzer.json_text import parsed
from trackway_analyzer.model import NotRecorded
from trackway_analyzer.reconstruct.columns import NEVER, NONE, OPERATIONS, OTHER, TOOL, Ints, Mask
from trackway_analyzer.reconstruct.effect import cut_off, plainly_done, took_effect
from trackway_analyzer.reconstruct.entries import Entries
from trackway_analyzer.reconstruct.faults import unjudged
from trackway_analyzer.reconstruct.layers import Layers
from trackway_analyzer.reconstruct.messages import Request, as_json
from trackway_analyzer.reconstruct.order import Order
from trackway_analyzer.reconstruct.paths import Paths
from trackway_analyzer.reconstruct.requests import Joined
from trackway_analyzer.reconstruct.resumed import spoken_against
from trackway_analyzer.reconstruct.streamed import judged_by_returned, left_early
from trackway_analyzer.spans import NO_TIME
from trackway_analyzer.tables import STEP_SCHEMA

NO, YES, UNKNOWN = 0, 1, 2
_VERDICT: Final = {False: NO, True: YES, None: UNKNOWN}

CARRIED: Final = {
    "span_id": "span_id",
    "agent": "agent",
    "tool": "tool",
    "tool_alias": "tool_alias",
    "kind": "tool_kind",
    "call_id": "tool_call_id",
    "attempt": "attempt",
    "step_index": "step_index",
    "arguments": "arguments",
    "result": "result",
    "input": "input",
    "output": "output",
    "error_type": "error_type",
    "error_message": "error_message",
    "entity_refs": "entity_refs",
    "operation_id": "operation_id",
    "model_requested": "model_requested",
    "model_answered": "model_answered",
    "provider": "provider",
    "finish_reasons": "finish_reasons",
    "tokens_in": "tokens_in",
    "tokens_out": "tokens_out",
    "tokens_cache_read": "tokens_cache_read",
    "tokens_cache_write": "tokens_cache_write",
    "tokens_reasoning": "tokens_reasoning",
    "cost": "cost",
    "truncated": "truncated",
    "events": "events",
}
"""Column of the steps table to the span column that it comes from."""


def steps_table(entries: Entries, order: Order, joined: Joined, paths: Paths) -> pa.Table:
    """Build the steps table; attempts are still those that were recorded."""
    columns, at = entries.drafts.columns, order.entries
    layers = Layers.of(entries.row[at], entries.drafts.calls)
    arrays = {name: layers.take(columns.array(source)) for name, source in CARRIED.items()}
    raised = layers.any(columns.failed)
    _complete(arrays, entries, order, raised)
    spanless = entries.row[at] == NONE
    taken_up = [len(entries.drafts) + place for place in joined.handed_over]
    answered = _flags(entries, (e for e, call in entries.call_of.items() if call.answer))
    answered[taken_up] = True
    unseen = _flags(entries, (len(entries.drafts) + place for place in joined.unwitnessed))
    answered[unseen] = False
    unseen = unseen[at]
    answered = answered[at]
    handed = _flags(entries, taken_up)[at]
    kept_back = _flags(entries, (len(entries.drafts) + place for place in joined.refused))[at]
    unrun = spanless & ~answered
    arrays["ok"] = _ok(arrays, layers, entries, order, raised, unrun, handed, unseen, kept_back)
    arrays["run"] = pa.array(entries.run[at], pa.int32())
    arrays["position"] = pa.array(order.position[at], pa.int32())
    arrays["group"] = pa.array(order.group[at], pa.int32())
    arrays["turn"] = _turn(entries, order)
    arrays["operation"] = _named(entries.operation[at], pa.array(OPERATIONS))
    arrays["executed"] = pa.array(~spanless | answered)
    requested = _flags(entries, entries.call_of)[at]
    known = requested | _flags(entries, joined.unasked)[at]
    arrays["requested"] = pa.array(requested, mask=~known)
    arrays["synthesised"] = pa.array(spanless)
    arrays["id_inferred"] = pa.array(_flags(entries, joined.inferred)[at])
    arrays["agent"], arrays["agent_path"] = _agents(arrays["agent"], entries.scope[at], paths)
    arrays["start"] = _times(entries.start[at])
    arrays["end"] = _times(entries.end[at])
    arrays["retry_of"] = pa.nulls(len(at), pa.int32())
    return pa.Table.from_arrays([arrays[name] for name in STEP_SCHEMA.names], schema=STEP_SCHEMA)


def _complete(arrays: dict[str, pa.Array], entries: Entries, order: Order, raised: Mask) -> None:
    """Fill what spans lack from requests and answers."""
    if not entries.call_of:
        return
    place = np.empty(len(entries), dtype=np.int64)
    place[order.entries] = np.arange(len(entries))
    rows = place[np.fromiter(entries.call_of, np.int64)]
    names = ("call_id", "arguments", "result", "error_message")
    own = [arrays[name].take(pa.array(rows)).to_pylist() for name in names]
    filled: dict[str, dict[int, str | None]] = {name: {} for name in (*names, "tool")}
    for row, (entry, call), call_id, arguments, result, message in zip(
        rows.tolist(), entries.call_of.items(), *own, strict=True
    ):
        request, answer = call.request, call.answer
        if entries.row[entry] == NONE:
            filled["tool"][row] = request.name
        if call_id is None:
            filled["call_id"][row] = request.id
        if arguments is None or _names_lost(arguments, request):
            filled["arguments"][row] = as_json(request.arguments)
        if answer is None or isinstance(answer.response, NotRecorded):
            continue
        if result is None and not raised[row]:
            filled["result"][row] = as_json(answer.response)
        if message is None and (raised[row] or answer.failed):
            said = answer.response
            filled["error_message"][row] = said if isinstance(said, str) else as_json(said)
    for name, values in filled.items():
        arrays[name] = _patched(arrays[name], values)


def _names_lost(text: str, request: Request) -> bool:
    """Some instrumentors record the bare value of an only argument (LangChain's OpenInference)."""
    if not isinstance(request.arguments, dict) or len(request.arguments) != 1:
        return False
    if text[:1] == "{" and not text.startswith('{"input":'):
        return False
    value = parsed(text)
    if isinstance(value, dict):
        if value.keys() != {"input"} or "input" in request.arguments:
            return False
        value = value["input"]
    (wanted,) = request.arguments.values()
    return bool(value == wanted) or str(value) == str(wanted)


def _patched(array: pa.Array, values: dict[int, str | None]) -> pa.Array:
    if not values:
        return array
    coded = pa.types.is_dictionary(array.type)
    mask = np.zeros(len(array), dtype=bool)
    rows = sorted(values)
    mask[rows] = True
    new = pa.array([values[row] for row in rows], pa.string())
    plain = array.dictionary_decode() if coded else array
    patched = pc.replace_with_mask(plain, pa.array(mask), new)
    return patched.dictionary_encode() if coded else patched


def _ok(
    arrays: dict[str, pa.Array],
    layers: Layers,
    entries: Entries,
    order: Order,
    raised: Mask,
    unanswered: Mask,
    handed_over: Mask,
    unseen: Mask,
    kept_back: Mask,
) -> pa.Array:
    at = order.entries
    tool = (entries.operation[at] == TOOL) | (entries.operation[at] == OTHER)
    verdict = np.where(entries.end[at] == NEVER, UNKNOWN, YES)
    encoded = arrays["result"].dictionary_encode()
    texts = [*encoded.dictionary.to_pylist(), None]
    code = encoded.indices.fill_null(len(texts) - 1).to_numpy().astype(np.int64)
    (kind, kinds), (named, names) = _coded(arrays["kind"]), _coded(arrays["tool"])
    width = len(kinds) * len(names)
    trait = (code * len(kinds) + kind) * len(names) + named
    distinct, which = np.unique(trait[tool], return_inverse=True)
    plain = [*plainly_done(encoded.dictionary), False]
    says = []
    for text, rest in zip(*(part.tolist() for part in divmod(distinct, width)), strict=True):
        of, by = kinds[rest // len(names)], names[rest % len(names)]
        says.append(plain[text] or took_effect(texts[text], of, raised=False, tool=by))
    verdict[tool] = np.array([_VERDICT[said] for said in says], dtype=np.int64)[which]
    unsure = np.flatnonzero(tool & (verdict != YES))
    asked = arrays["arguments"].take(pa.array(unsure)).to_pylist()
    for place, arguments in zip(unsure.tolist(), asked, strict=True):
        of, by = kinds[kind[place]], names[named[place]]
        said = took_effect(texts[code[place]], of, raised=False, tool=by, arguments=arguments)
        verdict[place] = _VERDICT[said]
    returned = judged_by_returned(entries.drafts.columns, layers, arrays["tool"], arrays["kind"])
    for place, said in returned.items():
        if tool[place]:
            verdict[place] = _VERDICT[said]
    failed = [e for e, call in entries.call_of.items() if call.answer and call.answer.failed]
    refused = _flags(entries, failed)[at]
    verdict[raised | refused] = NO
    open_again, denied = spoken_against(entries, at, arrays)
    columns = entries.drafts.columns
    declared = layers.take(columns.array("ok"))
    said_so = declared.is_valid().to_numpy(zero_copy_only=False)
    verdict[said_so] = declared.fill_null(False).to_numpy(zero_copy_only=False)[said_so]
    # The recorder says of each call that raised that it is not ok.
    verdict[raised & ~refused & cut_off(arrays["error_type"], arrays["kind"])] = UNKNOWN
    doubtful = layers.any(unjudged(columns) | left_early(columns)) & ~said_so
    verdict[doubtful & (verdict == YES)] = UNKNOWN
    seen = entries.run[(entries.operation == TOOL) & (entries.row != NONE)]
    verdict[handed_over] = YES
    verdict[unanswered] = np.where(np.isin(entries.run[at][unanswered], seen), NO, UNKNOWN)
    verdict[unseen & ~refused] = UNKNOWN
    verdict[(unseen & refused) | kept_back] = NO
    for places, answer in ((open_again, UNKNOWN), (denied, NO)):
        doubted = np.array(places, dtype=np.int64)
        doubted = doubted[~said_so[doubted] & (verdict[doubted] != NO)]
        verdict[doubted] = answer
    return pa.array(verdict == YES, mask=verdict == UNKNOWN)


def _coded(values: pa.Array) -> tuple[Ints, list[str | None]]:
    """The values of a column as codes, and what each code stands for."""
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    names = [*coded.dictionary.to_pylist(), None]
    codes = coded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), names


def _turn(entries: Entries, order: Order) -> pa.Array:
    turn = np.full(len(entries), NONE)
    for entry, call in entries.call_of.items():
        if call.turn != NONE:
            turn[entry] = order.position[call.turn]
    turn = turn[order.entries]
    return pa.array(turn, pa.int32(), mask=turn == NONE)


def _agents(own: pa.DictionaryArray, scope: Ints, paths: Paths) -> tuple[pa.Array, pa.Array]:
    padded = np.append(paths.name_of, NONE)
    code = own.indices.fill_null(NONE).to_numpy().astype(np.int64)
    code = np.where(code == NONE, padded[scope], code)
    agent = _named(code, own.dictionary)
    names = own.dictionary.to_pylist()
    path = np.append(paths.path_of, NONE)[scope]
    # A step below no named agent is reached through the agent that its own span names.
    alone = (path == NONE) & (code != NONE)
    path = np.where(alone, len(paths.path) + code, path)
    named = _named(path, pa.array([*paths.path, *names], pa.string()))
    return agent, named.dictionary_decode().dictionary_encode() if alone.any() else named


def _named(codes: Ints, names: pa.Array) -> pa.Array:
    indices = pa.array(codes, pa.int32(), mask=codes == NONE)
    return pa.DictionaryArray.from_arrays(indices, names.cast(pa.string()))


def _times(times: Ints) -> pa.Array:
    unknown = (times == NEVER) | (times == NO_TIME)
    return pa.array(times, pa.int64(), mask=unknown).cast(STEP_SCHEMA.field("start").type)


def _flags(entries: Entries, chosen: Iterable[int]) -> Mask:
    flags = np.zeros(len(entries), dtype=bool)
    flags[list(chosen)] = True
    return flags
