"""The fixed stream of tokens: prepared once from a corpus, cut into spans, read by step."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from audit.records import Quantity, Refusal, read_model, record_bytes, sha256_bytes, sha256_file, write_bytes
from rankcollapse.corpus import load_corpus
from rankcollapse.manifest import Span, Stream
from rankcollapse.vocabulary import Vocabulary, load_gpt2, read_vocabulary, train_bpe

SPANS = ("train", "probe", "unseen")
INDEX, TOKENS = "stream.json", "tokens.npy"
BLOCK = 2000  # documents encoded between two lines of progress
REPAIR = "prepare it again: dvc repro -f data"


def prepare_stream(
    out: Path,
    *,
    source: str,
    vocabulary: int,
    train: float,
    probe: float,
    unseen: float,
    documents: int | None = None,
    shards: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: print(line, flush=True),
) -> dict[str, Any]:
    """Write tokens, vocabulary and index into the folder `out`; return the manifest's fields."""
    fractions = check_fractions({"train": train, "probe": probe, "unseen": unseen})
    corpus = load_corpus(source, documents=documents, shards=shards)
    texts = corpus.documents
    say(f"data: {len(texts)} documents, {sum(map(len, texts))} characters of {source}")
    cuts = cut_documents(len(texts), list(fractions.values()))
    tokeniser = load_gpt2(vocabulary) if source == "fineweb-edu" else train_bpe(texts[: cuts[1]], vocabulary)
    say(f"data: vocabulary of {tokeniser.size} tokens" + ("" if source == "fineweb-edu" else ", trained on the training span"))
    tokens, ends = encode_documents(tokeniser, texts, say)
    spans = describe_spans(fractions, cuts, ends, [len(text) for text in texts])
    stream = write_stream(Path(out), tokens, tokeniser, spans)
    say(f"data: {len(tokens)} tokens in {Path(out) / TOKENS}")
    counts = {name: np.bincount(slice_span(tokens, spans[name]), minlength=tokeniser.size) for name in ("train", "probe")}
    return {
        "source": corpus.source,
        "stream": stream,
        "tokens": count(len(tokens), "tokens"),
        "documents": count(len(texts), "documents"),
        "characters": count(sum(map(len, texts)), "characters"),
        "vocabulary": count(tokeniser.size, "tokens"),
        "unigram_entropy": nats(compute_entropy(counts["train"])),
        "unigram_probe_loss": nats(compute_cross_entropy(counts["train"], counts["probe"])),
    }


def check_fractions(fractions: dict[str, float]) -> dict[str, float]:
    """Three positive shares that sum to 1."""
    if min(fractions.values()) <= 0 or abs(sum(fractions.values()) - 1) > 1e-9:
        observed = ", ".join(f"{name} {share}" for name, share in fractions.items())
        raise Refusal("data", "fractions do not divide the corpus", expected="positive shares that sum to 1", observed=observed)
    return fractions


def cut_documents(documents: int, fractions: list[float]) -> list[int]:
    """Document numbers at which spans start, and the end: nearest to the shares, each span at least one document."""
    cuts = [0] + [round(share * documents) for share in accumulate(fractions)]
    if any(stop <= start for start, stop in zip(cuts, cuts[1:])):
        observed = f"{documents} documents"
        raise Refusal(
            "data", "too few documents for these fractions", expected="a document in each span", observed=observed, cure="raise data.documents"
        )
    return cuts


def encode_documents(tokeniser: Vocabulary, texts: Sequence[str], say: Callable[[str], None]) -> tuple[np.ndarray, list[int]]:
    """All documents as one array, each closed by the end of text, and where each ends."""
    pieces, ends, total = [], [], 0
    for first in range(0, len(texts), BLOCK):
        for tokens in tokeniser.encode(texts[first : first + BLOCK]):
            pieces.append(np.asarray([*tokens, tokeniser.end_of_text], dtype=np.uint16))
            total += len(tokens) + 1
            ends.append(total)
        say(f"data: {len(ends)} of {len(texts)} documents encoded, {total} tokens")
    return np.concatenate(pieces), ends


def describe_spans(fractions: dict[str, float], cuts: list[int], ends: list[int], characters: list[int]) -> dict[str, Span]:
    """Each span's range of documents and tokens, with its counts."""
    starts = [0, *ends]
    return {
        name: Span(
            fraction=fraction,
            start=starts[first],
            stop=starts[stop],
            first_document=first,
            stop_document=stop,
            tokens=count(starts[stop] - starts[first], "tokens"),
            documents=count(stop - first, "documents"),
            characters=count(sum(characters[first:stop]), "characters"),
        )
        for (name, fraction), first, stop in zip(fractions.items(), cuts, cuts[1:])
    }


