"""Freezes predictions before the runs, judges them after, and lets no number into a manuscript without a source."""

import os

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins reads every installed package
