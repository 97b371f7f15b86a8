"""How a live run came to its end, or why it did not: as HTML without scripts."""

from __future__ import annotations

from html import escape
from pathlib import Path

from verifyplan.charts.theme import GREEN, ORANGE, VERMILLION
from verifyplan.protocol.records import UNSETTLED
from verifyplan.reports.visible import one_line
from verifyplan.rules.convergence import verdict_words
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import CrossRun, Run
from verifyplan.text import counted

STANDING = 20
"""Challenges that are listed; the report has all."""

_BOX = "border-left:4px solid {};padding:4px 10px;margin:6px 0;line-height:1.5;overflow-wrap:anywhere"
_TONE = {
    "PROCEED": GREEN,
    "REVISE": ORANGE,
    "RETHINK": VERMILLION,
    "converged": GREEN,
    "max-rounds-reached": ORANGE,
}


def ended_html(run: Run) -> str:
    """The outcome of a run that ended, what stands, its files, and its report or findings; texts are escaped."""
    told = _plan_html(run) if isinstance(run, PlanRun) else ""
    if isinstance(run, CrossRun):
        counts = "<br>".join(escape(one_line(line, 400)) for line in str(run).splitlines())
        gate = {None: "", True: "<br>Every plan item held.", False: "<br>Not every plan item held."}[run.gate_passed]
        told = f"<b>{escape(str(run.status))}</b><br>{counts}{gate}"
    files = "".join(_file_html(name, path) for name, path in (("Log", run.log_path), ("Artifact", _artifact(run))))
    tone = _TONE.get(str(run.verdict if isinstance(run, PlanRun) else getattr(run, "status", "")), VERMILLION)
    head = f'<section aria-label="How the run ended" style="{_BOX.format(tone)}">{told}{files}</section>'
    return head + _whole_html(run)


def headline(run: Run) -> str:
    """The outcome on one line: the verdict of a plan run, the status and the counts of a cross run."""
    if isinstance(run, PlanRun) and run.outcome is not None:
        verdict = verdict_words(run.verdict, run.outcome.strong)
        return verdict if run.verdict else f"{verdict}: {one_line(run.outcome.exit_reason, 300)}"
    return f"{run.status}" if isinstance(run, CrossRun) else "no outcome"


def _plan_html(run: PlanRun) -> str:
    pool = [one for one in run.state.pool if one.status in UNSETTLED]
    standing = "".join(
        f"<li>{escape(one.id)}, {one.severity}, {one.status}: {escape(one_line(one.claim, 200))}</li>"
        for one in pool[:STANDING]
    )
    more = f"<li>and {len(pool) - STANDING} more</li>" if len(pool) > STANDING else ""
    stands = f"What stands: {counted(len(pool), 'challenge')}<ul style='margin:0'>{standing}{more}</ul>"
    score = f"<br>Score {run.score} of 10; it informs and never decides the verdict." if run.score is not None else ""
    reason = run.outcome.exit_reason if run.outcome and run.verdict else ""
    why = f"<br>{escape(one_line(reason, 300))}" if reason.strip() else ""
    status = f" ({run.status})" if run.status else ""
    history = run.frames.challenge_history
    accepted = history.loc[history["by"].eq("user").fillna(False).astype(bool), "challenge_id"].unique()
    person = f"<br>Accepted by a person: {escape(', '.join(accepted))}." if len(accepted) else ""
    none = f"<br>No challenge stands.{person}" if not pool else f"<br>{stands}{person}"
    return f"<b>{'Verdict: ' if run.verdict else ''}{escape(headline(run))}</b>{status}{why}{score}{none}"


def _whole_html(run: Run) -> str:
    if isinstance(run, PlanRun):
        return f"<details open><summary>Report</summary>{run._repr_html_()}</details>"
    if isinstance(run, CrossRun):
        shown = run.frames.findings[["finding_id", "summary", "classification", "n_rounds"]]
        table = shown.to_html(index=False, max_rows=20, border=0, justify="left")  # escapes, and cuts long texts
        table = table.replace("<table ", '<table cellpadding="4" style="border-collapse:collapse;line-height:1.4" ', 1)
        return f'<details open><summary>Findings</summary><div style="overflow:auto">{table}</div></details>'
    return ""


def _artifact(run: Run) -> Path | None:
    return run.path if isinstance(run, CrossRun) else None


def _file_html(name: str, path: Path | None) -> str:
    return f"<div>{name}: <code>{escape(one_line(path))}</code></div>" if path is not None else ""
