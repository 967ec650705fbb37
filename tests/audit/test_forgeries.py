"""Rows 1 to 33 of the list of forgeries: each has tamperings that are caught, and honest twins that hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import scripts
import tampering_files
import tampering_metrics
import tampering_unjudged
import tampering_witness
from authority import local
from project import Project
from tampering import ELSEWHERE, SECOND
from tampering_amended import amended, closed, import_exchanged, judged_again
from tampering_table import TABLE

from audit import anchoring
from audit.config import load_config
from audit.context import Context
from audit.verify import verify

Twin = Callable[[Project], object]

FORGERIES: dict[int, tuple[str, ...]] = {
    1: ("prediction_byte",),
    2: ("seal_bytes", "seal_content"),
    3: ("sealed_again",),
    4: ("frozen_code",),
    5: ("import_exchanged",),
    6: ("registration_dropped", "dropped_registration"),
    7: ("registration_line_endings", "committed_line_endings"),
    8: ("duplicate_key", "alias", "second_document"),
    9: ("second_on_one_predecessor",),
    10: ("linked_registration",),
    11: ("record_first", "together"),
    12: ("backdated",),
    13: ("squash_of_all",),
    14: ("rebased",),
    15: ("shallow",),
    16: ("replace_ref", "grafts_file"),
    17: ("revert_and_add_again",),
    18: ("raw_run_before",),
    19: ("mended",),
    20: ("staged_seal",),
    21: ("token_of_another_seal", "truncated_token"),
    23: ("digit", "edited_record"),
    24: ("record_and_log",),
    25: ("typed_summary", "repeated_value"),
    26: ("lock_entry", "frozen_stage"),
    27: ("swapped_seed", "doubled_seed", "dropped_seed"),
    28: ("cell_gone",),
    29: ("truncated", "not_a_number", "extra_key"),
    30: ("pointer",),
    31: ("edited_in_the_cache",),
    32: ("hidden_edit",),
    33: ("widened_tolerance",),
}
"""Row -> names of tamperings of `tampering_table.TABLE`, where each is caught, and passes with its check disabled. Row 22 is below."""
UNCHECKED = {"squash_of_all", "rebased", "shallow", "truncated_token", "pointer"}
"""Those whose answer is `could not check`."""


def edited_before_its_seal(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "No run recovers.", "No run recovers!")
    p.commit("Better words")
    p.sealed()
    p.ran()


def sealed_on_two_branches(p: Project) -> None:
    p.git("checkout", "-q", "-b", "other")
    p.sealed()
    p.git("checkout", "-q", "main")
    p.write("notes.md", "A note.\n")
    p.commit("A note")
    p.sealed()
    p.git("merge", "-q", "--no-ff", "other", "-m", "Merge")
    p.ran()


def code_moved_on(p: Project) -> None:
    closed(p)
    p.commit("Close")
    p.edit("judge.py", "0.5", "0.4")
    p.commit("The next study")


def import_kept(p: Project) -> None:
    import_exchanged(p, changed="LINE = 0.5\n")


def drafted_second(p: Project) -> None:
    p.write("prereg/second.yaml", SECOND.replace("holds_for: {scale: laptop, seed_sets.main: pilot}", ELSEWHERE))
    p.commit("Draft a second")


def dropped_draft(p: Project) -> None:
    drafted_second(p)
    p.git("rm", "-q", "prereg/second.yaml")
    p.commit("Drop the draft")


def checked_out_with_crlf(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "\n", "\r\n")


def amended_twice(p: Project) -> None:
    amended(p)
    amended(p, 2, 3)
    judged_again(p)


def link_beside(p: Project) -> None:
    (p.root / "pilot.yaml").symlink_to("prereg/pilot.yaml")
    p.commit("A link to the registration")


def rebased_with_tag(s: scripts.Script) -> None:
    s.branch("run")
    start = s.seal()
    s.results(start)
    s.git("tag", "audit/start/1", start)
    s.main()
    s.other()
    s.git("checkout", "-q", "run")
    s.git("rebase", "-q", "main")


def full_clone(s: scripts.Script) -> Path:
    scripts.linear(s)
    s.git("clone", "-q", s.project.root.as_uri(), "../clone")
    return s.project.root.parent / "clone"


def notes_and_tags(p: Project) -> None:
    p.git("notes", "add", "-m", "A remark", "HEAD")
    p.git("tag", "v1")


def reverted_and_back(s: scripts.Script) -> None:
    scripts.linear(s)
    s.git("revert", "--no-edit", "HEAD")
    s.git("revert", "--no-edit", "HEAD")


def stamped(p: Project) -> None:
    tampering_witness.stamp(p)


def run_again(p: Project) -> None:
    p.ran()


def not_frozen(p: Project) -> None:
    p.edit("dvc.yaml", "  analyse:\n", "  analyse:\n    frozen: false\n")


def exploratory_seeds(p: Project) -> None:
    p.edit("params.yaml", "main: pilot", "main: [7, 8, 9]")
    p.train([7, 8, 9])
    p.analyse()
    p.lock()
    p.commit("Explore")


def not_run_yet(p: Project) -> None:
    p.lock()
    p.commit("Lock the calibration")


def pointer_elsewhere(p: Project) -> None:
    p.write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n")
    p.commit("Data that nobody judges")


def open_edit(p: Project) -> None:
    for number in (1, 2):
        p.write("src/model.py", f"RATE = {number}\n")
        p.commit("A model")


def sealed_tolerance(p: Project) -> None:
    tampering_metrics.register(p, "key: arms.treated}", "key: arms.treated, tolerance: 0}")


TWINS: dict[int, tuple[tuple[str, Twin], ...]] = {
    1: (("drafted", edited_before_its_seal),),
    2: (("drafted", sealed_on_two_branches),),
    3: (("ran", tampering_unjudged.seal_second),),
    4: (("ran", code_moved_on),),
    5: (("sealed", import_kept),),
    6: (("ran", dropped_draft),),
    7: (("ran", checked_out_with_crlf),),
    8: (("ran", drafted_second),),
    9: (("ran", amended_twice),),
    10: (("ran", link_beside),),
    11: (("script", scripts.exploratory_first), ("script", scripts.linear)),
    12: (("script", scripts.dates_reversed),),
    13: (("script", scripts.squashed_results), ("script", scripts.squashed_with_tag)),
    14: (("script", rebased_with_tag), ("script", scripts.cherry_pick)),
    15: (("script", full_clone),),
    16: (("ran", notes_and_tags),),
    17: (("script", reverted_and_back),),
    18: (("script", scripts.chain_of_runs),),
    19: (("script", scripts.same_bytes_again),),
    20: (("script", scripts.no_ff_merge),),
    21: (("ran", stamped), ("drafted", tampering_witness.witnessed)),
    23: (("ran", run_again),),
    24: (("ran", run_again),),
    25: (("ran", judged_again),),
    26: (("ran", not_frozen),),
    27: (("sealed", exploratory_seeds),),
    28: (("sealed", not_run_yet),),
    29: (("ran", run_again),),
    30: (("ran", pointer_elsewhere),),
    31: (("ran", tampering_files.states),),
    32: (("ran", open_edit),),
    33: (("drafted", sealed_tolerance),),
}
"""Row -> the honest form of the same act, and what it begins with; the ways of DVC (rows 20 and 31) have more in `dvc_ways.PASS`."""
HONEST = {(base, twin): f"{row}-{twin.__name__}" for row, twins in TWINS.items() for base, twin in twins}


@pytest.mark.parametrize("row", sorted({*range(1, 34)} - {22}))
def test_each_row_is_caught_and_has_a_twin(row: int) -> None:
    """Every forgery of the row stands in the table of tamperings with the wanted answer, and the row has an honest form."""
    found = {each.tamper.__name__: each.exit for each in TABLE}
    assert FORGERIES[row] and TWINS[row]
    assert {name: found.get(name) for name in FORGERIES[row]} == {name: 2 if name in UNCHECKED else 1 for name in FORGERIES[row]}


@pytest.mark.parametrize(("base", "twin"), HONEST, ids=HONEST.values())
def test_the_honest_twin_holds(base: str, twin: Twin, templates: dict[str, Project], tmp_path: Path) -> None:
    """The honest form of the same act finds nothing, and nothing is left unchecked."""
    project = templates["drafted" if base == "script" else base].copy(tmp_path / "project")
    made = twin(scripts.Script(project, templates["ran"]) if base == "script" else project)  # type: ignore[arg-type]
    root = made if isinstance(made, Path) else project.root
    report = verify(Context(root, load_config(root)))
    assert report.code == 0, "\n".join(finding.line() for finding in report.findings)


def test_a_root_of_the_repository_is_not_anchored(ran: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 22: a root that the audited repository ships anchors nothing; it would without that rule, and the verifier's own does."""
    own, shipped = tmp_path / "root.pem", ran.root / "prereg/root.pem"
    own.write_bytes(local("rsa").root.read_bytes())
    tampering_witness.stamp(ran)

    def said(root: Path) -> str:
        report = verify(Context(ran.root, load_config(ran.root), roots=(root,)))
        assert report.code == 0
        return "\n".join(finding.line() for finding in report.findings if finding.code == "A211")

    assert " note: anchored: " in said(own)
    ran.write("prereg/root.pem", own.read_bytes())
    ran.commit("Trust me")
    assert "prereg/root.pem is shipped by the audited repository and does not count" in said(shipped) and "anchored: the seal" not in said(shipped)
    monkeypatch.setattr(anchoring, "is_shipped", lambda *_: False)
    assert " note: anchored: " in said(shipped)
