"""Plans with labelled defects and the repository they speak of: the truth by which plan verification is scored."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar, get_args

import pandas as pd
from pydantic import AwareDatetime, Field, StrictBool, StrictInt, StrictStr, ValidationError, model_validator

from verifyplan.datasets.bundled import path as bundled_path
from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.protocol.base import Model
from verifyplan.protocol.challenge import Severity
from verifyplan.words import did_you_mean

DefectKind = Literal[
    "missing-file", "wrong-symbol", "rule-conflict", "unstated-dependency", "no-rollback", "stale-claim", "duplicate",
    "contradictory-steps", "missing-check", "missing-timeout-or-retry", "wrong-command", "data-without-backfill",
    "missing-access-control",
]  # fmt: skip
DEFECT_KINDS: tuple[DefectKind, ...] = get_args(DefectKind)
_VERDICTS = {"BLOCKING": "RETHINK", "SIGNIFICANT": "REVISE", "MINOR": "PROCEED"}

M = TypeVar("M", bound=Model)
Text = Annotated[StrictStr, Field(min_length=1)]
Line = Annotated[StrictInt, Field(ge=1)]


class Evidence(Model):
    """A line that speaks about a defect, in the plan or in the repository, and words that stand in it."""

    place: StrictStr = Field(pattern=r"^[\w./-]+:[1-9][0-9]*$", description="`plan:12`, or `waybill/db.py:34`.")
    quote: Text


class Defect(Model):
    """What is wrong with a plan, where a good finding would look, and how it would be recognised."""

    kind: DefectKind
    line: Line = Field(description="The line of the plan that is wrong.")
    quote: Text = Field(description="Words of that line.")
    finding: Text = Field(description="The defect in one sentence.")
    evidence: tuple[Evidence, ...] = Field(description="Other lines that a good finding would cite.")
    severity: Severity
    needles: tuple[Text, ...] = Field(min_length=1, description="A finding about the defect mentions at least one.")
    why: Text = Field(description="The consequence from which the severity follows.")

    @property
    def places(self) -> tuple[str, ...]:
        """The places that a good finding would cite: the defect's own line first."""
        return (f"plan:{self.line}", *(one.place for one in self.evidence))


class LabelledPlan(Model):
    """A plan, the verdict it deserves, and its seeded defects: none in a sound plan, else exactly one."""

    name: Annotated[StrictStr, Field(pattern=r"^[\w-]+$")]
    kind: DefectKind | Literal["sound"]
    verdict: Literal["PROCEED", "REVISE", "RETHINK"]
    held_out: StrictBool = Field(description="Kept for judging: nothing may be tuned on it.")
    domain: Text
    creates: tuple[Text, ...] = Field(description="Files that the plan makes, and that the repository lacks.")
    absent: tuple[Text, ...] = Field(description="Files that the plan names as not there, rightly.")
    defects: Annotated[tuple[Defect, ...], Field(max_length=1)]

    @property
    def path(self) -> Path:
        """The plan's Markdown file."""
        return _folder() / "plans" / f"{self.name}.md"

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        kinds: list[str] = [one.kind for one in self.defects] or ["sound"]
        verdicts = [_VERDICTS[one.severity] for one in self.defects] or ["PROCEED"]
        if [self.kind] != kinds or [self.verdict] != verdicts:
            raise ValueError(f"{self.kind} and {self.verdict} do not follow from the defects: {kinds}, {verdicts}")
        return self


class _Labels(Model):
    plans: tuple[LabelledPlan, ...]


class _Draft(Model):
    now: Text
    then: StrictStr


class _Commit(Model):
    at: AwareDatetime
    subject: Text
    body: StrictStr
    files: dict[str, StrictStr | tuple[_Draft, ...]] = Field(description="Whole text, or how it differed from now.")
    removed: tuple[StrictStr, ...]


class _History(Model):
    author: Text
    branch: Text
    commits: tuple[_Commit, ...]


def labelled_plans(held_out: bool | None = None) -> list[LabelledPlan]:
    """All labelled plans in the order of `labels.json`; only those held out, or only the others, where `held_out` says.

    The labels were made by reading, not by any checker. InputError if the bundled labels are damaged.

    >>> {plan.verdict for plan in labelled_plans() if plan.kind == "sound"}
    {'PROCEED'}
    >>> labelled_plans(held_out=False)[0].name
    'shop-reference'
    """
    return [one for one in _labels().plans if held_out is None or one.held_out == held_out]


