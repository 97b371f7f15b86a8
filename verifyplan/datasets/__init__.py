"""The bundled fixture sets by name, and claims made from real code."""

from verifyplan.datasets.bundled import claims, names, path, runs
from verifyplan.datasets.stdlib import stdlib_claims, stdlib_root

__all__ = ["claims", "names", "path", "runs", "stdlib_claims", "stdlib_root"]
