"""The run log proves the code: what ran is the source that git holds, and what came from elsewhere is named."""

from __future__ import annotations

import json
import py_compile
from pathlib import Path

import pytest
from project import Project
from staged import MODEL, Staged, forge_bytecode

from audit.bytecode import is_forged
from audit.environment import injected, show
from audit.finding import Severity
from audit.packages import differing
from audit.verify import verify


@pytest.fixture
def staged(drafted: Project, tmp_path: Path) -> Staged:
    return Staged(drafted, tmp_path)


def log_of(staged: Staged) -> dict:
    return json.loads(staged.project.read("results/train/shallow.run.json"))


def found(staged: Staged, severity: Severity = Severity.FINDING) -> list[str]:
    return [finding.line() for finding in verify(staged.project.context(), disabled=("deviations",)).findings if finding.severity == severity]


def codes(staged: Staged) -> set[str]:
    return {line[:4] for line in found(staged)}


def test_honest_run_is_clean(staged: Staged) -> None:
    """A stage in a clean process logs its modules, nothing foreign, nothing altered, and stands."""
    staged.ran(OMP_NUM_THREADS="1")
    log = log_of(staged)
    assert {"src/study/model.py", "stages/train.py", "audit/gate.py"} <= set(log["code"])
    assert (log["foreign"], log["altered"], log["environment"]) == ({}, {}, {"OMP_NUM_THREADS": "1"})
    assert found(staged) == []


def test_forged_bytecode_stops_the_stage(staged: Staged) -> None:
    """Bytecode with the source's time and size is run by Python and refused by the gate; without the refusal its code makes the record."""
    source = staged.project.root / "src/study/model.py"
    forge_bytecode(source, MODEL.replace("0.8", "0.1"))
    assert staged.project.git("status", "--porcelain") == ""
    done = staged.train()
    assert done.returncode == 1 and done.stderr.startswith("src/study/model.py: Python runs bytecode in its place that is not what it compiles to; found __pycache__/model.")
    assert not (staged.project.root / "results/train/shallow.json").exists()
    staged.project.edit("audit/bytecode.py", "    for source in sources:\n", "    for source in ():\n")
    assert staged.train().returncode == 0
    assert json.loads(staged.project.read("results/train/shallow.json"))["score"]["value"] == 0.1


def test_forged_bytecode_of_the_script_stops_it(staged: Staged) -> None:
    """`python -m` runs bytecode of the script itself: that is looked at too."""
    script = staged.project.root / "stages/train.py"
    forge_bytecode(script, script.read_text().replace("model.SCORE", "0.3"))
    done = staged.train()
    assert done.returncode == 1 and done.stderr.startswith("stages/train.py: Python runs bytecode")


def test_editors_locks_are_no_sources(staged: Staged) -> None:
    """A link to nowhere that ends in .py, as an editor leaves it, stops nobody."""
    (staged.project.root / "src/study/.#model.py").symlink_to("somebody@host.1")
    assert staged.train().returncode == 0


def test_forged_bytecode_for_workers_stops_the_stage(staged: Staged) -> None:
    """A module that only worker processes will import is looked at before they do."""
    staged.project.write("src/study/worker.py", "X = 1\n")
    forge_bytecode(staged.project.root / "src/study/worker.py", "X = 2\n")
    assert staged.train().stderr.startswith("src/study/worker.py: Python runs bytecode")


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
def test_honest_bytecode_passes(tmp_path: Path, mode: py_compile.PycInvalidationMode) -> None:
    """Python's own bytecode is believed in each of its three forms, and so is a stale one that Python would not use."""
    source = tmp_path / "m.py"
    source.write_text("import re\n\n\ndef f(x):\n    try:\n        return x, 0.0, -0.0, 'a b', {1, 2}\n    except KeyError:\n        return lambda: 'd'\n")
    cached = Path(str(py_compile.compile(str(source), invalidation_mode=mode)))
    assert not is_forged(source, cached)
    source.write_text("import re, os\n")
    assert is_forged(source, cached) == (mode == py_compile.PycInvalidationMode.UNCHECKED_HASH)


