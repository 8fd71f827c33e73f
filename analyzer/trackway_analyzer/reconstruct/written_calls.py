"""Which model turns write a call out in their text, where no reader takes it for one?

1. A server without a parser, and a framework that asks for calls in words, leave them in the text:
   `<tool_call>{...}</tool_call>`, `<invoke name=...>`, `Action:` over `Action Input:`, and the
   like; so does an object of a client that was printed and could not be read (it was cut, or in a
   list of texts): `ToolUseBlock(...)`, `tool_calls=[...]`. `WRITTEN` knows them by their marks, not
   by the name of a model or framework.
2. What a text quotes (in a fence or between backticks) is no call, but for a text that is nothing
   else than the object of a call.
3. An object alone is none where calls of the run were read: whoever ran them passed it on as text.
4. Such a turn hides a call, unless a call of it was read, a step of its run has that tool, or calls
   of its run would have spans (`witnesses`, the recorder's). A transcript has none that would tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trackway.schema import SCOPE_NAME, GapName, Operation
from trackway_analyzer.json_text import parsed
from trackway_analyzer.reconstruct.columns import NONE, TOOL, Ints
from trackway_analyzer.reconstruct.gap_rows import Evidence, Found, gap, places
from trackway_analyzer.reconstruct.witnesses import showing

_NAME: Final = r"([A-Za-z_][\w.\-]*)"
WRITTEN: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"<tool_call>\s*(?:\{{|<function=|{_NAME})",
        rf"<(?:antml:)?invoke name=[\"']{_NAME}",
        r"<(?:antml:)?function_calls>",
        rf"\[TOOL_CALLS\]\s*{_NAME}?",
        r"<\|python_tag\|>",
        rf"<function(?:=| name=[\"']){_NAME}",
        rf"^\W*Action\W{{0,4}}:\W*{_NAME}[^\n]*\n(?:.*\n)?\W*Action[ _]Input\W{{0,4}}:",
        r"^\W*Action\W{0,4}:\s*(?:```(?:json)?\s*)?\{",
        r"<use_mcp_tool>|<details type=[\"']tool_calls",
        rf"^<{_NAME}>\s*\n?\s*<[a-z_]+>[^<]*</[a-z_]+>",
        rf"to=(?:functions\.)?{_NAME}\s*<\|",
        r"<[|｜](?:tool[_▁ ]calls?[_▁ ](?:section[_▁ ])?begin|tool_call)[|｜]>",
        r"<end_code>|^<code>\s*$",
        rf"\b\w{{0,40}}(?:Tool|Function)\w{{0,20}}(?:Call|Use)\w{{0,40}}\((?:[^()]{{0,999}}\b(?:tool_)?name=[\"']{_NAME})?",
        r"\b(?:tool_calls|function_call)=(?:\[[^\]\s]|(?!None\b)[A-Z{])",
    )
)
"""Marks of a call in a text; a group is its name."""
_READ: Final = '"type":"tool_call'
"""What stands in the JSON of messages of which a call, or an answer to one, was read."""
_QUOTED: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_FENCED: Final = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)
_LOOK: Final = (
    r"<tool_call|invoke name=|function_calls>|\[TOOL_CALLS\]|<\|python_tag|<function|Action"
    r"|<use_mcp|<details type|>\s*(\\n)*\s*<[a-z_]+>|to=[\w.]+\s*<\||[|｜]>|<end_code>|<code>"
    r"|(Call|Use)\w*\(|(tool_calls|function_call)="
    r'|"content":"(```(json)?)?(\\n|\s)*[\[{]'
)
"""What stands in the JSON of every text that holds a mark: a quick look."""
_NAMES: Final = ("name", "tool", "tool_name", "action", "function")
_GIVEN: Final = ("arguments", "action_input", "tool_input", "tool_args", "parameters")
_SAID: Final = frozenset(["final answer", "final_answer", "none", "finish", "respond", "final"])
"""What ReAct writes for the name of a tool where it calls none."""
_DETAIL: Final = "a call is written out in what a model said, and no call was read from it"


def gaps_of_written_calls(evidence: Evidence) -> Found:
    """Turns that hide a call in their text."""
    rows = _candidates(evidence)
    if not len(rows):
        return
    steps, run = evidence.steps, evidence.steps.column("run").to_numpy()
    shown = _shown(evidence)
    texts = steps.column("output").take(pa.array(rows)).to_pylist()
    tools = _tools(evidence, np.unique(run[rows]))
    hidden = []
    for row, text in zip(rows.tolist(), texts, strict=True):
        number = int(run[row])
        if number in shown:
            continue
        known = tools.get(number, set())
        said = list(_said(text))
        called = {name for each in said for name in written_calls(each, objects=not known)}
        if called and not called <= known:
            hidden.append(row)
    for number, position in places(steps, np.array(hidden, dtype=np.int64)):
        yield number, gap(GapName.TOOLS_NOT_OBSERVABLE, 1, position, _DETAIL)


def written_calls(text: str, *, objects: bool = True) -> set[str]:
    """Return the names of the calls that a text writes out; an empty one where it names none.

    `objects`: whether one may be an object that is the whole text.
    """
    whole = _FENCED.match(text)
    names = set(_of_object(parsed(whole[1] if whole else text)))
    if names:
        return names if objects else set()
    bare = _QUOTED.sub("", text)
    for pattern in WRITTEN[:7] + WRITTEN[8:]:
        for found in pattern.finditer(bare):
            names.add((found[1] or "") if pattern.groups else "")
    if WRITTEN[7].search(text):
        names.add("")
    return {name for name in names if name.lower() not in _SAID and name not in _HTML}


_HTML: Final = frozenset(
    [
        *("p", "b", "i", "a", "u", "s", "ul", "ol", "li", "em", "tr", "td", "th", "div", "pre"),
        *("code", "span", "table", "thead", "tbody", "strong", "details", "summary", "html"),
        *("blockquote", "section", "article", "body", "head", "svg", "dl", "dt", "dd"),
        *("think", "thinking", "answer", "response", "output", "result", "example"),
    ]
)


def _of_object(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        inner = item.get("function") if isinstance(item, dict) else None
        call = inner if isinstance(inner, dict) else item
        if isinstance(call, dict) and not call.keys().isdisjoint(_GIVEN):
            yield from (call[key] for key in _NAMES if isinstance(call.get(key), str))


def _candidates(evidence: Evidence) -> Ints:
    """Rows of model steps with a text that may hold a mark, and without any call that was read."""
    steps = evidence.steps
    model = pc.equal(steps.column("operation").combine_chunks(), Operation.LLM.value)
    rows = np.flatnonzero(model.to_numpy(zero_copy_only=False))
    said = steps.column("output").combine_chunks().take(pa.array(rows))
    looks = pc.match_substring_regex(said, _LOOK).fill_null(False)
    rows = rows[looks.to_numpy(zero_copy_only=False)]
    said = steps.column("output").combine_chunks().take(pa.array(rows))
    read = pc.match_substring(said, _READ).fill_null(False)
    found: Ints = rows[~read.to_numpy(zero_copy_only=False)]
    return found


def _shown(evidence: Evidence) -> set[int]:
    """Runs of which a call would have a span of its own, beside those made of transcripts."""
    columns, run = evidence.columns, evidence.run
    ours = pc.equal(columns.array("source"), SCOPE_NAME).fill_null(False)
    shows = (columns.operation == TOOL) | showing(columns) | ours.to_numpy(zero_copy_only=False)
    return set(np.unique(run[shows & ~columns.transcribed & (run != NONE)]).tolist())


def _tools(evidence: Evidence, runs: Ints) -> dict[int, set[str]]:
    """Names of the tools that the steps of these runs have."""
    steps = evidence.steps
    run = steps.column("run").to_numpy()
    rows = pa.array(np.flatnonzero(np.isin(run, runs)))
    found: dict[int, set[str]] = {}
    for name in ("tool", "tool_alias"):
        tools = steps.column(name).take(rows).to_pylist()
        for number, tool in zip(run[rows.to_numpy()].tolist(), tools, strict=True):
            if tool is not None:
                found.setdefault(number, set()).add(tool)
    return found


def _said(text: str) -> Iterator[str]:
    messages = parsed(text)
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") in ("assistant", None):
            for part in message.get("parts") or ():
                if isinstance(part, dict) and part.get("type") == "text":
                    content = part.get("content")
                    if isinstance(content, str):
                        yield content
