"""The code blocks of README.md, each with the comment on the line before it that says what a test does with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from smoke import CHECKOUT

BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^>]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    mark: str
    """`run: smoke`, `run: smoke exp`, `run: help`, `show: ...`, or nothing."""
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Its lines without what is said about them."""
        return [line.split("  #")[0].strip() for line in self.text.splitlines()]


def read_page() -> str:
    """README.md."""
    return (CHECKOUT / "README.md").read_text(encoding="utf-8")


def find_blocks(page: str) -> list[Block]:
    """Every fenced block, in order."""
    return [Block(found["mark"] or "", found["language"], found["text"]) for found in BLOCK.finditer(page)]


def marked(mark: str) -> list[Block]:
    """The blocks with a mark; there must be one."""
    found = [block for block in find_blocks(read_page()) if block.mark == mark]
    assert found, f"README.md has no block marked <!-- {mark} -->"
    return found
