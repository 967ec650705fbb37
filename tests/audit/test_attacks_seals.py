"""Attacks that once went through, and honest acts that were once accused, each with the right answer: seals."""

from __future__ import annotations

import hashlib
import json

from attacks import holds, lines, locked_parameters, met, missed, report, wrong
from project import Project, counted
from tampering import SECOND
from tampering_amended import amended, closed


def test_mode_of_a_seal_changed_hides_no_tuning(sealed: Project) -> None:
    """`chmod +x` of the seal gave it a second birthday, in whose tree the tuned code was `as registered`."""
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    sealed.git("update-index", "--chmod=+x", "prereg/pilot.seal.json")
    sealed.git("commit", "-q", "-m", "Mode")
    sealed.git("checkout", "-q", "--", ".")
    sealed.ran()
    wrong(sealed, "A119")


def test_seal_removed_and_added_again_hides_no_tuning(sealed: Project) -> None:
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    data = sealed.read("prereg/pilot.seal.json")
    sealed.git("rm", "-q", "prereg/pilot.seal.json")
    sealed.commit("Oops")
    sealed.write("prereg/pilot.seal.json", data)
    sealed.commit("Bring it back")
    sealed.ran()
    wrong(sealed)


def test_seal_picked_onto_a_tuned_branch_hides_no_tuning(drafted: Project) -> None:
    drafted.git("checkout", "-q", "-b", "tuned")
    drafted.write("params.yaml", drafted.read("params.yaml") + "steps: 200\n")
    drafted.commit("Longer runs")
    drafted.git("checkout", "-q", "main")
    seal = drafted.sealed()
    drafted.git("checkout", "-q", "tuned")
    drafted.git("cherry-pick", seal)
    drafted.git("checkout", "-q", "main")
    drafted.git("merge", "-q", "--no-ff", "tuned", "-m", "Merge")
    drafted.ran()
    wrong(drafted, "A119")


def test_mode_of_a_seal_changed_is_honest(ran: Project) -> None:
    """A file's mode changed (another filesystem, `chmod -R`) is no new birth of a seal."""
    ran.write("prereg/second.yaml", SECOND)
    ran.commit("Register a second")
    ran.seal("second")
    ran.commit("Seal the second")
    before = report(ran).code
    ran.git("update-index", "--chmod=+x", "prereg/pilot.seal.json")
    ran.git("commit", "-q", "-m", "Mode")
    ran.git("checkout", "-q", "--", ".")
    found = report(ran)
    assert found.code == before, lines(found)
    assert not any("ledger leaves out" in finding.what for finding in found.findings), lines(found)


def test_mode_after_closing_is_honest(ran: Project) -> None:
    closed(ran)
    ran.commit("Close")
    ran.edit("judge.py", "0.5", "0.4")
    ran.commit("The code moves on")
    holds(ran)
    ran.git("update-index", "--chmod=+x", "prereg/pilot.seal.json")
    ran.git("commit", "-q", "-m", "Mode")
    ran.git("checkout", "-q", "--", ".")
    holds(ran)


def test_nested_seal_of_the_same_name_hides_nothing(ran: Project) -> None:
    """A seal in a folder below took the place of the real one, whose bytes came after it."""
    ran.write("prereg/second.yaml", SECOND)
    ran.commit("Register a second")
    ran.seal("second")
    ran.commit("Seal", "prereg/second.seal.json")
    ran.commit("The copies, later")
    real = json.loads(ran.read("prereg/second.seal.json"))
    files = {name: digest for name, digest in real["files"].items() if not name.startswith("prereg/second/")}
    content = hashlib.sha256("".join(f"{files[name]}  {name}\n" for name in sorted(files)).encode()).hexdigest()
    ran.write("prereg/z/second.seal.json", json.dumps({**real, "files": files, "origins": {}, "content": content}))
    ran.commit("Notes")
    wrong(ran, "A109")


def test_registrations_cannot_be_moved_out_of_sight(ran: Project) -> None:
    """`paths.prereg` and `paths.results` of audit.toml name other folders: what was sealed is gone."""
    ran.git("rm", "-q", "-r", "results", "prereg", "dvc.lock")
    ran.write("audit.toml", 'version = 1\n[paths]\nprereg = "registered"\nresults = "made"\n')
    ran.write("dvc.yaml", "stages: {}\n")
    ran.write("params.yaml", "scale: laptop\n")
    ran.write("registered/README.md", "Nothing was registered.\n")
    ran.commit("Begin anew")
    wrong(ran, "A104", "A123")


def test_seal_downgraded_to_version_1_asks_for_deviations(sealed: Project) -> None:
    """A seal typed by hand as version 1, after one of version 2: nothing had to be declared under it."""
    sealed.write("prereg/second.yaml", SECOND)
    sealed.commit("Register a second")
    sealed.seal("second")
    seal = json.loads(sealed.read("prereg/second.seal.json"))
    del seal["configuration"]
    sealed.write("prereg/second.seal.json", json.dumps({**seal, "version": 1}, sort_keys=True, indent=1) + "\n")
    sealed.commit("Seal the second")
    wrong(sealed, "A103")


