"""Write charts as files: PNG, SVG, PDF, HTML that needs no network, Vega-Lite; and sets of files for a paper."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from verifyplan.charts.adaptive import DARK, on_dark
from verifyplan.charts.figure import Figure, drawn_svg, spec, svg_text, title_of
from verifyplan.charts.labels import plain
from verifyplan.charts.options import SCALE, scale_problems
from verifyplan.charts.theme import FONT, INK, PAPER, theme
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.files import CHART_FORMATS, replacing, try_to_write
from verifyplan.frames.csv_tables import safe_table

PIXELS_PER_INCH = 72
BESIDE = ("csv", "txt")
"""Formats of the data and the words that `export_set` writes beside the pictures."""


def export(figure_or_chart: Figure | alt.TopLevelMixin, path: str | Path, *, scale: float | None = None) -> Path:
    """Write a figure, or any Altair chart, to `path` in the format of its suffix; return the path.

    Suffixes: `.png`, `.svg`, `.pdf`, `.html` (interactive, with caption, works without network) and `.json` (the
    Vega-Lite specification). `scale` is how many dots of a PNG make a pixel, from 0.25 to 10 (the figure's own, else
    2: 144 dots an inch). Figures are dark in all formats where `charts.theme("dark")` is set, else light. Missing
    folders are made, and an existing file is replaced only when the new one is whole. An unknown suffix or a bad scale
    is an InputError. Texts of the data stay text in every format.

    >>> import tempfile, verifyplan as vp
    >>> figure = vp.charts.queue("contract")
    >>> export(figure, tempfile.mkdtemp() + "/queue.svg").name
    'queue.svg'
    """
    if not isinstance(figure_or_chart, Figure | alt.TopLevelMixin):
        message = f"a {type(figure_or_chart).__name__} is not a figure"
        raise InputError(
            Problem("export", message, "give what a function of verifyplan.charts returns, or an Altair chart")
        )
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix.removeprefix(".") not in CHART_FORMATS or not suffix:
        message = f"there is no format for the suffix {target.suffix!r}"
        suffixes = one_of(f".{name}" for name in CHART_FORMATS)
        raise InputError(Problem(f"export to {target}", message, f"end the name in one of {suffixes}"))
    if scale is not None and (problems := scale_problems(scale)):
        raise InputError(problems)
    data = _rendered(figure_or_chart, suffix.removeprefix("."), scale)
    with replacing(target) as temporary:
        temporary.write_bytes(data)
    return target


def _rendered(shown: Figure | alt.TopLevelMixin, name: str, scale: float | None) -> bytes:
    """Return a figure or a bare chart as the content of a file of one format; a bare chart keeps its colours."""
    dark = isinstance(shown, Figure) and theme.chosen() == "dark"
    drawn = spec(shown.chart) if isinstance(shown, Figure) else dict(shown.to_dict())
    drawn = on_dark(drawn) if dark else drawn
    description = shown.description if isinstance(shown, Figure) else str(drawn.get("description", title_of(drawn)))
    match name:
        case "png":
            own = shown.scale if isinstance(shown, Figure) else SCALE
            ppi = PIXELS_PER_INCH * (own if scale is None else scale)
            return vl_convert.svg_to_png(drawn_svg(json.dumps(drawn)), ppi=ppi)
        case "svg":
            return svg_text(drawn, description).encode()
        case "pdf":
            return vl_convert.svg_to_pdf(drawn_svg(json.dumps(drawn)))
        case "html":
            caption = shown.caption if isinstance(shown, Figure) else ""
            return _html(drawn, description, caption, DARK if dark else {}).encode()
        case _:
            return (json.dumps(drawn, indent=2, ensure_ascii=False) + "\n").encode()


def _html(drawn: dict[str, Any], description: str, caption: str, colors: Mapping[str, str]) -> str:
    """Return a page that names the two scripts it runs by their hashes, so that no other can run or be loaded.

    `colors` replaces those of the page.
    """
    data = json.dumps(drawn)  # ASCII, so the line separators that scripts mind are escaped as well
    for sign, escaped in _SCRIPT_ESCAPES.items():
        data = data.replace(sign, escaped)
    draw = f'vegaEmbed("#chart", {data}, {_OPTIONS}).catch(console.error);'
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in (_library(), draw)]
    return _PAGE.format(
        scripts=" ".join(f"'sha256-{digest}'" for digest in digests),
        title=html.escape(title_of(drawn)),
        description=html.escape(description),
        caption=html.escape(caption),
        svg=svg_text(drawn, description),
        library=_library(),
        draw=draw,
        paper=colors.get(PAPER, PAPER),
        ink=colors.get(INK, INK),
    )


@functools.cache
def _library() -> str:
    """Return the installed Vega-Embed, Vega-Lite and Vega as one script; nothing is loaded from elsewhere."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


_SCRIPT_ESCAPES = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}
"""So that no text in JSON can end the script around it or begin a comment."""
_OPTIONS = '{actions: false, renderer: "svg", ast: true}'
"""No menu; and expressions are interpreted, which needs no right to make code out of text."""