@pytest.mark.parametrize("change", [("0.0", "-0.0"), ("KeyError", "IndexError"), ("x + 1", "x + 2")])
def test_small_forgeries_of_bytecode_are_seen(tmp_path: Path, change: tuple[str, str]) -> None:
    """The sign of a zero, an exception's name, a number in a nested function."""
    source = tmp_path / "m.py"
    source.write_text("def f(x):\n    try:\n        return 0.0, lambda: x + 1\n    except KeyError:\n        pass\n")
    forge_bytecode(source, source.read_text().replace(*change))
    [cached] = tmp_path.glob("__pycache__/*.pyc")
    assert is_forged(source, cached)


@pytest.mark.parametrize("code", ["X = 1\n", "import sys, threading\nthreading.Timer(0.05, sys.modules.pop, ['sitecustomize', None]).start()\n"])
def test_sitecustomize_is_foreign(staged: Staged, code: str) -> None:
    """A module in site-packages that no RECORD lists is in the log, warned of at the start, a finding under the seal; also one that hides itself."""
    (staged.site / "sitecustomize.py").write_text(code)
    assert "audit: warning: train@shallow starts under a seal with code from outside project, Python and locked packages: the module sitecustomize" in staged.train().stderr
    staged.ran()
    assert list(log_of(staged)["foreign"]) == ["sitecustomize"]
    assert codes(staged) == {"A317"}


def test_admitted_module_is_a_note(staged: Staged) -> None:
    """What `audit.toml` names as foreign is no finding, and no secret."""
    (staged.site / "sitecustomize.py").write_text("X = 1\n")
    staged.project.edit("audit.toml", "version = 1\n", 'version = 1\nforeign = ["sitecustomize"]\n')
    staged.project.commit("Admit it")
    staged.ran()
    assert found(staged) == []
    assert any(line.startswith("A317 audit.toml note: admits modules") and "sitecustomize" in line for line in found(staged, Severity.NOTE))


def test_startup_code_is_foreign(staged: Staged) -> None:
    """A `.pth` file that runs code and leaves no module behind is named by itself."""
    (staged.site / "quiet.pth").write_text("import builtins; builtins.sorted = sorted\n")
    staged.ran()
    assert list(log_of(staged)["foreign"]) == ["quiet.pth"]
    assert codes(staged) == {"A317"}


def test_pythonpath_elsewhere_is_found(staged: Staged, tmp_path: Path) -> None:
    """PYTHONPATH into another folder is a finding, and what it brings in is another; inside the project it is neither."""
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra/sitecustomize.py").write_text("X = 1\n")
    staged.ran(PYTHONPATH=str(tmp_path / "extra"))
    assert log_of(staged)["environment"]["PYTHONPATH"].startswith("sha256:")
    assert codes(staged) == {"A317", "A319"}


def test_pythonpath_inside_is_shown(staged: Staged) -> None:
    """Folders of the checkout are named as they lie in it."""
    staged.ran(PYTHONPATH=f"{staged.project.root}:src")
    assert log_of(staged)["environment"] == {"PYTHONPATH": ".:src"}
    assert found(staged) == []


def test_ignored_module_is_found(staged: Staged) -> None:
    """A module that git is told to ignore is logged, and held by no commit."""
    staged.project.write(".git/info/exclude", "hidden.py\n")
    staged.project.write("src/study/hidden.py", "SCORE = 0.9\n")
    staged.project.edit("src/study/model.py", "SCORE = 0.8", "from study.hidden import SCORE")
    staged.project.commit("Use it")
    assert staged.project.git("status", "--porcelain") == ""
    staged.ran()
    assert codes(staged) == {"A311"}


def test_ignored_module_beside_the_sources_is_found(staged: Staged) -> None:
    """So is one that lies in the checkout and in none of its source folders."""
    staged.project.write(".git/info/exclude", "hidden.py\n")
    staged.project.write("hidden.py", "SCORE = 0.9\n")
    staged.project.edit("src/study/model.py", "SCORE = 0.8", "from hidden import SCORE")
    staged.project.commit("Use it")
    staged.ran()
    assert "hidden.py" in log_of(staged)["code"]
    assert codes(staged) == {"A311"}


def test_patched_package_is_found(staged: Staged) -> None:
    """A package's file that differs from its RECORD is named; an untouched one is not."""
    staged.install("library", "SCORE = 0.7\n")
    staged.project.edit("src/study/model.py", "SCORE = 0.8", "from library import SCORE")
    staged.project.write("requirements.lock", "library==1\n")
    staged.project.commit("Use a library")
    staged.train()
    assert (log_of(staged)["altered"], log_of(staged)["foreign"]) == ({}, {})
    (staged.site / "library.py").write_text("SCORE = 0.9\n")
    staged.ran()
    assert list(log_of(staged)["altered"]) == ["library.py"] and log_of(staged)["packages"]["library"] == "1.0"
    assert codes(staged) == {"A318"}


