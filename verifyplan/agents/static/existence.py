"""Whether a file, or a name in it, is there: what every checker judges alike, by opening the file that is cited."""

from __future__ import annotations

import re

from verifyplan.agents.evidence import Place
from verifyplan.agents.repository.reading import MissingError, UnreadableError
from verifyplan.agents.sources import Source, Sources
from verifyplan.agents.static.claims import Claim
from verifyplan.agents.static.outcome import Look, Outcome

_CLAIM = re.compile(r"\s*(?:The )?file `([^`\n]{1,300})` exists(?:\.?\s*$|(,.))", re.IGNORECASE)


def claimed_file(text: str) -> tuple[str, bool] | None:
    """The file that a text says exists, and whether it says more than that; None where it says something else.

    >>> claimed_file("The file `a.py` exists."), claimed_file("The file `a.py` exists, and is short.")
    (('a.py', False), ('a.py', True))
    >>> claimed_file("The file `a.py` exists no longer.") is None
    True
    """
    found = _CLAIM.match(text[:2000])
    return (found[1].removeprefix("./"), bool(found[2])) if found else None


def judge_file(path: str, more: bool, places: tuple[Place, ...], sources: Sources | None) -> Outcome:
    """Whether a file exists, by the cited place in it; what else is said of it is a caveat.

    Undecided where no file may be opened, the file is not cited, or it cannot be read though it is there.
    Source: SPEC B4, G2.
    """
    place = next((place for place in places if place.path == path), None)
    if sources is None or place is None:
        why = "No file is opened in a lightweight run." if sources is None else f"The evidence does not cite {path}."
        return Outcome("undecided", why)
    try:
        lines = sources.open(path).lines
    except MissingError:
        return Outcome("refuted", f"{place.path}:{place.line} cannot be looked at: there is no such file.")
    except UnreadableError as error:
        return Outcome("undecided", f"{error}.")
    told = f"{path}:1 exists, with {len(lines)} lines."
    return Outcome("caveat", f"{told} What is said of it besides was not checked.") if more else Outcome("holds", told)


def look_at_missing(claim: Claim, text: str, place: Place) -> Look:
    """What a missing file says of a claim: a definition that is said to stand in it does not."""
    if claim.kind == "location" and f"`{place.path}`" in text:
        return Look("no", f"{place} cannot be looked at: there is no such file, and nothing is defined in it.")
    return Look("unknown", f"{place.path} cannot be opened (it does not exist).")


def look_for_name(claim: Claim, text: str, place: Place, source: Source) -> Look | None:
    """What a file without a name says: a definition that is said to stand in it does not; None if it holds the name."""
    name = claim.subject.rpartition(".")[2]
    if claim.kind != "location" or not name or not source.whole or f"`{place.path}`" not in text:
        return None
    if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) for line in source.lines):
        return None
    return Look("no", f"{place} was looked at: no line of {place.path} holds the name {name}.")
