"""An OpenTimestamps proof, read and not believed: the file it is about, and which block or calendar it ends at."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from audit.der import Malformed

MAGIC = b"\x00OpenTimestamps\x00\x00Proof\x00\xbf\x89\xe2\xe8\x84\xe8\x92\x94"
PENDING, BITCOIN = bytes.fromhex("83dfe30d2ef90c8e"), bytes.fromhex("0588960d73d71901")
FORK, ATTESTATION = 0xFF, 0x00
HASHES = {0x02: "sha1", 0x03: "ripemd160", 0x08: "sha256"}
LONGEST = 4096


@dataclass(frozen=True)
class Proof:
    """What a proof says of a file."""

    digest: bytes
    """SHA-256 of the file."""
    calendars: tuple[str, ...]
    """Calendars that promised an attestation: pending, no proof."""
    blocks: tuple[tuple[int, str], ...]
    """Height and Merkle root (as nodes print it) of each Bitcoin block it claims."""


class Reader:
    """The bytes of a proof, taken from the front."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        found = self.data[self.at : self.at + size]
        if len(found) < size:
            raise Malformed("the bytes end inside the proof")
        self.at += size
        return found

    def number(self) -> int:
        """A number in groups of seven bits, the lowest first."""
        value, shift = 0, 0
        while shift < 64:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
            shift += 7
        raise Malformed("a number without an end")

    def string(self) -> bytes:
        """Bytes behind their number."""
        size = self.number()
        if size > LONGEST:
            raise Malformed(f"a part of {size} bytes")
        return self.take(size)


def parse_proof(data: bytes) -> Proof:
    """The proof in a file: every branch is followed to its attestation."""
    reader = Reader(data)
    if reader.take(len(MAGIC)) != MAGIC or reader.number() != 1:
        raise Malformed("no OpenTimestamps proof of version 1")
    if reader.take(1)[0] != 0x08:
        raise Malformed("a proof about another hash than SHA-256")
    digest = reader.take(32)
    calendars: list[str] = []
    blocks: list[tuple[int, str]] = []
    pending = [digest]
    while pending:
        message, tag = pending.pop(), reader.take(1)[0]
        if tag == FORK:
            pending += [message, message]
        elif tag == ATTESTATION:
            _attest(reader, message, calendars, blocks)
        else:
            pending.append(_operate(reader, tag)(message))
            if len(pending[-1]) > LONGEST:
                raise Malformed("a message without an end")
    if reader.at != len(data):
        raise Malformed("bytes behind the proof")
    return Proof(digest, tuple(calendars), tuple(blocks))


def _attest(reader: Reader, message: bytes, calendars: list[str], blocks: list[tuple[int, str]]) -> None:
    kind, payload = reader.take(8), Reader(reader.string())
    if kind == PENDING:
        calendars.append(payload.string().decode("ascii", errors="replace"))
    elif kind == BITCOIN:
        blocks.append((payload.number(), message[::-1].hex()))


def _operate(reader: Reader, tag: int) -> Callable[[bytes], bytes]:
    if tag in (0xF0, 0xF1):
        part = reader.string()
        return (lambda message: message + part) if tag == 0xF0 else (lambda message: part + message)
    if tag in (0xF2, 0xF3):
        return (lambda message: message[::-1]) if tag == 0xF2 else (lambda message: message.hex().encode())
    if tag not in HASHES or HASHES[tag] not in hashlib.algorithms_available:
        raise Malformed(f"an operation {tag:#04x} that is not known here")
    return lambda message: hashlib.new(HASHES[tag], message, usedforsecurity=False).digest()
