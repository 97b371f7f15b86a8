"""Labelled claims about the standard library of the running interpreter, of any size."""

from verifyplan.datasets.stdlib.claims import stdlib_claims
from verifyplan.datasets.stdlib.facts import stdlib_root

__all__ = ["stdlib_claims", "stdlib_root"]
