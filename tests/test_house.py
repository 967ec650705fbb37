"""How the house is built: imports run one way, the tool stands alone, the pipeline names every module it runs."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib

import pytest
from house import ROOT, find_cycle, find_upward

from audit.load import read_yaml
from audit.records import Refusal
from rankcollapse.sources import PACKAGES, build_graph, describe_sources, find_modules, list_sources, read_imports

AUDIT = [  # ground to roof; a module may import its own floor and those below
    "finding machine embedding definitions explained_document ancestry limits der bytecode folders links macro_texts",
    "load digest objects timestamp opentimestamps",
    "packages environment",
    "records quantities config",
    "difference",
    "forms predictions registration amendment pipeline numbers templates",
    "history verdict chance context attrition numbers.keys numbers.matches numbers.exemptions prose columns",
    "document standing modules logs order kept under beside denominator confirmatory provenance pdf lint known anchoring tokens room signature claims layer ink marks alignment rows expansion typeset_pages",
    "versions chain mended declared deviations judged origins sources",
    "gate changes appendix render seal evaluate building rerun facts printed",
    "checks prml pages tree trace",
    "referents",
    "verify compare bind rendering status close amend new explain schema numbers_command challenge export witness reread elsewhere trace_command",
    "clean",
    "cli",
    "__main__",
]
STUDY = [
    "machines fields sources",
    "groups",
    "params records manifest quantities corpus model kernel adamw2 terms schedule events maps drawn_maps spectral crashes pure untrained apart paths demonstration statistics thresholds arm_records records_spectral records_readings records_results records_pure ramps path_rules",
    "settings spectral_rows spectral_tests spectral_claims text vocabulary passes measure chances rankings evidence relations conditions orders claims claim_table claim_table_texts registered blocks forces positions slope swaps synthetic reading_values burst_records burst_outcomes burst_tests burst_claims",
    "claim_readings seed_cells quantity_forms powers pure_values pure_readings",
    "recoveries ramp_summary reading_summary",
    "summary",
    "records_tests",
    "path_rows",
    "own_tests",
    "path_tests",
    "schemas",
    "engine engine.runs engine.stack engine.optimisers engine.moments engine.matrices engine.sigma engine.training engine.capture tables plan progress spectral_arms treatments drivers bursts checks costs replay",
    "looks curves",
    "figures_forces figures_bursts figures_path figures_pure figures_spectral",
    "figures_attention",
    "figures",
    "checkpoint pools fanout experiments stage experiments_arms experiments_drivers experiments_checks experiments_bursts experiments_spectral readings burst_readings",
    "engine.__main__",
]
CORE = {"click", "jinja2", "jsonschema_rs", "pydantic", "rich", "ruamel"}
LAZY = CORE - {"click", "pydantic"}
HEAVY = {"torch", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "dvc", "tokenizers", "tiktoken", "safetensors", "rankcollapse", "stages"}
WITNESS = {"cryptography", "rfc3161_client"}
"""What the extra `witness` brings; imported where a time stamp is verified and nowhere else."""
OPTIONAL = {"dask", "dask_jobqueue", "datasets", "distributed"} | WITNESS
MODULES = find_modules(ROOT)
GRAPH = build_graph(MODULES)


def outside(name: str, **options) -> set[str]:
    """Top-level names a module imports from neither the standard library nor the project."""
    tops = {target.partition(".")[0] for target in read_imports(MODULES[name], name, **options)}
    return {top for top in tops if top not in sys.stdlib_module_names and top not in PACKAGES}


def write_tree(root, sources: dict[str, str]):
    """A made-up project: modules and graph of the given files."""
    for path, source in sources.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(source)
    modules = find_modules(root)
    return modules, build_graph(modules)


def test_no_import_cycle():
    """No module of the project imports itself by a detour, lazy imports included."""
    assert find_cycle(GRAPH) == []


@pytest.mark.parametrize(("package", "floors"), [("audit", AUDIT), ("rankcollapse", STUDY)])
def test_imports_go_down(package, floors):
    """Each module has a floor and imports none above it."""
    assert find_upward(GRAPH, package, floors) == []


def test_packages_keep_apart():
    """The tool knows nothing of the study; the study knows the tool's records and gate; nothing imports the stages."""
    for name, targets in GRAPH.items():
        package = name.partition(".")[0]
        tops = {target.partition(".")[0] for target in targets} - {package}
        assert package != "audit" or not tops, name
        assert package == "stages" or "stages" not in tops, name
        tool = {target for target in targets if target.startswith("audit")}
        assert package != "rankcollapse" or tool <= {"audit.records", "audit.gate"}, name


def test_import_checks_can_fail(tmp_path):
    """A made-up project with a cycle, an upward import and an unlisted module shows each."""
    sources = {
        "audit/low.py": "def f():\n    from audit import high\n",
        "audit/high.py": "from .low import f\n",
        "audit/stray.py": "import json\n",
        "src/rankcollapse/a.py": "",
    }
    _, graph = write_tree(tmp_path, sources)
    assert find_cycle(graph) == ["audit.high", "audit.low", "audit.high"]
    assert find_upward(graph, "audit", ["low", "high"]) == ["audit.low imports audit.high", "audit.stray has no floor"]
    assert find_upward(graph, "audit", ["low high", "stray"]) == []


