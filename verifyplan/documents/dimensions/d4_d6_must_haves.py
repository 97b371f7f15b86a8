"""D4 and D6: each key link has a task that joins its ends, each other must-have one that brings it about (rule D4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.documents.checks.catalogue import quoted
from verifyplan.documents.dimensions.check_context import (
    MAX_COMPARED,
    DimensionResult,
    Issue,
    PlanCheckContext,
    TaskInPlan,
    must_have_entries,
)
from verifyplan.documents.kinds.plan import MustHave, PlanDocument
from verifyplan.documents.reading.comparing import (
    is_empty,
    meaningful_words,
    names_file,
    paths_in,
    plain_words,
    same_file,
    share_of_meaning,
    vague_words,
)
from verifyplan.plans.word_lists import words
from verifyplan.text import counted

MIN_END_SHARE, MIN_VIA_SHARE = 0.5, 0.6
"""The share of the words of an end that is not a path, and of the way a link is made, that a task must have."""

MIN_PATTERN_CHARACTERS = 5
"""A shorter `pattern` of a link is found in too many tasks."""

DONE_TITLES = ("success", "acceptance", "done", "verification", "must")
"""Words of headings under which a plan says when it is done."""

MAX_SHOWN_TRUTHS = 3
"""Truths of a plan that no task speaks of, and that are shown to the judge."""

MIN_TRUTH_WORDS = 2
"""Words with meaning, beside vague ones, below which two people would judge a truth differently."""

MIN_TRUTH_SHARE = 1 / 3
"""How much of a truth's meaning the tasks must share, at the least, to be taken to speak of it."""

_ARROW = re.compile(r"\s+(?:->|=>|-->|→|imports|calls|uses|to)\s+")
_MAX_PATHS_OF_END = 6


