"""Amounts that the plan states of something named, held against what the project's documents say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.wordsets import words

_AMOUNT = re.compile(
    r"(?<![\w.`/-])(?P<number>\d[\d,_]*(?:\.\d+)?)(?P<scale> ?(?:million|thousand|billion|k|M)\b)?(?: "
    r"?(?P<unit>[a-z]{3,12})\b)?"
)
_NAME = re.compile(r"`([A-Za-z_]\w{3,40})`")
_FUTURE = re.compile(
    r"\b(?:will|shall|should|becomes?|may|must|can|at most|up to|a (?:month|day|week|year)|per|each|new|after"
    r"|within|under)\b",
    re.IGNORECASE,
)
_SCALE = {"million": 1e6, "m": 1e6, "thousand": 1e3, "k": 1e3, "billion": 1e9}
_UNITS = words(
    "rows records entries items users customers files tables columns shops parcels requests jobs services",
    "tests routes",
)
_FACTOR = 3.0


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each amount of something in backticks of which a document gives an amount that is far from it.

    Far is by more than a factor of 3, as such amounts are rough. Only lines that state how things are count.
    """
    for at, line in scene.reading.stated:
        amounts = _amounts(line)
        names = _NAME.findall(line)
        if len(amounts) != 1 or len(names) != 1 or _FUTURE.search(line):
            continue
        (unit, said), *_ = amounts.items()
        for hit in scene.known.mentions(names[0]):
            if not hit.path.endswith((".md", ".rst", ".txt")):
                continue
            lines = scene.tools.read(hit.path).lines
            text = lines[hit.line - 1] if hit.line <= len(lines) else ""
            there = _every(text)
            if unit in text and there and all(_far(said, value) for value in there):
                yield _issue(at, line, names[0], Place(hit.path, hit.line, text))
                break


def _amounts(line: str) -> dict[str, float]:
    return {match["unit"]: _value(match) for match in _AMOUNT.finditer(line) if match["unit"] in _UNITS}


def _every(text: str) -> list[float]:
    """All amounts of a line of a document, whatever they are of."""
    return [_value(match) for match in _AMOUNT.finditer(text) if match["scale"] or match["unit"] in _UNITS]


def _value(match: re.Match[str]) -> float:
    scale = _SCALE.get((match["scale"] or "").strip().lower(), 1.0)
    return float(re.sub("[,_]", "", match["number"])) * scale


def _far(one: float, other: float) -> bool:
    low, high = sorted((max(one, 1e-9), max(other, 1e-9)))
    return high / low > _FACTOR


def _issue(line: int, text: str, name: str, place: Place) -> Issue:
    match = next(match for match in _AMOUNT.finditer(text) if match["unit"] in _UNITS)
    return Issue(
        statement("stale-claim", f"{match.group()} of {name}"),
        line,
        f"{place.path}:{place.line} reads {place.text.strip()[:120]}",
        "SIGNIFICANT",
        "MED",
        scenario="What the plan concludes from the amount does not hold.",
        alternative="Look the amount up again, and what the plan concludes from it.",
        beside=(place,),
    )
