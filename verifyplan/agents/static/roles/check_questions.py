"""Questions of a domain that a plan leaves open where it does the thing, as data in `questions.toml` (rule G2)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from verifyplan.agents.static.roles.context import RoleContext
from verifyplan.agents.static.roles.issues import CitedLine, StaticIssue, assertion
from verifyplan.plans.statements import is_instruction
from verifyplan.protocol.records import Severity

_NEVER = "(?!)"
_COMMENT = re.compile(r"^\s*(?:#|//|--\s|\*)")
_NO_CODE = re.compile(r"(?:sql|sh|bash|shell|console|zsh|md|markdown|text|diff|ya?ml|json)?")
_MAX_LINE_CHARACTERS = 500


@dataclass(frozen=True)
class Question:
    """A question that a plan should answer where it does a thing; the fields are those of `questions.toml`."""

    ask: str
    by: str
    severity: Severity
    where: str
    when: str
    answered: str
    risk: str
    never: str = _NEVER


@cache
def questions() -> tuple[Question, ...]:
    """Return all questions, in the order of the file."""
    text = files("verifyplan.agents.static.roles").joinpath("questions.toml").read_text("utf-8")
    return tuple(Question(**table) for table in tomllib.loads(text)["question"])


def check_questions(context: RoleContext, by: str = "challenger") -> Iterator[CitedLine | StaticIssue]:
    """Ask each question of one agent that some line raises and no line of the plan answers, at the first such line."""
    for question in questions():
        if question.by != by:
            continue
        for line, text in _lines(context, question.where):
            match = re.search(question.when, text)
            if match and not re.search(question.never, text):
                yield CitedLine("", line)
                if not answer_line(question, context.plan.lines):
                    words = text[match.start() :]
                    yield StaticIssue(
                        assertion("question", words[:80], question.ask),
                        line,
                        f"Does the plan say {question.ask}? No line of it was found that does.",
                        question.severity,
                        "MED",
                        scenario=question.risk,
                        alternative=f"Say in the plan {question.ask}.",
                    )
                break


def answer_line(question: Question, lines: tuple[str, ...]) -> int:
    """Return the first line that counts as an answer; 0 if none does, or only lines that say there is none."""
    pattern = re.compile(question.answered, re.IGNORECASE)
    for at, line in enumerate(lines, 1):
        match = pattern.search(line[: 10 * _MAX_LINE_CHARACTERS])
        if match and not re.search(r"\b(?:no|not|without|never)\s+(?:\w+\s+)?$", line[: match.start()], re.IGNORECASE):
            return at
    return 0


def _lines(context: RoleContext, where: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of the plan in which a question looks, with their numbers."""
    if where == "command":
        yield from ((at, text[:_MAX_LINE_CHARACTERS]) for at, text in context.text.commands)
    if where == "order":
        ordering = (sentence for sentence in context.text.sentences if is_instruction(sentence.text))
        yield from ((sentence.line, sentence.text[:_MAX_LINE_CHARACTERS]) for sentence in ordering)
    for block in context.plan.blocks:
        language = block.language.lower()
        if (where == "sql" and language == "sql") or (where == "code" and not _NO_CODE.fullmatch(language)):
            down = False
            for at, line in enumerate(block.text.split("\n"), block.first + 1):
                down = re.search(r"(?i)migrate:down|downgrade|\+goose down", line) is not None or down
                if not down and not _COMMENT.match(line):
                    yield at, line[:_MAX_LINE_CHARACTERS]
