"""An RFC 3161 time stamp: the request, and the token's fields as its bytes have them; nothing is verified here.

The seeds hash the signed content (TSTInfo), never the file: an unsigned attribute changes the file's bytes and nothing else.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from audit.der import OCTETS, OID, SEQUENCE, SET, Malformed, Node, read_der, write_der, write_integer, write_oid

SHA1, SHA256 = "1.3.14.3.2.26", "2.16.840.1.101.3.4.2.1"
HASHES = {SHA256: "sha256", "2.16.840.1.101.3.4.2.2": "sha384", "2.16.840.1.101.3.4.2.3": "sha512", SHA1: "sha1"}
SIGNED_DATA, TST_INFO = "1.2.840.113549.1.7.2", "1.2.840.113549.1.9.16.1.4"
GRANTED = (0, 1)


@dataclass(frozen=True)
class Token:
    """One token: what was signed, by whom, and the signature."""

    tst_info: bytes
    """DER of the TSTInfo: what the signature covers, and what seeds hash."""
    hash: str
    """Name of the hash of the imprint."""
    imprint: bytes
    time: datetime
    """The token's own time, UTC."""
    nonce: int | None
    certificates: tuple[bytes, ...]
    issuer: bytes
    """DER name of the issuer of the signer's certificate."""
    serial: int
    digest: str
    """Name of the hash of the signed attributes' message digest."""
    attributes: bytes
    """DER of the signed attributes as the set that is signed."""
    algorithm: Node
    """The signature's algorithm with its parameters."""
    signature: bytes
    bare: bool
    """Whether the file was the token itself, without the authority's answer around it."""
    canonical: bytes
    """The same token without what is not signed: certificates sorted, no unsigned attributes, no revocation lists."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the TSTInfo: the fourth line of a seed's text."""
        return hashlib.sha256(self.tst_info).hexdigest()

    def stamps(self, data: bytes) -> bool:
        """Whether the imprint is that of these bytes."""
        return hashlib.new(self.hash, data, usedforsecurity=False).digest() == self.imprint

    def signer(self) -> bytes | None:
        """The signer's certificate, found by issuer and serial number wherever it stands among the others."""
        return next((found for found in self.certificates if name_certificate(found) == (self.issuer, self.serial)), None)

    def attribute(self, oid: str) -> Node | None:
        """The one value of a signed attribute."""
        for attribute in read_der(self.attributes).parts():
            name, values = attribute.parts()[:2]
            if name.oid() == oid:
                return values.expect(SET).parts()[0]
        return None


def make_request(digest: bytes, nonce: int) -> bytes:
    """A request over a SHA-256, with a nonce, that asks for the signer's certificate."""
    imprint = write_der(SEQUENCE, write_der(SEQUENCE, write_oid(SHA256), write_der(0x05)), write_der(OCTETS, digest))
    return write_der(SEQUENCE, write_integer(1), imprint, write_integer(nonce), write_der(0x01, b"\xff"))


def request_nonce(data: bytes) -> int | None:
    """The nonce of a stored request."""
    numbers = [part for part in read_der(data).parts()[2:] if part.tag == 0x02]
    return numbers[0].integer() if numbers else None


def parse_token(data: bytes) -> Token:
    """A token, bare or inside an authority's answer; an answer without one says why."""
    try:
        whole = read_der(data).expect(SEQUENCE)
        content = _open_response(whole)
        return _parse_content(content, bare=content is whole)
    except (IndexError, ValueError) as error:
        if isinstance(error, Malformed):
            raise
        raise Malformed(f"a part is missing ({error})") from None


def _open_response(node: Node) -> Node:
    """The token inside an answer, or the bare token itself."""
    first, *rest = node.parts()
    if first.tag == OID:
        return node
    status, *texts = first.expect(SEQUENCE).parts()
    if status.integer() not in GRANTED or not rest:
        said = [text.body.decode(errors="replace") for block in texts if block.tag == SEQUENCE for text in block.parts()]
        raise Malformed(f"the authority granted no token: status {status.integer()} {' '.join(said)[:200]}".rstrip())
    return rest[0]


def _parse_content(node: Node, bare: bool) -> Token:
    kind, content = node.parts()
    if kind.oid() != SIGNED_DATA:
        raise Malformed("no signed data")
    signed = content.expect(0xA0).parts()[0].expect(SEQUENCE).parts()
    version, digests, encapsulated, *rest = signed
    inner, held = encapsulated.parts()
    if inner.oid() != TST_INFO:
        raise Malformed("signed data that is no time stamp")
    info = held.expect(0xA0).parts()[0].expect(OCTETS).body
    certificates = next((tuple(part.raw for part in block.parts()) for block in rest if block.tag == 0xA0), ())
    signers = rest[-1].expect(SET).parts()
    if len(signers) != 1:
        raise Malformed(f"{len(signers)} signers instead of one")
    signer = [part for part in signers[0].expect(SEQUENCE).parts() if part.tag != 0xA1]
    _, name, digest, attributes, algorithm, signature = signer
    issuer, serial = name.expect(SEQUENCE).parts()
    block = [write_der(0xA0, *sorted(certificates))] if certificates else []
    signed_by = write_der(SET, write_der(SEQUENCE, *(part.raw for part in signer)))
    canonical = write_der(SEQUENCE, version.raw, digests.raw, encapsulated.raw, *block, signed_by)
    return Token(
        tst_info=info,
        **_parse_info(info),
        certificates=certificates,
        issuer=issuer.raw,
        serial=serial.integer(),
        digest=_hash_name(digest),
        attributes=write_der(SET, attributes.expect(0xA0).body),
        algorithm=algorithm.expect(SEQUENCE),
        signature=signature.expect(OCTETS).body,
        bare=bare,
        canonical=write_der(SEQUENCE, kind.raw, write_der(0xA0, canonical)),
    )


def _parse_info(info: bytes) -> dict:
    """What the signed content says: hash, imprint, time, nonce."""
    version, _, imprint, _, time, *rest = read_der(info).expect(SEQUENCE).parts()
    if version.integer() != 1:
        raise Malformed("a version of TSTInfo other than 1")
    algorithm, digest = imprint.parts()
    nonce = next((part.integer() for part in rest if part.tag == 0x02), None)
    return {"hash": _hash_name(algorithm), "imprint": digest.expect(OCTETS).body, "time": time.time(), "nonce": nonce}


def _hash_name(algorithm: Node) -> str:
    oid = algorithm.expect(SEQUENCE).parts()[0].oid()
    if oid not in HASHES:
        raise Malformed(f"an unknown hash {oid}")
    return HASHES[oid]


def name_certificate(certificate: bytes) -> tuple[bytes, int]:
    """Issuer (DER) and serial number of a certificate."""
    fields = read_der(certificate).parts()[0].parts()
    at = 1 if fields[0].tag == 0xA0 else 0
    return fields[at + 2].raw, fields[at].integer()
