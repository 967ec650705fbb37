"""Seeds that take a witness: none before the time stamp is committed, and those of the first one whatever comes after."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from authority import local, rebuild
from project import Project
from tampering_witness import SECOND, TOKEN, demand, seal_bytes, stamp, witnessed

from audit.cli import main
from audit.finding import FOUND, Refusal
from audit.gate import main as gate
from audit.registration import derive_seeds, parse_seal
from audit.status import main as status
from audit.status import print_seeds
from audit.timestamp import parse_token
from audit.tokens import first_token
from audit.verify import verify


@pytest.fixture
def demanded(drafted: Project) -> Project:
    """A committed seal whose seeds take a witness."""
    demand(drafted)
    return drafted


def seeds_of(p: Project) -> tuple[int, ...]:
    return p.start_training().seeds


def derived(p: Project, answer: bytes) -> tuple[int, ...]:
    return derive_seeds(parse_seal(seal_bytes(p), "prereg/pilot.seal.json"), "main", 3, parse_token(answer).sha256)


def lines(p: Project) -> list[str]:
    return [finding.line() for finding in verify(p.context()).findings]


def test_no_run_without_a_committed_token(demanded: Project) -> None:
    """The gate says what is missing: no token, then a token that only lies here."""
    answer = local("rsa").stamp(seal_bytes(demanded))
    for _ in range(2):
        with pytest.raises(Refusal, match="the seeds wait for a time stamp of the seal, and none is committed.*audit witness pilot --tsa URL"):
            seeds_of(demanded)
        demanded.write(TOKEN, answer)
    demanded.commit("Witness")
    assert seeds_of(demanded) == derived(demanded, answer)


@pytest.mark.parametrize("forged", [b"not a token", b"", "other"], ids=["garbage", "empty", "another seal's"])
def test_no_run_on_what_is_no_token_of_this_seal(forged: object, demanded: Project) -> None:
    """A file of the right name alone gives no seeds."""
    demanded.write(TOKEN, local("rsa").stamp(b"other") if forged == "other" else forged)  # type: ignore[arg-type]
    demanded.commit("Witness")
    with pytest.raises(Refusal, match="none is committed"):
        seeds_of(demanded)


def test_run_with_a_witness_holds(drafted: Project) -> None:
    """Sealed, witnessed, run, in order: nothing to find, and the record's seeds are those of the token."""
    witnessed(drafted)
    record = json.loads(drafted.read("results/train/shallow.json"))
    assert tuple(record["provenance"]["seeds"]) == derived(drafted, (drafted.root / TOKEN).read_bytes())
    report = verify(drafted.context())
    assert report.code == 0, lines(drafted)
    assert any("results on its seeds are younger than" in line for line in lines(drafted))


