"""Import `jsonschema`, which Altair needs, too, without the grammar of IRIs that it builds until an IRI is checked.

Where `rfc3987_syntax` is installed (JupyterLab brings it), to build the grammar takes longer than all else that a chart
imports, and neither charts nor messages check an IRI.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

GRAMMAR = "rfc3987_syntax"


class LateGrammar(ModuleType):
    """A stand-in for the grammar while `jsonschema` is imported; the grammar is built on first use."""

    def is_valid_syntax(self, term: str, value: str) -> bool:
        """Return whether a text is what a rule of the grammar calls `term`."""
        return bool(import_module(GRAMMAR).is_valid_syntax(term, value))


def jsonschema() -> ModuleType:
    """Import `jsonschema`; where it is imported already nothing changes, and later imports find the grammar itself."""
    if {"jsonschema", GRAMMAR} & set(sys.modules) or find_spec(GRAMMAR) is None:
        return import_module("jsonschema")
    late: Any = LateGrammar(GRAMMAR)
    sys.modules[GRAMMAR] = late
    try:
        return import_module("jsonschema")
    finally:
        if sys.modules.get(GRAMMAR) is late:
            del sys.modules[GRAMMAR]
