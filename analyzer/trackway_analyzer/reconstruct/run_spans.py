"""What a run's own spans say: what it was asked, what it said last, how it was judged.

1. The heads of a run are its agent and workflow spans below no other: one as a rule, one a trace in
   a conversation or a resumed run.
2. What `trackway.*` attributes of the run say stands, of several spans the last word.
3. Input: what the heads recorded, each text once; else what users said to the models that run in no
   tool and in no agent but the first of a trace. Messages count as their users' texts. Of what the
   first model was told, that is what stands behind the last word of the assistant: what is before
   belongs to earlier runs.
4. Final text: what the head that ended last recorded as its output; else what a model that runs in
   no tool said last without asking for a call; else the output of the agent right below a head
   that ended last, which may answer through a tool. Of a dialogue, what the assistant said at its
   end; of a stream, what its pieces say together (`spoken`). Output that is a JSON object is an
   answer only if nothing else is there: frameworks record their whole state as output. A text that
   the recorder was given after the run's end (`trackway.after_end`) comes before all that.
5. Said: what the heads of other traces answered that ended before, in that order.
6. Error: that of the head that ended last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from trackway.schema import SCOPE_NAME, Trackway
from trackway_analyzer.json_text import canonical, parsed
from trackway_analyzer.model import JsonValue
from trackway_analyzer.reconstruct.columns import LLM, NONE, TOOL, Ints, SpanColumns, paired
from trackway_analyzer.reconstruct.drafts import Drafts
from trackway_analyzer.reconstruct.messages import (
    ASSISTANT,
    Answer,
    Item,
    Messages,
    Request,
    Text,
)
from trackway_analyzer.reconstruct.spoken import STREAMED, spoken

ATTRIBUTES: Final = {
    "final_action": Trackway.FINAL_ACTION,
    "final_arguments": Trackway.FINAL_ARGUMENTS,
    "outcome_success": Trackway.OUTCOME_SUCCESS,
    "outcome_label": Trackway.OUTCOME_LABEL,
    "outcome_failure_mode": Trackway.OUTCOME_FAILURE_MODE,
    "outcome_censored": Trackway.OUTCOME_CENSORED,
    "outcome_state": Trackway.OUTCOME_STATE,
    "deadline": Trackway.DEADLINE,
    "fingerprint": Trackway.FINGERPRINT,
}
"""Column of the runs table to the attribute that it comes from."""
_COLUMN_OF: Final = {key: column for column, key in ATTRIBUTES.items()}
_COLUMNS: Final = _COLUMN_OF.keys()
_PARTS: Final = f"{Trackway.FINGERPRINT}."
_AFTER_END: Final = f'"{Trackway.AFTER_END}":'.replace(".", r"\.")


@dataclass(slots=True)
class RunSpans:
    """What the spans of a run say about the run. Missing is None."""

    attributes: dict[str, JsonValue] = field(default_factory=dict)
    input: str | None = None
    said: list[str] = field(default_factory=list)
    final_text: str | None = None
    error_type: str | None = None
    error_message: str | None = None


def run_spans_of(
    drafts: Drafts,
    run: Ints,
    heads: Ints,
    above: Ints,
    rank: Ints,
    count: int,
    messages: Messages,
) -> list[RunSpans]:
    """Read the spans of each run.

    `heads` are sorted by run and start; `above` is the nearest step or agent of each row.
    """
    spans = [RunSpans() for _ in range(count)]
    columns = drafts.columns
    _read_attributes(columns, run, rank, spans)
    fallback = _read_heads(columns, run, heads, spans, messages)
    _read_models(drafts, heads, spans, messages)
    _read_agents(columns, run, np.flatnonzero(np.isin(above, heads)), spans, messages)
    for number, text in fallback.items():
        if spans[number].final_text is None:
            spans[number].final_text = text
    late = said_after_end(columns)
    late = late[np.lexsort((rank[late], columns.start[late]))]
    for row, text in zip(late.tolist(), columns.values("output", late), strict=True):
        if text is not None and run[row] != NONE:
            spans[int(run[row])].final_text = text
    return spans


def said_after_end(columns: SpanColumns) -> Ints:
    """Return the rows that only say something of a run that had ended."""
    return columns.naming(_AFTER_END)


def _read_attributes(columns: SpanColumns, run: Ints, rank: Ints, spans: list[RunSpans]) -> None:
    rows = columns.ours
    rows = rows[(run[rows] != NONE) & ~columns.is_step[rows]]
    rows = rows[np.lexsort((rank[rows], columns.start[rows], run[rows]))]
    for row, text in zip(rows.tolist(), columns.values("attributes", rows), strict=True):
        value = parsed(text)
        if not isinstance(value, dict):
            continue
        known = spans[int(run[row])].attributes
        known.update((key, item) for key, item in value.items() if key.startswith("trackway."))


def _read_heads(
    columns: SpanColumns, run: Ints, heads: Ints, spans: list[RunSpans], messages: Messages
) -> dict[int, str]:
    """Take input, output and error from the heads; return output that is no plain answer."""
    names = ("source", "input", "output", "error_type", "error_message", "attributes")
    asked: dict[int, dict[str, None]] = defaultdict(dict)
    weak: dict[int, str] = {}
    ended: dict[int, int] = {}
    answered: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    failed, end = columns.failed, columns.end
    values = zip(heads.tolist(), *(columns.values(name, heads) for name in names), strict=True)
    for row, source, told, output, error_type, error_message, attributes in values:
        number = int(run[row])
        streamed = output is not None and source == SCOPE_NAME and STREAMED in (attributes or "")
        said = spoken(output) if streamed else output
        span = spans[number]
        for text in _texts(told, source, messages, user=True):
            asked[number][text] = None
        answers = list(_texts(said, source, messages, user=False))
        last = number not in ended or end[row] >= ended[number]
        if answers:
            answered[number].append((int(end[row]), int(columns.trace[row]), answers[-1]))
        if answers and last:
            span.final_text = answers[-1]
        elif said is not None and said != "null" and not messages.read(said):
            weak[number] = said
        if last:
            ended[number] = int(end[row])
            span.error_type = error_type
            span.error_message = error_message if failed[row] else None
    for number, texts in asked.items():
        spans[number].input = "\n".join(texts)
    for number, said_by in answered.items():
        *before, (_, trace, _) = sorted(said_by, key=lambda answer: answer[0])
        spans[number].said = [text for _, other, text in before if other != trace]
    return weak


def _read_agents(
    columns: SpanColumns, run: Ints, below: Ints, spans: list[RunSpans], messages: Messages
) -> None:
    """Take the last words of agents right below heads, where neither heads nor models have any."""
    silent = np.array([span.final_text is None for span in spans], dtype=bool)
    rows = below[columns.is_agent[below] & (run[below] != NONE)]
    rows = rows[silent[run[rows]]]
    rows = rows[np.argsort(columns.end[rows], kind="stable")]
    sources, outputs = (columns.values(name, rows) for name in ("source", "output"))
    for number, source, said in zip(run[rows].tolist(), sources, outputs, strict=True):
        for text in _texts(said, source, messages, user=False):
            spans[number].final_text = text


def _texts(
    value: str | None, source: str | None, messages: Messages, *, user: bool
) -> Iterator[str]:
    """Yield what a head's input or output says in plain words."""
    if value is None or value == "null":
        return
    if source == SCOPE_NAME:
        yield value
        return
    items = messages.read(value)
    if items:
        yield from _user_texts(items) if user else _last_words(items)
    elif value[:1] == '"':
        plain = parsed(value)
        yield plain if isinstance(plain, str) else value
    elif value[:1] not in "{[":
        yield value


