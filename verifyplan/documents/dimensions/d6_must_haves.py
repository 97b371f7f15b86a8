"""D6, must-haves: each has a task that brings it about, and can be seen from outside."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.links import names_file, same_file
from verifyplan.documents.dimensions.scene import MAX_COMPARED, IssueFactory, PlanCheckContext
from verifyplan.documents.dimensions.wording import is_empty, meaningful_words, share_of_meaning, vague_words
from verifyplan.documents.kinds.plan import MustHave, PlanDocument
from verifyplan.text import counted

D6 = 6

DONE = ("success", "acceptance", "done", "verification", "must")
"""Words of headings under which a plan says when it is done."""

SHOWN = 3
"""Truths of a plan that no task speaks of, and that are shown to the judge."""

FEWEST_WORDS = 2
"""Words with meaning, beside vague ones, below which two people would judge a truth differently."""

SPOKEN_OF = 1 / 3
"""How much of a truth's meaning the tasks must share, at the least, to be taken to speak of it."""


def must_haves_derived(scene: PlanCheckContext) -> Dimension:
    """Look for must-haves, for the task behind each artifact, and for truths that nobody could hold anything against.

    A warning: a plan that says nowhere when it is done, a truth that two people would judge differently, an artifact
    without a path, and one that no task of the plan names, no plan before it makes and the repository, where it is
    known, does not have. Whether the tasks make a truth come true is for a judge, who is told of which truths no task
    uses the words. Source: rule D4; the plan checkers of GSD and plan-build-run, dimension 6.
    """
    against = IssueFactory(scene, D6)
    issues = [issue for at in range(len(scene.plans)) for issue in _plan(against, at)]
    judge = tuple(line for at in scene.asked for line in _to_judge(scene, at))
    return Dimension(D6, "needs-judgement" if judge else "checked", tuple(issues), judge)


def _to_judge(scene: PlanCheckContext, at: int) -> Iterator[str]:
    plan, name = scene.plans[at], scene.graph.nodes[at].plan_id
    truths = plan.must_haves.truths
    if truths:
        unspoken = _unspoken(scene, at)
        rest = f"; no task speaks of {', '.join(quoted(truth.text) for truth in unspoken[:SHOWN])}" if unspoken else ""
        yield f"{name}: whether the tasks make {counted(len(truths), 'truth')} come true{rest}"
    elif not plan.must_haves.all() and not plan.source.front.last:
        yield f"{name}: when it is done; it states no must-haves"


def _unspoken(scene: PlanCheckContext, at: int) -> list[MustHave]:
    """The truths that share next to no words with any task."""
    spoken = frozenset(word for job in scene.jobs[at] for word in job.meaning)
    return [
        truth
        for truth in scene.plans[at].must_haves.truths
        if spoken and share_of_meaning(truth.text, spoken) < SPOKEN_OF
    ]


def _plan(against: IssueFactory, at: int) -> Iterator[Issue]:
    plan = against.scene.plans[at]
    wanted, front = plan.must_haves, plan.source.front
    if not wanted.all() and front.last and not front.problems and not _says_when_done(plan):
        told = "the plan has no must-haves: nothing says when it is done"
        line = against.scene.line(at, "must_haves")
        yield against.plan(at, "warning", "no-must-haves", line, told, "state at least what must be true")
    for truth in wanted.truths:
        left = meaningful_words(truth.text) - frozenset(
            word for name in vague_words(truth.text) for word in meaningful_words(name)
        )
        if is_empty(truth.text) or (vague_words(truth.text) and len(left) < FEWEST_WORDS):
            fix = "say what a person would see"
            told = f"truth {quoted(truth.text)} would be judged differently by two people"
            yield against.plan(at, "warning", "truth-vague", truth.line, told, fix)
    for artifact in wanted.artifacts[:MAX_COMPARED]:
        yield from _artifact(against, at, artifact)


def _says_when_done(plan: PlanDocument) -> bool:
    """Whether a plan says elsewhere than in its frontmatter what must be so at its end."""
    source = plan.source
    titled = any(word in part.title.lower() for part in source.parts for word in DONE)
    return titled or any(element.name == "success_criteria" for element in source.elements)


def _artifact(against: IssueFactory, at: int, artifact: MustHave) -> Iterator[Issue]:
    scene, path = against.scene, artifact.path
    if not path:
        told = f"artifact {quoted(artifact.text)} names no path"
        fix = "name the file, then say what it is"
        yield against.plan(at, "warning", "artifact-without-path", artifact.line, told, fix)
        return
    jobs = scene.compared(at)
    lists = any(job.files for job in jobs)
    named = any(same_file(path, file) for job in jobs for file in job.files) or any(
        names_file(j.text, path) for j in jobs
    )
    if not lists or named or _is_there(scene, at, path):
        return
    told = f"artifact {quoted(path)} is named by no task"
    if any(same_file(path, file) for file in scene.plans[at].files_modified):
        told = f"artifact {quoted(path)} is in files_modified, and no task names it"
    fix = "add it to the <files> of the task that makes it"
    yield against.plan(at, "warning", "artifact-without-task", artifact.line, told, fix)


def _is_there(scene: PlanCheckContext, at: int, path: str) -> bool:
    """Whether a file that this plan does not modify is there without it: another plan's, or the repository's."""
    if any(same_file(path, file) for file in scene.plans[at].files_modified):
        return False
    others = (file for other, node in enumerate(scene.graph.nodes) if other != at for file in node.files)
    return any(same_file(path, file) for file in others) or path in (scene.files or ())
