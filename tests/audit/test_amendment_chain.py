"""What stands in a chain of amendments, and what a run is compared with: the cases in which a second look would not notice the first."""

from __future__ import annotations

from project import Calibration, Project
from tampering_amended import amended, fork_given_up, second_on_one_predecessor

from audit.chain import standing_amendments
from audit.deviations import find_deviations
from audit.records import Quantity
from audit.verify import verify


def test_what_hangs_on_no_link_is_not_judged(ran: Project) -> None:
    """A second amendment on the first one's predecessor is a finding, and does not stand."""
    second_on_one_predecessor(ran)
    assert [link.amendment.number for link in standing_amendments(ran.context(), "pilot")] == [1]
    said = [finding.what for finding in verify(ran.context()).findings if finding.code == "A118"]
    assert any(what.startswith("history holds two amendments on one predecessor") for what in said)


def test_a_fork_is_seen_in_commits_that_were_given_up(ran: Project) -> None:
    """The other side of a merge that kept ours alone."""
    fork_given_up(ran)
    said = [finding.what for finding in verify(ran.context()).findings if finding.code == "A118"]
    assert said == ["history holds more than one version of this seal"]


def test_outcome_without_a_run_log_came_first_too(sealed: Project) -> None:
    """Leaving the log away does not make an amendment earlier: the commit that brought the record decides."""
    sealed.train()
    sealed.analyse()
    for path in ("train/shallow", "analyse/main"):
        (sealed.root / f"results/{path}.run.json").unlink()
    sealed.commit("Records without their logs")
    amended(sealed)
    (link,) = standing_amendments(sealed.context(), "pilot")
    assert link.sealed == "after outcome"


def test_what_a_frozen_run_log_names_is_not_compared(drafted: Project) -> None:
    """A cached output of a run before the seal, named by its sealed log, is as registered, whatever that run had been given."""
    drafted.write("states/line.bin", "0.5")
    drafted.write("params.yaml", drafted.read("params.yaml") + "steps: 100\n")
    run = drafted.start("calibrate", inputs=["params.yaml"])
    with drafted.inside():
        line = Quantity(value=0.6, digits=1, tolerance=0.01)
        run.finish(Calibration(provenance=run.provenance, line=line), "results/calibrate/calibration.json", ["states/line.bin"])
    drafted.commit("Calibrate")
    drafted.edit("params.yaml", "steps: 100", "steps: 200")
    drafted.commit("More steps")
    drafted.sealed()
    inputs = ["params.yaml", "states/line.bin"]
    drafted.train(run=drafted.start("train@shallow", inputs=inputs, seed_set="main", set_value="pilot"))
    drafted.analyse()
    drafted.commit("Results")
    assert find_deviations(drafted.context(), "pilot") == ()
