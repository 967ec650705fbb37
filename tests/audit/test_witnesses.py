"""What `audit verify` says of witnesses: whose roots count, what is left open, and who signed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from authority import local
from project import Project
from tampering_witness import SEAL, TOKEN, demand, seal_bytes, stamp
from test_opentimestamps import about, bitcoin, pending

from audit.cli import main
from audit.context import Context
from audit.digest import sha256_bytes
from audit.room import compute_room
from audit.verify import describe_basis, verify


def said(p: Project, *roots: Path) -> list[str]:
    """The lines of the witnesses' check."""
    with p.inside():
        report = verify(Context.open(roots=roots))
    return [finding.line() for finding in report.findings if finding.code in ("A210", "A211", "A212")]


def any_starts(lines: list[str], start: str) -> bool:
    return any(line.startswith(f"A211 {TOKEN} note: {start}") for line in lines)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """The root as the verifier keeps it."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "root.pem").write_bytes(local("rsa").root.read_bytes())
    return tmp_path / "mine" / "root.pem"


def test_root_of_the_verifier_anchors(ran: Project, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By --root or by the folder in AUDIT_ROOTS; without either the authority is unknown."""
    stamp(ran)
    monkeypatch.delenv("AUDIT_ROOTS", raising=False)
    assert any_starts(said(ran), "unanchored: an authority unknown to you")
    assert any_starts(said(ran, elsewhere), "anchored: the seal existed at ")
    monkeypatch.setenv("AUDIT_ROOTS", str(elsewhere.parent))
    assert any_starts(said(ran), "anchored: the seal existed at ")


def test_report_names_the_oldest_witness(ran: Project) -> None:
    """What outside saw this history first stands beside its root; nothing stands there without a committed time stamp."""
    assert describe_basis(ran.context())["witness"] == ""
    stamp(ran)
    oldest = str(describe_basis(ran.context())["witness"])
    assert abs(datetime.fromisoformat(oldest) - datetime.now(UTC)) < timedelta(minutes=10)


@pytest.mark.parametrize("place", ["prereg/root.pem", "root.pem", "audit/roots/tsa.crt"])
@pytest.mark.parametrize("committed", [False, True])
def test_root_in_the_audited_tree_never_anchors(place: str, committed: bool, ran: Project) -> None:
    """A root that lies in the audited project could be the author's own authority, given by path or not."""
    stamp(ran)
    ran.write(place, local("rsa").root.read_bytes())
    if committed:
        ran.commit("Trust me")
    lines = said(ran, ran.root / place)
    assert any_starts(lines, "unanchored: ") and not any_starts(lines, "anchored")
    assert any("is shipped by the audited repository and does not count" in line for line in lines)


