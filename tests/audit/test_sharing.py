"""A seed set belongs to one seal; another registration shares it by `same_as`, sealed before any run on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import pytest
import tampering
from project import PILOT, Project

from audit.appendix import show_chances
from audit.close import main as close
from audit.denominator import expect_met, registered
from audit.evaluate import evaluate
from audit.evaluate import main as judge_again
from audit.finding import Refusal
from audit.registration import parse_registration
from audit.status import print_seeds
from audit.verify import Report, verify

SHARED = tampering.SECOND.replace("id: second", "id: shared").replace("{from: seal, sets: {second: 3}}", "{same_as: pilot}")
NEXT = PILOT.replace("id: pilot", "id: next").replace("seed_sets.main: pilot", "seed_sets.main: next").replace("value: 2}", "value: 3}", 1)


def lines(report: Report) -> str:
    return "\n".join(finding.line() for finding in report.findings)


def register(project: Project, text: str, name: str) -> None:
    project.write(f"prereg/{name}.yaml", text)
    project.commit(f"Register {name}")


def seal_also(project: Project, text: str, name: str) -> None:
    register(project, text, name)
    project.seal(name)
    project.commit(f"Seal {name}")


def test_shared_seeds_stand_under_both_seals(sealed: Project) -> None:
    """With both seals committed first, every record on the seeds names both, and both registrations are in order."""
    seal_also(sealed, SHARED, "shared")
    sealed.ran()
    report = verify(sealed.context(), disabled=("unjudged",))  # of the two only the pilot is judged
    assert report.code == 0, lines(report)
    said = [json.loads(sealed.read(f"results/{name}.json"))["provenance"] for name in ("train/shallow", "analyse/main")]
    assert all(set(provenance["seals"]) == {"pilot", "shared"} for provenance in said)
    assert len({tuple(provenance["seeds"]) for provenance in said}) == 1


def test_chances_under_shared_seeds_count_the_owners_units(sealed: Project) -> None:
    """Two of three seeds by a coin: known although the seeds are another registration's, and among what chance is expected to meet."""
    by_a_coin = 'comparator: {op: ">", value: 0.5, units: 2}\n    population: {set: main}\n    "null": {text: Both arms are equal., unit_chance: 0.5}'
    text = SHARED.replace('comparator: {op: ">", value: 0.5}\n    "null": Both arms are equal.', by_a_coin)
    assert text != SHARED
    seal_also(sealed, text, "shared")
    entries = registered(sealed.context())
    assert entries["shared"].sets == {"main": 3} == entries["pilot"].sets
    assert expect_met([entries["shared"]]) == (Fraction(1, 2), 1) == expect_met(entries.values())
    assert {name: chance["value"] for name, chance in show_chances(entries["shared"]).items()} == {"P2": 0.5} and show_chances(entries["pilot"]) == {}


def test_gate_waits_for_the_second_seal(sealed: Project) -> None:
    """While a registration that shares the seeds is a draft no run on them may begin, whatever stages it names."""
    register(sealed, SHARED.replace("stages: [train]", "stages: [other]"), "shared")
    with pytest.raises(Refusal, match=r"prereg/shared.seal.json: the registration is not sealed"):
        sealed.start_training()


def after_the_run(p: Project) -> None:
    p.ran()
    register(p, SHARED, "shared")


def unknown_owner(p: Project) -> None:
    register(p, SHARED.replace("same_as: pilot", "same_as: nobody"), "shared")


def itself(p: Project) -> None:
    register(p, SHARED.replace("same_as: pilot", "same_as: shared"), "shared")


def chain(p: Project) -> None:
    seal_also(p, SHARED.replace("id: shared", "id: middle").replace("value: 2}", "value: 1}"), "middle")
    register(p, SHARED.replace("same_as: pilot", "same_as: middle"), "shared")


def rival(p: Project) -> None:
    register(p, SHARED.replace("{same_as: pilot}", "{from: seal, sets: {main: 3}}"), "shared")


