"""What is recorded, by what, and what is not and why: the answer of `trackway.instrument()`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One library in a report."""

    library: str
    """The name in the registry."""
    version: str | None
    """The library's version; None where it is not installed or does not tell."""
    by: str | None
    """The instrumentor's distribution, or `native`; None where nothing records the library."""
    by_version: str | None
    on: bool
    why: str
    """Why it is off, or what to know while it is on; may be empty."""
    content: bool | None
    """Whether prompts, arguments and results are recorded; None: it is off, or left to another."""

    @property
    def is_installed(self) -> bool:
        """Whether the library is there at all."""
        return self.version is not None

    def __str__(self) -> str:
        title = f"{self.library} {self.version or ''}".strip()
        by = f"{self.by or ''} {self.by_version or ''}".strip()
        state = "on " if self.on else "off"
        content = "" if self.content is None else f"content {'on' if self.content else 'off'}"
        cells = (f"{title:<24}", f"{by:<52}", content)
        line = f"{state}  {'  '.join(cells)}".rstrip()
        return f"{line}\n     {self.why}" if self.why else line


@dataclass(frozen=True, slots=True)
class Report:
    """Every library that was looked at, in the order of the registry."""

    entries: tuple[Entry, ...]

    @property
    def on(self) -> tuple[str, ...]:
        """Names of the libraries that are recorded."""
        return tuple(entry.library for entry in self.entries if entry.on)

    @property
    def off(self) -> tuple[str, ...]:
        """Names of the libraries that are installed and not recorded."""
        return tuple(e.library for e in self.entries if e.is_installed and not e.on)

    def __getitem__(self, library: str) -> Entry:
        """Return the entry of a library; KeyError where the report has none."""
        for entry in self.entries:
            if entry.library == library:
                return entry
        raise KeyError(library)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        shown = [entry for entry in self.entries if entry.is_installed or entry.on]
        absent = [entry for entry in self.entries if not entry.is_installed and not entry.on]
        lines = [f"trackway records {len(self.on)} of {len(shown)} libraries that are installed"]
        lines += [str(entry) for entry in shown]
        lines += [str(entry) for entry in absent if entry.why]
        return "\n".join(lines)
