"""Feature flags, read from config/flags.yaml once per process."""

from functools import cache
from pathlib import Path

import yaml

FLAGS_FILE = Path(__file__).resolve().parent.parent / "config" / "flags.yaml"


@cache
def all_flags() -> dict[str, bool]:
    """Every flag and whether it is on."""
    return {name: bool(value) for name, value in yaml.safe_load(FLAGS_FILE.read_text()).items()}


def is_enabled(name: str) -> bool:
    """Whether a flag is on; KeyError for one that is not in the file."""
    return all_flags()[name]
