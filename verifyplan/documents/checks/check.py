"""Documents checked against their contracts: one file, a phase, or a whole tree (rules D2, D3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.changes import check_attempts, check_versions
from verifyplan.documents.checks.cross_document_must_haves import check_must_haves
from verifyplan.documents.checks.cross_document_plans import check_plans, check_requirements, check_summaries
from verifyplan.documents.checks.cross_document_research import check_conflicts, check_decisions, check_research
from verifyplan.documents.kinds.registry import REGISTRY
from verifyplan.documents.loading import is_folder, load, load_beside, shown_for
from verifyplan.documents.reading.document import Document
from verifyplan.documents.tree import Tree, repository_root
from verifyplan.documents.walk import Unread
from verifyplan.progress import progress
from verifyplan.text import counted

CROSS_DOCUMENT_CHECKS: tuple[Callable[[Tree], Iterator[Violation]], ...] = (
    check_research,
    check_conflicts,
    check_decisions,
    check_plans,
    check_requirements,
    check_summaries,
    check_must_haves,
    check_attempts,
)
"""Each takes all documents of a folder."""


@dataclass(frozen=True)
class Report:
    """What a check found: violations by path, line and rule, and what was looked at."""

    path: str
    violations: tuple[Violation, ...]
    documents: tuple[Document, ...]
    others: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there was something to check and no violation is an error."""
        return bool(self.documents or self.violations) and not any(
            found.severity == "error" for found in self.violations
        )

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
        if not self.documents and not self.violations:
            last = f"no document was found: {counted(len(self.others), 'other file')}, nothing was checked"
        return "\n".join([*map(str, self.violations), last])


def check(path: str | Path, *, strict: bool = False, against: str | Path | None = None) -> Report:
    """Check a document, or every document of a folder and what holds across them.

    With `strict`, every document is held to document 003's own form; else an older or newer form that is known is
    named once and held to what it has. `against` is an earlier version of the same file or folder: what may only grow
    or must be told is checked from there to here. Raises InputError as `load` does, and for an earlier version that
    has nothing to compare. Source: rules D2, D3.
    """
    tree = _loaded(path, strict=strict)
    report = check_tree(tree) if is_folder(Path(path)) else _check_file(tree, strict=strict)
    if against is None:
        return report
    changes = check_versions(_loaded(against, strict=strict), tree)
    return replace(report, violations=tuple(sorted({*report.violations, *changes})))


def _loaded(path: str | Path, *, strict: bool) -> Tree:
    loaded = load(path)
    tree = loaded if isinstance(loaded, Tree) else Tree(str(path), (loaded,))
    return replace(tree, documents=tuple(d.as_contract() for d in tree)) if strict else tree


def _check_file(tree: Tree, *, strict: bool) -> Report:
    """The check of one file among the documents beside it, which its plan, its summary or its sources may be."""
    (document,) = tree
    beside = tuple(other.as_contract() if strict else other for other in load_beside(document.path))
    report = check_tree(Tree(tree.path, tuple(sorted((document, *beside), key=lambda one: one.path))))
    own = tuple(one for one in report.violations if one.path == document.path)
    return Report(tree.path, own, (document,))


def check_tree(tree: Tree) -> Report:
    """Check documents that are loaded already, each as the form that it was read in."""
    root = repository_root(tree.path)
    found = [_unread(file) for file in tree.unread]
    roots = {document.path: repository_root(document.path) or root for document in tree}
    absent = {place for place in roots.values() if place is not None and not _is_there(place)}
    found += _absent([document for document in tree if roots[document.path] in absent])
    with progress("checking documents", len(tree), shown=shown_for(len(tree))) as step:
        for document in tree:
            found += check_document(document, None if roots[document.path] in absent else roots[document.path])
            step()
    for across in CROSS_DOCUMENT_CHECKS:
        found += across(tree)
    return Report(tree.path, tuple(_merged(found)), tree.documents, tree.others)


def _absent(documents: Sequence[Document]) -> Iterator[Violation]:
    """One note on the first of the codebase maps whose repository is not there."""
    for document in documents:
        if document.kind == "codebase-map":
            message = "the repository is not beside .planning: whether the paths of codebase maps exist is not checked"
            yield violation("document/no-repository", document.path, 1, message, "check it within its repository")
            return


def _is_there(root: Path) -> bool:
    """Whether a folder holds more than `.planning` and what may lie beside a copy of it: a licence, a README."""
    try:
        return any(not place.name.upper().startswith(_BESIDE) for place in root.iterdir())
    except OSError:
        return False


_BESIDE = (".PLANNING", "LICENSE", "LICENCE", "README")


def _merged(found: Iterable[Violation]) -> Iterator[Violation]:
    """The violations by path, line and rule; one rule broken many times in a document is told once, with a count."""
    groups: dict[tuple[str, str], list[Violation]] = {}
    for one in sorted(found):
        groups.setdefault((one.path, one.rule), []).append(one)
    return iter(sorted(one for group in groups.values() for one in _told_once(group)))


def _told_once(group: Sequence[Violation]) -> Sequence[Violation]:
    if len(group) <= TOLD_APART or group[0].rule.endswith(_EACH) or group[0].rule.startswith("document/"):
        return group
    every = tuple(one.line for one in group)
    lines = list(dict.fromkeys(every))
    more = ", ..." if len(lines) > SHOWN_LINES else ""
    where = f"lines {', '.join(map(str, lines[:SHOWN_LINES]))}{more}" if len(lines) > 1 else f"line {lines[0]}"
    first = "; ".join(one.message[:SHOWN_LETTERS] for one in group[:TOLD_APART])
    return [replace(group[0], message=f"{len(group)} times in {where}: {first}; ...", lines=every)]


TOLD_APART, SHOWN_LINES, SHOWN_LETTERS = 3, 8, 140
"""How often a rule may be broken in a document before it is told once, how many lines are named then, and so many
letters of the first messages."""
_EACH = ("/field-missing", "/section-missing")
"""Rules whose every violation is another thing to write."""


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
    if source.n_read < len(source.lines):
        message = f"the document is too long: from here on it is not read ({counted(len(source.lines), 'line')})"
        yield violation("document/too-long", document.path, source.n_read + 1, message, "divide it")
    _, checker = REGISTRY[document.kind]
    yield from checker(document, root)
