"""Two versions of a file or a folder, document by document: what may not have changed between them (rule D3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation
from verifyplan.documents.checks.changes import check_change
from verifyplan.documents.reading.base import Document
from verifyplan.documents.tree import Tree
from verifyplan.documents.walk import is_folder, shown_path
from verifyplan.errors import InputError, Problem


def check_versions(before: Tree, after: Tree) -> Iterator[Violation]:
    """What later documents may not have done to earlier ones, at the lines of the later ones.

    Two files are two versions of one document; in folders those are compared that have the same path within and are of
    the same kind. Raises InputError where there is nothing to compare. Source: rule D3.
    """
    if is_folder(Path(before.path)) != is_folder(Path(after.path)):
        message = f"is {_sort(before)}, and {shown_path(after.path)} is {_sort(after)}"
        raise InputError(Problem(shown_path(before.path), message, "give two files, or two folders"))
    if not is_folder(Path(after.path)):
        return iter(change for old, new in zip(before, after, strict=True) for change in check_change(old, new))
    earlier = _by_place(before)
    pairs = [(earlier[place], new) for place, new in _by_place(after).items() if place in earlier]
    if not pairs:
        message = f"has no document of the same path as one in {shown_path(after.path)}"
        raise InputError(Problem(shown_path(before.path), message, "name an earlier version of the same folder"))
    return iter(change for old, new in pairs if old.kind == new.kind for change in check_change(old, new))


def _by_place(tree: Tree) -> dict[PurePath, Document]:
    """The documents of a folder by their paths within it, the `.planning` aside."""
    return {PurePath(document.path).relative_to(tree.folder): document for document in tree}


def _sort(tree: Tree) -> str:
    return "a folder" if is_folder(Path(tree.path)) else "a file"
