"""Ink: whether what the text layer names can be seen on the page, by the darkness of its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from audit.layer import read_poppler

__all__ = ["Box", "find_invisible"]

HEADER = re.compile(rb"P5\s+(\d+)\s+(\d+)\s+255\s")
DOTS = 2
"""Dots a point: 144 an inch, so that the strokes of small print are seen."""
CONTRAST = 40
"""Least difference between the darkest and the lightest dot of a text that can be read, of 255."""

CORE = 0.45, 0.7
"""From where to where the core of a line reaches, in heights from its top."""

Box = tuple[int, float, float, float, float]
"""Page from 1; left, top, right, bottom in points from its upper left corner."""


def find_invisible(path: Path, boxes: Sequence[Box]) -> list[int]:
    """The indices of the boxes in which nothing stands out: white print, covered print, none at all."""
    pages = sorted({box[0] for box in boxes})
    pictures = {page: picture for first in pages[:1] for page, picture in enumerate(draw(path, first, pages[-1]), start=first)}
    return [index for index, box in enumerate(boxes) if box[0] in pictures and contrast(pictures[box[0]], box) < CONTRAST]


def draw(path: Path, first: int, last: int) -> list[tuple[int, memoryview]]:
    """Pages in shades of grey: the width of each and its dots."""
    data = read_poppler("pdftoppm", "-r", str(72 * DOTS), "-gray", "-f", str(first), "-l", str(last), str(path))
    found, at = [], 0
    while match := HEADER.match(data, at):
        width, size = int(match[1]), int(match[1]) * int(match[2])
        found.append((width, memoryview(data)[match.end() : match.end() + size]))
        at = match.end() + size
    return found


def contrast(picture: tuple[int, memoryview], box: Box) -> int:
    """The difference between the darkest and the lightest dot of the core of a box, which every letter crosses and a bar covers whole."""
    width, dots = picture
    left, right = max(0, int(box[1] * DOTS) + 1), min(width, int(box[3] * DOTS))
    first, last = (box[2] + part * (box[4] - box[2]) for part in CORE)
    rows = range(max(0, int(first * DOTS)), min(len(dots) // width, int(last * DOTS) + 1))
    lines = [line for row in rows if (line := dots[row * width + left : row * width + right])]
    return max((max(line) for line in lines), default=0) - min((min(line) for line in lines), default=0)
