"""The page on reading shows what the code does."""

import re
from pathlib import Path

from trackway_analyzer import dialects
from trackway_analyzer.read import Reason, source
from trackway_analyzer.read.detect import Format

PAGE = (Path(__file__).parents[3] / "docs" / "reading.md").read_text()


def test_its_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 5
    exec(compile("\n".join(blocks), "docs/reading.md", "exec"), {})


def test_it_names_every_format_dialect_reason_and_ending() -> None:
    tables = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    named = set(re.findall(r"`([^`]+)`", " ".join(tables)))
    assert {dialect.name for dialect in dialects.KNOWN} | {dialects.UNKNOWN} <= named
    assert {*Format, *Reason} <= named
    endings = {ending for ending in source.ENDINGS if ending.count(".") == 1}
    assert endings <= set(re.findall(r"`(\.\w+)`", PAGE))


def test_it_lists_the_dialects_in_the_order_they_are_tried() -> None:
    section = PAGE.partition("## Dialects")[2]
    listed = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)
    known = [dialect.name for dialect in dialects.KNOWN]
    assert [name for name in listed if name in known] == known
