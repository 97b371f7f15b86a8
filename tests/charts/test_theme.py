"""Charts on light and on dark ground: what a page changes, what files are, and that all of it can be read."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import Any

import altair as alt
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.charts.adaptive import CLASS, DARK, DARK_PAGES, SHADES, STYLE, on_dark
from verifyplan.charts.figure import spec, svg_text
from verifyplan.errors import SettingsError

look = import_module("verifyplan.charts.theme")  # whose name is that of its function in the package
GROUNDS = {"light": "#ffffff", "dark": "#111111"}
TEXTS = ("ink", "faint", "blue", "red")
FAINT_ON_WHITE = {look.SKY, look.ORANGE, look.GREY, look.MARK_COLORS["verification-error"], look.PALE}
"""Fills that have less than 3:1 on white, so that each also has its name, a letter or an outline."""
FIXED = {look.BLACK: [look.SKY, look.ORANGE, look.VERMILLION, look.PURPLE, look.MARK_COLORS["verification-error"]]}
FIXED[look.WHITE] = [look.BLUE, look.DARK_GREY]
"""Texts within marks that no theme changes, by their colour."""


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def mixed(color: str, ground: str, opacity: float) -> str:
    pairs = ((int(color[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(opacity * a + (1 - opacity) * b):02x}" for a, b in pairs)


@pytest.mark.parametrize("ground", GROUNDS)
def test_texts_have_a_contrast_of_4_5_and_marks_of_3(ground):
    shades = {shade.name: getattr(shade, ground) for shade in SHADES}
    assert shades["paper"] == GROUNDS[ground]
    assert all(contrast(shades[name], GROUNDS[ground]) >= 4.5 for name in TEXTS)
    marks = {look.BLUE, look.SKY, look.ORANGE, look.VERMILLION, look.GREEN, look.PURPLE, look.GREY, look.DARK_GREY}
    marks |= {look.MARK_COLORS["verification-error"], *look.STATE_COLORS.values(), look.PALE}
    faint = {mark for mark in marks - {look.PAPER} if contrast(in_theme(mark, ground), GROUNDS[ground]) < 3}
    assert faint == (FAINT_ON_WHITE if ground == "light" else set())
    assert set(look.TEXT_COLORS.values()) <= {shade.light for shade in SHADES}
    for text, fills in FIXED.items():
        assert all(contrast(text, fill) >= 4.5 for fill in fills)
    from verifyplan.charts.transitions import MAX_OPACITY

    for fill in (look.SKY, look.ORANGE, "#b9bec5"):
        assert contrast(shades["ink"], mixed(fill, GROUNDS[ground], MAX_OPACITY)) >= 4.5


def in_theme(color: str, ground: str) -> str:
    return DARK.get(color, color) if ground == "dark" else color


def test_a_figure_takes_its_colours_from_the_page(five):
    for figure in five.values():
        page = figure._repr_html_()
        assert page.count(STYLE) == 1
        assert "background:" not in page
        assert f'class="{CLASS} marks"' in page
        light = svg_text(spec(figure.chart), figure.description)
        assert page.replace(STYLE, "").replace(f"{CLASS} ", "").count(light) == 1  # nothing else differs
    for shade in SHADES:
        assert f'.{CLASS} [fill="{shade.light}"]{{fill:var(--vpc-{shade.name})}}' in STYLE
        assert STYLE.count(shade.dark) == (2 if shade.dark != look.PAPER else 3)
    assert all(page in STYLE for page in DARK_PAGES)
    assert not re.findall(r"url|http|@import", STYLE)


@pytest.mark.parametrize("name", GROUNDS)
def test_a_theme_draws_on_a_ground_of_its_own(comparison, name, tmp_path):
    figure = vp.charts.class_mix(comparison)  # made before
    with vp.charts.theme(name):
        page = figure._repr_html_()
        assert f"background:{GROUNDS[name]}" in page
        assert CLASS not in page
        files = {suffix: vp.export(figure, tmp_path / f"a.{suffix}").read_bytes() for suffix in ("svg", "html", "json")}
        png = vp.export(figure, tmp_path / f"{name}.png").read_bytes()
    ink = in_theme(look.INK, name)
    assert f'fill="{ink}"' in files["svg"].decode()
    assert f"background: {GROUNDS[name]}; color: {ink}" in files["html"].decode()
    assert json.loads(files["json"])["config"]["background"] == GROUNDS[name]
    assert (png == vp.export(figure, tmp_path / "auto.png").read_bytes()) == (name == "light")
    assert CLASS in figure._repr_html_()


def test_a_theme_stays_until_the_next_and_a_block_ends():
    assert vp.charts.theme.chosen() == "auto"
    assert repr(vp.charts.theme("dark")) == "charts are dark"
    try:
        with vp.charts.theme("light"):
            assert vp.charts.theme.chosen() == "light"
        assert vp.charts.theme.chosen() == "dark"
        with pytest.raises(ZeroDivisionError), vp.charts.theme("light"):
            1 / 0  # noqa: B018
        assert vp.charts.theme.chosen() == "dark"
        with pytest.raises(SettingsError, match=r"theme: must be one of .*'auto'.*, got 'drak'\. Fix: use 'auto'"):
            vp.charts.theme("drak")
        assert vp.charts.theme.chosen() == "dark"
    finally:
        assert repr(vp.charts.theme("auto")) == "charts follow the page"


def test_texts_of_the_data_are_not_taken_for_colours():
    row: dict[str, Any] = {"name": look.INK, "color": look.INK, "hover": look.PAPER}
    drawn = on_dark({"datasets": {"d": [row]}, "title": {"text": look.PAPER, "subtitleColor": look.FAINT}})
    dark = DARK[look.INK]
    assert drawn["datasets"]["d"] == [{"name": look.INK, "color": dark, "hover": look.PAPER}]
    assert drawn["title"] == {"text": look.PAPER, "subtitleColor": DARK[look.FAINT]}


def test_every_colour_of_every_chart_is_known(five):
    """A colour that the themes do not know would be drawn alike on light and on dark ground, read or not."""
    known = {shade.light for shade in SHADES} | {look.BLACK, look.WHITE, "#b9bec5", look.DARK_GREY, look.GREY}
    known |= {*look.CLASS_COLORS.values(), *look.MARK_COLORS.values(), look.GREEN, look.PURPLE}
    known |= {"#4c78a8"}  # of frames, which are transparent
    for name, figure in five.items():
        drawn = svg_text(spec(figure.chart), figure.description)
        assert set(re.findall(r'(?:fill|stroke)="(#[0-9a-fA-F]+)"', drawn)) <= known, name


def test_a_chart_that_a_user_drew_follows_the_theme():
    rows = pd.DataFrame({"x": [1, 2], "y": [3, 4]})
    base = alt.Chart(rows, title="mine").encode(x=alt.X("x:Q", title="across"), y="y:Q")
    chart = (base.mark_rule() + base.mark_text().encode(text="y:Q")).configure_axis(grid=False, titleColor="#d55e00")
    figure = vp.results.Figure(chart, "A caption.", rows, "Two points.")
    page = figure._repr_html_()
    assert not re.search(r'(fill|stroke)="(#000|black|#888|#ddd)"', page)
    assert 'fill="#1f2328"' in page
    assert 'fill="#d55e00"' in page, "what the chart sets itself stays"
    with vp.charts.theme("dark"):
        assert 'fill="#1f2328"' not in figure._repr_html_()


def test_a_setting_of_another_form_than_ours_stays():
    chart = alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x="x:Q").configure(padding={"left": 3})
    assert spec(chart)["config"]["padding"] == {"left": 3}


def test_a_picture_shrinks_only_so_far():
    figure = vp.charts.queue("contract")
    width = float(re.search(r'class="vp-chart marks" width="([\d.]+)"', figure._repr_html_())[1])
    assert f"max-width:max(100%,{round(0.7 * width)}px)" in figure._repr_html_()
