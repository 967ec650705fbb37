"""The studies of attention's spectra as stages see them: their scales, parameters and paths, and bad names as one line."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from corpora import refusal
from tiny_spectral import RESTART, RESTARTED, SCALE

from rankcollapse.params import STUDIES, SeedSets, load_params
from rankcollapse.stage import check_study, pick, study_parts, study_path

ROOT = Path(__file__).parents[2]
STAGES = ("spectral_development", "spectral", "spectral_tests")
UNKNOWN = "study: no such study; expected spectral or restart; found restarts"


def test_the_first_study_sees_the_scale_itself():
    """Nothing of its own, but for what the scale says."""
    assert SCALE.study_of("spectral") is SCALE


def test_restarts_see_a_scale_of_their_own():
    """Plan, batch, spread of the first weights, and the depth of the plan's role; nothing else differs."""
    assert (RESTARTED.spectral, RESTARTED.batch, RESTARTED.model.init_std, RESTARTED.depths.shallow) == (RESTART, 3, 0.2, 1)
    assert RESTARTED.depths.deep == SCALE.depths.deep and RESTARTED.model.model_copy(update={"init_std": 0.3}) == SCALE.model
    changed = {name for name in type(SCALE).model_fields if getattr(RESTARTED, name) != getattr(SCALE, name)}
    assert changed == {"spectral", "restart", "batch", "model", "depths"}
    deep = SCALE.model_copy(update={"restart": RESTART.model_copy(update={"role": "deep"})}).study_of("restart")
    assert (deep.depths.shallow, deep.depths.deep) == (SCALE.depths.shallow, 1)


@pytest.mark.parametrize("name", ["smoke", "laptop", "paper"])
def test_restarts_of_every_scale(name):
    """Their networks learn first, which the first study's do not; each study has its seed sets."""
    scale = getattr(load_params(ROOT / "params.yaml").scales, name)
    own, first = scale.study_of("restart"), scale.study_of("spectral")
    assert (own.spectral, own.depths.shallow) == (scale.restart, scale.restart.depth) and own.spectral.learn > 0 == first.spectral.learn
    assert {*STUDIES, *STUDIES.values()} == {"spectral", "attention", "restart", "restart_attention"} <= set(SeedSets.model_fields)


def test_where_a_study_lies():
    """Each in a folder of its own, made from its own group of parameters and not the other's."""
    assert [str(study_path(study, "runs")) for study in STUDIES] == ["results/spectral/runs.json", "results/restart/runs.json"]
    first, second = (study_parts(study) for study in STUDIES)
    assert set(first) ^ set(second) == {"spectral", "restart"} and pick(SCALE, second)["restart"]["learn"] == SCALE.restart.learn


@pytest.mark.parametrize("call", [check_study, study_parts, lambda study: study_path(study, "runs")], ids=["check", "parts", "path"])
def test_an_unknown_study_is_one_line(call):
    """With those there are."""
    assert check_study("restart") == "restart" and refusal(call, "restarts") == UNKNOWN


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("words", "line"), [
    ((), "usage: wrong number of arguments; expected STUDY; found none"),
    (("spectral", "restart"), "usage: wrong number of arguments; expected STUDY; found spectral restart"),
    (("restarts",), UNKNOWN),
], ids=["nothing", "two", "unknown"])  # fmt: skip
def test_bad_usage_of_a_stage_is_one_line(stage, words, line, monkeypatch, capsys):
    """Exit code 2, and nothing else is said."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", [stage, *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "stages" / f"{stage}.py"), run_name="__main__")
    assert ended.value.code == 2 and capsys.readouterr() == ("", f"{line}\n")
