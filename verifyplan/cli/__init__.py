"""The same things from a shell: `verifyplan --help` (SPEC H1, H2)."""

from verifyplan.cli.app import main

__all__ = ["main"]
