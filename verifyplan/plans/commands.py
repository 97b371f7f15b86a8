"""Commands that a plan runs, whether they write, and the packages that they install."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verifyplan.plans.values import CodeBlock, Intent
from verifyplan.plans.word_lists import table, words

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
PACKAGE = re.compile(r"@?[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*", re.ASCII)

_PROMPT = re.compile(r"(?:\([\w.-]+\)\s*)?(?:[\w.@:~/-]*[$%]|>)\s+")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_VERSION = re.compile(r"(?:\[[^\]]*\])?(?:[=<>!~^].*|(?<=.)@[^/]*)?$")
_JOIN = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")
_TEMPLATE = re.compile(r"\$\{\{[^{}]{0,200}\}\}")
_COMMENT = re.compile(r"(?<=[^\s\"'`])\s+#(?=\s)[^\"'`]*$")
_HARMLESS_REDIRECTION = re.compile(r"\d?>&\d|[\d&]?>\s*/dev/null")
_PARTS = re.compile(r"[;&|\n]+")
_MAX_COMMAND_LINES, _MAX_COMMAND_CHARACTERS = 60, 2_000
_PACKAGE_COMMANDS: tuple[tuple[str, Intent], ...] = (("installers", "create"), ("removers", "delete"))


def is_command(code: str, said_to_run: bool = False) -> bool:
    """Return whether inline code is a command; `said_to_run` where the words before it say to run it.

    >>> is_command("npm test"), is_command("git"), is_command("pytest"), is_command("make"), is_command("src/a.py")
    (True, False, True, False, False)
    """
    first, _, rest = code.partition(" ")
    known = first.rpartition("/")[2] in words("commands", "runners") and (first.startswith(".") or "/" not in first)
    if said_to_run and (rest.strip() or first.startswith(("./", "../")) or known):
        return True
    return known and (bool(rest.strip()) or (first in words("commands", "alone") and first != "make"))


def begins_like_command(line: str) -> bool:
    """Return whether a line that may be prose begins as a command does."""
    first, _, rest = line.strip().partition(" ")
    first = first.removeprefix("$").strip()
    if first in words("commands", "shell"):
        return bool(rest) and not rest[:1].isupper()
    return is_command(line.strip()) or first.startswith(("./", "../")) or bool(ASSIGNMENT.fullmatch(first))


def shell_commands(block: CodeBlock) -> Iterator[tuple[str, int]]:
    """Yield each command of a shell fence, prompt stripped, and its line; other fences have none.

    Where a line of the fence has the prompt `$`, lines without one are output. Lines that go on (a backslash, an
    open quotation, a here-document) are one command.
    """
    if block.language not in words("commands", "languages"):
        return
    lines = block.text.split("\n")
    prompted = any(line.lstrip().startswith("$ ") for line in lines)
    at = 0
    while at < len(lines):
        count = _command_lines(lines, at)
        line, number = lines[at].strip(), block.first + 1 + at
        command = "\n".join([line, *lines[at + 1 : at + count]])[:_MAX_COMMAND_CHARACTERS]
        at += count
        if prompted and not line.startswith("$ "):
            continue
        command = _PROMPT.sub("", command, count=1) if _PROMPT.match(command) else command
        command = _COMMENT.sub("", command) if count == 1 else command
        if command and not command.startswith("#") and command.split()[0] not in words("commands", "keywords"):
            yield command, number


def _command_lines(lines: Sequence[str], at: int) -> int:
    """Return how many lines the command has that begins at `at`."""
    heredoc = _HEREDOC.search(lines[at])
    quotes = _open_quotes(lines[at], "")
    most = min(_MAX_COMMAND_LINES, len(lines) - at)
    for count in range(1, most):
        if heredoc and "<<<" not in lines[at]:
            if lines[at + count].strip() == heredoc[1]:
                return count + 1
        elif not quotes and not lines[at + count - 1].rstrip().endswith("\\"):
            return count
        else:
            quotes = _open_quotes(lines[at + count], quotes)
    return most if not quotes and not heredoc else 1


def _open_quotes(line: str, opened: str) -> str:
    """Return the quotation mark that is open at the end of a line; an apostrophe in a comment opens nothing."""
    skip = False
    for place, letter in enumerate(line):
        if skip:
            skip = False
        elif letter == "\\" and opened != "'":
            skip = True
        elif not opened and letter == "#" and (place == 0 or line[place - 1] == " "):
            return ""
        elif letter in "\"'" and opened in ("", letter):
            opened = "" if opened else letter
    return opened


def writes(command: str) -> bool:
    """Return whether a command may change anything: any may that is not known to read only, or redirects to a file.

    >>> [writes(line) for line in ("pytest -q", "git log | head", "rm -rf build", "echo 1 > a", "ruff check --fix")]
    [False, False, True, True, True]
    """
    plain = _HARMLESS_REDIRECTION.sub(" ", command)
    if ">" in plain or "`" in plain or "$(" in plain:
        return True
    for part in _PARTS.split(plain):
        named = [word for word in part.split() if not ASSIGNMENT.fullmatch(word)]
        reads = any(" ".join(named[:length]) in table("commands")["reading"] for length in (1, 2, 3))
        flags = {word.partition("=")[0] for word in named}
        if named and (not reads or words("commands", "writing_flags") & flags):
            return True
    return False


def packages(command: str) -> Iterator[tuple[str, Intent]]:
    """Yield the packages that a command installs or removes, versions stripped; paths, files and URLs do not count.

    >>> list(packages("cd app && npm install -D @types/node@20 lodash"))
    [('@types/node', 'create'), ('lodash', 'create')]
    >>> list(packages("pip install 'httpx[http2]>=0.27' -r dev.txt")), list(packages("npm remove ws"))
    ([('httpx', 'create')], [('ws', 'delete')])
    """
    for part in _JOIN.split(_TEMPLATE.sub("$", command.split("\n")[0])):
        called = part.split()
        while called and (called[0] == "sudo" or ASSIGNMENT.fullmatch(called[0])):
            called = called[1:]
        if called[:2] in (["python", "-m"], ["python3", "-m"]):
            called = called[2:]
        for kind, intent in _PACKAGE_COMMANDS:
            prefix = next((p for p in table("commands")[kind] if called[: len(p)] == p), None)
            if prefix is not None:
                yield from ((name, intent) for name in _package_names(called[len(prefix) :]))


def _package_names(arguments: Sequence[str]) -> Iterator[str]:
    skip = False
    for argument in arguments:
        if skip or argument.startswith("-"):
            skip = not skip and argument in words("commands", "flags_with_value")
            continue
        bare = argument.strip("\"'`")
        name = _VERSION.sub("", bare) or bare
        local = bare.startswith((".", "/", "~", "$")) or "://" in bare or bare.endswith((".txt", ".whl", ".tgz", ".gz"))
        if not local and PACKAGE.fullmatch(name):
            yield name
