"""A cross run written as a verification: the plan's must-haves with votes as evidence, and the gaps (rule D5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Literal, Protocol

from verifyplan.documents.bridges.must_haves import (
    PlannedMustHave,
    PlanOrPlans,
    check_distinct_ids,
    cut,
    expect_readable,
    planned_must_haves,
    plans_of,
    statement,
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
from verifyplan.documents.reading.comparing import matched, paths_in, wording
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError, Problem, expect_lists
from verifyplan.protocol.artifact import Artifact, ArtifactFinding, ArtifactVote
from verifyplan.protocol.vote import HELD, NOTHING_LOOKED_AT
from verifyplan.rules.citations import cites_location

MustHaveState = Literal["VERIFIED", "FAILED", "HUMAN NEEDED"]

_SAW_NOTHING = re.compile(
    rf"{NOTHING_LOOKED_AT}|nothing was looked at|(?:cites no place|quotes no text) to look at", re.IGNORECASE
)
"""How a vote says that it rests on nothing, now and in older artifacts."""


class HasArtifact(Protocol):
    """A cross run, or anything else that has an artifact."""

    @property
    def artifact(self) -> Artifact:
        """The artifact of the run."""


def verification(
    run: HasArtifact | Artifact,
    plan: PlanOrPlans,
    *,
    attempt: int | None = None,
    before: VerificationDocument | None = None,
    overrides: Sequence[str] = (),
    path: str | None = None,
) -> VerificationDocument:
    """Return a cross run as a verification: which must-haves of a plan hold, with evidence, and the gaps.

    Args:
        run: a cross run, or its artifact. Its findings speak of a must-have by their ids and tickets, as
            `must_have_findings` and `claims` give them, else by saying the same.
        plan: the plan, or all plans of the phase: the must-haves are theirs, never the summary's.
        attempt: which attempt this is; by default one after `before`, else the first.
        before: the attempt before. A must-have that passed in it and does not now is marked as a regression, one that
            failed in it is a gap until it is shown to hold, and one that a user let pass in it passes again.
        overrides: must-haves that a user lets pass, by text, number or id (`01-01/must-have-2`); counted as passed.
        path: the name of the document; by default VERIFICATION.md beside the plan.

    Returns:
        A document that passes its own check. A must-have is VERIFIED if its findings held by votes that looked at
        something, FAILED if somebody refuted it, and else HUMAN NEEDED: nobody could tell, nobody looked, votes were
        lost, or no finding speaks of it. Every FAILED one is a gap; without gaps, the status is human_needed as long as
        a person is needed.

    Raises:
        InputError: for anything but a cross run, a plan without must-haves, an override that names none, and an attempt
            that does not grow.

    Source: rules D3, D5.

    >>> import tempfile, verifyplan as vp
    >>> project = vp.datasets.sample_planning(tempfile.mkdtemp() + "/parcels")
    >>> plan = project / ".planning" / "phases" / "01-tracking" / "PLAN-01.md"
    >>> workers = {"planner": "search", "ann": "search", "bob": "window"}
    >>> run = vp.crossverify(
    ...     vp.documents.must_have_findings(plan), workers, repo=project, log_dir=None
    ... )
    >>> verification(run, plan).status
    'human_needed'
    """
    expect_lists(overrides=overrides)
    plans = plans_of(plan)
    check_distinct_ids(plans)
    planned = list(planned_must_haves(plans))
    number = _attempt(attempt, before)
    for each in plans:
        expect_readable(each)
    if without := [each for each in plans if not each.must_haves.all()]:
        fix = "give plans whose frontmatter has must_haves, and verify no phase without them"
        raise InputError([Problem(each.path, "has no must-haves to verify", fix) for each in without])
    artifact = run if isinstance(run, Artifact) else getattr(run, "artifact", None)
    if not isinstance(artifact, Artifact):
        fix = "give a cross run, one of several, or its artifact: crossverify, read_run and read_artifact return them"
        raise InputError(Problem("run", f"must be a cross run, got {type(run).__name__}", fix))
    findings = _findings_by_id(planned, artifact.findings)
    rows = []
    for at, must_have in enumerate(planned, 1):
        status, evidence = _status(findings[must_have.id], artifact)
        rows.append(MustHaveResult(str(at), must_have.text, status, evidence))
    passing = list(dict.fromkeys([*_passing_before(before, rows), *_named(overrides, planned)]))
    rows = [_after_overrides(row, passing, before) for row in rows]
    gaps = [_gap(each, row, before) for each, row in zip(planned, rows, strict=True) if row.outcome == "failed"]
    title = f"Verification: {plans[0].phase}" if plans[0].phase else "Verification"
    text = write_verification(rows, gaps, attempt=number, overrides=passing, title=title)
    beside = str(PurePath(plans[0].path).parent / "VERIFICATION.md")
    return VerificationDocument.read(read_source(text, path or beside))


def _attempt(attempt: int | None, before: VerificationDocument | None) -> int:
    last = (before.attempt or 1) if before else 0
    if attempt is not None and attempt <= last:
        message = f"is {attempt}, and the attempt before was {last}"
        raise InputError(Problem("attempt", message, f"give {last + 1}, or leave it out"))
    return last + 1 if attempt is None else attempt


def _findings_by_id(
    planned: Sequence[PlannedMustHave], findings: Sequence[ArtifactFinding]
) -> dict[str, list[ArtifactFinding]]:
    """The findings that speak of each must-have: by id or ticket, else the first that says the same."""
    by_id: dict[str, list[ArtifactFinding]] = {must_have.id: [] for must_have in planned}
    others = []
    for finding in findings:
        ids = [name for name in (finding.findingId, *(finding.ticketIds or ())) if name in by_id]
        for name in dict.fromkeys(ids):
            by_id[name].append(finding)
        if not ids:
            others.append(finding)
    without = [must_have for must_have in planned if not by_id[must_have.id]]
    summaries = [finding.summary or "" for finding in others]
    by_text = matched([must_have.text for must_have in without], summaries)
    by_statement = matched([statement(must_have.must_have) for must_have in without], summaries)
    for must_have, first, second in zip(without, by_text, by_statement, strict=True):
        at = second if first is None else first
        by_id[must_have.id] += [] if at is None else [others[at]]
    return by_id


def _passing_before(before: VerificationDocument | None, rows: Sequence[MustHaveResult]) -> Iterator[str]:
    """The texts of the must-haves that a user let pass in the attempt before, as far as the plan still has them."""
    texts = {wording(row.text): row.text for row in rows}
    for result in before.results if before else ():
        if before and before.overridden(result) and wording(result.text) in texts:
            yield texts[wording(result.text)]


def _named(overrides: Sequence[str], planned: Sequence[PlannedMustHave]) -> Iterator[str]:
    """Overrides as the texts that they name; one that names nothing stays, and is refused by the writer."""
    by_id = {must_have.id: must_have.text for must_have in planned}
    rows = [MustHaveResult(str(at), must_have.text, "", "") for at, must_have in enumerate(planned, 1)]
    for override in overrides:
        names = override_names([override])
        yield by_id.get(override) or next((row.text for row in rows if is_named(row, names)), override)


def _after_overrides(
    row: MustHaveResult, passing: Sequence[str], before: VerificationDocument | None
) -> MustHaveResult:
    """A row with a user's decision, and with its result in the attempt before: of rows with its words the first."""
    if row.outcome == "passed":
        return row
    if counts_as_passed(row, passing):
        return row._replace(status="OVERRIDE", evidence=f"let pass by a user; {row.status.lower()}: {row.evidence}")
    own = wording(row.text)
    earlier = next((result for result in before.results if wording(result.text) == own), None) if before else None
    if before is None or earlier is None:
        return row
    attempt = f"attempt {before.attempt or 1}"
    if earlier.outcome == "passed" and row.outcome == "failed":
        evidence = f"a regression, it passed in {attempt}: {row.evidence}"
        return row._replace(status=f"{row.status} (REGRESSED)", evidence=evidence)
    if earlier.outcome == "passed":
        return row._replace(evidence=f"possibly a regression, it passed in {attempt}: {row.evidence}")
    if earlier.outcome == "failed" and row.outcome == "human":
        evidence = f"it failed in {attempt} ({cut(earlier.evidence)}), and nothing shows that it holds now"
        return row._replace(status="FAILED", evidence=f"{evidence}: {row.evidence}")
    return row


