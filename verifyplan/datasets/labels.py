"""Labels of plans: the verdict a plan deserves and its defects; read from JSON, a mapping or a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self

import pandas as pd
from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, ValidationError, model_validator
from pydantic_core import ErrorDetails

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.files import read_json
from verifyplan.frames.bundled import data_folder
from verifyplan.protocol.base import Model
from verifyplan.protocol.records import Severity

SOUND = "sound"
"""The kind of a plan with which nothing is wrong."""

UNSOUND = "not sound"
"""The kind of a plan that deserves REVISE or RETHINK without a labelled defect: it counts in verdicts alone."""

VERDICTS = {"BLOCKING": "RETHINK", "SIGNIFICANT": "REVISE", "MINOR": "PROCEED"}
"""The verdict that a plan deserves by its worst defect."""

_SUFFIXES = (".md", ".markdown")


def _no_lone_text(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError(f"must be a list of texts, got the text {value!r}")
    return value


Text = Annotated[StrictStr, Field(min_length=1)]
Line = Annotated[StrictInt, Field(ge=1)]
PlaceText = Annotated[StrictStr, Field(pattern=r"^[^:\s][^:]*:[1-9][0-9]*(-[1-9][0-9]*)?$")]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_no_lone_text)]
Places = Annotated[tuple[PlaceText, ...], BeforeValidator(_no_lone_text)]


class DefectEvidence(Model):
    """A line that speaks about a defect, in the plan or in the repository, and words of it."""

    place: PlaceText = Field(description="`plan:12`, the plan's file (`PLAN.md:12`), or `waybill/db.py:34-40`.")
    quote: StrictStr = ""


class _Recognisable(Model):
    """A label of something that a challenge may say: known by words, and by where it looks."""

    needles: Texts = Field(min_length=1, description="A challenge that is meant mentions at least one.")
    line: Line | None = Field(default=None, description="The line of the plan that it is about.")
    places: Places = Field(default=(), description="Places that it would cite.")

    @property
    def cited(self) -> tuple[str, ...]:
        """Every place that a challenge that is meant would cite: the label's own line first."""
        own = () if self.line is None else (f"plan:{self.line}",)
        return (*own, *self.places)

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if not self.cited:
            evidence = " or evidence" if "evidence" in type(self).model_fields else ""
            given = f"a line, places{evidence}" if evidence else "a line or places"
            raise ValueError(f"must have {given}: a finding is matched by the places that it cites")
        return self


class LabelledChallenge(_Recognisable):
    """A challenge that agents raise, or might raise, against a plan, and whether it is right."""

    right: StrictBool = Field(description="Whether what it says of the plan is so, and matters.")
    reason: Text = Field(description="Why it is right or not, in a sentence.")
    answer: PlaceText | None = Field(
        default=None, description="The place of the plan or the repository that answers it: RESOLVED is then right."
    )


class LabelledDefect(_Recognisable):
    """A defect of a plan, where a good finding would look, and how it would be recognised."""

    severity: Severity = Field(description="How bad it is; the worst one of a plan gives its verdict.")
    kind: Text = Field(default="defect", description="What sort of defect it is, in a word of yours.")
    evidence: tuple[DefectEvidence, ...] = Field(default=(), description="The same, each with words of that line.")
    quote: StrictStr = Field(default="", description="Words of that line.")
    finding: StrictStr = Field(default="", description="The defect in one sentence.")
    why: StrictStr = Field(default="", description="The consequence from which the severity follows.")

    @property
    def cited(self) -> tuple[str, ...]:
        """Every place that a good finding would cite: the defect's own line first."""
        return (*super().cited, *(evidence.place for evidence in self.evidence))