def test_other_version_is_found(staged: Staged) -> None:
    """A package in another version than the lock file of the start commit pins."""
    staged.install("library", "SCORE = 0.7\n")
    staged.project.edit("src/study/model.py", "SCORE = 0.8", "from library import SCORE")
    staged.project.write("requirements.lock", "library==1.1\n")
    staged.project.commit("Use a library")
    staged.ran()
    assert "Python and locked packages: library 1.0, locked as 1.1; its record will not stand" in staged.train().stderr
    assert [line for line in found(staged) if "its run had another version of library than requirements.lock pins; expected 1.1; found 1.0" in line]


def test_variables_are_absent_or_logged(staged: Staged) -> None:
    """What the code names in quotes is seen and logged; what it does not is taken away, from child processes too; secrets are hashed."""
    staged.project.edit("src/study/model.py", "SCORE = 0.8", "SCORE = 0.8\nNAMES = 'API_TOKEN', 'DATA_DIR'")
    staged.project.edit("audit.toml", "version = 1\n", 'version = 1\nenvironment = ["LISTED"]\n')
    staged.project.commit("Names")
    variables = {"SWITCH": "on", "DYNAMIC": "on", "LISTED": "yes", "API_TOKEN": "hunter2", "DATA_DIR": "/scratch/somebody", "HTTPS_PROXY": "proxy"}
    done = staged.train(**variables)
    names, _, rest = done.stdout.partition("] ")
    assert rest.split() == ["on", "None"] and "'HTTPS_PROXY'" in names and "'DYNAMIC'" not in names
    logged = log_of(staged)["environment"]
    assert (logged["SWITCH"], logged["LISTED"]) == ("on", "yes") and set(logged) == {"SWITCH", "LISTED", "API_TOKEN", "DATA_DIR"}
    assert logged["API_TOKEN"].startswith("sha256:") and logged["DATA_DIR"].startswith("sha256:")


@pytest.mark.parametrize(
    ("line", "version", "same"),
    [("a-b==1.0", "1", True), ("A_B == 1.0 # why", "1.0.0", True), ("a.b[x]==2;python_version>'3'", "2+cpu", True), ("a-b==2+cu1", "2+cpu", False),
     ("a-b==2 \\\n    --hash=sha256:00", "2.1", False), ("other==1", "2", True), ("a-b>=1", "2", True)],
)  # fmt: skip
def test_lock_lines_are_read(line: str, version: str, same: bool) -> None:
    """Names are normalised; extras, markers, comments and hashes are passed over; a pin without a local label allows any."""
    assert (list(differing(f"# pins\n{line}\n", {"A.b": version})) == []) == same


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [("OMP_NUM_THREADS", "4", True), ("CUDA_VISIBLE_DEVICES", "0,1", True), ("CFLAGS", "-O3 -march=native", True), ("HF_TOKEN", "abc", False),
     ("HF_HOME", "/home/somebody/hf", False), ("TORCH_HOME", "~/torch", False), ("HF_ENDPOINT", "https://mirror.example", False), ("USER", "somebody", False),
     ("OMP_X", "a\udcffb", False), ("OMP_X", "a\nb", False), ("CFLAGS", "-I/home/somebody", False)],
)  # fmt: skip
def test_values_show_no_place_person_or_secret(name: str, value: str, shown: bool, tmp_path: Path) -> None:
    """A thread count is shown; a token, a home folder, an address, a name and what JSON cannot hold are not."""
    text = show(tmp_path, name, value)
    assert (text == value) == shown and (shown or len(text) == len("sha256:") + 12)


@pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_AUDIT", "PYTHONHOME", "DYLD_INSERT_LIBRARIES", "PYTHONPATH"])
def test_injecting_variables_are_recognised(name: str, tmp_path: Path) -> None:
    """By what the log shows of them."""
    assert injected({name: show(tmp_path, name, "lib.so" if name != "PYTHONPATH" else "/elsewhere")}) == [name]
    assert injected({"PYTHONPATH": show(tmp_path, "PYTHONPATH", f"{tmp_path}/src")}) == []
