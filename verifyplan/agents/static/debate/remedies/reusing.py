"""What the plan makes anew although it is there, and what it says is not there although it is."""

from __future__ import annotations

import re

from verifyplan.agents.static.debate.page import Lines, replace_sentence
from verifyplan.agents.static.debate.remedies.case import Case

_USES = re.compile(r"^Use `([^`]+)` of `([^`]+)`, or say why it does not fit\.$")
_CALLS = re.compile(r"^Call `([^`]+)` from it, or say why it does not fit\.$")
_RUNS = re.compile(r"^(\S+):(\d{1,8}) runs the same command already\.$")
_ARM = re.compile(r"^\s*\(?([\w-]+)\)")
_ANEW = re.compile(r"\b(create|new|write|scaffold|introduce)(?:s|ing)?\b", re.IGNORECASE)
_TESTED = re.compile(r"^(\S+):\d{1,8} tests it\.$")


def reuse(case: Case) -> Lines | None:
    """What is there is called by what is new; a command of a new script becomes a call of the script.

    What calls one twin already is left: which of two it stands in for is for a person to say.
    """
    uses, calls = _USES.search(case.finding.alternative), _CALLS.search(case.finding.alternative)
    if uses is not None and f"`{case.names[0]}` calls `" in " ".join(case.lines):
        return None
    if uses is not None:
        said = f"`{case.names[0]}` calls `{uses[1]}` of `{uses[2]}` to do so; what that lacks is added there."
        return case.add(said)
    if calls is not None:
        return _called(case, calls[1])
    return None


def _called(case: Case, script: str) -> Lines | None:
    """The line of the plan's script that repeats a command, replaced by a call of the word that runs it already."""
    runs, at = _RUNS.search(case.finding.concern), case.finding.line
    block = case.reading.block(at)
    if runs is None or block is None:
        return None
    lines = case.scene.tools.read(script).lines[: int(runs[2])]
    arm = next((found[1] for line in reversed(lines) if (found := _ARM.match(line))), None)
    text = case.lines[at - 1]
    if arm is None or '"$1"' not in text:
        return None
    call = f'{text[: len(text) - len(text.lstrip())]}{script} {arm} "$1"'
    return (*case.lines[: at - 1], call, *case.lines[at:])


def extend(case: Case) -> Lines | None:
    """The file is extended rather than created, and what it holds stays."""
    name = case.names[0]
    sentence = case.reading.sentence(case.finding.line, name)
    before, _, after = sentence.text.partition(name)
    anew = list(_ANEW.finditer(before))
    if not anew or not after:
        return None
    word = "Extend" if anew[-1][1][0].isupper() else "extend"
    said = f"{before[: anew[-1].start()]}{word}{before[anew[-1].end() :]}{name}{after}"
    return replace_sentence(
        case.lines, sentence.first, sentence.last, sentence.text, f"{said} What it holds today stays."
    )


def correct(case: Case) -> Lines | None:
    """A sentence that says that something has no test, replaced by one that names the test.

    Other statements that do not hold are left: what the plan concludes from them is for a person to decide.
    """
    tested = _TESTED.search(case.finding.concern)
    sentence = case.reading.sentence(case.finding.line, case.names[0])
    if tested is None or case.names[0] not in sentence.text:
        return None
    mark = re.match(r"(?:[-*+]|\d{1,3}[.)])\s+", sentence.text)
    head = mark.group() if mark else ""
    said = f"{head}`{tested[1]}` tests it today, and its tests stay."
    return replace_sentence(case.lines, sentence.first, sentence.last, sentence.text, said)
