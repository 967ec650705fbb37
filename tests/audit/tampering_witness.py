"""Ways to tamper with witnesses, and a project whose seeds take one."""

from __future__ import annotations

from authority import local
from project import Project
from test_opentimestamps import about

from audit.digest import sha256_bytes
from audit.timestamp import parse_token

SEAL, TOKEN, SECOND = "prereg/pilot.seal.json", "prereg/pilot.tsr", "prereg/pilot.2.tsr"


def seal_bytes(p: Project) -> bytes:
    return (p.root / SEAL).read_bytes()


def stamp(p: Project, path: str = TOKEN, kind: str = "rsa") -> bytes:
    """Commit a time stamp of the seal."""
    answer = local(kind).stamp(seal_bytes(p))
    p.write(path, answer)
    p.commit("Witness")
    return answer


def demand(p: Project) -> None:
    """From a draft: seeds that take a witness, sealed."""
    p.edit("prereg/pilot.yaml", "from: seal,", "from: seal+witness,")
    p.commit("The seeds take a witness")
    p.sealed()


def witnessed(p: Project) -> None:
    """The honest way: seal, witness, run."""
    demand(p)
    stamp(p)
    p.ran()


def token_of_another_seal(p: Project) -> None:
    p.write(TOKEN, local("rsa").stamp(b"another seal"))
    p.commit("Witness")


def altered_time(p: Project) -> None:
    answer = stamp(p)
    year = f"{parse_token(answer).time:%Y}".encode()
    p.write(TOKEN, answer.replace(b"\x18\x0f" + year, b"\x18\x0f2020"))
    assert parse_token((p.root / TOKEN).read_bytes()).time.year == 2020


def another_request(p: Project) -> None:
    stamp(p)
    authority = local("rsa")
    authority.write("data", seal_bytes(p))
    p.write("prereg/pilot.tsq", authority.run("-query", "-data", "data", "-sha256", "-cert"))
    p.commit("The request, says the author")


def truncated_token(p: Project) -> None:
    p.write(TOKEN, stamp(p)[:-40])


def required_token_dropped(p: Project) -> None:
    witnessed(p)
    p.git("rm", "-q", TOKEN)
    p.commit("Drop the witness")


def required_token_replaced(p: Project) -> None:
    witnessed(p)
    stamp(p)


def proof_of_another_file(p: Project) -> None:
    p.write("prereg/pilot.ots", about(sha256_bytes(b"another seal")))
    p.commit("Proof")


def truncated_proof(p: Project) -> None:
    p.write("prereg/pilot.ots", about(sha256_bytes(seal_bytes(p)))[:-3])
    p.commit("Proof")
