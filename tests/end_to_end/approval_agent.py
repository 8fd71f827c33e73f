"""A LangGraph agent whose refund waits for a person: `ask` in one process, `approve` in another."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt

import trackway


@tool
def lookup_order(order_id: str) -> dict:
    """Look up an order."""
    return {"id": order_id, "total": 84.0}


@tool
def refund_create(order_id: str, amount: float) -> dict:
    """Refund an order, once somebody has approved."""
    if interrupt({"refund": order_id, "amount": amount}) != "yes":
        return {"status": "declined"}
    return {"refund_id": "re_1", "status": "succeeded", "amount": amount}


def main(phase: str) -> None:
    trackway.configure("refunds", export="traces")
    trackway.instrument()
    saver = SqliteSaver(sqlite3.connect("checkpoints.db", check_same_thread=False))
    agent = create_agent(
        ChatOpenAI(model="gpt-5"),
        [lookup_order, refund_create],
        name="refunds",
        checkpointer=saver,
    )
    config = {"configurable": {"thread_id": "thread-7"}}
    saved = Path("waiting.json")
    if phase == "ask":
        with trackway.run("refund-approval"):
            asked = {"messages": [{"role": "user", "content": "Refund A9128"}]}
            result = agent.invoke(asked, config)
            saved.write_text(json.dumps(trackway.waiting(result, "alice")))
        print("waits")
        return
    with trackway.run(resume_from=json.loads(saved.read_text())):
        trackway.resume(reason="approved by alice")
        result = agent.invoke(Command(resume="yes"), config)
        print(result["messages"][-1].content)


main(sys.argv[1])
