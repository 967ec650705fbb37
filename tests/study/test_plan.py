"""What a study would take: the plan's page follows from the tables, and a stack that memory cannot hold is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from corpora import refusal
from interruptible import TABLE_SETTING

from rankcollapse import costs, plan
from rankcollapse.engine import Run
from rankcollapse.model import Shape
from rankcollapse.params import ROLES, load_params

ROOT = Path(__file__).parents[2]


def test_a_stack_larger_than_memory(monkeypatch, table):
    """It is refused before a step; one that just fits, or a machine that does not say, is not."""
    needed = plan.stack_bytes(TABLE_SETTING, 2) + plan.BACKGROUND
    runs = (Run("one", 0, 8), Run("other", 0, 8))
    for free in (needed, None):
        monkeypatch.setattr(plan, "free_memory", lambda _, free=free: free)
        plan.check_memory("table", TABLE_SETTING, 2)
    monkeypatch.setattr(plan, "free_memory", lambda _: needed - 1)
    assert re.fullmatch(
        r"table: one stack of 2 runs does not fit into memory; expected \d+\.\d GiB; found \d+\.\d GiB free; cure: lower the scale's stack or batch",
        refusal(table, *runs),
    )
    assert not Path(".checkpoints").exists()
    assert [state.step for _, state in table(*runs, block=1).values()] == [8, 8]


def run_engine(*words: str) -> subprocess.CompletedProcess:
    """`python -m rankcollapse.engine` in the repository."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
    return subprocess.run([sys.executable, "-m", "rankcollapse.engine", *words], capture_output=True, text=True, cwd=ROOT, env=environment)


WORDS = {
    "nothing": ((), "usage: wrong number of arguments; expected --plan SCALE; found none"),
    "another option": (("--cost", "smoke"), "usage: wrong option; expected --plan SCALE; found --cost\n"),
    "another scale": (("--plan", "huge"), "--plan: no such scale; expected smoke, laptop, paper; found huge\n"),
}


@pytest.mark.parametrize("kind", WORDS)
def test_the_engine_called_wrongly(kind):
    """Exit code 2 and one line on what is expected, nothing else."""
    words, line = WORDS[kind]
    done = run_engine(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and done.stderr.startswith(line)


def number(word: str) -> float:
    """A number of the plan's page."""
    return float(word.replace(",", ""))


def write_registrations(params) -> None:
    """A registration in the working folder for every set that names one, with two seeds in the first, three in the next, and so on."""
    for number, name in enumerate(costs.SETS, 2):
        if isinstance(params.seed_set(name), str):
            path = Path("prereg") / f"{params.seed_set(name)}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"seeds: {{from: seal, sets: {{{name}: {number}}}}}\n")


@pytest.mark.parametrize("name", ["smoke", "laptop", "paper"])
def test_the_plan_of_a_scale(name, tmp_path, monkeypatch):
    """Network-steps are those of the tables, and operations, memory and hours follow from them; seeds are those listed or registered."""
    monkeypatch.chdir(tmp_path)
    params = load_params(ROOT / "params.yaml").model_copy(update={"scale": name})
    write_registrations(params)
    page = costs.plan_study(params).splitlines()
    scale, seeds = params.chosen, {kind: costs.seeds_of(params, kind) for kind in costs.SETS}
    sizes = {"smoke": (1, 1, 2, 1, 1, 1, 2, 3, 1, 3), "laptop": (3, 3, 4, 5, 4, 3, 6, 9, 16, 11), "paper": (3, 5, 5, 8, 2, 3, 6, 12, 8, 12)}[name]
    assert tuple(seeds.values()) == sizes and page[0].endswith(f"seeds: {', '.join(f'{kind} {number}' for kind, number in seeds.items())}")
    tables = costs.list_study(scale, seeds)
    rows = [(line[:22].strip(), *line[22:].split()) for line in page[3 : 3 + len(tables)]]
    assert [row[:2] for row in rows] == [(table.name, table.role) for table in tables] and {row[1] for row in rows} == set(ROLES)
    disk = 0.0
    for (_, role, depth, count, stacks, steps, work, memory), table in zip(rows, tables, strict=True):
        own = scale.study_of("restart") if table.name.startswith("restart") else scale
        setting, runs = plan.setting_of(own, getattr(own.depths, role), 1.0), table.runs
        assert (int(depth), int(count), int(stacks)) == (setting.shape.depth, len(runs), -(-len(runs) // scale.stack))
        assert number(steps) == sum(run.steps for run in runs) > 0
        assert number(work) == pytest.approx(number(steps) * plan.count_flops(setting.shape, own.batch) / 1e15, abs=0.006)
        assert number(memory) == pytest.approx(plan.stack_bytes(setting, min(scale.stack, len(runs))) / 2**30, abs=0.006)
        disk += number(count) * 12 * setting.shape.size / 2**30
    total = page[3 + len(tables)].split()
    assert total[0] == "total" and number(total[1]) == sum(number(row[5]) for row in rows) == costs.count_steps(tables)
    assert number(total[2]) == pytest.approx(sum(number(row[6]) for row in rows), abs=0.006 * len(rows))
    for device in plan.PROCESSORS:
        arithmetic, memory, estimate, fitting = map(number, next(line for line in page if line.startswith(device.name))[14:].split())
        assert arithmetic == pytest.approx(number(total[2]) * 1e15 / device.flops / 3600, abs=0.011)
        assert estimate == pytest.approx(max(arithmetic / device.share, memory / 0.6), rel=0.02, abs=0.03) and fitting >= 1
    assert page[-1].startswith("Finished stacks take ") and number(page[-1].split()[3]) == pytest.approx(disk, abs=0.06)


def test_a_registration_that_is_not_there(tmp_path, monkeypatch):
    """Seeds that derive from a registration cannot be counted without it: one line names the file."""
    monkeypatch.chdir(tmp_path)
    params = load_params(ROOT / "params.yaml").model_copy(update={"scale": "laptop"})
    assert refusal(costs.plan_study, params).startswith(f"prereg/{params.seed_set('main')}.yaml: cannot be read")


def test_the_plan_as_a_program():
    """The page on stdout is the one that is made here, with exit code 0 and nothing on stderr."""
    done = run_engine("--plan", "smoke")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == costs.plan_study(load_params(ROOT / "params.yaml").model_copy(update={"scale": "smoke"})) + "\n"


def test_operations_of_one_step_by_hand():
    """A laptop step: 12 blocks of 12 D^2 weights and a causal map, and the logits, 2 operations each, three times for forward and back."""
    shape = Shape(12, 32, 4, 64, 512)
    assert plan.count_flops(shape, 8) == 3 * (12 * (12_582_912 + 2_097_152) + 16_777_216) == 578_813_952
    tokens = 8 * 64
    assert (2 * tokens * 12 * 32 * 32, 2 * 8 * 64 * 64 * 32, 2 * tokens * 512 * 32) == (12_582_912, 2_097_152, 16_777_216)
    assert plan.count_flops(replace(shape, depth=6), 8) == 3 * (6 * 14_680_064 + 16_777_216)
    assert plan.count_flops(shape, 16) == 2 * plan.count_flops(shape, 8)
