"""Routes that the plan names and the repository does not have, with no word on who may call them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.rulebook import Rule, rulebook
from verifyplan.agents.static.roles.scene import Scene

_ROUTE = re.compile(r"`(?:GET|POST|PUT|PATCH|DELETE) (/[\w/{}:<>.-]+)[^`]*`")
_ASKED = re.compile(
    r"\b(?:require_\w+|auth\w*|permission\w*|roles?|access control|login|logged[ -]in|api[ -]?keys?|tokens?)\b",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:require_\w+|roles?|authenti\w+|authori[sz]\w+|permissions?|access|public(?:ly)?|anonymous\w*"
    r"|unauthenticated|log(?:ged)?[ -]?in|sign(?:ed)?[ -]in|401|403|"
    r"callers?|who may|operators? (?:only|may)|only (?:an? |the )?(?:operator|admin|owner|staff|customer"
    r"|shop)s?|may (?:call|ask|see|read)|tokens?|api[ -]?keys?|everybody|anyone|bearer|guard)\b",
    re.IGNORECASE,
)


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for the first new route, if a rule of the project asks who may call routes and the plan never says.

    A route is new if no line of the repository has the last part of its path that is no parameter.
    """
    if scene.known.empty or any(_SAID.search(line) for _, line in scene.reading.prose):
        return
    rule = next(
        (
            rule
            for rule in rulebook(scene)
            if _ASKED.search(rule.text) and re.search(r"\b(?:route|endpoint|handler)", rule.text)
        ),
        None,
    )
    if rule is None or any(_SAID.search(block.text) for block in scene.plan.blocks):
        return
    for at, line in (*scene.reading.to_do, *scene.reading.stated):
        match = _ROUTE.search(line)
        if match is not None and not denied(line, match.start()) and _new(scene, match[1]):
            yield _issue(rule, at, match.group().strip("`"))
            return


def _new(scene: Scene, path: str) -> bool:
    parts = [part for part in path.strip("/").split("/") if part and part[0] not in "{:<"]
    if len(parts) < 1:
        return False
    last = parts[-1]
    lines = [hit.text for hit in scene.known.mentions(last)]
    return not any(f"/{last}" in text for text in lines)


def _issue(rule: Rule, line: int, route: str) -> Issue:
    return Issue(
        statement("demand", route, "who may call it"),
        line,
        f"A rule of the project asks for it ({rule.name}).",
        "BLOCKING",
        "MED",
        scenario="Anybody who can reach the address can use it, from the first release on.",
        alternative=(
            "Say who may call it and put the project's own check of that on it, with a test that others are refused."
        ),
        beside=(rule.place,),
    )
