"""Requirement ids of plans, and the files that define requirements (SPEC D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from verifyplan.documents.checking.catalogue import violation
from verifyplan.documents.checking.violation import Violation
from verifyplan.documents.contracts.load import read_text
from verifyplan.documents.contracts.plan import PlanDocument
from verifyplan.documents.contracts.tree import Tree
from verifyplan.errors import InputError

_WORD = re.compile(r"[\w.-]+")


def check_requirements(tree: Tree) -> Iterator[Violation]:
    """Requirement ids that no REQUIREMENTS file of the tree names; without such a file nothing is asked.

    All files whose name ends in REQUIREMENTS.md count, those of archived milestones, too. Source: SPEC D3.
    """
    files = [path for path in tree.others if PurePath(path).stem.upper().endswith("REQUIREMENTS")]
    known = frozenset(word.strip(".-") for path in files for word in _WORD.findall(_read(path)))
    if not known:
        return
    for plan in tree.of(PlanDocument):
        for at, name in enumerate(plan.requirement_ids):
            if name.strip() not in known:
                yield _unknown(plan, at, name)


def _read(path: str) -> str:
    try:
        return read_text(Path(path))
    except InputError:  # it was read a moment ago; what cannot be read now names nothing
        return ""


def _unknown(plan: PlanDocument, at: int, name: str) -> Violation:
    message = f"requirement {name!r} stands in no REQUIREMENTS file of the tree"
    key = plan.the_form.key(plan.source, "requirement_ids")
    line = plan.source.front.line(key, at)
    return violation(
        "tree/requirement-unknown", plan.path, line, message, "name a requirement that is there, or add it"
    )
