"""References of a plan: the files, symbols, commands and packages it names, and what it does with each (rule G2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from verifyplan.plans.code_names import (
    MarkedName,
    is_certain,
    is_glob,
    is_path,
    is_variable,
    known_extension,
    spans,
    symbol_name,
    without_place,
)
from verifyplan.plans.commands import PACKAGE, begins_like_command, is_command, packages, shell_commands
from verifyplan.plans.intents import creates_files, intent_of
from verifyplan.plans.markdown import TextBlock
from verifyplan.plans.prose import PreparedText, XmlElement, first_within
from verifyplan.plans.values import MAX_QUOTE_CHARACTERS, CodeBlock, Intent, LineNumbers, LineRanges, Reference, RefKind
from verifyplan.plans.word_lists import words

MAX_REFERENCES = 1_500
"""No more references are read: no plan has so many, and a hostile text would."""

_MAX_NOTES = 20
_SAID_TO_RUN = re.compile(r"\b(?:run|running|execute|executing|command)\b[^.\0]{0,20}$", re.IGNORECASE)
_NOUN_BEHIND = re.compile(r"^[*_\s,/\0]*(?:(?:and|or)[\s\0]+)?([A-Za-z]+)")
_NOUN_BEFORE = re.compile(r"([A-Za-z]+)[*_:\s,(/\0]*$")
_NEXT_WORD = re.compile(r"[*_\s]*([A-Za-z]+)")
_WORDS = re.compile(r"[A-Za-z]+")


def references_of(
    lines: Sequence[str], prepared: PreparedText, texts: Iterable[TextBlock]
) -> tuple[list[Reference], list[str]]:
    """Return the references of a plan by line, each mention once a line, and notes on paths that name no one file."""
    marked = [(text, *spans(text.content)) for text in texts]
    reader = _ReferenceReader(lines, _certain_folders(prepared, [span for _, names, _ in marked for span in names]))
    reader.frontmatter(prepared.frontmatter, prepared.body)
    names = [element for element in prepared.elements if element.name == "name"]
    tasks = ((task, first_within(task, names)) for task in prepared.elements if task.name == "task")
    creating = LineRanges((task.first, task.last) for task, name in tasks if name and creates_files(name.text))
    for element in prepared.elements:
        reader.element(element, "create" if element.first in creating else "change")
    for block in prepared.blocks:
        for command, line in shell_commands(block):
            reader.command(command, line)
    for text, names_in_text, plain in marked:
        if not reader.full:
            reader.text(text, names_in_text, plain)
    notes = list(reader.notes)
    if reader.full:
        notes.insert(0, f"the plan names more than {MAX_REFERENCES:,} things; the rest is not read")
    hidden = len(notes) - _MAX_NOTES
    notes = [*notes[:_MAX_NOTES], *([f"and {hidden} more paths that stand for no one file"] if hidden > 0 else [])]
    return sorted(reader.references.values(), key=lambda reference: reference.line), notes


def _certain_folders(prepared: PreparedText, marked: Iterable[MarkedName]) -> set[str]:
    """First folders of the paths that are certain, so that `cmd/tool` is one where the plan names `cmd/main.go`."""
    names = [name for span in marked if "/" in (name := without_place(span.text))]
    listed = prepared.frontmatter.get("files_modified")
    names += [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    certain = (name.removeprefix("./") for name in names if known_extension(name) and is_path(name))
    return {name.partition("/")[0] for name in certain if not name.startswith(("/", ".."))}


class _ReferenceReader:
    """Collects references, up to their limit; `folders` are first folders of paths that are certain."""

    def __init__(self, lines: Sequence[str], folders: set[str]) -> None:
        self.references: dict[tuple[RefKind, str, Intent, int], Reference] = {}
        self.notes: dict[str, None] = {}
        self._lines, self._folders = lines, folders

    @property
    def full(self) -> bool:
        return len(self.references) >= MAX_REFERENCES

    def add(self, kind: RefKind, name: str, intent: Intent, line: int) -> None:
        if not self.full:
            quoted = self._lines[line - 1].strip()[:MAX_QUOTE_CHARACTERS] if 1 <= line <= len(self._lines) else ""
            self.references.setdefault((kind, name, intent, line), Reference(kind, name, intent, line, quoted))

    def command(self, command: str, line: int) -> None:
        self.add("command", command, "use", line)
        for name, intent in packages(command):
            self.add("package", name, intent, line)

    def frontmatter(self, values: dict[str, Any], body: int) -> None:
        """Read the files that the frontmatter says are modified, and the artifacts that must exist.

        Each is on the next line of the frontmatter that holds its name, after that of the one before; else on line 1.
        """
        listed, must = values.get("files_modified"), values.get("must_haves")
        artifacts = must.get("artifacts") if isinstance(must, dict) else None
        paths = [a.get("path") for a in artifacts if isinstance(a, dict)] if isinstance(artifacts, list) else []
        named: list[tuple[Any, Intent]] = [(name, "change") for name in (listed if isinstance(listed, list) else [])]
        named += [(name, "use") for name in paths]
        start = next((n for n, line in enumerate(self._lines[:body], 1) if line.strip() == "artifacts:"), 0)
        last: dict[Intent, int] = {"use": start}
        for name, intent in named:
            if isinstance(name, str) and is_path(name.strip(), self._folders):
                following = range(last.get(intent, 0) + 1, body)
                last[intent] = next((n for n in following if name in self._lines[n - 1]), 1)
                self.add("file", without_place(name.strip()), intent, last[intent])

    def element(self, element: XmlElement, intent: Intent) -> None:
        """Read the files that a task lists, and the commands that check it."""
        if element.name == "files":
            for offset, line in enumerate(element.text.split("\n")):
                for part in re.split(r"[,;]\s*|\s+", line.strip()):
                    name = without_place(part.strip("`*-\"'"))
                    if is_path(name, self._folders) or known_extension(name):
                        self.add("file", name, intent, element.first + offset)
        elif element.name in ("verify", "automated"):
            text = element.text.strip("\n")
            if element.depth and begins_like_command(text.strip()):
                blank = len(element.text) - len(element.text.lstrip("\n"))
                block = CodeBlock("sh", element.first + blank - 1, element.last, text)
                for command, number in shell_commands(block):
                    self.command(command, number)

    def text(self, text: TextBlock, marked: Sequence[MarkedName], plain: str) -> None:
        """Read the marked names of a text; `plain` is the text with all of them hidden."""
        numbers = LineNumbers(text.content, text.first)
        for span in marked[: MAX_REFERENCES - len(self.references)]:
            line = min(numbers.at(span.start), text.last)
            kind, name = self._kind(text, span, plain)
            if kind == "command":
                self.command(name, line)
            elif kind is not None:
                to_read_first = text.content.startswith("@", span.start)  # as in "@docs/a.md"
                self.add(kind, name, "use" if to_read_first else intent_of(text, span, plain), line)
            elif name:
                self.notes[f"line {line}: {name[:80]} stands for no one file"] = None

    def _kind(self, text: TextBlock, span: MarkedName, plain: str) -> tuple[RefKind | None, str]:
        """Return the kind of a marked name, and the name; a name without a kind is a path that names no one file."""
        name = without_place(span.text.strip().lstrip("@") if span.mark == "bare" else span.text.strip())
        if span.mark == "code":
            before, after = plain[max(0, span.start - 60) : span.start], plain[span.end : span.end + 40]
            if is_command(span.text, _SAID_TO_RUN.search(before) is not None):
                return "command", span.text
            if _is_package(name, before, after):
                return "package", name
        extension = known_extension(name)
        if is_path(name, self._folders) and (span.mark == "code" or "/" in name or extension):
            return ("file", name) if extension or span.mark not in ("bare", "bold") else (None, "")
        if span.mark == "code" and (is_glob(name) or is_variable(name)) and "://" not in name:
            return None, name
        symbol = symbol_name(span.text) if span.mark == "code" else ""
        return ("symbol", symbol) if symbol and _is_symbol(text, span, plain) else (None, "")


def _is_symbol(text: TextBlock, span: MarkedName, plain: str) -> bool:
    """Return whether a name is code by the nouns around it: in "`timeout_ms` setting" it is a key, not a symbol.

    The nouns are right behind or before it, over its column, or in the label above its list. A call or a declaration is
    code whatever they say.
    """
    if is_certain(span.text):
        return True
    nouns = _NOUN_BEHIND.findall(plain[span.end : span.end + 40])[:1]
    nouns += _NOUN_BEFORE.findall(plain[max(0, span.start - 40) : span.start])
    labels = [text.column, *(label for label in text.above if "`" not in label and label.rstrip(" *_").endswith(":"))]
    nouns += [word for label in labels for word in _WORDS.findall(label)]
    return not {noun.lower() for noun in nouns} & words("symbols", "not_followed_by")


def _is_package(name: str, before: str, after: str) -> bool:
    """Return whether the words around a name call it a package: "the dependency `x`", "the `x` library"."""
    nouns = words("commands", "nouns")
    following = _NEXT_WORD.match(after)
    preceding = _WORDS.findall(before)[-1:]
    near = re.search(r"[A-Za-z][*_\s]{0,4}$", before) is not None
    named = (following and following[1].lower() in nouns) or (near and preceding and preceding[0].lower() in nouns)
    return bool(named) and PACKAGE.fullmatch(name) is not None and not known_extension(name)
