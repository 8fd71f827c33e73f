"""What does the analyzer read of a corpus of recorded traces? One Markdown row a file or folder.

    python benchmarks/corpus_table.py CORPUS

CORPUS holds `recorded/frameworks` (one row a file) and `public` (one row a folder, every file in it
loaded by itself). A file that `load` refuses counts as refused; any other exception ends the
program: there must be none.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from trackway_analyzer import load
from trackway_analyzer.load import Trajectories

NO_TRACE = (".md", ".txt", "LICENSE", ".py")
HEADER = (
    "what",
    "files",
    "dialects",
    "runs",
    "steps",
    "tool calls",
    "gaps",
    "set aside",
    "refused",
)


@dataclass
class Row:
    what: str
    files: int = 0
    runs: int = 0
    steps: int = 0
    tool_calls: int = 0
    refused: int = 0
    dialects: set[str] = field(default_factory=set)
    gaps: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)

    def add(self, path: Path) -> None:
        self.files += 1
        trajectories = load(path)
        try:
            self._count(trajectories)
        except (OSError, ValueError):
            self.refused += 1

    def _count(self, trajectories: Trajectories) -> None:
        runs = trajectories.batch.runs
        self.runs += len(runs)
        self.steps += len(trajectories.batch.steps)
        self.tool_calls += pc.sum(runs.column("tool_calls")).as_py() or 0
        self.dialects |= {
            name for names in runs.column("sources").to_pylist() for name in names or ()
        }
        for gaps in runs.column("gaps").to_pylist():
            self.gaps.update(gap["name"] for gap in gaps or ())
        for row in trajectories.quarantined.to_pylist():
            self.set_aside[row["reason"]] += row["count"]

    def cells(self) -> Iterable[object]:
        yield from (self.what, self.files, ", ".join(sorted(self.dialects)) or "–")
        yield from (self.runs, self.steps, self.tool_calls)
        yield from (_counted(self.gaps), _counted(self.set_aside), self.refused or "–")


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(names.items())) or "–"


def files_of(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.endswith(NO_TRACE))


def rows(corpus: Path) -> Iterator[Row]:
    for path in files_of(corpus / "recorded" / "frameworks"):
        row = Row("/".join(path.parts[-2:]))
        row.add(path)
        yield row
    for folder in sorted(p for p in (corpus / "public").iterdir() if p.is_dir()):
        parts = sorted(p for p in folder.iterdir() if p.is_dir()) or [folder]
        for part in parts:
            row = Row(str(part.relative_to(corpus)))
            for path in files_of(part):
                row.add(path)
            yield row


def main() -> None:
    corpus = Path(sys.argv[1]) if len(sys.argv) == 2 else Path()
    if not (corpus / "public").is_dir():
        sys.exit(f"{corpus} holds no folder `public`; usage: corpus_table.py CORPUS")
    print("| " + " | ".join(HEADER) + " |")
    print("|" + "---|" * len(HEADER))
    for row in rows(corpus):
        print("| " + " | ".join(map(str, row.cells())) + " |", flush=True)


if __name__ == "__main__":
    main()
