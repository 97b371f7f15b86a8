"""Check documents against their contracts: one file, a phase, or a whole tree (rules D2, D3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.changes import check_attempts, check_versions
from verifyplan.documents.checks.cross_document_plans import (
    check_must_haves,
    check_plans,
    check_requirements,
    check_summaries,
)
from verifyplan.documents.checks.cross_document_research import check_conflicts, check_decisions, check_research
from verifyplan.documents.kinds.codebase_map import CodebaseMap, check_paths
from verifyplan.documents.loading import REGISTRY, is_folder, load, load_beside, shown_for
from verifyplan.documents.reading.document import Document
from verifyplan.documents.tree import Tree, repository_root
from verifyplan.field_docs import with_field_docs
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

MAX_SEPARATE, MAX_LISTED_LINES, MAX_LISTED_CHARACTERS = 3, 8, 140
"""A rule that is broken more often in a document is reported once, with so many lines and characters of messages."""
_ALWAYS_SEPARATE = ("/field-missing", "/section-missing")
_BESIDE_A_COPY = (".PLANNING", "LICENSE", "LICENCE", "README")


@with_field_docs
@dataclass(frozen=True)
class Report:
    """The result of a check: violations by path, line and rule, the documents, and the other files."""

    path: str
    """The file or folder that was checked."""
    violations: tuple[Violation, ...]
    """Every rule that is broken, by path, line and rule."""
    documents: tuple[Document, ...]
    """The documents that were read."""
    others: tuple[str, ...] = ()
    """Markdown files of none of the nine kinds."""

    @property
    def ok(self) -> bool:
        """Whether there was something to check and no violation is an error."""
        errors = any(violation.severity == "error" for violation in self.violations)
        return bool(self.documents or self.violations) and not errors

    @property
    def tally(self) -> dict[str, int]:
        """How often each rule is broken, the most broken one first; ties by name."""
        counts = Counter(violation.rule for violation in self.violations)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def __str__(self) -> str:
        """Return a line for each violation, and one that counts them."""
        counts = Counter(violation.severity for violation in self.violations)
        by_severity = ", ".join(counted(counts[severity], severity) for severity in ("error", "warning", "info"))
        last = f"{counted(len(self.documents), 'document')}, {counted(len(self.others), 'other file')}: {by_severity}"
        if not self.documents and not self.violations:
            last = f"no document was found: {counted(len(self.others), 'other file')}, nothing was checked"
        return "\n".join([*map(str, self.violations), last])


def check(path: str | Path, *, strict: bool = False, against: str | Path | None = None) -> Report:
    """Check a document, or every document of a folder and what holds across them (rules D2, D3).

    By default a document of a known older or newer form is held to what that form has, and its form is reported once;
    with `strict`, every document is held to the contract's own form. `against` is an earlier version of the same file
    or folder: then the change from there to here is checked, too. Raises InputError as `load` does, and for an earlier
    version that has nothing to compare.

    >>> import tempfile, verifyplan as vp
    >>> found = check(vp.datasets.sample_planning(tempfile.mkdtemp() + "/parcels"))
    >>> found.ok, len(found.documents)
    (False, 8)
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
    """Check one file among the documents beside it, which may be its plan, its summary or its sources."""
    (document,) = tree
    beside = tuple(other.as_contract() if strict else other for other in load_beside(document.path))
    report = check_tree(Tree(tree.path, tuple(sorted((document, *beside), key=lambda each: each.path))))
    own = tuple(violation for violation in report.violations if violation.path == document.path)
    return Report(tree.path, own, (document,))


def check_tree(tree: Tree) -> Report:
    """Check documents that are loaded already, each in the form that it was read in."""
    root = repository_root(tree.path)
    violations = [
        violation(f"document/{file.obstacle.replace(' ', '-')}", file.path, 1, reason=file.reason, fix=file.fix)
        for file in tree.unread
    ]
    roots = {document.path: repository_root(document.path) or root for document in tree}
    absent = {place for place in roots.values() if place is not None and not _has_repository(place)}
    unchecked = [d for d in tree if d.kind == "codebase-map" and roots[d.path] in absent]
    violations += [violation("document/no-repository", document.path, 1) for document in unchecked[:1]]
    with progress("checking documents", len(tree), shown=shown_for(len(tree))) as step:
        for document in tree:
            violations += check_document(document, None if roots[document.path] in absent else roots[document.path])
            step()
    for cross_document_check in CROSS_DOCUMENT_CHECKS:
        violations += cross_document_check(tree)
    return Report(tree.path, tuple(_merged(violations)), tree.documents, tree.others)


def _has_repository(root: Path) -> bool:
    """Whether a folder holds more than `.planning` and what may lie beside a copy of it: a licence, a README."""
    try:
        return any(not place.name.upper().startswith(_BESIDE_A_COPY) for place in root.iterdir())
    except OSError:
        return False


def _merged(violations: Iterable[Violation]) -> list[Violation]:
    """Return the violations by path, line and rule; a rule broken many times in a document is one, with a count."""
    groups: dict[tuple[str, str], list[Violation]] = {}
    for each in sorted(violations):
        groups.setdefault((each.path, each.rule), []).append(each)
    merged: list[Violation] = []
    for (_, rule), group in groups.items():
        if len(group) <= MAX_SEPARATE or rule.endswith(_ALWAYS_SEPARATE) or rule.startswith("document/"):
            merged += group
            continue
        every = tuple(each.line for each in group)
        lines = list(dict.fromkeys(every))
        more = ", ..." if len(lines) > MAX_LISTED_LINES else ""
        listed = ", ".join(map(str, lines[:MAX_LISTED_LINES]))
        where = f"lines {listed}{more}" if len(lines) > 1 else f"line {lines[0]}"
        first = "; ".join(each.message[:MAX_LISTED_CHARACTERS] for each in group[:MAX_SEPARATE])
        merged.append(replace(group[0], message=f"{len(group)} times in {where}: {first}; ...", lines=every))
    return sorted(merged)


def check_document(document: Document, root: Path | None = None) -> Iterator[Violation]:
    """Yield the violations of one document.

    `root` is the folder of the repository; without it, paths that the document names are not looked up.
    """
    source = document.source
    for line, problem in source.front.problems:
        yield violation("document/frontmatter", document.path, line, problem=problem)
    if source.n_read < len(source.lines):
        n_lines = counted(len(source.lines), "line")
        yield violation("document/too-long", document.path, source.n_read + 1, n_lines=n_lines)
    _, checker = REGISTRY[document.kind]
    yield from checker(document)
    if isinstance(document, CodebaseMap):
        yield from check_paths(document, root)
