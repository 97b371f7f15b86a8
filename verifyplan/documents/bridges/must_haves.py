"""A plan's must-haves as findings: their claims of the repository, and the files that show them (rules B4, D5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from verifyplan.documents.dimensions.plan_graph import name_of
from verifyplan.documents.kinds.plan import MustHave, PlanDocument, Task
from verifyplan.documents.loading import load
from verifyplan.documents.reading.comparing import meaningful_words, paths_in, same_file
from verifyplan.documents.reading.document import Document
from verifyplan.documents.reading.writing import one_line
from verifyplan.errors import InputError, Problem
from verifyplan.plans.code_names import without_place
from verifyplan.protocol.vote import Finding

D = TypeVar("D", bound=Document)

PlanOrPlans = PlanDocument | str | Path | Iterable[PlanDocument]
"""A plan, its file, or all plans of a phase."""

PLANNER = "planner"
"""The worker that brings the must-haves of a plan, unless another is named."""

MAX_TASKS_READ = 50
"""Tasks of a plan that are read; from five on a plan is too large to be executed well (rule D4)."""

MAX_CITED_PLACES, MAX_CITED_LINES, MAX_KNOWN_FILES = 5, 200, 100
"""Places of a finding that a worker opens, lines of each, and files of a plan that a short name is looked up in."""

MAX_EXPLANATION_CHARACTERS = 300
"""Characters of an explanation that are kept as evidence."""

_DEFINED = re.compile(
    r"(?:(?:defines|exports|provides|implements|the|a|function|class|method) ){0,3}"
    r"`([^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\(\))?`",
    re.IGNORECASE,
)
"""The beginning of the description of a file that defines a symbol."""


class PlannedMustHave(NamedTuple):
    """A must-have with its id, which is its plan's and its place among the plan's must-haves: "01-01/must-have-2".

    `task` is the one that is to bring it about: one that has its file, else the one that says most of its words, of
    several the first; None where no task has anything to do with it.
    """

    id: str
    must_have: MustHave
    plan: PlanDocument
    task: Task | None = None

    @property
    def text(self) -> str:
        """The text of the must-have, on one line."""
        return one_line(self.must_have.text)


def must_have_findings(plan: PlanOrPlans, *, worker: str = PLANNER) -> tuple[Finding, ...]:
    r"""Return the must-haves of a plan as findings, so that a verification relies on the plan alone.

    The evidence is the files that a must-have names; of one that names none, those of the task that speaks of it.
    `worker` brings them and has to be on the roster of the run: it votes on none of them. Without must-haves there
    are no findings. InputError for two plans of one id, whose must-haves would have the same ids. Source: rule D5.

    >>> from verifyplan.documents.loading import load_text
    >>> front = '---\nphase: 01-api\nplan: "01-01"\nmust_haves:\n  artifacts: ["api.py: answers pings"]\n---\n'
    >>> finding = must_have_findings(load_text(front, "PLAN-01.md"))[0]
    >>> finding.finding_id, finding.summary
    ('01-01/must-have-1', 'The file `api.py` exists, and it is so: answers pings.')
    """
    plans = plans_of(plan)
    check_distinct_ids(plans)
    return tuple(
        Finding(
            finding_id=planned.id,
            summary=statement(planned.must_have),
            evidence=evidence_of(planned),
            worker=worker,
            category=planned.must_have.kind,
            ticket_ids=(planned.id,),
        )
        for planned in planned_must_haves(plans)
    )


def planned_must_haves(plans: Sequence[PlanDocument]) -> Iterator[PlannedMustHave]:
    """Yield the must-haves of some plans: of each its truths, artifacts, key links. Two plans may ask for the same."""
    for plan in plans:
        name, words = one_line(name_of(plan)), words_of_tasks(plan)
        for number, must_have in enumerate(plan.must_haves.all(), 1):
            yield PlannedMustHave(f"{name}/must-have-{number}", must_have, plan, task_for(must_have, words))


def words_of_tasks(plan: PlanDocument) -> list[tuple[Task, frozenset[str]]]:
    """Return the tasks of a plan, each with its words that carry meaning."""
    tasks = plan.tasks[:MAX_TASKS_READ]
    return [(task, meaningful_words(" ".join(element.text for element in task.elements))) for task in tasks]


def task_for(must_have: MustHave, tasks: Sequence[tuple[Task, frozenset[str]]]) -> Task | None:
    """Return the task that is to bring a must-have about, as `PlannedMustHave` says."""
    if path := must_have.path:
        for task, _ in tasks:
            if any(same_file(path, file) for file in task.files):
                return task
    own = meaningful_words(must_have.text)
    best = max(tasks, key=lambda pair: len(own & pair[1]), default=None)
    return best[0] if best and own & best[1] else None


def check_distinct_ids(plans: Sequence[PlanDocument]) -> None:
    """Raise InputError for two plans of one id, whose must-haves would have the same ids."""
    first: dict[str, str] = {}
    problems = []
    for plan in plans:
        other = first.setdefault(name := name_of(plan), plan.path)
        if other != plan.path:
            fix = "give each plan its own id"
            problems.append(Problem(plan.path, f"has the id {name!r} of {other}", fix))
    if problems:
        raise InputError(problems)


def statement(must_have: MustHave) -> str:
    """Return the claim of a must-have about the repository, in a sentence that a worker can judge.

    Of an artifact it is that the file exists, or defines the symbol in backticks with which its description begins;
    other must-haves are claims as they are.

    >>> statement(MustHave("src/a.py: `check` refuses old tokens", "artifact", 7, "src/a.py"))
    '`check` is defined in `src/a.py`, and it is so: check refuses old tokens.'
    """
    text, path = one_line(must_have.text), one_line(must_have.path)
    if must_have.kind != "artifact" or not path:
        return text
    description = text.removeprefix(f"`{path}`").removeprefix(path).strip(":,. ").removeprefix("exists").strip(" ,.")
    symbol = _DEFINED.match(description)
    rest = f", and it is so: {description.replace('`', '')}." if description else "."
    return f"`{symbol[1]}` is defined in `{path}`{rest}" if symbol else f"The file `{path}` exists{rest}"


def evidence_of(planned: PlannedMustHave) -> str:
    """Return the places that show whether a must-have holds; empty where neither it nor its plan names a file.

    A truth is shown by the files of its task, too: the truth may be about those that it names, and hold elsewhere.
    """
    task = planned.task
    own = (*task.files, *planned.plan.files_modified) if task else planned.plan.files_modified
    named = full_paths([planned.must_have.path, *paths_in(planned.text)], own)
    of_task = task.files if task and planned.must_have.kind == "truth" else ()
    return cited([*named, *of_task]) or cited(own)


def cited(paths: Iterable[str]) -> str:
    """Return paths as places from their first line on, each once, at most five; a path with a place stays as it is.

    >>> cited(["src/a.py", "src/b.py:12", "src/a.py"])
    'src/a.py:1-200 src/b.py:12'
    """
    places: dict[str, None] = {}
    for path in (path.strip().removeprefix("./") for path in paths):
        one_file = path and not path.endswith("/") and not any(letter in path for letter in " \t\n`*?{}<>")
        if one_file:
            places[path if without_place(path) != path else f"{path}:1-{MAX_CITED_LINES}"] = None
    return " ".join(list(places)[:MAX_CITED_PLACES])


def full_paths(paths: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return paths as the plan or the summary writes them in full, where they name a file without its folders.

    >>> full_paths(["a.py", "docs/b.md"], ["src/a.py"])
    ('src/a.py', 'docs/b.md')
    """
    known = known[:MAX_KNOWN_FILES]
    return tuple(
        next((full for full in known if "/" not in path and full.endswith(f"/{path}")), path) for path in paths
    )


