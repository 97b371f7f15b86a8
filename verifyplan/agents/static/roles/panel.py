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

from verifyplan.agents.static.checkers import is_line
from verifyplan.agents.static.judging import ClaimJudgement
from verifyplan.agents.static.roles.check_questions import answer_line, questions
from verifyplan.agents.static.roles.context import RepositoryIndex
from verifyplan.agents.static.roles.issues import (
    Assertion,
    CitedLine,
    CitedRange,
    IssueKind,
    cited,
    read_assertion,
    read_cited,
)
from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.agents.tools.toolkit import StaticToolkit
from verifyplan.protocol.call import Item
from verifyplan.rules.citations import cites_location

_MADE = re.compile(r"\b(?:new|creat\w*|add(?:s|ed|ing)?|writ(?:e|es|ing)|generat\w*|install\w*|introduc\w*)\W*$", re.I)
_EXCEPTED = re.compile(r"\b(?:unless|except|other than|apart from)\b", re.IGNORECASE)
_MAX_SHOWN_CHARACTERS = 100


@dataclass(frozen=True)
class ChallengeCase:
    """One challenge before one worker, with the documents by name, the repository and the worker's tools."""

    item: Item
    plans: Mapping[str, PlanText]
    index: RepositoryIndex
    tools: StaticToolkit

    @cached_property
    def assertion(self) -> Assertion | None:
        """The assertion of the challenge, if it is worded as the static agents word it."""
        return read_assertion(self.item.summary)

    @cached_property
    def places(self) -> list[tuple[CitedRange, str, PlanText | None]]:
        """The cited places, each with the name and text of the document that it lies in, if it lies in one."""
        places = list[tuple[CitedRange, str, PlanText | None]]()
        for place in read_cited(self.item.evidence):
            names = [name for name in self.plans if name == place.path or name.endswith(f"/{place.path}")]
            name = names[0] if len(names) == 1 else place.path
            places.append((place, name, self.plans[name] if len(names) == 1 else None))
        return places


def _shown(line: str) -> str:
    return line.strip()[:_MAX_SHOWN_CHARACTERS] or "nothing"


def not_looked(why: str) -> ClaimJudgement:
    """Return the judgement of a worker that looked at nothing."""
    return ClaimJudgement("undecided", f"nothing looked at: {why}")


def reread(case: ChallengeCase) -> ClaimJudgement:
    """Judge as panel-1: whether the plan has the quoted lines, and whether its text makes or answers the missing."""
    in_plan = [(place, name, plan) for place, name, plan in case.places if plan is not None]
    if not in_plan:
        return not_looked("the evidence cites no line of the plan.")
    for place, name, plan in in_plan:
        line = plan.plan.line(place.first)
        if place.quotes and not is_line(place.quotes[0], line):
            lines = enumerate(plan.plan.lines, 1)
            where = next((at for at, other in lines if is_line(place.quotes[0], other)), 0)
            if where:
                return ClaimJudgement("caveat", f"The quoted text stands at {name}:{where}.")
            return ClaimJudgement("refuted", f"{name}:{place.first} reads: {_shown(line)}")
    place, name, plan = in_plan[0]
    if case.assertion is None:
        return ClaimJudgement(
            "caveat", f"{name}:{place.first} reads as quoted; whether the rest follows was not judged."
        )
    at = _answered_at(case.assertion, plan)
    if at:
        return ClaimJudgement(
            "refuted", f"{name}:{at} speaks of it: {plan.plan.line(at).strip()[:_MAX_SHOWN_CHARACTERS]}"
        )
    return ClaimJudgement("holds", f"{name}:{place.first} reads as quoted, and no other line of the plan settles it.")


def _answered_at(assertion: Assertion, plan: PlanText) -> int:
    """Return the line that makes the missing name, answers the question or names the user; 0 if none does."""
    if assertion.kind == "question":
        chosen = (question for question in questions() if question.ask == assertion.names[-1])
        return next((at for question in chosen if (at := answer_line(question, plan.plan.lines))), 0)
    if assertion.kind == "rule-broken":
        return 0
    if assertion.kind == "dependents":
        return plan.mentions(assertion.names[1].rpartition("/")[2])
    name = assertion.names[0].split()[-1]
    lines = enumerate(plan.plan.lines, 1)
    return next((at for at, line in lines if name in line and _MADE.search(line[: line.find(name)].rstrip("`*_ "))), 0)


def recheck(case: ChallengeCase) -> ClaimJudgement:
    """Judge as panel-2: whether the repository is as the challenge says, by the file system and a search of lines."""
    if case.index.empty:
        return not_looked("the repository is empty.")
    look = _LOOKS.get(case.assertion.kind) if case.assertion else None
    if look is not None and case.assertion is not None:
        return look(case, case.assertion.names)
    for place, name, plan in case.places:
        if plan is None:
            return _by_quotation(case, place, name)
    return not_looked("the evidence cites no file of the repository.")


def _by_quotation(case: ChallengeCase, place: CitedRange, name: str) -> ClaimJudgement:
    read = case.tools.read(name, serves=case.item.finding_id)
    if read.refused:
        return not_looked(f"{read.refused}.")
    if place.first > len(read.lines):
        return ClaimJudgement("refuted", f"{name} ends at {name}:{len(read.lines)}, before line {place.first}.")
    line = read.lines[place.first - 1]
    if place.quotes and not is_line(place.quotes[0], line):
        return ClaimJudgement("refuted", f"{place} reads: {_shown(line)}")
    if case.assertion is None:
        return ClaimJudgement("caveat", f"{place} reads as quoted; whether the rest follows from it was not judged.")
    return ClaimJudgement("holds", f"{place} reads as quoted.")