def _gap(planned: PlannedMustHave, row: MustHaveResult, before: VerificationDocument | None) -> Gap:
    """A gap with what to do: the fix of the attempt before, if the gap was open then, else the plan once more."""
    own = wording(row.text)
    earlier = (gap.fix for gap in before.gap_details if wording(gap.title) == own) if before else iter(())
    task = planned.task
    done = f" (task {task.id or task.name})" if task and (task.id or task.name) else ""
    paths = (planned.must_have.path, *(task.files if task else ()))
    files = ", ".join(dict.fromkeys(path for path in paths if path))
    again = f"Make it hold{done}{f', in {files}' if files else ''}: {planned.text}"
    return Gap(planned.text, row.evidence, next(earlier, "") or again)


def _status(findings: Sequence[ArtifactFinding], artifact: Artifact) -> tuple[MustHaveState, str]:
    """Return whether a must-have holds by the findings that speak of it, and the evidence.

    It failed if one was refuted: it was not held, and somebody showed why. It holds if all held, each by the vote of
    somebody who looked at a place; the evidence begins with a caveat, if there is one. It is left to a person where
    nobody spoke of it, nobody could decide (only doubts, errors, or no votes), nobody looked at anything (a lightweight
    run sees the claim alone), most votes were lost to errors, or a refutation was. Source: rules B4, B6, B8, D5.
    """
    if not findings:
        return ("HUMAN NEEDED", "not verified: no finding of the run speaks of it")
    evidence = " / ".join(map(_evidence, findings))
    held = [finding for finding in findings if finding.classification in HELD]
    others = [finding for finding in findings if finding.classification not in HELD]
    unproven = dict.fromkeys(why for finding in held if (why := _unproven(finding, artifact)))
    if any(_refutes(vote) for finding in others for vote in _votes(finding).values()):
        return ("FAILED", evidence)
    if others or unproven:
        why_open = "nobody could show that it holds, or that it does not" if others else "; ".join(unproven)
        why_open = why_open if any(map(_votes, findings)) else "nobody voted on it"
        return ("HUMAN NEEDED", f"{why_open}: {evidence}")
    caveat = any(vote.verdict == "supplement" for finding in findings for vote in _votes(finding).values())
    return ("VERIFIED", f"held with a caveat: {evidence}" if caveat else evidence)


