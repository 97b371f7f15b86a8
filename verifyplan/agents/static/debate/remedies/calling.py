"""Calls: to others without a time limit, and of the repository's functions in a form that they do not know yet."""

from __future__ import annotations

import re

from verifyplan.agents.static.debate.page import Lines
from verifyplan.agents.static.debate.remedies.case import Case
from verifyplan.agents.static.roles.checks.duplicates import parameters_of

_LONGEST = 1_000
_IN_PLACE = (
    (re.compile(r"\bcurl (?=.*?(?<=\s)(?:-[XdFT]|--(?:request|data|form|json|upload)))"), "curl --max-time 10 "),
    (re.compile(r"\bcurl (?=\S* ?-)"), "curl --max-time 10 --retry 3 "),
    (re.compile(r"\bwget (?=\S)"), "wget --timeout=10 --tries=3 "),
    (
        re.compile(r"\b((?:requests\.(?:get|post|put|patch|delete|request)|urlopen)\([^()]*[^(),\s])\)"),
        r"\1, timeout=10)",
    ),
    (re.compile(r"\bfetch\(([^(){},]+)\)"), r"fetch(\1, { signal: AbortSignal.timeout(10_000) })"),
)
_GO = re.compile(r"\bhttp\.(Get|Post|Head)\(")
_OPENS = re.compile(r"\bfetch\(.*,\s*\{\s*$")


def limit(case: Case) -> Lines | None:
    """The call with a time limit of 10 s, in the form of its language; where the call may be repeated, retries, too."""
    at = case.finding.line
    text = case.lines[at - 1] if 0 < at <= len(case.lines) else ""
    if not text or len(text) > _LONGEST:
        return None
    for pattern, limited in _IN_PLACE:
        changed = pattern.sub(limited, text, count=1)
        if changed != text:
            return (*case.lines[: at - 1], changed, *case.lines[at:])
    indent = text[: len(text) - len(text.lstrip())]
    if case.reading.block(at) is not None and _GO.search(text):
        client = f"{indent}client := &http.Client{{Timeout: 10 * time.Second}}"
        return (*case.lines[: at - 1], client, _GO.sub(r"client.\1(", text, count=1), *case.lines[at:])
    if case.reading.block(at) is not None and _OPENS.search(text):
        inner = case.lines[at][: len(case.lines[at]) - len(case.lines[at].lstrip())] if at < len(case.lines) else ""
        return (*case.lines[:at], f"{inner or indent}signal: AbortSignal.timeout(10_000),", *case.lines[at:])
    return None


def form(case: Case) -> Lines | None:
    """The further parameters said to be new, where the step changes the file that defines the function."""
    called, path = (*case.names, "")[:2]
    name = called.partition("(")[0]
    step = "\n".join(text for _, text in case.reading.around(case.finding.line))
    given = re.search(rf"`{re.escape(name)}\(([^()`]{{1,200}})\)", step)
    symbols = [one for one in case.known.symbols(name) if one.path == path]
    if given is None or len(symbols) != 1 or path not in step:
        return None
    signature = re.search(r"\(([^()]*)\)", symbols[0].signature)
    known = parameters_of(signature[1]) if signature else None
    new = [one for one in _in_order(given[1]) if known is not None and one[0] not in known]
    if not new:
        return None
    named = " and ".join(f"`{one}`" for one, _ in new)
    word = "parameter" if len(new) == 1 else "parameters"
    callers = "stay as they are" if all(has for _, has in new) else "pass it" if len(new) == 1 else "pass them"
    return case.add(f"`{name}` takes {named} as its new {word}; its callers of today {callers}.")


def _in_order(arguments: str) -> list[tuple[str, bool]]:
    """The names of parameters, each with whether it has a default."""
    parts = [one.partition("=") for one in arguments.split(",")]
    names = [(name.partition(":")[0].strip(), bool(default)) for name, default, _ in parts]
    return [(name, default) for name, default in names if name.isidentifier()]
