"""The project's own modules that this process has loaded: which, from where, with which bytes."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.context import Context
from audit.digest import sha256_file
from audit.finding import Refusal


def project_names(context: Context) -> set[str]:
    """Top-level names of the project's own packages and modules."""
    names: set[str] = set()
    for source in context.config.paths.sources:
        folder = context.root / source
        if (folder / "__init__.py").is_file():
            names.add(folder.name)
        elif folder.is_dir():
            names.update(child.parent.name for child in folder.glob("*/__init__.py"))
            names.update(child.stem for child in folder.glob("*.py"))
    return names


def digest_modules(context: Context) -> dict[str, str]:
    """Path -> SHA-256 of every loaded project module; one that lies outside the checkout is refused."""
    names, root = project_names(context), context.root.resolve()
    sources = [root / source for source in context.config.paths.sources]
    digests: dict[str, str] = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None:
            continue
        path = Path(file).resolve()
        if name.split(".")[0] in names and not path.is_relative_to(root):
            cure = f"run it as `python -m ...` from {root.name}/, with the checkout first on sys.path"
            raise Refusal(name, "this module was loaded from outside the checkout", expected=f"below {root}", observed=str(path), cure=cure)
        if any(path.is_relative_to(source) for source in sources):
            digests[path.relative_to(root).as_posix()] = sha256_file(path)
    return digests
