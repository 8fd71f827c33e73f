"""Spans go to any object store that pyarrow or fsspec reaches, and are compacted there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow.fs as pafs
import pytest
from moto.server import ThreadedMotoServer

from sdk.export.refunds import spans_of
from trackway.export.parquet import ParquetSpanExporter, compact
from trackway.export.parquet.store import open_store


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The URL of a bucket on a local S3 server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        server.start()
        host, port = server.get_host_and_port()
        endpoint = f"{host}:{port}"
        pafs.S3FileSystem(
            endpoint_override=endpoint,
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        ).create_dir("traces")
        yield f"s3://traces/{{}}?endpoint_override={endpoint}&scheme=http&region=us-east-1"
        server.stop()


@pytest.fixture(params=["s3", "memory"])
def url(request: pytest.FixtureRequest) -> str:
    folder = uuid4().hex
    if request.param == "memory":  # fsspec's, which pyarrow does not know
        return f"memory://{folder}"
    return str(request.getfixturevalue("s3")).format(folder)


def names_in(url: str) -> list[str]:
    return [file.name for file in open_store(url).files(".parquet")]


def test_spans_are_written_and_compacted(url: str, tmp_path: Path) -> None:
    exporter = ParquetSpanExporter(url, spool=tmp_path)
    for run in range(3):
        exporter.export(spans_of([str(run)]))
        assert exporter.force_flush()
    exporter.shutdown()
    names = names_in(url)
    assert len(names) == 3
    assert all(name.startswith("date=2026-01-01/service=refunds/") for name in names)
    assert compact(url).spans == 6
    assert len(names_in(url)) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_url_has_its_spool_in_the_state_folder(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRACKWAY_SPOOL_DIR", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    exporter = ParquetSpanExporter(url)
    exporter.export(spans_of())
    assert len(list(tmp_path.glob("trackway/parquet-*/*.spool"))) == 1
    exporter.shutdown()


def test_an_unknown_url_is_refused() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        ParquetSpanExporter("nowhere://bucket")
