"""What the model says in each scenario, and so what every recording has to give back.

1. A scenario is a list of turns. A turn asks for calls, or answers in text; each has token counts
   of its own, so that a turn that is lost or counted twice shows in the total.
2. `happy`: the four tools one after the other. `parallel`: two, then two. `fail`: the refund
   raises and no mail is sent. `retry`: as `happy`, but the endpoint answers 429 to the first
   request, and an error of the server to the third. `approval`: as `happy`; whoever runs the refund
   has to ask.
3. The endpoint finds the turn by the call that the last message answers, so an agent that loses a
   call id gets no further. For clients that send no ids back, it counts requests.
4. Every scenario has an order of its own; the order id in the user's words names the scenario.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

AMOUNT: Final = 42.5
MAIL_TO: Final = "ann@example.com"
FAILS: Final = "A-1003"
"""The order whose refund raises."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the model asks for."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any] | None
    """What the tool gives; None: it raises."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model; `refused` are the statuses that the endpoint gives before it."""

    calls: tuple[Call, ...]
    text: str | None
    tokens_in: int
    tokens_out: int
    refused: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """One conversation."""

    name: str
    order: str
    turns: tuple[Turn, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, in the order in which they are asked for."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def tokens_in(self) -> int:
        """Prompt tokens of the whole conversation."""
        return sum(turn.tokens_in for turn in self.turns)

    @property
    def tokens_out(self) -> int:
        """Completion tokens of the whole conversation."""
        return sum(turn.tokens_out for turn in self.turns)


def _calls(order: str) -> tuple[Call, Call, Call, Call]:
    number, about = order[2:], {"order_id": order, "amount": AMOUNT}
    mail = {"to": MAIL_TO, "subject": "Refund issued", "body": f"We refunded order {order}."}
    found = {"order_id": order, "total": AMOUNT, "currency": "EUR", "email": MAIL_TO}
    policy = {"order_id": order, "allowed": True, "max_amount": 100.0}
    refund = {"refund_id": f"re_{order}", "amount": AMOUNT, "status": "succeeded"}
    sent = {"message_id": "msg_1", "status": "sent"}
    return (
        Call(f"call_lookup_{number}", "lookup_order", {"order_id": order}, found),
        Call(f"call_policy_{number}", "check_policy", about, policy),
        Call(f"call_refund_{number}", "refund_create", about, None if order == FAILS else refund),
        Call(f"call_email_{number}", "send_email", mail, sent),
    )


def _scenario(
    name: str, order: str, *turns: tuple[Call, ...] | str, refused: dict[int, int] | None = None
) -> Scenario:
    said = []
    for index, turn in enumerate(turns):
        tokens = 120 + 40 * index, 20 + index
        status = (refused or {}).get(index)
        calls, text = ((), turn) if isinstance(turn, str) else (turn, None)
        said.append(Turn(calls, text, *tokens, () if status is None else (status,)))
    return Scenario(name, order, tuple(said))


def _one_by_one(name: str, order: str, refused: dict[int, int] | None = None) -> Scenario:
    calls = [(call,) for call in _calls(order)]
    return _scenario(name, order, *calls, _done(order), refused=refused)


def _done(order: str) -> str:
    return f"Order {order} was refunded 42.50 EUR and the customer was notified."


def _parallel() -> Scenario:
    lookup, policy, refund, mail = _calls("A-1002")
    return _scenario("parallel", "A-1002", (lookup, policy), (refund, mail), _done("A-1002"))


def _fail() -> Scenario:
    lookup, policy, refund, _ = _calls(FAILS)
    sorry = f"The refund for order {FAILS} failed: payment gateway timeout. Nobody was notified."
    return _scenario("fail", FAILS, (lookup,), (policy,), (refund,), sorry)


SCENARIOS: Final = {
    scenario.name: scenario
    for scenario in (
        _one_by_one("happy", "A-1001"),
        _parallel(),
        _fail(),
        _one_by_one("retry", "A-1004", refused={0: 429, 2: 500}),
        _one_by_one("approval", "A-1005"),
    )
}


def fixtures(
    scenario: Scenario, *, by_count: bool = False, overloaded: int = 500, final_tool: bool = False
) -> dict[str, Any]:
    """Return the scenario as the endpoint reads it.

    by_count: the nth request gets the nth answer, whatever it says.
    overloaded: the status for the server's own errors (529 is what Anthropic says).
    final_tool: the last text is given as a call of `final_answer`, as smolagents wants it.
    """
    found: list[dict[str, Any]] = []
    requests = 0
    for index, turn in enumerate(scenario.turns):
        if by_count:
            matches: list[dict[str, Any]] = [{"sequenceIndex": requests + len(turn.refused)}]
        elif index == 0:
            matches = [{"userMessage": scenario.order, "hasToolResult": False}]
        else:
            matches = [{"toolCallId": call.id} for call in scenario.turns[index - 1].calls]
        for match in matches:
            for count, status in enumerate(turn.refused):
                at = {"sequenceIndex": (requests if by_count else 0) + count}
                found.append({"match": match | at, **_refusal(status, overloaded)})
            if turn.refused and not by_count:
                match = match | {"sequenceIndex": len(turn.refused)}
            found.append({"match": match, "response": _answer(turn, final_tool)})
        requests += 1 + len(turn.refused)
    return {"fixtures": found}


def _refusal(status: int, overloaded: int) -> dict[str, Any]:
    status = overloaded if status >= 500 else status
    kind = "rate_limit_error" if status == 429 else "server_error"
    response = {"error": {"message": "try again", "type": kind}, "status": status, "retryAfter": 0}
    return {"response": response}


def _answer(turn: Turn, final_tool: bool) -> dict[str, Any]:
    usage = {
        "prompt_tokens": turn.tokens_in,
        "completion_tokens": turn.tokens_out,
        "input_tokens": turn.tokens_in,
        "output_tokens": turn.tokens_out,
        "promptTokenCount": turn.tokens_in,
        "candidatesTokenCount": turn.tokens_out,
    }
    calls = [{"id": c.id, "name": c.tool, "arguments": c.arguments} for c in turn.calls]
    if turn.text is not None and final_tool:
        calls = [{"id": "call_final", "name": "final_answer", "arguments": {"answer": turn.text}}]
    said = {"toolCalls": calls} if calls else {"content": turn.text}
    return {**said, "usage": usage}
