"""The same things from a shell: `verifyplan --help` (rules H1, H2)."""

import gc

from verifyplan.cli.app import main

gc.freeze()  # what has loaded stays: to look through it for garbage is a quarter of the time of a short command

__all__ = ["main"]
