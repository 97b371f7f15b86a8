"""The repository of a plan, without the plan: neither as it is now nor as it was before a revision (SPEC G2)."""

from __future__ import annotations

from pathlib import Path

from verifyplan.agents.repository.listing import list_files
from verifyplan.agents.repository.repository import Repository

_TEXTS = (".md", ".markdown", ".txt", ".mdx", ".rst")
_FEWEST_LINES, _LEAST_SHARED, _MOST_SHARED = 4, 0.5, 2.0
_ALIKE = 0.7


def open_repository(root: Path, plan: str) -> Repository:
    """The repository in a folder; besides the plan's text, texts that share most of their lines with it are left out.

    A plan that was revised lies there as it was, and must not vouch for what it says now. InputError if there is no
    such folder.
    """
    opened = Repository.open(root, plan)
    lines = {line.strip() for line in plan.split("\n")} - {""}
    size = len(plan.encode(errors="replace"))
    near = range(int(size * _LEAST_SHARED), int(size * _MOST_SHARED) + 1) if len(lines) >= _FEWEST_LINES else range(0)
    texts = [path for path, entry in opened.files.items() if entry.size in near and path.lower().endswith(_TEXTS)]
    earlier = [path for path in texts if _shared(opened.text(path), lines) >= _ALIKE]
    if not earlier:
        return opened
    listing = list_files(opened.root, plan)
    for path in earlier:
        listing.files.pop(path, None)
        listing.skipped[path] = "the plan as it was, or one that is almost the same"
    return Repository(opened.root, listing)


def _shared(text: str | None, lines: set[str]) -> float:
    """The share of a text's lines that the plan has, too."""
    own = [line.strip() for line in (text or "").split("\n") if line.strip()]
    return sum(line in lines for line in own) / len(own) if own else 0.0
