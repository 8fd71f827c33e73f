"""Hidden evidence opens an answer and never turns it.

Of a run some evidence is hidden, in every way in which a record loses evidence, each with the gap
that a reader names: then every rule says what it said of the whole run, or that nobody knows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from trackway.capture.limits import cut
from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap
from trackway_analyzer.records import RunFacts, batch_of_runs
from trackway_analyzer.rules import InsufficientEvidenceError, Policy, Rule, RuleViolationError
from trackway_analyzer.rules.catalogue import ALIASES, RULES
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.finding import results_of
from trackway_analyzer.rules.rule import key_of
from trackway_analyzer.tables import GAP_TYPE, RUN_SCHEMA

Call = dict[str, Any]

TOOLS = """version: 1
tools:
  lookup_order: {kind: lookup, entity: {type: order, result: $.id}}
  check_policy: {kind: lookup}
  send_email: {kind: notify}
  refund_api.create: {kind: mutate, entity: {type: order, argument: order_id}}
rules:
"""
LINES = r"""
sequence: [lookup_order, check_policy, refund_api.create, send_email]
sequence: {steps: [{tool: lookup_order}, {tool: refund_api.create, entity_arg: order_id, where: amount <= order.total}], extra: allow}
sequence: [lookup_order, {tool: check_policy, guard: $.eligible}, {tool: refund_api.create, entity_arg: order_id}]
sequence: {steps: [{kind: lookup}, {tool: send_email, optional: true}], extra: forbid}
exact: [lookup_order, check_policy, refund_api.create, send_email]
exact: {calls: [lookup_order, {tool: refund_api.create, arguments: {order_id: A1}}], arguments: subset, extra: reads}
in_order: [lookup_order, refund_api.create]
in_order: [[check_policy, lookup_order], {tool: refund_api.create, ok: false}]
any_order: [lookup_order, refund_api.create, send_email]
at_least: [lookup_order, refund_api.create]
at_least: {calls: [{tool: refund_api.create, arguments: {order_id: A1, amount: 84.0}}]}
at_most: [lookup_order, check_policy, ask_approval, refund_api.create, send_email]
called: refund_api.create
called: {tool: refund_api.create, times: 2}
never: delete_account
first: lookup_order
last: send_email
accompanied: [refund_api.create, send_email]
together: [refund_api.create, send_email]
not_together: [refund_api.create, delete_account]
before: [check_policy, refund_api.create]
before: {first: lookup_order, second: refund_api.create, required: true}
after: [refund_api.create, check_policy]
not_after: [lookup_order, refund_api.create]
responds: [refund_api.create, send_email]
immediately: [lookup_order, check_policy]
between: {tool: check_policy, start: lookup_order, end: refund_api.create, required: false}
between: {tool: check_policy, start: lookup_order, end: refund_api.create, required: true}
at_most_once_between: [check_policy, lookup_order, refund_api.create]
until: [[lookup_order, search], check_policy]
partial_order: [[lookup_order, refund_api.create], [check_policy, refund_api.create]]
step_regex: lookup_order+ (check_policy | search)* refund_api.create send_email?
step_regex: (lookup_order check_policy?)+ refund_api.create
count: {tool: refund_api.create, max: 1}
count: {tool: refund_api.create, max: 1, per: order_id, effects: true}
count: {tool: lookup_order, max: 1, per: order_id}
count: {tool: lookup_order, min: 1}
no_loops: {identical: 2, cycles: 2}
no_loops: {stagnation: 2}
budget: {steps: 3}
budget: {tool_calls: 3, model_calls: 1}
budget: {retries: 0}
budget: {tokens: 500}
budget: {seconds: 1}
arguments: {tool: refund_api.create, equals: {amount: 84}}
arguments: {tool: refund_api.create, within: {amount: [84, 0.5]}}
arguments: {tool: refund_api.create, one_of: {order_id: [A1, A2]}, calls: last}
arguments: {tool: refund_api.create, regex: {order_id: '^A\d+$'}, calls: any}
arguments: {tool: refund_api.create, absent: [note]}
arguments: {tool: refund_api.create, schema: {properties: {amount: {type: number}}, required: [order_id]}, calls: first}
arguments: {tool: refund_api.create, where: amount <= order.total}
grounded: {tool: refund_api.create, argument: order_id, from: order}
grounded: {tool: refund_api.create, argument: order_id, from: lookup_order.id}
grounded: {tool: refund_api.create, argument: order_id, from: input}
grounded: {tool: refund_api.create, argument: order_id}
grounded: {tool: refund_api.create, argument: amount, from: lookup_order.total}
grounded: {tool: refund_api.create, argument: amount, relation: amount <= lookup_order.total}
forbid: [delete_account]
forbid: [refund_create]
forbid: [send_*]
allow: [lookup_order, check_policy, refund_api.create, send_email]
approved: {tool: refund_api.create, by: ask_approval, argument: order_id, granted: $.approved}
approved: {tool: refund_api.create, by: ask_approval}
no_secrets: {}
recovered: {tool: refund_api.create}
recovered: {}
executed: {}
executed: {tool: refund_api.create}
admits_failure: {}
result_used: {tool: lookup_order}
claim: {says: 'refund of \$(?P<amount>[\d.]+)', needs: refund_api.create}
claim: {says: 'refund.*processed', needs: refund_api.create}
claim: {says: 'refunded.*(?P<order_id>A\d+)', needs: refund_api.create}
answer: {grounded: true}
answer: {contains: ['84']}
outcome: {success: true}
outcome: {label: paid}
outcome: {where: $.refunded == 84}
effects: {}
effects: {tool: refund_api.create, ids: true}
continuity: {}
routed: {}
routed: {resumed: true}
deadline: {}
terminal: {action: send_email}
terminal: {action: refund_api.create, claimed: true}
""".strip().splitlines()  # noqa: E501 - what a policy file says in one line


def _policy(line: str) -> Policy:
    with warnings.catch_warnings(action="ignore"):  # of an alias that is spelt like a tool
        return Policy.from_yaml(f"{TOOLS}  - {line}\n")


POLICIES = [(line, _policy(line)) for line in LINES]
DECLARED = POLICIES[0][1].tools


def test_every_family_of_rules_is_asked() -> None:
    asked = {line.partition(":")[0] for line in LINES}

    assert {ALIASES.get(key, key) for key in asked} == set(RULES)
    assert {key_of(type(p.rules[0]).__name__) for _, p in POLICIES} == set(RULES)


# --- runs ------------------------------------------------------------------------------------

ids = st.sampled_from(["A1", "A1", "A1", "A2", 17, "17", "a1", ["A1", "A2"], None])
amounts = st.sampled_from([84.0, 84.0, 84, 42, 250, "84.00", None])


def _call(tool: str, arguments: Any, result: Any) -> Call:
    call: Call = {"tool": tool, "arguments": arguments}
    return call | ({"error": "TimeoutError"} if result is _RAISED else {"result": result})


_RAISED = object()


def _calls(tool: str, arguments: Any, results: Any) -> st.SearchStrategy[Call]:
    return st.builds(_call, st.just(tool), arguments, results)


lookups = _calls(
    "lookup_order",
    st.fixed_dictionaries({"order_id": ids}),
    st.one_of(
        st.fixed_dictionaries({"id": ids, "total": amounts}),
        st.sampled_from([{"error": "not found"}, _RAISED, {"orders": [{"id": "A1"}]}, "A1"]),
    ),
)
checks = _calls(
    "check_policy",
    st.one_of(st.just({}), st.fixed_dictionaries({"order_id": ids})),
    st.sampled_from([{"eligible": True}, {"eligible": True}, {"eligible": False}, {}, _RAISED]),
)
refunds = _calls(
    "refund_api.create",
    st.fixed_dictionaries(
        {"order_id": ids, "amount": amounts},
        optional={"operation_id": st.sampled_from(["op1", "op2"]), "note": st.just("hunter2 x")},
    ),
    st.sampled_from(
        [
            *({"status": "succeeded"}, {"status": "succeeded", "id": "re_1"}, {"ok": True}, "done"),
            *({"status": "failed"}, {"status": "pending"}, {"error": "declined"}, False, _RAISED),
        ]
    ),
)
emails = _calls(
    "send_email",
    st.just({"to": "ann@example.com"}),
    st.sampled_from(["sent", "sent", {"ok": False}, {"status": "queued"}]),
)
approvals = _calls(
    "ask_approval",
    st.one_of(st.just({}), st.fixed_dictionaries({"order_id": ids})),
    st.sampled_from([{"approved": True}, {"approved": False}, "yes", "no", {}]),
)
others = st.one_of(
    _calls("delete_account", st.just({"id": "A1"}), st.sampled_from([{"ok": True}, _RAISED])),
    _calls("search", st.just({"q": "x"}), st.sampled_from([[], [{"id": "A2"}], "nothing"])),
)
HEALTHY = [
    _call("lookup_order", {"order_id": "A1"}, {"id": "A1", "total": 84.0}),
    _call("check_policy", {"order_id": "A1"}, {"eligible": True}),
    _call("refund_api.create", {"order_id": "A1", "amount": 84.0}, {"status": "succeeded"}),
    _call("send_email", {"to": "ann@example.com"}, "sent"),
]
any_call = st.one_of(lookups, lookups, checks, refunds, refunds, emails, approvals, others)


@st.composite
def some_calls(draw: st.DrawFn) -> list[Call]:
    """Any calls, or a healthy run that is changed in a few places."""
    if draw(st.booleans()):
        calls = draw(st.lists(any_call, max_size=6))
    else:
        calls = list(HEALTHY)
        for _ in range(draw(st.integers(0, 2))):
            place = draw(st.integers(0, len(calls)))
            calls[place : place + draw(st.integers(0, 1))] = [draw(any_call)]
    turns = draw(st.sampled_from(["own", "own", "own", "pairs"]))
    return [c | ({"group": n // 2} if turns == "pairs" else {}) for n, c in enumerate(calls)]


texts = st.sampled_from(
    [
        *("Your refund of $84.00 is on its way.", "Your refund of $84.00 has been processed."),
        *("I refunded order A1.", "I have refunded A1 and A2.", "Refund of $42 processed."),
        *("Sorry, it could not be refunded.", "Done!", "", "The refund failed."),
        "I sent the email and refunded $84.00 to order A1, see re_1.",
    ]
)
inputs = st.sampled_from(["Please refund order A1", "Refund it", "order A2 and A1, $84"])
outcomes: st.SearchStrategy[dict[str, bool]] = st.sampled_from(
    [{}, {"outcome_success": True}, {"outcome_success": False}]
)


class Run:
    """Calls, with what is known of the run and the gaps of its record."""

    def __init__(
        self, calls: Sequence[Call], about: dict[str, Any], gaps: Sequence[Gap] = ()
    ) -> None:
        self.calls, self.about, self.gaps = list(calls), about, list(gaps)

    def __repr__(self) -> str:
        return f"{self.about} {self.gaps}\n    " + "\n    ".join(map(str, self.calls))

    def hidden(self, calls: Sequence[Call], *gaps: Gap, **about: Any) -> Run:
        return Run(calls, self.about | about, [*self.gaps, *gaps])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    about = {"final_text": draw(texts), "input": draw(inputs), **draw(outcomes)}
    return Run(draw(some_calls()), about)


# --- ways to lose evidence ---------------------------------------------------------------------

Hide = Callable[[Run, Sequence[int]], Run]


def calls_dropped(run: Run, places: Sequence[int]) -> Run:
    """Spans are lost, and the clock of the run tells how many."""
    kept = [call for place, call in enumerate(run.calls) if place not in places]
    return run.hidden(kept, Gap("missing_steps", count=len(places)))


def calls_not_observable(run: Run, places: Sequence[int]) -> Run:
    """Spans are lost, and nothing tells how many."""
    kept = [call for place, call in enumerate(run.calls) if place not in places]
    return run.hidden(kept, Gap("tools_not_observable"))


def all_calls_dropped(run: Run, places: Sequence[int]) -> Run:
    return calls_dropped(run, range(len(run.calls)))


def _without(run: Run, places: Sequence[int], *names: str) -> list[Call]:
    return [
        {k: v for k, v in call.items() if place not in places or k not in names}
        for place, call in enumerate(run.calls)
    ]


def results_not_recorded(run: Run, places: Sequence[int]) -> Run:
    gaps = [Gap("missing_value", place, 1, "result") for place in places]
    return run.hidden(_without(run, places, "result"), *gaps)


def arguments_not_recorded(run: Run, places: Sequence[int]) -> Run:
    gaps = [Gap("missing_value", place, 1, "arguments") for place in places]
    return run.hidden(_without(run, places, "arguments"), *gaps)


def calls_not_ended(run: Run, places: Sequence[int]) -> Run:
    gaps = [Gap("unfinished_span", place) for place in places]
    return run.hidden(_without(run, places, "result", "error"), *gaps)


def content_off(run: Run, places: Sequence[int]) -> Run:
    calls = _without(run, range(len(run.calls)), "arguments", "result")
    return run.hidden(calls, Gap("content_off"), final_text=None, input=None)


def _cut(run: Run, places: Sequence[int], room: int) -> Run:
    calls = [dict(call) for call in run.calls]
    gaps = []
    for place in places:
        for name in ("arguments", "result"):
            if name in calls[place]:
                value = cut(calls[place][name], room)
                if value != calls[place][name]:
                    calls[place][name] = value
                    gaps.append(Gap("truncated_value", place, 1, name))
    return run.hidden(calls, *gaps)


def values_truncated(run: Run, places: Sequence[int]) -> Run:
    return _cut(run, places, 24)


def values_truncated_to_nothing(run: Run, places: Sequence[int]) -> Run:
    return _cut(run, places, 4)


def final_text_not_recorded(run: Run, places: Sequence[int]) -> Run:
    return run.hidden(run.calls, Gap("content_off"), final_text=None)


def input_not_recorded(run: Run, places: Sequence[int]) -> Run:
    return run.hidden(run.calls, Gap("content_off"), input=None)


def order_not_known(run: Run, places: Sequence[int]) -> Run:
    return run.hidden(run.calls, Gap("clock_skew", count=len(places)))


WAYS: tuple[Hide, ...] = (
    calls_dropped,
    calls_not_observable,
    all_calls_dropped,
    results_not_recorded,
    arguments_not_recorded,
    calls_not_ended,
    content_off,
    values_truncated,
    values_truncated_to_nothing,
    final_text_not_recorded,
    input_not_recorded,
    order_not_known,
)


# --- the property ------------------------------------------------------------------------------


def batch_of(some: Sequence[Run]) -> RunBatch:
    facts = [
        RunFacts(str(n), run.about["final_text"], run.about["input"]) for n, run in enumerate(some)
    ]
    batch = batch_of_runs([run.calls for run in some], facts)
    columns = {
        "gaps": pa.array([[asdict(gap) for gap in run.gaps] for run in some], pa.list_(GAP_TYPE))
    }
    success = [run.about.get("outcome_success") for run in some]
    columns["outcome_success"] = pa.array(success, pa.bool_())
    columns["spans"] = pa.array([len(run.calls) + 1 for run in some], pa.int32())
    table = batch.runs
    for name, values in columns.items():
        table = table.set_column(RUN_SCHEMA.get_field_index(name), RUN_SCHEMA.field(name), values)
    return RunBatch(table, batch.steps, batch.offsets)


def _written(policy: Policy) -> list[Rule]:
    """Rules without those that they bring along, which only warn of what was seen."""
    return [rule for n, rule in enumerate(policy.rules) if n not in policy.implied]


def states(rule: Rule, evidence: Evidence) -> dict[int, str]:
    """What a rule says of the runs that do not hold."""
    found: dict[int, str] = {}
    for result in results_of(rule.found(0, evidence)):
        if found.get(result.run) != "violated":
            found[result.run] = result.state.value
    return found


def alone(rule: Rule, batch: RunBatch, run: int) -> str:
    """What a rule says of one trajectory."""
    try:
        rule.assert_holds(batch.trajectory(run), tools=DECLARED)
    except RuleViolationError:
        return "violated"
    except InsufficientEvidenceError:
        return "insufficient"
    return "holds"


def turned(whole: RunBatch, hidden: RunBatch) -> Iterator[str]:
    """Each run of which a rule says something else, other than that nobody knows."""
    before, after = Evidence.of(whole, DECLARED), Evidence.of(hidden, DECLARED)
    for line, policy in POLICIES:
        for rule in _written(policy):
            first, second = states(rule, before), states(rule, after)
            for run in range(len(whole)):
                one, other = first.get(run, "holds"), second.get(run, "holds")
                if one != "insufficient" and other not in (one, "insufficient"):
                    yield f"{run}: {one} became {other}: {line} ({rule.title})"


EXAMPLES = settings().max_examples // 5
"""20; `HYPOTHESIS_PROFILE=part` asks 2,000, `deep` 20,000."""


@st.composite
def hidden(draw: st.DrawFn) -> tuple[Run, Run]:
    """A run, and the same with evidence that is lost."""
    run, hide = draw(runs()), draw(st.sampled_from(WAYS))
    if not run.calls:
        return run, run
    places = draw(st.sets(st.integers(0, len(run.calls) - 1), min_size=1))
    return run, hide(run, sorted(places))


@settings(max_examples=EXAMPLES)
@given(some=st.lists(hidden(), min_size=8, max_size=16))
def test_hidden_evidence_never_turns_an_answer(some: list[tuple[Run, Run]]) -> None:
    for number, (whole, less) in enumerate(some):
        note(f"{number}: {whole}\n  hidden: {less}")
    wholes, hidden_ones = zip(*some, strict=True)

    assert not list(turned(batch_of(wholes), batch_of(hidden_ones)))


@settings(max_examples=EXAMPLES // 2)
@given(some=st.lists(hidden(), min_size=2, max_size=4), data=st.data())
def test_one_trajectory_with_hidden_evidence_is_judged_as_in_a_table(
    some: list[tuple[Run, Run]], data: st.DataObject
) -> None:
    batch = batch_of([less for _, less in some])
    evidence = Evidence.of(batch, DECLARED)
    policies = data.draw(st.lists(st.sampled_from(POLICIES), min_size=10, max_size=10))
    for line, policy in policies:
        found = states(policy.rules[0], evidence)
        for run in range(len(batch)):
            assert alone(policy.rules[0], batch, run) == found.get(run, "holds"), line


LOOKUP = {"tool": "lookup_order", "kind": "lookup", "result": '{"id":"A1","total":84.0}'}
CHECK = {"tool": "check_policy", "kind": "lookup", "result": '{"eligible":true}'}
REFUND = {
    "tool": "refund_api.create",
    "kind": "mutate",
    "arguments": '{"amount":84.0,"order_id":"A1"}',
    "result": '{"status":"succeeded"}',
}
UNRECORDED = {**LOOKUP, "result": None, "ok": None, "entity_refs": ["order:A1"]}
ASKED = {"tool": "refund_create", "executed": False, "ok": None, "arguments": "{}"}
LOST = [asdict(Gap("missing_steps", count=3))]


@pytest.mark.parametrize(
    ("line", "steps", "about"),
    [
        ("at_most_once_between: [check_policy, lookup_order, refund_api.create]", [], LOST),
        ("at_most_once_between: [check_policy, lookup_order, refund_api.create]", [LOOKUP], LOST),
        ("admits_failure: {}", [LOOKUP], LOST),
        ("in_order: [lookup_order, refund_api.create]", [UNRECORDED, REFUND], []),
        ("at_least: [lookup_order]", [UNRECORDED], []),
        (
            "grounded: {tool: refund_api.create, argument: amount, from: lookup_order.total}",
            [UNRECORDED, REFUND],
            [],
        ),
        ("allow: [lookup_order, refund_api.create]", [LOOKUP, ASKED], LOST),
        ("no_loops: {stagnation: 2}", [CHECK, CHECK], [asdict(Gap("missing_steps", position=1))]),
        ("terminal: {action: refund_api.create, claimed: true}", [LOOKUP], LOST),
    ],
)
def test_what_hidden_evidence_decides_is_insufficient(
    run_of: Callable[..., RunBatch],
    line: str,
    steps: list[dict[str, Any]],
    about: list[dict[str, Any]],
) -> None:
    text, action = "I refunded the order.", "refund_api.create"
    batch = run_of(steps, gaps=about, final_text=text, final_action=action)
    (rule,) = _policy(line).rules

    assert states(rule, Evidence.of(batch, DECLARED)) == {0: "insufficient"}
    assert alone(rule, batch, 0) == "insufficient"


@pytest.mark.parametrize(
    "text",
    ["Your refund is on its way.", "Refund: ✅", "I sent the email.", "The booking is underway."],
)
def test_a_text_that_claims_any_work_may_claim_what_failed(
    run_of: Callable[..., RunBatch], text: str
) -> None:
    batch = run_of([LOOKUP], gaps=LOST, final_text=text)
    rule = _policy("admits_failure: {}").rules[0]

    assert states(rule, Evidence.of(batch, DECLARED)) == {0: "insufficient"}


@pytest.mark.parametrize("text", ["", "Sorry, the refund was not possible.", "The refund failed."])
def test_a_text_that_claims_no_work_is_true_whatever_failed(
    run_of: Callable[..., RunBatch], text: str
) -> None:
    batch = run_of([LOOKUP], gaps=LOST, final_text=text)

    assert states(_policy("admits_failure: {}").rules[0], Evidence.of(batch, DECLARED)) == {}
