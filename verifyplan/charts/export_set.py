"""A figure with what belongs to it, in one call: pictures, data and caption, as a paper wants them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.charts.export import FORMATS, rendered
from verifyplan.charts.figure import Figure, spec, title_of
from verifyplan.charts.labels import plain
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.files import replacing, try_to_write

ALWAYS = ("csv", "txt")
"""What is written beside the pictures."""


def export_set(figure: Figure, path: str | Path, formats: Iterable[str] = ("png", "svg")) -> list[Path]:
    """Write a figure in each of the formats beside its data and its caption; return the paths, in this order.

    `path` is a name without a suffix: for `out/scores` there are `out/scores.png`, `out/scores.svg`,
    `out/scores.csv` (the figure's data; lists joined by semicolons, what is missing empty) and `out/scores.txt` (title,
    caption, and the description as alt text). Formats are those of `export`: png, svg, pdf, html, json; without any,
    data and caption are written alone. Missing folders are made. InputError lists all that is wrong before anything is
    written; the files are replaced only when all of them are whole.
    """
    chosen = _formats(formats)
    target = Path(path)
    problems = [*_wrong_figure(figure), *_wrong_formats(chosen), *_wrong_path(target, chosen)]
    if problems:
        raise InputError(problems)
    drawn = {name: rendered(figure, name) for name in chosen}
    return _written(target, drawn | {"csv": _bytes(_csv(figure.data)), "txt": _bytes(_words(figure))})


def _formats(formats: Iterable[str]) -> list[str]:
    """The formats by their plain names, each once; a text is one format, not its letters."""
    given = formats if isinstance(formats, Iterable) and not isinstance(formats, str) else [formats]
    return list(dict.fromkeys(str(name).lower().removeprefix(".") for name in given))


def _wrong_figure(figure: object) -> list[Problem]:
    if isinstance(figure, Figure):
        return []
    message = f"a {type(figure).__name__} is no figure"
    return [Problem("export_set: figure", message, "give what a function of verifyplan.charts returns")]


def _wrong_formats(chosen: list[str]) -> list[Problem]:
    unknown = [name for name in chosen if name not in FORMATS]
    return [
        Problem("export_set: formats", f"there is no format {name!r}", f"use {one_of(FORMATS)}") for name in unknown
    ]


def _wrong_path(target: Path, chosen: list[str]) -> list[Problem]:
    """What would keep the files from being written: a suffix, folders in their place, a folder that cannot be had."""
    place = f"export_set: {plain(target)}"
    every = [*(name for name in chosen if name in FORMATS), *ALWAYS]
    suffix = target.suffix.lower().removeprefix(".")
    if target.name in {"", ".."} or "\0" in target.name:
        return [Problem(place, "is no name of a file", "give a folder and a name without a suffix")]
    if suffix in {*FORMATS, *ALWAYS}:
        return [Problem(place, f"ends in .{suffix}", "leave the suffix away: one is added for each file")]
    try:
        taken = [path.name for path in (_beside(target, name) for name in every) if path.is_dir()]
        try_to_write(target.parent)
    except OSError as error:
        message = f"its folder cannot be written to ({error.strerror or error})"
        return [Problem(place, message, "give a folder that you may write to")]
    return [Problem(place, f"{name} is a folder", "give another name") for name in taken]


def _beside(target: Path, name: str) -> Path:
    """The path with a format's suffix behind it; a dot in the name stays, as in `figure-1.2`."""
    return target.with_name(f"{target.name}.{name}")


def _written(target: Path, files: dict[str, bytes]) -> list[Path]:
    """All files written beside their targets first; they take their places when the last one is whole."""
    paths = [_beside(target, name) for name in files]
    with ExitStack() as stack:
        for path, data in zip(paths, files.values(), strict=True):
            stack.enter_context(replacing(path)).write_bytes(data)
    return paths


def _csv(data: pd.DataFrame) -> str:
    """The rows as CSV; an index that says something is a column of its own."""
    rows = data if isinstance(data.index, pd.RangeIndex) else data.reset_index()
    columns = [rows.iloc[:, number] for number in range(rows.shape[1])]
    told = [column.map(_cell).astype("object") if column.dtype == "object" else column for column in columns]
    named = pd.concat(told, axis=1, keys=range(len(told))) if told else rows
    text: str = named.to_csv(index=False, header=[str(name) for name in rows.columns], lineterminator="\n")
    return text


def _cell(value: Any) -> Any:
    """A list joined to one text; half characters, which no file can hold, become question marks."""
    text = "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


def _words(figure: Figure) -> str:
    return f"{title_of(spec(figure.chart))}\n\n{figure.caption}\n\nAlt text: {figure.description}\n"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
