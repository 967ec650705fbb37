"""DVC with `dvc.lock` read and written by the YAML library's C code: the same bytes, in a fifth of the time that each stage of a course costs.

DVC's own way keeps comments, which no lock file has. `python quick_dvc.py repro ...` is `dvc repro ...`.
"""

from __future__ import annotations

import io
import re
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any, TextIO

from dvc.utils.serialize import _yaml
from ruamel.yaml import YAML
from ruamel.yaml.representer import SafeRepresenter

NULL = "tag:yaml.org,2002:null"


class Representer(SafeRepresenter):
    """Plain values as DVC has them written."""


Representer.add_representer(type(None), lambda self, _: self.represent_scalar(NULL, ""))
Representer.add_representer(OrderedDict, Representer.represent_dict)


def write_quickly(data: Any, stream: TextIO) -> None:
    """Write a lock file."""
    yaml = YAML(typ="safe")
    yaml.Representer, yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = Representer, False, False
    yaml.dump(data, text := io.StringIO())
    stream.write(re.sub(": $", ":", text.getvalue(), flags=re.MULTILINE))  # an empty value


def is_lock(path: Any) -> bool:
    """Whether a file is a lock; any other keeps its comments."""
    return Path(path).name == "dvc.lock"


def main(words: list[str]) -> int:
    """The command `dvc`."""
    from dvc.cli import main as dvc

    read, write = _yaml.parse_yaml_for_update, _yaml._dump
    _yaml.parse_yaml_for_update = lambda text, path: (_yaml.parse_yaml if is_lock(path) else read)(text, path)
    _yaml._dump = lambda data, stream: (write_quickly if is_lock(getattr(stream, "name", "")) else write)(data, stream)
    return dvc(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