def test_the_tool_needs_its_own_dependencies_only():
    """What `audit` imports is what `pip install .` brings, and the slow half of it only inside functions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[\[<>=.]", line)[0].replace("-", "_") for line in project["dependencies"]}
    assert declared == CORE
    for name in MODULES:
        if name.startswith("audit"):
            assert outside(name) <= CORE | (WITNESS if name == "audit.anchoring" else set()), name
            assert not outside(name, top_level=True) & (LAZY | WITNESS), name


def test_study_imports_are_declared_and_locked():
    """Every library that source names is in the lock, at the version installed here."""
    lock = dict(line.split("==") for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line)
    pinned = {normalise(name): version for name, version in lock.items()}
    owners = importlib.metadata.packages_distributions()
    for top in set().union(*map(outside, MODULES)) - OPTIONAL:
        found = {normalise(owner): importlib.metadata.version(owner).partition("+")[0] for owner in owners.get(top, [])}
        assert found and found.items() & pinned.items(), f"{top}: installed {found}, locked {[pinned.get(name) for name in found]}"


def normalise(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock"])
def test_locks_hold_plain_pins(name):
    """One `name==version` a line: no address, no path, no editable install, no local build tag."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
    assert lines and [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!]+", line)] == []
    names = [normalise(line.partition("==")[0]) for line in lines]
    assert len(names) == len(set(names))


def source_files():
    """Every Python file of the project, tests included."""
    return sorted([*MODULES.values(), *(ROOT / "tests").rglob("*.py")])


def test_names_say_what_is_inside():
    """No file or folder is called utils, helpers or common."""
    vague = {"util", "utils", "helper", "helpers", "common", "misc"}
    assert [path for path in source_files() if vague & {part.strip("_") for part in path.relative_to(ROOT).with_suffix("").parts}] == []


def test_files_stay_readable():
    """No source file has more than 320 lines."""
    sizes = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in source_files()}
    assert {name: lines for name, lines in sizes.items() if lines > 320} == {}


def run_python(code: str) -> subprocess.CompletedProcess:
    """Run code in a fresh interpreter at the project's root."""
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_starting_the_tool_loads_nothing_slow():
    """`import audit.cli` brings in neither the study's libraries nor the tool's own slow ones."""
    done = run_python("import sys, audit.cli; print(*sorted({name.partition('.')[0] for name in sys.modules}))")
    assert done.returncode == 0, done.stderr
    assert "click" in done.stdout.split() and not (HEAVY | LAZY) & set(done.stdout.split())


def test_verifying_loads_nothing_of_the_study():
    """A whole `audit verify` of this repository imports no tensor library, no DVC, and nothing of what it audits."""
    code = "import atexit, sys\natexit.register(lambda: print('loaded', *sorted({name.partition('.')[0] for name in sys.modules})))\n"
    done = run_python(code + "from audit.cli import main\nmain(['verify'])")
    assert done.returncode in (0, 1, 2) and "Traceback" not in done.stderr, done.stderr
    loaded = done.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded" and "audit" in loaded and not HEAVY & set(loaded)
    assert len(done.stdout.splitlines()) > 1, "verify said nothing"


PIPELINE = read_yaml(ROOT / "dvc.yaml")["stages"] if (ROOT / "dvc.yaml").exists() else {}


def test_pipeline_is_there():
    """The stages are found in dvc.yaml, and each file in stages/ is run by one."""
    commands = " ".join(str(stage.get("do", stage)["cmd"]) for stage in PIPELINE.values())
    scripts = {name for name in MODULES if name.startswith("stages.")}
    assert scripts and {name for name in scripts if f"-m {name}" not in commands} == set()


@pytest.mark.parametrize("name", [name for name in PIPELINE if name != "code"])
def test_stages_depend_on_what_they_run(name):
    """A changed module makes every stage that imports it stale: its list of sources is among the `deps`, and no source beside it."""
    body = PIPELINE[name].get("do", PIPELINE[name])
    scripts = re.findall(r"-m stages\.(\w+)", str(body["cmd"]))
    own = [dep for dep in body.get("deps", ()) if re.match("build/code/|src/|stages/", str(dep))]
    assert own == [f"build/code/{script}.txt" for script in scripts]


def test_the_lists_are_a_stage_of_all_sources():
    """Whatever changes below `src/rankcollapse` or `stages` has the lists written again."""
    stage = PIPELINE["code"]
    assert (stage["cmd"], stage["deps"], stage["outs"]) == ("python -m stages.code", ["src/rankcollapse", "stages"], ["build/code"])


def test_sources_of_a_script(tmp_path):
    """What it imports by a detour, lazily, or as a package, and what a module compiles; not the tool, not words alone, not what nothing imports."""
    sources = {
        "stages/__init__.py": "import sys\n",
        "stages/train.py": "def main():\n    from rankcollapse.engine import run\n",
        "stages/other.py": "import audit.gate\n",
        "src/rankcollapse/__init__.py": '"""Only words."""\n',
        "src/rankcollapse/engine.py": "from rankcollapse import model\n",
        "src/rankcollapse/engine.cpp": "int one;\n",
        "src/rankcollapse/model.py": "SIZE = 1\n",
        "src/rankcollapse/unused.py": "SIZE = 2\n",
        "audit/gate.py": "",
    }
    write_tree(tmp_path, sources)
    found = {name: [file.relative_to(tmp_path).as_posix() for file in files] for name, files in list_sources(tmp_path).items()}
    assert found == {
        "other": ["stages/__init__.py", "stages/other.py"],
        "train": [
            "src/rankcollapse/engine.cpp", "src/rankcollapse/engine.py", "src/rankcollapse/model.py", "stages/__init__.py", "stages/train.py"
        ],
    }  # fmt: skip
    (tmp_path / "src/rankcollapse/model.py").write_text("SIZE = \n")
    with pytest.raises(Refusal, match=r"model.py:1: is not Python; found invalid syntax"):
        list_sources(tmp_path)


def test_a_list_is_checked_by_sha256sum(tmp_path):
    """Digest and path of each file, a line each."""
    (file := tmp_path / "a.py").write_text("abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert describe_sources(tmp_path, [file]) == f"{known}  a.py\n"
