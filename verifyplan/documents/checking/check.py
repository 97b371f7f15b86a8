"""Documents checked against their contracts: one file, a phase, or a whole tree (SPEC D2, D3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from verifyplan.documents.checking.across.versions import check_versions
from verifyplan.documents.checking.catalogue import violation
from verifyplan.documents.checking.registry import ACROSS, CHECKERS
from verifyplan.documents.checking.violation import Violation
from verifyplan.documents.contracts.base import Document
from verifyplan.documents.contracts.load import load, shown_for
from verifyplan.documents.contracts.tree import Tree, repository_root
from verifyplan.documents.contracts.walk import Unread
from verifyplan.progress import progress
from verifyplan.words import counted


@dataclass(frozen=True)
class Report:
    """What a check found: violations by path, line and rule, and what was looked at."""

    path: str
    violations: tuple[Violation, ...]
    documents: tuple[Document, ...]
    others: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no violation is an error."""
        return not any(found.severity == "error" for found in self.violations)

    @property
    def tally(self) -> dict[str, int]:
        """How often each rule is broken, the most broken one first; ties by name."""
        counts = Counter(found.rule for found in self.violations)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def __str__(self) -> str:
        """Every violation in a line, and how many there are."""
        counts = Counter(found.severity for found in self.violations)
        found = ", ".join(counted(counts[severity], severity) for severity in ("error", "warning", "info"))
        last = f"{counted(len(self.documents), 'document')}, {counted(len(self.others), 'other file')}: {found}"
        return "\n".join([*map(str, self.violations), last])


def check(path: str | Path, *, strict: bool = False, against: str | Path | None = None) -> Report:
    """Check a document, or every document of a folder and what holds across them.

    With `strict`, every document is held to document 003's own form; else an older or newer form that is known is
    named once and held to what it has. `against` is an earlier version of the same file or folder: what may only grow
    or must be told is checked from there to here. Raises InputError as `load` does, and for an earlier version that
    has nothing to compare. Source: SPEC D2, D3.
    """
    tree = _loaded(path, strict=strict)
    report = check_tree(tree)
    if against is None:
        return report
    changes = check_versions(_loaded(against, strict=strict), tree)
    return replace(report, violations=tuple(sorted({*report.violations, *changes})))


def _loaded(path: str | Path, *, strict: bool) -> Tree:
    loaded = load(path)
    tree = loaded if isinstance(loaded, Tree) else Tree(str(path), (loaded,))
    return replace(tree, documents=tuple(d.as_contract() for d in tree)) if strict else tree


def check_tree(tree: Tree) -> Report:
    """Check documents that are loaded already, each as the form that it was read in."""
    root = repository_root(tree.path)
    found = [_unread(file) for file in tree.unread]
    with progress("checking documents", len(tree), shown=shown_for(len(tree))) as step:
        for document in tree:
            found += check_document(document, repository_root(document.path) or root)
            step()
    for across in ACROSS:
        found += across(tree)
    return Report(tree.path, tuple(sorted(found)), tree.documents, tree.others)


def _unread(file: Unread) -> Violation:
    rule = "document/unreadable" if file.obstacle == "unreadable" else "document/not-followed"
    return violation(rule, file.path, 1, file.reason, file.fix)


def check_document(document: Document, root: Path | None = None) -> Iterator[Violation]:
    """The violations of one document, in the order in which its rules are asked.

    `root` is the folder of the repository; without it, paths that the document names are not looked up.
    """
    for line, problem in document.source.front.problems:
        fix = "write plain names and values between two lines of three hyphens"
        yield violation("document/frontmatter", document.path, line, f"the frontmatter: {problem}", fix)
    source = document.source
    if source.read < len(source.lines):
        message = f"the document is too long: from here on it is not read ({counted(len(source.lines), 'line')})"
        yield violation("document/too-long", document.path, source.read + 1, message, "divide it")
    checker = CHECKERS.get(document.kind)
    if checker is not None:
        yield from checker(document, root)
