"""Print the detection table: `python -m benchmarks.detection [--peers PYTHON] [--seeds N]`.

`make -C benchmarks detection` installs the peers and does so. Exits 1 where our rules were wrong.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.detection.agents import AGENTS
from benchmarks.detection.faults import FAULTS
from benchmarks.detection.harmless import HARMLESS
from benchmarks.detection.ours import Row, hidden, judged

Stopped = Mapping[str, Mapping[str, int]]
"""How many runs each tool stopped, by change and tool."""


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection", description=__doc__)
    parser.add_argument("--peers", help="the Python that the other tools are installed for")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    seeds = range(given.seeds)
    faults, harmless, unseen = judged(FAULTS, seeds), judged(HARMLESS, seeds), hidden(seeds)
    peers = peers_say(given.peers, given.seeds) if given.peers else {}
    runs = given.seeds * len(AGENTS)
    print(f"Each cell: of {runs} runs, {given.seeds} seeds of each agent.\n")
    print("### Faults: caught\n")
    print("\n".join(table(faults, peers, "rules that spoke")))
    print("\n### Harmless changes: stopped\n")
    print("\n".join(table(harmless, peers, "rules that spoke", stopped=True)))
    print("\n### Evidence taken away: insufficient\n")
    print("\n".join(table(unseen, {}, "rules that lack it")))
    print("\n### In all\n")
    print("\n".join(totals(faults, harmless, peers, runs)))
    wrong = [f"{row.name}: {what}" for row in (*faults, *harmless, *unseen) for what in row.wrong]
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def peers_say(python: str, seeds: int) -> Stopped:
    """Ask the other tools, in their own environment."""
    command = [python, "-m", "benchmarks.detection.peers", str(seeds)]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    stopped: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in json.loads(said.stdout):
        stopped[row["change"]].update(row["caught"])
    return stopped


def table(
    rows: Sequence[Row], peers: Stopped, rules: str, *, stopped: bool = False
) -> Iterator[str]:
    """One row a change, one column a tool."""
    tools = list(next(iter(peers.values()), {}))
    heads = ["", *(f"trackway, {agent.name}" for agent in AGENTS), *tools, rules]
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 2)} --- |"
    for row in rows:
        ours = [_count(row, agent.name, stopped) for agent in AGENTS]
        theirs = [str(peers[row.name][tool]) for tool in tools]
        often = sorted(row.rules, key=lambda rule: (-row.rules[rule], rule))
        spoke = ", ".join(often[:4])
        yield f"| {' | '.join([row.name, *ours, *theirs, spoke])} |"


def _count(row: Row, agent: str, stopped: bool) -> str:
    right = row.right[agent]
    return str(sum(what.startswith(f"{agent},") for what in row.wrong) if stopped else right)


def totals(
    faults: Sequence[Row], harmless: Sequence[Row], peers: Stopped, runs: int
) -> Iterator[str]:
    """Shares of runs over all kinds."""
    yield "| tool | faulty runs caught | kinds always caught | harmless runs stopped |"
    yield "| --- | ---: | ---: | ---: |"
    ours = {
        "trackway": (
            {row.name: row.right.total() for row in faults},
            {row.name: len(row.wrong) for row in harmless},
        )
    }
    tools = list(next(iter(peers.values()), {}))
    theirs = {
        tool: (
            {row.name: peers[row.name][tool] for row in faults},
            {row.name: peers[row.name][tool] for row in harmless},
        )
        for tool in tools
    }
    for tool, (caught, alarms) in (ours | theirs).items():
        share = sum(caught.values()) / (runs * len(caught))
        always = sum(count == runs for count in caught.values())
        false = sum(alarms.values()) / (runs * len(alarms))
        yield f"| {tool} | {share:.1%} | {always} of {len(caught)} | {false:.1%} |"


if __name__ == "__main__":
    sys.exit(main())
