"""Check what may change from one version of a document to the next (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.debug_log import DEBUG_STATUSES, DebugLog
from verifyplan.documents.kinds.verification import VerificationDocument
from verifyplan.documents.reading.comparing import wording
from verifyplan.documents.reading.document import Document
from verifyplan.documents.tree import Tree
from verifyplan.documents.walk import is_folder, shown_path
from verifyplan.errors import InputError, Problem

_TITLE_PARTS = re.compile(r"[:()]| - ")


def check_versions(before: Tree, after: Tree) -> Iterator[Violation]:
    """Yield what later documents may not have done to earlier ones, at the lines of the later ones.

    Two files are two versions of one document; of folders, documents of the same path within and the same kind are
    compared. Raises InputError where there is nothing to compare.
    """
    kinds = ["a folder" if is_folder(Path(tree.path)) else "a file" for tree in (before, after)]
    if kinds[0] != kinds[1]:
        message = f"is {kinds[0]}, and {shown_path(after.path)} is {kinds[1]}"
        raise InputError(Problem(shown_path(before.path), message, "give two files, or two folders"))
    if kinds == ["a file", "a file"]:
        pairs = list(zip(before, after, strict=True))
    else:
        earlier, later = _by_path_within(before), _by_path_within(after)
        common = [(earlier[path], document) for path, document in later.items() if path in earlier]
        if not common:
            message = f"has no document of the same path as one in {shown_path(after.path)}"
            raise InputError(Problem(shown_path(before.path), message, "name an earlier version of the same folder"))
        pairs = [(old, new) for old, new in common if old.kind == new.kind]
    return (change for old, new in pairs for change in check_change(old, new))


def _by_path_within(tree: Tree) -> dict[PurePath, Document]:
    return {PurePath(document.path).relative_to(tree.folder): document for document in tree}


def check_attempts(tree: Tree) -> Iterator[Violation]:
    """Check each verification of a phase against the attempt before it; those without an attempt are left out.

    A phase has several where an attempt did not overwrite the one before (VERIFICATION.md, VERIFICATION-2.md).
    """
    for phase in tree.phases:
        for series in phase.series:
            for before, after in pairwise(attempt for attempt in series if attempt.attempt is not None):
                yield from check_change(before, after)


def check_change(before: Document, after: Document) -> list[Violation]:
    """Return what a later version of a document may not have done to an earlier one, at the later one's lines.

    Only debug logs and verifications have such rules, and an unchanged version breaks none. Raises InputError for two
    documents of different kinds.
    """
    if before.kind != after.kind:
        message = f"is a {after.kind}, but the earlier version is a {before.kind}"
        raise InputError(Problem(after.path, message, "give two versions of one document"))
    if before.text == after.text:
        return []
    if isinstance(before, DebugLog) and isinstance(after, DebugLog):
        return sorted([*_check_debug_log(before, after), *_check_debug_status(before, after)])
    if isinstance(before, VerificationDocument) and isinstance(after, VerificationDocument):
        return sorted(_check_verification(before, after))
    return []


def _check_debug_log(before: DebugLog, after: DebugLog) -> Iterator[Violation]:
    if before.status not in (None, "gathering") and before.symptoms != after.symptoms:
        line = _line_of(after, "Symptoms")
        yield violation("debug-log/symptoms-changed", after.path, line, status=before.status)
    evidence = [[(entry.text, entry.line) for entry in log.evidence] for log in (before, after)]
    eliminated = [[(each.text, each.line) for each in log.hypotheses if each.eliminated] for log in (before, after)]
    for rule, title, (old, new) in (
        ("debug-log/evidence-changed", "Evidence Log", evidence),
        ("debug-log/eliminated-changed", "Hypotheses", eliminated),
    ):  # lists that may only grow: they begin as before
        unlike = (at for at, (text, _) in enumerate(old) if at >= len(new) or new[at][0] != text)
        for at in islice(unlike, 1):
            line = new[at][1] if at < len(new) else _line_of(after, title)
            yield violation(rule, after.path, line, number=at + 1, text=old[at][0])


def _line_of(document: Document, title: str) -> int:
    section = document.source.section(title)
    return section.first if section else 1


def _check_debug_status(before: DebugLog, after: DebugLog) -> Iterator[Violation]:
    """Check that the status moves forward step by step; where only the root cause is sought, nothing is fixed."""
    unfixed = ("fixing", "verifying") if after.mode == "find_root_cause_only" else ()
    known = [str(status) for status in DEBUG_STATUSES if status not in unfixed]
    if before.status not in known or after.status not in known:
        return
    steps, line = known.index(after.status) - known.index(before.status), after.source.front.line("status")
    statuses = {"before": before.status, "after": after.status, "passed": known[known.index(after.status) - 1]}
    if steps < 0:
        yield violation("debug-log/status-backward", after.path, line, **statuses)
    elif steps > 1:
        yield violation("debug-log/status-jumped", after.path, line, **statuses)


def _check_verification(before: VerificationDocument, after: VerificationDocument) -> Iterator[Violation]:
    if before.attempt is not None and (after.attempt is None or after.attempt <= before.attempt):
        line = after.source.front.line("attempt")
        values = {"attempt": after.attempt or "not given", "before": before.attempt, "next": before.attempt + 1}
        yield violation("verification/attempt-not-grown", after.path, line, **values)
    results = {wording(result.text): result for result in after.results}
    regressions = _regressions(after)
    for result in before.results:
        if not before.counts_as_passed(result):
            continue
        now = results.get(wording(result.text))
        if now is None:
            line = after.results[0].line if after.results else 1
            yield violation("verification/must-have-dropped", after.path, line, must_have=result.text)
        elif not (
            after.counts_as_passed(now)
            or _says_regression(now.status, now.evidence)
            or wording(now.text) in regressions
        ):
            yield violation("verification/regression-untold", after.path, now.line, must_have=result.text)


def _says_regression(*texts: str) -> bool:
    return any("regress" in text.casefold() for text in texts)


def _regressions(after: VerificationDocument) -> frozenset[str]:
    """Return the titles of the gaps that speak of a regression, and their parts."""
    titles = [gap for gap in after.gaps if _says_regression(gap)]
    titles += [gap.title for gap in after.gap_details if _says_regression(gap.title, gap.evidence, gap.fix)]
    return frozenset(wording(part) for title in titles for part in (title, *_TITLE_PARTS.split(title)))
