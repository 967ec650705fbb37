"""A seal is made once, over clean committed bytes; everything else is refused in one line and nothing is written."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable

import pytest
from project import PILOT, Project

from audit.close import main as close_main
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.registration import derive_seeds, parse_seal
from audit.status import print_seeds

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


def uncommitted(p: Project) -> None:
    p.write("prereg/other.yaml", PILOT.replace("id: pilot", "id: other"))
    p.git("mv", "prereg/pilot.yaml", "prereg/old.yaml")
    p.commit("Away with the pilot", "prereg/old.yaml")
    p.write("prereg/pilot.yaml", PILOT)


def dirty(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "value: 2}", "value: 1}")


def staged(p: Project) -> None:
    dirty(p)
    p.git("add", "prereg/pilot.yaml")


def dirty_code(p: Project) -> None:
    p.edit("judge.py", "0.5", "0.4")


def line_endings(p: Project) -> None:
    p.edit("judge.py", "\n", "\r\n")


def pointer(p: Project) -> None:
    p.write("judge.py", LFS)
    p.commit("A pointer")


def link(p: Project) -> None:
    p.write("real.py", p.read("judge.py"))
    (p.root / "judge.py").unlink()
    (p.root / "judge.py").symlink_to("real.py")
    p.commit("A link")


def submodule(p: Project) -> None:
    p.git("rm", "-q", "judge.py")
    p.git("update-index", "--add", "--cacheinfo", f"160000,{p.head()},judge.py")
    p.git("commit", "-q", "-m", "A submodule")


def attribute(p: Project) -> None:
    p.write(".gitattributes", "prereg/** -text\njudge.py eol=crlf\n")
    p.commit("Attributes")


def sealed_before(p: Project) -> None:
    p.sealed()
    p.git("rm", "-q", "prereg/pilot.seal.json")
    p.commit("Drop the seal")


def present_seal(p: Project) -> None:
    p.write("prereg/pilot.seal.json", "{}")


def other_seal_uncommitted(p: Project) -> None:
    p.write("prereg/other.seal.json", "{}")


def same_names(p: Project) -> None:
    p.write("results/other/calibration.json", "{}")
    p.edit("prereg/pilot.yaml", "outputs: [", "outputs: [results/other/calibration.json, ")
    p.commit("Two of one name")


def missing_parameter(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "parameters: [thresholds]", "parameters: [threshold]")
    p.commit("A typo")


def other_scale(p: Project) -> None:
    p.edit("params.yaml", "scale: laptop", "scale: smoke")
    p.commit("Another scale")


def parameter_moved(p: Project) -> None:
    p.edit("params.yaml", "line: 0.5", "line: 0.4")


def outcome_exists(p: Project) -> None:
    """An exploratory outcome on the very seeds that this seal would give."""
    p.seal()
    seeds = derive_seeds(parse_seal(p.read("prereg/pilot.seal.json").encode(), "prereg/pilot.seal.json"), "main", 3)
    p.git("clean", "-fdq")
    p.edit("params.yaml", "main: pilot", f"main: {list(seeds)}")
    p.train(list(seeds))
    p.analyse()
    p.edit("params.yaml", f"main: {list(seeds)}", "main: pilot")
    p.commit("Looked first")


def shallow(p: Project) -> None:
    p.git("clone", "-q", "--depth", "1", p.root.as_uri(), "../clone")
    p.root = p.root.parent / "clone"


def overwritten_copy(p: Project) -> None:
    p.write("prereg/pilot/calibration.json", "{}")


def duplicate_key(p: Project) -> None:
    p.write("prereg/pilot.yaml", PILOT + "title: Another\n")
    p.commit("Twice")


def carriage_returns(p: Project) -> None:
    p.write("prereg/pilot.yaml", PILOT.replace("\n", "\r\n"))
    p.commit("From another editor")


def invisible(p: Project) -> None:
    p.write("prereg/pilot.yaml", PILOT.replace("Most runs", "Most\u202e runs"))
    p.commit("Reads otherwise than it looks")


def inside_submodule(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "code: [judge.py]", "code: [lib/judge.py]")
    p.commit("Judge in a submodule")
    p.git("update-index", "--add", "--cacheinfo", f"160000,{p.head()},lib")
    p.git("commit", "-q", "-m", "A submodule")


def behind_link(p: Project) -> None:
    (p.root / "lib").mkdir()
    p.git("mv", "judge.py", "lib/judge.py")
    (p.root / "other").symlink_to("lib")
    p.edit("prereg/pilot.yaml", "code: [judge.py]", "code: [other/judge.py]")
    p.commit("Judge behind a link")


def linked_registration(p: Project) -> None:
    p.write("elsewhere.yaml", PILOT)
    (p.root / "prereg/pilot.yaml").unlink()
    (p.root / "prereg/pilot.yaml").symlink_to("../elsewhere.yaml")
    p.commit("A link for a registration")


def metric_is_text(p: Project) -> None:
    p.write("results/analyse/main.json", '{"arms": {"treated": {"value": "many", "unit": "1", "digits": 0, "tolerance": 0}}}')
    p.commit("Words for a number")


def unknown_threshold(p: Project) -> None:
    p.edit("prereg/pilot.yaml", '{op: ">=", value: 2}', '{op: ">=", frozen: {file: results/calibrate/calibration.json, key: lime}}')
    p.commit("A typo in a threshold")


REFUSED: list[tuple[Callable[[Project], None], str]] = [
    (uncommitted, "prereg/pilot.yaml: is not committed"),
    (dirty, "prereg/pilot.yaml: is not committed as it lies here; expected a clean file"),
    (staged, "prereg/pilot.yaml: is not committed as it lies here"),
    (dirty_code, "judge.py: is not committed as it lies here"),
    (line_endings, "judge.py: differs from the committed file only in line endings; cure: put `judge.py -text` into .gitattributes"),
    (pointer, "judge.py: content absent: this is a pointer, not the data; cure: git lfs pull"),
    (link, "judge.py: cannot be sealed; expected a plain file of this repository; found a symbolic link"),
    (submodule, "judge.py: cannot be sealed; expected a plain file of this repository; found a submodule"),
    (attribute, "judge.py: git may change its bytes on checkout; found attribute eol=crlf"),
    (sealed_before, "prereg/pilot.seal.json: was sealed before; a seal is never made again"),
    (present_seal, "prereg/pilot.seal.json: exists and is not committed"),
    (other_seal_uncommitted, "prereg/other.seal.json: an earlier seal is not at HEAD"),
    (same_names, "prereg/pilot/calibration.json: two frozen outputs have one file name"),
    (missing_parameter, "params.yaml: key 'threshold', which pilot freezes, is not there"),
    (other_scale, "pilot: does not hold under the committed parameters; found scale is 'smoke', registered for 'laptop'"),
    (parameter_moved, "params.yaml: key 'thresholds' differs from HEAD's"),
    (outcome_exists, "results/analyse/main.json: an outcome of pilot exists already: this seal would come after it"),
    (shallow, "prereg/pilot.seal.json: a shallow clone cannot show that no seal was made before; cure: git fetch --unshallow"),
    (overwritten_copy, "prereg/pilot/calibration.json: exists with other bytes than the output it would copy"),
    (duplicate_key, "prereg/pilot.yaml"),
    (carriage_returns, "prereg/pilot.yaml: has CRLF line ends; expected LF"),
    (invisible, "prereg/pilot.yaml:10: holds a character that does not print; found U+202E"),
    (inside_submodule, "lib/judge.py: cannot be sealed; expected a plain file of this repository; found a path inside lib, a submodule"),
    (behind_link, "other/judge.py: cannot be sealed; expected a plain file of this repository; found a path inside other, a symbolic link"),
    (linked_registration, "prereg/pilot.yaml: cannot be sealed; expected a plain file of this repository; found a symbolic link"),
    (metric_is_text, "prereg/pilot.yaml: P1: results/analyse/main.json:arms.treated: value.float is not valid"),
    (unknown_threshold, "prereg/pilot.yaml: P1: results/calibrate/calibration.json: no quantity at key 'lime'; found nearest keys: line"),
]


@pytest.mark.parametrize(("spoil", "words"), REFUSED, ids=lambda value: getattr(value, "__name__", None))
def test_seal_refuses(spoil: Callable[[Project], None], words: str, drafted: Project) -> None:
    """A file that is not clean, committed, plain and new to the history is never sealed; the line says which and why."""
    spoil(drafted)
    before = {path: path.read_bytes() for path in (drafted.root / "prereg").rglob("*") if path.is_file()}
    with pytest.raises(Refusal) as refusal:
        drafted.seal()
    assert str(refusal.value).startswith(words)
    assert refusal.value.code == 2
    after = {path: path.read_bytes() for path in (drafted.root / "prereg").rglob("*") if path.is_file()}
    assert after == before


def test_seal_holds_digests_of_committed_bytes(sealed: Project) -> None:
    """The seal names registration, code and copies by the digests sha256sum gives, and the parameters by value."""
    seal = json.loads(sealed.read("prereg/pilot.seal.json"))
    names = ["judge.py", "prereg/pilot.yaml", "prereg/pilot/calibration.json", "prereg/pilot/calibration.run.json"]
    assert sorted(seal["files"]) == names
    for name, digest in seal["files"].items():
        assert digest == sha256_bytes((sealed.root / name).read_bytes())
    assert seal["parameters"]["thresholds"]["value"] == {"line": 0.5}
    assert seal["origins"]["prereg/pilot/calibration.json"] == "results/calibrate/calibration.json"
    assert not {"time", "commit", "created"} & seal.keys()


def test_seal_is_the_same_wherever_and_whenever_it_is_made(drafted: Project, sealed: Project, tmp_path) -> None:
    """No time, commit or place goes into a seal: two people who seal the same text write the same bytes."""
    other = drafted.copy(tmp_path / "elsewhere")
    other.git("commit", "-q", "--allow-empty", "-m", "Another commit")
    other.seal()
    assert other.read("prereg/pilot.seal.json") == sealed.read("prereg/pilot.seal.json")


def test_null_in_a_frozen_parameter_survives(drafted: Project) -> None:
    """A frozen parameter with a null inside gives a seal that can be read again."""
    drafted.edit("params.yaml", "{line: 0.5}", "{line: 0.5, other: null}")
    drafted.commit("A null")
    drafted.seal()
    assert parse_seal(drafted.read("prereg/pilot.seal.json").encode(), "prereg/pilot.seal.json").parameters["thresholds"].value["other"] is None


def test_autocrlf_checkout_is_named_and_nothing_else(ran: Project) -> None:
    """core.autocrlf rewrites a frozen file without -text: verify names it as line endings, a note, and exits 0."""
    (ran.root / "judge.py").unlink()
    ran.git("-c", "core.autocrlf=true", "checkout", "--", "judge.py")
    assert b"\r\n" in (ran.root / "judge.py").read_bytes()
    from audit.verify import verify

    report = verify(ran.context())
    assert report.code == 0
    assert [finding.code for finding in report.findings if finding.code.startswith("A1")] == ["A106"]
    assert "differs from the sealed file only in line endings; the seal stands and is not made again" in report.findings[0].line()


def test_seeds_can_be_derived_again_with_sha256sum(sealed: Project) -> None:
    """The shell's own sha256sum gives content and seeds, as `audit seeds` and the seal say."""
    seal = parse_seal(sealed.read("prereg/pilot.seal.json").encode(), "prereg/pilot.seal.json")
    files = " ".join(sorted(seal.files))
    content = shell(sealed, f"sha256sum {files} | LC_ALL=C sort -k2 | sha256sum").split()[0]
    assert content == seal.content
    seeds = []
    for index in range(3):
        digest = shell(sealed, f"printf 'audit-seed-1\\npilot\\n{content}\\n-\\nmain\\n{index}\\n' | sha256sum")
        seeds.append(int(digest[:16], 16) & 0x7FFFFFFFFFFFFFFF)
    assert tuple(seeds) == derive_seeds(seal, "main", 3)


