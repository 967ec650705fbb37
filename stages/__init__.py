"""The stages of the pipeline: `python -m stages.NAME ...` from the checkout's root.

The checkout's own root and src/ come first on the path, so that the code that runs is the code that is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]
