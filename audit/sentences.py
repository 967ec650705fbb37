"""The sentence of a LaTeX source around a place, as a reader would quote it."""

from __future__ import annotations

import re

__all__ = ["sentence_at"]

BREAK = re.compile(
    r"(?P<hard>\n[ \t]*\n|\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]*\])?|\\(?:sub)*section\*?(?=[\[{])|\\(?:sub)?paragraph\*?\{[^{}]*\}|\\caption(?=[\[{])|\\item\b|\\\\)"
    r"|(?<=[.!?])['\u2019\u201d)\]}]*(?P<soft>\s+)(?=[A-Z\\$(\[`\u201c])"
    r"|(?P<brace>(?<!\\)[{}])"
)
COMMENT = re.compile(r"(?<!\\)%[^\n]*\n[ \t]*")


def sentence_at(source: str, start: int, end: int) -> str:
    """The sentence in which a stretch of a source stands: from paragraph, environment or full stop to the next, outside of braces."""
    begin, stop, depth = 0, len(source), 0
    for match in BREAK.finditer(source):
        if match["brace"]:
            depth += 1 if match["brace"] == "{" else -1
            continue
        depth = 0 if match["hard"] and match["hard"].isspace() else depth
        if match["soft"] and depth > 0:
            continue
        if match.end() <= start:
            begin = match.end()
        elif match.start() >= end:
            stop = match.start()
            break
    return COMMENT.sub("", source[begin:stop]).strip()
