"""Whether a token is what it seems, offline: what refutes it needs no root; only a root of the verifier's own anchors it.

No store of well-known authorities comes with the tool: a list that ages in somebody else's package would decide whom the reader trusts, and
whoever forks the tool could add to it. Roots come from `audit verify --root FILE` or from the folder that AUDIT_ROOTS names.
Whether an authority has revoked a certificate is not asked: that takes a network.
"""

from __future__ import annotations

import hashlib
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from audit.context import Context
from audit.der import OCTETS, SEQUENCE, Malformed, read_der, write_der, write_integer
from audit.finding import Refusal
from audit.load import read_bytes
from audit.timestamp import HASHES, TST_INFO, Token

CURE = "pip install 'rankcollapse-audit[witness]'"
CONTENT_TYPE, MESSAGE_DIGEST = "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4"
SIGNER_V1, SIGNER_V2 = "1.2.840.113549.1.9.16.2.12", "1.2.840.113549.1.9.16.2.47"
SUFFIXES = {".pem", ".crt", ".cer", ".der"}
PSS = "1.2.840.113549.1.1.10"
SIGNATURE_HASHES = {
    "1.2.840.113549.1.1.11": "sha256", "1.2.840.113549.1.1.12": "sha384", "1.2.840.113549.1.1.13": "sha512",
    "1.2.840.10045.4.3.2": "sha256", "1.2.840.10045.4.3.3": "sha384", "1.2.840.10045.4.3.4": "sha512",
}  # fmt: skip
"""Signature algorithms that name their hash; others sign the hash that the signer names beside them."""


def is_installed() -> bool:
    """Whether signatures can be verified here at all."""
    return all(find_spec(name) for name in ("cryptography", "rfc3161_client"))


def find_fault(token: Token, data: bytes) -> str | None:
    """What shows that the token does not stamp these bytes, or that nobody who may sign tokens signed it then; None where nothing does."""
    if token.hash == "sha1":
        return "stamps a SHA-1, which two files can share"
    if not token.stamps(data):
        return "stamps other bytes than those of the seal"
    inner = token.attribute(CONTENT_TYPE), token.attribute(MESSAGE_DIGEST)
    if inner[0] is None or inner[0].oid() != TST_INFO:
        return "signs something that is no time stamp"
    if inner[1] is None or inner[1].expect(OCTETS).body != hashlib.new(token.digest, token.tst_info, usedforsecurity=False).digest():
        return "holds another content than was signed"
    signer = token.signer()
    if signer is None:
        raise Malformed("the signer's certificate is not in it")
    return _fault_of_signer(token, signer)


def _fault_of_signer(token: Token, signer: bytes) -> str | None:
    from cryptography import x509

    if not _names_signer(token, signer):
        return "was signed for another certificate than the one it holds"
    try:
        certificate = x509.load_der_x509_certificate(signer)
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
        critical, allowed = usage.critical, list(usage.value)
    except x509.ExtensionNotFound:
        critical, allowed = False, []
    if not _is_signed(token, certificate.public_key()):
        return "bears a signature that is not its signer's"
    if not critical or allowed != [x509.ExtendedKeyUsageOID.TIME_STAMPING]:
        return "was signed by a certificate that is not for time stamping alone"
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not first <= token.time <= last:
        return f"was signed at {token.time:%Y-%m-%d %H:%M:%S} by a certificate valid from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    return None


def _names_signer(token: Token, signer: bytes) -> bool:
    """Whether a signed attribute names this certificate by its hash, as a time stamp must."""
    for oid, hash_name in ((SIGNER_V2, "sha256"), (SIGNER_V1, "sha1")):
        attribute = token.attribute(oid)
        if attribute is not None:
            first, *rest = attribute.parts()[0].parts()[0].parts()
            if first.tag == SEQUENCE:
                hash_name, first = HASHES.get(first.parts()[0].oid(), ""), rest[0]
            return hash_name != "" and first.expect(OCTETS).body == hashlib.new(hash_name, signer, usedforsecurity=False).digest()
    return False


def _is_signed(token: Token, key: Any) -> bool:
    """Whether the signature over the signed attributes is this key's."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

    algorithm = token.algorithm.parts()[0].oid()
    chosen = getattr(hashes, SIGNATURE_HASHES.get(algorithm, token.digest).upper())()
    try:
        if isinstance(key, rsa.RSAPublicKey):
            pss = padding.PSS(padding.MGF1(chosen), padding.PSS.AUTO)
            key.verify(token.signature, token.attributes, pss if algorithm == PSS else padding.PKCS1v15(), chosen)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(token.signature, token.attributes, ec.ECDSA(chosen))
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(token.signature, token.attributes)
        else:
            raise Malformed(f"a kind of key that is not known here: {type(key).__name__}")
    except InvalidSignature:
        return False
    return True


def find_anchor(token: Token, roots: list[bytes]) -> str | None:
    """Why no root of these (DER) is above the signer, with every certificate valid at the token's own time; None where one is."""
    if not roots:
        return "no root was given"
    from cryptography import x509
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    answer = write_der(SEQUENCE, write_der(SEQUENCE, write_integer(0)), token.canonical)
    try:
        response = decode_timestamp_response(answer)
        VerifierBuilder(roots=[x509.load_der_x509_certificate(root) for root in roots]).build().verify(response, token.imprint)
    except (VerificationError, ValueError) as error:
        said = re.search(r'Verify error: ([^"]+)', str(error))
        return f"no chain to a given root ({said[1] if said else str(error)[:100]})"
    return None


def load_roots(context: Context) -> tuple[list[bytes], list[str]]:
    """Certificates (DER) that the verifier gave, and the files that do not count because the audited repository ships them."""
    files = [*context.roots, *list_folder(os.environ.get("AUDIT_ROOTS"))]
    shipped = [path for path in files if is_shipped(context, path)]
    roots = [root for path in files if path not in shipped for root in read_certificates(path)]
    return list(dict.fromkeys(roots)), [str(path) for path in shipped]


def list_folder(folder: str | None) -> list[Path]:
    """The certificates' files of the folder that AUDIT_ROOTS names; [] where it names none."""
    if not folder:
        return []
    if not Path(folder).is_dir():
        raise Refusal("AUDIT_ROOTS", "names no folder", expected="a folder of root certificates", observed=folder)
    return sorted(path for path in Path(folder).iterdir() if path.suffix in SUFFIXES)


def is_shipped(context: Context, path: Path) -> bool:
    """Whether a root lies in the audited repository's tree, or has the bytes of a file that its HEAD holds."""
    history = context.history
    top = [context.root.resolve(), *context.root.resolve().parents][history.prefix.count("/")]
    inside = path.resolve().is_relative_to(top)
    return inside or history.objects.holds_blob(history.head, history.blob_id(read_bytes(path)))


def read_certificates(path: Path) -> list[bytes]:
    """The certificates (DER) of a PEM or DER file."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    data = read_bytes(path)
    try:
        if b"-----BEGIN" in data:
            return [found.public_bytes(Encoding.DER) for found in x509.load_pem_x509_certificates(data)]
        return [x509.load_der_x509_certificate(read_der(data).raw).public_bytes(Encoding.DER)]
    except ValueError as error:
        raise Refusal(path, "is no certificate", expected="a root in PEM or DER", observed=str(error)[:100]) from None
