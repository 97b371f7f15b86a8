"""`claims`, `verification`, `gap-plan`: turn documents into findings, and a cross run into documents (rule D5)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import verifyplan as vp
from verifyplan.cli.exit_codes import NEGATIVE
from verifyplan.csv_cells import safe_cell
from verifyplan.documents.bridges.gap_plan import gap_plan as close_gaps
from verifyplan.documents.bridges.must_haves import PLANNER, document_of, must_have_findings, plans_of
from verifyplan.documents.bridges.run_verification import verification as verified
from verifyplan.documents.bridges.summary_claims import EXECUTOR
from verifyplan.documents.bridges.summary_claims import claims as claims_of
from verifyplan.documents.kinds.execution_summary import ExecutionSummary
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.verification import VerificationDocument
from verifyplan.documents.loading import load
from verifyplan.documents.reading.document import Document
from verifyplan.errors import ArtifactError, InputError, Problem
from verifyplan.files import write_new_text, write_text
from verifyplan.frames.artifact import read_artifact
from verifyplan.protocol.artifact import Artifact
from verifyplan.runs.cross.run import CrossRun
from verifyplan.text import counted

NOT_AN_ARTIFACT = ("is not JSON (Expecting value)", "holds ", "is missing")
"""Beginnings of messages on a file that is not an artifact, such as a document; those on a damaged one differ."""
FIELDS = ("finding_id", "summary", "evidence", "worker", "category", "ticket_ids")

Plans = Annotated[list[Path], typer.Option("--plan", help="The plan. Can be repeated, for all plans of a phase.")]


def claims(
    document: Annotated[Path, typer.Argument(help="An execution summary, or a plan, whose must-haves are taken.")],
    plan: Annotated[Path | None, typer.Option(help="The plan that was executed; must-haves keep its ids.")] = None,
    worker: Annotated[
        str | None, typer.Option(help=f"The worker that found the findings. Default: {EXECUTOR} or {PLANNER}.")
    ] = None,
    form: Annotated[
        Literal["csv", "json"] | None, typer.Option("--format", help="The format. Default: by --out, else json.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of printing.")] = None,
) -> None:
    """Write claims or must-haves of a document as findings.

    Takes the claims of an execution summary, or the must-haves of a plan; `verifyplan crossverify` votes on them.

    \b
    Examples:
    verifyplan claims SUMMARY-01-01.md --plan PLAN-01.md --out findings.json
    verifyplan crossverify findings.json --mode adversarial --repo . \\
        --workers executor=search,search,syntax-tree,window
    """
    loaded = load(document)
    if isinstance(loaded, PlanDocument):
        findings = must_have_findings(loaded, worker=worker or PLANNER)
    elif not isinstance(loaded, ExecutionSummary):
        message = f"is a {loaded.kind}" if isinstance(loaded, Document) else "is a folder"
        raise InputError(Problem(str(document), f"{message}, not a summary or a plan", "give a summary or a plan"))
    else:
        findings = claims_of(document, plan, worker=worker or EXECUTOR)
    if not findings:
        typer.echo(f"{document}: makes no claims, so a run over it verifies nothing", err=True)
    form = form or ("csv" if out and out.suffix.lower() == ".csv" else "json")
    rows = [finding.model_dump(mode="json", include=set(FIELDS)) for finding in findings]
    text = _csv(rows) if form == "csv" else json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"{counted(len(findings), 'finding')}: {write_text(out, text)}")


def verification(
    run: Annotated[Path, typer.Argument(help="The artifact of a cross run, or its log (.jsonl).")],
    plan: Plans,
    out: Annotated[Path, typer.Option(help="The document to write.")] = Path("VERIFICATION.md"),
    before: Annotated[Path | None, typer.Option(help="The previous attempt. Default: the file at --out.")] = None,
    attempt: Annotated[
        int | None, typer.Option(min=1, help="The number of this attempt. Default: one after the previous.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--override", help="A must-have to accept anyway: its text, number or id. Can be repeated."),
    ] = None,
) -> None:
    """Write a cross run as the verification of a plan.

    The document lists the must-haves of the plan with their evidence, and the gaps. Exit code 1: there are gaps, or a
    person has to decide.

    \b
    Examples:
    verifyplan verification runs/ad-hoc/state/convergence-ad-hoc-001.json --plan PLAN-01.md
    verifyplan verification run.jsonl --plan PLAN-01.md --plan PLAN-02.md --override "#3"
    """
    last = before or (out if out.exists() else None)
    written = verified(
        _artifact(run),
        [document_of(path, PlanDocument) for path in plan],
        attempt=attempt,
        before=document_of(last, VerificationDocument) if last else None,
        overrides=overrides or (),
        path=str(out),
    )
    written.save(out)
    passed = f"{written.must_haves_passed} of {counted(written.must_haves_total or 0, 'must-have')} passed"
    typer.echo(f"{written.status}: {passed}, {counted(len(written.gaps), 'gap')}, attempt {written.attempt}: {out}")
    if written.status != "passed":
        raise typer.Exit(NEGATIVE)


def gap_plan(
    document: Annotated[Path, typer.Argument(metavar="VERIFICATION", help="A verification that found gaps.")],
    plan: Plans,
    number: Annotated[str | None, typer.Option(help="The id of the new plan. Default: one after the last.")] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write. Default: beside the plan.")] = None,
) -> None:
    """Write a plan that closes the gaps of a verification.

    The plan has one task for each gap. No file is overwritten.

    \b
    Example:
    verifyplan gap-plan VERIFICATION.md --plan PLAN-01.md --out PLAN-02.md
    """
    plans = plans_of([document_of(path, PlanDocument) for path in plan])
    written = close_gaps(document, plans, number=number, path=str(out) if out else None)
    if not write_new_text(written.path, written.write()):
        fix = "name another file with --out, or another id with --number"
        raise InputError(Problem(written.path, "already exists", fix))
    typer.echo(f"plan {written.plan}, {counted(len(written.tasks), 'task')}, wave {written.wave}: {written.path}")


def _artifact(path: Path) -> Artifact:
    """Return the artifact of a cross run from its file or its log; InputError for any other file."""
    if path.suffix == ".jsonl":
        run = vp.read_run(path)
        if not isinstance(run, CrossRun) or run.status is None:
            message = "was interrupted" if isinstance(run, CrossRun) else "is not a cross run"
            fix = "give a cross run that ended; `verifyplan resume` continues one"
            raise InputError(Problem(str(path), message, fix))
        return run.artifact
    try:
        return read_artifact(path)
    except ArtifactError as error:
        if not any(problem.message.startswith(NOT_AN_ARTIFACT) for problem in error.problems):
            raise
    fix = "name the artifact of a cross run (.json, under runs) or its log (.jsonl); crossverify writes both"
    raise InputError(Problem(str(path), "is neither the artifact nor the log of a run", fix))


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    cells = ({**row, "ticket_ids": ";".join(row["ticket_ids"])} for row in rows)
    writer.writerows({name: cell and safe_cell(cell) for name, cell in row.items()} for row in cells)
    return text.getvalue()
