"""Research mode 2: what rules, history and code near the plan hold on it, which nobody asked for (SPEC A5, A12)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from verifyplan.agents.repository.records import Commit
from verifyplan.agents.static.roles.checks.rule_words import stems
from verifyplan.agents.static.roles.issues import Issue, cited, quoted
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.rulebook import rulebook
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.touched import touched
from verifyplan.agents.static.roles.wordsets import words
from verifyplan.documents.values import normalised
from verifyplan.protocol.plan_call import RaisedContext, SurfaceAnswer

MOST = 6
"""Contexts in one iteration."""

_REVERT = re.compile(
    r"^revert\b|\b(?:take|took|taken) (?:\w+ ){0,4}(?:out|back)\b|\bback(?:ed)? out\b|\bundo\b|\bremove "
    r"(?:\w+ ){1,4}again\b",
    re.IGNORECASE,
)
_FIX = re.compile(r"\b(?:fix(?:es|ed)?|hotfix|bug|repair|mend)\b", re.IGNORECASE)
_OFTEN, _SHARED, _MOST_RULES, _MOST_TESTS = 3, 2, 2, 1
_COMMON = words("revert add use make test change update remove plan step run service api code support version parcel")


def answer(scene: Scene) -> SurfaceAnswer:
    """Reverts and fixes of the touched files, rules that speak of them, and tests beside them; at most 6.

    A revert of what the plan does again contradicts it and raises a challenge; the rest says what to look at, or
    confirms the plan. Nothing is said twice, and of an empty repository nothing.
    """
    if scene.known.empty:
        return SurfaceAnswer()
    known = {(context.source, context.location) for context in scene.request.contexts}
    found = [*_history(scene), *_rules(scene), *_tests(scene)]
    return SurfaceAnswer(contexts=tuple(one for one in found if (one.source, one.location) not in known)[:MOST])


def _history(scene: Scene) -> Iterator[RaisedContext]:
    files = touched(scene)
    if not files or scene.repository.commit is None:
        return
    commits = scene.tools.git_log(list(files)).commits
    for commit in commits:
        if _REVERT.search(commit.subject):
            yield from _reverted(scene, commit, files)
    fixes = Counter(path for commit in commits if _FIX.search(commit.subject) for path in commit.files if path in files)
    for path, times in sorted(fixes.items(), key=lambda one: (-one[1], one[0]))[:1]:
        if times >= _OFTEN:
            last = next(commit for commit in commits if _FIX.search(commit.subject) and path in commit.files)
            why = f"{path}, which {_line(scene, files[path])} touches, was mended in {times} of its last commits"
            yield RaisedContext(
                source="git_history",
                location=last.hash,
                relevance=f"{why}: {quoted(last.subject)}",
                impact="changes_needed",
            )


def _reverted(scene: Scene, commit: Commit, files: dict[str, int]) -> Iterator[RaisedContext]:
    """A commit that took something back; it contradicts a plan that does the same again in the same files."""
    path = next((path for path in commit.files if path in files), None)
    if path is None:
        return
    words = stems(commit.subject) - _COMMON
    lines = [(at, text) for at, text in scene.reading.to_do if len(stems(text) & words) >= min(_SHARED, len(words))]
    again = next(((at, text) for at, text in lines if words), None)
    relevance = f"An earlier change of {path} was taken back ({commit.date[:10]}): {quoted(commit.subject)}"
    if again is None:
        yield RaisedContext(source="git_history", location=commit.hash, relevance=relevance, impact="changes_needed")
        return
    issue = Issue(
        statement("reverted-before", path, commit.subject),
        again[0],
        f"Commit {commit.hash[:12]} of {commit.date[:10]} took it back; the plan does not say what is different now.",
        "SIGNIFICANT",
        "MED",
        scenario="What made the earlier change fail makes this one fail, too.",
        alternative="Read why it was taken back, and say in the plan why it works this time.",
    )
    new = scene.new([issue])
    challenge = scene.challenge(issue) if new else None
    yield RaisedContext(
        source="git_history",
        location=commit.hash,
        relevance=f"{relevance}; {_line(scene, again[0])} does it again",
        impact="contradicts_plan" if challenge else "changes_needed",
        challenge=challenge,
    )


def _rules(scene: Scene) -> Iterator[RaisedContext]:
    """Rules whose names in backticks the plan keeps to, by naming them itself."""
    files = touched(scene)
    shown = 0
    for rule in rulebook(scene):
        named = [normalised(name) for name in rule.names if scene.known.exists(name)]
        line = next(
            (files[path] for path in files for name in named if path == name or path.startswith(f"{name}/")), None
        )
        if line is not None and shown < _MOST_RULES:
            shown += 1
            why = f"{rule.name} speaks of what {_line(scene, line)} touches: {quoted(rule.text)}"
            yield RaisedContext(
                source="claude_md", location=f"{rule.path}:{rule.line}", relevance=why, impact="confirms_approach"
            )


def _tests(scene: Scene) -> Iterator[RaisedContext]:
    """Tests of touched files that the plan does not name."""
    shown = 0
    for path, line in touched(scene).items():
        stem, _, ending = path.rpartition("/")[2].partition(".")
        names = {f"test_{stem}.{ending}", f"{stem}_test.{ending}", f"{stem}.test.{ending}", f"{stem}.spec.{ending}"}
        test = next((one for one in scene.repository.files if one.rpartition("/")[2] in names), None)
        if (
            test
            and not scene.reading.naming(test)
            and test.rpartition("/")[2] not in scene.plan.text
            and shown < _MOST_TESTS
        ):
            shown += 1
            why = f"It tests {path}, which {_line(scene, line)} touches; the plan does not name it"
            yield RaisedContext(source="codebase", location=f"{test}:1", relevance=why, impact="changes_needed")


def _line(scene: Scene, line: int) -> str:
    return cited(scene.line(line), scene.name)
