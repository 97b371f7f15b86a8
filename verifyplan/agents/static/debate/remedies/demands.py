"""What a kind of step calls for, and the sentence that a plan settles it with; the sentences are data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from verifyplan.agents.static.debate.page import Lines
from verifyplan.agents.static.debate.remedies import calling
from verifyplan.agents.static.debate.remedies.case import Case


@cache
def sentences() -> dict[str, str]:
    """The sentence that settles each demand, by what is demanded; demands that need a decision have none."""
    table = tomllib.loads(files(__package__ or "").joinpath("demands.toml").read_text("utf-8"))
    return {str(one["what"]): str(one["sentence"]) for one in table["demand"]}


def meet(case: Case) -> Lines | None:
    """The call with its limit, or the sentence for what is demanded in the step that calls for it."""
    words, what = (*case.names, "")[:2]
    if what == "a timeout and retries of that call":
        return calling.limit(case)
    if what == "the rows that are already there":
        return case.add_before_release(_rows(words))
    sentence = sentences().get(what)
    return case.add_before_release(sentence) if sentence else None


def _rows(words: str) -> str:
    column = words.split()[-1].strip('`";,') if "column" in words else ""
    if column.isidentifier():
        return (
            f"Before anything reads it, fill `{column}` in the rows that are already there, in batches, with the value "
            "that keeps what holds for them today. It is done when a count of the rows without a value gives none."
        )
    return (
        "Before the release, bring the existing rows into the new form, in batches. Rows that would then be equal are "
        "listed first and settled by hand. It is done when a count of the rows in the old form gives none."
    )


def combined(case: Case) -> Lines | None:
    """A trial on a copy in front of what cannot be undone."""
    return case.add("Before that, try it on a copy of the data, and compare what it would touch with what it should.")
