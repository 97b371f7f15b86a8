"""The panel: three workers that look at a challenge's place by other means than the challenger did (rules A9, B4, G2).

panel-1 reads the plan's lines again as plain text; panel-2 goes to the file system and searches lines; panel-3 looks
for the case in which the challenge does not hold. Each says so where it looked at nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from verifyplan.agents.static.outcome import Outcome
from verifyplan.agents.static.quotation import is_line
from verifyplan.agents.static.roles.checks.questions import answer_line, questions
from verifyplan.agents.static.roles.issues import Cited, Kind, Place, Statement, cited, read_cited, read_statement
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.agents.tools.toolkit import StaticToolkit
from verifyplan.protocol.call import Item
from verifyplan.rules.citations import cites_location

_MADE = re.compile(r"\b(?:new|creat\w*|add(?:s|ed|ing)?|writ(?:e|es|ing)|generat\w*|install\w*|introduc\w*)\W*$", re.I)
_EXCEPTED = re.compile(r"\b(?:unless|except|other than|apart from)\b", re.IGNORECASE)
_MAX_SHOWN = 100


@dataclass(frozen=True)
class Case:
    """One challenge before one worker, with the documents by name, the repository and the worker's tools."""

    item: Item
    plans: Mapping[str, PlanText]
    known: Known
    tools: StaticToolkit

    @cached_property
    def statement(self) -> Statement | None:
        """What the challenge states, where it is worded as the static agents word it."""
        return read_statement(self.item.summary)

    @cached_property
    def places(self) -> list[tuple[Cited, str, PlanText | None]]:
        """The cited places, each with the name and text of the document that it lies in, if it lies in one."""
        return [(place, *self._document(place.path)) for place in read_cited(self.item.evidence)]

    def _document(self, path: str) -> tuple[str, PlanText | None]:
        names = [name for name in self.plans if name == path or name.endswith(f"/{path}")]
        return (names[0], self.plans[names[0]]) if len(names) == 1 else (path, None)


def _shown(line: str) -> str:
    return line.strip()[:_MAX_SHOWN] or "nothing"


def nothing(why: str) -> Outcome:
    """The outcome of a worker that looked at nothing."""
    return Outcome("undecided", f"nothing looked at: {why}")


def reread(case: Case) -> Outcome:
    """panel-1: whether the quoted lines stand in the plan, and whether its text makes or answers what is missing."""
    read = [(place, name, plan) for place, name, plan in case.places if plan is not None]
    if not read:
        return nothing("the evidence cites no line of the plan.")
    for place, name, plan in read:
        line = plan.plan.line(place.first)
        if place.quotes and not is_line(place.quotes[0], line):
            where = next((at for at, one in enumerate(plan.plan.lines, 1) if is_line(place.quotes[0], one)), 0)
            if where:
                return Outcome("caveat", f"The quoted text stands at {name}:{where}.")
            return Outcome("refuted", f"{name}:{place.first} reads: {_shown(line)}")
    place, name, plan = read[0]
    if case.statement is None:
        return Outcome("caveat", f"{name}:{place.first} reads as quoted; whether the rest follows was not judged.")
    at = _answered(case.statement, plan)
    if at:
        return Outcome("refuted", f"{name}:{at} speaks of it: {plan.plan.line(at).strip()[:_MAX_SHOWN]}")
    return Outcome("holds", f"{name}:{place.first} reads as quoted, and no other line of the plan settles it.")


def _answered(statement: Statement, plan: PlanText) -> int:
    """The line of the plan that makes the missing name, answers the question or names the user; 0 if none does."""
    if statement.kind == "question":
        chosen = [one for one in questions() if one.ask == statement.names[-1]]
        return next((at for one in chosen if (at := answer_line(one, plan.plan.lines))), 0)
    if statement.kind == "rule-broken":
        return 0
    if statement.kind == "dependents":
        return plan.mentions(statement.names[1].rpartition("/")[2])
    name = statement.names[0].split()[-1]
    lines = enumerate(plan.plan.lines, 1)
    return next((at for at, line in lines if name in line and _MADE.search(line[: line.find(name)].rstrip("`*_ "))), 0)


def recheck(case: Case) -> Outcome:
    """panel-2: whether what is said of the repository is so, by the file system and a search of lines."""
    if case.known.empty:
        return nothing("the repository is empty.")
    look = _LOOKS.get(case.statement.kind) if case.statement else None
    if look is not None and case.statement is not None:
        return look(case, case.statement.names)
    for place, name, plan in case.places:
        if plan is None:
            return _quoted(case, place, name)
    return nothing("the evidence cites no file of the repository.")


def _quoted(case: Case, place: Cited, name: str) -> Outcome:
    read = case.tools.read(name, serves=case.item.finding_id)
    if read.refused:
        return nothing(f"{read.refused}.")
    if place.first > len(read.lines):
        return Outcome("refuted", f"{name} ends at {name}:{len(read.lines)}, before line {place.first}.")
    line = read.lines[place.first - 1]
    if place.quotes and not is_line(place.quotes[0], line):
        return Outcome("refuted", f"{place} reads: {_shown(line)}")
    if case.statement is None:
        return Outcome("caveat", f"{place} reads as quoted; whether the rest follows from it was not judged.")
    return Outcome("holds", f"{place} reads as quoted.")


