"""What a finding of a sequence says and carries: each sentence once, with its fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from trackway_analyzer.batch import RunBatch
from trackway_analyzer.model import Gap, Trajectory
from trackway_analyzer.rules import EntitySpec, Sequence, ToolSpec
from trackway_analyzer.rules.evidence import Evidence
from trackway_analyzer.rules.expression import compiled
from trackway_analyzer.tables import RUN_SCHEMA, STEP_SCHEMA, table_of

PAY = {"tool": "pay", "entity_arg": "order_id"}


def made(tool: str, arguments: Any = None, result: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments or {}, "result": result, **more}


def blind(tool: str) -> dict[str, Any]:
    """A successful call of which neither arguments nor result were recorded."""
    return {"tool": tool, "ok": True}


def look(order: str = "A1", res: Any = None, **more: Any) -> dict[str, Any]:
    result = {"id": order, "total": 84, "open": True, **(res or {})}
    return made("look", {"order_id": order}, result, kind="lookup", **more)


def pay(order: str = "A1", amount: int = 84, res: Any = None, **more: Any) -> dict[str, Any]:
    arguments = {"order_id": order, "amount": amount}
    return made("pay", arguments, {"status": "done", **(res or {})}, kind="mutate", **more)


def mail(arguments: Any = None, **more: Any) -> dict[str, Any]:
    return made("mail", arguments, kind="notify", **more)


def steps(*specs: Any, **options: Any) -> Sequence:
    return Sequence(specs, **options)


@pytest.mark.parametrize(
    ("rule", "run", "gap", "text", "fields", "sentence"),
    [
        (
            steps("look", "pay"),
            [look()],
            None,
            "",
            (None, "pay", None, None),
            "pay was never recorded",
        ),
        (
            steps("look", "pay"),
            [look(), made("pya")],
            None,
            "",
            (None, "pay", None, "pya at step 2"),
            "pay was never recorded; nearest: pya at step 2",
        ),
        (
            steps("look", "pay"),
            [look()],
            None,
            "I have paid it.",
            (None, "pay", None, None),
            'pay was never recorded, but the final text claims it: "I have paid it"',
        ),
        (
            steps("look", "pay", "pay"),
            [look(), pay()],
            None,
            "",
            (None, "pay", None, None),
            "pay was recorded 1 time, expected 2",
        ),
        (
            steps("look", "pay", "pay", "pay"),
            [look(), look("B2"), pay(), pay("B2")],
            None,
            "",
            (None, "pay", None, None),
            "pay was recorded 2 times, expected 3",
        ),
        (
            steps("look", "mail", "pay"),
            [look(), pay(), mail()],
            None,
            "",
            (2, "after step 3", "step 2", "pay at step 2"),
            "pay was recorded too early, at step 2: expected after mail at step 3",
        ),
        (
            steps("look", "mail"),
            [mail(group="g"), look(group="g")],
            None,
            "",
            (1, "after step 2", "step 1", "mail at step 1"),
            (
                "mail at step 1 was called in the same model turn as look at step 2: it could"
                " not build on its result"
            ),
        ),
        (
            steps("look", PAY),
            [look(), pay("B2")],
            None,
            "",
            (2, None, "B2", '"A1" from look at step 1'),
            (
                'step 2 pay: order_id "B2" was returned by no earlier successful lookup;'
                ' nearest: "A1" from look at step 1'
            ),
        ),
        (
            steps("look", PAY),
            [look(), made("pay", {"amount": 1}, kind="mutate")],
            None,
            "",
            (2, "order_id", None, None),
            "step 2 pay: argument order_id is absent",
        ),
        (
            steps("look", PAY),
            [look(), look("B2", ok=False), pay("B2")],
            None,
            "",
            (3, None, "B2", "look at step 2"),
            'step 3 pay: order_id "B2" was looked up by look at step 2, which did not succeed',
        ),
        (
            steps("look", PAY),
            [look(), pay("B2"), look("B2")],
            None,
            "",
            (2, None, "B2", "look at step 3"),
            'step 2 pay: order_id "B2" was looked up only afterwards, by look at step 3',
        ),
        (
            steps("look", PAY),
            [look(), look("B2", group="g"), pay("B2", group="g")],
            None,
            "",
            (3, None, "B2", "look at step 2"),
            (
                'step 3 pay: order_id "B2" was looked up in the same model turn, by look at'
                " step 2: its result was not seen"
            ),
        ),
        (
            steps("look", PAY),
            [made("look", kind="lookup"), pay("B2")],
            None,
            "",
            (2, None, "B2", "look at step 1, whose result has no id"),
            (
                'step 2 pay: order_id "B2" was returned by no earlier successful lookup;'
                " nearest: look at step 1, whose result has no id"
            ),
        ),
        (
            steps("pay"),
            [pay()],
            None,
            "",
            (1, None, None, None),
            "step 1 pay has no earlier successful lookup",
        ),
        (
            steps("look", "pay"),
            [look(), pay(res={"status": "failed"})],
            None,
            "I have paid it.",
            (2, None, None, None),
            (
                'step 2 pay did not take effect: status "failed", but the final text claims'
                ' it: "I have paid it"'
            ),
        ),
        (
            steps("look", "pay"),
            [look(), pay(res={"status": "failed"})],
            None,
            "",
            (2, None, None, None),
            'step 2 pay did not take effect: status "failed"',
        ),
        (
            steps("look", {"tool": "pay", "success": "$.sent"}),
            [look(), pay(res={"sent": False})],
            None,
            "",
            (2, None, None, None),
            "step 2 pay did not take effect: $.sent is false, expected true",
        ),
        (
            steps("look", {"tool": "pay", "guard": "look.open"}),
            [look(res={"open": False}), pay()],
            None,
            "",
            (2, None, None, None),
            (
                "step 2 pay ran although its guard forbids it: look.open is false (from look"
                " at step 1), expected true"
            ),
        ),
        (
            steps("look", {"tool": "pay", "where": "amount <= look.total"}),
            [look(), pay(amount=85)],
            None,
            "",
            (2, 84, 85, None),
            "step 2 pay: amount 85, expected <= 84 (look.total from look at step 1)",
        ),
        (
            steps("look", {"tool": "pay", "where": "amount == note"}),
            [look(), pay()],
            None,
            "",
            (2, None, 84, None),
            "step 2 pay: amount 84, but note is absent",
        ),
        (
            steps("look", {"tool": "pay", "where": "amount"}),
            [look(), pay(amount=0)],
            None,
            "",
            (2, None, 0, None),
            "step 2 pay: amount is 0, expected true",
        ),
        (
            steps("look", "pay"),
            [look(), pay(), pay()],
            None,
            "",
            (3, 1, 2, "pay at step 2"),
            "pay took effect twice, at steps 2 and 3: duplicate effect",
        ),
        (
            steps("look", PAY),
            [look(), pay(), pay()],
            None,
            "I have paid it.",
            (3, 1, 2, "pay at step 2"),
            (
                'pay took effect twice on order_id "A1", at steps 2 and 3: duplicate effect,'
                ' while the final text claims: "I have paid it"'
            ),
        ),
        (
            steps("look", PAY),
            [look(), pay(operation_id="a"), pay(operation_id="a")],
            None,
            "",
            (3, 1, 2, "pay at step 2"),
            (
                'pay took effect twice on order_id "A1", at steps 2 and 3 (operation id a,'
                " both): duplicate effect"
            ),
        ),
        (
            steps("look", PAY),
            [look(), pay(operation_id="a"), pay(operation_id="b")],
            None,
            "",
            (3, 1, 2, "pay at step 2"),
            (
                'pay took effect twice on order_id "A1", at steps 2 and 3 (operation ids a,'
                " b): duplicate effect"
            ),
        ),
        (
            steps("look", PAY),
            [look(), pay(operation_id="a"), pay()],
            None,
            "",
            (3, 1, 2, "pay at step 2"),
            (
                'pay took effect twice on order_id "A1", at steps 2 and 3 (operation ids a,'
                " none recorded): duplicate effect"
            ),
        ),
        (
            steps("look", PAY),
            [look(), pay(), made("ship", {"order_id": "A1"}, kind="mutate")],
            None,
            "",
            (3, None, "ship", None),
            "step 3 ship is a mutation that the pattern does not list",
        ),
        (
            steps("look", PAY),
            [look(), pay(), mail()],
            None,
            "",
            (3, None, "mail", None),
            "step 3 mail is a notification that the pattern does not list",
        ),
        (
            steps("look", PAY, extra="forbid"),
            [look(), look("B2"), pay()],
            None,
            "",
            (2, None, "look", None),
            'step 2 look is not in the pattern, and extra="forbid"',
        ),
        (
            steps("look", "pay"),
            [look()],
            Gap("missing_steps"),
            "",
            (None, "pay", None, None),
            "pay was not seen, but missing_steps may hide it",
        ),
        (
            steps("look", "pay"),
            [look(), pay()],
            Gap("missing_steps"),
            "",
            (None, None, None, None),
            "no extra step was seen, but missing_steps may hide one",
        ),
        (
            steps("look", "pay"),
            [look(), pay(res={"status": "pending"})],
            None,
            "",
            (2, None, None, None),
            'step 2 pay may not have taken effect: status "pending"',
        ),
        (
            steps("look", "pay"),
            [look(), {"tool": "pay", "kind": "mutate"}],
            None,
            "",
            (2, None, None, None),
            "step 2 pay cannot be judged: a value of step 2 was not recorded",
        ),
        (
            steps("look", PAY),
            [look(), {"tool": "pay", "kind": "mutate", "ok": True}],
            None,
            "",
            (2, None, None, None),
            "step 2 pay cannot be judged: a value of step 2 was not recorded",
        ),
        (
            steps("look", "find"),
            [look(), made("find", result={"status": "failed"})],
            None,
            "",
            (2, None, None, None),
            (
                'step 2 find cannot be judged: status "failed" may be that of the call or of'
                " what it found; declare the kind of find"
            ),
        ),
        (
            steps("look", PAY),
            [look(ok=None), pay()],
            None,
            "",
            (1, None, None, None),
            "step 1 look may not have taken effect: its result does not say",
        ),
        (
            steps("look", "pay", "mail"),
            [made("mail"), look(), pay()],
            None,
            "",
            (1, "after step 3", "step 1", "mail at step 1"),
            "mail was recorded too early, at step 1: expected after pay at step 3",
        ),
        (
            steps("look", PAY),
            [blind("look"), pay()],
            None,
            "",
            (2, None, None, None),
            "step 2 pay cannot be judged: a value of step 1 was not recorded",
        ),
    ],
)
def test_each_sentence_with_its_fields(
    gapped: Callable[..., Trajectory],
    behind: Callable[[RunBatch], RunBatch],
    rule: Sequence,
    run: Any,
    gap: Gap | None,
    text: str,
    fields: tuple[Any, ...],
    sentence: str,
) -> None:
    batch = gapped(run, *([] if gap is None else [gap]), final_text=text).batch
    (result,) = rule.check(batch)
    found = rule.explain(batch, result)

    assert found.sentence == sentence
    assert (found.step, found.expected, found.got, found.nearest) == fields
    second = behind(batch)
    (again,) = (result for result in rule.check(second) if result.run == 1)
    assert rule.explain(second, again) == found


def test_runs_of_one_sequence_are_told_with_their_own_places() -> None:
    """Model calls between the calls of tools make no other sequence, but other numbers."""
    calls = [look(), pay(), {**made("ship", {"order_id": "A1"}), "kind": "mutate"}]
    model = {"operation": "llm"}
    rows = [
        {"run": run, "position": position, "group": position, "operation": "tool", **step}
        for run, steps_of_run in enumerate([calls, [model, calls[0], model, *calls[1:]]])
        for position, step in enumerate(steps_of_run)
    ]
    columns = {name: [_cell(row, name) for row in rows] for name in STEP_SCHEMA.names}
    about = {"run_id": ["r1", "r2"], "gaps": [[], []], "spans": [4, 6], "final_text": ["", ""]}
    batch = RunBatch.of(table_of(RUN_SCHEMA, about, 2), table_of(STEP_SCHEMA, columns, len(rows)))
    rule = steps("look", PAY)
    first, second = rule.check(batch)

    assert [first.position, second.position] == [2, 4]
    assert rule.explain(batch, first).sentence == (
        "step 3 ship is a mutation that the pattern does not list"
    )
    assert rule.explain(batch, second).sentence == (
        "step 5 ship is a mutation that the pattern does not list"
    )


def _cell(row: dict[str, Any], name: str) -> Any:
    if name in ("arguments", "result"):
        return orjson.dumps(row[name]).decode() if name in row else None
    return row.get(name, True if name in ("executed", "ok") else None)


def test_a_success_of_the_pattern_is_told_beside_that_of_the_tool(
    gapped: Callable[..., Trajectory],
) -> None:
    tools = {"pay": ToolSpec("mutate", success=compiled("$.status == 'done'"))}
    rule = steps("look", {"tool": "pay", "success": "$.sent"})
    evidence = Evidence.of(gapped([look(), pay(res={"sent": 0})], final_text="").batch, tools)
    (result,) = rule.check(evidence)

    assert rule.explain(evidence, result).sentence == (
        "step 2 pay did not take effect: $.sent is 0, expected true"
    )


@pytest.mark.parametrize(
    ("result", "holds"),
    [
        ({"status": "done", "sent": True}, True),
        ({"status": "done", "sent": False}, False),
        ({"status": "done"}, False),
        ({"status": "lost", "sent": True}, False),
    ],
)
def test_a_success_of_the_pattern_is_needed_beside_that_of_the_tool(
    gapped: Callable[..., Trajectory], result: dict[str, Any], holds: bool
) -> None:
    tools = {"pay": ToolSpec("mutate", success=compiled("$.status == 'done'"))}
    rule = steps("look", {"tool": "pay", "success": "$.sent"})
    run = [look(), made("pay", {}, result)]

    assert (rule.check(Evidence.of(gapped(run, final_text="").batch, tools)) == []) is holds


def test_a_thing_that_the_tool_declares_is_named_in_the_sentence(
    gapped: Callable[..., Trajectory],
) -> None:
    tools = {"pay": ToolSpec("mutate", EntitySpec(argument="order_id"))}
    evidence = Evidence.of(gapped([look(), pay("B2")], final_text="").batch, tools)
    rule = steps("look", "pay")
    (result,) = rule.check(evidence)

    assert rule.explain(evidence, result).sentence == (
        'step 2 pay: order_id "B2" was returned by no earlier successful lookup;'
        ' nearest: "A1" from look at step 1'
    )


@pytest.mark.parametrize(
    ("rule", "run", "sentence"),
    [
        (
            steps(PAY),
            [pay("B2")],
            'step 1 pay: order_id "B2" was returned by no earlier successful lookup',
        ),
        (steps("look", {"kind": "mutate"}), [look()], "a mutate was never recorded"),
        (
            steps("look", "pay", "pay"),
            [look(), pay()],
            "pay was recorded 1 time, expected 2",
        ),
    ],
)
def test_without_anything_near_or_claimed_nothing_is_added(
    gapped: Callable[..., Trajectory], rule: Sequence, run: Any, sentence: str
) -> None:
    batch = gapped(run, final_text="I have paid it.").batch
    (result,) = rule.check(batch)

    assert rule.explain(batch, result).sentence == sentence


MAIL = {"tool": "mail", "optional": True}


@pytest.mark.parametrize(
    ("run", "rule", "sentence"),
    [
        (
            [look(), pay(), mail()],
            steps("look", PAY, MAIL),
            "step 3 mail was called in the same model turn as pay at step 2: expected after it, in"
            " a turn of its own",
        ),
        (
            [look(), mail(), pay()],
            steps("look", MAIL, PAY),
            "step 2 mail was called in the same model turn as pay at step 3: expected before it, in"
            " a turn of its own",
        ),
        (
            [mail(), look(), pay()],
            steps("look", PAY, MAIL),
            "step 1 mail is out of order: expected after pay at step 3",
        ),
        (
            [look(), look("A2"), pay(), mail()],
            steps("look", MAIL, PAY),
            "step 4 mail is out of order: expected before pay at step 3",
        ),
        (
            [look(), pay(), mail(arguments={"to": "x"})],
            steps("look", PAY, {"tool": "mail", "optional": True, "where": 'to == "y"'}),
            'step 3 mail: to "x", expected "y"',
        ),
        (
            [look(), mail(), pay(), mail()],
            steps("look", "mail", PAY),
            "step 4 mail is a notification that the pattern does not list",
        ),
    ],
    ids=["turn after", "turn before", "too early", "too late", "unfit", "one too many"],
)
def test_why_a_listed_call_takes_no_step(
    run_of: Callable[..., RunBatch], run: list[dict[str, Any]], rule: Sequence, sentence: str
) -> None:
    rows = [
        {k: orjson.dumps(v).decode() if k in ("arguments", "result") else v for k, v in row.items()}
        for row in run
    ]
    one_turn = "in the same model turn" in sentence
    for position, row in enumerate(rows):
        row["group"] = 1 if one_turn and position else position
    batch = run_of(rows, final_text="")
    (result,) = rule.check(batch)

    assert rule.explain(batch, result).sentence == sentence
