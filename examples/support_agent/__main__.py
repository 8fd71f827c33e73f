"""The demo: five behaviours of one agent, recorded, then checked.

Run it with `make demo`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from openai import OpenAI

import trackway
from examples.support_agent.agent import SupportAgent
from examples.support_agent.endpoint import ORDER, SCRIPTS, serve

REQUEST = f"My kettle from order {ORDER} arrived broken. Please refund it."
POLICY = Path(__file__).with_name("policy.yaml")


def record(directory: Path) -> None:
    """Run every behaviour once and write its spans to `directory` as Parquet."""
    trackway.configure("support-agent", export=str(directory))
    with serve() as url:
        client = OpenAI(base_url=url, api_key="not-needed")
        for behaviour in SCRIPTS:
            agent = SupportAgent(client, model=behaviour)
            with trackway.run(task=behaviour, input=REQUEST) as run:
                run.final(text=agent.answer(REQUEST))
    if not trackway.flush(10):
        raise SystemExit(f"the spans were not written to {directory}: {trackway.capture_errors()}")


def main() -> None:
    """Record, then print what the analyzer found."""
    parser = argparse.ArgumentParser(prog="python -m examples.support_agent", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=Path("demo-traces"))
    directory = parser.parse_args().directory
    if directory.exists() and any(directory.iterdir()):
        parser.error(f"{directory} holds files already: remove it or name another folder")
    record(directory)

    from examples.support_agent.findings import report

    report(directory, POLICY)


if __name__ == "__main__":
    main()