class KeyLink(NamedTuple):
    """A link: how it is written, its two ends (fewer where they are not known), its line, and how they are joined."""

    text: str
    ends: tuple[str, ...]
    line: int
    via: str = ""
    pattern: str = ""  # a text of the first end, without backslashes

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The paths that each end names."""
        return tuple(tuple(paths_in(end)[:_MAX_PATHS_OF_END]) for end in self.ends)


def links_planned(context: PlanCheckContext) -> DimensionResult:
    """Look for the task that touches the ends of each key link.

    A warning: a link both of whose ends are files, and of which no task of the plan touches either. A link of which a
    task touches one end alone may join it to what is there already: whether it does, and a link whose ends are not
    files, is left to a judge. Without key links nothing applies. Source: rule D4; plan-build-run's plan checker,
    dimension 4.
    """
    links = [tuple(key_links(plan))[:MAX_COMPARED] for plan in context.plans]
    if not any(links):
        return DimensionResult.not_applicable(4, "no plan states a key link")
    judge, issues = [], []
    for at, link in ((at, link) for at, own in enumerate(links) for link in own):
        tasks, paths = context.compared_tasks(at), link.paths
        touched = [[_touches(task, link.ends[end], paths[end]) for end in range(len(paths))] for task in tasks]
        if len(paths) == 2 and any(_joins(*pair, link) for pair in zip(tasks, touched, strict=True)):
            continue
        if len(paths) == 2 and all(paths) and tasks and not any(map(any, touched)):
            issues.append(context.of_plan(at, "link-unplanned", link.line, link=link.text))
        elif at in context.reported:
            judge.append(f"{context.graph.nodes[at].plan_id}: which task joins {quoted(link.text)}")
    return DimensionResult.of(4, issues, judge)


def key_links(plan: PlanDocument) -> Iterator[KeyLink]:
    """Yield the key links of a plan: `{from, to, via}` as newer plans have them, or a sentence that names both ends.

    The ends of a sentence are its first two paths, else the texts around an arrow.
    """
    for line, entry in must_have_entries(plan, "key_links"):
        if isinstance(entry, dict):
            ends = tuple(str(entry[key]) for key in ("from", "to") if entry.get(key))
            via, pattern = (str(entry.get(key) or "") for key in ("via", "pattern"))
            yield KeyLink(" to ".join(ends) or via, ends, line, via, pattern.replace("\\", ""))
        elif text := str(entry or "").strip():
            around = [part.strip() for part in _ARROW.split(str(entry), maxsplit=1)]
            named = paths_in(text)[:2]
            ends = tuple(named) if len(named) == 2 else tuple(around) if len(around) == 2 and all(around) else ()
            yield KeyLink(str(entry), ends, line)


def _touches(task: TaskInPlan, end: str, paths: tuple[str, ...]) -> bool:
    """Whether a task touches an end of a link: a path by its files or words, anything else by half of its words."""
    for path in paths:
        module = path.rstrip("/").rpartition("/")[2].partition(".")[0]
        named = module in task.code_names and module.lower() not in words("plan_check", "common_file_names")
        if named or names_file(task.text, path) or any(same_file(file, path) for file in task.files):
            return True
    if paths:
        return False
    own = meaningful_words(end)
    return end.strip() in task.text or (bool(own) and len(own & task.words) >= MIN_END_SHARE * len(own))


def _joins(task: TaskInPlan, touched: list[bool], link: KeyLink) -> bool:
    """Whether a task realises a link: it touches both ends, or one and says how they are joined."""
    if all(touched) or not any(touched):
        return all(touched)
    own = meaningful_words(link.via)
    says_via = len(own) > 1 and len(own & task.words) >= MIN_VIA_SHARE * len(own)
    return says_via or (len(link.pattern) >= MIN_PATTERN_CHARACTERS and link.pattern in task.text)


def must_haves_derived(context: PlanCheckContext) -> DimensionResult:
    """Look for must-haves, for the task behind each artifact, and for truths that nobody could compare with anything.

    A warning: a plan that says nowhere when it is done, a truth that two people would judge differently, an artifact
    without a path, and one that no task of the plan names, no plan before it makes and the repository, where it is
    known, does not have. Whether the tasks make a truth come true is for a judge, who sees which truths no task
    uses the words of. Source: rule D4; the plan checkers of GSD and plan-build-run, dimension 6.
    """
    issues = [issue for at in range(len(context.plans)) for issue in _badly_derived(context, at)]
    return DimensionResult.of(6, issues, (line for at in context.reported for line in _to_judge(context, at)))


def _to_judge(context: PlanCheckContext, at: int) -> Iterator[str]:
    plan, name = context.plans[at], context.graph.nodes[at].plan_id
    truths = plan.must_haves.truths
    if truths:
        spoken = frozenset(word for task in context.tasks[at] for word in task.words)
        unspoken = [t for t in truths if spoken and share_of_meaning(t.text, spoken) < MIN_TRUTH_SHARE]
        shown = ", ".join(quoted(truth.text) for truth in unspoken[:MAX_SHOWN_TRUTHS])
        rest = f"; no task speaks of {shown}" if unspoken else ""
        yield f"{name}: whether the tasks make {counted(len(truths), 'truth')} come true{rest}"
    elif not plan.must_haves.all() and not plan.source.front.last:
        yield f"{name}: when it is done; it states no must-haves"


def _badly_derived(context: PlanCheckContext, at: int) -> Iterator[Issue]:
    plan = context.plans[at]
    source, front = plan.source, plan.source.front
    if not plan.must_haves.all() and front.last and not front.problems:
        titled = any(word in part.title.lower() for part in source.sections for word in DONE_TITLES)
        if not titled and not any(element.name == "success_criteria" for element in source.elements):
            yield context.of_plan(at, "no-must-haves", context.line(at, "must_haves"))
    for truth in plan.must_haves.truths:
        vague = vague_words(truth.text) and len(plain_words(truth.text)) < MIN_TRUTH_WORDS
        if is_empty(truth.text) or vague:
            yield context.of_plan(at, "truth-vague", truth.line, truth=truth.text)
    for artifact in plan.must_haves.artifacts[:MAX_COMPARED]:
        yield from _without_task(context, at, artifact)


def _without_task(context: PlanCheckContext, at: int, artifact: MustHave) -> Iterator[Issue]:
    path = artifact.path
    if not path:
        yield context.of_plan(at, "artifact-without-path", artifact.line, artifact=artifact.text)
        return
    tasks = context.compared_tasks(at)
    files = [file for task in tasks for file in task.files]
    named = any(same_file(path, file) for file in files) or any(names_file(task.text, path) for task in tasks)
    if not files or named:
        return
    lack = "named by no task"
    if any(same_file(path, file) for file in context.plans[at].files_modified):
        lack = "in files_modified, and no task names it"
    else:
        others = (file for other, node in enumerate(context.graph.nodes) if other != at for file in node.files)
        if path in (context.files or ()) or any(same_file(path, file) for file in others):
            return  # it exists without this plan: in another plan, or in the repository
    yield context.of_plan(at, "artifact-without-task", artifact.line, path=path, lack=lack)