def test_the_printed_commands_give_what_is_printed_below_them(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Pasted into a shell, also after the frozen code has moved on, the commands of `audit seeds` give its digest and seeds."""
    with ran.inside():
        close_main("pilot")
    ran.commit("Close")
    ran.edit("judge.py", "0.5", "0.6")
    ran.commit("Move on")
    capsys.readouterr()
    with ran.inside():
        print_seeds("pilot")
    lines = capsys.readouterr().out.splitlines()
    assert shell(ran, lines[1]).split()[0] == lines[2].strip()
    commands = [line.partition("   # seed") for line in lines if "# seed" in line]
    assert len(commands) == 3
    for command, _, seed in commands:
        assert int(shell(ran, command)[:16], 16) & 0x7FFFFFFFFFFFFFFF == int(seed.partition(": ")[2])


def shell(project: Project, command: str) -> str:
    done = subprocess.run(["bash", "-c", command], cwd=project.root, capture_output=True, text=True, check=True, env=dict(os.environ))
    return done.stdout


def test_one_changed_byte_gives_other_seeds(sealed: Project, drafted: Project, tmp_path) -> None:
    """Seeds hang on every byte that is sealed, and on the name of the set."""
    first = parse_seal(sealed.read("prereg/pilot.seal.json").encode(), "prereg/pilot.seal.json")
    other = drafted.copy(tmp_path / "other")
    other.edit("judge.py", "0.5", "0.6")
    other.commit("Another judge")
    other.seal()
    second = parse_seal(other.read("prereg/pilot.seal.json").encode(), "prereg/pilot.seal.json")
    assert not set(derive_seeds(first, "main", 3)) & set(derive_seeds(second, "main", 3))
    assert not set(derive_seeds(first, "main", 3)) & set(derive_seeds(first, "replication", 3))
    assert derive_seeds(first, "main", 5)[:3] == derive_seeds(first, "main", 3)