_PAGE = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src {{scripts}}; style-src 'unsafe-inline'; img-src data:">
<title>{{title}}</title>
<style>
body {{{{ margin: 2em; background: {{paper}}; color: {{ink}}; font: 15px/1.5 {FONT}; }}}}
figure {{{{ margin: 0; }}}}
figcaption {{{{ max-width: 52em; padding: 0 14px; }}}}
</style>
<script>{{library}}</script>
</head>
<body>
<figure aria-label="{{title}}">
<div id="chart" role="img" aria-label="{{description}}">{{svg}}</div>
<figcaption>{{caption}}</figcaption>
</figure>
<script>{{draw}}</script>
</body>
</html>
"""


def export_set(
    figure: Figure,
    path: str | Path,
    formats: Iterable[str] = ("png", "svg"),
    *,
    raw: bool = False,
    scale: float | None = None,
) -> list[Path]:
    """Write a figure in each of the formats beside its data and its caption; return the paths, in this order.

    `path` is a name without a suffix: `out/scores` writes `out/scores.png`, `out/scores.svg`,
    `out/scores.csv` (the figure's data; lists joined by semicolons, missing values empty) and `out/scores.txt` (title,
    caption, and the description as alt text). In the CSV, texts that a spreadsheet would run as formulas get an
    apostrophe in front, and escape codes are spelled out, unless `raw`. Formats and `scale` are those of `export`: png,
    svg, pdf, html, json; without any, data and caption are written alone. Missing folders are made. InputError lists
    all that is wrong before anything is written; the files are replaced only when all of them are whole.

    >>> import tempfile, verifyplan as vp
    >>> figure = vp.charts.queue("contract")
    >>> [path.name for path in export_set(figure, tempfile.mkdtemp() + "/queue", formats=["svg"])]
    ['queue.svg', 'queue.csv', 'queue.txt']
    """
    names = formats if isinstance(formats, Iterable) and not isinstance(formats, str) else [formats]
    chosen = list(dict.fromkeys(str(name).lower().removeprefix(".") for name in names))
    target = Path(path)
    problems = [*_figure_problems(figure, chosen), *_path_problems(target, chosen)]
    problems += [] if scale is None else scale_problems(scale)
    if problems:
        raise InputError(problems)
    words = f"{title_of(spec(figure.chart))}\n\n{figure.caption}\n\nAlt text: {figure.description}\n"
    files = {name: _rendered(figure, name, scale) for name in chosen}
    files |= {"csv": _csv(figure.data, raw=raw).encode("utf-8", "replace"), "txt": words.encode("utf-8", "replace")}
    with ExitStack() as stack:  # all are written beside their targets, then all take their places
        for name, data in files.items():
            stack.enter_context(replacing(_with_suffix(target, name))).write_bytes(data)
    return [_with_suffix(target, name) for name in files]


def _figure_problems(figure: object, chosen: list[str]) -> list[Problem]:
    fix = "give what a function of verifyplan.charts returns"
    wrong = [] if isinstance(figure, Figure) else [f"a {type(figure).__name__} is not a figure"]
    unknown = [f"there is no format {name!r}" for name in chosen if name not in CHART_FORMATS]
    return [
        *(Problem("export_set: figure", message, fix) for message in wrong),
        *(Problem("export_set: formats", message, f"use {one_of(CHART_FORMATS)}") for message in unknown),
    ]


def _path_problems(target: Path, chosen: list[str]) -> list[Problem]:
    """Return the reasons why the files cannot be written: a suffix, folders in their place, no right to the folder."""
    place = f"export_set: {plain(target)}"
    suffix = target.suffix.lower().removeprefix(".")
    if target.name in {"", ".."} or "\0" in target.name:
        return [Problem(place, "is not a file name", "give a folder and a name without a suffix")]
    if suffix in {*CHART_FORMATS, *BESIDE}:
        return [Problem(place, f"ends in .{suffix}", "leave the suffix out: one is added for each file")]
    paths = [_with_suffix(target, name) for name in [*(name for name in chosen if name in CHART_FORMATS), *BESIDE]]
    try:
        folders = [path.name for path in paths if path.is_dir()]
        try_to_write(target.parent)
    except OSError as error:
        message = f"its folder cannot be written to ({error.strerror or error})"
        return [Problem(place, message, "give a folder that you may write to")]
    return [Problem(place, f"{name} is a folder", "give another name") for name in folders]


def _with_suffix(target: Path, name: str) -> Path:
    """Return the path with a format's suffix behind it; a dot in the name stays, as in `figure-1.2`."""
    return target.with_name(f"{target.name}.{name}")


def _csv(data: pd.DataFrame, *, raw: bool) -> str:
    """Return the rows as CSV; an index that is not just row numbers becomes a column."""
    rows = data if isinstance(data.index, pd.RangeIndex) else data.reset_index()
    columns = [rows.iloc[:, number] for number in range(rows.shape[1])]
    cells = [column.map(_cell).astype("object") if column.dtype == "object" else column for column in columns]
    table = pd.concat(cells, axis=1, keys=range(len(cells))) if cells else rows
    table.columns = pd.Index([str(name) for name in rows.columns])
    text: str = (table if raw else safe_table(table)).to_csv(index=False, lineterminator="\n")
    return text


def _cell(value: Any) -> Any:
    """Join a list to one text; lone surrogates, which no file can hold, become question marks."""
    text = "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text
