"""The commands of a task's check, taken apart into what they run (rule D4, dimension D8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from verifyplan.plans.commands import begins_like_command, is_command
from verifyplan.plans.word_lists import words

_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
_PROGRAM = re.compile(r"[a-z./~$][\w./~${}+-]*(?:\s|$)")
_SHELL = re.compile(r"\s--?[A-Za-z]|&&|\|\||\s\|\s|\s>\s?\S")
_SENTENCE = re.compile(r"\s(?:the|an?|is|are|and|that|with|should|must|all|it|no)(?=\s)|[.:]\s*$", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}'")
_LOOP = re.compile(r"(?:for\s+\w+\s+in|while|until|if)\s.*(?:;|\n)\s*(?:do|then)\b", re.DOTALL)
_HEREDOC = re.compile(r"(?<!<)<<-?\s*['\"]?(\w+)")
_CODE = re.compile(r"`([^`\n]{1,2000})`")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_OPERATOR = re.compile(r"&&|\|\||[|;&\n]")
_LEAD = re.compile(r"^(?:[-*]|\d{1,3}[.)])\s+|^(?:run|command|verify|check)\s*:\s*|^\$\s+", re.IGNORECASE)
_TEST = re.compile(r"test\s+(?:!\s+)?(?:-[a-z]\s|[$\"(\[])")
_LONGEST, _MOST_LINES = 20_000, 60


class ProgramCall(NamedTuple):
    """One program that a command runs, and the operator behind it (`&&`, `||`, `|`, `;`, `&`, or blank)."""

    text: str
    then: str

    @property
    def words(self) -> list[str]:
        """The program and its arguments, without assignments before it."""
        found = self.text.split()
        while found and (_ASSIGNMENT.fullmatch(found[0]) or found[0] in ("sudo", "!", "(", "{", "time", "env")):
            found = found[1:]
        return found

    @property
    def program(self) -> str:
        """The name of the program, without its folders; blank if there is none."""
        return self.words[0].rpartition("/")[2].lstrip("(") if self.words else ""


def commands_in(text: str, *, stated: bool = False) -> list[str]:
    """The commands that a check holds: lines that begin as one does, lines of code, and code within prose.

    A quotation that is open at the end of a line goes on in the next. Prose has none. `stated` is for the text of an
    element that holds commands by its name: there every line is one that does not read as a sentence.

    >>> commands_in("Run: `cd app && pytest -q`"), commands_in("npm test"), commands_in("Look whether it works")
    (['cd app && pytest -q'], ['npm test'], [])
    >>> commands_in("./check-all x", stated=True), commands_in("MISSING: no test yet", stated=True)
    (['./check-all x'], [])
    """
    found: list[str] = []
    fence = ""
    for line in _logical(text[:_LONGEST]):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            continue
        bare = _LEAD.sub("", _LEAD.sub("", line.strip()))
        if not bare or bare.startswith("#"):
            continue
        if fence or _is_command(bare) or (stated and _PROGRAM.match(bare)):
            found.append(bare)
        else:
            found += [code for code in _CODE.findall(bare) if _is_command(code) or is_command(code, said_to_run=True)]
    return found


def program_calls(command: str) -> list[ProgramCall]:
    """The programs that a command runs, one after the other; what is quoted is not taken apart.

    >>> [(run.program, run.then) for run in program_calls("cd app && grep -q 'a | b' x.py || echo no")]
    [('cd', '&&'), ('grep', '||'), ('echo', '')]
    """
    found, start = [], 0
    for place, operator in _scan(command)[0]:
        found.append(ProgramCall(command[start:place].strip(), operator.strip() or ";"))
        start = place + len(operator)
    found.append(ProgramCall(command[start:].strip(), ""))
    return [run for run in found if run.text]


def _is_command(line: str) -> bool:
    if begins_like_command(line):
        return True
    first, _, rest = line.partition(" ")
    if _LOOP.match(line):
        return True
    if first == "!":
        return _is_command(rest.lstrip())
    if first == "set":
        return rest.startswith("-")
    if first == "test":
        return _TEST.match(line) is not None
    return first in words("plan_check", "unmistakable") or _is_shell(line)


def _is_shell(line: str) -> bool:
    """Whether a line of no known program is one of shell by its form: a program, options or operators, no sentence."""
    bare = _QUOTED.sub(" ", line)
    return bool(_PROGRAM.match(line) and _SHELL.search(bare)) and _SENTENCE.search(bare) is None


def _logical(text: str) -> Iterator[str]:
    """Lines, joined where a backslash ends them or a quotation is open; one that never closes opens nothing."""
    lines, at = text.splitlines(), 0
    while at < len(lines):
        taken = _length(lines[at : at + _MOST_LINES])
        yield "\n".join(lines[at : at + taken])
        at += taken


def _length(lines: Sequence[str]) -> int:
    """How many lines make one; a fence's backticks quote nothing."""
    if _FENCE.match(lines[0]):
        return 1
    if heredoc := _HEREDOC.search(lines[0]):
        ends = (at for at, line in enumerate(lines[1:], 2) if line.strip() == heredoc[1])
        return next(ends, 1)
    opened = ""
    for taken, line in enumerate(lines, 1):
        _, opened = _scan(line, opened)
        if not opened and not line.endswith("\\"):
            return taken
    return 1


def _scan(text: str, opened: str = "") -> tuple[list[tuple[int, str]], str]:
    """The operators outside quotations with their places, and the quotation mark that is open at the end.

    An apostrophe within a word opens nothing.
    """
    found: list[tuple[int, str]] = []
    at = 0
    while at < len(text):
        letter = text[at]
        if letter == "\\" and opened != "'":
            at += 2
            continue
        if letter in "\"'`" and opened in ("", letter) and not _is_apostrophe(text, at, opened):
            opened = "" if opened else letter
        elif not opened and (matched := _OPERATOR.match(text, at)):
            if not _redirects(text, at):
                found.append((at, matched[0]))
            at = matched.end()
            continue
        at += 1
    return found, opened


def _is_apostrophe(text: str, at: int, opened: str) -> bool:
    return text[at] == "'" and not opened and text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()


def _redirects(text: str, at: int) -> bool:
    """Whether an ampersand belongs to a redirection, as in `2>&1` and `&>`."""
    return text[at] == "&" and (text[at - 1 : at] == ">" or text[at + 1 : at + 2] == ">")
