"""Names that were removed say everywhere what to use instead, and the change log has the same table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import verifyplan as vp
from verifyplan.lazy_names import LazyModule
from verifyplan.removed_names import REMOVED

CHANGES = (Path(__file__).resolve().parents[1] / "CHANGELOG.md").read_text("utf-8")
MODULES = [vp, *(value for name in vp.__all__ if isinstance(value := getattr(vp, name), LazyModule))]


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_name_says_in_every_public_module_what_to_use_instead(name):
    for module in MODULES:
        assert name not in module.__all__
        with pytest.raises(AttributeError) as raised:
            getattr(module, name)
        assert str(raised.value) == f"{module.__name__}.{name} was removed; {REMOVED[name]}"


def test_the_change_log_has_the_same_table():
    _, table = CHANGES.split("\nRemoved names:\n\n| name | instead |\n|---|---|\n")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", table.partition("\n\n")[0], re.MULTILINE)
    assert rows == list(REMOVED.items())
