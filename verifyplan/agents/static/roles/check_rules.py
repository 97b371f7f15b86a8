"""Sentences of rules files that forbid something by its name, and steps of the plan that do it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from verifyplan.agents.static.roles.check_files import PARTS, words_of
from verifyplan.agents.static.roles.context import RepositoryIndex, RoleContext, code_blocks
from verifyplan.agents.static.roles.issues import CitedLine, StaticIssue, assertion, quoted
from verifyplan.agents.static.roles.plan_text import Sentence, sentences
from verifyplan.plans.values import normalised

_RULES_FILES = re.compile(
    r"(?:^|/)(?:(?:agents|claude|gemini|contributing|conventions|copilot-instructions)\.(?:md|rst|txt)"
    r"|\.(?:cursorrules|windsurfrules|clinerules))$|(?:^|/)\.cursor/rules/|(?:^|/)\.github/instructions/",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"(?:^[*_]*no|(?:^|[.;:,(]\s|\band\s|\bbut\s|[\u2014\u2013-]\s)[*_]*"
    r"(?:never|do not|don['\u2019]t|must not|avoid))\b[*_]*,?\s+"
    r"(?P<verb>(?:use|add|import|install|introduce|depend on|call|edit|modify|touch|change|delete|run|write)\s+)?"
    r"(?:(?:a|an|any|the|new|file|files|in|on|under)\s+){0,4}"
    r"(?P<names>`[^`]+`(?:(?:\s*,\s*|\s+(?:or|and|nor)\s+)`[^`]+`)*)"
    r"(?P<rest>[^.;]*)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"(?:\b(?:instead of|rather than)|,\s(?:and\s)?not)\s+(?P<names>`[^`]+`)(?P<rest>[^.;]*)", re.IGNORECASE
)
_ASKS_FOR_OTHER = re.compile(r"\b(?:use|prefer|always)\b", re.IGNORECASE)
_NARROWED = re.compile(
    r"^\s*(?:or\b|and\b)?.*\b(?:unless|except|without|outside|when|where|if|until|before|inside|within|only|alone"
    r"|in (?:tests?|production|the|new|public|this|a|an|any)|for (?!\w+ing\b)(?:the|new|production))\b",
    re.IGNORECASE,
)
_PINNED = re.compile(r"\b(?:pin(?:ned)?|exact versions?)\b", re.IGNORECASE)
_PACKAGES = re.compile(r"\b(?:dependenc|package|requirement|version|librar|crate)\w*", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|never|no|don't|without|un)\b[^.]{0,20}\bpin", re.IGNORECASE)
_MANIFEST = re.compile(r"\b(?:requirements[\w-]*\.txt|pyproject\.toml|package\.json|Cargo\.toml)\b")
_REQUIREMENT = re.compile(r"[A-Za-z][\w.-]*(?P<bound>\s*[><~^][=\d].*)?")
_TYPE = r"(?::|->|\bas\b(?:\s+an?)?)\s*`?(?:[\w.]+\[)?{}\b"
_TAKES = (
    r"\b(?:add|use|using|with|via|adopt|introduce|install|import|switch(?:es)? to|depends? on)\s+"
    r"(?:(?:the|new|a|an)\s+)?`{}(?:`|[(.:])"
)
_DENIED = re.compile(
    r"\b(?:no|not|never|without|instead of|rather than|avoid|remove[sd]?|replac\w+|drop|don['\u2019]t|forbid\w*|nor)\b",
    re.IGNORECASE,
)

Forbidden = Literal["use", "edit", "run"]


class ProjectRule(NamedTuple):
    """A sentence of a rules file that forbids something by name, or asks for pinned versions."""

    path: str
    line: int
    text: str
    kind: Forbidden | Literal["unpinned"]
    name: str


def project_rules(index: RepositoryIndex) -> Iterator[ProjectRule]:
    """Yield the rules of all rules files that name what they forbid, in order of path and line."""
    for path in index.repository.files:
        if _RULES_FILES.search(path):
            for sentence in sentences(tuple((index.repository.text(path) or "").split("\n"))):
                yield from _rules_in(path, sentence)


def _rules_in(path: str, sentence: Sentence) -> Iterator[ProjectRule]:
    text = re.sub(r"^[A-Z]{1,2}\d{1,2}\.\s+", "", sentence.text)
    if _PINNED.search(text) and _PACKAGES.search(text) and not _NEGATED.search(text):
        yield ProjectRule(path, sentence.line, sentence.text, "unpinned", "")
    instead = _INSTEAD.finditer(text) if _ASKS_FOR_OTHER.search(text) else iter(())
    for match in (*_FORBIDS.finditer(text), *instead):
        verb = (match.groupdict().get("verb") or "").strip().lower()
        kind: Forbidden = "edit" if verb in ("edit", "modify", "touch", "change", "delete") else "use"
        for name in (name.strip() for name in re.findall(r"`([^`]+)`", match["names"])):
            if kind == "edit" or not _NARROWED.match(match["rest"]):
                yield ProjectRule(path, sentence.line, sentence.text, "run" if " " in name else kind, name)


def check_rules(context: RoleContext) -> Iterator[CitedLine | StaticIssue]:
    """Compare each forbidden name with what the plan's sentences order, its commands run and its code uses."""
    for rule in project_rules(context.index):
        look = {"use": _uses, "edit": _edits, "run": _runs, "unpinned": _bare_requirements}[rule.kind]
        yield CitedLine("", context.plan.body)
        for line, words in look(context, rule):
            verb = "asks for pinned versions" if rule.kind == "unpinned" else "forbids it"
            yield StaticIssue(
                assertion("rule-broken", words),
                line,
                f"{rule.path}:{rule.line} {verb}: {quoted(rule.text)}",
                scenario="The change breaks a rule that the project holds its contributors to, and is sent back.",
                alternative="Do it as the rule asks, or say in the plan why the rule does not apply.",
                beside=(CitedLine(rule.path, rule.line),),
            )
            break