def _user_texts(items: list[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Text) and item.role == "user"]


def _last_words(items: list[Item]) -> list[str]:
    """Return what the assistant said at the very end, after every call and answer."""
    words: list[str] = []
    for item in reversed(items):
        if not isinstance(item, Text) or item.role not in ASSISTANT:
            break
        words.append(item.text)
    return ["\n".join(reversed(words))] if words else []


def _read_models(drafts: Drafts, heads: Ints, spans: list[RunSpans], messages: Messages) -> None:
    """Take what models were told and said, where the heads say nothing."""
    models = np.flatnonzero(drafts.operation == LLM)
    inside = drafts.inside[models]
    models = models[(inside == NONE) | (drafts.operation[inside] != TOOL)]
    models = models[~drafts.outside[models]]
    silent = np.array([span.final_text is None for span in spans], dtype=bool)
    unasked = np.array([span.input is None for span in spans], dtype=bool)
    if not len(models):
        return
    answering = models[silent[drafts.run[models]]]
    outputs = drafts.texts("output", answering).to_pylist()
    for entry, output in zip(reversed(answering.tolist()), reversed(outputs), strict=True):
        span = spans[int(drafts.run[entry])]
        if span.final_text is None and output is not None:
            items = messages.said(output)
            span.final_text = None if _asks(items) else next(iter(_last_words(items)), None)
    told = models[unasked[drafts.run[models]]]
    told = _of_heads(drafts, told, heads)
    known: dict[int, set[str]] = {}
    asked: dict[int, list[str]] = defaultdict(list)
    texts = drafts.texts("input", told).to_pylist()
    for number, text in zip(drafts.run[told].tolist(), texts, strict=True):
        items = messages.read(text) if text is not None else []
        said = _user_texts(items)
        if number not in known and said:
            known[number] = set(said)
            asked[number] = list(dict.fromkeys(_user_texts(_behind_the_assistant(items))))
        elif said:
            asked[number] += [new for new in dict.fromkeys(said) if new not in known[number]]
            known[number].update(said)
    for number, parts in asked.items():
        spans[number].input = "\n".join(parts)


