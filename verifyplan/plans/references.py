"""What a plan names outside itself: files, symbols, commands, packages, each with what it does with it (rule G2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from verifyplan.plans import code_names as paths
from verifyplan.plans import code_names as symbols
from verifyplan.plans import commands
from verifyplan.plans.code_names import LineNumbers, Span, spans
from verifyplan.plans.intents import creates_files, intent_of
from verifyplan.plans.markdown import Text
from verifyplan.plans.markup import Element, first_within
from verifyplan.plans.prose import PreparedText
from verifyplan.plans.values import (
    MAX_QUOTE_CHARACTERS,
    CodeBlock,
    Intent,
    LineRanges,
    Reference,
    RefKind,
)
from verifyplan.plans.word_lists import words

_RUN = re.compile(r"\b(?:run|running|execute|executing|command)\b[^.\0]{0,20}$", re.IGNORECASE)
_PACKAGE = re.compile(r"@?[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*", re.ASCII)
_NEXT = re.compile(r"^[*_\s,/\0]*(?:(?:and|or)[\s\0]+)?([A-Za-z]+)")
_LAST = re.compile(r"([A-Za-z]+)[*_:\s,(/\0]*$")
_FOLLOWING = re.compile(r"[*_\s]*([A-Za-z]+)")
_WORDS = re.compile(r"[A-Za-z]+")
_MOST_NOTES = 20

MAX_REFERENCES = 1_500
"""No more references are read: no plan has so many, and a hostile text would."""


class References:
    """Collects the references of one plan, in the order of its lines, each mention once a line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._found: dict[tuple[RefKind, str, Intent, int], Reference] = {}
        self._notes: dict[str, None] = {}
        self._folders: set[str] = set()

    def of(self, prepared: PreparedText, texts: Iterable[Text]) -> tuple[list[Reference], list[str]]:
        """All references of a prepared document, and notes on paths that stand for no one file."""
        marked = [(text, *spans(text.content)) for text in texts]
        self._folders = _folders(prepared, [span for _, found, _ in marked for span in found])
        self._frontmatter(prepared.frontmatter, prepared.body)
        tasks = [element for element in prepared.elements if element.name == "task"]
        creating = _creating(tasks, [element for element in prepared.elements if element.name == "name"])
        for element in prepared.elements:
            self._element(element, "create" if element.first in creating else "change")
        for block in prepared.blocks:
            self._fence(block)
        for text, found, plain in marked:
            if len(self._found) >= MAX_REFERENCES:
                break
            self._text(text, found, plain)
        notes = list(self._notes)
        if len(self._found) >= MAX_REFERENCES:
            notes.insert(0, f"the plan names more than {MAX_REFERENCES:,} things; the rest is not read")
        hidden = len(notes) - _MOST_NOTES
        notes = [*notes[:_MOST_NOTES], *([f"and {hidden} more paths that stand for no one file"] if hidden > 0 else [])]
        return sorted(self._found.values(), key=lambda reference: reference.line), notes

    def _add(self, kind: RefKind, name: str, intent: Intent, line: int) -> None:
        if len(self._found) >= MAX_REFERENCES:
            return
        quoted = self._lines[line - 1].strip()[:MAX_QUOTE_CHARACTERS] if 1 <= line <= len(self._lines) else ""
        self._found.setdefault((kind, name, intent, line), Reference(kind, name, intent, line, quoted))

    def _frontmatter(self, values: dict[str, Any], body: int) -> None:
        """Files that the frontmatter says are modified, and those it counts on to be there."""
        listed = values.get("files_modified")
        must = values.get("must_haves")
        artifacts = must.get("artifacts") if isinstance(must, dict) else None
        artifacts = [a.get("path") for a in artifacts if isinstance(a, dict)] if isinstance(artifacts, list) else []
        named: list[tuple[Any, Intent]] = [(name, "change") for name in (listed if isinstance(listed, list) else [])]
        named += [(name, "use") for name in artifacts]
        start = next((n for n, line in enumerate(self._lines[:body], 1) if line.strip() == "artifacts:"), 0)
        at: dict[Intent, int] = {"use": start}
        for name, intent in named:
            if isinstance(name, str) and self._is_path(name.strip()):
                at[intent] = self._line_of(name, at.get(intent, 0), body)
                self._add("file", paths.without_place(name.strip()), intent, at[intent])

    def _line_of(self, name: str, after: int, body: int) -> int:
        """The next line of the frontmatter that holds a name; any such line, or the first, where none follows."""
        held = (number for number in range(after + 1, body) if name in self._lines[number - 1])
        return next(held, 1)

    def _element(self, element: Element, intent: Intent) -> None:
        """The files that a task lists, and the commands that check it."""
        if element.name == "files":
            for offset, line in enumerate(element.text.split("\n")):
                for part in re.split(r"[,;]\s*|\s+", line.strip()):
                    name = paths.without_place(part.strip("`*-\"'"))
                    if self._is_path(name) or paths.known_extension(name):
                        self._add("file", name, intent, element.first + offset)
        elif element.name in ("verify", "automated"):
            text = element.text.strip("\n")
            if element.depth and commands.begins_like_command(text.strip()):
                blank = len(element.text) - len(element.text.lstrip("\n"))
                self._fence(CodeBlock("sh", element.first + blank - 1, element.last, text))

    def _fence(self, block: CodeBlock) -> None:
        for command, line in commands.shell_commands(block):
            self._command(command, line)

    def _command(self, command: str, line: int) -> None:
        self._add("command", command, "use", line)
        for name, intent in commands.packages(command):
            self._add("package", name, intent, line)

    def _text(self, text: Text, found: list[Span], plain: str) -> None:
        at = LineNumbers(text.content, text.first)
        for span in found[: MAX_REFERENCES - len(self._found)]:
            line = min(at.at(span.start), text.last)
            kind, name = self._kind(text, span, plain)
            if kind == "command":
                self._command(name, line)
            elif kind is not None:
                context = text.content.startswith("@", span.start)  # "@docs/a.md": to be read before all else
                self._add(kind, name, "use" if context else intent_of(text, span, plain), line)
            elif name:
                self._notes[f"line {line}: {name[:80]} stands for no one file"] = None

    def _kind(self, text: Text, span: Span, plain: str) -> tuple[RefKind | None, str]:
        """What a marked name is; a name without a kind is a path that stands for no one file."""
        name = paths.without_place(span.text.strip().lstrip("@") if span.mark == "bare" else span.text.strip())
        if span.mark == "code":
            before, after = plain[max(0, span.start - 60) : span.start], plain[span.end : span.end + 40]
            if commands.is_command(span.text, _RUN.search(before) is not None):
                return "command", span.text
            if _is_package(name, before, after):
                return "package", name
        if self._is_path(name) and (span.mark == "code" or "/" in name or paths.known_extension(name)):
            bare = span.mark in ("bare", "bold") and not paths.known_extension(name)
            return (None, "") if bare else ("file", name)
        if span.mark == "code" and (paths.is_glob(name) or paths.is_variable(name)) and "://" not in name:
            return None, name
        symbol = symbols.symbol_name(span.text) if span.mark == "code" else ""
        return ("symbol", symbol) if symbol and _is_code(text, span, plain) else (None, "")

    def _is_path(self, name: str) -> bool:
        return paths.is_path(name, self._folders)


