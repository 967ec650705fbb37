"""The data stage's record: where the text comes from, its vocabulary and its fixed token stream."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from audit.records import Frozen, Quantity, Record, Sha256


class Source(Frozen):
    """Where the text comes from, and under which licence it may be used."""

    name: Literal["encyclopedia", "fineweb-edu"]
    package: str
    """The distribution, data set or folder the text was read from."""
    package_version: str
    """The pinned version; `local` for shards, which their digests pin."""
    licence: str
    attribution: str
    files: dict[str, Sha256]
    """SHA-256 of each file read, by name; empty only for a stream from the network."""
    documents_sha256: Sha256
    """SHA-256 over the lines of SHA-256 digests of the documents' UTF-8 text, in the order of the stream."""


class Span(Frozen):
    """One of three disjoint stretches of the stream, cut between documents."""

    fraction: float = Field(gt=0, lt=1)
    """The share of the documents asked for."""
    start: int = Field(ge=0)
    """First token, counted from the stream's start."""
    stop: int = Field(gt=0)
    """One past the last token."""
    first_document: int = Field(ge=0)
    stop_document: int = Field(gt=0)
    """One past the last document."""
    tokens: Quantity
    documents: Quantity
    characters: Quantity


class Stream(Frozen):
    """The token stream on disk: enough to open it and to know that it is the right one."""

    file: str
    sha256: Sha256
    tokens: int = Field(gt=0)
    vocabulary_file: str
    vocabulary_sha256: Sha256
    vocabulary_size: int = Field(ge=257, le=65536)
    end_of_text: int = Field(ge=0)
    """The token that closes each document."""
    spans: dict[Literal["train", "probe", "unseen"], Span]


class DataManifest(Record):
    """The text, its vocabulary and its fixed token stream."""

    kind: Literal["data"] = "data"
    version: Literal[1] = 1
    source: Source
    stream: Stream
    tokens: Quantity
    documents: Quantity
    characters: Quantity
    vocabulary: Quantity
    """Different tokens the model can be given, the end of text among them."""
    unigram_entropy: Quantity
    """Entropy in nats of the training span's token frequencies: the loss of a network that ignores its context."""
    unigram_probe_loss: Quantity
    """Cross entropy in nats of the training span's frequencies (one added to each count) on the probe span."""