def test_copy_of_a_shipped_root_never_anchors(ran: Project, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied out of the repository it is still the repository's: its bytes are those of a blob at HEAD."""
    stamp(ran)
    ran.write("roots/tsa.pem", elsewhere.read_bytes())
    ran.commit("Trust me")
    assert any("does not count" in line for line in said(ran, elsewhere))
    monkeypatch.setenv("AUDIT_ROOTS", str(elsewhere.parent))
    assert not any_starts(said(ran), "anchored")


def test_link_into_the_tree_never_anchors(ran: Project, elsewhere: Path) -> None:
    """A link outside to a root inside is the root inside."""
    stamp(ran)
    ran.write("root.pem", elsewhere.read_bytes())
    elsewhere.unlink()
    elsewhere.symlink_to(ran.root / "root.pem")
    assert not any_starts(said(ran, elsewhere), "anchored")


def test_file_that_is_no_root_is_one_line(ran: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the verifier names must be readable; nothing is passed over."""
    stamp(ran)
    (tmp_path / "no.pem").write_text("-----BEGIN CERTIFICATE-----\nno\n")
    with ran.inside(), pytest.raises(SystemExit) as ended:
        main(["verify", "--root", str(tmp_path / "no.pem")])
    assert ended.value.code == 2 and "no.pem could not check: is no certificate" in capsys.readouterr().out


@pytest.mark.parametrize("required", [False, True])
def test_without_the_library(required: bool, drafted: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be verified it is a note with the cure, and could-not-check where the registration requires a witness."""
    demand(drafted) if required else drafted.sealed()
    stamp(drafted)
    monkeypatch.setattr("audit.checks.witnesses.is_installed", lambda: False)
    weight = "could not check" if required else "note"
    cure = "cure: pip install 'rankcollapse-audit[witness]'"
    assert f"A212 {TOKEN} {weight}: signatures of time stamps cannot be verified here; {cure}" in said(drafted)


def test_nothing_is_said_where_there_is_no_witness(ran: Project) -> None:
    """No witness, no signature: nobody is bothered."""
    assert said(ran) == []


def test_uncommitted_token_counts_for_nothing(ran: Project) -> None:
    """It is read, and said to be in no commit."""
    ran.write(TOKEN, local("rsa").stamp(seal_bytes(ran)))
    assert any_starts(said(ran), "is not committed and counts for nothing yet")


def test_room_is_printed(ran: Project) -> None:
    """What a try costs and how many fit before the witness."""
    stamp(ran)
    (line,) = [line for line in said(ran) if "one try costs about" in line]
    assert "(its date is typed) to its witness lie" in line and "tries on one such machine" in line


def test_room_is_a_quotient() -> None:
    """Span over cost, rounded down; a typed date after the witness leaves none and says so; without run logs nothing is said."""
    first = datetime(2026, 1, 1, tzinfo=UTC)
    room = compute_room(first, first + timedelta(days=3), 1_200)
    assert room.tries == 216
    assert room.text() == (
        "one try costs about 20.0 minutes; from the first commit of the registration (its date is typed) to its witness"
        " lie 3.0 days: room for about 216 tries on one such machine"
    )
    assert compute_room(first, first + timedelta(seconds=1_199), 1_200).tries == 0
    assert "the typed date is later than the witness" in compute_room(first, first - timedelta(days=1), 1_200).text()
    assert compute_room(first, first, 0) is None


def test_pending_proof_is_no_proof(ran: Project) -> None:
    """A calendar's promise is a note, a block a claim to be asked for elsewhere; neither anchors."""
    digest = sha256_bytes(seal_bytes(ran))
    ran.write("prereg/pilot.ots", about(digest))
    ran.commit("Promise")
    (line,) = said(ran)
    assert line.startswith("A211 prereg/pilot.ots note: pending: a calendar's promise is no proof yet")
    ran.write("prereg/pilot.ots", about(digest, b"\xff" + pending() + b"\x08" + bitcoin(801_234)))
    (line,) = said(ran)
    assert "unanchored: claims Bitcoin block 801234; found Merkle root" in line and "ask a node" in line


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A key of the author's."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", tmp_path / "key"], check=True)
    return tmp_path / "key"


def sign_seal(p: Project, key: Path) -> None:
    p.seal()
    p.git("add", "-A")
    p.git("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "commit", "-q", "-S", "-m", "Seal")


def test_signature_says_who(drafted: Project, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known to the verifier: a name and a key; known to the repository alone: a key that nobody vouches for. Never when."""
    sign_seal(drafted, key)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    signers = f"author@example.org {key.with_suffix('.pub').read_text()}"
    drafted.write("prereg/signers", signers)
    drafted.git("config", "gpg.ssh.allowedSignersFile", str(drafted.root / "prereg/signers"))
    lines = said(drafted)
    assert len(lines) == 1 and "author@example.org" not in lines[0] and "a key that is not known" in lines[0] and "SHA256:" in lines[0]
    (home / "signers").write_text(signers)
    (home / ".gitconfig").write_text(f'[gpg "ssh"]\n\tallowedSignersFile = {home / "signers"}\n')
    (line,) = said(drafted)
    assert line.startswith(f"A211 {SEAL} note: commit ") and "signed by author@example.org (SHA256:" in line and line.endswith("who, not when")
    (home / ".gitconfig").write_text(f'[gpg "ssh"]\n\tallowedSignersFile = {drafted.root / "prereg/signers"}\n')
    assert "author@example.org" not in said(drafted)[0]


def test_signed_tag_on_the_seal_is_told(drafted: Project, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag on the commit that brought the seal: with a key of the verifier's or with another; an unsigned one says nothing."""
    drafted.sealed()
    drafted.git("tag", "-a", "-m", "plain", "plain")
    drafted.git("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "tag", "-s", "-m", "Sealed", "v1")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [line.partition("note: ")[2] for line in said(drafted)] == ["tag v1 on the commit that brought the seal: signed, by whom cannot be told here"]
    (tmp_path / "signers").write_text(f"author@example.org {key.with_suffix('.pub').read_text()}")
    (tmp_path / ".gitconfig").write_text(f'[gpg "ssh"]\n\tallowedSignersFile = {tmp_path / "signers"}\n')
    assert [line.partition("note: ")[2] for line in said(drafted)] == ["tag v1 on the commit that brought the seal: signed with a key of yours: who, not when"]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A GnuPG key ring with one key, in a folder whose name is short enough for the agent's socket."""
    with tempfile.TemporaryDirectory(prefix="gpg-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("GNUPGHOME", folder)
        asked = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "Author <author@example.org>", "ed25519", "sign"]
        subprocess.run(asked, check=True, capture_output=True)
        env = {**os.environ, "GNUPGHOME": folder}
        yield env
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False, env=env)


def test_gpg_signature_says_who(drafted: Project, keyring: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a key of the verifier's ring: its owner; by a key that is in no ring of theirs: it cannot be told."""
    drafted.seal()
    drafted.git("add", "-A")
    asked = ["git", "-c", "user.signingkey=author@example.org", "commit", "-q", "-S", "-m", "Seal"]
    subprocess.run(asked, cwd=drafted.root, env=keyring, check=True, capture_output=True)
    (line,) = said(drafted)
    assert "signed by Author <author@example.org> (" in line and line.endswith("who, not when")
    (tmp_path / "empty").mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(tmp_path / "empty"))
    assert "by whom cannot be told here" in said(drafted)[0]


def test_program_of_the_repository_is_not_run(drafted: Project, key: Path, tmp_path: Path) -> None:
    """What the audited repository's configuration names as gpg would run on the reader's machine."""
    sign_seal(drafted, key)
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 0\n")
    evil.chmod(0o755)
    for name in ("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program"):
        drafted.git("config", name, str(evil))
    assert said(drafted) and not (tmp_path / "ran").exists()


def test_altered_signed_commit_is_told(drafted: Project, key: Path) -> None:
    """A signature that does not fit its commit."""
    sign_seal(drafted, key)
    commit = drafted.git("cat-file", "commit", "HEAD").replace("\nSeal", "\nSeal it")
    drafted.write("commit", commit + "\n")
    forged = drafted.git("hash-object", "-t", "commit", "-w", "commit")
    drafted.git("reset", "-q", "--hard", forged)
    (drafted.root / "commit").unlink(missing_ok=True)
    assert "bears a signature that does not fit it" in said(drafted)[0]


def test_unsigned_is_said_beside_a_token(ran: Project) -> None:
    """Where there is a witness the reader also learns that nobody signed."""
    stamp(ran)
    assert any("which brought the seal: unsigned" in line for line in said(ran))
