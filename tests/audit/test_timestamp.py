"""Tokens of a local authority: what holds, what is refuted, what cannot be read; offline, at the token's own time."""

from __future__ import annotations

import subprocess
import time
from datetime import UTC, datetime, timedelta

import pytest
from authority import Authority, local, rebuild
from cryptography.x509.oid import ExtendedKeyUsageOID

from audit.anchoring import find_anchor, find_fault, read_certificates
from audit.der import Malformed, Node, read_der, write_der, write_integer, write_oid
from audit.timestamp import make_request, parse_token, request_nonce

SEAL = b'{"kind": "seal"}\n'
KINDS = [("rsa", {}), ("ec", {}), ("ec", {"intermediate": True}), ("rsa", {"ess": "sha1"})]


def roots(authority: Authority) -> list[bytes]:
    return read_certificates(authority.root)


@pytest.mark.parametrize(("kind", "options"), KINDS, ids=str)
def test_token_is_anchored_under_its_root_alone(kind: str, options: dict) -> None:
    """RSA and EC, with and without an intermediate: no fault, anchored by its own root, not by another's, not without one."""
    authority = local(kind, **options)
    token = parse_token(authority.stamp(SEAL))
    assert find_fault(token, SEAL) is None
    assert find_anchor(token, roots(authority)) is None
    assert find_anchor(token, [*roots(local("rsa", name="Other")), *roots(authority)]) is None
    assert "no chain to a given root" in find_anchor(token, roots(local("rsa", name="Other")))
    assert find_anchor(token, []) == "no root was given"
    assert abs(token.time - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_same_content_as_openssl_reads(kind: str) -> None:
    """The TSTInfo is the very content that openssl takes out of the token."""
    authority = local(kind)
    answer = authority.stamp(SEAL)
    authority.write("answer.tsr", answer)
    authority.write("token.der", authority.run("-reply", "-in", "answer.tsr", "-token_out"))
    taken = subprocess.run(
        ["openssl", "cms", "-verify", "-noverify", "-inform", "DER", "-binary", "-in", "token.der"], cwd=authority.folder, capture_output=True
    )
    assert taken.returncode == 0 and taken.stdout == parse_token(answer).tst_info
    bare = parse_token((authority.folder / "token.der").read_bytes())
    assert bare.bare and not parse_token(answer).bare
    assert bare.tst_info == parse_token(answer).tst_info


@pytest.mark.parametrize("order", [sorted, lambda found: sorted(found, reverse=True)], ids=["sorted", "reversed"])
@pytest.mark.parametrize("intermediate", [False, True])
def test_signer_stands_anywhere_among_the_certificates(order, intermediate: bool) -> None:
    """First or last among several certificates, in an order that is not DER's too: it is found by issuer and serial number."""
    authority = local("ec", intermediate=intermediate)
    token = parse_token(rebuild(authority.stamp(SEAL), certificates=order))
    places = [place for place, found in enumerate(token.certificates) if found == token.signer()]
    assert len(token.certificates) >= 2 and len(places) == 1
    assert find_fault(token, SEAL) is None and find_anchor(token, roots(authority)) is None


def test_both_orders_are_tried() -> None:
    """Of the two orders above one has the signer first and the other has not."""
    answer = local("ec").stamp(SEAL)
    firsts = {(token := parse_token(rebuild(answer, order))).certificates[0] == token.signer() for order in (sorted, lambda f: sorted(f)[::-1])}
    assert firsts == {True, False}


def test_unsigned_attribute_changes_nothing_but_the_file() -> None:
    """Other bytes of the file, the same signed content, so the same seeds; openssl agrees that it still is valid."""
    authority = local("rsa")
    answer = authority.stamp(SEAL)
    longer = rebuild(answer, unsigned=b"anything")
    authority.write("longer.tsr", longer)
    authority.write("data", SEAL)
    asked = ["openssl", "ts", "-verify", "-data", "data", "-in", "longer.tsr", "-CAfile", "root.pem"]
    assert subprocess.run(asked, cwd=authority.folder, capture_output=True).returncode == 0
    token = parse_token(longer)
    assert longer != answer and token.sha256 == parse_token(answer).sha256
    assert find_fault(token, SEAL) is None and find_anchor(token, roots(authority)) is None


def test_certificate_that_expired_since(tmp_path) -> None:
    """Valid at the token's time, expired today: nothing refutes it and it is anchored."""
    now = datetime.now(UTC)
    authority = Authority(tmp_path / "short", valid=(now - timedelta(days=1), now + timedelta(seconds=3)))
    token = parse_token(authority.stamp(SEAL))
    while datetime.now(UTC) < now + timedelta(seconds=4):
        time.sleep(0.1)
    assert find_fault(token, SEAL) is None and find_anchor(token, roots(authority)) is None


@pytest.mark.parametrize("years", [(2015, 2016), (2040, 2041)], ids=["expired before", "not yet"])
def test_certificate_that_was_not_valid_then(years: tuple[int, int], tmp_path) -> None:
    """Signed when the certificate was not valid: refuted, and never anchored."""
    first, last = (datetime(year, 1, 1, tzinfo=UTC) for year in years)
    authority = Authority(tmp_path / "other", valid=(first, last))
    token = parse_token(authority.stamp(SEAL))
    assert f"valid from {years[0]}-01-01 to {years[1]}-01-01" in find_fault(token, SEAL)
    assert find_anchor(token, roots(authority)) is not None


def test_token_of_other_bytes() -> None:
    """A token of another seal is refuted, however good its signature."""
    token = parse_token(local("rsa").stamp(b"another seal"))
    assert find_fault(token, SEAL) == "stamps other bytes than those of the seal"
    assert find_fault(token, b"another seal") is None


def test_nonce_may_be_missing() -> None:
    """A request without a nonce gives a token without one, which is as good offline."""
    token = parse_token(local("rsa").stamp(SEAL, "-cert", "-no_nonce"))
    assert token.nonce is None and find_fault(token, SEAL) is None


def test_token_without_certificates_is_not_readable() -> None:
    """Without the signer's certificate nothing can be verified: neither anchored nor refuted."""
    token = parse_token(local("rsa").stamp(SEAL, "-no_nonce"))
    assert token.certificates == ()
    with pytest.raises(Malformed, match="signer's certificate is not in it"):
        find_fault(token, SEAL)


def test_weak_hash_is_refuted() -> None:
    """A SHA-1 of the seal is no witness of the seal."""
    authority = local("rsa")
    authority.write("data", SEAL)
    token = parse_token(authority.answer(authority.run("-query", "-data", "data", "-sha1", "-cert")))
    assert find_fault(token, SEAL) == "stamps a SHA-1, which two files can share"


STAMPING, SERVER = ExtendedKeyUsageOID.TIME_STAMPING, ExtendedKeyUsageOID.SERVER_AUTH


@pytest.mark.parametrize("usage", [(STAMPING, SERVER), (SERVER,), ()], ids=["one more", "another", "none"])
def test_another_purpose_is_refuted(usage: tuple, tmp_path) -> None:
    """A certificate that is not for time stamping alone is not an authority's, though its signature is good."""
    authority = Authority(tmp_path / "web", usage=usage)
    token = parse_token(authority.sign(parse_token(local("rsa").stamp(SEAL)).tst_info))
    assert find_fault(token, SEAL) == "was signed by a certificate that is not for time stamping alone"


def test_signature_without_the_name_of_its_certificate_is_refuted() -> None:
    """A time stamp signs the hash of its signer's certificate; a plain signed message does not, and is none."""
    authority = local("rsa")
    content = parse_token(authority.stamp(SEAL)).tst_info
    assert find_fault(parse_token(authority.sign(content)), SEAL) is None
    assert "another certificate" in find_fault(parse_token(authority.sign(content, "-nocerts", "-certfile", "signer.pem")), SEAL)


def test_signature_in_another_padding() -> None:
    """RSA-PSS refutes nothing, but the library that builds chains does not read it, so nothing anchors it."""
    authority = local("rsa")
    content = parse_token(authority.stamp(SEAL)).tst_info
    token = parse_token(authority.sign(content, "-cades", "-keyopt", "rsa_padding_mode:pss"))
    assert token.algorithm.parts()[0].oid() == "1.2.840.113549.1.1.10"
    assert find_fault(token, SEAL) is None and "no chain" in find_anchor(token, roots(authority))


def test_authority_of_ones_own_with_its_clock_set_back() -> None:
    """Nothing in such a token is wrong, which is why it is worth what its root is: unanchored under anybody else's."""
    authority = local("ec", name="Mine", valid=(datetime(2001, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)))
    honest = parse_token(authority.stamp(SEAL))
    back = honest.tst_info.replace(f"{honest.time:%Y%m%d%H%M%S}".encode(), b"20160229120000")
    token = parse_token(authority.sign(back))
    assert find_fault(token, SEAL) is None and token.time.year == 2016
    assert find_anchor(token, roots(local("rsa"))) is not None


@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_no_altered_byte_passes(kind: str) -> None:
    """Whatever byte of an answer is altered: it cannot be read, is refuted, or leaves the signed content as it was."""
    answer = local(kind).stamp(SEAL)
    honest, passed = parse_token(answer), 0
    for at in range(len(answer)):
        altered = answer[:at] + bytes([answer[at] ^ 0x01]) + answer[at + 1 :]
        try:
            token = parse_token(altered)
            fault = find_fault(token, SEAL)
        except ValueError:
            continue
        if fault is None:
            passed += 1
            assert token.sha256 == honest.sha256 and token.attributes == honest.attributes, at
    assert passed < len(answer) / 2, "the other certificates are not signed, the rest is"


@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_no_truncated_answer_is_read(kind: str) -> None:
    """Cut anywhere, or with a byte behind it, an answer is not readable."""
    answer = local(kind).stamp(SEAL)
    for size in range(len(answer)):
        with pytest.raises(Malformed):
            parse_token(answer[:size])
    with pytest.raises(Malformed):
        parse_token(answer + b"\0")


def test_refusal_of_the_authority_is_said(tmp_path) -> None:
    """An answer without a token says why: here a hash that the authority does not take."""
    authority = local("rsa")
    authority.write("data", SEAL)
    with pytest.raises(Malformed, match="granted no token: status 2"):
        parse_token(authority.answer(authority.run("-query", "-data", "data", "-sha512")))


def test_request_is_what_openssl_reads() -> None:
    """Imprint, nonce and the wish for certificates, as openssl prints them."""
    authority = local("rsa")
    request = make_request(bytes(range(32)), 0x8000_0000_0000_0001)
    authority.write("made.tsq", request)
    shown = subprocess.run(["openssl", "ts", "-query", "-in", "made.tsq", "-text"], cwd=authority.folder, capture_output=True, text=True).stdout
    assert "Hash Algorithm: sha256" in shown and "Nonce: 0x8000000000000001" in shown and "Certificate required: yes" in shown
    assert "00 01 02 03" in shown.replace("-", " ")
    assert request_nonce(request) == 0x8000_0000_0000_0001
    assert parse_token(authority.answer(request)).nonce == 0x8000_0000_0000_0001


@pytest.mark.parametrize("oid", ["1.2.840.113549.1.9.16.1.4", "2.5.29.37", "0.9.2342", "2.999.3", "1.3.14.3.2.26"])
def test_object_identifiers_go_and_come(oid: str) -> None:
    """Written and read again, with large numbers and each first arc."""
    assert read_der(write_oid(oid)).oid() == oid


@pytest.mark.parametrize("number", [0, 1, 127, 128, 255, 256, 2**63, 2**159])
def test_numbers_go_and_come(number: int) -> None:
    """An INTEGER keeps its value and its sign."""
    assert read_der(write_integer(number)).integer() == number


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 65_536])
def test_lengths_go_and_come(size: int) -> None:
    """Short and long lengths."""
    assert read_der(write_der(0x04, b"x" * size)) == Node(0x04, b"x" * size, write_der(0x04, b"x" * size))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x30", b"\x30\x80\x00\x00", b"\x04\x81\x01x", b"\x04\x82\x00\x80" + b"x" * 128, b"\x1f\x81\x01\x00", b"\x04\x85\x01\x00\x00\x00\x00", b"\x04\x00\x00"],
    ids=["empty", "cut", "indefinite", "long form of a short length", "leading zero", "long tag", "huge", "behind"],
)  # fmt: skip
def test_what_is_not_der_is_refused(data: bytes) -> None:
    """One form only: two readers cannot see two things."""
    with pytest.raises(Malformed):
        read_der(data)


@pytest.mark.parametrize("text", [b"20261130104510", b"20261330104510Z", b"2026113010451Z", b"20261130104510.Z1Z", b"\xff" * 15])
def test_times_that_are_none(text: bytes) -> None:
    """UTC and whole, or refused."""
    with pytest.raises(Malformed):
        read_der(write_der(0x18, text)).time()


def test_fraction_of_a_second_is_kept() -> None:
    """Some authorities give milliseconds."""
    assert read_der(write_der(0x18, b"20261130104510.25Z")).time() == datetime(2026, 11, 30, 10, 45, 10, 250_000, tzinfo=UTC)
