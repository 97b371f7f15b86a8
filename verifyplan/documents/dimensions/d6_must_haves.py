"""D6, must-haves: each has a task that brings it about, and can be seen from outside."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.contracts.plan import MustHave
from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.links import same_file
from verifyplan.documents.dimensions.scene import MOST, Against, Scene
from verifyplan.documents.dimensions.wording import is_empty, meaning, shared, vague_words
from verifyplan.documents.wordlists import words
from verifyplan.words import counted

NUMBER = 6

SPOKEN_OF = 1 / 3
"""How much of a truth's meaning the tasks must share, at the least, to be taken to speak of it."""


def must_haves_derived(scene: Scene) -> Dimension:
    """Look for the task behind each truth and artifact, and for truths that nobody outside the code can see.

    A blocker: a plan without must-haves, an artifact that neither a task nor the plan names among its files. A
    warning: a truth that no task speaks of, a truth that two people would judge differently, an artifact without a
    path. Info: a truth about the inside of the code. Whether the tasks make a truth come true is for a judge.
    Source: SPEC D4; the plan checkers of GSD and plan-build-run, dimension 6.
    """
    against = Against(scene, NUMBER)
    issues = [issue for at in range(len(scene.plans)) for issue in _plan(against, at)]
    truths = sum(len(scene.plans[at].must_haves.truths) for at in scene.asked)
    judge = (f"whether the tasks make {counted(truths, 'truth')} come true",) if truths else ()
    return Dimension(NUMBER, "needs-judgement" if judge else "checked", tuple(issues), judge)


def _plan(against: Against, at: int) -> Iterator[Issue]:
    plan = against.scene.plans[at]
    wanted = plan.must_haves
    if not wanted.all():
        if plan.source.front.problems:
            return  # what is damaged is told of once (D2)
        told = "the plan has no must-haves: nothing says when it is done"
        line = against.scene.line(at, "must_haves")
        yield against.plan(at, "blocker", "no-must-haves", line, told, "state at least what must be true")
        return
    told_of = frozenset(word for job in against.scene.jobs[at] for word in job.meaning)
    for truth in wanted.truths:
        yield from _truth(against, at, truth, told_of)
    for artifact in wanted.artifacts[:MOST]:
        yield from _artifact(against, at, artifact)


def _truth(against: Against, at: int, truth: MustHave, told_of: frozenset[str]) -> Iterator[Issue]:
    vague, said = vague_words(truth.text), meaning(truth.text)
    left = said - frozenset(word for name in vague for word in meaning(name))
    if is_empty(truth.text) or (vague and len(left) < 2):
        fix = "say what a person would see"
        told = f"truth {quoted(truth.text)} would be judged differently by two people"
        yield against.plan(at, "warning", "truth-vague", truth.line, told, fix)
    elif against.scene.jobs[at] and shared(truth.text, told_of) < SPOKEN_OF:
        fix = "add a task for it, or leave it out"
        yield against.plan(
            at, "warning", "truth-without-task", truth.line, f"no task speaks of truth {quoted(truth.text)}", fix
        )
    elif inside := [word for word in truth.text.lower().split() if word in words("plan_check", "implementation")]:
        told = f"truth {quoted(truth.text)} is about the inside of the code ({', '.join(dict.fromkeys(inside))})"
        yield against.plan(at, "info", "truth-inside", truth.line, told, "say what a user can do or see")


def _artifact(against: Against, at: int, artifact: MustHave) -> Iterator[Issue]:
    plan, path = against.scene.plans[at], artifact.path
    if not path:
        told = f"artifact {quoted(artifact.text)} names no path"
        yield against.plan(
            at, "warning", "artifact-without-path", artifact.line, told, "name the file, then say what it is"
        )
        return
    if any(same_file(path, file) for job in against.scene.compared(at) for file in job.files):
        return
    fix = "add it to the <files> of the task that makes it"
    if any(same_file(path, file) for file in plan.files_modified):
        told = f"artifact {quoted(path)} is in files_modified, and in the <files> of no task"
        yield against.plan(at, "warning", "artifact-without-task", artifact.line, told, fix)
    else:
        told = f"artifact {quoted(path)} is among the files of no task"
        yield against.plan(at, "blocker", "artifact-unplanned", artifact.line, told, fix)
