"""D6, must-haves: each has a task that brings it about, and can be seen from outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from verifyplan.documents.dimensions.check_context import (
    MAX_COMPARED,
    Dimension,
    Issue,
    IssueFactory,
    PlanCheckContext,
    TaskInPlan,
    quoted,
)
from verifyplan.documents.dimensions.overlap import (
    is_empty,
    meaningful_words,
    share_of_meaning,
    vague_words,
)
from verifyplan.documents.kinds.plan import MustHave, PlanDocument
from verifyplan.plans.code_names import is_glob, is_path, without_place
from verifyplan.plans.word_lists import words
from verifyplan.text import counted

_TOKEN = re.compile(r"[^\s,;:()'\"`]{2,300}")
_BRACES = re.compile(r"\{([^{}]*)\}")
_ARROW = re.compile(r"\s+(?:->|=>|-->|→|imports|calls|uses|to)\s+")
_MOST_ENDS = 6
_SHORTEST = 5
_LONGEST_GLOB = 300
HALF, MOSTLY = 0.5, 0.6
"""How much of an end that is no path, and of how a link is made, a task must speak of."""


class KeyLink(NamedTuple):
    """A link: how it is written, its two ends (fewer where they cannot be told), its line, and how they are joined."""

    text: str
    ends: tuple[str, ...]
    line: int
    paths: tuple[tuple[str, ...], ...]  # that each end names
    via: str = ""
    pattern: str = ""  # what is to be found in the first end, without backslashes


def key_links(plan: PlanDocument) -> Iterator[KeyLink]:
    """The key links of a plan: `{from, to, via}` as newer plans have them, or a sentence that names both ends."""
    for line, entry in stated(plan, "key_links"):
        if isinstance(entry, dict):
            ends = tuple(str(entry[key]) for key in ("from", "to") if entry.get(key))
            via, pattern = (str(entry.get(key) or "") for key in ("via", "pattern"))
            yield KeyLink(" to ".join(ends) or via, ends, line, _paths_of_ends(ends), via, pattern.replace("\\", ""))
        elif str(entry or "").strip():
            ends = _ends(str(entry))
            yield KeyLink(str(entry), ends, line, _paths_of_ends(ends))


def stated(plan: PlanDocument, group: str) -> Iterator[tuple[int, Any]]:
    """The must-haves of one list as they stand in the frontmatter, each with its line."""
    front = plan.source.front
    wanted = front.values.get("must_haves")
    found = wanted.get(group) if isinstance(wanted, dict) else None
    for at, entry in enumerate(found if isinstance(found, list) else []):
        yield front.line("must_haves", group, at), entry


def paths_in(text: str) -> list[str]:
    """The paths that a text names, each once, without the place behind them.

    >>> paths_in("src/app.js imports `src/auth.js:12` and uses it")
    ['src/app.js', 'src/auth.js']
    """
    tokens = (without_place(token.rstrip(".")) for token in _TOKEN.findall(text))
    return list(dict.fromkeys(token for token in tokens if is_path(token)))


def touches(job: TaskInPlan, link: KeyLink, at: int) -> bool:
    """Whether a task touches an end of a link: a path by its files or words, anything else by half of its words."""
    end, paths = link.ends[at], link.paths[at]
    if paths:
        named = any(names_file(job.text, path) or _is_module(path, job) for path in paths)
        return named or any(same_file(file, path) for path in paths for file in job.files)
    wanted = meaningful_words(end)
    return end.strip() in job.text or (bool(wanted) and len(wanted & job.meaning) >= HALF * len(wanted))


def _paths_of_ends(ends: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(paths_in(end)[:_MOST_ENDS]) for end in ends)


def joins(job: TaskInPlan, link: KeyLink) -> bool:
    """Whether a task realises a link: it touches both ends, or one and says how they are joined."""
    touched = [touches(job, link, at) for at in range(len(link.ends))]
    if all(touched) or not any(touched):
        return all(touched)
    wanted = meaningful_words(link.via)
    said = len(wanted & job.meaning) >= MOSTLY * len(wanted) if len(wanted) > 1 else False
    return said or (len(link.pattern) >= _SHORTEST and link.pattern in job.text)


def same_file(one: str, other: str) -> bool:
    """Whether two paths may mean one file: they are equal, one is the end of the other, a folder or a glob that has it.

    >>> same_file("src/a.py", "./src/a.py"), same_file("app/src/a.py", "src/a.py"), same_file("src/", "src/a.py")
    (True, True, True)
    >>> same_file("*_test.go", "pkg/a_test.go"), same_file("src/**/*.{ts,js}", "src/a.ts"), same_file("s/a*", "b/a.py")
    (True, True, False)
    """
    a, b = (path.strip("` ").removeprefix("./").split(" ")[0] for path in (one, other))
    if not a.strip("/") or not b.strip("/"):
        return False
    if is_glob(a) or is_glob(b):
        return _matches(a, b) or _matches(b, a)
    inside = (a.endswith("/") and b.startswith(a)) or (b.endswith("/") and a.startswith(b))
    a, b = a.rstrip("/"), b.rstrip("/")
    return a == b or a.endswith(f"/{b}") or b.endswith(f"/{a}") or inside


def _matches(glob: str, path: str) -> bool:
    """Whether a path is one of those that a glob stands for, be it without the folders before it."""
    if not is_glob(glob) or len(glob) > _LONGEST_GLOB:
        return False
    patterns = [pattern.replace("**/", "*") for pattern in _alternatives(glob)]
    return any(fnmatchcase(path, f"{before}{pattern}") for pattern in patterns for before in ("", "*/"))


def _alternatives(glob: str) -> list[str]:
    """A glob without its first braces, once for each name in them."""
    found = _BRACES.search(glob)
    return [f"{glob[: found.start()]}{name}{glob[found.end() :]}" for name in found[1].split(",")] if found else [glob]


def names_file(text: str, path: str) -> bool:
    """Whether a text names a file, in full or without its folders; names that many files have are none alone.

    >>> names_file("Run a_test.go", "pkg/a_test.go"), names_file("Run a_test.go", "pkg/test.go")
    (True, False)
    """
    whole = path.strip("`").rstrip("/").removeprefix("./")
    name = whole.rpartition("/")[2]
    alone = name.partition(".")[0].lower() not in words("plan_check", "anywhere")
    return _stands_in(whole, text) or (alone and _stands_in(name, text))


def _stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word, and not as the end of a longer one."""
    at = text.find(name) if name else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("_", "-")) and not (after.isalnum() or after in ("_", "-")):
            return True
        at = text.find(name, at + len(name))
    return False


def _ends(text: str) -> tuple[str, ...]:
    """The two ends of a link that is a sentence: its first two paths, else what stands around an arrow."""
    paths = paths_in(text)
    if len(paths) >= 2:
        return tuple(paths[:2])
    around = [part.strip() for part in _ARROW.split(text, maxsplit=1)]
    return tuple(around) if len(around) == 2 and all(around) else ()


def _is_module(path: str, job: TaskInPlan) -> bool:
    """Whether a task names a file as a module; names that many files have tell none."""
    stem = path.rstrip("/").rpartition("/")[2].partition(".")[0]
    return stem.lower() not in words("plan_check", "anywhere") and stem in job.names


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
    titled = any(word in part.title.lower() for part in source.sections for word in DONE)
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
