"""`params.yaml`: the committed file is read, and each fault is one line with the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import refusal

from rankcollapse.params import load_params

COMMITTED = (Path(__file__).parents[2] / "params.yaml").read_text()

FAULTS = {
    "misspelt key": ("batch: 8", "bacth: 8", "unknown key 'scales.smoke.bacth' (and 1 more); expected batch; found scales.smoke.bacth; cure: write batch"),
    "unknown key": ("    batch: 8\n", "    batch: 8\n    batches: 8\n", "unknown key 'scales.smoke.batches'; expected one of "),
    "unknown key inside": ("warm: 200,", "warm: 200, wram: 3,", "unknown key 'scales.smoke.driver.wram'; expected one of warm, ramp, hold, floors; found scales.smoke.driver.wram; cure: remove it or correct its spelling"),
    "missing scale": ("  paper: #", "  poster: #", "unknown key 'scales.poster' (and 1 more); expected paper; found scales.poster; cure: write paper"),
    "missing key": ("    batch: 8\n", "", "key 'scales.smoke.batch' is missing; expected scales.smoke.batch; found no such key; cure: add it"),
    "wrong scale name": ("scale: laptop", "scale: desktop", "scale is not valid; expected 'smoke', 'laptop' or 'paper'; found 'desktop'"),
    "depth 0": ("shallow: 3,", "shallow: 0,", "scales.smoke.depths.shallow is not valid; expected greater than or equal to 1; found 0"),
    "negative batch": ("batch: 8", "batch: -8", "scales.smoke.batch is not valid; expected greater than or equal to 1; found -8"),
    "fractional batch": ("batch: 8", "batch: 8.5", "scales.smoke.batch is not valid; expected a valid integer; found 8.5"),
    "yes for a number": ("batch: 8", "batch: true", "scales.smoke.batch is not valid; expected a valid integer; found True"),
    "numeric string": ("learning_rate: 2.0e-3", 'learning_rate: "2.0e-3"', "scales.smoke.optimiser.learning_rate is not valid; expected a valid number; found '2.0e-3'"),
    "no for a number": ("weight_decay: 0.1", "weight_decay: no", "scales.smoke.optimiser.weight_decay is not valid; expected a valid number; found 'no'"),
    "negative rate": ("learning_rate: 2.0e-3", "learning_rate: -2.0e-3", "scales.smoke.optimiser.learning_rate is not valid; expected greater than 0; found -0.002"),
    "a share of one": ("beta1: 0.9", "beta1: 1.0", "scales.smoke.optimiser.beta1 is not valid; expected less than 1; found 1.0"),
    "not a number": ("init_std: 0.02", "init_std: .nan", "scales.smoke.model.init_std is not valid; expected a finite number; found nan"),
    "infinity": ("clip: 1.0", "clip: .inf", "scales.smoke.optimiser.clip is not valid; expected a finite number; found inf"),
    "nothing": ("batch: 8", "batch:", "scales.smoke.batch is not valid; expected a valid integer; found None"),
    "heads": ("heads: 4", "heads: 5", "scales.smoke.model is not valid; expected a width that heads divide (32 / 5 leaves a rest); found "),
    "context of one": ("context: 32,", "context: 1,", "scales.smoke.model.context is not valid; expected greater than or equal to 2; found 1"),
    "floors out of order": ("floors: [0.05, 0.0]", "floors: [0.0, 0.05]", "scales.smoke.driver.floors is not valid; expected different floors in [0, 1), largest first; found "),
    "floors twice": ("floors: [0.05, 0.0]", "floors: [0.05, 0.05]", "scales.smoke.driver.floors is not valid; expected different floors in [0, 1), largest first; found "),
    "no floor": ("floors: [0.05, 0.0]", "floors: []", "scales.smoke.driver.floors is not valid; expected different floors in [0, 1), largest first; found "),
    "twin seeds": ("calibration: [101, 102, 103]", "calibration: [101, 101]", "seed_sets.calibration is not valid; expected each seed once (twice: 101); found "),
    "twin seeds of a scale": ("main: [0]", "main: [0, 7, 0]", "scales.smoke.seed_sets.main is not valid; expected each seed once (twice: 0); found "),
    "no seed": ("calibration: [101, 102, 103]", "calibration: []", "seed_sets.calibration is not valid; expected "),
    "negative seed": ("calibration: [101, 102, 103]", "calibration: [-1, 4]", "seed_sets.calibration.0 is not valid; expected greater than or equal to 0; found -1"),
    "a key twice": ("batch: 8", "batch: 8\n    batch: 9", 'not readable as YAML; expected one YAML 1.2 document; found duplicate key "batch" '),
    "delays out of order": ("delays: [50, 150, 300]", "delays: [150, 50]", "scales.laptop.study.delays is not valid; expected different values, smallest first; found "),
    "no delay": ("delays: [50, 150, 300]", "delays: []", "scales.laptop.study.delays is not valid; expected different values, smallest first; found "),
    "multipliers twice": ("multipliers: [20, 24, 28, 32, 40]", "multipliers: [20, 20]", "scales.laptop.study.bursts.multipliers is not valid; expected different values, smallest first"),
    "a weak scale of one": ("deep: [0.06, 0.08, 0.1, 0.15]", "deep: [0.06, 1.0]", "scales.laptop.study.weak.deep.1 is not valid; expected less than 1; found 1.0"),
    "misspelt inside the study": ("gain_steps: 600", "gain_step: 600", "unknown key 'scales.laptop.study.intact.gain_step'"),
    "no study": ("    study:\n      delays: [50, 150, 300]\n", "    stud:\n      delays: [50, 150, 300]\n", "unknown key 'scales.laptop.stud' (and 1 more); expected study; found scales.laptop.stud; cure: write study"),
    "no arms": ("\narms:\n", "\narmes:\n", "unknown key 'armes' (and 1 more); expected arms; found armes; cure: write arms"),
    "arms of no event": ("few_events: 3", "few_events: 0", "arms.main.few_events is not valid; expected greater than or equal to 1; found 0"),
    "no replays in order": ("replays: [4, 20]", "replays: [20, 4]", "scales.laptop.study.replays is not valid; expected different values, smallest first"),
    "twin seeds of the development": ("development: [111, 112, 113, 114]", "development: [111, 111]", "seed_sets.development is not valid; expected each seed once (twice: 111)"),
    "twin seeds of a scale's replication": ("replication: [1, 2]", "replication: [1, 1]", "scales.smoke.seed_sets.replication is not valid; expected each seed once (twice: 1)"),
    "a set that is missing": ("  intact: [121, 122, 123] #", "  #", "key 'seed_sets.intact' is missing; expected seed_sets.intact; found no such key; cure: add it"),
    "source": ("source: encyclopedia", "source: wiki", "scales.smoke.data.source is not valid; expected 'encyclopedia' or 'fineweb-edu'; found 'wiki'"),
}


def write_changed(folder: Path, old: str, new: str) -> Path:
    """The committed parameters with the first occurrence of a text replaced."""
    assert old in COMMITTED
    path = folder / "params.yaml"
    path.write_text(COMMITTED.replace(old, new, 1))
    return path


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_line_with_its_key(tmp_path, name):
    """The line names the file and the key, what was expected and what stands there."""
    old, new, expected = FAULTS[name]
    path = write_changed(tmp_path, old, new)
    line = refusal(load_params, path)
    assert line.startswith(f"{path}") and expected in line


def test_the_committed_file_is_read():
    """All three scales are complete; a set is a list of seeds or a registration's id."""
    params = load_params(Path(__file__).parents[2] / "params.yaml")
    assert params.chosen == getattr(params.scales, params.scale).model_copy(update={"fanout": params.fanout, "arms": params.arms})
    assert set(params.chosen.arms) == {"main", "replication"} == set(params.arms)
    for scale in ("smoke", "laptop", "paper"):
        assert getattr(params.scales, scale).depths.shallow < getattr(params.scales, scale).depths.deep
    assert isinstance(params.seed_set("calibration"), tuple)
    assert refusal(params.seed_set, "mian") == "params.yaml: no seed set 'mian'; expected calibration, main, replication, bursts, development, intact, attention, spectral, restart_attention, restart"