def test_seal_typed_as_version_1_asks_for_deviations(drafted: Project) -> None:
    """The same for the only seal: its runs are logged by a tool that knows deviations."""
    drafted.seal()
    seal = json.loads(drafted.read("prereg/pilot.seal.json"))
    del seal["configuration"]
    drafted.write("prereg/pilot.seal.json", json.dumps({**seal, "version": 1}, sort_keys=True, indent=1) + "\n")
    drafted.commit("Seal pilot")
    drafted.write("params.yaml", drafted.read("params.yaml") + "steps: 200\n")
    drafted.commit("Longer runs")
    drafted.ran()
    wrong(drafted, "A119")


def test_missed_outcome_elsewhere_then_met(sealed: Project) -> None:
    """The first outcome was committed at a path where nobody looks, and removed; row 19."""
    missed(sealed)
    (sealed.root / "attic").mkdir()
    (sealed.root / "results/analyse/main.json").rename(sealed.root / "attic/first.json")
    (sealed.root / "results/analyse/main.run.json").rename(sealed.root / "attic/log.json")
    sealed.commit("Missed")
    sealed.git("rm", "-q", "-r", "attic")
    sealed.commit("Tidy")
    met(sealed)
    wrong(sealed, "A204")


def test_missed_outcome_renamed_in_results_then_met(sealed: Project) -> None:
    missed(sealed)
    (sealed.root / "results/analyse/main.json").rename(sealed.root / "results/analyse/first.json")
    (sealed.root / "results/analyse/main.run.json").rename(sealed.root / "results/analyse/other.run.json")
    sealed.commit("Missed")
    sealed.git("rm", "-q", "results/analyse/first.json", "results/analyse/other.run.json")
    sealed.commit("Tidy")
    met(sealed)
    wrong(sealed, "A204")


def test_wide_tolerance_of_the_record_hides_no_other_verdict(sealed: Project) -> None:
    """No tolerance is sealed and the code's own is wide from the start: missed, then met, is another outcome all the same."""
    from project import Analysis, Arms

    from audit.records import Quantity

    def analyse(treated: tuple[int, ...]) -> None:
        run = sealed.start("analyse", inputs=["results/train/shallow.json"], seed_set="main", set_value="pilot")
        wide = Quantity(value=sum(treated), digits=0, style="integer", tolerance=9, summary="count", values=treated)
        arms = Arms(treated=wide, untreated=counted([0, 0, 0]))
        with sealed.inside():
            run.finish(Analysis(provenance=run.provenance, arms=arms, settled=counted([1, 1, 1])), "results/analyse/main.json")
        sealed.evaluate()
        sealed.lock()

    sealed.train()
    analyse((1, 0, 0))
    sealed.commit("Missed")
    analyse((1, 1, 1))
    sealed.commit("Met")
    wrong(sealed, "A204")


def test_amendment_after_an_outcome_elsewhere_is_after(sealed: Project) -> None:
    """The outcome was committed in another folder before the amendment; row 9's neighbour, R15."""
    from audit.chain import standing_amendments

    missed(sealed)
    (sealed.root / "attic").mkdir()
    for path in ("train/shallow", "analyse/main"):
        for suffix in (".json", ".run.json"):
            (sealed.root / f"results/{path}{suffix}").rename(sealed.root / f"attic/{path.replace('/', '-')}{suffix.replace('.run', '-log')}")
    sealed.commit("A look")
    sealed.git("rm", "-q", "-r", "attic")
    sealed.commit("Tidy")
    amended(sealed)
    sealed.ran()
    assert [link.sealed for link in standing_amendments(sealed.context(), "pilot")] == ["after outcome"]


def test_seeds_dropped_altogether(sealed: Project) -> None:
    """Stages that ask the gate for no seed set may run on any seeds: the records name none, and nothing is compared; row 27."""
    inputs = ["params.yaml", "results/calibrate/calibration.json"]
    from project import Analysis, Arms, Training

    from audit.records import Quantity

    run = sealed.start("train@shallow", inputs=inputs)
    with sealed.inside():
        run.finish(Training(provenance=run.provenance, score=Quantity(value=1.0, digits=1, tolerance=1.0)), "results/train/shallow.json")
    run = sealed.start("analyse", inputs=["results/train/shallow.json"])
    arms = Arms(treated=counted([1, 1, 1]), untreated=counted([0, 0, 0]))
    with sealed.inside():
        run.finish(Analysis(provenance=run.provenance, arms=arms, settled=counted([1, 1, 1])), "results/analyse/main.json")
    sealed.evaluate()
    sealed.lock()
    sealed.commit("Results")
    wrong(sealed, "A308")


def test_parameter_read_and_not_locked_is_compared(sealed: Project) -> None:
    """The stage reads all of params.yaml and declares one key of it: another one was tuned."""
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    sealed.train()
    sealed.analyse()
    sealed.evaluate()
    sealed.lock()
    locked_parameters(sealed, "scale: laptop")
    sealed.commit("Results")
    wrong(sealed, "A119")
