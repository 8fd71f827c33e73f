"""What does the analyzer read of a corpus of recorded traces? Two Markdown tables.

    python benchmarks/corpus_table.py CORPUS

CORPUS holds `recorded/frameworks` (one row a file) and `public` (one row a folder, every file in it
loaded by itself). A file that `load` refuses counts as refused; any other exception ends the
program: there must be none.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trackway_analyzer import Trajectories, load
from trackway_analyzer.summary import variant_table

NO_TRACE = (".md", ".txt", "LICENSE")
FILES = ("file", "dialects", "spans", "runs", "steps", "tools", "gaps", "set aside")
FOLDERS = (
    "folder",
    "files",
    "dialects",
    "spans",
    "runs",
    "steps",
    "tool calls",
    "gaps",
    "set aside",
    "refused",
)


@dataclass
class Counts:
    files: int = 0
    spans: int = 0
    runs: int = 0
    steps: int = 0
    tool_calls: int = 0
    refused: int = 0
    dialects: set[str] = field(default_factory=set)
    gaps: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)

    def add(self, trajectories: Trajectories) -> None:
        self.files += 1
        try:
            batch, spans = trajectories.batch, trajectories.span_table
        except (OSError, ValueError):
            self.refused += 1
            return
        self.spans += len(spans)
        self.runs += len(batch)
        self.steps += len(batch.steps)
        self.tool_calls += sum(batch.runs.column("tool_calls").to_pylist())
        self.dialects |= set(spans.column("source").drop_null().to_pylist())
        self.gaps.update(trajectories.gap_table.column("name").to_pylist())
        for row in trajectories.quarantined.to_pylist():
            self.set_aside[row["reason"]] += row["count"]


def counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(names.items())) or "–"


def tools_of(trajectories: Trajectories) -> str:
    variants = variant_table(trajectories.batch).to_pylist()
    if len(variants) > 1:
        return f"{len(variants)} variants"
    return variants[0]["sequence"] if variants else "–"


def files_of(folder: Path) -> list[Path]:
    """The files of a folder, without those that loading a folder leaves out too."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not path.name.endswith(NO_TRACE)
        and not path.name.startswith(("_", "."))
    )


def framework_rows(folder: Path) -> Iterator[Sequence[object]]:
    for path in files_of(folder):
        counts, trajectories = Counts(), load(path)
        counts.add(trajectories)
        yield (
            path.relative_to(folder),
            ", ".join(sorted(counts.dialects)) or "–",
            counts.spans,
            counts.runs,
            counts.steps,
            tools_of(trajectories),
            counted(counts.gaps),
            counted(counts.set_aside),
        )


def public_rows(public: Path) -> Iterator[Sequence[object]]:
    for source in sorted(path for path in public.iterdir() if path.is_dir()):
        for folder in sorted(path for path in source.iterdir() if path.is_dir()) or [source]:
            counts = Counts()
            for path in files_of(folder):
                counts.add(load(path))
            if counts.files:
                yield (
                    folder.relative_to(public),
                    counts.files,
                    ", ".join(sorted(counts.dialects)) or "–",
                    counts.spans,
                    counts.runs,
                    counts.steps,
                    counts.tool_calls,
                    counted(counts.gaps),
                    counted(counts.set_aside),
                    counts.refused,
                )


def print_table(header: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def main() -> None:
    corpus = Path(sys.argv[1]) if len(sys.argv) == 2 else Path()
    if not (corpus / "public").is_dir() or not (corpus / "recorded" / "frameworks").is_dir():
        sys.exit(f"usage: corpus_table.py CORPUS; {corpus} lacks public or recorded/frameworks")
    print_table(FILES, framework_rows(corpus / "recorded" / "frameworks"))
    print()
    print_table(FOLDERS, public_rows(corpus / "public"))


if __name__ == "__main__":
    main()