def plan_path(name: str) -> Path:
    """The Markdown file of a labelled plan; InputError for a name that there is none of.

    >>> plan_path("readme-dbmate").name
    'readme-dbmate.md'
    """
    names = [one.name for one in _labels().plans]
    if name not in names:
        raise InputError(
            Problem("plan", f"{name!r} is not labelled{did_you_mean(name, names)}", "use a name of `labelled_plans()`")
        )
    return _folder() / "plans" / f"{name}.md"


def sample_repository(folder: str | Path) -> Path:
    """Make the repository that the labelled plans speak of in `folder`, with its git history; return its path.

    Times and authors are fixed, so the commits have the same hashes everywhere. `folder` must not exist, or be empty;
    it is filled whole or not at all. InputError if it is not empty, or if git is missing or fails.
    """
    target = Path(folder).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(Problem(str(folder), "is not an empty folder", "give a new or an empty folder"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tmp-sample-", dir=target.parent) as temporary:
        made = Path(temporary) / "repository"
        history = _read(_History, "history.json")
        _git(made.parent, "init", "--quiet", "--template=", f"--initial-branch={history.branch}", made.name)
        _git(made, "fast-import", "--quiet", stdin=b"".join(_stream(history)))
        _git(made, "reset", "--quiet", "--hard")
        if target.exists():
            target.rmdir()  # replacing an empty folder is not possible everywhere
        made.rename(target)
    return target


def _folder() -> Path:
    return bundled_path("contract").parent / "plans"  # beside the sets of recorded runs, installed or not


@cache
def _labels() -> _Labels:
    return _read(_Labels, "labels.json")


def _read(model: type[M], name: str) -> M:
    text = decode((_folder() / name).read_bytes(), name)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise InputError(
            Problem(f"{name}: {'.'.join(map(str, one['loc']))}", one["msg"], "install verifyplan again")
            for one in error.errors()
        ) from None


def _stream(history: _History) -> Iterator[bytes]:
    """The history in the format of git fast-import, which needs no working tree and no settings of the user."""
    for commit in history.commits:
        who = f"{history.author} {_stamp(commit.at)}".encode()
        yield b"commit refs/heads/%s\nauthor %s\ncommitter %s\n" % (history.branch.encode(), who, who)
        yield _data("\n\n".join(filter(None, (commit.subject, commit.body))) + "\n")
        for path in commit.removed:
            yield b"D %s\n" % path.encode()
        for path, text in commit.files.items():
            mode = b"100755" if path.endswith(".sh") else b"100644"
            yield b"M %s inline %s\n" % (mode, path.encode())
            yield _data(text if isinstance(text, str) else _earlier(path, text))


def _stamp(at: datetime) -> str:
    return f"{int(at.timestamp())} {at:%z}"


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


def _earlier(path: str, drafts: tuple[_Draft, ...]) -> str:
    text = decode((_folder() / "repository" / path).read_bytes(), path)
    for draft in drafts:
        if text.count(draft.now) != 1:
            raise InputError(Problem(f"history.json: {path}", f"{draft.now!r} is not there once", "mend the draft"))
        text = text.replace(draft.now, draft.then)
    return text


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> None:
    """Run git where neither the user's settings nor those of a surrounding git command can reach it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = kept | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "XDG_CONFIG_HOME": os.devnull}
    try:
        subprocess.run(
            ["git", "-c", "core.autocrlf=false", *arguments],
            cwd=folder, env=environment, input=stdin, capture_output=True, check=True,
        )  # fmt: skip
    except FileNotFoundError:
        raise InputError(Problem("git", "is not installed, or not on the PATH", "install git 2.28 or newer")) from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise InputError(Problem(f"git {arguments[0]}", said or "failed", "see that git works here")) from None


def plan_labels(held_out: bool | None = None) -> pd.DataFrame:
    """The labels as a table: a row per defect, and one per sound plan, whose severity, line and lists are empty.

    Columns: `plan, kind, verdict, held_out, severity, line, needles, places`.

    >>> labels = plan_labels()
    >>> int((labels["kind"] == "sound").sum()), labels["plan"].nunique()
    (13, 42)
    """
    rows = []
    for plan in labelled_plans(held_out):
        common = {"plan": plan.name, "verdict": plan.verdict, "held_out": plan.held_out}
        if not plan.defects:
            rows.append({**common, "kind": "sound", "severity": None, "line": None, "needles": (), "places": ()})
        rows += [
            {
                **common,
                "kind": defect.kind,
                "severity": defect.severity,
                "line": defect.line,
                "needles": defect.needles,
                "places": defect.places,
            }
            for defect in plan.defects
        ]
    return pd.DataFrame(rows)
