"""Charts and messages are imported without the grammar of IRIs; who checks an IRI afterwards has it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.processes import environment

CODE = """
import sys
import verifyplan.charts.theme
assert "altair" in sys.modules and "lark" not in sys.modules and "rfc3987_syntax" not in sys.modules
from jsonschema import FormatChecker
found = [FormatChecker().conforms(text, "iri") for text in ("https://example.org/\u00e4", "no iri", 7)]
import rfc3987_syntax
print(found, "lark" in sys.modules, callable(rfc3987_syntax.parse))
"""


def test_the_grammar_of_iris_is_built_when_one_is_checked():
    pytest.importorskip("rfc3987_syntax")
    done = subprocess.run([sys.executable, "-c", CODE], env=environment(), capture_output=True, text=True, check=False)
    assert done.stdout == "[True, False, True] True True\n", done.stderr
