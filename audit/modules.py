"""The project's own modules that this process has loaded: which, from where, with which bytes."""

from __future__ import annotations

import os
from pathlib import Path

from audit.bytecode import refuse_forged_bytecode
from audit.context import Context
from audit.digest import sha256_file
from audit.finding import Refusal
from audit.packages import is_installed, loaded_files, resolve


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


def source_files(context: Context) -> list[Path]:
    """Every Python file of the project's own code, loaded or not."""
    folders = [context.root / source for source in context.config.paths.sources]
    return sorted(file for folder in folders for file in folder.rglob("*.py") if file.is_file() and not is_installed(Path(resolve(str(file)))))


def digest_modules(context: Context) -> dict[str, str]:
    """Path -> SHA-256 of every loaded module that lies in the project; one that should and does not, or runs forged bytecode, is refused."""
    names, root = project_names(context), context.root.resolve()
    folders = [root / source for source in context.config.paths.sources]
    loaded, below = {}, os.path.join(root, "")
    for name, file in loaded_files().items():
        real = resolve(file)
        if not real.startswith(below):  # thousands, compared as text
            if name.partition(".")[0] in names:
                cure = f"run it as `python -m ...` from {root.name}/, with the checkout first on sys.path"
                raise Refusal(name, "this module was loaded from outside the checkout", expected=f"below {root}", observed=real, cure=cure)
            continue
        path = Path(real)
        if not is_installed(path) and (path.is_file() or any(path.is_relative_to(folder) for folder in folders)):  # some modules name a file that never was
            loaded[path.relative_to(root).as_posix()] = Path(file)
    refuse_forged_bytecode(root, sorted({*loaded.values(), *source_files(context)}))
    return {name: sha256_file(path) for name, path in sorted(loaded.items())}