def write_stream(out: Path, tokens: np.ndarray, tokeniser: Vocabulary, spans: dict[str, Span]) -> Stream:
    """Write vocabulary and tokens, then the index that names their digests."""
    buffer = io.BytesIO()
    np.save(buffer, tokens.astype("<u2"), allow_pickle=False)
    stream = Stream(
        file=TOKENS,
        sha256=sha256_bytes(buffer.getvalue()),
        tokens=len(tokens),
        vocabulary_file=tokeniser.file,
        vocabulary_sha256=sha256_bytes(tokeniser.data),
        vocabulary_size=tokeniser.size,
        end_of_text=tokeniser.end_of_text,
        spans=spans,
    )
    for earlier in out.glob("vocabulary.*"):
        earlier.unlink()  # another source's vocabulary must not lie beside this one
    write_bytes(out / tokeniser.file, tokeniser.data)
    write_bytes(out / TOKENS, buffer.getvalue())
    write_bytes(out / INDEX, record_bytes(stream))
    return stream


def load_stream(folder: Path, span: str) -> np.ndarray:
    """A span's tokens, mapped from disk, uint16; the file must have the digest and the token range its index names."""
    index = read_model(Stream, Path(folder) / INDEX)
    if span not in index.spans:
        raise Refusal(Path(folder) / INDEX, f"no span {span!r}", expected=", ".join(SPANS))
    path = check_file(Path(folder) / index.file, index.sha256)
    tokens = np.load(path, mmap_mode="r", allow_pickle=False)
    largest = int(tokens.max())
    if tokens.shape != (index.tokens,) or largest >= index.vocabulary_size:
        expected = f"{index.tokens} tokens below {index.vocabulary_size}"
        raise Refusal(path, "tokens do not fit the index", expected=expected, observed=f"shape {tokens.shape}, largest {largest}", cure=REPAIR)
    return slice_span(tokens, index.spans[span])


def load_vocabulary(folder: Path) -> Vocabulary:
    """The tokeniser that made a prepared folder's stream, checked against the index."""
    index = read_model(Stream, Path(folder) / INDEX)
    return read_vocabulary(check_file(Path(folder) / index.vocabulary_file, index.vocabulary_sha256))


def check_file(path: Path, sha256: str) -> Path:
    """The path, once the file's digest is the expected one."""
    if not path.is_file():
        raise Refusal(path, "file is missing", cure=REPAIR)
    observed = sha256_file(path)
    if observed != sha256:
        raise Refusal(path, "content differs from the index", expected=f"SHA-256 {sha256}", observed=observed, cure=REPAIR)
    return path


def require_tokens(stream: np.ndarray, steps: int, batch: int, context: int, place: object = "train span") -> None:
    """Refuse a stream in which `steps` batches do not fit without reading a token twice."""
    needed = batch * steps * context + 1
    if len(stream) < needed:
        cure = "raise data.documents, or lower steps, batch or context"
        expected = f"{needed} tokens ({steps} steps of {batch} sequences of {context}, and one)"
        raise Refusal(place, "stream is shorter than the run needs", expected=expected, observed=f"{len(stream)} tokens", cure=cure)


def batch_at(stream: np.ndarray, step: int, batch: int, context: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets (batch, context), int64, of one step; they depend on the step only.

    The stream is read at `batch` equally spaced places at once, so that the sequences of a batch come from different
    documents: row b of step t starts at b * ((length - 1) // batch) + t * context.
    """
    require_tokens(stream, step + 1, batch, context)
    stride = (len(stream) - 1) // batch
    rows_BT = np.arange(batch)[:, None] * stride + step * context + np.arange(context)
    return stream[rows_BT].astype(np.int64), stream[rows_BT + 1].astype(np.int64)


def probe_batch(folder: Path, sequences: int, context: int) -> tuple[np.ndarray, np.ndarray]:
    """The fixed probe batch: inputs and targets (sequences, context), spread over the whole probe span."""
    stream = load_stream(folder, "probe")
    require_tokens(stream, 1, sequences, context, place=f"{folder} probe span")
    return batch_at(stream, 0, sequences, context)


def slice_span(tokens: np.ndarray, span: Span) -> np.ndarray:
    """The tokens of one span."""
    return tokens[span.start : span.stop]


def compute_entropy(counts: np.ndarray) -> float:
    """Entropy in nats of the frequencies that counts give."""
    total = int(counts.sum())
    return -math.fsum(n / total * math.log(n / total) for n in counts.tolist() if n)


def compute_cross_entropy(train: np.ndarray, probe: np.ndarray) -> float:
    """Mean nats of probe tokens under the training frequencies, one added to each count so that none is zero."""
    total, tokens = int(train.sum()) + len(train), int(probe.sum())
    return -math.fsum(n / tokens * math.log((seen + 1) / total) for n, seen in zip(probe.tolist(), train.tolist()) if n)


def count(value: int, unit: str) -> Quantity:
    """An exact count."""
    return Quantity(value=value, unit=unit, digits=0, style="integer", tolerance=0.0)


def nats(value: float) -> Quantity:
    """A computed, untrained loss; its tolerance covers another machine's logarithm."""
    return Quantity(value=value, unit="nats", digits=3, tolerance=1e-9)
