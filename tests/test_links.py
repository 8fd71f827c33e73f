"""Each link from one page of the repository to another leads somewhere, and so does its anchor."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(
    r"(?<!\\)\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE
)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def pages() -> list[Path]:
    """Return the Markdown files of the repository; those of its folders where git is not there."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    found = [ROOT / name for name in listed if name]
    return [page for page in found if page.is_file()] or [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
    ]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text("utf-8"))):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        repeated = sum(1 for known in found if re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", known))
        found.add(f"{anchor}-{repeated}" if anchor in found and repeated else anchor)
    return found


def broken_links(page: Path) -> list[str]:
    """Return what a page links to and is not there."""
    text = CODE.sub("", FENCE.sub("", page.read_text("utf-8")))
    broken = []
    for inline, reference in LINK.findall(text):
        link = inline or reference
        if ELSEWHERE.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = page if not path else (page.parent / path).resolve()
        misses = anchor and target.suffix == ".md" and anchor not in anchors_of(target)
        if not target.exists() or misses:
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_the_front_page_links_to_the_others() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert "(docs/recording.md)" in text
    assert "(docs/instrumenting.md)" in text
    assert "(docs/frameworks.md)" in text
    assert "(docs/benchmarks.md" in text


def test_what_is_broken_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Some *words*, and `code`\n\n## Twice\n\n## Twice\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md) [b](other.md#some-words-and-code) [c](other.md#twice-1) [d](#here)\n"
        "[e](https://example.com/x) `[f](no.md)`\n\n```\n[g](no.md)\n```\n\n"
        "[h](gone.md) [i](other.md#gone) [j](#gone) ![k](gone.svg)\n\n[l]: gone.md\n\n# Here\n"
    )
    assert broken_links(page) == ["gone.md", "other.md#gone", "#gone", "gone.svg", "gone.md"]
