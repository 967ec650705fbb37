"""The sentence of a LaTeX source around a place, as a reader would quote it, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["sentence_at"]

PARAGRAPH = re.compile(r"\n[ \t]*\n")
BREAK = re.compile(
    r"(?P<hard>\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]*\])?|\\(?:sub)?paragraph\*?\{[^{}]*\}|\\item\b|\\\\)"
    r"|(?P<title>\\(?:(?:sub)*section|caption|title)\*?(?:\[[^\]]*\])?\{)"
    r"|(?:(?<=[.!?])|(?<=[.!?]['\u2019\u201d)\]}]))(?P<soft>\s+)(?=[A-Z\\$(\[`\u201c])"
    r"|(?P<brace>(?<!\\)[{}])"
)
COMMENT = re.compile(r"(?<!\\)%[^\n]*\n[ \t]*")


def sentence_at(source: str, start: int, end: int) -> str:
    """The sentence in which a stretch of a source stands: from paragraph, environment or full stop to the next, outside of braces."""
    first = max((match.end() for match in PARAGRAPH.finditer(source, 0, start)), default=0)
    last = PARAGRAPH.search(source, end)
    text = COMMENT.sub(lambda match: " " * len(match[0]), source[first : last.start() if last else len(source)])
    begin, stop = 0, len(text)
    for before, after in breaks(text):
        if first + after <= start:
            begin = after
        elif first + before >= end:
            stop = before
            break
    return " ".join(text[begin:stop].split())


def breaks(text: str) -> Iterator[tuple[int, int]]:
    """Where a paragraph may be cut: between sentences outside of arguments, at environments, and at both ends of titles and captions."""
    depth, titles = 0, [0]
    for match in BREAK.finditer(text):
        if match["title"]:
            depth += 1
            titles.append(depth)
        elif match["brace"]:
            ended = match["brace"] == "}" and len(titles) > 1 and depth == titles[-1]
            depth += 1 if match["brace"] == "{" else -1
            if not ended:
                continue
            titles.pop()
        elif match["soft"] and depth > titles[-1]:
            continue
        yield match.start(), match.end()