class PlanLabel(Model):
    """A plan by its name, the verdict it deserves, and its defects: none in a sound plan.

    A plan that deserves REVISE or RETHINK is not sound, even if no defect is labelled: it counts in verdicts alone.
    """

    name: Text = Field(description="The name of the plan's file, with or without .md.")
    kind: Text | None = Field(
        default=None, description="`sound`, or the kind of its defects that name none; follows from the defects."
    )
    verdict: Literal["PROCEED", "REVISE", "RETHINK"] | None = Field(
        default=None, description="By default that of the worst defect: BLOCKING gives RETHINK, SIGNIFICANT REVISE."
    )
    held_out: StrictBool = Field(default=False, description="Kept for judging: nothing may be tuned on it.")
    domain: StrictStr = Field(default="", description="The domain of the plan, in a word of yours.")
    creates: Texts = Field(default=(), description="Files that the plan makes, and that the repository lacks.")
    absent: Texts = Field(default=(), description="Files that the plan names as not there, rightly.")
    defects: tuple[LabelledDefect, ...] = Field(default=(), description="Its defects; none in a sound plan.")
    challenges: tuple[LabelledChallenge, ...] = Field(
        default=(), description="Challenges of which it is known whether they are right, besides those about a defect."
    )

    @property
    def plan(self) -> str:
        """The name of the plan's file, without its suffix."""
        return plan_name(self.name)

    @property
    def expected(self) -> str:
        """The verdict that the plan deserves."""
        severities = {defect.severity for defect in self.defects}
        return self.verdict or next((VERDICTS[worst] for worst in VERDICTS if worst in severities), VERDICTS["MINOR"])

    @model_validator(mode="before")
    @classmethod
    def _pass_kind_on(cls, value: Any) -> Any:
        """Return a label whose kind is also that of its defects that name none."""
        kind, defects = (value.get("kind"), value.get("defects")) if isinstance(value, Mapping) else (None, None)
        if kind is None or kind in (SOUND, UNSOUND) or not isinstance(defects, list | tuple):
            return value
        named = [{"kind": kind, **defect} if isinstance(defect, Mapping) else defect for defect in defects]
        return {**value, "defects": named}

    @model_validator(mode="after")
    def _is_of_its_kind(self) -> Self:
        kinds = dict.fromkeys(defect.kind for defect in self.defects) or {self.kind_without_defects: None}
        if self.kind is None or self.kind in kinds:
            return self
        if self.defects:
            fix = "leave it out, or list no defects for a sound plan"
            raise ValueError(f"kind must be the kind of one of its defects ({one_of(kinds)}), got {self.kind!r}: {fix}")
        raise ValueError(
            f"kind must be {self.kind_without_defects!r} for a label without defects and with the verdict "
            f"{self.expected}, got {self.kind!r}: list the defects, change the verdict, or leave out kind"
        )

    @property
    def kind_without_defects(self) -> str:
        """The kind of the plan where no defect is labelled: sound, if it deserves PROCEED."""
        return SOUND if self.expected == VERDICTS["MINOR"] else UNSOUND


def plan_name(path: str | PurePath) -> str:
    """Return the name by which a plan's file is labelled: without folder and suffix.

    >>> plan_name("plans/v1.2-move.md"), plan_name("v1.2-move")
    ('v1.2-move', 'v1.2-move')
    """
    name = PurePath(path).name
    return PurePath(name).stem if name.lower().endswith(_SUFFIXES) else name


COLUMNS = ("plan", "kind", "verdict", "held_out", "severity", "line", "needles", "places")
"""The columns of a table of labels: a row for each defect, and one for each plan without."""

