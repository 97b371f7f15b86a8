"""D4, key links: what belongs together is joined by a task."""

from __future__ import annotations

from verifyplan.documents.dimensions.issue import Dimension, quoted
from verifyplan.documents.dimensions.links import KeyLink, joins, key_links, touches
from verifyplan.documents.dimensions.scene import MAX_COMPARED, IssueFactory, PlanCheckContext

D4 = 4

FIX = "say the joining in a task's action, as In src/a.py, `run` calls `load` of src/b.py; or leave the link out"


def links_planned(scene: PlanCheckContext) -> Dimension:
    """Look for the task that touches the ends of each key link.

    A warning: a link both of whose ends are files, and of which no task of the plan touches either. A link of which a
    task touches one end alone may join it to what is there already: whether it does, and a link whose ends are no
    files, is left to a judge. Plans without key links have nothing to hold. Source: rule D4; plan-build-run's plan
    checker, dimension 4.
    """
    against = IssueFactory(scene, D4)
    links = [tuple(key_links(plan))[:MAX_COMPARED] for plan in scene.plans]
    if not any(links):
        return Dimension(D4, "not-applicable", why_not="no plan states a key link")
    lost = [(at, link) for at, own in enumerate(links) for link in own if not _is_joined(scene, at, link)]
    judge, issues = [], []
    for at, link in lost:
        if _of_files(link) and scene.jobs[at] and not _is_touched(scene, at, link):
            told = f"key link {quoted(link.text)}: no task touches either end"
            issues.append(against.plan(at, "warning", "link-unplanned", link.line, told, FIX))
        elif at in scene.asked:
            judge.append(f"{scene.graph.nodes[at].plan_id}: which task joins {quoted(link.text)}")
    return Dimension(D4, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _is_joined(scene: PlanCheckContext, at: int, link: KeyLink) -> bool:
    """Whether a task of a plan realises a link."""
    return len(link.ends) == 2 and any(joins(job, link) for job in scene.compared(at))


def _of_files(link: KeyLink) -> bool:
    """Whether a link has two ends that are files each."""
    return len(link.ends) == 2 and all(link.paths)


def _is_touched(scene: PlanCheckContext, at: int, link: KeyLink) -> bool:
    """Whether any task of a plan touches an end of a link."""
    return any(touches(job, link, end) for job in scene.compared(at) for end in range(len(link.ends)))
