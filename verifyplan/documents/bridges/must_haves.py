"""A plan's must-haves as findings: what they claim of the repository, and the files that show it (rule D5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from verifyplan.documents.dimensions.overlap import meaningful_words, paths_in, same_file
from verifyplan.documents.dimensions.plan_graph import name_of
from verifyplan.documents.kinds.plan import MustHave, PlanDocument, Task
from verifyplan.documents.loading import load
from verifyplan.documents.reading.document import Document
from verifyplan.errors import InputError, Problem
from verifyplan.plans.code_names import without_place
from verifyplan.protocol.vote import Finding

MAX_CITED_PLACES = 5
"""So many places of a finding are opened by a worker."""

MAX_KNOWN_FILES = 100
"""So many files of a plan are looked through for one that is named without its folders."""

LINES = 200
"""So many lines of a cited file are shown."""


def cited(paths: Iterable[str]) -> str:
    """Paths as places from their first line on, each once, at most five; a place that is named stays as it is.

    >>> cited(["src/a.py", "src/b.py:12", "src/a.py"])
    'src/a.py:1-200 src/b.py:12'
    """
    clean = (path.strip().removeprefix("./") for path in paths)
    places = (path if without_place(path) != path else f"{path}:1-{LINES}" for path in clean if _is_citable(path))
    return " ".join(list(dict.fromkeys(places))[:MAX_CITED_PLACES])


def one_line(text: str) -> str:
    r"""A text on one line, without what cannot be shown or written.

    >>> one_line(" the\n queue\x00 is full ")
    'the queue is full'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def known_as(paths: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Paths as the plan or the summary writes them in full, where they name a file without its folders.

    >>> known_as(["a.py", "docs/b.md"], ["src/a.py"])
    ('src/a.py', 'docs/b.md')
    """
    known = known[:MAX_KNOWN_FILES]
    return tuple(
        next((full for full in known if "/" not in path and full.endswith(f"/{path}")), path) for path in paths
    )


def _is_citable(path: str) -> bool:
    """Whether a path is of one file, and in one word."""
    return bool(path) and not path.endswith("/") and not any(letter in path for letter in " \t\n`*?{}<>")


D = TypeVar("D", bound=Document)

Plans = PlanDocument | str | Path | Iterable[PlanDocument]
"""A plan, its file, or all plans of a phase."""


def document_of(given: Document | str | Path, model: type[D]) -> D:
    """A document of the wanted kind, loaded where it is a path; InputError where it is of another kind."""
    loaded = load(given) if isinstance(given, str | Path) else given
    if isinstance(loaded, model):
        return loaded
    wanted = str(model.model_fields["kind"].default)
    found = f"is a {loaded.kind}" if isinstance(loaded, Document) else "is a folder"
    raise InputError(Problem(getattr(loaded, "path", str(given)), f"{found}, not a {wanted}", f"give a {wanted}"))


def plans_of(given: Plans) -> tuple[PlanDocument, ...]:
    """The plans that are given, each once; InputError for none."""
    several = [given] if isinstance(given, PlanDocument | str | Path) else list(given)
    plans = tuple({plan.path: plan for plan in (document_of(one, PlanDocument) for one in several)}.values())
    if not plans:
        raise InputError(Problem("plan", "no plan is given", "give the plan whose must-haves are verified"))
    return plans


def expect_readable(document: Document) -> None:
    """InputError for a document whose frontmatter cannot be read: what it states would count as nothing."""
    front = document.source.front
    if front.problems and not front.values:
        line, problem = front.problems[0]
        message = f"the frontmatter cannot be read: {problem}"
        raise InputError(Problem(f"{document.path}:{line}", message, "write it as plain YAML"))


PLANNER = "planner"
"""Who brings the must-haves of a plan, unless somebody else is named."""

_DEFINED = re.compile(
    r"(?:(?:defines|exports|provides|implements|the|a|function|class|method) ){0,3}"
    r"`([^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\(\))?`",
    re.IGNORECASE,
)
"""What is said of a file that defines a symbol: it begins with the symbol."""


MAX_TASKS_READ = 50
"""So many tasks of a plan are looked at; from five on a plan is too large to be executed well (rule D4)."""


class Wanted(NamedTuple):
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
        """What must hold, on one line."""
        return one_line(self.must_have.text)


def wanted_of(plans: Sequence[PlanDocument]) -> tuple[Wanted, ...]:
    """All must-haves of some plans: of each its truths, artifacts, key links. Two plans may ask for the same."""
    return tuple(wanted for plan in plans for wanted in _wanted(plan))


def _wanted(plan: PlanDocument) -> Iterator[Wanted]:
    name, task_for = one_line(name_of(plan)), tasks_of(plan)
    for number, must_have in enumerate(plan.must_haves.all(), 1):
        yield Wanted(f"{name}/must-have-{number}", must_have, plan, task_for(must_have))


def tasks_of(plan: PlanDocument) -> Callable[[MustHave], Task | None]:
    """Finds the task of a plan that is to bring something about; the words of the tasks are read once."""
    tasks = plan.tasks[:MAX_TASKS_READ]
    spoken = [meaningful_words(" ".join(element.text for element in task.elements)) for task in tasks]

    def found(wanted: MustHave) -> Task | None:
        path = wanted.path
        by_file = next((t for t in tasks if path and any(same_file(path, file) for file in t.files)), None)
        said = [len(meaningful_words(wanted.text) & words) for words in spoken]
        by_words = tasks[said.index(max(said))] if any(said) else None
        return by_file or by_words

    return found


def must_have_findings(plan: Plans, *, worker: str = PLANNER) -> tuple[Finding, ...]:
    r"""The must-haves of a plan as findings, so that a verification needs nobody's word but the plan's.

    The evidence is the files that a must-have names; of one that names none, those of the task that speaks of it.
    `worker` brings them and has to be on the roster of the run: it votes on none of them. Without must-haves there
    are no findings. InputError for two plans of one id, whose must-haves could not be told apart. Source: rule D5.

    >>> from verifyplan.documents.loading import load_text
    >>> front = '---\nphase: 01-api\nplan: "01-01"\nmust_haves:\n  artifacts: ["api.py: answers pings"]\n---\n'
    >>> finding = must_have_findings(load_text(front, "PLAN-01.md"))[0]
    >>> finding.finding_id, finding.summary
    ('01-01/must-have-1', 'The file `api.py` exists, and it is so: answers pings.')
    """
    plans = plans_of(plan)
    check_apart(plans)
    return tuple(
        Finding(
            finding_id=wanted.id,
            summary=statement(wanted.must_have),
            evidence=evidence_of(wanted),
            worker=worker,
            category=wanted.must_have.kind,
            ticket_ids=(wanted.id,),
        )
        for wanted in wanted_of(plans)
    )


def check_apart(plans: Sequence[PlanDocument]) -> None:
    """InputError for two plans of one id, whose must-haves could not be told apart."""
    first: dict[str, str] = {}
    problems = []
    for plan in plans:
        name = name_of(plan)
        if name in first:
            fix = "give each plan an id of its own"
            problems.append(Problem(plan.path, f"has the id {name!r} of {first[name]}", fix))
        first.setdefault(name, plan.path)
    if problems:
        raise InputError(problems)


def statement(must_have: MustHave) -> str:
    """What a must-have claims of the repository, in a sentence that a worker can judge.

    Of an artifact it is that the file exists, or defines the symbol in backticks with which its description begins;
    other must-haves are claims as they stand.

    >>> statement(MustHave("src/a.py: `check` refuses old tokens", "artifact", 7, "src/a.py"))
    '`check` is defined in `src/a.py`, and it is so: check refuses old tokens.'
    """
    text, path = one_line(must_have.text), one_line(must_have.path)
    if must_have.kind != "artifact" or not path:
        return text
    said = text.removeprefix(f"`{path}`").removeprefix(path).strip(":,. ").removeprefix("exists").strip(" ,.")
    symbol = _DEFINED.match(said)
    rest = f", and it is so: {said.replace('`', '')}." if said else "."
    return f"`{symbol[1]}` is defined in `{path}`{rest}" if symbol else f"The file `{path}` exists{rest}"


def evidence_of(wanted: Wanted) -> str:
    """The places that show whether a must-have holds; empty where neither it nor its plan names a file.

    A truth is shown by the files of its task, too: those that it names may be its matter, and not where it holds.
    """
    task = wanted.task
    own = (*task.files, *wanted.plan.files_modified) if task else wanted.plan.files_modified
    named = known_as([wanted.must_have.path, *paths_in(wanted.text)], own)
    of_task = task.files if task and wanted.must_have.kind == "truth" else ()
    return cited([*named, *of_task]) or cited(own)
