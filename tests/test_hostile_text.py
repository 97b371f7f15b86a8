"""rule H3: markup in any text field of a run is shown as text, in every page, picture, report and repr."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import verifyplan as vp

HOSTILE = "</script><script>alert(1)</script>\"><img src=x onerror=alert(2)>'<b>`|*[x](javascript:alert(3))"
ROSTER = [HOSTILE, "bob", "cy"]


class Tags(HTMLParser):
    """Every tag and attribute that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def assert_shown_as_text(page: str, allowed_scripts: int = 0) -> None:
    parser = Tags()
    parser.feed(page)
    assert parser.tags.count("script") <= allowed_scripts
    assert not {"img", "b"} & set(parser.tags)
    assert not parser.handlers


@pytest.fixture(scope="module")
def runs() -> vp.RunSet:
    finding = {
        "finding_id": HOSTILE, "summary": HOSTILE, "evidence": HOSTILE, "category": HOSTILE,
        "worker": HOSTILE, "truth": True, "ticket_ids": (HOSTILE,),
    }  # fmt: skip
    vote = {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": HOSTILE}
    script = {1: {"bob": {HOSTILE: vote}, "cy": {HOSTILE: {"verdict": "agree", "explanation": HOSTILE}}}}
    run = vp.crossverify(
        [finding],
        ROSTER,
        settings={"adversarial": True, "maxRounds": 1},
        backend=vp.agents.ScriptedBackend(script),
        task_key=HOSTILE,
        log_dir=None,
    )
    assert_shown_as_text(run._repr_html_())
    return run.frames


def test_reprs_in_a_notebook(runs):
    assert_shown_as_text(runs._repr_html_())
    assert_shown_as_text(vp.explain(runs, HOSTILE)._repr_html_())
    assert_shown_as_text(vp.compare(runs)._repr_html_())


def test_figures(runs):
    comparison = vp.compare(runs)
    for figure in (
        vp.charts.vote_matrix(vp.analysis.vote_matrix(runs)),
        vp.charts.queue(runs),
        vp.charts.transitions(comparison),
    ):
        assert_shown_as_text(figure._repr_html_())


def test_reports_in_html_and_markdown(runs, tmp_path):
    import mistune  # a Markdown reader of its own, to see what a reader of the report would

    more = {"votes": vp.charts.vote_matrix(vp.analysis.vote_matrix(runs))}
    path = vp.report(vp.compare(runs), tmp_path, title=HOSTILE, more=more)
    assert_shown_as_text((tmp_path / "report.html").read_text())
    page = str(mistune.create_markdown(escape=False, plugins=["table"])(path.read_text()))
    parser = Tags()
    parser.feed(page)
    assert set(parser.tags) <= {"h1", "h2", "p", "ul", "li", "em", "strong", "code", "img",
                                "table", "thead", "tbody", "tr", "th", "td"}  # fmt: skip
    assert parser.tags.count("img") == len(list(tmp_path.glob("*.png"))), "only the report's own pictures"
    assert not parser.handlers
    assert "javascript:" not in page.replace(HOSTILE, "").replace("x](javascript", "") or "href" not in page


def test_exported_pages(runs, tmp_path):
    figure = vp.charts.vote_matrix(vp.analysis.vote_matrix(runs))
    page = Path(vp.export(figure, tmp_path / "votes.html")).read_text()
    assert "alert(1)" in page, "the text is there"
    assert_shown_as_text(page, allowed_scripts=2)  # the chart and the library that draws it
    assert_shown_as_text(Path(vp.export(figure, tmp_path / "votes.svg")).read_text())


def test_an_error_shows_the_signs_of_a_name_that_would_move_the_terminal(cli):
    told = cli("verify", "plan\x1b[31m\u202e.md")
    assert told.code == 2
    assert told.err == "Error: plan\\x1b[31m\\u202e.md: cannot be read (No such file or directory). " + (
        "Fix: name a plan that exists.\n"
    )


MOVING = "A\x1b[31mB\u202e"


def test_what_is_printed_moves_no_terminal():
    finding = {"finding_id": MOVING, "summary": MOVING, "evidence": MOVING, "category": MOVING, "worker": MOVING}
    votes = {"bob": {MOVING: {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": MOVING}}}
    run = vp.crossverify(
        [finding],
        [MOVING, "bob", "cy"],
        settings={"adversarial": True, "maxRounds": 2},
        backend=vp.agents.ScriptedBackend({1: votes}),
        task_key=MOVING,
        log_dir=None,
    )
    for shown in (run, run.frames, vp.compare(run), vp.explain(run, MOVING), vp.agreement(run)):
        assert not {"\x1b", "\u202e"} & set(str(shown)), type(shown).__name__