_REQUIRED_COLUMNS = ("plan", "kind", "severity", "needles", "places")
_EXAMPLE = "{'move': {'defects': [{'severity': 'BLOCKING', 'needles': ['db.py'], 'line': 3}]}, 'sound-plan': {}}"
_FIX = f"write labels such as {_EXAMPLE}; {data_folder() / 'plans' / 'README.md'} describes all keys"
_FORMS = {
    "PlanLabel": "a label is a mapping such as {'verdict': 'REVISE', 'defects': [defect, ...]}, {} for a sound plan",
    "LabelledDefect": "a defect is a mapping such as {'severity': 'BLOCKING', 'needles': ['db.py'], 'line': 3}",
    "LabelledChallenge": "a challenge is a mapping such as {'right': False, 'needles': ['db.py'], 'line': 3, 'reason': "
    "'step 2 makes it'}",
    "DefectEvidence": "an evidence is a mapping such as {'place': 'plan:12', 'quote': 'drop it'}",
}
"""The form that is expected where a label holds something else, by the model that it should be."""

Labels = str | Path | Mapping[str, Any] | pd.DataFrame | Iterable[PlanLabel]
"""The sources that labels can be read from."""


def read_labels(labels: Labels) -> tuple[PlanLabel, ...]:
    """Return the labels of plans from a JSON file, a mapping, a table, or labels that were read before.

    JSON and mappings hold `{"plans": [label, ...]}` or `{name: label, ...}`; `PlanLabel`, `LabelledDefect` and
    `LabelledChallenge` describe a label. A table has a row for each defect and one for each plan without: `plan, kind,
    severity, needles, places` and, if there, `verdict, held_out, line`; it holds no labels of challenges.
    Raises InputError for what cannot be read, listing every problem of every label.

    >>> defect = {"severity": "BLOCKING", "needles": ["db.py"], "line": 3}
    >>> [label] = read_labels({"move": {"defects": [defect]}})
    >>> label.expected, label.defects[0].cited
    ('RETHINK', ('plan:3',))
    """
    if isinstance(labels, pd.DataFrame):
        return _validated(_of_table(labels), "labels")
    if isinstance(labels, str | Path):
        content = read_json(Path(labels), f"name a JSON file of labels such as {_EXAMPLE}")
        return _validated(_of_mapping(content, str(labels)), str(labels))
    if isinstance(labels, Mapping):
        return _validated(_of_mapping(labels, "labels"), "labels")
    ready = tuple(labels) if isinstance(labels, Iterable) else (labels,)
    if not all(isinstance(label, PlanLabel) for label in ready):
        fix = "give the path of a JSON file, a mapping of names to labels, or a table"
        raise InputError(Problem("labels", f"must be labels of plans, got a {type(labels).__name__}", fix))
    return ready


def label_table(labels: Labels) -> pd.DataFrame:
    """Return labels as a table: a row for each defect, and one for each plan without, its severity and line empty.

    The kind of a plan without defects is `sound`; where it deserves REVISE or RETHINK, `not sound`. Columns: `plan,
    kind, verdict, held_out, severity, line, needles, places`. Raises InputError as `read_labels` does.

    >>> from verifyplan.datasets.plans import labelled_plans
    >>> label_table(labelled_plans(held_out=False)).iloc[0][["plan", "kind", "verdict"]].tolist()
    ['shop-reference', 'sound', 'PROCEED']
    """
    rows = []
    for label in read_labels(labels):
        common = {"plan": label.plan, "verdict": label.expected, "held_out": label.held_out}
        if not label.defects:
            kind = label.kind_without_defects
            rows.append({**common, "kind": kind, "severity": None, "line": None, "needles": (), "places": ()})
        for defect in label.defects:
            own = {"kind": defect.kind, "severity": defect.severity, "line": defect.line}
            rows.append({**common, **own, "needles": defect.needles, "places": defect.cited})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def challenge_label_table(labels: Labels) -> pd.DataFrame:
    """Return the labelled challenges as a table: `plan, right, reason, answer, needles, places`; empty for a table.

    Raises InputError as `read_labels` does.

    >>> from verifyplan.datasets.plans import labelled_plans
    >>> challenge_label_table(labelled_plans()).columns.tolist()
    ['plan', 'right', 'reason', 'answer', 'needles', 'places']
    """
    rows = [
        (label.plan, said.right, said.reason, said.answer, said.needles, said.cited)
        for label in read_labels(labels)
        for said in label.challenges
    ]
    return pd.DataFrame(rows, columns=["plan", "right", "reason", "answer", "needles", "places"])


