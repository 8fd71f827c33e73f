"""What the model says in each scenario, and so what every recording has to give back.

1. A scenario is a list of turns. A turn asks for calls, or answers in text; each has token counts
   of its own, so that a turn that is lost or counted twice shows in the total.
2. `happy`: the four tools one after the other. `parallel`: two, then two. `fail`: the refund
   raises and no mail is sent. `retry`: as `happy`, but the endpoint answers 429 to the first
   request, and an error of the server to the third. `approval`: as `happy`; who runs the refund
   has to ask. `sub-agent`: an agent that is a tool checks the policy. `handoff`: another agent
   pays. `transfer`: the same by a tool that names the agent (Google ADK). `workflow`: the same by
   LlamaIndex's tool. `managed`: as `sub-agent`, as smolagents calls and answers it. `retriever`: a
   tool searches the policies. `refusal`: as `approval`, and whoever is asked says no.
3. The endpoint finds the turn by the call that the last message answers, so an agent that loses a
   call id gets no further. For clients that send no ids back, it counts requests. An agent that is
   a tool begins with the question that it is asked.
4. Every scenario has an order of its own; the order id in the user's words names the scenario.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from trackway_analyzer.model import NOT_RECORDED

AMOUNT: Final = 42.5
MAIL_TO: Final = "ann@example.com"
FAILS: Final = "A-1003"
"""The order whose refund raises."""

AGENT: Final = "refund_agent"
ALLOWED: Final = "Refunds up to 100 EUR are allowed."
POLICIES: Final = {"policy-1": ALLOWED, "policy-2": "Refunds within 30 days are allowed."}
"""What the retriever finds, best first, by id."""

QUESTION: Final = "May 42.50 EUR be paid back?"
"""What the agent asks its sub-agent, and looks for among the documents."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the model asks for."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: Any
    """What the tool gives; None: it raises; `NOT_RECORDED`: no span and no message tells."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model; `refused` are the statuses that the endpoint gives before it."""

    calls: tuple[Call, ...]
    text: str | None
    tokens_in: int
    tokens_out: int
    refused: tuple[int, ...] = ()
    agent: str = AGENT
    asked: str | None = None
    """The question that begins an agent's own conversation, where it is not the user's."""
    answers: tuple[Call, ...] = ()
    """The calls whose results the model has just read."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One conversation."""

    name: str
    order: str
    turns: tuple[Turn, ...]
    by_count: bool = False
    """Whoever goes on reads no call that it made itself: the endpoint counts requests."""

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


def _told(name: str, order: str, *told: tuple[str, tuple[Call, ...], str | None]) -> Scenario:
    """A conversation of several agents: who, the calls, else the text; in the order of time.

    An agent that was asked as a tool begins with `QUESTION`; whoever goes on after it reads its
    text as the result of the call.
    """
    turns: list[Turn] = []
    last: dict[str, tuple[Call, ...]] = {}
    for index, (agent, calls, text) in enumerate(told):
        before = turns[-1].calls if turns else ()
        asked = QUESTION if any(call.tool == agent for call in before) else None
        answers = () if asked else before or last.get(agent, ())
        turns.append(Turn(calls, text, 120 + 40 * index, 20 + index, (), agent, asked, answers))
        last[agent] = calls
    return Scenario(name, order, tuple(turns))


def _scenario(
    name: str, order: str, *turns: tuple[Call, ...] | str, refused: dict[int, int] | None = None
) -> Scenario:
    said: list[Turn] = []
    for index, turn in enumerate(turns):
        tokens = 120 + 40 * index, 20 + index
        status = (refused or {}).get(index)
        calls, text = ((), turn) if isinstance(turn, str) else (turn, None)
        before = said[-1].calls if said else ()
        refusals = () if status is None else (status,)
        said.append(Turn(calls, text, *tokens, refusals, answers=before))
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


