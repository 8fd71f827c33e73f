"""The four-step refund and ways to spoil it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

Records = list[dict[str, Any]]


@pytest.fixture
def refund() -> Records:
    """Look up, check the policy, refund, tell the customer."""
    return copy.deepcopy(REFUND)


REFUND: Records = [
    {
        "step": 1,
        "tool": "lookup_order",
        "arguments": {"order_id": "A9128"},
        "result": {"id": "A9128", "total": 84.0, "eligible": True},
        "timestamp": "2026-01-05T10:00:00Z",
    },
    {
        "step": 2,
        "tool": "check_policy",
        "arguments": {"order_id": "A9128"},
        "result": {"refundable": 84.0},
        "timestamp": "2026-01-05T10:00:01Z",
    },
    {
        "step": 3,
        "tool": "refund_api.create",
        "arguments": {"order_id": "A9128", "amount": 84.0, "note": "arrived broken"},
        "result": {"refund_id": "re_1101", "status": "succeeded"},
        "timestamp": "2026-01-05T10:00:02Z",
    },
    {
        "step": 4,
        "tool": "send_email",
        "arguments": {"to": "ann@example.com", "body": "We refunded $84.00 (re_1101)."},
        "result": {"ok": True},
        "timestamp": "2026-01-05T10:00:03Z",
    },
]
