"""Answers of stores that say of themselves that they are not all: what is missing may be anything.

1. An answer that says that it is partial (`status: PARTIAL` of Tempo), that names errors beside its
   traces (Jaeger, ClickHouse), or that more rows were found than it holds, is partial.
2. An answer that names the page behind it is partial while that page is not in the source: pages
   with numbers by their numbers, one whose mark is the id of the next page's first item (Phoenix)
   by that id. Any other mark says nothing that could be found again: join such pages to one list.
3. Only what stands beside the traces counts, not what stands in them.
4. An answer that holds a list of no traces, and an empty list, is whole, and empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trackway_analyzer.read.quarantine import Quarantine, Reason

_OF_ONE_TRACE: Final = "observations"
_TRACES: Final = (
    *("data", "traces", "trace", "batches", "resourceSpans", "resource_spans", "spans", "result"),
    _OF_ONE_TRACE,
)
"""What an answer holds its traces under."""
_MARKS: Final = (
    *("next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken"),
    *("has_more", "hasMore"),
)
_MARKS_BELOW: Final = (*_MARKS, "cursor", "next")
_BELOW: Final = ("meta", "metadata", "pagination", "page_info", "pageInfo", "cursors")
_ERRORS: Final = ("errors", "error", "exception")
_SHOWN: Final = 80


def is_empty_answer(document: Any) -> bool:
    """Tell whether a document is a list of no traces, bare or in an answer."""
    if isinstance(document, dict):
        return any(document.get(name) == [] for name in _TRACES if name != _OF_ONE_TRACE)
    return isinstance(document, list) and not document


_Pages = tuple[int, Any, Any]
"""Pages of one answer: how many there are, of how many items, and how many on each."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A page that names one behind it."""

    quarantine: Quarantine
    offset: int | None
    detail: str
    mark: str = ""
    pages: _Pages | None = None


class PartialAnswers:
    """Keeps what the answers of one source say of what they lack."""

    def __init__(self) -> None:
        self._open: list[_Page] = []
        self._first_ids: set[str] = set()
        self._numbers: defaultdict[_Pages, set[int]] = defaultdict(set)

    def look(self, document: Any, quarantine: Quarantine, offset: int | None) -> None:
        """Put aside what a document says that it lacks; keep what a later one may bring."""
        for answer in document if isinstance(document, list) else (document,):
            if isinstance(answer, dict) and not answer.keys().isdisjoint(_TRACES):
                self._look(answer, quarantine, offset)

    def _look(self, answer: dict[str, Any], quarantine: Quarantine, offset: int | None) -> None:
        lacking = next(_lacking(answer), None)
        if lacking is not None:
            quarantine.add(Reason.PARTIAL_ANSWER, f"an answer that is not whole: {lacking}", offset)
        items = answer.get("data")
        head = items[0] if isinstance(items, list) and items else None
        if isinstance(head, dict) and isinstance(head.get("id"), str):
            self._first_ids.add(head["id"])
        for about in (answer, *(answer.get(name) for name in _BELOW)):
            if isinstance(about, dict):
                self._look_for_more(about, about is not answer, quarantine, offset)

    def _look_for_more(
        self, about: Mapping[str, Any], below: bool, quarantine: Quarantine, offset: int | None
    ) -> None:
        page, of = _number(about, "page"), _number(about, "totalPages", "total_pages")
        if page is not None and of is not None:
            pages = (of, about.get("totalItems"), about.get("limit"))
            self._numbers[pages].add(page)
            detail = f"page {page} of {of}, and the others are not in the source: fetch them too"
            self._open.append(_Page(quarantine, offset, detail, pages=pages))
            return
        for name in _MARKS_BELOW if below else _MARKS:
            mark = about.get(name)
            if mark is True or (isinstance(mark, str) and mark):
                detail = f"an answer with more behind it ({name}): fetch all, and join the pages"
                self._open.append(_Page(quarantine, offset, detail, mark=str(mark)))
                return

    def unanswered(self) -> Iterator[Quarantine]:
        """Put aside the pages behind which the source holds no other; return who took them."""
        for page in self._open:
            if page.pages is None:
                known = page.mark in self._first_ids
            else:
                known = self._numbers[page.pages] >= set(range(1, page.pages[0] + 1))
            if not known:
                page.quarantine.add(Reason.PARTIAL_ANSWER, page.detail, page.offset)
                yield page.quarantine
        self._open.clear()


def _lacking(answer: Mapping[str, Any]) -> Iterator[str]:
    status = answer.get("status")
    if isinstance(status, str) and status.upper().rpartition("_")[2] == "PARTIAL":
        said = answer.get("message")
        yield f"status {status}: {str(said)[:_SHOWN]}" if said else f"status {status}"
    for name in _ERRORS:
        if answer.get(name):
            yield f"{name}: {str(answer[name])[:_SHOWN]}"
    found, given = _number(answer, "rows_before_limit_at_least"), _number(answer, "rows")
    if found is not None and given is not None and found > given:
        yield f"{given} of {found} rows"


def _number(about: Mapping[str, Any], *names: str) -> int | None:
    found = next((about[name] for name in names if name in about), None)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
