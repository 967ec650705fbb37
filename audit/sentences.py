"""The sentence of a LaTeX source around a place, as a reader would quote it, in one line."""

from __future__ import annotations

import re

__all__ = ["sentence_at"]

PARAGRAPH = re.compile(r"\n[ \t]*\n")
BREAK = re.compile(
    r"(?P<hard>\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]*\])?|\\(?:sub)*section\*?(?=[\[{])|\\(?:sub)?paragraph\*?\{[^{}]*\}|\\caption(?=[\[{])|\\item\b|\\\\)"
    r"|(?:(?<=[.!?])|(?<=[.!?]['\u2019\u201d)\]}]))(?P<soft>\s+)(?=[A-Z\\$(\[`\u201c])"
    r"|(?P<brace>(?<!\\)[{}])"
)
COMMENT = re.compile(r"(?<!\\)%[^\n]*\n[ \t]*")


def sentence_at(source: str, start: int, end: int) -> str:
    """The sentence in which a stretch of a source stands: from paragraph, environment or full stop to the next, outside of braces."""
    first = max((match.end() for match in PARAGRAPH.finditer(source, 0, start)), default=0)
    last = PARAGRAPH.search(source, end)
    text = COMMENT.sub(lambda match: " " * len(match[0]), source[first : last.start() if last else len(source)])
    begin, stop, depth = 0, len(text), 0
    for match in BREAK.finditer(text):
        if match["brace"]:
            depth += 1 if match["brace"] == "{" else -1
        elif match["hard"] or depth <= 0:
            if first + match.end() <= start:
                begin = match.end()
            elif first + match.start() >= end:
                stop = match.start()
                break
    return " ".join(text[begin:stop].split())
