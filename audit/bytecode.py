"""Bytecode that the interpreter believes in place of a source file, compared with what the source compiles to.

Python takes `__pycache__/x.pyc` for `x.py` when its header repeats the source's time and size, whatever code follows: an editor that is
quicker than a second does this by mistake, a forger on purpose; an older Python of the same version may have left other code, too. Every cached file of the project is read and compared, those that only worker
processes will load too; the packages' own bytecode is not. What a forged cache does to this very process before it is asked cannot be told
from inside it: a rerun starts from a clone, which carries none.
"""

from __future__ import annotations

import marshal
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path
from types import CodeType

from audit.finding import FOUND, Refusal

HEADER = 16
HASHED, CHECKED = 1, 2


def refuse_forged_bytecode(root: Path, sources: Iterable[Path]) -> None:
    """Refuse a source file of the project that has another bytecode than its own."""
    for source in sources:
        cached = Path(cache_from_source(str(source)))
        if source.suffix == ".py" and cached.is_file() and is_forged(source, cached):
            place = source.relative_to(root) if source.is_relative_to(root) else source
            what = "Python runs bytecode in its place that is not what it compiles to"
            raise Refusal(place, what, observed=f"{cached.parent.name}/{cached.name}", cure=f"delete {cached.parent.name}/, run again", code=FOUND)


def is_forged(source: Path, cached: Path) -> bool:
    """Whether a cached file would be taken for the source and holds other code."""
    try:
        data, text = cached.read_bytes(), source.read_bytes()
        return _is_believed(data, text, source) and _differs(text, data[HEADER:])
    except OSError:
        return False


@cache
def _differs(text: bytes, code: bytes) -> bool:
    """Whether marshalled code is not what a source text compiles to; asked again when a run ends, of the same bytes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            honest = compile(text, "source", "exec", dont_inherit=True)
        found = marshal.loads(code)
    except (ValueError, TypeError, EOFError, SyntaxError):
        return True
    return not isinstance(found, CodeType) or found != honest or list(_exceptions(found)) != list(_exceptions(honest))


def _is_believed(data: bytes, text: bytes, source: Path) -> bool:
    """Whether the header is one that the interpreter accepts for this source."""
    if data[:4] != MAGIC_NUMBER or len(data) < HEADER:
        return False
    flags, first, second = (int.from_bytes(data[at : at + 4], "little") for at in (4, 8, 12))
    if flags & HASHED:
        return not flags & CHECKED or data[8:HEADER] == source_hash(text)
    about = source.stat()
    return (first, second) == (int(about.st_mtime) & 0xFFFFFFFF, about.st_size & 0xFFFFFFFF)


def _exceptions(code: CodeType) -> Iterator[bytes]:
    """The tables of exception handlers of a code object and of all within it, which its own comparison leaves out."""
    yield code.co_exceptiontable
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _exceptions(constant)
