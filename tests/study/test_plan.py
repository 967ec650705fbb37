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

from rankcollapse import plan
from rankcollapse.engine import Run, check_table
from rankcollapse.model import Shape
from rankcollapse.params import load_params

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
    assert [state.step for _, state in table(*runs, block=1).values()] == [8, 8] and not list(Path(".checkpoints").iterdir())


def run_engine(*words: str) -> subprocess.CompletedProcess:
    """`python -m rankcollapse.engine` in the repository."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
    return subprocess.run([sys.executable, "-m", "rankcollapse.engine", *words], capture_output=True, text=True, cwd=ROOT, env=environment)


WORDS = {
    "nothing": ((), "usage: wrong number of arguments; expected --plan SCALE; found none"),
    "another option": (("--cost", "smoke"), "usage: "),
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


def network_steps(scale, calibration: int, main: int) -> dict[str, int]:
    """Network-steps of a stage at one depth, counted from the parameters."""
    d, b = scale.driver, scale.branches
    treated = b.untreated_steps + b.ramp_steps + b.after_ramp + 2 * b.switch_steps + 4 * b.loss_steps
    return {
        "calibrate": calibration * (d.warm + (1 + len(d.floors)) * (d.ramp + d.hold)),
        "collapse": main * (d.warm + 2 * (d.ramp + d.hold)),
        "branch": main * (treated + max(b.untreated_steps, b.loss_steps, b.switch_steps, b.ramp_steps + b.after_ramp)),
    }


@pytest.mark.parametrize("name", ["smoke", "laptop", "paper"])
def test_the_plan_of_a_scale(name):
    """Network-steps are those of the tables and of the parameters, and operations, memory and hours follow from them."""
    params = load_params(ROOT / "params.yaml").model_copy(update={"scale": name})
    page = plan.plan_study(params).splitlines()
    scale, seeds = params.chosen, {kind: plan.seeds_of(params, kind) for kind in ("calibration", "main")}
    rows = [line.split() for line in page if line.startswith(("calibrate", "collapse", "branch"))]
    tables = plan.list_tables(scale, seeds)
    assert [row[:2] for row in rows] == [[stage, role] for stage, role, _ in tables] and len(rows) == 6
    expected = network_steps(scale, seeds["calibration"], seeds["main"])
    for (stage, role, depth, count, stacks, steps, work, memory), (_, _, runs) in zip(rows, tables, strict=True):
        setting = plan.setting_of(scale, getattr(scale.depths, role), 1.0)
        assert (int(depth), int(count), int(stacks)) == (setting.shape.depth, len(runs), -(-len(runs) // scale.stack))
        assert number(steps) == sum(run.steps for run in runs) == expected[stage]
        assert number(work) == pytest.approx(number(steps) * plan.count_flops(setting.shape, scale.batch) / 1e15, abs=0.006)
        assert number(memory) == pytest.approx(plan.stack_bytes(setting, min(scale.stack, len(runs))) / 2**30, abs=0.006)
        check_table(stage, [*runs, Run("driver", 0, scale.driver.warm + scale.driver.ramp + scale.driver.hold)], setting.shape)
    total = next(line.split() for line in page if line.startswith("total"))
    assert number(total[1]) == sum(number(row[5]) for row in rows) == 2 * sum(expected.values())
    assert number(total[2]) == pytest.approx(sum(number(row[6]) for row in rows), abs=0.04)
    for device in plan.PROCESSORS:
        arithmetic, memory, estimate, fitting = map(number, next(line for line in page if line.startswith(device.name))[14:].split())
        assert arithmetic == pytest.approx(number(total[2]) * 1e15 / device.flops / 3600, abs=0.011)
        assert estimate == pytest.approx(max(arithmetic / device.share, memory / 0.6), rel=0.02, abs=0.03) and fitting >= 1


def test_the_plan_as_a_program():
    """The page on stdout is the one that is made here, with exit code 0 and nothing on stderr."""
    done = run_engine("--plan", "smoke")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == plan.plan_study(load_params(ROOT / "params.yaml").model_copy(update={"scale": "smoke"})) + "\n"


def test_operations_of_one_step_by_hand():
    """A laptop step: 12 blocks of 12 D^2 weights and a causal map, and the logits, 2 operations each, three times for forward and back."""
    shape = Shape(12, 32, 4, 64, 512)
    assert plan.count_flops(shape, 8) == 3 * (12 * (12_582_912 + 2_097_152) + 16_777_216) == 578_813_952
    tokens = 8 * 64
    assert (2 * tokens * 12 * 32 * 32, 2 * 8 * 64 * 64 * 32, 2 * tokens * 512 * 32) == (12_582_912, 2_097_152, 16_777_216)
    assert plan.count_flops(replace(shape, depth=6), 8) == 3 * (6 * 14_680_064 + 16_777_216)
    assert plan.count_flops(shape, 16) == 2 * plan.count_flops(shape, 8)
