"""The commands of a task's check, taken apart into the programs that they call (rule D4, dimension D8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from verifyplan.plans.commands import ASSIGNMENT, begins_like_command, is_command
from verifyplan.plans.word_lists import words

_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
_PROGRAM = re.compile(r"[a-z./~$][\w./~${}+-]*(?:\s|$)")
_SHELL = re.compile(r"\s--?[A-Za-z]|&&|\|\||\s\|\s|\s>\s?\S")
_SENTENCE = re.compile(r"\s(?:the|an?|is|are|and|that|with|should|must|all|it|no)(?=\s)|[.:]\s*$", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}'")
_LOOP = re.compile(r"(?:for\s+\w+\s+in|while|until|if)\s.*(?:;|\n)\s*(?:do|then)\b", re.DOTALL)
_HEREDOC = re.compile(r"(?<!<)<<-?\s*['\"]?(\w+)")
_CODE = re.compile(r"`([^`\n]{1,2000})`")
_OPERATOR = re.compile(r"&&|\|\||[|;&\n]")
_LEAD = re.compile(r"^(?:[-*]|\d{1,3}[.)])\s+|^(?:run|command|verify|check)\s*:\s*|^\$\s+", re.IGNORECASE)
_TEST = re.compile(r"test\s+(?:!\s+)?(?:-[a-z]\s|[$\"(\[])")
_PREFIXES = ("sudo", "!", "(", "{", "time", "env")
_MAX_CHARACTERS, _MAX_COMMAND_LINES = 20_000, 60


class ProgramCall(NamedTuple):
    """One program that a command calls, and the operator behind it (`&&`, `||`, `|`, `;`, `&`, or blank)."""

    text: str
    then: str

    @property
    def words(self) -> list[str]:
        """The program and its arguments, without assignments before it."""
        parts = self.text.split()
        while parts and (ASSIGNMENT.fullmatch(parts[0]) or parts[0] in _PREFIXES):
            parts = parts[1:]
        return parts

    @property
    def program(self) -> str:
        """The name of the program, without its folders; blank if there is none."""
        return self.words[0].rpartition("/")[2].lstrip("(") if self.words else ""


def commands_in(text: str, *, stated: bool = False) -> list[str]:
    """Return the commands of a check: lines that begin as one does, lines of code, and code within prose.

    A quotation that is open at the end of a line goes on in the next. Prose has none. `stated` is for the text of an
    element that holds commands by its name: there every line is one that does not read as a sentence.

    >>> commands_in("Run: `cd app && pytest -q`"), commands_in("npm test"), commands_in("Look whether it works")
    (['cd app && pytest -q'], ['npm test'], [])
    >>> commands_in("./check-all x", stated=True), commands_in("MISSING: no test yet", stated=True)
    (['./check-all x'], [])
    """
    commands: list[str] = []
    fence = ""
    for line in _joined_lines(text[:_MAX_CHARACTERS]):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            continue
        bare = _LEAD.sub("", _LEAD.sub("", line.strip()))
        if not bare or bare.startswith("#"):
            continue
        if fence or _is_command_line(bare) or (stated and _PROGRAM.match(bare)):
            commands.append(bare)
        else:
            in_prose = _CODE.findall(bare)
            commands += [code for code in in_prose if _is_command_line(code) or is_command(code, said_to_run=True)]
    return commands


def program_calls(command: str) -> list[ProgramCall]:
    """Return the programs that a command calls, one after the other; quoted text is not taken apart.

    >>> [(call.program, call.then) for call in program_calls("cd app && grep -q 'a | b' x.py || echo no")]
    [('cd', '&&'), ('grep', '||'), ('echo', '')]
    """
    calls, start = [], 0
    for place, operator in _scan(command)[0]:
        calls.append(ProgramCall(command[start:place].strip(), operator.strip() or ";"))
        start = place + len(operator)
    calls.append(ProgramCall(command[start:].strip(), ""))
    return [call for call in calls if call.text]


def _is_command_line(line: str) -> bool:
    """Whether a line is a command: by its program, or in form (a program, options or operators, no sentence)."""
    if begins_like_command(line) or _LOOP.match(line):
        return True
    first, _, rest = line.partition(" ")
    if first == "!":
        return _is_command_line(rest.lstrip())
    if first == "set":
        return rest.startswith("-")
    if first == "test":
        return _TEST.match(line) is not None
    bare = _QUOTED.sub(" ", line)
    formed = bool(_PROGRAM.match(line) and _SHELL.search(bare)) and _SENTENCE.search(bare) is None
    return formed or first in words("plan_check", "unmistakable")


def _joined_lines(text: str) -> Iterator[str]:
    """Lines, joined where a backslash ends them or a quotation is open; one that never closes opens nothing."""
    lines, at = text.splitlines(), 0
    while at < len(lines):
        count = _command_lines(lines[at : at + _MAX_COMMAND_LINES])
        yield "\n".join(lines[at : at + count])
        at += count


def _command_lines(lines: Sequence[str]) -> int:
    """How many lines make one; a fence's backticks quote nothing."""
    if _FENCE.match(lines[0]):
        return 1
    if heredoc := _HEREDOC.search(lines[0]):
        ends = (at for at, line in enumerate(lines[1:], 2) if line.strip() == heredoc[1])
        return next(ends, 1)
    opened = ""
    for count, line in enumerate(lines, 1):
        _, opened = _scan(line, opened)
        if not opened and not line.endswith("\\"):
            return count
    return 1


def _scan(text: str, opened: str = "") -> tuple[list[tuple[int, str]], str]:
    """The operators outside quotations with their places, and the quotation mark that is open at the end.

    An apostrophe within a word opens nothing; an ampersand of a redirection, as in `2>&1` and `&>`, is not an operator.
    """
    operators: list[tuple[int, str]] = []
    at = 0
    while at < len(text):
        letter, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
        if letter == "\\" and opened != "'":
            at += 2
            continue
        apostrophe = letter == "'" and not opened and before.isalpha() and after.isalpha()
        if letter in "\"'`" and opened in ("", letter) and not apostrophe:
            opened = "" if opened else letter
        elif not opened and (matched := _OPERATOR.match(text, at)):
            if letter != "&" or ">" not in (before, after):
                operators.append((at, matched[0]))
            at = matched.end()
            continue
        at += 1
    return operators, opened