def document_of(document: Document | str | Path, model: type[D]) -> D:
    """Return a document of the wanted kind, loaded where it is a path; InputError where it is of another kind."""
    loaded = load(document) if isinstance(document, str | Path) else document
    if isinstance(loaded, model):
        return loaded
    wanted = str(model.model_fields["kind"].default)
    received = f"is a {loaded.kind}" if isinstance(loaded, Document) else "is a folder"
    place = getattr(loaded, "path", str(document))
    raise InputError(Problem(place, f"{received}, not a {wanted}", f"give a {wanted}"))


def plans_of(plan: PlanOrPlans) -> tuple[PlanDocument, ...]:
    """Return one plan or several as documents, each once; InputError for none."""
    several = [plan] if isinstance(plan, PlanDocument | str | Path) else list(plan)
    documents = (document_of(each, PlanDocument) for each in several)
    plans = tuple({document.path: document for document in documents}.values())
    if not plans:
        raise InputError(Problem("plan", "no plan is given", "give the plan whose must-haves are verified"))
    return plans


def expect_readable(document: Document) -> None:
    """Raise InputError for a document whose frontmatter cannot be read: its statements would count as none."""
    front = document.source.front
    if front.problems and not front.values:
        line, problem = front.problems[0]
        message = f"the frontmatter cannot be read: {problem}"
        raise InputError(Problem(f"{document.path}:{line}", message, "write it as plain YAML"))


def cut(text: str, limit: int = MAX_EXPLANATION_CHARACTERS) -> str:
    """Return a text with at most `limit` characters, a mark where it is cut included.

    >>> cut("a queue that is full", 12)
    'a queue ...'
    """
    return text if len(text) <= limit else f"{text[: limit - 4].rstrip()} ..."