def _is_code(text: Text, span: Span, plain: str) -> bool:
    """Whether a name is code, as far as the nouns around it tell: `timeout_ms` setting is a key, not a symbol.

    They stand right behind or before it, over its column, or in the label above its list. A call or a
    declaration is code whatever they say.
    """
    if symbols.is_certain(span.text):
        return True
    nouns = _NEXT.findall(plain[span.end : span.end + 40])[:1]
    nouns += _LAST.findall(plain[max(0, span.start - 40) : span.start])
    labels = [text.column, *(label for label in text.above if "`" not in label and label.rstrip(" *_").endswith(":"))]
    nouns += [word for label in labels for word in _WORDS.findall(label)]
    return not {noun.lower() for noun in nouns} & words("symbols", "not_followed_by")


def _is_package(name: str, before: str, after: str) -> bool:
    """Whether the words around a name call it a package: "the dependency `x`", "the `x` library"."""
    nouns = words("commands", "nouns")
    following = _FOLLOWING.match(after)
    preceding = re.findall(r"[A-Za-z]+", before)[-1:]
    near = re.search(r"[A-Za-z][*_\s]{0,4}$", before) is not None
    named = (following and following[1].lower() in nouns) or (near and preceding and preceding[0].lower() in nouns)
    return bool(named) and _PACKAGE.fullmatch(name) is not None and not paths.known_extension(name)


def _folders(prepared: PreparedText, found: Iterable[Span]) -> set[str]:
    """First folders of the paths that are certain, so that `cmd/tool` is one where `cmd/main.go` stands."""
    names = [name for span in found for name in [paths.without_place(span.text)] if "/" in name]
    listed = prepared.frontmatter.get("files_modified")
    names += [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    certain = (name.removeprefix("./") for name in names if paths.known_extension(name) and paths.is_path(name))
    return {name.partition("/")[0] for name in certain if not name.startswith(("/", ".."))}


def _creating(tasks: Iterable[Element], names: Sequence[Element]) -> LineRanges:
    """The lines of the tasks that create the files they list: their names begin so and speak of no change."""
    named = ((task, first_within(task, names)) for task in tasks)
    return LineRanges((task.first, task.last) for task, name in named if name is not None and creates_files(name.text))
