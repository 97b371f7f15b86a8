"""Figures in a notebook and in files: offline, named, whole, and with the data's text as text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import altair as alt
import pandas as pd
import pytest
import vl_convert

from verifyplan.charts import class_mix, queue, transitions, truth_metrics, vote_matrix
from verifyplan.charts.export import export, export_set
from verifyplan.charts.figure import Figure, drawn_svg, spec
from verifyplan.errors import InputError

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)><!-- \\ \\" \' ${x} \x07 \u202e'


@pytest.fixture(scope="module")
def pages(five, seen):
    """Every chart as a notebook shows it."""
    return {name: seen(figure) for name, figure in five.items()}


@pytest.fixture(scope="module")
def hostile(comparison_of, queue_of, grid_of):
    """Every chart, with hostile markup in every field of text."""
    one, two = HOSTILE, f"two {HOSTILE}"
    comparison = comparison_of(one, two)
    comparison.truth.loc[[0, 5], "metric"] = HOSTILE
    grid = grid_of(4, 2, 1)
    for column in ("finding_id", "summary", "worker", "explanation", "classification"):
        grid[column] = grid[column] + HOSTILE
    return [
        class_mix(comparison),
        transitions(comparison),
        truth_metrics(comparison),
        queue(queue_of(one, two)),
        vote_matrix(grid),
    ]


def harmless(page, scripts):
    assert page.tags.count("script") == scripts
    assert not {"img", "iframe", "object", "embed", "link", "a"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert not [value for tag, name, value in page.attributes if name in {"src", "href", "xlink:href"}]


def test_a_figure_shows_itself_as_named_inline_svg_with_a_caption(five, pages):
    for name, figure in five.items():
        page = pages[name]
        assert page.tags[0] == "figure"
        assert page.tags.count("svg") == page.tags.count("figcaption") == 1
        root = [(name, value) for tag, name, value in page.attributes if tag == "svg"]
        assert ("role", "img") in root
        assert ("aria-label", figure.description) in root
        assert ("figure", "aria-label", spec(figure.chart)["title"]["text"]) in page.attributes
        assert figure.caption in page.texts
        assert spec(figure.chart)["description"] == figure.description
        harmless(page, scripts=0)


def test_a_figure_is_the_same_text_every_time(comparison):
    assert class_mix(comparison)._repr_html_() == class_mix(comparison)._repr_html_()


def test_ids_of_two_figures_on_a_page_do_not_clash(seen, monkeypatch):
    drawn_svg.cache_clear()
    draw = vl_convert.vegalite_to_svg
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda drawn: re.sub(r"clip\d+", "clip0", draw(drawn)))

    def clipped(color):
        data = alt.InlineData(values=[{"x": 1, "t": 'an id="clip0" url(#clip0)'}])
        bar = alt.Chart(data).mark_bar(clip=True, color=color).encode(x="x:Q", y="t:N")
        return Figure(bar, "", pd.DataFrame(), "")

    pages = [seen(clipped(color)) for color in ("red", "blue")]
    ids = [set(page.values("id")) for page in pages]
    assert ids[0]
    assert not ids[0] & ids[1]
    for page, own in zip(pages, ids, strict=True):
        used = {found for value in page.values("clip-path") for found in re.findall(r"url\(#([^)]*)\)", value)}
        assert used
        assert used <= own
        assert 'an id="clip0" url(#clip0)' in page.texts


def test_the_look_is_the_charts_own_and_changes_nothing_else(five):
    assert alt.theme.active == "default"
    assert alt.renderers.active == "default"
    for figure in five.values():
        font = spec(figure.chart)["config"]["font"]
        assert font.endswith("sans-serif")


def test_hostile_text_stays_text_in_notebooks(hostile, seen):
    for figure in hostile:
        page = seen(figure)
        harmless(page, scripts=0)
        assert any("<script>" in text for text in [*page.texts, *page.values("aria-label")])


def test_hostile_text_stays_text_in_svg_and_html(hostile, seen, tmp_path):
    for figure in hostile:
        harmless(seen(export(figure, tmp_path / "chart.svg").read_text()), scripts=0)
        page = seen(export(figure, tmp_path / "chart.html").read_text())
        harmless(page, scripts=2)
        assert "alert(1)" in page.scripts[1]
        assert "<" not in page.scripts[1].split("{actions")[0]
        assert "\x07" not in page.text


def test_hostile_text_is_drawn_in_pictures(hostile, tmp_path):
    for figure in hostile:
        assert export(figure, tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<svg", "pdf": b"%PDF-", "html": b"<!DOCTYPE html>", "json": b"{"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_every_chart_goes_into_every_format(five, suffix, tmp_path):
    for name, figure in five.items():
        path = tmp_path / "new" / "folder" / f"{name}.{suffix}"
        assert export(figure, str(path)) == path
        assert path.read_bytes().startswith(MAGIC[suffix])


def test_png_has_two_dots_a_pixel_or_as_many_as_are_chosen(comparison, tmp_path):
    width = re.search(r'width="(\d+)"', export(class_mix(comparison), tmp_path / "a.svg").read_text())
    for own, scale, dots in ((None, None, 2), (3, None, 3), (3, 0.5, 0.5)):
        png = export(class_mix(comparison, scale=own), tmp_path / "a.PNG", scale=scale).read_bytes()
        assert int.from_bytes(png[16:20]) == pytest.approx(dots * int(width[1]), abs=2)
    with pytest.raises(InputError, match=r"scale: must be a number from 0\.25 to 10, got 0\. Fix: leave it out for 2"):
        export(class_mix(comparison), tmp_path / "b.png", scale=0)
    with pytest.raises(InputError, match="scale: must be a number"):
        export_set(class_mix(comparison), tmp_path / "b", scale=99)
    assert not list(tmp_path.glob("b*"))


def test_json_is_the_charts_specification(comparison, tmp_path):
    figure = transitions(comparison)
    assert json.loads(export(figure, tmp_path / "a.json").read_text()) == figure.chart.to_dict()


def test_html_is_named_and_captioned_and_needs_no_network(comparison, seen, tmp_path):
    figure = class_mix(comparison)
    page = seen(export(figure, tmp_path / "a.html").read_text())
    assert ("html", "lang", "en") in page.attributes
    assert page.texts.count("How the findings are classed") == 2  # the page's title, and the picture's
    assert ("div", "aria-label", figure.description) in page.attributes
    assert figure.caption in page.texts
    assert page.tags[: page.tags.index("svg")].count("title") == 1  # those behind it are the marks'
    assert ("figure", "aria-label", "How the findings are classed") in page.attributes
    assert page.tags.count("svg") == 1  # the picture is there before, and without, any script
    harmless(page, scripts=2)


def test_html_runs_its_own_scripts_only(comparison, seen, tmp_path):
    page = seen(export(class_mix(comparison), tmp_path / "a.html").read_text())
    (policy,) = [value for value in page.values("content") if "script-src" in value]
    assert policy.startswith("default-src 'none'")
    for script in page.scripts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_any_altair_chart_can_be_exported(tmp_path, seen):
    chart = alt.Chart(alt.InlineData(values=[{"x": 1}]), title="A <b>").mark_point().encode(x="x:Q")
    page = seen(export(chart, tmp_path / "a.html").read_text())
    assert "A <b>" in page.texts
    assert "b" not in page.tags
    assert ("div", "aria-label", "A <b>") in page.attributes


@pytest.mark.parametrize("name", ["chart.gif", "chart", ".png/chart"])
def test_an_unknown_suffix_names_the_known_ones(comparison, name, tmp_path):
    with pytest.raises(InputError, match=r"'\.png', '\.svg', '\.pdf', '\.html', '\.json'"):
        export(class_mix(comparison), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_failed_drawing_leaves_the_old_file(comparison, monkeypatch, tmp_path):
    target = tmp_path / "a.png"
    target.write_text("old")
    monkeypatch.setattr(vl_convert, "svg_to_png", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export(class_mix(comparison), target)
    assert target.read_text() == "old"


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(comparison, monkeypatch, tmp_path):
    target = tmp_path / "a.json"
    target.write_text("old")

    def full(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:10])
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space left"):
        export(class_mix(comparison), target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
