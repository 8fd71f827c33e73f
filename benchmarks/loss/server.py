"""A prefork server's application: `configure` before the fork, one run a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.loss.program import set_up, work

set_up()


def app(_environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Work, and say how much."""
    spans = work(20)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(spans).encode()]
