"""What is recorded of a value: `Capture`, the policy that `configure()` makes once.

1. A value becomes canonical JSON text (`text.py`): the same value, the same text, on any machine.
2. It is redacted first, then measured, then cut: no limit cuts a secret in two.
3. The digest is of the redacted value. It is given where the text does not hold everything:
   `sha256:` covers the whole value; `sha256-partial:` covers what was looked at and the counts of
   what was not (see `encode.py` for how much that is).
4. With content off nothing but the digest remains, as `hmac-sha256:` (or `hmac-sha256-partial:`)
   under `TRACKWAY_HASH_KEY`: a plain hash of a short value can be undone. Without that variable the
   key is one of the process, and digests of two processes cannot be compared.
5. Nothing here raises, whatever it is given: a fault costs the value, is counted, and the text says
   so. The work is bounded by the limits, not by the size of the value.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from trackway.capture.encode import Tree, tree_of
from trackway.capture.errors import record_capture_error
from trackway.capture.leaves import SHORTEST_MEDIA
from trackway.capture.limits import Limits, chars_marker, cut
from trackway.capture.plain import EVERY_KEY_SAFE, is_plain
from trackway.capture.redact import DEFAULT_REDACTOR, KEY_NAME_MARKER, Redactor
from trackway.capture.refs import identifiers
from trackway.capture.screen import SEARCHED
from trackway.capture.search import Work
from trackway.capture.text import encodable, json_text, quoted
from trackway.faults import goes_on

_PROCESS_KEY: Final = os.urandom(32)
_FAILED: Final = '"[capture failed]"'
_TEXT_TAIL_SHARE: Final = 4
_HEAD: Final = 4096
"""Characters of a long text that are looked at before the whole is."""
_NO_NAMES: Final[frozenset[str]] = frozenset()

_ID_DIGITS: Final = 12
_NAMES_KEPT: Final = 1024
_LONGEST_NAME_KEPT: Final = 256


class Captured(NamedTuple):
    """What is recorded of one value."""

    text: str | None
    """Canonical JSON, always valid and within the limits; None when content is off."""
    truncated: bool = False
    """The text does not hold the whole value."""
    redacted: bool = False
    """A secret was taken out."""
    digest: str | None = None
    """`sha256:<hex>` and its kin (see the module); None where `text` is the whole value."""


class Capture:
    """A frozen policy: limits, redactor (None: no redaction at all), content on or off."""

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        redactor: Redactor | None = DEFAULT_REDACTOR,
        content: bool = True,
        hash_key: bytes | None = None,
    ) -> None:
        self.limits: Final = limits
        self.redactor: Final = redactor
        self.content: Final = content
        key = hash_key or os.environ.get("TRACKWAY_HASH_KEY", "").encode() or _PROCESS_KEY
        self._hash_key: Final = key
        self._keys: Final = redactor or EVERY_KEY_SAFE
        # With patterns or hooks of the user every string must be looked at by itself.
        self._in_one_go: Final = redactor is None or not redactor.custom
        self._work: Final = limits.work
        self._depth: Final = limits.depth
        self._names: Final[dict[str, str]] = {}
        self._whole_bytes: Final = limits.value_bytes if content else -1

    def arguments(
        self, values: Mapping[str, object], exempt: frozenset[str] = _NO_NAMES
    ) -> Captured:
        """Return the arguments of a call as a JSON object.

        `exempt` names the arguments (or paths into them, as `entity_refs` takes them) whose values
        identify entities: patterns do not apply to them, denied names do.
        """
        return self.value(values, exempt)

    def value(self, value: object, exempt: frozenset[str] = _NO_NAMES) -> Captured:
        """Return a result, input or output as JSON; `exempt` are paths as in `arguments`."""
        try:
            if self._in_one_go and self._may_be_clean(value):
                text = quoted(value) if type(value) is str else json_text(value)
                raw = text.encode()
                if len(raw) > SHORTEST_MEDIA and ";base64," in text:
                    return self._carefully(value, exempt)
                # Of a long text it is known by now.
                if self.redactor is None or _is_long(value) or self.redactor.clean_json(text, raw):
                    if len(raw) <= self._whole_bytes:
                        return Captured(text)
                    return self._finish(value, text, raw, partial=False, redacted=False)
        except (ValueError, TypeError, RuntimeError):
            pass  # NaN, a lone surrogate, too deep, or another thread at work on the value
        return self._carefully(value, exempt)

    def _may_be_clean(self, value: object) -> bool:
        """Whether it is worth it to write the whole value before it is searched for secrets."""
        if type(value) is str and len(value) > self._work:
            return False
        if not is_plain(value, self._work, self._depth, self._keys):
            return False
        if self.redactor is None or type(value) is not str or len(value) <= SEARCHED:
            return True
        # A long text is not written whole for nothing: its kinds of characters tell most, and those
        # of its head often enough.
        if ":" in value or "=" in value or self.redactor.suspects(value[:_HEAD], Work(0)):
            return False
        return not self.redactor.suspects(value)

    def name(self, text: str) -> str:
        """Return a name without secrets; those that were asked about are remembered."""
        known = self._names.get(text)
        if known is None:
            known = self.text(text)
            if len(self._names) >= _NAMES_KEPT:
                self._names.clear()
            if len(text) <= _LONGEST_NAME_KEPT:
                self._names[text] = known
        return known

    def id_text(self, text: str, name: str = "") -> str:
        """Return an id without secrets; two that differ stay two, by a keyed hash behind them.

        One of digits alone stays as it is: it may look like the number of a card, and is an id.
        Under a denied `name` nothing of it is given out but the hash.
        """
        if self.redactor is not None and name and self.redactor.withholds(name, text):
            clean = KEY_NAME_MARKER
        else:
            clean = text if text.isdigit() or self._is_plain_id(text) else self.text(text)
        if clean == text or self.redactor is None:
            return clean
        digest = hmac.digest(self._hash_key, text.encode("utf-8", "surrogatepass"), "sha256")
        return f"{clean}#{digest.hex()[:_ID_DIGITS]}"

    def _is_plain_id(self, text: str) -> bool:
        """Whether a quick look finds nothing to do; most ids are like that."""
        return (
            self.redactor is not None
            and len(text) <= _LONGEST_NAME_KEPT
            and text.isascii()
            and not self.redactor.suspects(text)
        )

    def text(self, text: str) -> str:
        """Return an exception message or a stack trace, redacted and cut to the limit of a value.

        A text that is too long keeps its beginning and its end, which names the error.
        """
        try:
            return self._text(text)
        except Exception as error:  # it stands in the user's own error handling
            if goes_on(error):
                raise
            record_capture_error("capture.text", error)
            return "[capture failed]"

    def _carefully(self, value: object, exempt: frozenset[str]) -> Captured:
        """Return any value, piece by piece."""
        try:
            known = identifiers(value, exempt, self.redactor) if exempt else {}
            return self._tree(tree_of(value, self.limits, self.redactor, known))
        except Exception as error:  # capture must not break the call it records
            if goes_on(error):
                raise
            record_capture_error("capture.value", error)
            return Captured(_FAILED if self.content else None, truncated=True)

    def _tree(self, tree: Tree) -> Captured:
        root = tree.root
        text = quoted(root) if isinstance(root, str) else json_text(root)
        raw = text.encode()
        tail = json_text(tree.unrecorded).encode() if tree.unrecorded else b""
        if self.content and len(raw) <= self.limits.value_bytes and not tree.cut:
            return Captured(text, redacted=tree.redacted)
        return self._finish(tree.root, text, raw + tail, tree.cut, tree.redacted)

    def _finish(
        self, root: Any, text: str, hashed: bytes, partial: bool, redacted: bool
    ) -> Captured:
        suffix = "-partial" if partial else ""
        if not self.content:
            digest = hmac.digest(self._hash_key, hashed, "sha256").hex()
            return Captured(None, False, redacted, f"hmac-sha256{suffix}:{digest}")
        digest = f"sha256{suffix}:{hashlib.sha256(hashed).hexdigest()}"
        room = self.limits.value_bytes
        while len(text.encode()) > self.limits.value_bytes:
            text = json_text(cut(root, room))
            room -= max(16, room // 16)
        return Captured(text, True, redacted, digest)

    def _text(self, text: str) -> str:
        text = str.__str__(text)
        limit = self.limits.value_bytes
        tree = tree_of(text, self.limits, self.redactor)
        clean = tree.root if isinstance(tree.root, str) else ""
        if len(clean.encode()) <= limit:
            return clean
        return _cut_middle(clean, limit)


def _is_long(value: object) -> bool:
    return type(value) is str and len(value) > SEARCHED


def _cut_middle(text: str, limit: int) -> str:
    """Cut a text to `limit` bytes: three quarters from its beginning, the rest from its end."""
    room = limit - len(chars_marker(len(text)).encode()) - 2
    tail_bytes = room // _TEXT_TAIL_SHARE
    raw = text.encode()
    head = raw[: room - tail_bytes].decode("utf-8", "ignore")
    tail = raw[len(raw) - tail_bytes :].decode("utf-8", "ignore")
    marker = chars_marker(len(text) - len(head) - len(tail))
    return encodable(f"{head}{marker}\n{tail}")
