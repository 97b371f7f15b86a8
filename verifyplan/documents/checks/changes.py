"""What may change in a document from one version to the next: debug logs and verifications (rule D3)."""

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

_PIECES = re.compile(r"[:()]| - ")


def check_change(before: Document, after: Document) -> list[Violation]:
    """What a later version of a document may not have done to an earlier one, at the lines of the later one.

    Debug logs and verifications have such rules; another kind has none, and neither has a version that is unchanged.
    Raises InputError for two documents of different kinds. Source: rule D3.
    """
    if before.kind != after.kind:
        message = f"is a {after.kind}, what came before is a {before.kind}"
        raise InputError(Problem(after.path, message, "give two versions of one document"))
    if before.text == after.text:
        return []
    if isinstance(before, DebugLog) and isinstance(after, DebugLog):
        return sorted(_check_debug_log(before, after))
    if isinstance(before, VerificationDocument) and isinstance(after, VerificationDocument):
        return sorted(_check_verification(before, after))
    return []


def _check_debug_log(before: DebugLog, after: DebugLog) -> Iterator[Violation]:
    if before.status not in (None, "gathering") and before.symptoms != after.symptoms:
        message = f"the symptoms changed while the status was {before.status}"
        fix = "write them as they were; what is new belongs into the evidence log"
        yield violation("debug-log/symptoms-changed", after.path, _part(after, "Symptoms"), message, fix)
    entries = [entry.text for entry in after.evidence]
    at = _differs([entry.text for entry in before.evidence], entries)
    if at is not None:
        line = after.evidence[at].line if at < len(entries) else _part(after, "Evidence Log")
        message = f"entry {at + 1} of the evidence log was changed or taken out: {before.evidence[at].text[:80]!r}"
        yield violation("debug-log/evidence-changed", after.path, line, message, "write it as it was; add at the end")
    yield from _check_eliminated(before, after)
    yield from _check_status(before, after)


def _check_eliminated(before: DebugLog, after: DebugLog) -> Iterator[Violation]:
    old = [hypothesis.text for hypothesis in before.hypotheses if hypothesis.eliminated]
    now = [hypothesis for hypothesis in after.hypotheses if hypothesis.eliminated]
    at = _differs(old, [hypothesis.text for hypothesis in now])
    if at is not None:
        line = now[at].line if at < len(now) else _part(after, "Hypotheses")
        message = f"eliminated hypothesis {at + 1} was changed or taken out: {old[at][:80]!r}"
        yield violation("debug-log/eliminated-changed", after.path, line, message, "write it as it was; add at the end")


def _check_status(before: DebugLog, after: DebugLog) -> Iterator[Violation]:
    """The status goes on, step by step; where the root cause alone is sought, nothing is fixed and verified."""
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


def _part(document: Document, title: str) -> int:
    part = document.source.section(title)
    return part.first if part else 1


def _differs(old: Sequence[str], now: Sequence[str]) -> int | None:
    """The first place at which a list that may only grow no longer begins as it did; None if it does."""
    return next((at for at, text in enumerate(old) if at >= len(now) or now[at] != text), None)


def _check_verification(before: VerificationDocument, after: VerificationDocument) -> Iterator[Violation]:
    if before.attempt is not None and (after.attempt is None or after.attempt <= before.attempt):
        message = f"the attempt is {after.attempt or 'not given'}, and was {before.attempt} before"
        line = after.source.front.line("attempt")
        fix = f"write attempt: {before.attempt + 1}"
        yield violation("verification/attempt-not-grown", after.path, line, message, fix)
    now = {wording(result.text): result for result in after.results}
    told = frozenset(_told(after))
    for result in before.results:
        if before.counts_as_passed(result):
            yield from _check_passed(after, result, now.get(wording(result.text)), told)


def _check_passed(
    after: VerificationDocument, once: MustHaveResult, now: MustHaveResult | None, told: frozenset[str]
) -> Iterator[Violation]:
    """What became of a must-have that passed: it passes, is told as a regression, or breaks a rule."""
    name = once.text[:80]
    if now is None:
        message = f"the must-have {name!r} passed before, and is not in the table any more"
        line = after.results[0].line if after.results else 1
        fix = "verify it again, in a row of its own"
        yield violation("verification/must-have-dropped", after.path, line, message, fix)
    elif not after.counts_as_passed(now) and not _says_so(now.status, now.evidence) and wording(now.text) not in told:
        message = f"the must-have {name!r} passed before and does not now, and nobody says that it regressed"
        fix = "write REGRESSED in its row, or regression in its gap"
        yield violation("verification/regression-untold", after.path, now.line, message, fix)


def _says_so(*texts: str) -> bool:
    return any("regress" in text.casefold() for text in texts)


def _told(after: VerificationDocument) -> Iterator[str]:
    """What the gaps that speak of a regression are about: their titles, and the pieces of these."""
    titles = [gap for gap in after.gaps if _says_so(gap)]
    titles += [gap.title for gap in after.gap_details if _says_so(gap.title, gap.evidence, gap.fix)]
    for title in titles:
        yield from (wording(piece) for piece in (title, *_PIECES.split(title)))


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


def check_attempts(tree: Tree) -> Iterator[Violation]:
    """Each verification of a phase against the attempt before it; those without an attempt are left out.

    A phase has several where an attempt did not overwrite the one before (VERIFICATION.md, VERIFICATION-2.md).
    Source: document 003, Verifier -> Planner: re-verification raises `attempt` and checks for regressions; rule D3.
    """
    for phase in tree.phases:
        for series in phase.series:
            for before, after in pairwise(one for one in series if one.attempt is not None):
                yield from check_change(before, after)
