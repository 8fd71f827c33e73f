"""`.eval` archives: a zip of Inspect, a JSON document for each sample and one for the eval.

A member is read within the bounds of any document; one that unpacks to more is put aside, and so is
one that is damaged or packed in a way that this Python does not know.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from trackway_analyzer.read.byte_stream import FREE_BYTES, MAX_RATIO
from trackway_analyzer.read.json_documents import MAX_DOCUMENT, document_of
from trackway_analyzer.read.quarantine import Quarantine, Reason
from trackway_analyzer.read.transcripts.inspect_log import PLACE, missing_samples, note_missing

_ABOUT: Final = ("header.json", "_journal/start.json")
_SAMPLES: Final = "samples/"
_SUMMARIES: Final = "summaries.json"
_MARKS: Final = (b"samples/", b"_journal/", b"header.json")
_HEAD: Final = 65_536
# What `zipfile` raises where members are not at the places, under the names or as long as listed.
_BROKEN: Final = (
    zipfile.BadZipFile,
    EOFError,
    ValueError,
    OSError,
    struct.error,
)


def eval_documents(file: BinaryIO, quarantine: Quarantine) -> Iterator[dict[str, Any]]:
    """Return a log for each sample of an archive, in the form of a JSON log with one sample."""
    try:
        archive = zipfile.ZipFile(file)
    except NotImplementedError as error:
        quarantine.add(Reason.UNREADABLE, f"an archive that cannot be unpacked: {error}")
        return
    except _BROKEN as error:
        # The list of members stands at the end: an archive that was cut has none.
        file.seek(0)
        head = file.read(_HEAD)
        cut = any(mark in head for mark in _MARKS)
        reason = Reason.TRUNCATED_FILE if cut else Reason.NOT_A_TRACE
        quarantine.add(reason, f"no readable archive: {error}")
        return
    with archive:
        yield from _documents(archive, quarantine)


def _documents(archive: zipfile.ZipFile, quarantine: Quarantine) -> Iterator[dict[str, Any]]:
    members = {info.filename: info for info in archive.infolist()}
    about: dict[str, Any] = {}
    header: dict[str, Any] = {}
    for name in _ABOUT:
        found = _loaded(archive, members[name], quarantine) if name in members else None
        if isinstance(found, dict) and isinstance(found.get("eval"), dict):
            header = found
            about = {key: found.get(key) for key in ("version", "eval")}
            break
    if not about:
        detail = "a zip archive that is no Inspect log: unpack it, and give the folder"
        quarantine.add(Reason.UNREADABLE, detail)
        return
    samples = [name for name in members if name.startswith(_SAMPLES) and name.endswith(".json")]
    if not samples:
        yield about
        return
    for place, name in enumerate(sorted(samples)):
        sample = _loaded(archive, members[name], quarantine)
        if sample is not None:
            placed = {**sample, PLACE: place} if isinstance(sample, dict) else sample
            yield about | {"samples": [placed]}
    listed = _loaded(archive, members[_SUMMARIES], quarantine) if _SUMMARIES in members else None
    count = len(listed) if isinstance(listed, list) else 0
    missing = missing_samples(header, len(samples), count)
    if missing:
        note_missing(quarantine, missing)


def _loaded(archive: zipfile.ZipFile, member: zipfile.ZipInfo, quarantine: Quarantine) -> Any:
    """Return the document of a member; None where it could not be read."""
    bound = min(MAX_DOCUMENT, max(FREE_BYTES, MAX_RATIO * member.compress_size))
    try:
        with archive.open(member) as stream:
            body = stream.read(bound + 1)
    except (*_BROKEN, zlib.error) as error:
        quarantine.add(Reason.BROKEN_COMPRESSION, f"a damaged member of the archive: {error}")
        return None
    except (NotImplementedError, RuntimeError) as error:
        quarantine.add(Reason.UNREADABLE, f"a member that cannot be unpacked: {error}")
        return None
    if len(body) > bound:
        detail = f"a member of the archive of more than {bound} bytes"
        quarantine.add(Reason.DECOMPRESSION_RATIO, detail)
        return None
    return next((document for _, document in document_of(body, quarantine, 0)), None)
