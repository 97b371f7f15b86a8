"""`check`: handed-over documents held to their contracts (rules D2, D3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from verifyplan.documents.checks.catalogue import RULES, Violation
from verifyplan.documents.checks.check import Report
from verifyplan.documents.checks.check import check as check_documents
from verifyplan.documents.checks.sarif import shown, to_json, to_sarif
from verifyplan.documents.walk import shown_path
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.files import write_text
from verifyplan.reports.visible import visible
from verifyplan.text import counted, did_you_mean

FOUND_WANTING = 1


class Format(StrEnum):
    """What violations are written as."""

    text = "text"
    json = "json"
    sarif = "sarif"


def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Documents, phases, or .planning folders.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Hold older and newer known forms to the contract, too.")
    ] = False,
    form: Annotated[
        Format, typer.Option("--format", help="text; json; or sarif, for editors and code hosts.")
    ] = Format.text,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of printing.")] = None,
    rules: Annotated[
        list[str] | None, typer.Option("--rule", help="Only this rule; a * stands for any letters. May be repeated.")
    ] = None,
    root: Annotated[Path, typer.Option(help="The folder that printed paths are relative to.")] = Path(),
    against: Annotated[
        Path | None, typer.Option(help="An earlier version of the one PATH: also check what changed since.")
    ] = None,
) -> None:
    """Check handed-over documents against their contracts: every violation with its line, its rule and what to do.

    Exit code 1: there are errors; warnings and infos alone are none.

    \b
    Examples:
    verifyplan check .planning
    verifyplan check .planning/phases/01-setup --strict --rule "plan/*"
    verifyplan check .planning --format sarif --out violations.sarif
    verifyplan check .planning --against ../before/.planning
    """
    wanted = _rules(rules)
    if against is not None and len(paths) > 1:
        problem = Problem(
            "--against", f"stands beside {counted(len(paths), 'path')}", "name one path to compare with it"
        )
        raise SettingsError(problem)
    report = _only(_checked(paths, against, strict=strict), wanted)
    write = {Format.text: to_text, Format.json: to_json, Format.sarif: to_sarif}[form]
    text = write(report, root)
    if out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"{summary_line(report)}: {write_text(out, text)}")
    if not report.ok:
        raise typer.Exit(FOUND_WANTING)


def to_text(report: Report, root: str | Path = ".") -> str:
    """A report for people: the violations file by file, what is told of many documents, a tally by rule, and the sum.

    An info that is the same for several documents, as the name of their form, is told once, behind the files.
    """
    same = Counter((one.rule, one.message) for one in report.violations if one.severity == "info" and _of_kind(one))
    common = {told: times for told, times in same.items() if times > 1}
    single = [one for one in report.violations if (one.rule, one.message) not in common]
    lines: list[str] = []
    for path, found in groupby(single, key=lambda violation: violation.path):
        lines += [visible(shown(path, root)), *(line for violation in found for line in _told(violation)), ""]
    lines += [line for (rule, message), times in sorted(common.items()) for line in _common(rule, message, times)]
    return "\n".join([*lines, *_tally(report), summary_line(report), ""])


def _of_kind(one: Violation) -> bool:
    """Whether a rule is one of documents; of what was not read, each is told, since nothing else names it."""
    return not one.rule.startswith("document/")


def summary_line(report: Report) -> str:
    """How many documents were looked at, and how much was found."""
    last: str = str(report).rpartition("\n")[2]
    return last


def _told(violation: Violation) -> Iterator[str]:
    yield f"{violation.line:6}  {violation.severity:<7}  {visible(violation.message)}  [{violation.rule}]"
    yield f"{'':17}fix: {visible(violation.fix)}"


def _common(rule: str, message: str, times: int) -> Iterator[str]:
    yield f"In {counted(times, 'document')}  [{rule}]"
    yield f"{'':8}{visible(message)}"
    yield ""


def _tally(report: Report) -> Iterator[str]:
    if report.tally:
        wide = max(map(len, report.tally))
        yield "By rule:"
        for rule, times in report.tally.items():
            yield f"{times:6}  {RULES[rule].severity:<7}  {rule:<{wide}}  {RULES[rule].meaning}"
        yield ""


def _checked(paths: Sequence[Path], against: Path | None, *, strict: bool) -> Report:
    """All that the paths name as one report; InputError lists every path that cannot be checked."""
    reports: list[Report] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            reports.append(_holding(path, check_documents(path, strict=strict, against=against)))
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


def _holding(path: Path, report: Report) -> Report:
    """The report, unless there was nothing to check: a mistyped folder must not pass."""
    if not report.documents and not report.violations:
        fix = "name a .planning folder, a phase or a document"
        raise InputError(Problem(shown_path(path), "no document was found: it holds none that agents hand over", fix))
    return report


def _rules(patterns: list[str] | None) -> frozenset[str]:
    """The rules that some patterns name, all without any; SettingsError for patterns that name none."""
    if not patterns:
        return frozenset(RULES)
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(rule, pattern) for rule in RULES)]
    if unknown:
        fix = "name a rule, or several as plan/* or tree/*"
        raise SettingsError(
            Problem("--rule", f"{pattern!r} is no rule{did_you_mean(pattern, RULES)}", fix) for pattern in unknown
        )
    return frozenset(rule for rule in RULES if any(fnmatchcase(rule, pattern) for pattern in patterns))


def _only(report: Report, rules: frozenset[str]) -> Report:
    """The report with the violations of some rules alone."""
    kept = tuple(found for found in report.violations if found.rule in rules)
    return Report(report.path, kept, report.documents, report.others)