def _file_exists(case: ChallengeCase, names: tuple[str, ...]) -> ClaimJudgement:
    path = on_disk(case.index.repository.root, names[0])
    if path:
        return ClaimJudgement("refuted", f"The folder holds it: {path}:1.")
    return ClaimJudgement("holds", f"No folder on the way to {names[0]} holds it, in capitals or small letters.")


def on_disk(root: Path, name: str) -> str:
    """Return the path of a file under a folder as it is spelled there, letters' case aside; empty if there is none."""
    path = root
    for part in name.split("/"):
        try:
            inside = [] if path.is_symlink() else list(path.iterdir())
        except OSError:
            return ""
        same = [entry for entry in inside if entry.name.lower() == part.lower()]
        if not same:
            return ""
        path = same[0]
    return path.relative_to(root).as_posix()


def _search(pattern: str, verb: str, paths: str = "") -> Callable[[ChallengeCase, tuple[str, ...]], ClaimJudgement]:
    """Return a look for lines of the repository that match a pattern of the first name, in files of some paths."""

    def look(case: ChallengeCase, names: tuple[str, ...]) -> ClaimJudgement:
        name = names[0].split()[-1]
        hits = case.tools.grep(pattern.format(re.escape(name)), serves=case.item.finding_id)
        if hits.refused:
            return not_looked(f"{hits.refused}.")
        near = [hit for hit in hits.matches if re.search(paths, hit.path)]
        if case.assertion and case.assertion.kind == "symbol-missing":
            near = [hit for hit in near if hit.path == names[1]]
        if near:
            place = cited(CitedLine(near[0].path, near[0].line), "")
            return ClaimJudgement("refuted", f"{place} {verb}: {_shown(near[0].text)}")
        return ClaimJudgement("holds", f"A search of all lines finds none that {verb.removesuffix('s')}s {name}.")

    return look


def _uses(case: ChallengeCase, names: tuple[str, ...]) -> ClaimJudgement:
    """Judge whether the named file really holds the changed name outside of comments."""
    read = case.tools.read(names[1], serves=case.item.finding_id)
    if read.refused:
        return not_looked(f"{read.refused}.")
    word = re.compile(rf"^(?!\s*(?:#|//|\*)).*(?<!\w){re.escape(names[0])}(?!\w)")
    at = next((at for at, line in enumerate(read.lines, 1) if word.search(line)), 0)
    if not at:
        return ClaimJudgement("refuted", f"No line of code in {names[1]}:1-{len(read.lines)} holds {names[0]}.")
    return ClaimJudgement("holds", f"{names[1]}:{at} reads: {read.lines[at - 1].strip()[:_MAX_SHOWN_CHARACTERS]}")


_LOOKS: dict[IssueKind, Callable[[ChallengeCase, tuple[str, ...]], ClaimJudgement]] = {
    "file-missing": _file_exists,
    "command-missing": _search(r"^\s*[\"']?{}[\"']?\s*(?::|=)", "defines", r"(?i)make|\.mk$|\.json$|\.toml$|justfile"),
    "package-missing": _search(r"(?i)(?<![\w-]){}(?![\w-])", "names", r"(?i)\.(?:toml|txt|cfg|lock|json|ya?ml|mod)$"),
    "symbol-missing": _search(r"(?<!\w){}(?!\w)", "holds"),
    "dependents": _uses,
}


def counter(case: ChallengeCase) -> ClaimJudgement:
    """Judge as panel-3: whether the file is elsewhere or was there before, or the rule makes an exception."""
    assertion = case.assertion
    if assertion is None or not case.places:
        return not_looked("the challenge is in words of no look-up." if case.places else "the evidence cites no place.")
    place = case.places[0][0]
    if assertion.kind == "rule-broken":
        return _by_exception(case)
    if assertion.kind in ("file-missing", "command-missing") and not case.index.empty:
        name = assertion.names[0].split()[-1]
        same = [path for path in case.index.repository.files if path.lower().endswith(f"/{name.lower()}")]
        if same:
            return ClaimJudgement("refuted", f"{same[0]}:1 is a file that ends in this path.")
        return ClaimJudgement("holds", f"No path of the repository ends in the name that {place} gives.")
    return not_looked(f"no counter-case is known for what {place} is said to show.")


def _by_exception(case: ChallengeCase) -> ClaimJudgement:
    for place, name, plan in case.places:
        read = case.tools.read(name, serves=case.item.finding_id) if plan is None else None
        if read is not None and place.first <= len(read.lines):
            text = " ".join(read.lines[place.first - 1 : place.first + 1])
            if _EXCEPTED.search(text):
                return ClaimJudgement("refuted", f"{place} makes an exception: {text.strip()[:_MAX_SHOWN_CHARACTERS]}")
            return ClaimJudgement("holds", f"{place} makes no exception.")
    return not_looked("the evidence cites no rule that could be read.")


JUDGES: dict[str, Callable[[ChallengeCase], ClaimJudgement]] = {
    "panel-1": reread,
    "panel-2": recheck,
    "panel-3": counter,
}
"""The means of each worker of the panel."""


def refutation(case: ChallengeCase) -> str:
    """Return what the first two workers' means show against a challenge, with its place; empty if nothing does."""
    judgements = (judge(case) for judge in (reread, recheck))
    return next((each.why for each in judgements if each.kind == "refuted" and cites_location(each.why)), "")