def _unproven(finding: ArtifactFinding, artifact: Artifact) -> str:
    """Why a finding that held shows nothing yet; empty where it was looked at, and held."""
    votes = {worker: vote for worker, vote in _votes(finding).items() if worker != finding.originWorker}
    lost = {worker for worker, vote in dict(_cast(finding)).items() if vote.verdict == "verification-error"}
    if not votes:
        return "held, but nobody else voted on it" if not lost else "held, but all votes were lost to errors"
    if not (artifact.adversarial or artifact.config.verificationMode == "full-reanalysis"):
        return "held, but nobody opened the evidence: run it adversarially, or with full-reanalysis"
    if not any(vote.verdict in ("agree", "supplement") and _looked(vote, finding) for vote in votes.values()):
        return "held, but no vote for it looked at anything"
    if refuted := [worker for worker, vote in votes.items() if worker in lost and _refutes(vote)]:
        return f"held, but the refutation by {', '.join(refuted)} was lost to an error"
    if len(lost) > len(votes):
        return f"held, but {len(lost)} of {len(lost | votes.keys())} votes were lost to errors"
    return ""


def _looked(vote: ArtifactVote, finding: ArtifactFinding) -> bool:
    """Whether a vote rests on a place, its own or the finding's, and does not say that it looked at nothing."""
    why, evidence = vote.explanation or "", finding.originEvidence
    cites = cites_location(why) or cites_location(evidence) or bool(paths_in(evidence or ""))
    return cites and _SAW_NOTHING.search(why) is None


def _refutes(vote: ArtifactVote) -> bool:
    """Whether a vote says that the claim is false; a doubt says that it was not shown."""
    return vote.verdict == "disagree" and vote.disagreeBasis != "burden-not-met"


def _votes(finding: ArtifactFinding) -> dict[str, ArtifactVote]:
    """The last vote of each worker, errors aside."""
    return {worker: vote for worker, vote in _cast(finding) if vote.verdict != "verification-error"}


def _cast(finding: ArtifactFinding) -> Iterator[tuple[str, ArtifactVote]]:
    """All votes on a finding, round by round."""
    for voting in sorted(finding.rounds or (), key=lambda voting: voting.round):
        yield from voting.votes.items()


def _evidence(finding: ArtifactFinding) -> str:
    """A finding's class, the places it cites, and its votes with their explanations; equal votes once."""
    places = " ".join((finding.originEvidence or "").split())
    workers_by_vote: dict[str, list[str]] = {}
    for worker, vote in _votes(finding).items():
        verdict = f"{vote.verdict} ({vote.disagreeBasis})" if vote.disagreeBasis else vote.verdict
        why = cut(" ".join((vote.explanation or "").split()).rstrip("."))
        workers_by_vote.setdefault(f"{verdict}, {why}" if why else verdict, []).append(worker)
    votes = "; ".join(f"{', '.join(workers)}: {vote}" for vote, workers in workers_by_vote.items())
    parts = (finding.classification or "without a class", f"cites {cut(places)}" if places else "", votes)
    return ", ".join(part for part in parts if part)
