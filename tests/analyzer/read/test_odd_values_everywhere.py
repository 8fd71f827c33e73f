"""A value of any kind in any place of an export, a session or a transcript: no traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trackway_analyzer as ta
from analyzer.read.test_no_export_raises import DOCUMENTS, places, put
from analyzer.read.test_transcripts import CHAT, log, sample, tau, tau2

SESSIONS = ("claude-code", "codex")
FORMS: dict[str, list[Any]] = {
    **DOCUMENTS,
    "tau-bench": [[tau(1, 0, 1.0)]],
    "tau2-bench": [tau2()],
    "inspect": [log(sample())],
    "messages": [{"run_id": "r", "task_id": "1", "reward": 1, "system": "s", "messages": CHAT}],
}
DEEP = "[" * 1000 + "]" * 1000
VALUES = {
    "list": "[[1]]",
    "object": '{"id": [1], "type": {}}',
    "integer beyond 64 bits": "123456789012345678901234567890",
    "infinite": '[1e308, -1e308, "NaN", NaN, Infinity]',
    "not a number": "NaN",
    "lone surrogate": '"\\ud800"',
    "nested as deep as a parser goes": DEEP,
    "a text of that": json.dumps(DEEP),
    "five thousand digits": json.dumps("9" * 5000),
}
MARK = "(the value)"


def spoilt(form: str, value: str) -> list[str]:
    """Texts of a document with the value in each place of it, one for places of one shape."""
    texts: dict[Any, str] = {}
    for path in places(FORMS[form]):
        kind = path[:1] if form in SESSIONS else ()
        shape = (*kind, *("[]" if isinstance(key, int) else key for key in path))
        if path and shape not in texts:
            lines = put(FORMS[form], path, MARK)
            text = "".join(json.dumps(line) + "\n" for line in lines)
            texts[shape] = text.replace(json.dumps(MARK), value)
    return list(texts.values())


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("form", FORMS)
def test_no_value_in_any_place_raises(form: str, value: str, tmp_path: Path) -> None:
    texts = spoilt(form, VALUES[value])
    # Lines of a session belong together: one file each.
    for number, text in enumerate(texts if form in SESSIONS else ["".join(texts)]):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(text)
        runs = ta.load(path)
        runs.batch.validate()
        assert len(runs.span_table) or len(runs.quarantined)