def _uses(context: RoleContext, rule: ProjectRule) -> Iterator[tuple[int, str]]:
    """Yield sentences that take the name up, commands of it, and code that imports it or has it as a type."""
    name = rule.name.removesuffix("()")
    takes, typed = (re.compile(form.format(re.escape(name)), re.IGNORECASE) for form in (_TAKES, _TYPE))
    for sentence in context.text.sentences:
        if (takes.search(sentence.text) or typed.search(sentence.text)) and not _DENIED.search(sentence.text):
            yield sentence.line, sentence.text
    if not re.fullmatch(r"[A-Za-z_][\w.-]*", name):
        return
    yield from ((line, command) for line, command in context.text.commands if command.split()[:1] == [name])
    for block in code_blocks(context):
        lines = block.text.split("\n")
        for imported in block.outline.imports:
            if imported.module == name or imported.module.startswith((f"{name}.", f"{name}/")):
                yield block.above + imported.line, lines[imported.line - 1]
        for at, line in enumerate(lines, block.above + 1):
            if typed.search(line) and not line.lstrip().startswith(("#", "//", "*", "import", "from")):
                yield at, line


def _edits(context: RoleContext, rule: ProjectRule) -> Iterator[tuple[int, str]]:
    """Yield instructions to change or delete an existing file of that name or in that folder."""
    path = normalised(rule.name)
    for edit in context.text.file_instructions:
        inside = edit.name == path or edit.name.startswith(f"{path}/")
        if edit.changes and inside and context.index.exists(edit.name):
            yield edit.line, edit.text


def _runs(context: RoleContext, rule: ProjectRule) -> Iterator[tuple[int, str]]:
    """Yield commands that begin with the forbidden one, in any environment, with any other arguments.

    A command that its sentence says not to run is left out.
    """
    wanted = rule.name.split()
    for line, command in context.text.commands:
        for words in (words_of(part) for part in PARTS.split(command)):
            plain = {re.split(r"[=<>~!\[]", word)[0] or word for word in words[2:]}
            if words[:2] == wanted[:2] and plain.issuperset(wanted[2:]):
                texts = context.text.sentences_at(line, command)
                if not any(_DENIED.search(text.partition(command)[0]) for text in texts):
                    yield line, command


def _bare_requirements(context: RoleContext, rule: ProjectRule) -> Iterator[tuple[int, str]]:
    """Yield instructions to add a package to a manifest without a version, or the exact one that the rule asks for."""
    exact = re.search(r"\bexact|==", rule.text) is not None
    for addition in context.text.instructions:
        name, manifest = _REQUIREMENT.fullmatch(addition.name), _MANIFEST.search(addition.text)
        if addition.verb == "add" and manifest and name and not _MANIFEST.fullmatch(addition.name):
            rest = addition.text.replace(addition.name, "")
            versioned = re.search(r"\d+\.\d|[=~^]=|\bpin|\bversion|\bentry|\bsection|\bscript", rest)
            if not versioned and (name["bound"] is None or exact):
                yield addition.line, addition.text
