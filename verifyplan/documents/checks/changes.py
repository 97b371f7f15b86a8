"""Check what may change from one version of a document to the next (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.debug_log import DEBUG_STATUSES, DebugLog
from verifyplan.documents.kinds.verification import MustHaveResult, VerificationDocument
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
        message = f"is a {after.kind}, what came before is a {before.kind}"
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
        message = f"the symptoms changed while the status was {before.status}"
        fix = "write them as they were; what is new belongs into the evidence log"
        yield violation("debug-log/symptoms-changed", after.path, _line_of(after, "Symptoms"), message, fix)
    fix = "write it as it was; add at the end"
    entries, old = [entry.text for entry in after.evidence], [entry.text for entry in before.evidence]
    at = _first_change(old, entries)
    if at is not None:
        line = after.evidence[at].line if at < len(entries) else _line_of(after, "Evidence Log")
        message = f"entry {at + 1} of the evidence log was changed or taken out: {old[at][:80]!r}"
        yield violation("debug-log/evidence-changed", after.path, line, message, fix)
    old = [hypothesis.text for hypothesis in before.hypotheses if hypothesis.eliminated]
    eliminated = [hypothesis for hypothesis in after.hypotheses if hypothesis.eliminated]
    at = _first_change(old, [hypothesis.text for hypothesis in eliminated])
    if at is not None:
        line = eliminated[at].line if at < len(eliminated) else _line_of(after, "Hypotheses")
        message = f"eliminated hypothesis {at + 1} was changed or taken out: {old[at][:80]!r}"
        yield violation("debug-log/eliminated-changed", after.path, line, message, fix)


def _line_of(document: Document, title: str) -> int:
    section = document.source.section(title)
    return section.first if section else 1


def _first_change(old: Sequence[str], new: Sequence[str]) -> int | None:
    """Return the first place at which a list that may only grow no longer begins as before; None if it does."""
    return next((at for at, text in enumerate(old) if at >= len(new) or new[at] != text), None)


def _check_debug_status(before: DebugLog, after: DebugLog) -> Iterator[Violation]:
    """Check that the status moves forward step by step; where only the root cause is sought, nothing is fixed."""
    unfixed = ("fixing", "verifying") if after.mode == "find_root_cause_only" else ()
    known = [str(status) for status in DEBUG_STATUSES if status not in unfixed]
    if before.status not in known or after.status not in known:
        return
    steps, line = known.index(after.status) - known.index(before.status), after.source.front.line("status")
    if steps < 0:
        message = f"the status went back from {before.status} to {after.status}"
        fix = "open a new log, or go on from where it was"
        yield violation("debug-log/status-backward", after.path, line, message, fix)
    elif steps > 1:
        message = f"the status went from {before.status} to {after.status}, past {known[known.index(after.status) - 1]}"
        fix = "write the log at every step; nothing, if there were versions between these two"
        yield violation("debug-log/status-jumped", after.path, line, message, fix)


def _check_verification(before: VerificationDocument, after: VerificationDocument) -> Iterator[Violation]:
    if before.attempt is not None and (after.attempt is None or after.attempt <= before.attempt):
        message = f"the attempt is {after.attempt or 'not given'}, and was {before.attempt} before"
        line, fix = after.source.front.line("attempt"), f"write attempt: {before.attempt + 1}"
        yield violation("verification/attempt-not-grown", after.path, line, message, fix)
    results = {wording(result.text): result for result in after.results}
    regressions = _regressions(after)
    for result in before.results:
        if before.counts_as_passed(result):
            yield from _check_passed(after, result, results.get(wording(result.text)), regressions)


def _check_passed(
    after: VerificationDocument, before: MustHaveResult, now: MustHaveResult | None, regressions: frozenset[str]
) -> Iterator[Violation]:
    """Check that a must-have that passed before passes, or is called a regression."""
    name = before.text[:80]
    if now is None:
        message = f"the must-have {name!r} passed before, and is not in the table any more"
        line = after.results[0].line if after.results else 1
        fix = "verify it again, in a row of its own"
        yield violation("verification/must-have-dropped", after.path, line, message, fix)
        return
    regressed = _says_regression(now.status, now.evidence) or wording(now.text) in regressions
    if not after.counts_as_passed(now) and not regressed:
        message = f"the must-have {name!r} passed before and does not now, and nobody says that it regressed"
        fix = "write REGRESSED in its row, or regression in its gap"
        yield violation("verification/regression-untold", after.path, now.line, message, fix)


def _says_regression(*texts: str) -> bool:
    return any("regress" in text.casefold() for text in texts)


def _regressions(after: VerificationDocument) -> frozenset[str]:
    """Return the titles of the gaps that speak of a regression, and their parts."""
    titles = [gap for gap in after.gaps if _says_regression(gap)]
    titles += [gap.title for gap in after.gap_details if _says_regression(gap.title, gap.evidence, gap.fix)]
    return frozenset(wording(part) for title in titles for part in (title, *_TITLE_PARTS.split(title)))