SETS = {
    "a registration at a scale without lists": ("laptop", "main", "design", "design"),
    "a scale's own list replaces a registration": ("smoke", "main", "design", (0,)),
    "a list stands at any scale": ("smoke", "main", "[7, 8]", (7, 8)),
    "a list stands at the registered scale": ("laptop", "main", "[7, 8]", (7, 8)),
    "the replication's registration": ("laptop", "replication", "path-1", "path-1"),
    "the replication's list at smoke": ("smoke", "replication", "path-1", (1, 2)),
    "the bursts' registration": ("laptop", "bursts", "burst-1", "burst-1"),
    "a list of bursts stands at the paper's scale": ("paper", "bursts", "[9]", (9,)),
    "no registration can hold for the development: the scale's list stands": ("smoke", "development", "[111, 112, 113, 114]", (4,)),
    "the file's list where the scale has none": ("laptop", "development", "[111, 112, 113, 114]", (111, 112, 113, 114)),
    "calibration is the scale's": ("smoke", "calibration", "[101, 102, 103]", (5,)),
    "the spectra's registration": ("laptop", "spectral", "spectral-1", "spectral-1"),
    "the smoke scale's own networks of the spectra": ("smoke", "spectral", "spectral-1", (9, 10, 12)),
    "a list of spectra stands at the paper's scale": ("paper", "spectral", "[14]", (14,)),
    "the list that chooses learning rate and cap": ("laptop", "attention", "[131, 132, 133, 134, 135, 136]", (131, 132, 133, 134, 135, 136)),
    "another one at smoke": ("smoke", "attention", "[131, 132, 133, 134, 135, 136]", (7, 8)),
    "intact drivers too": ("paper", "intact", "[121, 122, 123]", (41, 42, 43)),
}
WRITTEN = {
    "main": "design", "replication": "path-1", "bursts": "burst-1", "development": "[111, 112, 113, 114]", "calibration": "[101, 102, 103]",
    "intact": "[121, 122, 123]", "attention": "[131, 132, 133, 134, 135, 136]", "spectral": "spectral-1", "restart_attention": "[141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156]", "restart": "spectral-2",
}  # fmt: skip
"""What the committed file has for each set."""


@pytest.mark.parametrize("kind", SETS)
def test_which_seeds_a_set_means(tmp_path, kind):
    """A list in place of a registration is used at every scale; otherwise the scale's own list is, and the file's where the scale has none."""
    scale, name, written, expected = SETS[kind]
    path, old = tmp_path / "params.yaml", f"\n  {name}: {WRITTEN[name]}"
    assert COMMITTED.count(old) == 1 and "\nscale: laptop" in COMMITTED
    path.write_text(COMMITTED.replace(old, f"\n  {name}: {written}", 1).replace("\nscale: laptop", f"\nscale: {scale}", 1))
    assert load_params(path).seed_set(name) == expected


@pytest.mark.parametrize(("data", "expected"), [(None, "cannot be read"), (b"\xff\xfe", "not UTF-8"), (b"scale: [", "not readable as YAML"), (b"- 1", "is not valid")])
def test_a_file_that_is_none_is_refused(tmp_path, data, expected):
    """A missing, binary, broken or differently shaped file is one line with its name."""
    path = tmp_path / "params.yaml"
    if data is not None:
        path.write_bytes(data)
    line = refusal(load_params, path)
    assert line.startswith(str(path)) and expected in line
