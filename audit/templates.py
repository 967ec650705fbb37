"""Templates: Jinja with its own delimiters, sandboxed, in which a number is printed by one filter and in no other way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from audit.embedding import read_number
from audit.finding import Refusal
from audit.numbers.format import format_quantity
from audit.numbers.latex import Latex, latex_text, to_latex
from audit.numbers.stream import VALUE
from audit.quantities import is_quantity
from audit.records import Quantity, parse_model

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

__all__ = ["Latex", "Node", "RecordText", "environment", "is_placeholder", "latex_text", "strip_marks"]

PLACEHOLDER = re.compile(r"^\s*$|\b(?:TODO|TBD|FIXME|XXX+|NaN|nan|None|null|undefined|inf)\b|\?\?|^[-–—.]+$")
UNWRITTEN = re.compile(r"\b(?:TODO|TBD|FIXME|XXX+)\b|\?\?|^[-–—.\s]*$|^\s*(?:NaN|nan|None|null|undefined|inf)\s*$")
"""The same of prose, where `None of them` and `under the null` are words."""


BEGIN, END = "\ue010", "\ue011"
"""What stands around each text that a filter printed, until the template is rendered."""


class Cited(Quantity):
    """A quantity as a template sees it: with its key."""

    _key: str = PrivateAttr("")


class RecordText(str):
    """A text that stands in a record or registration."""


class Node:
    """A plain record as a template sees it: keys as attributes, quantities whole; what is read is noted."""

    def __init__(self, value: Any, place: str, note: Callable[[str], None]):
        self._value, self._place, self._note = value, place, note

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not isinstance(self._value, dict) or name not in self._value:
            return missing(self._value, self._place, name)
        return self[name]

    def __getitem__(self, name: Any) -> Any:
        return wrap(self._value[name], f"{self._place}.{name}", self._note)

    def __iter__(self) -> Iterator[Any]:
        keys = range(len(self._value)) if isinstance(self._value, list) else sorted(self._value)
        return (self[key] if isinstance(self._value, list) else RecordText(key) for key in keys)

    def __len__(self) -> int:
        return len(self._value)

    def __str__(self) -> str:
        raise Refusal(self._place, "a record or a list cannot be printed", cure="name a quantity inside it")


def missing(value: Any, place: str, name: str) -> Any:
    """What stands for an absent key: `is defined` may ask for it, every other use is refused with the nearest keys."""
    from jinja2 import StrictUndefined

    def refuse(_: object) -> Refusal:
        nearest = ", ".join(get_close_matches(name, list(value) if isinstance(value, dict) else [], n=3, cutoff=0.3)) or "none"
        return Refusal("template", f"{place} has no {name}", observed=f"nearest: {nearest}", cure="correct the name")

    return StrictUndefined(name=name, exc=refuse)  # type: ignore[arg-type]


def wrap(value: Any, place: str, note: Callable[[str], None]) -> Any:
    """A plain value for a template: quantities and texts are final, the rest is walked further."""
    note(place)
    if is_quantity(value):
        return cite(value, place)
    if isinstance(value, dict | list):
        return Node(value, place, note)
    return RecordText(value) if isinstance(value, str) else value


def cite(value: Any, key: str) -> Cited:
    """A plain quantity with its key."""
    cited = parse_model(Cited, value, key)
    cited._key = key
    return cited


def is_placeholder(text: str) -> bool:
    """Whether a generated value is empty or stands for a missing one."""
    return PLACEHOLDER.search(text) is not None


def print_value(value: Any) -> str:
    """What `<< >>` may print: LaTeX from a filter, or text without digits; never a bare number."""
    from jinja2 import Undefined

    if isinstance(value, Latex):
        return value
    if isinstance(value, Quantity):
        raise Refusal("template", "a quantity is printed without the filter", cure="write << ... | val >>")
    if isinstance(value, Undefined | Node):
        return str(value)
    if not isinstance(value, str):
        raise Refusal(
            "template",
            "only quantities and text can be printed",
            observed=f"{type(value).__name__} {value!r}",
            cure="use a quantity and the filter val",
        )
    if is_placeholder(value):
        raise Refusal("template", "an empty or placeholder text", observed=repr(str(value)))
    if re.search(r"\d", value):
        raise Refusal(
            "template",
            "a text with digits",
            observed=repr(str(value)),
            cure="a quantity with the filter val, or a record's own text with the filter label",
        )
    return latex_text(value, "template")


def read_numeral(shown: str) -> str:
    """The filter `num`: one number as siunitx reads it, for `\\num` and the columns `S`."""
    found = read_number(shown)
    if found is None:
        raise Refusal("template", "siunitx reads one number", observed=shown, cure="the filter val, outside \\num")
    return found


def strip_marks(text: str) -> tuple[str, str]:
    """A rendered text as it is written, and as it is scanned: what the filters printed stands there as a bound value."""
    return text.replace(BEGIN, "").replace(END, ""), re.sub(rf"{BEGIN}[^{END}]*{END}", VALUE, text)


def print_marked(value: Any) -> str:
    """What `<< >>` prints, marked where a filter made it; what a macro of the template gave is marked already."""
    if isinstance(value, Latex):
        return f"{BEGIN}{value}{END}"
    return value if isinstance(value, str) and BEGIN in value else print_value(value)


def print_label(value: Any) -> Latex:
    """The filter `label`: a record's or registration's own text, digits included."""
    if not isinstance(value, RecordText):
        raise Refusal("template", "the filter label takes a text of a record", observed=repr(value))
    if UNWRITTEN.search(value):
        raise Refusal("template", "an empty or placeholder text", observed=repr(str(value)))
    return latex_text(value, "template")


def environment(
    quantity_of: Callable[[str], Quantity], folders: list[str], note: Callable[[Quantity, str, str], None] | None = None
) -> SandboxedEnvironment:
    """The one Jinja environment: `<< >>`, `<% %>`, `<# #>`, lines `%%` and `%#`; where `note` is told what the filters print, they mark it too."""
    from jinja2 import FileSystemLoader, StrictUndefined, Undefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def print_form(value: Any, form: str) -> str:
        if isinstance(value, Undefined):
            str(value)
        key = str(value) if isinstance(value, str) else value._key if isinstance(value, Cited) else ""
        if isinstance(value, str):
            value = quantity_of(value)
        if not isinstance(value, Quantity):
            raise Refusal("template", "the filter val takes a quantity or its key", observed=repr(value))
        if note is not None:
            note(value, key, form)
        return format_quantity(value, form)

    def print_quantity(value: Any, form: str = "") -> Latex:
        return to_latex(print_form(value, form))

    def print_numeral(value: Any, form: str = "") -> Latex:
        return Latex(read_numeral(print_form(value, form)))

    class Sandbox(ImmutableSandboxedEnvironment):
        """No method of a quantity can be called: one would make another quantity, that no record holds."""

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            return attr in Quantity.model_fields if isinstance(obj, Quantity) else super().is_safe_attribute(obj, attr, value)

    class Loader(FileSystemLoader):
        """Templates from folders; one that holds our marks is refused."""

        def get_source(self, environment: Any, template: str) -> Any:
            found = super().get_source(environment, template)
            if BEGIN in found[0] or END in found[0]:
                raise Refusal("template", "a private character", observed=f"{BEGIN!a} or {END!a}", cure="remove it")
            return found

    made = Sandbox(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>", comment_start_string="<#",
        comment_end_string="#>", line_statement_prefix="%%", line_comment_prefix="%#", undefined=StrictUndefined, finalize=print_value if note is None else print_marked,
        loader=Loader(folders), keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False,
    )  # fmt: skip
    made.filters = {
        name: made.filters[name] for name in ("length", "sort", "reverse", "first", "last", "list", "groupby", "selectattr", "rejectattr")
    }
    made.filters |= {"val": print_quantity, "num": print_numeral, "label": print_label}
    made.globals = {"q": lambda key: cite(quantity_of(key).model_dump(), str(key))}
    return made