def test_gate_and_status_say_what_comes_next(demanded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Asked before the witness, the gate refuses every stage under the seal; afterwards it lets it go."""
    with demanded.inside():
        status()
        assert "sealed, not witnessed: audit witness pilot --tsa URL" in capsys.readouterr().out
        with pytest.raises(Refusal, match="the seeds wait for a time stamp"):
            gate("train")
        stamp(demanded)
        gate("train")
        status()
    shown = capsys.readouterr().out
    assert "train may run; it stands under pilot" in shown and "sealed; to run" in shown


def test_truncated_token_is_one_line(demanded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A token cut short gives no seeds and could not be checked."""
    answer = stamp(demanded)
    demanded.git("reset", "-q", "--hard", "HEAD~1")
    demanded.write(TOKEN, answer[:-40])
    demanded.commit("Witness")
    with demanded.inside(), pytest.raises(SystemExit) as ended:
        main(["seeds", "pilot"])
    assert ended.value.code == 2 and capsys.readouterr().err.count("\n") == 1
    assert any(line.startswith(f"A212 {TOKEN} could not check: is no readable time stamp; found the bytes end") for line in lines(demanded))
    assert demanded.git("status", "--short") == ""


def test_plain_seeds_are_printed_in_a_shallow_clone(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Seeds that take no witness ask for no history."""
    sealed.git("clone", "-q", "--depth", "1", sealed.root.as_uri(), "../clone")
    with Project(sealed.root.parent / "clone").inside():
        print_seeds("pilot")
    assert "-\\nmain\\n0" in capsys.readouterr().out


def test_waiting_is_a_note(demanded: Project) -> None:
    """Before the run the missing witness is what comes next, not a fault."""
    assert any("A211" in line and "note: its seeds wait for a time stamp" in line for line in lines(demanded))


def test_results_without_any_token_are_found(demanded: Project) -> None:
    """Results that were made beside a token that history does not hold."""
    demanded.git("checkout", "-q", "-b", "aside")
    stamp(demanded)
    demanded.train()
    demanded.git("checkout", "-q", "main")
    demanded.commit("Results")
    shown = lines(demanded)
    assert any(line.startswith("A210 prereg/pilot.seal.json its seeds wait for a time stamp of the seal") for line in shown), shown
    assert any(line.startswith("A308") and "could not check: its seeds cannot be derived" in line for line in shown)


def test_second_token_never_changes_seeds(demanded: Project) -> None:
    """A later token, under its own name or in the place of the first, gives no other seeds."""
    wanted = derived(demanded, stamp(demanded))
    stamp(demanded, SECOND, "ec")
    assert seeds_of(demanded) == wanted
    demanded.write(TOKEN, local("ec").stamp(seal_bytes(demanded)))
    demanded.commit("A better one")
    assert seeds_of(demanded) == wanted


def test_first_commit_counts_not_the_name(demanded: Project) -> None:
    """The numbered token was committed first; of two in one commit the unnumbered one counts."""
    wanted = derived(demanded, stamp(demanded, SECOND))
    stamp(demanded, TOKEN)
    assert seeds_of(demanded) == wanted


def test_of_two_in_one_commit_the_unnumbered_one_counts(demanded: Project) -> None:
    """One commit brings both: the rule leaves no choice."""
    one, two = local("rsa").stamp(seal_bytes(demanded)), local("ec").stamp(seal_bytes(demanded))
    demanded.write(SECOND, two)
    demanded.write(TOKEN, one)
    demanded.commit("Both")
    assert seeds_of(demanded) == derived(demanded, one)


def test_same_content_in_another_file_is_the_same_witness(drafted: Project) -> None:
    """An unsigned attribute gives other bytes; seeds and findings stay."""
    witnessed(drafted)
    before = seeds_of(drafted)
    drafted.write(TOKEN, rebuild((drafted.root / TOKEN).read_bytes(), unsigned=b"anything"))
    drafted.commit("An unsigned attribute")
    assert seeds_of(drafted) == before
    assert verify(drafted.context()).code == 0, lines(drafted)


def test_parallel_tokens_give_no_seeds(demanded: Project) -> None:
    """Neither of two tokens on branches that were merged later is the first: choosing one would be a choice of seeds."""
    demanded.git("checkout", "-q", "-b", "aside")
    stamp(demanded, SECOND, "ec")
    demanded.git("checkout", "-q", "main")
    stamp(demanded)
    demanded.git("merge", "-q", "--no-edit", "aside")
    with pytest.raises(Refusal, match="parallel branches") as refused:
        seeds_of(demanded)
    assert refused.value.code == FOUND
    assert any(line.startswith("A210") and "parallel branches" in line for line in lines(demanded))


def test_same_token_on_two_branches_is_one(demanded: Project) -> None:
    """A cherry-pick of the witness is no second token."""
    demanded.git("checkout", "-q", "-b", "aside")
    answer = stamp(demanded)
    picked = demanded.head()
    demanded.git("checkout", "-q", "main")
    demanded.write("notes.md", "meanwhile")
    demanded.commit("Meanwhile")
    demanded.git("cherry-pick", picked)
    demanded.git("merge", "-q", "--no-edit", "aside")
    assert seeds_of(demanded) == derived(demanded, answer)


def test_shallow_clone_cannot_tell_the_first(demanded: Project) -> None:
    """What came before the cut may hold another token."""
    stamp(demanded)
    demanded.git("clone", "-q", "--depth", "1", demanded.root.as_uri(), "../clone")
    clone = Project(demanded.root.parent / "clone")
    with pytest.raises(Refusal, match="shallow clone cannot show which time stamp came first"):
        first_token(clone.context(), "pilot")


@pytest.mark.parametrize("kind", ["rsa", "ec"])
@pytest.mark.parametrize("bare", [False, True], ids=["answer", "token"])
def test_the_printed_commands_give_the_seeds(kind: str, bare: bool, demanded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """openssl takes the signed content out of the committed token, sha256sum does the rest; a bare token is opened another way."""
    answer = local(kind).stamp(seal_bytes(demanded))
    if bare:
        local(kind).write("answer.tsr", answer)
        answer = local(kind).run("-reply", "-in", "answer.tsr", "-token_out")
    demanded.write(TOKEN, answer)
    demanded.commit("Witness")
    capsys.readouterr()
    with demanded.inside():
        print_seeds("pilot")
    shown = capsys.readouterr().out.splitlines()
    at = next(place for place, line in enumerate(shown) if "openssl" in line)
    assert shell(demanded, shown[at]).split()[0] == shown[at + 1].strip() == parse_token(answer).sha256
    commands = [line.partition("   # seed") for line in shown if "# seed" in line]
    redone = tuple(int(shell(demanded, command)[:16], 16) & 0x7FFFFFFFFFFFFFFF for command, _, _ in commands)
    assert redone == tuple(int(seed.partition(": ")[2]) for _, _, seed in commands) == seeds_of(demanded)


def shell(project: Project, command: str) -> str:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=project.root, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_seeds_command_without_a_token_is_one_line(demanded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """There are no seeds yet, and no half of them is printed."""
    with demanded.inside(), pytest.raises(SystemExit) as ended:
        main(["seeds", "pilot"])
    shown = capsys.readouterr()
    assert ended.value.code == 2 and shown.err.count("\n") == 1 and "none is committed" in shown.err and "# seed" not in shown.out


def test_seeds_differ_from_those_without_a_witness(demanded: Project) -> None:
    """The same seal, with and without: no seed in common."""
    seal = parse_seal(seal_bytes(demanded), "prereg/pilot.seal.json")
    assert not set(derived(demanded, stamp(demanded))) & set(derive_seeds(seal, "main", 3))