def _sub_agent() -> Scenario:
    lookup, policy, refund, mail = _calls("A-1006")
    ask = Call("call_ask_1006", "policy_agent", {"input": QUESTION}, ALLOWED)
    return _told(
        "sub-agent",
        "A-1006",
        (AGENT, (lookup,), None),
        (AGENT, (ask,), None),
        ("policy_agent", (policy,), None),
        ("policy_agent", (), ALLOWED),
        (AGENT, (refund,), None),
        (AGENT, (mail,), None),
        (AGENT, (), _done("A-1006")),
    )


def _handoff() -> Scenario:
    hand_over = Call(
        "call_transfer_1007", "transfer_to_payment_agent", {}, {"assistant": "payment_agent"}
    )
    return _handed_over("handoff", "A-1007", hand_over)


def _workflow() -> Scenario:
    arguments = {"to_agent": "payment_agent", "reason": "It pays."}
    told = (
        "Agent payment_agent is now handling the request due to the following reason: It pays..\n"
        "Please continue with the current request."
    )
    return _handed_over("workflow", "A-1011", Call("call_handoff_1011", "handoff", arguments, told))


def _managed() -> Scenario:
    order = "A-1012"
    lookup, policy, refund, mail = _calls(order)
    ask = Call("call_ask_1012", "policy_agent", {"task": QUESTION}, NOT_RECORDED)
    done = Call("call_allowed_1012", "final_answer", {"answer": ALLOWED}, ALLOWED)
    scenario = _told(
        "managed",
        order,
        (AGENT, (lookup,), None),
        (AGENT, (ask,), None),
        ("policy_agent", (policy,), None),
        ("policy_agent", (done,), None),
        (AGENT, (refund,), None),
        (AGENT, (mail,), None),
        (AGENT, (), _done(order)),
    )
    return replace(scenario, by_count=True)


def _refusal() -> Scenario:
    lookup, policy, refund, _ = _calls("A-1010")
    sorry = "Order A-1010 was not refunded: the supervisor said no. Nobody was notified."
    return _scenario("refusal", "A-1010", (lookup,), (policy,), (refund,), sorry)


def _transfer() -> Scenario:
    arguments = {"agent_name": "payment_agent"}
    transfer = Call("call_transfer_1009", "transfer_to_agent", arguments, {"result": None})
    return replace(_handed_over("transfer", "A-1009", transfer), by_count=True)


def _handed_over(name: str, order: str, hand_over: Call) -> Scenario:
    lookup, _, refund, mail = _calls(order)
    return _told(
        name,
        order,
        (AGENT, (lookup,), None),
        (AGENT, (hand_over,), None),
        ("payment_agent", (refund,), None),
        ("payment_agent", (mail,), None),
        ("payment_agent", (), _done(order)),
    )


def _retriever() -> Scenario:
    lookup, _, refund, mail = _calls("A-1008")
    found = "\n\n".join(POLICIES.values())
    search = Call("call_search_1008", "search_policies", {"query": QUESTION}, found)
    calls = [(call,) for call in (lookup, search, refund, mail)]
    return _scenario("retriever", "A-1008", *calls, _done("A-1008"))


SCENARIOS: Final = {
    scenario.name: scenario
    for scenario in (
        _one_by_one("happy", "A-1001"),
        _parallel(),
        _fail(),
        _one_by_one("retry", "A-1004", refused={0: 429, 2: 500}),
        _one_by_one("approval", "A-1005"),
        _sub_agent(),
        _handoff(),
        _transfer(),
        _workflow(),
        _managed(),
        _refusal(),
        _retriever(),
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
    for turn in scenario.turns:
        if by_count:
            matches: list[dict[str, Any]] = [{"sequenceIndex": requests + len(turn.refused)}]
        elif turn.answers:
            matches = [{"toolCallId": call.id} for call in turn.answers]
        else:
            words = turn.asked or scenario.order
            matches = [{"userMessage": words, "hasToolResult": False}]
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
