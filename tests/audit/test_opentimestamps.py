"""OpenTimestamps proofs are read to their ends: which file, which block, which promise; what is no proof is refused."""

from __future__ import annotations

import hashlib

import pytest

from audit.der import Malformed
from audit.opentimestamps import BITCOIN, MAGIC, PENDING, parse_proof

DIGEST = hashlib.sha256(b"seal").hexdigest()
SHA256 = b"\x08"
KNOWN = (
    "004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e892940108f0f668bf610e5cf9f11d2aa50f924ada10797100e8f05de085842ddb6370a867"
    "ff02ff000588960d73d7190101010083dfe30d2ef90c8e0a0968747470733a2f2f62f0056e6f6e636508ff0083dfe30d2ef90c8e2e2d68747470733a2f2f616c69"
    "63652e6274632e63616c656e6461722e6f70656e74696d657374616d70732e6f7267f102787808000588960d73d7190103f7ef15"
)
"""Written by the reference implementation (opentimestamps 0.4.5) for the four bytes `seal`."""


def number(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    head, rest = value & 0x7F, value >> 7
    return bytes([head]) if not rest else bytes([head | 0x80]) + number(rest)


def string(data: bytes) -> bytes:
    return number(len(data)) + data


def pending(address: str = "https://calendar.example.org") -> bytes:
    return b"\x00" + PENDING + string(string(address.encode()))


def bitcoin(height: int) -> bytes:
    return b"\x00" + BITCOIN + string(number(height))


def about(digest: str, tree: bytes | None = None) -> bytes:
    """A proof about the file with this digest."""
    return MAGIC + b"\x01" + SHA256 + bytes.fromhex(digest) + (pending() if tree is None else tree)


def test_promise_is_pending() -> None:
    """A calendar's promise names no block."""
    proof = parse_proof(about(DIGEST, b"\xf0" + string(b"nonce") + SHA256 + pending()))
    assert (proof.digest.hex(), proof.calendars, proof.blocks) == (DIGEST, ("https://calendar.example.org",), ())


def test_block_is_named_with_its_root() -> None:
    """Each operation is done in order; the root is printed as nodes print it, backwards."""
    tree = b"\xf0" + string(b"after") + SHA256 + b"\xf1" + string(b"before") + b"\x02" + b"\xf2" + b"\xf3" + bitcoin(700_000)
    message = hashlib.sha256(bytes.fromhex(DIGEST) + b"after").digest()
    message = hashlib.sha1(b"before" + message).digest()[::-1].hex().encode()
    assert parse_proof(about(DIGEST, tree)).blocks == ((700_000, message[::-1].hex()),)


def test_every_branch_is_followed() -> None:
    """Forks go on from the same message, nested ones too; an unknown attestation is passed over."""
    other = b"\x00" + bytes(8) + string(b"whatever")
    tree = b"\xff" + SHA256 + b"\xff" + pending("https://a") + bitcoin(5) + b"\xff" + other + SHA256 + bitcoin(6)
    once = hashlib.sha256(bytes.fromhex(DIGEST)).digest()[::-1].hex()
    proof = parse_proof(about(DIGEST, tree))
    assert proof.blocks == ((5, once), (6, once)) and proof.calendars == ("https://a",)


def test_proof_of_the_reference_implementation() -> None:
    """Forks, appended and prepended parts, two hashes and three attestations: the same messages at the ends."""
    proof = parse_proof(bytes.fromhex(KNOWN))
    assert proof.digest == hashlib.sha256(b"seal").digest()
    assert proof.blocks == (
        (1, "0fd43cf844176ba6286d738ed6740c396c8111aa"),
        (358391, "76387ec4527df2ad22c70157c7337e50000299c00f31f143ec13f7b10a749959"),
    )
    assert proof.calendars == ("https://b", "https://alice.btc.calendar.opentimestamps.org")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04",
        MAGIC,
        MAGIC + b"\x02" + SHA256 + bytes(32) + pending(),
        MAGIC + b"\x01\x02" + bytes(20) + pending(),
        about(DIGEST, b""),
        about(DIGEST, b"\x67" + pending()),
        about(DIGEST, b"\xf0" + number(5000) + bytes(5000) + pending()),
        about(DIGEST, b"\xf3" * 20 + pending()),
        about(DIGEST, b"\xf0" + b"\xff" * 20 + pending()),
        about(DIGEST) + b"\x00",
    ],
    ids=["empty", "zip", "header", "version", "sha1", "no end", "keccak", "long part", "long message", "endless number", "behind"],
)  # fmt: skip
def test_what_is_no_proof_is_refused(data: bytes) -> None:
    """Nothing is guessed."""
    with pytest.raises(Malformed):
        parse_proof(data)


def test_no_truncated_proof_is_read() -> None:
    """Cut anywhere it has no end."""
    whole = about(DIGEST, b"\xff" + pending() + SHA256 + bitcoin(800_000))
    for size in range(len(whole)):
        with pytest.raises(Malformed):
            parse_proof(whole[:size])
