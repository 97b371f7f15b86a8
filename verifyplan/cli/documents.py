"""`check` and `plan-check`: check documents against their contracts, and plans in nine dimensions (rules D2-D4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import verifyplan as vp
from verifyplan.cli.exit_codes import NEGATIVE
from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import Report
from verifyplan.documents.checks.check import check as check_documents
from verifyplan.documents.checks.sarif import shown, to_json, to_sarif
from verifyplan.documents.dimensions.plan_check import PlanCheck
from verifyplan.documents.dimensions.plan_check import plan_check as check_plans
from verifyplan.documents.walk import shown_path
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.files import write_text
from verifyplan.text import counted, did_you_mean, visible

CHART_SUFFIXES = (".png", ".svg", ".pdf", ".html", ".json")


def check(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Documents, folders of phases, or .planning folders.")
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Also apply the contract to known older and newer forms of documents.")
    ] = False,
    form: Annotated[
        Literal["text", "json", "sarif"],
        typer.Option("--format", help="The format of the violations; sarif is for editors and code hosts."),
    ] = "text",
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of printing.")] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("--rule", help="Report only this rule; * matches any letters. Can be repeated."),
    ] = None,
    relative_to: Annotated[Path, typer.Option(help="The folder that printed paths are relative to.")] = Path(),
    against: Annotated[
        Path | None, typer.Option(help="An earlier version of the one PATH; changes since then are checked, too.")
    ] = None,
) -> None:
    """Check documents against their contracts.

    Documents are the files that agents hand over to each other. Every violation is listed with its line, its rule and
    what to do. Exit code 1: there are errors; warnings and infos
    are not errors.

    \b
    Examples:
    verifyplan check .planning
    verifyplan check .planning/phases/01-setup --strict --rule "plan/*"
    verifyplan check .planning --format sarif --out violations.sarif
    verifyplan check .planning --against ../before/.planning
    """
    selected = _rules(rules)
    if against is not None and len(paths) > 1:
        problem = Problem("--against", f"goes with one path, got {len(paths)}", "name one path to compare with it")
        raise SettingsError(problem)
    report = _checked(paths, against, strict=strict)
    kept = tuple(violation for violation in report.violations if violation.rule in selected)
    report = Report(report.path, kept, report.documents, report.others)
    text = {"text": to_text, "json": to_json, "sarif": to_sarif}[form](report, relative_to)
    if out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"{summary_line(report)}: {write_text(out, text)}")
    if not report.ok:
        raise typer.Exit(NEGATIVE)


def to_text(report: Report, root: str | Path = ".") -> str:
    """Return a report for people: violations file by file, common infos, a tally by rule, and a summary.

    An info that is the same for several documents, such as the name of their form, is printed once, after the files.
    Infos about documents that were not read are all printed, since nothing else names these documents.
    """
    same = Counter(
        (violation.rule, violation.message)
        for violation in report.violations
        if violation.severity == "info" and not violation.rule.startswith("document/")
    )
    common = {message: times for message, times in same.items() if times > 1}
    single = [violation for violation in report.violations if (violation.rule, violation.message) not in common]
    lines: list[str] = []
    for path, violations in groupby(single, key=lambda violation: violation.path):
        lines.append(visible(shown(path, root)))
        for violation in violations:
            message = f"{violation.severity:<7}  {visible(violation.message)}  [{violation.rule}]"
            lines += [f"{violation.line:6}  {message}", f"{'':17}fix: {visible(violation.fix)}"]
        lines.append("")
    for (rule, message), times in sorted(common.items()):
        lines += [f"In {counted(times, 'document')}  [{rule}]", f"{'':8}{visible(message)}", ""]
    if report.tally:
        width = max(map(len, report.tally))
        lines.append("By rule:")
        for rule, times in report.tally.items():
            lines.append(f"{times:6}  {RULES[rule].severity:<7}  {rule:<{width}}  {RULES[rule].meaning}")
        lines.append("")
    return "\n".join([*lines, summary_line(report), ""])


def summary_line(report: Report) -> str:
    """Return how many documents were checked, and how many violations there are."""
    last: str = str(report).rpartition("\n")[2]
    return last


def _checked(paths: Sequence[Path], against: Path | None, *, strict: bool) -> Report:
    """Return one report on all paths; InputError lists every path that cannot be checked.

    A path without any document is an error, so that a mistyped folder does not pass.
    """
    reports: list[Report] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            report = check_documents(path, strict=strict, against=against)
            if not report.documents and not report.violations:
                fix = "name a .planning folder, a phase or a document"
                message = "contains no document that agents hand over"
                raise InputError(Problem(shown_path(path), message, fix))
            reports.append(report)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return Report(
        ", ".join(report.path for report in reports),
        tuple(sorted({violation for report in reports for violation in report.violations})),
        tuple({document.path: document for report in reports for document in report.documents}.values()),
        tuple(dict.fromkeys(other for report in reports for other in report.others)),
    )


def _rules(patterns: list[str] | None) -> frozenset[str]:
    """Return the rules that match some patterns, or all rules; SettingsError for patterns that match none."""
    if not patterns:
        return frozenset(RULES)
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(rule, pattern) for rule in RULES)]
    if unknown:
        fix = "name a rule, or several as plan/* or tree/*"
        raise SettingsError(
            Problem("--rule", f"{pattern!r} is not a rule{did_you_mean(pattern, RULES)}", fix) for pattern in unknown
        )
    return frozenset(rule for rule in RULES if any(fnmatchcase(rule, pattern) for pattern in patterns))


def plan_check(
    path: Annotated[Path, typer.Argument(help="A plan, the folder of a phase, or a tree of phases.")],
    context: Annotated[
        Path | None, typer.Option(help="The file CONTEXT.md. Default: the one beside the plans.")
    ] = None,
    repo: Annotated[
        Path | None, typer.Option(help="The repository, in which to look for the tests that the plans run.")
    ] = None,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="The format of the report; json has files and lines.")
    ] = "text",
    graph: Annotated[
        Path | None, typer.Option(help="Draw waves and dependencies to this file: .png, .svg, .pdf or .html.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report to this file instead of printing.")] = None,
) -> None:
    """Check in nine dimensions whether plans can be executed.

    The report also lists what only a judge can decide. Exit code 1: there are blockers; warnings and questions for a
    judge are not blockers.

    \b
    Examples:
    verifyplan plan-check .planning/phases/02-auth
    verifyplan plan-check .planning/phases/02-auth/02-01-PLAN.md --context .planning/CONTEXT.md --repo .
    verifyplan plan-check .planning --format json --out check.json --graph waves.svg
    """
    if graph is not None and graph.suffix.lower() not in CHART_SUFFIXES:
        raise InputError(
            Problem(
                "--graph",
                f"must be a picture, got {str(graph)!r}",
                f"end the name in one of {', '.join(CHART_SUFFIXES)}",
            )
        )
    check = check_plans(path, context=context, repo=repo)
    if form == "json":
        text = f"{json.dumps(as_json(check), indent=2)}\n"
    else:
        text = "".join(f"{visible(line)}\n" for line in check.report().splitlines())
    if out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"report: {write_text(out, text)}")
    if graph is not None:
        written = vp.export(vp.charts.plan_graph(check.graph), graph)
        typer.echo(f"graph: {written}", err=out is None)
    if not check.passed:
        raise typer.Exit(NEGATIVE)


def as_json(check: PlanCheck) -> dict[str, Any]:
    """Return a plan check as plain values: issues with file and line, the state of each dimension, the graph."""
    names = [node.plan_id for node in check.graph.nodes]
    return {
        "passed": check.passed,
        "plans": [plan.path for plan in check.plans],
        "dimensions": [
            {"dimension": f"D{each.number}", "name": each.name}
            | {"state": each.state, "judge": each.judge, "why_not": each.why_not}
            for each in check.dimensions
        ],
        "issues": [issue._asdict() | {"dimension": f"D{issue.dimension}"} for issue in check.issues],
        "graph": {
            "plans": [node._asdict() for node in check.graph.nodes],
            "dependencies": [{"before": names[edge.before], "after": names[edge.after]} for edge in check.graph.edges],
            "circles": [[names[at] for at in circle] for circle in check.graph.cycles],
            "conflicts": [
                {"file": conflict.file, "plans": [names[at] for at in conflict.plans]}
                for conflict in check.graph.conflicts
            ],
            "unmet": [{"plan": names[unmet.plan], "name": unmet.name} for unmet in check.graph.unmet],
        },
    }