REFUSED: list[tuple[Callable[[Project], None], str]] = [
    (after_the_run, "results/analyse/main.json: has run already on the seeds of pilot: this seal would come after it"),
    (unknown_owner, "prereg/shared.yaml: seeds.same_as: no registration 'nobody'; expected the id of a sealed registration"),
    (itself, "prereg/shared.yaml: value is not valid; expected seeds.same_as with the id of another registration"),
    (chain, "prereg/shared.yaml: seeds.same_as: middle has no seeds of its own"),
    (
        rival,
        "prereg/shared.yaml: claims seed set 'main', which pilot owns under the same parameters; expected one seal for a seed set; cure: seeds: {same",
    ),
]


@pytest.mark.parametrize(("spoil", "words"), REFUSED, ids=lambda value: getattr(value, "__name__", None))
def test_seal_refuses_seeds_of_others(spoil: Callable[[Project], None], words: str, sealed: Project) -> None:
    """A second claim on seeds, or one that comes after a run on them, is refused in one line and nothing is written."""
    spoil(sealed)
    with pytest.raises(Refusal) as refusal:
        sealed.seal("shared")
    assert str(refusal.value).startswith(words)
    assert not (sealed.root / "prereg/shared.seal.json").exists()


def test_the_owner_is_named_in_the_parameters(sealed: Project) -> None:
    """A seed set of the parameters names the registration whose seal gives the seeds, not one that shares them."""
    text = SHARED.replace("holds_for: {scale: laptop, seed_sets.main: pilot}", "holds_for: {scale: laptop}")
    seal_also(sealed, text, "shared")
    with pytest.raises(Refusal, match="shared shares the seeds of pilot; expected pilot; found shared; cure: write pilot"):
        sealed.start("collect", seed_set="main", set_value="shared")


@pytest.mark.parametrize(
    "seeds", ["{}", "{from: seal}", "{sets: {main: 3}}", "{from: seal, sets: {main: 3}, same_as: other}", "{same_as: pilot, from: seal}"]
)
def test_seeds_have_one_source(seeds: str) -> None:
    """Seeds come from the own seal, with sets, or from another registration's; never from both or neither."""
    with pytest.raises(Refusal, match="either `from` with `sets`, or `same_as` alone"):
        parse_registration(PILOT.replace("{from: seal, sets: {main: 3}}", seeds).encode(), "prereg/pilot.yaml")


def test_seeds_of_a_sharing_registration(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`audit seeds` says whose they are."""
    seal_also(sealed, SHARED, "shared")
    with sealed.inside():
        print_seeds("shared")
    assert capsys.readouterr().out == "shared shares the seeds of pilot: audit seeds pilot\n"


def run_next(project: Project) -> None:
    project.train("next")
    project.analyse()
    with project.inside():
        judge_again("pilot", None, None)  # as dvc repro does: it stays as it was closed
        context = project.context()
        evaluate(context, context.registrations["next"], "results/evaluate/next.json")


def test_second_registration_on_the_same_record(ran: Project) -> None:
    """The earlier registration's record is no outcome of the next one: run again is the cure, and a fresh run is in order uncommitted."""
    with ran.inside():
        close("pilot")
    ran.edit("params.yaml", "main: pilot", "main: next")
    register(ran, NEXT, "next")
    ran.seal("next")
    ran.commit("Seal next")
    before = lines(verify(ran.context(), disabled=("pipeline",)))
    assert "A202 results/analyse/main.json was not made under the seal of next: it is no outcome of it" in before
    assert "cure: run its stage again (dvc repro)" in before and "A201" not in before
    run_next(ran)
    report = verify(ran.context(), disabled=("pipeline",))
    assert report.code == 0, lines(report)
    assert "A201 results/analyse/main.json note: not yet committed" in lines(report)
    ran.commit("Results of next")
    assert verify(ran.context(), disabled=("pipeline",)).code == 0
