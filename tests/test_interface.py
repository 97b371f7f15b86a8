"""The interface as docs/interface.md promises it: names, sentences, and parameters that mean the same everywhere."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

import verifyplan as vp
from tests.interface_page import PAGE, public_objects, row, rows, sentence

OBJECTS = public_objects()
FUNCTIONS = {name: value for name, value in OBJECTS.items() if inspect.isfunction(value)}
CALLABLES = {
    name: value
    for name, value in OBJECTS.items()
    if name in FUNCTIONS
    or name == "vp.Setting"
    or (re.match(r"vp\.(widgets|agents)\.[A-Z]", name) and f"vp.protocol.{name.rpartition('.')[2]}" not in OBJECTS)
}

ELSEWHERE_CALLED = {
    "root": "repo, or log_dir",
    "out": "log_dir, or path for one file",
    "directory": "repo, or log_dir",
    "rounds": "max_rounds",
    "verification_mode": "verification",
    "random_state": "seed",
    "n_boot": "resamples",
    "runset": "runs",
    "model_backend": "backend",
}
"""Names that other libraries use, and ours."""

EXCEPTIONS = {("vp.revise", "out")}
"""`revise(out=)` is the file of the revised plan, written beside the logs."""

TYPES = {
    "runs": {"Runs", "Runs | Mapping[str, Runs]", "RunSet | pd.DataFrame", "Runs | pd.DataFrame"},
    "repo": {"str | Path", "str | Path | None"},
    "log_dir": {"str | Path", "str | Path | None"},
    "backend": {"str | Backend", "str | Backend | None", "ModelBackend | None"},
    "mode": {
        "Mode",
        "Mode | None",
        "Mode | list[Mode] | None",
        "ReplayMode",
        "ReplayMode | None",
        "ReplayMode | list[ReplayMode] | None",
    },
    "max_rounds": {"int", "int | None"},
    "max_tokens": {"int | None", "int"},
    "max_cost": {"Decimal | str | float | None"},
    "missing_basis": {"MissingBasis"},
    "resamples": {"int"},
    "seed": {"int"},
    "progress": {"bool | None"},
}
"""The types that a parameter of a name may have."""

COLUMNS_OF_VOTES = "vp.from_votes"
"""Its arguments name columns of a table."""


def parameters() -> Iterator[tuple[str, str, str]]:
    for function, value in CALLABLES.items():
        for name, parameter in inspect.signature(value).parameters.items():
            yield function, name, str(parameter.annotation)


def test_the_page_lists_every_public_name_once_and_no_other():
    listed = [name for names, _ in rows(PAGE.read_text("utf-8")) for name in names]
    assert sorted(listed) == sorted(OBJECTS), "run make interface"


def test_the_page_counts_the_names_at_the_top():
    assert f"{len(vp.__all__)} at the top" in PAGE.read_text("utf-8")


def test_the_page_says_of_each_name_what_its_help_says_first():
    for names, text in rows(PAGE.read_text("utf-8")):
        for name in names:
            assert text == row(names, OBJECTS[name]), "run make interface"


def test_the_parameters_on_the_page_are_parameters():
    table = PAGE.read_text("utf-8").partition("| parameter | meaning |")[2].partition("\n\n")[0]
    told = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1] if line else "")}
    assert {"repo", "log_dir", "runs", "seed"} <= told
    assert told <= {name for _, name, _ in parameters()}


def test_a_parameter_has_one_name_everywhere():
    other = [(function, name) for function, name, _ in parameters() if name in ELSEWHERE_CALLED]
    assert set(other) == EXCEPTIONS


@pytest.mark.parametrize("name", TYPES)
def test_a_parameter_has_one_type_everywhere(name):
    found = {function: kind for function, n, kind in parameters() if n == name and function != COLUMNS_OF_VOTES}
    assert found
    assert {function: kind for function, kind in found.items() if kind not in TYPES[name]} == {}


def test_the_first_line_of_help_is_one_sentence():
    firsts = {name: sentence(value) for name, value in OBJECTS.items()}
    assert {name: first for name, first in firsts.items() if not re.fullmatch(r"[A-Z].*\.", first)} == {}


def test_a_function_says_first_what_it_does():
    firsts = {name: sentence(value).split()[0] for name, value in FUNCTIONS.items()}
    nouns = {"A", "An", "The", "What", "Whether", "How", "Which", "One", "All"}
    assert {name: first for name, first in firsts.items() if first in nouns} == {}


def test_every_function_has_an_example():
    assert [name for name, value in FUNCTIONS.items() if ">>> " not in (inspect.getdoc(value) or "")] == []


def test_help_explains_every_field_of_every_public_type():
    lacking = {}
    for name, kind in OBJECTS.items():
        named = [field.name for field in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", ())
        told = inspect.getdoc(kind) or ""
        explained = re.findall(r"^    (\w+): .", told, re.MULTILINE)
        missing = [field for field in named if field not in explained and not field.startswith("_")]
        lacking |= {name: missing} if missing else {}
    assert lacking == {}
    assert "    summary: `metric`, then of each" in vp.results.Comparison.__doc__