def _file(case: Case, names: tuple[str, ...]) -> Outcome:
    path = on_disk(case.known.repository.root, names[0])
    if path:
        return Outcome("refuted", f"The folder holds it: {path}:1.")
    return Outcome("holds", f"No folder on the way to {names[0]} holds it, in capitals or small letters.")


def on_disk(root: Path, name: str) -> str:
    """The path of a file under a folder as it is spelled there, letters' case aside; empty if there is none."""
    found = root
    for part in name.split("/"):
        try:
            inside = [] if found.is_symlink() else list(found.iterdir())
        except OSError:
            return ""
        same = [one for one in inside if one.name.lower() == part.lower()]
        if not same:
            return ""
        found = same[0]
    return found.relative_to(root).as_posix()


def _search(pattern: str, said: str, only: str = "") -> Callable[[Case, tuple[str, ...]], Outcome]:
    """A look for lines of the repository that match a pattern of the first name, in some files only."""

    def look(case: Case, names: tuple[str, ...]) -> Outcome:
        name = names[0].split()[-1]
        hits = case.tools.grep(pattern.format(re.escape(name)), serves=case.item.finding_id)
        if hits.refused:
            return nothing(f"{hits.refused}.")
        near = [hit for hit in hits.matches if re.search(only, hit.path)]
        if case.statement and case.statement.kind == "symbol-missing":
            near = [hit for hit in near if hit.path == names[1]]
        if near:
            place = cited(Place(near[0].path, near[0].line), "")
            return Outcome("refuted", f"{place} {said}: {_shown(near[0].text)}")
        return Outcome("holds", f"A search of all lines finds none that {said.removesuffix('s')}s {name}.")

    return look


def _uses(case: Case, names: tuple[str, ...]) -> Outcome:
    """Whether the named file really holds the changed name outside of comments."""
    read = case.tools.read(names[1], serves=case.item.finding_id)
    if read.refused:
        return nothing(f"{read.refused}.")
    word = re.compile(rf"^(?!\s*(?:#|//|\*)).*(?<!\w){re.escape(names[0])}(?!\w)")
    at = next((at for at, line in enumerate(read.lines, 1) if word.search(line)), 0)
    if not at:
        return Outcome("refuted", f"No line of code in {names[1]}:1-{len(read.lines)} holds {names[0]}.")
    return Outcome("holds", f"{names[1]}:{at} reads: {read.lines[at - 1].strip()[:_MAX_SHOWN]}")


_LOOKS: dict[Kind, Callable[[Case, tuple[str, ...]], Outcome]] = {
    "file-missing": _file,
    "command-missing": _search(r"^\s*[\"']?{}[\"']?\s*(?::|=)", "defines", r"(?i)make|\.mk$|\.json$|\.toml$|justfile"),
    "package-missing": _search(r"(?i)(?<![\w-]){}(?![\w-])", "names", r"(?i)\.(?:toml|txt|cfg|lock|json|ya?ml|mod)$"),
    "symbol-missing": _search(r"(?<!\w){}(?!\w)", "holds"),
    "dependents": _uses,
}


def counter(case: Case) -> Outcome:
    """panel-3: whether the file is elsewhere or was there before, or the rule makes an exception."""
    statement = case.statement
    if statement is None or not case.places:
        return nothing("the challenge is in words of no look-up." if case.places else "the evidence cites no place.")
    place = case.places[0][0]
    if statement.kind == "rule-broken":
        return _exception(case)
    if statement.kind in ("file-missing", "command-missing") and not case.known.empty:
        path = statement.names[0].split()[-1]
        same = [one for one in case.known.repository.files if one.lower().endswith(f"/{path.lower()}")]
        if same:
            return Outcome("refuted", f"{same[0]}:1 is a file that ends in this path.")
        return Outcome("holds", f"No path of the repository ends in the name that {place} gives.")
    return nothing(f"no counter-case is known for what {place} is said to show.")


def _exception(case: Case) -> Outcome:
    for place, name, plan in case.places:
        read = case.tools.read(name, serves=case.item.finding_id) if plan is None else None
        if read is not None and place.first <= len(read.lines):
            text = " ".join(read.lines[place.first - 1 : place.first + 1])
            if _EXCEPTED.search(text):
                return Outcome("refuted", f"{place} makes an exception: {text.strip()[:_MAX_SHOWN]}")
            return Outcome("holds", f"{place} makes no exception.")
    return nothing("the evidence cites no rule that could be read.")


JUDGES: dict[str, Callable[[Case], Outcome]] = {"panel-1": reread, "panel-2": recheck, "panel-3": counter}
"""Who judges how, by worker."""


def refutation(case: Case) -> str:
    """What the first two workers' means show against a challenge, with its place; empty if nothing does."""
    outcomes = (judge(case) for judge in (reread, recheck))
    return next((one.why for one in outcomes if one.kind == "refuted" and cites_location(one.why)), "")
