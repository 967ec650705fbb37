"""Every kind of bad registration, through the command line: one line that names the place, exit 2, nothing written."""

from __future__ import annotations

import pytest
from project import PILOT, Project
from test_registration import BAD

from audit.cli import main

TEXTS: dict[str, bytes] = {
    **{name: PILOT.replace(old, new, 1).encode() for name, (old, new, _) in BAD.items()},
    "CRLF": PILOT.replace("\n", "\r\n").encode(),
    "lone CR": PILOT.replace("title: A pilot", "title: A\rpilot").encode(),
    "Latin 1": PILOT.replace("pilot of", "pil\u00f4t of").encode("latin-1"),
    "UTF-16": PILOT.encode("utf-16"),
    "a NUL": PILOT.replace("pilot of", "pilot\0 of").encode(),
    "JSON with NaN": b'{"id": "pilot", "title": NaN}',
    "nothing but a comment": b"# later\n",
    "deep": b"[" * 5000,
}


def seal(project: Project, *options: str) -> int | str | None:
    """The exit code of `audit seal pilot`."""
    with project.inside(), pytest.raises(SystemExit) as ended:
        main(["seal", *options, "pilot"])
    return ended.value.code


@pytest.mark.parametrize("name", TEXTS)
def test_bad_text_is_sealed_by_nobody(name: str, drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Committed or not, under --post-hoc or not, a bad text gets no seal."""
    drafted.write("prereg/pilot.yaml", TEXTS[name])
    drafted.commit("A bad text")
    before = drafted.git("status", "--short", "--ignored")
    capsys.readouterr()
    assert seal(drafted, *(["--post-hoc"] if len(name) % 2 else [])) == 2
    out, shown = capsys.readouterr()
    (line,) = shown.splitlines()
    assert out == "" and line.startswith("audit: prereg/pilot.yaml") and line.isprintable() and len(line) < 1000
    assert drafted.git("status", "--short", "--ignored") == before


def test_good_text_is_sealed(drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command on the text that all of these were made from writes a seal."""
    assert seal(drafted) == 0
    assert capsys.readouterr().err == "" and (drafted.root / "prereg/pilot.seal.json").is_file()
