"""The README's section on a project of one's own, followed to the letter: its blocks, its files, its registration, with the real DVC."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "README.md").read_text().partition("## `audit` in your own DVC project")[2].partition("\n## ")[0]
EDITOR = """\
import re, sys
text = open(sys.argv[1]).read()
head, _, rest = text.partition("predictions:")
draft, _, readings = rest.partition("readings:")
text = head + {predictions!r} + "readings:" + readings
open(sys.argv[1], "w").write(re.sub("EDIT-ME ", "", text))
"""


def block(mark: str) -> str:
    """The shell of the block with this mark, with this checkout for the clone; each command alone, so that a failure stops the shell."""
    text = re.search(rf"<!-- show: {mark} -->\n```sh\n(.*?)```", SECTION, re.DOTALL)[1]
    return text.replace("/path/to/this/clone", str(ROOT)).replace(" && ", "\n")


def shown(language: str) -> str:
    return re.search(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)[1]


def install(site: Path) -> None:
    """The tool as pip leaves it: its files, and a RECORD that lists them."""
    shutil.copytree(ROOT / "audit", site / "audit", ignore=shutil.ignore_patterns("__pycache__"))
    about = site / "rankcollapse_audit-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rankcollapse-audit\nVersion: 0.1.0\n")
    digests = {file: urlsafe_b64encode(sha256(file.read_bytes()).digest()).decode().rstrip("=") for file in (site / "audit").rglob("*.py")}
    (about / "RECORD").write_text("".join(f"{file.relative_to(site)},sha256={digest},\n" for file, digest in digests.items()))


class Newcomer:
    """An empty folder, and an environment in which the tool lies where pip would put it."""

    def __init__(self, folder: Path):
        self.root, self.home = folder / "study", folder
        self.root.mkdir()
        venv.create(folder / "venv", symlinks=True, with_pip=False)
        site = next((folder / "venv/lib").glob("python*/site-packages"))
        (site / "borrowed.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n")
        install(site)
        self.python = folder / "venv/bin/python"
        for name in ("audit", "dvc"):
            script = folder / "venv/bin" / name
            script.write_text(f"#!{self.python}\nimport sys\nfrom {name}.cli import main\nsys.exit(main())\n")
            script.chmod(0o755)
        editor = folder / "venv/bin/editor"
        editor.write_text(f"#!{self.python}\n" + EDITOR.format(predictions=shown("yaml")))
        editor.chmod(0o755)
        (folder / ".gitconfig").write_text("[user]\nname = Nobody\nemail = nobody@example.org\n[init]\ndefaultBranch = main\n")

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Paste into a shell that stops at the first failure."""
        path = f"{self.home / 'venv/bin'}:{os.defpath}:/usr/local/bin"
        env = {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", "EDITOR": "editor", "DVC_NO_ANALYTICS": "1"}
        command = ["bash", "-euo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, timeout=120, check=False)

    def must(self, script: str) -> str:
        done = self.run(script)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout


def test_page_shows_the_files_that_are_copied() -> None:
    """The stage that the page prints is the one in the folder."""
    assert shown("python") == (ROOT / "examples/own/stages/simulate.py").read_text()


def test_newcomer_goes_the_whole_way(tmp_path: Path) -> None:
    """Exploratory run, registration, seal, run, verdict, outcome: every command of the page succeeds, and the audit finds nothing."""
    newcomer = Newcomer(tmp_path)
    newcomer.must(block("begin"))
    register = block("register") if shutil.which("latexmk") else block("register").replace("dvc repro\n", "dvc repro render\n")
    before, after = register.split("audit verify\n")
    out = newcomer.must(before)
    assert "warning: " not in out and "with 0 warnings" in out, out
    assert "nothing was written" in out and "sealed depth" in out
    checked = newcomer.must("audit verify")
    assert "holds: " in checked and "no lock file: versions are not compared" in checked and "A313" not in checked, checked
    newcomer.must(after)
    assert "holds: " in newcomer.must("audit verify && git status --short")
