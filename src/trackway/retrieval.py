"""A retrieval: what was asked, and which documents came back, in which order.

1. The query is the argument called `query` or `question`, else the first text among the arguments.
2. A document is read by shape: id, score, and a hash of its content, with its rank from 1; a pair
   `(document, score)` is understood. A result that is no list has no documents, only an output.
3. What a document does not tell is absent. Documents beyond 256 are not listed.
4. The hash is of up to 32 K characters whole, of more their length and 4 K from either end
   (`sha256-partial:`). Where half a million characters were hashed, later documents have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from trackway.binding import Binder
from trackway.capture import Capture
from trackway.fields import either, get, is_a, is_list, items_of, length_of, text_of
from trackway.plans import Request, StepPlan
from trackway.recording import Recorder, put
from trackway.schema import GenAI, Trackway
from trackway.spans import Live

_MAX_DOCUMENTS: Final = 256
_WHOLE: Final = 32_768
_END: Final = 4_096
_HASHED: Final = 1 << 19
_IDS: Final = ("id", "doc_id", "document_id", "node_id", "id_")
_NUMBERS: Final = (int, float)
_SCORES: Final = ("score", "similarity", "distance", "relevance_score")
_CONTENTS: Final = ("content", "page_content", "text", "body")


class RetrieverPlan(StepPlan):
    """A retrieval by a function of the user's."""

    operation_name = "retrieval"
    input_key, input_field = Trackway.INPUT, "input"
    output_key, output_field = Trackway.OUTPUT, "output"

    def __init__(self, name: str, bind: Binder) -> None:
        super().__init__(name, bind, {})

    def read(
        self, recorder: Recorder, arguments: dict[str, Any], attributes: dict[str, Any]
    ) -> Request:
        """Read the query."""
        query = _query(arguments)
        if query is not None and recorder.capture.content:
            attributes[GenAI.RETRIEVAL_QUERY] = recorder.capture.text(query)
        return Request(recorder.capture.arguments(arguments))

    def result_attributes(self, live: Live, result: Any) -> dict[str, Any]:
        """Return the result, and its documents with their ranks."""
        attributes = super().result_attributes(live, result)
        if is_list(result):
            budget = _Budget(live.recorder.capture)
            documents = [
                _document(rank, item, budget)
                for rank, item in enumerate(items_of(result, _MAX_DOCUMENTS), start=1)
            ]
            listed = live.recorder.names.value(documents)
            put(attributes, GenAI.RETRIEVAL_DOCUMENTS, "documents", listed)
        return attributes


def _query(arguments: Mapping[str, Any]) -> str | None:
    for name in ("query", "question"):
        named = text_of(arguments.get(name))
        if named is not None:
            return named
    return next((text_of(value) for value in arguments.values() if is_a(value, str)), None)


class _Budget:
    """How much content of one result may still be hashed."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._left = _HASHED

    def hash_of(self, content: Any) -> str | None:
        """Return the hash of a document's content, redacted; None where there is none to give."""
        if content is None or self._left <= 0:
            return None
        text = text_of(content)
        partial = text is not None and len(text) > _WHOLE
        if text is not None and partial:
            content, text = [len(text), text[:_END], text[-_END:]], None
        captured = self._capture.value(content)
        self._left -= 2 * _END if text is None else len(text)
        if captured.digest is not None or captured.text is None:
            return captured.digest
        digest = hashlib.sha256(captured.text.encode("utf-8")).hexdigest()
        return f"sha256-partial:{digest}" if partial else digest


def _document(rank: int, item: Any, budget: _Budget) -> dict[str, Any]:
    score = None
    if is_a(item, tuple) and length_of(item) == 2 and is_a(tuple.__getitem__(item, 1), _NUMBERS):
        item, score = tuple.__iter__(item)
    scored, item = item, either(item, "node") or item  # LlamaIndex: a node beside its score
    metadata = get(item, "metadata")
    own_id = _first(item, _IDS)
    fields = {
        "rank": rank,
        "id": _first(metadata, _IDS) if own_id is None else own_id,
        "score": _first(scored, _SCORES) if score is None else score,
        "sha256": budget.hash_of(item if is_a(item, str) else _first(item, _CONTENTS)),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _first(holder: Any, names: tuple[str, ...]) -> Any:
    return next((found for name in names if (found := get(holder, name)) is not None), None)
