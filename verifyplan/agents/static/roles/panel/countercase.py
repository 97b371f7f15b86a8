"""panel-3: looks for the case in which the challenge does not hold: made, renamed, out of the rule's reach."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from verifyplan.agents.static.outcome import Outcome
from verifyplan.agents.static.roles.issues import Place, cited
from verifyplan.agents.static.roles.panel.case import Case
from verifyplan.agents.static.roles.phrases import Kind

Counter = Callable[[Case, tuple[str, ...]], str]


def judge(case: Case) -> Outcome:
    """The counter-case with its place, or that none was found; a challenge in other words needs a place to begin with.

    Counter-cases are looked for in the plan's other lines and in the repository's table of contents.
    """
    if not case.plan_places and not case.code_places:
        return Outcome("undecided", "The evidence cites no place, so no counter-case can be looked for.")
    place = (case.plan_places or case.code_places)[0]
    heading = _told(case)
    if heading:
        return Outcome("refuted", heading)
    statement = case.statement
    if statement is None:
        return Outcome("undecided", f"What {place} is said to show is in words that no counter-case can be looked for.")
    counter = _COUNTERS.get(statement.kind)
    found = counter(case, statement.names) if counter and not case.known.empty else ""
    if found:
        return Outcome("refuted", found)
    return Outcome("holds", f"No counter-case was found to {place}: nothing is made, renamed or excepted elsewhere.")


def _told(case: Case) -> str:
    """Why the cited lines plan nothing, if all stand in sections that only tell."""
    kinds: tuple[Kind, ...] = ("stale-claim", "kept-and-changed", "two-values")
    if case.statement is not None and case.statement.kind in kinds:
        return ""
    for place in case.plan_places:
        name, reading = case.document(place.path) or ("", None)
        section = reading.section(place.first) if reading else None
        if reading is None or section is None or not reading.told(place.first):
            return ""
        told = f"{name}:{section.first} heads the section as {section.title!r}, which plans nothing."
    return told if case.plan_places else ""


def _renamed(case: Case, names: tuple[str, ...]) -> str:
    """A file of that name that the path can mean, or one that the plan makes."""
    ends = [path for path in case.known.repository.files if path.endswith(f"/{names[0]}")]
    if ends:
        return f"{ends[0]}:1 is a file that ends in this path."
    return _made(case, names) or _made(case, (posixpath.basename(names[0]),))


def _made(case: Case, names: tuple[str, ...]) -> str:
    for name, reading in case.readings.items():
        at = reading.makes(names[0])
        if at:
            return f"{name}:{at} makes it: {reading.plan.line(at).strip()[:100]}"
    return ""


def _used(case: Case, names: tuple[str, ...]) -> str:
    """A line of the repository that already counts on the name; of a dotted one, on all of it."""
    whole = names[0].removesuffix("()")
    found = [hit for hit in case.known.mentions(re.split(r"[.:]+", whole)[-1]) if whole in hit.text]
    return (
        f"{cited(Place(found[0].path, found[0].line), '')} already uses it: {found[0].text.strip()[:80]}"
        if found
        else ""
    )


_COUNTERS: dict[Kind, Counter] = {
    "file-missing": _renamed,
    "symbol-missing": _used,
    "package-missing": _used,
    "command-missing": _made,
}
