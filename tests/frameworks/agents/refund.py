"""The refund agent's tools and words, and the two lines that record it.

Every agent beside this file is the same agent in another framework. The environment says which
scenario is played and how it is recorded:

- `REFUND_MODE=auto`: `configure()` and `instrument()`, nothing else.
- `reset`: the same, and then the program does to the library's own tracing what people do.
- `cut-off`: the same, and then the program turns the library's tracing off altogether.
- `decorated`: `configure()`, and the tools and the agent decorated by hand.
- `zero-code`: nothing here; the program runs under `opentelemetry-instrument`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import trackway

MODE = os.environ["REFUND_MODE"]
SCENARIO = os.environ["REFUND_SCENARIO"]
ORDER = os.environ["REFUND_ORDER"]
STREAM = os.environ["REFUND_STREAM"] == "yes"
IN_A_RUN = os.environ["REFUND_IN_A_RUN"] == "yes"
URL = os.environ["REFUND_ENDPOINT"]
STATE = Path(os.environ["REFUND_STATE"])
"""Where a run that waits for approval leaves what the next process needs."""

PHASE = os.environ["REFUND_PHASE"]
"""`ask` up to the approval, then in another process `approve` or `refuse`; empty: all at once."""
GOES_ON = PHASE in ("approve", "refuse")
REFUSED = "Ann says: not before Monday."
"""What the supervisor answers in place of the refund, where a framework passes her words on."""
INSTRUCTIONS = "You are a refund agent. Look up the order, check the policy, refund it, then mail."
REQUEST = f"Refund order {ORDER}"
MODEL = "gpt-4o"
POLICIES = {
    "policy-1": "Refunds up to 100 EUR are allowed.",
    "policy-2": "Refunds within 30 days are allowed.",
}
"""What a retriever finds, best first, by id."""


def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up an order by its id.

    Args:
        order_id: the order id, like A-1001
    """
    return {"order_id": order_id, "total": 42.5, "currency": "EUR", "email": "ann@example.com"}


def check_policy(order_id: str, amount: float) -> dict[str, Any]:
    """Tell whether the policy allows a refund.

    Args:
        order_id: the order id
        amount: the amount to pay back
    """
    return {"order_id": order_id, "allowed": amount <= 100.0, "max_amount": 100.0}


def refund_create(order_id: str, amount: float) -> dict[str, Any]:
    """Pay money back.

    Args:
        order_id: the order id
        amount: the amount to pay back
    """
    if order_id == "A-1003":
        raise RuntimeError("payment gateway timeout")
    return {"refund_id": f"re_{order_id}", "amount": amount, "status": "succeeded"}


def send_email(to: str, subject: str, body: str) -> dict[str, Any]:
    """Mail the customer.

    Args:
        to: the recipient
        subject: the subject line
        body: the text
    """
    return {"message_id": "msg_1", "status": "sent"}


KINDS = {lookup_order: "lookup", check_policy: "lookup", refund_create: "mutate"}
TOOLS: list[Callable[..., Any]] = [lookup_order, check_policy, refund_create, send_email]
if MODE == "decorated":
    TOOLS = [trackway.tool(kind=KINDS.get(tool, "notify"))(tool) for tool in TOOLS]  # type: ignore[arg-type]
BY_NAME = {tool.__name__: tool for tool in TOOLS}
CHECKS = [BY_NAME["check_policy"]]
"""The tools of the sub-agent that is asked for the policy."""

PAYS = [BY_NAME["refund_create"], BY_NAME["send_email"]]
"""The tools of the agent that the order is handed over to."""


def record() -> None:
    """Start recording as `REFUND_MODE` says."""
    if MODE != "zero-code":
        trackway.configure("refund-agent", export=os.environ["REFUND_TRACES"])
    if MODE in ("auto", "reset", "cut-off"):
        report = trackway.instrument()
        on = [(entry.library, entry.by, entry.by_version) for entry in report if entry.on]
        Path(f"{STATE}.report").write_text(json.dumps(on))


def play(answer: Callable[[str], Any]) -> None:
    """Let the agent answer the request; an error that ends it is printed, as a server would."""
    if MODE == "decorated":
        answer = trackway.agent("refund_agent")(answer)
    try:
        with _run():
            said = answer(REQUEST)
            print(asyncio.run(said) if inspect.iscoroutine(said) else said)
    except Exception:  # noqa: BLE001 - an error of a tool, as far as the framework lets it through
        traceback.print_exc()
    if MODE != "zero-code" and not trackway.flush(20):
        raise SystemExit(f"spans were not written: {trackway.capture_errors()}")


def _run() -> AbstractContextManager[Any]:
    if GOES_ON:
        return trackway.run(resume_from=json.loads(STATE.read_text())["carrier"])
    return trackway.run("refund", input=REQUEST) if IN_A_RUN else nullcontext()


def wait_for_approval(result: Any, state: Any) -> str:
    """Leave what the next process needs, and say in the record what the run waits for."""
    carrier = trackway.waiting(result, owner="supervisor")
    assert carrier, f"nothing waits in {result}"
    STATE.write_text(json.dumps({"carrier": carrier, "state": state}))
    return "waiting for approval"


def decided() -> Any:
    """Say in the record that the wait is over; return what was left."""
    trackway.resume(reason=PHASE)
    return json.loads(STATE.read_text())["state"]


def tool_schemas() -> list[dict[str, Any]]:
    """The tools as JSON schemas of their parameters, for clients that want them written out."""
    found = []
    for tool in TOOLS:
        parameters = inspect.signature(tool).parameters
        kinds = {name: "number" if name == "amount" else "string" for name in parameters}
        schema = {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in kinds.items()},
            "required": list(kinds),
        }
        described = (tool.__doc__ or "").partition("\n")[0]
        found.append({"name": tool.__name__, "description": described, "schema": schema})
    return found


def chat_tools() -> list[dict[str, Any]]:
    """The tools as OpenAI's chat API wants them."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["schema"],
            },
        }
        for tool in tool_schemas()
    ]


def carry_out(name: str, arguments: str | dict[str, Any], call_id: str) -> tuple[str, bool]:
    """Run the tool that the model asked for; the result as text, and whether it failed."""
    given = json.loads(arguments) if isinstance(arguments, str) else arguments
    try:
        with trackway.requested(call_id) if MODE == "decorated" else nullcontext():
            return json.dumps(BY_NAME[name](**given)), False
    except RuntimeError as error:
        return f"Error: {error}", True
