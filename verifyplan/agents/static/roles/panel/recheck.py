"""panel-2: checks the fact against the repository by another way than the challenger: files opened, text searched."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from verifyplan.agents.repository.records import Match
from verifyplan.agents.static.outcome import Outcome
from verifyplan.agents.static.roles.challenges import Cited
from verifyplan.agents.static.roles.issues import Place, cited
from verifyplan.agents.static.roles.panel.case import Case, same_line
from verifyplan.agents.static.roles.phrases import Kind

_DEFINES = (
    r"\b(?:def|class|function|func|fn|const|let|var|type|interface|struct|enum|trait"
    r"|record)\s+(?:\([^()]{{0,80}}\)\s*)?{0}\b"
    r"|^\s*(?:public |private |static |async |export )*{0}\s*[:=(]"
)


def judge(case: Case) -> Outcome:
    """Whether what the challenge says of the repository is so, by opening and searching files.

    A challenge about the plan alone, or in words that no static agent would use, is judged by the places that it
    cites in the repository; where it cites none, by whether it cites the plan at all.
    """
    statement = case.statement
    if statement is not None and statement.kind in _FACTS and not case.known.empty:
        return _FACTS[statement.kind](case, statement.names)
    for place in case.code_places:
        outcome = _quoted(case, place)
        if outcome.kind != "holds":
            return outcome
    if case.code_places:
        place = case.code_places[0]
        if statement is None:
            return Outcome("caveat", f"{place} reads as quoted; whether the rest follows from it was not judged.")
        return Outcome("holds", f"{place} reads as quoted.")
    if not case.plan_places:
        return Outcome("undecided", "The evidence cites no place that could be opened.")
    first = case.plan_places[0]
    if statement is None:
        return Outcome("undecided", f"Beside {first} no file is cited that would bear the claim out.")
    return Outcome("holds", f"The claim is about {first} alone, and no file of the repository speaks against it.")


def _quoted(case: Case, place: Cited) -> Outcome:
    """Whether a cited place of the repository reads as quoted."""
    read = case.tools.read(place.path, serves=case.item.finding_id)
    if read.refused:
        return Outcome("undecided", f"{place} was not opened: {read.refused}.")
    if place.first > len(read.lines):
        return Outcome("refuted", f"{place.path} ends at {place.path}:{len(read.lines)}, before line {place.first}.")
    if not place.quotes:
        return Outcome("holds", f"{place} is there.")
    line = read.lines[place.first - 1]
    if same_line(place.quotes[0], line):
        return Outcome("holds", f"{place} reads as quoted.")
    elsewhere = next((at for at, one in enumerate(read.lines, 1) if same_line(place.quotes[0], one)), 0)
    if elsewhere:
        return Outcome("caveat", f"The quoted text stands at {place.path}:{elsewhere}.")
    return Outcome("refuted", f"{place} reads: {line.strip()[:80] or 'nothing'}")


def _at(hit: Match) -> str:
    return cited(Place(hit.path, hit.line), hit.path)


def _file(case: Case, names: tuple[str, ...]) -> Outcome:
    read = case.tools.read(names[0], serves=case.item.finding_id)
    if read.lines:
        return Outcome("refuted", f"{names[0]} can be opened: {names[0]}:1 reads: {read.lines[0].strip()[:80]}")
    if case.known.repository.has(names[0]):
        return Outcome("refuted", f"The folder {names[0]} is there.")
    return Outcome("holds", f"Opening it says: {read.refused or 'nothing is there'}.")


def _symbol(case: Case, names: tuple[str, ...]) -> Outcome:
    last = re.escape(re.split(r"[.:]+", names[0])[-1].removesuffix("()"))
    hits = case.tools.grep(_DEFINES.format(last), serves=case.item.finding_id)
    if hits.refused:
        return Outcome("undecided", f"Nothing was searched: {hits.refused}.")
    owners = re.split(r"[.:]+", names[0])[:-1]
    near = [hit for hit in hits.matches if not owners or PurePosixPath(hit.path).stem == owners[-1]]
    if near:
        return Outcome("refuted", f"{_at(near[0])} defines it: {near[0].text.strip()[:80]}")
    if hits.matches:  # a name of that kind, and nothing tells that it is this owner's
        hit = hits.matches[0]
        return Outcome("caveat", f"{_at(hit)} defines such a name, which need not be that of {owners[-1]}.")
    return Outcome("holds", f"A search of all lines for a definition of {names[0]} finds none.")


def _elsewhere(case: Case, names: tuple[str, ...]) -> Outcome:
    read = case.tools.read(names[1], serves=case.item.finding_id)
    if read.refused:
        return Outcome("undecided", f"{names[1]} was not opened: {read.refused}.")
    word = re.compile(rf"(?<!\w){re.escape(names[0].rpartition('.')[2])}(?!\w)")
    at = next((at for at, line in enumerate(read.lines, 1) if word.search(line)), 0)
    if at:
        return Outcome("refuted", f"{names[1]}:{at} speaks of it: {read.lines[at - 1].strip()[:80]}")
    return Outcome("holds", f"None of the {len(read.lines)} lines of {names[1]} speaks of it.")


def _package(case: Case, names: tuple[str, ...]) -> Outcome:
    hits = case.tools.grep(rf"(?i)[\"'\s=]{re.escape(names[0])}(?![\w-])", serves=case.item.finding_id)
    if hits.refused:
        return Outcome("undecided", f"Nothing was searched: {hits.refused}.")
    manifests = {package.path for package in case.known.declared}
    hit = next((hit for hit in hits.matches if hit.path in manifests), None)
    if hit is not None:
        return Outcome("refuted", f"{_at(hit)} declares it: {hit.text.strip()[:80]}")
    return Outcome("holds", f"A search finds no line of a manifest that names {names[0]}.")


def _command(case: Case, names: tuple[str, ...]) -> Outcome:
    name = names[0].partition(" ")[2]
    hits = case.tools.grep(rf"^\s*\"?{re.escape(name)}\"?\s*:", serves=case.item.finding_id)
    if hits.refused:
        return Outcome("undecided", f"Nothing was searched: {hits.refused}.")
    manifests = {command.path for command in case.known.commands}
    hit = next((hit for hit in hits.matches if hit.path in manifests), None)
    if hit is not None:
        return Outcome("refuted", f"{_at(hit)} defines it: {hit.text.strip()[:80]}")
    return Outcome("holds", f"A search of {', '.join(sorted(manifests)[:3])} finds no line that defines {name}.")


Fact = Callable[[Case, tuple[str, ...]], Outcome]

_FACTS: dict[Kind, Fact] = {
    "file-missing": _file,
    "symbol-missing": _symbol,
    "symbol-elsewhere": _elsewhere,
    "package-missing": _package,
    "command-missing": _command,
}
