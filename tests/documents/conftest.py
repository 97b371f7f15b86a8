"""Real trees of planning documents, loaded once: reading their YAML is most of what a test of them takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from verifyplan.documents import load
from verifyplan.documents.tree import Tree


@pytest.fixture(scope="session")
def real_tree(shared: Path) -> Callable[[str], Tree]:
    """Return a function from the name of a real tree under ../shared to its documents; they are frozen."""

    @cache
    def loaded(name: str) -> Tree:
        root = shared / "data" / "planning" / name
        if not root.is_dir():
            pytest.skip(f"needs {name}, a real tree of documents, under ../shared/data/planning")
        tree = load(root)
        assert isinstance(tree, Tree)
        return tree

    return loaded
