"""Charts made without Altair's check of each part, which takes longer than all else that makes them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from altair.utils.schemapi import debug_mode

_ONE_AT_A_TIME = threading.RLock()
"""The switch is Altair's and global: whoever puts it back must be who turned it."""


@contextmanager
def unchecked() -> Iterator[None]:
    """Within the block, parts of charts are not checked against Vega-Lite's schema.

    For charts of this package alone, which redraw at every step of a slider and whose specifications tests check as
    a whole. What a user does to a chart afterwards is checked as ever.
    """
    with _ONE_AT_A_TIME, debug_mode(False):
        yield
