"""Mutate the rules: `make -C benchmarks mutation`.

Exits 1 below 90% killed, 3 where mutants are left to try (`--seconds`): the next call goes on with
the copy that the first one made, unless it is told to start `--anew`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import sqrt
from pathlib import Path
from typing import Final

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

from benchmarks.report import setting, table

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
RULES: Final = Path("trackway_analyzer/rules")
COPIED: Final = ("analyzer/trackway_analyzer", "src/trackway", "tests", "docs", "benchmarks")
PACKAGES: Final = ("mutmut", "pytest", "hypothesis", "trackway-analyzer", "pyarrow")
WANTED: Final = 0.9
Z: Final = 1.959964
FIRST: Final = "trackway_analyzer.rules.tools.*mutmut_1"
"""Tried first, so that all mutants are made: their names are what a sample is taken from."""
GO_ON: Final = 3
"""Exit code of a call that left mutants untried."""
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


def mutmut(folder: Path, names: Iterable[str], ends: float | None) -> bool:
    """Run the tests against these mutants; False: the time was over before all were tried."""
    command = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", "1", *names]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "mutation"}
    log = folder / "mutmut.log"
    with log.open("ab") as output:
        running = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            code = running.wait(None if ends is None else max(0.0, ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            # What was tried is saved mutant by mutant.
            os.killpg(running.pid, signal.SIGINT)
            running.wait()
            return False
    if code:
        sys.exit(f"mutmut stopped with {code}; what it said stands in {log}")
    return True


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


def chosen(folder: Path, size: int | None, seed: int) -> set[str]:
    """The mutants that are meant: a sample, or all."""
    mutants = codes(folder)
    return set(sample(mutants, size, seed) if size else chain.from_iterable(mutants.values()))


def try_them(folder: Path, size: int | None, seed: int, seconds: float | None) -> bool:
    """Try the mutants that were not tried yet, as far as the time goes; whether none is left.

    What was found stands in the folder. A timeout is tried once more.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    twice = folder / "twice.json"
    if not codes(folder) and not mutmut(folder, [FIRST], ends):
        return False
    meant = chosen(folder, size, seed)
    if (untried := _those(folder, meant, None)) and not mutmut(folder, untried, ends):
        return False
    if not twice.exists():
        twice.write_text(json.dumps(_those(folder, meant, "timeout")), "utf-8")
        if (slow := _those(folder, meant, "timeout")) and not mutmut(folder, slow, ends):
            return False
    return True


def _those(folder: Path, meant: set[str], status: str | None) -> list[str]:
    """Mutants with this verdict; None: not tried."""
    wanted = status or "not tried"
    found = codes(folder).values()
    return sorted(n for of in found for n in of if n in meant and verdict(of[n]) == wanted)


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, help="try about so many mutants instead of all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=HERE / ".work")
    parser.add_argument("--seconds", type=float, help="stop after so long; the next call goes on")
    parser.add_argument("--anew", action="store_true", help="forget what was found, copy anew")
    parser.add_argument("--report", action="store_true", help="print what was found so far")
    return parser.parse_args(arguments)


def main() -> int:
    """Print the table, the figure, and what survived."""
    given = parsed()
    folder: Path = given.folder.resolve()
    if given.anew or not folder.exists():
        lay_out(folder)
    done = given.report or try_them(folder, given.sample, given.seed, given.seconds)
    meant = chosen(folder, given.sample, given.seed)
    sizes = {module: len(of) for module, of in codes(folder).items()}
    found = {
        module: {name: code for name, code in of.items() if name in meant}
        for module, of in codes(folder).items()
    }
    left = len(_those(folder, meant, None))
    if not done:
        print(f"{left:,} of {len(meant):,} mutants are left: call again, or with --report")
        return GO_ON
    everything = [code for of in found.values() for code in of.values()]
    rows = [row(name, of.values(), sizes[name]) for name, of in found.items()]
    rows.append(row("all", everything, sum(sizes.values())))
    print(table(("module", "mutants", "tried", "killed", "timeout", "survived", ""), rows))
    killed = sum(verdict(code) in KILLED for code in everything)
    everything = [code for code in everything if verdict(code) != "not tried"]
    if not everything:
        return GO_ON
    low, high = interval(killed, len(everything))
    drawn = f", a sample with seed {given.seed}: 95% interval {low:.1%} to {high:.1%}"
    print(f"\n{killed / len(everything):.1%} killed{drawn if given.sample else ''}")
    if left:
        print(f"{left:,} of {len(meant):,} were not tried yet")
    print(f"\n{setting(PACKAGES)}")
    for text in survivors(folder, found):
        print(f"\n{text}")
    return 0 if killed >= WANTED * len(everything) else 1


if __name__ == "__main__":
    sys.exit(main())
