"""The context of a static agent: the request, the plan as read, the repository by names, and its tools (rule G2)."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from verifyplan.agents.static.roles.issues import (
    CheckResults,
    CitedLine,
    StaticIssue,
    cited,
    claim,
    evidence,
    read_assertion,
)
from verifyplan.agents.static.roles.joined_texts import JoinedTexts
from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.agents.tools.toolkit import StaticToolkit
from verifyplan.plans import Plan
from verifyplan.plans.values import normalised
from verifyplan.protocol.records import CONFIDENCES, SEVERITIES, UNSETTLED, Challenge
from verifyplan.protocol.role_call import RaisedChallenge, RoleRequest
from verifyplan.repository.listing import LANGUAGES, PARSED, list_files
from verifyplan.repository.reading import hidden_folder
from verifyplan.repository.records import Outline
from verifyplan.repository.repository import Repository

T = TypeVar("T")

_PLACEHOLDER = re.compile(
    r"[*?<>{}$\[\]|\u2026%@]|\.\.\.|(?:^|/)(?:path|to|some|your|my|foo|bar|example)(?:/|\.|$)|\bX{2,}|NN|YYYY|\s",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"^(?:[a-z]+:|~|/|\.\./|-)|\.\./|^(?:www|localhost)\b", re.IGNORECASE)
_BUILT = re.compile(
    r"(?:^|/)(?:dist|build|out|target|node_modules|\.?venv|env|\.git|te?mp|logs|coverage|\.?cache)(?:/|$)"
)
_MANIFESTS = {
    "python": re.compile(
        r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|Pipfile|tox\.ini|meta\.ya?ml|.*requirements[^/]*\.(?:txt|in)"
        r"|(?:[^/]*(?:env|environment|conda)[^/]*)\.ya?ml|[^/]+\.def|(?:.*\.)?Dockerfile[^/]*)$"
    ),
    "javascript": re.compile(r"(?:^|/)(?:package|deno)\.jsonc?$"),
    "go": re.compile(r"(?:^|/)go\.mod$"),
}
_MAX_CODE_BYTES = 30_000_000
_PLAN_FILE = re.compile(r"(?:^|[/-])PLAN\b.*\.md$")
_PLAN_SUFFIXES = (".md", ".markdown", ".txt", ".mdx", ".rst")
_MIN_LINES, _MIN_SHARED = 4, 0.7
_LANGUAGE_TAGS = {"python3": "python", "golang": "go", "tsx": "tsx"}
_INLINE = re.compile(r"""\bpython3?\s+-c\s+(["'])(?P<code>.*?)(?<!\\)\1""", re.DOTALL)


class RepositoryIndex:
    """The files of one repository by name, its manifests and its code, each worked out once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.checked: CheckResults | None = None
        """What the checks of the plan found, for which the repository was opened; None before they ran."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compare a plan with."""
        return not self.repository.files

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        paths: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.repository.files:
            paths[posixpath.basename(path)].append(path)
        return dict(paths)

    def files(self, name: str) -> list[str]:
        """Return the files that a name can mean: that path itself, else all paths that end in it."""
        path = normalised(name)
        if path in self.repository.files:
            return [path]
        return [file for file in self.same_name(path) if file.endswith(f"/{path}")]

    def same_name(self, name: str) -> list[str]:
        """Return the files of the same name in any folder."""
        return self._by_name.get(posixpath.basename(normalised(name)), [])

    def exists(self, name: str) -> bool:
        """Whether a name means some file or folder, by its whole path or by the end of it."""
        path = normalised(name)
        return bool(self.files(path)) or any(f"/{folder}/".endswith(f"/{path}/") for folder in self.repository.folders)

    @cached_property
    def _code(self) -> tuple[list[str], JoinedTexts]:
        """Paths and texts of the files of code in languages that are parsed."""
        paths, size = list[str](), 0
        for path, entry in self.repository.files.items():
            if entry.language in PARSED and size + entry.size <= _MAX_CODE_BYTES:
                size += entry.size
                paths.append(path)
        return paths, JoinedTexts(self.repository.text(path) or "" for path in paths)

    def outlines(self, word: str) -> Iterator[tuple[str, Outline]]:
        """Yield the outlines of the files of code that hold a word, in path order."""
        paths, texts = self._code
        for number in texts.holding(word):
            yield paths[number], self.repository.outline(paths[number])

    def manifests(self, language: str) -> list[str]:
        """Return the paths of the manifests of a language's packages; none for a language without known manifests."""
        pattern = _MANIFESTS.get("javascript" if language in ("typescript", "tsx") else language)
        return [path for path in self.repository.files if pattern and pattern.search(path)]

    def texts(self, paths: list[str]) -> str:
        """Return the texts of some files, joined."""
        return "\n".join(self.repository.text(path) or "" for path in paths)

    @cached_property
    def import_names(self) -> frozenset[str]:
        """Names under which the repository's own code can be imported: its folders and files, without suffixes."""
        parts = (part.partition(".")[0] for path in self.repository.files for part in path.split("/"))
        return frozenset(parts)


def plain(name: str) -> bool:
    """Whether a path names one thing that can be looked up: no pattern, placeholder, URL, built, outside, hidden path.

    >>> plain("src/a.py"), plain("src/*.py"), plain("/etc/passwd"), plain("dist/app.js"), plain("path/to/a.py")
    (True, False, False, False, False)
    """
    if hidden_folder(normalised(name)):
        return False
    if not name.strip() or len(name) > 300 or _PLACEHOLDER.search(name) or _OUTSIDE.search(name):
        return False
    return _BUILT.search(normalised(name)) is None


def open_repository(root: Path, plan: str) -> Repository:
    """Open the repository in a folder; texts that share most of their lines with the plan are left out, too.

    The repository may hold an earlier form of a revised plan, which must not vouch for the plan. InputError if there
    is no such folder.
    """
    opened = Repository.open(root, plan)
    lines = {line.strip() for line in plan.split("\n")} - {""}
    size = len(plan.encode(errors="replace"))
    near = range(size // 2, 2 * size + 1) if len(lines) >= _MIN_LINES else range(0)  # to read few files

    def shared(path: str) -> float:
        own = [line.strip() for line in (opened.text(path) or "").split("\n") if line.strip()]
        return sum(line in lines for line in own) / len(own) if own else 0.0

    texts = (path for path, entry in opened.files.items() if entry.size in near)
    earlier = [path for path in texts if path.lower().endswith(_PLAN_SUFFIXES) and shared(path) >= _MIN_SHARED]
    if not earlier:
        return opened
    listing = list_files(opened.root, plan)
    for path in earlier:
        listing.files.pop(path, None)
        listing.skipped[path] = "the plan as it was, or one that is almost the same"
    return Repository(opened.root, listing)


@dataclass(frozen=True)
class RoleContext:
    """One call of a role: everything that its agent may look at, and the parts of it that failed."""

    request: RoleRequest
    text: PlanText
    index: RepositoryIndex
    tools: StaticToolkit
    failures: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Plan:
        """The plan as it was read."""
        return self.text.plan

    @property
    def repository(self) -> Repository:
        """The repository itself."""
        return self.index.repository

    @property
    def name(self) -> str:
        """The name under which the plan is cited."""
        return self.request.plan_name

    @cached_property
    def unsettled(self) -> list[Challenge]:
        """The admitted challenges that are OPEN or UNRESOLVED, in order of their ids."""
        return [challenge for challenge in self.request.challenges if challenge.status in UNSETTLED]

    @cached_property
    def _other_plans(self) -> tuple[bool, str]:
        """Whether all plans that this plan depends on can be read, and the text of those and of its phase's others."""
        depends, phase = self.plan.frontmatter.get("depends_on"), str(self.plan.frontmatter.get("phase") or "")
        wanted = [str(name) for name in depends] if isinstance(depends, list) else []
        paths = [path for path in self.repository.files if _PLAN_FILE.search(path)]
        near = [path for path in paths if phase in path or any(name in path for name in wanted)]
        readable = all(any(name in path for path in near) for name in wanted)
        return readable, self.index.texts(near)

    def other_plan_may_add(self, name: str) -> bool:
        """Whether a plan of the same phase, or a plan that this plan depends on, names it or cannot be read."""
        readable, text = self._other_plans
        # most names are in no other plan, which `in` finds in a thirtieth of the time that the pattern takes
        return not readable or (name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None)

    def isolated(self, name: str, part: Callable[[], Iterable[T]]) -> Iterator[T]:
        """Yield the results of a part of an agent; if it raises, the rest is lost, and `failures` names the part."""
        try:
            yield from part()
        except Exception as error:  # whatever it is, it must cost the other parts nothing
            self.failures.append(f"{name} failed: {type(error).__name__}: {error}")

    def new(self, issues: Iterable[StaticIssue]) -> list[StaticIssue]:
        """Return the issues that no challenge states yet, admitted or not; each assertion once.

        They are in order of severity, confidence and line.
        """
        known = {read_assertion(raised.claim) for raised in (*self.request.challenges, *self.request.overflow)}
        ranked = sorted(
            issues,
            key=lambda issue: (SEVERITIES.index(issue.severity), CONFIDENCES.index(issue.confidence), issue.line),
        )
        first = {issue.assertion: issue for issue in reversed(ranked)}
        return [issue for issue in reversed(first.values()) if issue.assertion not in known]

    def at(self, line: int) -> str:
        """Return a line of the plan as a citation."""
        return cited(CitedLine("", line), self.name)

    def challenge(self, issue: StaticIssue) -> RaisedChallenge:
        """Return an issue as a challenge to this plan, with its places and quotations as evidence."""
        return RaisedChallenge(
            claim=claim(issue.assertion),
            concern=issue.concern,
            failure_scenario=issue.scenario,
            alternative=issue.alternative,
            severity=issue.severity,
            confidence=issue.confidence,
            evidence=evidence([CitedLine("", issue.line), *issue.beside], self.text, self.name),
        )


class ParsedBlock(NamedTuple):
    """A block of code: its language, the plan's line before its first, its text, and its outline."""

    language: str
    above: int
    text: str
    outline: Outline


def code_blocks(context: RoleContext) -> Iterator[ParsedBlock]:
    """Yield the blocks of the plan whose language is parsed, and the code that its commands pass to `python -c`."""
    outline_of = context.repository.outline_of
    for block in context.plan.blocks:
        tag = block.language.lower()
        language = _LANGUAGE_TAGS.get(tag) or LANGUAGES.get(tag, tag)
        if language in PARSED or language == "tsx":
            yield ParsedBlock(language, block.first, block.text, outline_of(block.text, language))
    for line, command in context.text.commands:
        for inline in _INLINE.finditer(command):
            yield ParsedBlock("python", line - 1, inline["code"], outline_of(inline["code"], "python"))
