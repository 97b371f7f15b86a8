"""Read what `bench_plans` takes: plans by path, folder or glob, their labels, and the folder that they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from verifyplan.datasets.labels import PlanLabel, plan_name
from verifyplan.datasets.labels_read import Labels, read_labels
from verifyplan.datasets.plans import labelled_plans, plan_path
from verifyplan.datasets.plans_repository import sample_repository
from verifyplan.errors import InputError, Problem, Problems
from verifyplan.runs.plan.arguments import folder_of
from verifyplan.text import did_you_mean

PlanPaths = str | Path | Sequence[str | Path]
"""Markdown files, folders of them, or globs."""


class BenchInputs(NamedTuple):
    """The plans to verify, each with its label, and the folder that they are about; None for the bundled one."""

    plans: tuple[Path, ...]
    labels: tuple[PlanLabel, ...]
    repo: Path | None
    unlabelled: tuple[str, ...]
    """Plans that were named and have no label, so that nothing is known of them."""


def bench_inputs(plans: PlanPaths | None, labels: Labels | None, repo: object, held_out: bool | None) -> BenchInputs:
    """Return the plans and their labels; InputError listing all that is missing, before any agent is called.

    Without `plans` they are the bundled ones. Every label needs a plan; plans without a label are left out, and named
    in the result. `held_out` takes only the plans whose label says so, or only the others.
    """
    problems = Problems()
    if plans is not None:
        problems += _not_given(labels=labels, repo=repo)
    every = problems.of(lambda: tuple(labelled_plans()) if labels is None else read_labels(labels)) or ()
    files = problems.of(lambda: _bundled(every) if plans is None else _files(plans))
    folder = None if repo is None else problems.of(lambda: folder_of(repo, "repo", "the plans"))
    if files is not None and labels is not None:
        problems += [
            Problem(
                f"labels: {one.plan}", f"no plan has this name{did_you_mean(one.plan, files)}", "name its file, too"
            )
            for one in every
            if one.plan not in files
        ]
    kept = tuple(one for one in every if held_out is None or one.held_out == held_out)
    if every and not kept:
        problems.append(Problem("held_out", f"is {held_out}, and no label says so", "leave it out, or label plans so"))
    if not every and not problems:
        problems.append(Problem("labels", "label no plan", "give a label for each plan that is to be scored"))
    if problems or files is None:
        raise InputError(problems)
    unlabelled = tuple(name for name in files if name not in {one.plan for one in every})
    return BenchInputs(tuple(files[one.plan] for one in kept), kept, folder, unlabelled)


def _not_given(**needed: object) -> Iterator[Problem]:
    fixes = {"labels": "give a JSON file, a mapping or a table", "repo": "give the folder that the plans are about"}
    for name, value in needed.items():
        if value is None:
            yield Problem(name, "must be given for plans of your own, got none", fixes[name])


def _bundled(labels: Sequence[PlanLabel]) -> dict[str, Path]:
    return {one.plan: plan_path(one.plan) for one in labels}


def _files(plans: PlanPaths) -> dict[str, Path]:
    """Return the plans by the names that labels give them; InputError for what names no plan, or two by one name."""
    fix = "name Markdown files, folders of them, or globs, one or a list"
    if not isinstance(plans, str | Path | Sequence) or not all(isinstance(one, str | Path) for one in _listed(plans)):
        raise InputError(Problem("plans", f"must be paths, got {plans!r:.200}", fix))
    found = {address: _found(Path(address)) for address in dict.fromkeys(map(str, _listed(plans)))}
    problems = [Problem("plans", f"{address!r} names no plan", fix) for address, files in found.items() if not files]
    files = {path.resolve(): path for paths in found.values() for path in paths}.values()
    twice = [name for name, times in Counter(map(plan_name, files)).items() if times > 1]
    problems += [Problem("plans", f"two files are called {name!r}", "rename one: labels go by name") for name in twice]
    if problems or not files:
        raise InputError(problems or [Problem("plans", "must name a plan, got an empty list", fix)])
    return {plan_name(path): path for path in files}


def _listed(plans: PlanPaths) -> Sequence[str | Path]:
    return [plans] if isinstance(plans, str | Path) else plans


def _found(path: Path) -> list[Path]:
    """Return the plans that a path names: itself, those of its folder, or those that its pattern matches."""
    if path.is_dir():
        return sorted(path.glob("*.md"))
    if path.is_file():
        return [path]
    try:
        return sorted(hit for hit in Path(path.anchor).glob(str(path.relative_to(path.anchor))) if hit.is_file())
    except (ValueError, NotImplementedError):  # no pattern, such as a**b
        return []


@contextmanager
def repository_of(inputs: BenchInputs) -> Iterator[Path]:
    """Yield the folder that the plans are about: that of the caller, or the sample repository, made for the while."""
    if inputs.repo is not None:
        yield inputs.repo
        return
    with TemporaryDirectory() as folder:
        yield sample_repository(Path(folder) / "repository")
