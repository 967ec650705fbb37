"""A time-stamping authority on this machine: certificates of any age, and tokens by `openssl ts`."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from audit.der import read_der, write_der, write_oid
from audit.timestamp import TST_INFO

YEAR = timedelta(days=365)
CONFIGURATION = """\
[tsa]
default_tsa = here
[here]
dir = {folder}
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/signer.pem
signer_key = {folder}/signer.key
certs = {folder}/chain.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha1
accuracy = secs:1
ordering = yes
tsa_name = no
ess_cert_id_chain = no
ess_cert_id_alg = {ess}
"""


def make_key(kind: str):
    """A private key, RSA or EC."""
    return rsa.generate_private_key(65537, 2048) if kind == "rsa" else ec.generate_private_key(ec.SECP256R1())


@dataclass
class Authority:
    """A root, perhaps an intermediate, and a signer; each call of `stamp` is one answer of `openssl ts`."""

    folder: Path
    kind: str = "rsa"
    intermediate: bool = False
    valid: tuple[datetime, datetime] = field(default_factory=lambda: (datetime.now(UTC) - YEAR, datetime.now(UTC) + YEAR))
    """Of the signer's certificate."""
    usage: tuple[x509.ObjectIdentifier, ...] = (ExtendedKeyUsageOID.TIME_STAMPING,)
    ess: str = "sha256"
    name: str = "Local"

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        lasting = (datetime(2015, 1, 1, tzinfo=UTC), datetime(2045, 1, 1, tzinfo=UTC))
        key = make_key(self.kind)
        above = root = self.certify(f"{self.name} root", key, None, key, lasting)
        chain = []
        if self.intermediate:
            inner = make_key(self.kind)
            above, key = self.certify(f"{self.name} intermediate", inner, root, key, lasting), inner
            chain = [above]
        signer = make_key(self.kind)
        certificate = self.certify(f"{self.name} time stamps", signer, above, key, self.valid, leaf=True)
        self.write("root.pem", root.public_bytes(Encoding.PEM))
        self.write("chain.pem", b"".join(each.public_bytes(Encoding.PEM) for each in (*chain, root)))
        self.write("signer.pem", certificate.public_bytes(Encoding.PEM))
        self.write("signer.key", signer.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        self.write("tsa.cnf", CONFIGURATION.format(folder=self.folder, ess=self.ess).encode())
        self.write("serial", b"01\n")

    @property
    def root(self) -> Path:
        """The root certificate."""
        return self.folder / "root.pem"

    def write(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)

    def certify(self, name: str, key, issuer, issuer_key, valid: tuple[datetime, datetime], leaf: bool = False) -> x509.Certificate:
        """A certificate for a key, signed by the issuer's key or, without an issuer, by itself."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer.subject if issuer else subject).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(valid[0]).not_valid_after(valid[1])
        builder = builder.add_extension(x509.BasicConstraints(ca=not leaf, path_length=None), critical=True)
        if leaf and self.usage:
            builder = builder.add_extension(x509.ExtendedKeyUsage(self.usage), critical=True)
        return builder.sign(issuer_key, hashes.SHA256())

    def answer(self, query: bytes) -> bytes:
        """The answer to a request, as `openssl ts -reply` gives it."""
        self.write("query.tsq", query)
        return self.run("-reply", "-config", "tsa.cnf", "-queryfile", "query.tsq")

    def stamp(self, data: bytes, *options: str) -> bytes:
        """The answer to `openssl ts -query` over these bytes; `-cert` and a nonce unless other options say otherwise."""
        self.write("data", data)
        return self.answer(self.run("-query", "-data", "data", "-sha256", *(options or ("-cert",))))

    def sign(self, tst_info: bytes, *options: str) -> bytes:
        """A bare token with any content, any time and any certificate: what `openssl ts` refuses to make, `openssl cms` signs."""
        self.write("content", tst_info)
        content = ("-binary", "-nodetach", "-econtent_type", TST_INFO, "-in", "content", "-outform", "DER", "-md", "sha256")
        return self.run("-sign", *content, "-signer", "signer.pem", "-inkey", "signer.key", *(options or ("-cades",)), command="cms")

    def run(self, *arguments: str, command: str = "ts") -> bytes:
        """`openssl ts` in the authority's folder; what it writes."""
        out = self.folder / "out"
        out.unlink(missing_ok=True)
        done = subprocess.run(["openssl", command, *arguments, "-out", "out"], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and out.exists(), done.stderr
        return out.read_bytes()


@functools.cache
def local(kind: str = "rsa", **options) -> Authority:
    """An authority for the whole session, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="authority-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Authority(folder / kind, kind, **options)


def rebuild(answer: bytes, certificates: Callable[[list[bytes]], list[bytes]] = list, unsigned: bytes = b"") -> bytes:
    """The answer with its certificates in another order and an unsigned attribute added: what a signature does not cover."""
    status, token = read_der(answer).parts()
    kind, held = token.parts()
    version, digests, content, block, signers = held.parts()[0].parts()
    signer = signers.parts()[0]
    attribute = write_der(0xA1, write_der(0x30, write_oid("1.2.3.4.5"), write_der(0x31, write_der(0x04, unsigned)))) if unsigned else b""
    parts = (
        version.raw,
        digests.raw,
        content.raw,
        write_der(0xA0, *certificates([part.raw for part in block.parts()])),
        write_der(0x31, write_der(0x30, signer.body, attribute)),
    )
    return write_der(0x30, status.raw, write_der(0x30, kind.raw, write_der(0xA0, write_der(0x30, *parts))))
