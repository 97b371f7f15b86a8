"""What a language tells of one module: where its name may stand, and which statements import it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Target(NamedTuple):
    """A module that is looked for.

    A file that imports it has one of the words `hints`, or lies below `folder` and has what `nearby` finds: a
    relative import needs no name. `imports` says of the path of a file and the text of an import in it whether it is
    meant. Files of the same folder that have the word `neighbours` (empty: none) use the module without importing it.
    """

    hints: tuple[str, ...]
    imports: Callable[[str, str], bool]
    folder: str = ""
    nearby: re.Pattern[str] | None = None
    neighbours: str = ""
