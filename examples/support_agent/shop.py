"""The shop's tools, instrumented.

Providers forbid dots in tool names. The model is offered `refund_create`; the record, the policy
and every report say `refund_api.create`. `alias` ties the two together.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import trackway

ORDERS = {
    "A-1001": {"id": "A-1001", "customer": "mia@example.com", "item": "kettle", "total": 84.0},
    "A-1002": {"id": "A-1002", "customer": "leo@example.com", "item": "toaster", "total": 84.0},
}


class Shop:
    """The orders, the refunds made and the mails sent in one run."""

    def __init__(self) -> None:
        self.refunds: list[dict[str, Any]] = []
        self.mails: list[dict[str, str]] = []

    @trackway.tool(kind="lookup", entity_type="order", returns="id")
    def lookup_order(self, order_id: str) -> dict[str, Any]:
        """Find an order by its number."""
        if order_id not in ORDERS:
            return {"error": f"no order {order_id}"}
        return dict(ORDERS[order_id])

    @trackway.tool(kind="lookup")
    def check_policy(self, order_id: str) -> dict[str, Any]:
        """Tell whether an order may be refunded and how much."""
        return {"eligible": True, "refundable": ORDERS[order_id]["total"]}

    @trackway.tool(
        "refund_api.create",
        alias="refund_create",
        kind="mutate",
        entity="order_id",
        entity_type="order",
        success=lambda refund: refund["status"] == "succeeded",
    )
    def refund_create(self, order_id: str, amount: float) -> dict[str, Any]:
        """Pay money back for an order."""
        refund = {
            "id": f"re_{len(self.refunds) + 1}",
            "order_id": order_id,
            "amount": amount,
            "status": "succeeded",
        }
        self.refunds.append(refund)
        return refund

    @trackway.tool(kind="notify")
    def send_email(self, to: str, subject: str, body: str) -> dict[str, Any]:
        """Send a mail to the customer."""
        self.mails.append({"to": to, "subject": subject, "body": body})
        return {"sent": True}

    def call(self, name: str, arguments: str) -> dict[str, Any]:
        """Run the tool that the model asked for, with the JSON arguments that it gave."""
        tools: dict[str, Callable[..., dict[str, Any]]] = {
            "lookup_order": self.lookup_order,
            "check_policy": self.check_policy,
            "refund_create": self.refund_create,
            "send_email": self.send_email,
        }
        return tools[name](**json.loads(arguments))


def _function(name: str, description: str, **parameters: str) -> dict[str, Any]:
    properties = {parameter: {"type": kind} for parameter, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


TOOL_DEFINITIONS = [
    _function("lookup_order", "Find an order by its number.", order_id="string"),
    _function("check_policy", "May an order be refunded, and how much?", order_id="string"),
    _function("refund_create", "Pay money back.", order_id="string", amount="number"),
    _function("send_email", "Mail the customer.", to="string", subject="string", body="string"),
]
