"""A cross run written as a verification: the plan's must-haves with votes as evidence, and the gaps (rule D5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Protocol

from verifyplan.documents.bridges.must_have_status import MustHaveStatus, cut, must_have_status
from verifyplan.documents.bridges.must_haves import (
    Plans,
    Wanted,
    check_apart,
    expect_readable,
    plans_of,
    statement,
    wanted_of,
)
from verifyplan.documents.kinds.verification import (
    Gap,
    MustHaveResult,
    VerificationDocument,
    counts_as_passed,
    is_named,
    override_names,
    write_verification,
)
from verifyplan.documents.reading.comparing import matched, wording
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError, Problem, expect_lists
from verifyplan.protocol.artifact import Artifact, ArtifactFinding


class HasArtifact(Protocol):
    """A cross run, or anything else that has an artifact."""

    @property
    def artifact(self) -> Artifact:
        """What the run left."""


def verification(
    run: HasArtifact | Artifact,
    plan: Plans,
    *,
    attempt: int | None = None,
    before: VerificationDocument | None = None,
    overrides: Sequence[str] = (),
    path: str | None = None,
) -> VerificationDocument:
    """The verification that a cross run is: which must-haves of a plan hold, with evidence, and the gaps.

    Args:
        run: a cross run, or its artifact. Its findings speak of a must-have by their ids and tickets, as
            `must_have_findings` and `claims` give them, else by saying the same.
        plan: the plan, or all plans of the phase: the must-haves are theirs, never the summary's.
        attempt: which attempt this is; by default one after `before`, else the first.
        before: the attempt before. What passed in it and does not now is told as a regression, what failed in it is
            a gap until it is shown to hold, and what a user let pass in it passes again.
        overrides: must-haves that a user lets pass, by text, number or id (`01-01/must-have-2`); counted as passed.
        path: the name of the document; by default VERIFICATION.md beside the plan.

    Returns:
        A document that passes its own check. A must-have is VERIFIED if its findings held by votes that looked at
        something, FAILED if somebody refuted it, and else HUMAN NEEDED: nobody could tell, nobody looked, votes were
        lost, or no finding speaks of it. Every FAILED one is a gap; without gaps, the status is human_needed as long as
        a person is needed.

    Raises:
        InputError: for what is no cross run, a plan without must-haves, an override that names none, and an attempt
            that does not grow.

    Source: rules D3, D5; document 003, Verifier -> Planner.
    """
    expect_lists(overrides=overrides)
    plans = plans_of(plan)
    check_apart(plans)
    wanted = wanted_of(plans)
    number = _attempt(attempt, before)
    for one in plans:
        expect_readable(one)
    if without := [plan for plan in plans if not plan.must_haves.all()]:
        fix = "give plans whose frontmatter has must_haves, and verify no phase without them"
        raise InputError([Problem(plan.path, "has no must-haves to verify", fix) for plan in without])
    artifact = _artifact(run)
    spoken = _spoken(wanted, artifact.findings)
    rows = [_row(one, at, must_have_status(spoken[one.id], artifact)) for at, one in enumerate(wanted, 1)]
    passing = list(dict.fromkeys([*_kept(before, rows), *_named(overrides, wanted)]))
    rows = [_marked(row, passing, before) for row in rows]
    gaps = [_gap(one, row, before) for one, row in zip(wanted, rows, strict=True) if row.outcome == "failed"]
    text = write_verification(rows, gaps, attempt=number, overrides=passing, title=_title(plans[0].phase))
    beside = str(PurePath(plans[0].path).parent / "VERIFICATION.md")
    return VerificationDocument.read(read_source(text, path or beside))


def _artifact(run: object) -> Artifact:
    """What a cross run left; InputError for anything that is no single cross run."""
    artifact = run if isinstance(run, Artifact) else getattr(run, "artifact", None)
    if isinstance(artifact, Artifact):
        return artifact
    fix = "give a cross run, one of several, or its artifact: crossverify, read_run and read_artifact return them"
    raise InputError(Problem("run", f"is of type {type(run).__name__}, and no cross run", fix))


def _attempt(attempt: int | None, before: VerificationDocument | None) -> int:
    last = (before.attempt or 1) if before else 0
    if attempt is not None and attempt <= last:
        message = f"is {attempt}, and the attempt before was {last}"
        raise InputError(Problem("attempt", message, f"give {last + 1}, or leave it out"))
    return last + 1 if attempt is None else attempt


def _spoken(wanted: Sequence[Wanted], findings: Sequence[ArtifactFinding]) -> dict[str, list[ArtifactFinding]]:
    """The findings that speak of each must-have: by id or ticket, else the first that says the same."""
    spoken: dict[str, list[ArtifactFinding]] = {one.id: [] for one in wanted}
    free = []
    for finding in findings:
        ids = [name for name in (finding.findingId, *(finding.ticketIds or ())) if name in spoken]
        for name in dict.fromkeys(ids):
            spoken[name].append(finding)
        if not ids:
            free.append(finding)
    silent = [one for one in wanted if not spoken[one.id]]
    said = [finding.summary or "" for finding in free]
    as_planned = matched([one.text for one in silent], said)
    as_stated = matched([statement(one.must_have) for one in silent], said)
    for one, planned, stated in zip(silent, as_planned, as_stated, strict=True):
        at = stated if planned is None else planned
        spoken[one.id] += [] if at is None else [free[at]]
    return spoken


def _row(wanted: Wanted, number: int, found: MustHaveStatus) -> MustHaveResult:
    return MustHaveResult(str(number), wanted.text, found.status, found.evidence)


def _kept(before: VerificationDocument | None, rows: Sequence[MustHaveResult]) -> Iterator[str]:
    """The texts of the must-haves that a user let pass in the attempt before, as far as they are still asked for."""
    asked = {wording(row.text): row.text for row in rows}
    for result in before.results if before else ():
        if before and before.overridden(result) and wording(result.text) in asked:
            yield asked[wording(result.text)]


def _named(overrides: Sequence[str], wanted: Sequence[Wanted]) -> Iterator[str]:
    """Overrides as the texts that they name; one that names nothing stays, and is refused by the writer."""
    by_id = {one.id: one.text for one in wanted}
    rows = [MustHaveResult(str(at), one.text, "", "") for at, one in enumerate(wanted, 1)]
    for override in overrides:
        names = override_names([override])
        yield by_id.get(override) or next((row.text for row in rows if is_named(row, names)), override)


def _marked(row: MustHaveResult, passing: Sequence[str], before: VerificationDocument | None) -> MustHaveResult:
    """A row with what a user decided, and with what it was before."""
    if row.outcome == "passed":
        return row
    if counts_as_passed(row, passing):
        return row._replace(status="OVERRIDE", evidence=f"let pass by a user; {row.status.lower()}: {row.evidence}")
    once = _once(row, before)
    if before is None or once is None:
        return row
    number = before.attempt or 1
    if once.outcome == "passed":
        failed = row.outcome == "failed"
        told = f"{'a' if failed else 'possibly a'} regression, it passed in attempt {number}"
        return row._replace(
            status=f"{row.status} (REGRESSED)" if failed else row.status, evidence=f"{told}: {row.evidence}"
        )
    if once.outcome == "failed" and row.outcome == "human":
        told = f"it failed in attempt {number} ({cut(once.evidence)}), and nothing shows that it holds now"
        return row._replace(status="FAILED", evidence=f"{told}: {row.evidence}")
    return row


def _once(row: MustHaveResult, before: VerificationDocument | None) -> MustHaveResult | None:
    """What a must-have was in the attempt before, of several rows of its words the first."""
    said = wording(row.text)
    return next((one for one in before.results if wording(one.text) == said), None) if before else None


def _fix_before(row: MustHaveResult, before: VerificationDocument | None) -> str:
    """The fix that the attempt before suggests for a gap that is still open."""
    said = wording(row.text)
    return next((gap.fix for gap in before.gap_details if wording(gap.title) == said), "") if before else ""


def _gap(wanted: Wanted, row: MustHaveResult, before: VerificationDocument | None) -> Gap:
    """A gap with what to do: what was suggested before, as it is still open, else what was planned, once more."""
    task = wanted.task
    done = f" (task {task.id or task.name})" if task and (task.id or task.name) else ""
    files = ", ".join(dict.fromkeys(path for path in (wanted.must_have.path, *(task.files if task else ())) if path))
    planned = f"Make it hold{done}{f', in {files}' if files else ''}: {wanted.text}"
    return Gap(wanted.text, row.evidence, _fix_before(row, before) or planned)


def _title(phase: str | None) -> str:
    return f"Verification: {phase}" if phase else "Verification"
