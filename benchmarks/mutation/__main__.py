"""Mutate the rules: `make -C benchmarks mutation`. Exits 1 below 90% killed."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Final

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

from benchmarks.report import setting, table

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
RULES: Final = Path("trackway_analyzer/rules")
COPIED: Final = ("analyzer/trackway_analyzer", "tests", "docs", "benchmarks")
PACKAGES: Final = ("mutmut", "pytest", "hypothesis", "trackway-analyzer", "pyarrow")
WANTED: Final = 0.9
Z: Final = 1.959964
KILLED: Final = frozenset({"killed", "timeout"})

Codes = dict[str, int | None]
"""Exit code of the tests by name of the mutant; None: not tried."""


def lay_out(folder: Path) -> None:
    """Copy what mutmut needs into one folder, sources and tests side by side."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in COPIED:
        source = ROOT / name
        shutil.copytree(
            source, folder / source.name, ignore=shutil.ignore_patterns(".*", "__pycache__")
        )
    for name in ("setup.cfg", "conftest.py"):
        shutil.copy2(HERE / name, folder / name)


def mutmut(folder: Path, names: Iterable[str], log: Path) -> None:
    """Run the tests against these mutants; against all that were not tried if none is named."""
    command = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", "1", *names]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "mutation"}
    with log.open("ab") as output:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=output, stderr=output, check=False
        )
    if done.returncode:
        sys.exit(f"mutmut stopped with {done.returncode}; what it said stands in {log}")


def codes(folder: Path) -> dict[str, Codes]:
    """Exit codes by module, of modules that have mutants."""
    found = {}
    for path in sorted((folder / "mutants" / RULES).glob("*.py.meta")):
        of = json.loads(path.read_text("utf-8"))["exit_code_by_key"]
        if of:
            found[path.name.removesuffix(".py.meta")] = of
    return found


def sample(mutants: Mapping[str, Codes], size: int, seed: int) -> list[str]:
    """Names of about so many mutants: of each module its share, one at least."""
    total = sum(map(len, mutants.values()))
    return [
        name
        for module, of in mutants.items()
        for name in random.Random(f"{seed} {module}").sample(
            list(of), max(1, min(len(of), round(size * len(of) / total)))
        )
    ]


def interval(killed: int, of: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    share, slack = killed / of, Z * Z / of
    middle = share + slack / 2
    width = Z * sqrt(share * (1 - share) / of + slack / of / 4)
    return (middle - width) / (1 + slack), (middle + width) / (1 + slack)


def verdict(code: int | None) -> str:
    """What an exit code means: killed, survived, timeout, untested or not tried."""
    status: str = status_by_exit_code[code]
    return {"segfault": "killed", "no tests": "untested", "not checked": "not tried"}.get(
        status, status
    )


def row(name: str, of: Iterable[int | None], mutants: int) -> tuple[str, ...]:
    """One line of the table."""
    count = Counter(map(verdict, of))
    tested = count.total() - count["not tried"]
    killed = sum(count[name] for name in KILLED)
    return (
        name,
        f"{mutants:,}",
        f"{tested:,}",
        f"{count['killed']:,}",
        f"{count['timeout']:,}",
        f"{tested - killed:,}",
        f"{killed / tested:.1%}" if tested else "",
    )


def survivors(folder: Path, found: Mapping[str, Codes]) -> Iterable[str]:
    """What survived, as diffs."""
    os.chdir(folder)
    for module, of in found.items():
        for name, code in of.items():
            if verdict(code) not in KILLED | {"not tried"}:
                diff = get_diff_for_mutant(name, path=RULES / f"{module}.py")
                yield f"{name}: {verdict(code)}\n" + "\n".join(diff.splitlines()[3:])


def tried(folder: Path, size: int | None, seed: int) -> tuple[dict[str, int], dict[str, Codes]]:
    """Try the mutants: how many each module has, and the exit codes of those that were meant."""
    log = folder / "mutmut.log"
    # Some first, so that all are made: their names are what a sample is taken from.
    mutmut(folder, ["trackway_analyzer.rules.tools.*mutmut_1"], log)
    mutants = codes(folder)
    everyone = [name for of in mutants.values() for name in of]
    meant = set(sample(mutants, size, seed) if size else everyone)
    mutmut(folder, sorted(meant) if size else [], log)
    slow = [n for of in codes(folder).values() for n in meant & of.keys() if is_timeout(of[n])]
    if slow:
        mutmut(folder, slow, log)
    sizes = {module: len(of) for module, of in mutants.items()}
    return sizes, {
        module: {name: code for name, code in of.items() if name in meant}
        for module, of in codes(folder).items()
    }


def is_timeout(code: int | None) -> bool:
    """Whether the tests of a mutant were stopped."""
    return verdict(code) == "timeout"


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, help="try about so many mutants instead of all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=HERE / ".work")
    return parser.parse_args(arguments)


def main() -> int:
    """Print the table, the figure, and what survived."""
    given = parsed()
    folder: Path = given.folder.resolve()
    lay_out(folder)
    sizes, found = tried(folder, given.sample, given.seed)
    everything = [code for of in found.values() for code in of.values()]
    rows = [row(name, of.values(), sizes[name]) for name, of in found.items()]
    rows.append(row("all", everything, sum(sizes.values())))
    print(table(("module", "mutants", "tried", "killed", "timeout", "survived", ""), rows))
    killed = sum(verdict(code) in KILLED for code in everything)
    low, high = interval(killed, len(everything))
    drawn = f", a sample with seed {given.seed}: 95% interval {low:.1%} to {high:.1%}"
    print(f"\n{killed / len(everything):.1%} killed{drawn if given.sample else ''}")
    print(f"\n{setting(PACKAGES)}")
    for text in survivors(folder, found):
        print(f"\n{text}")
    return 0 if killed >= WANTED * len(everything) else 1


if __name__ == "__main__":
    sys.exit(main())
