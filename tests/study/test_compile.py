"""The kernel's compiler and cache: used once where there is one, and never needed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from kernels import CASES, DOUBLE, FLOAT, KINDS, make_case, needs_kernel

from rankcollapse import kernel
from rankcollapse.passes import TorchPass, run_forward

ROOT = Path(__file__).parents[2]


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """The kernel as at first use, with a cache of its own; and afterwards as it was."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(kernel.SWITCH, raising=False)
    plain = kernel.load_libraries
    plain.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    plain.cache_clear()


FAILING = {
    "no compiler": ({"PATH": ""}, "engine: no C++ compiler, so PyTorch alone, two to three times slower; cure: apt-get install g++"),
    "a compiler that fails": ({"CXX": "/bin/false"}, "engine: the kernel does not compile here, so PyTorch alone, two to three times slower: Command "),
    "no such compiler": ({"CXX": "/no/such/compiler"}, "engine: the kernel does not compile here, so PyTorch alone, two to three times slower: [Errno 2]"),
}


@pytest.mark.parametrize("kind", FAILING)
def test_without_a_compiler_pytorch_computes(fresh, capfd, kind):
    """One line says so, once, and the passes are PyTorch's."""
    changes, line = FAILING[kind]
    fresh.delenv("CXX", raising=False)
    for name, value in changes.items():
        fresh.setenv(name, value)
    case = CASES["one head"]
    for _ in range(2):
        assert isinstance(run_forward(*make_case(case, FLOAT), KINDS, case.shape), TorchPass)
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith(line) and kernel.describe() == "torch"


def test_source_that_does_not_compile(fresh, capfd, tmp_path):
    """The compiler's first line is passed on, nothing is left in the cache, and PyTorch computes."""
    if not (compiler := os.environ.get("CXX") or kernel.shutil.which("g++") or kernel.shutil.which("c++")):
        pytest.skip("no compiler")
    broken = tmp_path / "kernel.cpp"
    broken.write_text("this is not C++\n")
    fresh.setattr(kernel, "SOURCE", broken)
    fresh.setenv("CXX", compiler)
    assert kernel.load_libraries() == {}
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and "kernel.cpp" in said[0] and not list(kernel.cache_folder().iterdir())


def test_the_switch_needs_no_compiler(fresh, capfd):
    """Switched off, nothing is compiled and nothing is said."""
    fresh.setenv(kernel.SWITCH, "off")
    fresh.setenv("CXX", "/bin/false")
    assert kernel.describe() == "torch" and capfd.readouterr().err == ""


def test_an_unusable_cache_gives_way(fresh, tmp_path):
    """Where the user's cache cannot be a folder, the system's temporary folder holds one."""
    (tmp_path / "cache").write_text("a file")
    fresh.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    folder = kernel.cache_folder()
    assert folder.parent == tmp_path / "elsewhere" and folder.is_dir()


SLOW = """#!/bin/sh
if [ "$1" = --version ]; then echo "slow 1.0"; exit; fi
for word; do out="$word"; done
head -c 1000 "{library}" > "$out"
sleep 0.5
cat "{library}" > "$out"
echo compiled >> "{log}"
"""


def make_compiler(folder: Path, library: Path) -> Path:
    """A compiler that takes its time and gives a library that there is."""
    path = folder / "slow"
    path.write_text(SLOW.format(library=library, log=folder / "log"))
    path.chmod(0o755)
    return path


@needs_kernel
def test_the_cache_knows_what_it_holds(fresh, tmp_path):
    """Source, flags, precision or compiler changed give another name; the same ones are compiled once."""
    compiler = make_compiler(tmp_path, kernel.SOURCE)
    compiled = [kernel.compile_library(str(compiler), dtype) for dtype in (FLOAT, FLOAT, DOUBLE)]
    assert compiled[0] == compiled[1] != compiled[2] and (tmp_path / "log").read_text().splitlines() == ["compiled"] * 2
    source = tmp_path / "kernel.cpp"
    source.write_bytes(kernel.SOURCE.read_bytes() + b"\n")
    for name, value in (("SOURCE", source), ("FLAGS", [*kernel.FLAGS, "-g"]), ("processor_flags", lambda: ["flags: another processor"])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, name, value)
            compiled.append(kernel.compile_library(str(compiler), FLOAT))
    compiler.write_text(compiler.read_text().replace("slow 1.0", "slow 1.1"))
    compiled.append(kernel.compile_library(str(compiler), FLOAT))
    assert len(set(compiled)) == 6 and {path.name for path in kernel.cache_folder().iterdir()} == {path.name for path in compiled}


COMPILE = "import sys, ctypes, torch; from rankcollapse import kernel; ctypes.CDLL(str(kernel.compile_library(sys.argv[1], torch.float32))).norms"


@needs_kernel
def test_two_processes_may_compile_at_once(fresh, tmp_path):
    """Both end with a whole library, and one file is left."""
    library = Path(kernel.load_libraries()[FLOAT]._name)
    fresh.setenv("XDG_CACHE_HOME", str(tmp_path / "both"))
    fresh.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'src'}")
    compiler = make_compiler(tmp_path, library)
    both = [subprocess.Popen([sys.executable, "-c", COMPILE, str(compiler)], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in both]
    assert ends == [("", 0)] * 2 and [path.read_bytes() for path in kernel.cache_folder().iterdir()] == [library.read_bytes()]
