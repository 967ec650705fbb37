"""README.md is executable: its commands run, its names exist, its help is the program's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from readme import find_blocks, marked, read_page
from smoke import CHECKOUT, TEX, WITHOUT_TEX, Repository

MARKS = re.compile(r"run: (smoke( exp)?|help)|show: \w+")
SHELL = [block for block in find_blocks(read_page()) if block.language == "sh"]


def test_every_block_is_accounted_for() -> None:
    """A shell block is run, shown with a reason, or calls make; one that nobody looks at is a fault."""
    assert SHELL
    for block in SHELL:
        assert MARKS.fullmatch(block.mark) or all(command.startswith("make ") for command in block.commands), block.text


@pytest.mark.parametrize("block", [block for block in SHELL if block.mark == "run: smoke"], ids=lambda block: block.commands[0])
def test_commands_run(block, repository: Repository) -> None:
    """Each block, pasted into a shell in a finished repository, runs to its end and leaves what is committed as it was."""
    if not TEX and "repro" in block.text:
        pytest.skip(WITHOUT_TEX)
    before = repository.tracked()
    done = repository.must("bash", "-euo", "pipefail", "-c", block.text)
    assert done.out and repository.tracked() == before


def test_shown_commands_are_shell(repository: Repository) -> None:
    """A block that is only shown is at least valid shell."""
    for block in SHELL:
        repository.must("bash", "-n", "-c", block.text)


def test_named_commands_exist() -> None:
    """Every `audit`, `make` and `dvc.yaml` name on the page is one that there is."""
    page = read_page()
    help_text = Repository(CHECKOUT).must("python", "-m", "audit", "--help").out
    commands = set(re.findall(r"^  ([a-z]+) +[A-Z]", help_text, re.MULTILINE))
    code = "\n".join([*(block.text for block in find_blocks(page) if block.language != "python"), *re.findall(r"`([^`\n]+)`", page)])
    used = set(re.findall(r"(?:^|[\s;&])audit ([a-z]+)\b", code))
    assert len(used) > 5 and used <= commands
    targets = set(re.findall(r"^([a-z]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"make ([a-z]+)", code)) <= targets


def find_stale_help(page: str) -> list[str]:
    """The blocks marked as the program's help that are not what it prints."""
    shown = [block.text for block in find_blocks(page) if block.mark == "run: help"]
    return [text for text in shown if text != Repository(CHECKOUT).must("python", "-m", "audit", "--help").out]


def test_help_block_is_the_help() -> None:
    """A block marked as help is what `audit --help` prints; another text is noticed."""
    assert find_stale_help(read_page()) == []
    assert find_stale_help("<!-- run: help -->\n```text\nUsage: audit nothing\n```\n") == ["Usage: audit nothing\n"]


def test_links_lead_somewhere(made: Repository) -> None:
    """Every relative link and picture is a file of the repository, or one that its pipeline writes."""
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", read_page()) if not link.startswith("http")]
    assert links and [link for link in links if not any((root / link).exists() for root in (made.root, CHECKOUT))] == []


def test_marks_can_be_missed() -> None:
    """A block without its mark is noticed."""
    with pytest.raises(AssertionError, match="no block marked"):
        marked("run: nothing")


def test_the_typed_number_is_caught_as_the_page_says(tmp_path: Path) -> None:
    """The line that the page promises for a typed number is the one that `audit verify` prints on the committed manuscript."""
    promised = re.search(r"`(A401 (\S+):\d+:\d+ typed number ([\d.]+); nearest: (\\val\{[^}]*\}) = [\d.]+)`", read_page())
    assert promised
    line, path, number, macro = promised.groups()
    copy = Repository(tmp_path / "copy")
    Repository(CHECKOUT).must("git", "clone", "-q", str(CHECKOUT), str(copy.root))
    source = copy.root / path
    source.write_text(source.read_text().replace(macro, number, 1))
    assert line in copy.run("python", "-m", "audit", "verify").out