def _asks(items: list[Item]) -> bool:
    """Tell whether somebody has yet to carry out a call."""
    answered = {item.id for item in items if isinstance(item, Answer)}
    asked = (item for item in items if isinstance(item, Request) and not item.by_provider)
    return any(item.id is None or item.id not in answered for item in asked)


def _of_heads(drafts: Drafts, models: Ints, heads: Ints) -> Ints:
    """Leave out models of agents below a head, and in each trace all but the first agent's.

    What the agent that was asked tells the next one is no word of the user's.
    """
    direct = (drafts.scope[models] == NONE) | np.isin(drafts.scope[models], heads)
    without = ~np.isin(drafts.run[models], np.unique(drafts.run[models[direct]]))
    models = models[direct | without]
    exchange = paired(drafts.run[models], drafts.columns.trace[drafts.row[models]])
    _, first, of = np.unique(exchange, return_index=True, return_inverse=True)
    scope = drafts.scope[models]
    kept: Ints = models[scope == scope[first][of]]
    return kept


def _behind_the_assistant(items: list[Item]) -> list[Item]:
    """Return what was said since the assistant's last word, else the user's last word."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if not isinstance(item, Text) or item.role in ASSISTANT:
            behind = items[place + 1 :]
            return behind if _user_texts(behind) else _last_said(items[:place])
    return items


def _last_said(items: list[Item]) -> list[Item]:
    """Return the last text of a user."""
    return next(([i] for i in reversed(items) if isinstance(i, Text) and i.role == "user"), [])


def attribute_columns(spans: list[RunSpans]) -> dict[str, list[Any]]:
    """Return the columns of the runs table that come from attributes of the run."""
    columns: dict[str, list[Any]] = {name: [None] * len(spans) for name in ATTRIBUTES}
    for number, span in enumerate(spans):
        for name in _COLUMNS & span.attributes.keys():
            column, value = _COLUMN_OF[name], span.attributes[name]
            columns[column][number] = _fitting(column, value)
        if any(key.startswith(_PARTS) for key in span.attributes):
            parts = {
                key.removeprefix(_PARTS): value
                for key, value in span.attributes.items()
                if key.startswith(_PARTS)
            }
            columns["fingerprint"][number] = canonical(parts)
    return columns


def _fitting(column: str, value: JsonValue) -> JsonValue:
    if column in ("outcome_success", "outcome_censored"):
        return value if isinstance(value, bool) else None
    return value if isinstance(value, str) or value is None else canonical(value)