def _of_mapping(value: Any, place: str) -> list[Any]:
    """Return the labels one by one, each with its name; InputError for a value that has neither form."""
    if isinstance(value, Mapping) and isinstance(value.get("plans"), list | tuple):
        return list(value["plans"])
    if not isinstance(value, Mapping):
        raise InputError(Problem(place, f"must hold labels by the names of plans, got a {type(value).__name__}", _FIX))
    return [{"name": name, **label} if isinstance(label, Mapping) else label for name, label in value.items()]


def _of_table(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of each plan as one label; InputError for missing columns, or rows that disagree on a plan.

    The line of a defect is among its places, as in `label_table`.
    """
    if missing := [name for name in _REQUIRED_COLUMNS if name not in table]:
        fix = f"give a table with {', '.join(_REQUIRED_COLUMNS)}, as datasets.plan_labels does"
        raise InputError(Problem("labels", f"has no column {name!r}", fix) for name in missing)
    for plan, rows in table.groupby("plan", sort=False):
        wrong = [name for name in ("verdict", "held_out") if name in rows and rows[name].nunique(dropna=False) > 1]
        if wrong:
            raise InputError(Problem(f"labels: {plan}", f"its rows disagree on {wrong[0]}", "give each the same"))
        common = {name: _plain(rows[name].iloc[0]) for name in ("verdict", "held_out") if name in rows}
        defects = [
            {name: _plain(row[name]) for name in ("kind", "severity", "needles", "places")}
            for row in rows.to_dict("records")
            if row["kind"] != SOUND and not (row["kind"] == UNSOUND and pd.isna(row["severity"]))
        ]
        if not defects and rows["kind"].eq(SOUND).all():
            common["kind"] = SOUND
        yield {"name": plan, "defects": defects} | {name: cell for name, cell in common.items() if cell is not None}


def _plain(value: Any) -> Any:
    """Return a cell as JSON has it: lists of any sort as lists, empty cells as None."""
    if isinstance(value, str):
        return str(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple | set):
        return list(value)
    return None if pd.isna(value) else value


def _validated(values: Iterable[Any], place: str) -> tuple[PlanLabel, ...]:
    """Return the labels; InputError listing all that is wrong with any, and plans with two labels."""
    labels, problems = list[PlanLabel](), list[Problem]()
    for number, value in enumerate(values):
        name = value.get("name", number) if isinstance(value, Mapping) else number
        try:
            labels.append(PlanLabel.model_validate(value))
        except ValidationError as error:
            details = error.errors(include_url=False)
            problems += [
                Problem(f"{place}: {'.'.join(map(str, (name, *detail['loc'])))}", _message(detail), _FIX)
                for detail in details
            ]
    twice = [name for name, times in Counter(label.plan for label in labels).items() if times > 1]
    problems += [Problem(f"{place}: {name}", "is labelled twice", "give a plan one label") for name in twice]
    if problems:
        raise InputError(problems)
    return tuple(labels)


def _message(error: ErrorDetails) -> str:
    """Return what is wrong at a place of a label, and what form is expected there."""
    form = _FORMS.get(str(error.get("ctx", {}).get("class_name")))
    if form is not None:
        return f"is {error['input']!r:.100}, of type {type(error['input']).__name__}: {form}"
    if error["type"] == "tuple_type":
        return f"must be a list, got {error['input']!r:.100}"
    if error["type"] == "string_pattern_mismatch":
        return f"must be a place such as 'plan:12' or 'src/db.py:34-40', got {error['input']!r:.100}"
    if error["msg"].startswith("Input should "):
        return f"must {error['msg'].removeprefix('Input should ')}, got {error['input']!r:.100}"
    return error["msg"].removeprefix("Value error, ")
