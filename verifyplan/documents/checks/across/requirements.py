"""Requirement ids of plans, and the files that define requirements (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.loading import read_text
from verifyplan.documents.tree import Tree
from verifyplan.errors import InputError

_WORD = re.compile(r"[\w.-]+")


def check_requirements(tree: Tree) -> Iterator[Violation]:
    """Requirement ids that neither a REQUIREMENTS file of the tree names nor another of its overviews (ROADMAP ...).

    Without a REQUIREMENTS file nothing is asked, and neither of a small task under quick/. Source: rule D3.
    """
    if not any(PurePath(path).stem.upper().endswith("REQUIREMENTS") for path in tree.others):
        return
    known = frozenset(word.strip(".-") for path in tree.others for word in _WORD.findall(_read(path)))
    for plan in tree.of(PlanDocument):
        if plan.form == "quick":
            continue
        for at, name in enumerate(plan.requirement_ids):
            if name.strip() not in known:
                yield _unknown_requirement(plan, at, name)


def _read(path: str) -> str:
    try:
        return read_text(Path(path))
    except InputError:  # it was read a moment ago; what cannot be read now names nothing
        return ""


def _unknown_requirement(plan: PlanDocument, at: int, name: str) -> Violation:
    message = f"requirement {name!r} stands in no REQUIREMENTS file or overview of the tree"
    key = plan.the_form.key(plan.source, "requirement_ids")
    line = plan.source.front.line(key, at)
    return violation(
        "tree/requirement-unknown", plan.path, line, message, "name a requirement that is there, or add it"
    )
