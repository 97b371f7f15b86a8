"""The site: whatever can be said of it without building it; `make docs` builds it, in CI before the tests."""

from __future__ import annotations

import doctest
import inspect
import re
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from docutils import nodes
from sphinx.util.inspect import signature, stringify_signature
from sphinx.util.typing import stringify_annotation

import verifyplan as vp
from docs.site import build, checks, conf, look, reference, tables
from tests.browser.conftest import NO_BROWSER
from tests.interface_page import public_objects

SITE = build.HERE


def listed(page: Path) -> list[str]:
    """What the lists of contents of a page name."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    entries = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return [re.sub(r".*<(.+)>", r"\1", entry) for entry in entries]


def test_every_page_stands_in_one_list_of_contents():
    sections = {path.stem: listed(path) for path in SITE.glob("*.md")}
    sections["reference"] = [entry.removeprefix("../") for entry in re.findall(r"<(.+)>", reference.INDEX)]
    entries = [entry for entries in sections.values() for entry in entries]
    parts = {"README.md", "CITATION.cff"}
    pages = [
        path.relative_to(build.ROOT).with_suffix("")
        for path in build.pages()
        if path.name not in parts or path.parent != build.ROOT
    ]
    for page in pages:
        assert sum(fnmatch(str(page), entry) for entry in entries) == 1, page
    assert {*sections["index"]} == {"reference/index", *sections} - {"index", "reference", "citing"}


@pytest.mark.parametrize("page", ["index.md", "start.md"])
def test_the_parts_of_the_readme_that_the_first_pages_show_are_there(page):
    readme = (build.ROOT / "README.md").read_text()
    marks = re.findall(r'^:(?:start-after|end-before): "(.+)"$', (SITE / page).read_text(), re.MULTILINE)
    assert marks
    for mark in marks:
        assert readme.count(f"{mark}\n") == 1, mark


def test_the_gallery_draws_every_chart():
    page, charts = (SITE / "gallery.md").read_text(), set(dir(vp.charts)) - {"theme"}
    assert set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) == charts
    assert set(re.findall(r"^figure = vp\.charts\.(\w+)\(", page, re.MULTILINE)) == charts


def test_the_reference_has_every_public_name():
    shown = [reference.value_of(name) for names in reference.sections().values() for name in names]
    objects = {name: value for name, value in public_objects().items() if not inspect.ismodule(value)}
    assert [name for name, value in objects.items() if not any(value is each for each in shown)] == []


def test_every_page_says_in_words_first_what_it_is_for():
    pages = [path for path in build.pages() if path.suffix == ".md" and path.parent != build.ROOT]
    texts = {str(path): path.read_text() for path in pages}
    texts |= {title: f"# {title}\n\n{reference.introduction(title)}\n\n" for title in reference.sections()}
    assert [name for name, text in texts.items() if not re.match(r"# .+\n\n(?:\*\*|`)?[A-Za-z]", text)] == []


def test_the_reference_shows_classes_with_their_members_and_errors_with_their_bases(tmp_path):
    assert ":members:" in reference.directive("results.Comparison")
    assert "autofunction:: verifyplan.compare" in reference.directive("compare")
    reference.write_reference(tmp_path)
    index = (tmp_path / "index.md").read_text()
    written = {path.stem for path in tmp_path.glob("*.md")} - {"index"}
    assert written <= set(index.split())


def test_docstrings_are_shown_without_the_fields_of_a_class_and_with_colons_in_those_of_fields():
    of_class = ["What two modes made.", "", "Fields:", "    summary: one row a metric"]
    conf.sections_of_docstring(None, "class", "results.Comparison", vp.results.Comparison, None, of_class)
    assert [line for line in of_class if line] == ["What two modes made."]
    of_field = ["One row a finding: class, rule and round."]
    conf.sections_of_docstring(None, "attribute", "findings", None, None, of_field)
    assert of_field == ["One row a finding: class, rule and round."]
    of_function = ["Compare.", "", "Args:", "    runs: a set of runs."]
    conf.sections_of_docstring(None, "function", "compare", vp.compare, None, of_function)
    assert ":param runs: a set of runs." in of_function


def test_result_classes_are_shown_without_parameters_and_others_with_them():
    assert conf.without_parameters(None, "class", "verifyplan.results.Comparison") == ("", "")
    assert conf.without_parameters(None, "class", "verifyplan.agents.Backend", vp.agents.Backend) == ("", "")
    assert conf.without_parameters(None, "class", "verifyplan.agents.Anthropic", vp.agents.Anthropic) is None


class Builder:
    def get_relative_uri(self, page: str, to: str) -> str:
        return f"{page} -> {to}"


def test_names_of_notebooks_are_links_to_them_and_other_code_is_not():
    linked = nodes.reference("", "", nodes.literal(text="30_explore_runs"), refuri="elsewhere")
    words = [nodes.literal(text="20_verify_a_plan"), nodes.literal(text="vp.verify"), linked]
    document = nodes.document("", "", "", nodes.paragraph("", "", *words))
    conf.link_notebooks(SimpleNamespace(builder=Builder()), document, "docs/plans")
    links = [(link.astext(), link["refuri"]) for link in document.findall(nodes.reference)]
    assert links == [
        ("20_verify_a_plan", "docs/plans -> notebooks/20_verify_a_plan"),
        ("30_explore_runs", "elsewhere"),
    ]
    assert [code.astext() for code in document.findall(nodes.literal)] == [word.astext() for word in words]


def test_the_sheet_of_pictures_shows_each_with_its_name_as_text():
    page = look.sheet(["b-950-dark.png", "<a>-950-light.png"])
    assert re.findall(r'<img src="([^"]+)"', page) == ["&lt;a&gt;-950-light.png", "b-950-dark.png"]
    assert re.findall(r"<figcaption>([^<]+)", page) == ["&lt;a&gt;-950-light.png", "b-950-dark.png"]


def test_without_a_site_there_is_nothing_to_look_at(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(look, "HTML", tmp_path)
    monkeypatch.setattr(look, "CHROMIUM", "chromium")
    assert look.main() == 1
    assert capsys.readouterr().err == "there is no site to look at: make docs builds it\n"
    monkeypatch.setattr(look, "CHROMIUM", None)
    assert look.main() == 1
    assert capsys.readouterr().err == f"{NO_BROWSER}\n"


def test_aliases_of_types_are_shown_by_their_names():
    compare = stringify_signature(signature(vp.compare, type_aliases=conf.autodoc_type_aliases))
    assert compare.startswith("(runs: Runs | collections.abc.Mapping[str, Runs], ")
    events = signature(vp.results.Run.events.func, type_aliases=conf.autodoc_type_aliases).return_annotation
    assert stringify_annotation(events) == "tuple[Event, ...]"
    assert conf.plain_types(None, "function", "load", vp.load, None, "(paths: str)", "RunSet") is None


def test_pages_that_docstrings_name_are_links_and_files_of_examples_are_not():
    lines = ["See docs/statistics.md, not `docs/statistics.md`.", ">>> run(['docs/b.md'])"]
    conf.link_pages(None, "function", "f", None, None, lines)
    assert lines == [
        "See :doc:`docs/statistics.md </docs/statistics>`, not `docs/statistics.md`.",
        ">>> run(['docs/b.md'])",
    ]


def test_calls_that_prepare_a_run_are_shown_with_the_run_that_they_return():
    prepared = "~verifyplan.runs.cross.crossverify.PreparedCrossRun"
    shown = conf.plain_types(None, "function", "crossverify", vp.crossverify, None, "(findings: str)", prepared)
    assert shown == ("(findings: str)", "~verifyplan.results.CrossRun")


def test_widgets_are_shown_with_the_arguments_that_they_take():
    hidden = "(*args: t.Any, **kwargs: t.Any)"
    shown = conf.plain_types(None, "class", "RunExplorer", vp.widgets.RunExplorer, None, hidden, None)
    assert shown == ("(runs: Runs, run_id: str | None = None)", "")


def test_the_fields_of_a_model_are_explained_where_the_class_is():
    lines = ["One claim."]
    conf.sections_of_docstring(None, "class", "Item", vp.protocol.Item, None, lines)
    fields = {line.split(":")[1].removeprefix("param ") for line in lines if line.startswith(":param")}
    assert fields == set(vp.protocol.Item.model_fields)


def test_what_a_function_returns_is_shown_whole():
    lines = ["Return it.", "", "Returns:", "    One row a plan, in order: `plan`, `score`."]
    conf.sections_of_docstring(None, "function", "apply", vp.weights.apply, None, lines)
    assert lines[2] == ":returns: One row a plan, in order: `plan`, `score`."
    assert not any("rtype" in line for line in lines)


def test_the_data_dictionary_has_every_column_of_every_table(tmp_path):
    tables.write_tables(tmp_path)
    page = (tmp_path / "tables.md").read_text()
    for known, _ in tables.GROUPS.values():
        for name in known:
            part = page.split(f"### {name}\n")[1].split("\n#")[0]
            assert re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) == list(vp.documentation(name).index)


@pytest.mark.parametrize("module", [reference, tables], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_all_that_pages_link_to_is_copied(tmp_path, monkeypatch):
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(
        "[a](../rules.csv) [b](page.md#part) [c](https://example.org/x.csv) [d](gone.csv) [e](../../outside.txt)"
    )
    (tmp_path / "rules.csv").write_text("rule\n")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    assert list(build.linked_files(page)) == [tmp_path / "rules.csv", page]


GOOD = (
    '<p id="here"><a href="#here">x</a> <a href="two.html#there%20now">y</a> <a href="https://example.org/">z</a></p>'
)


def site(folder: Path, page: str) -> Path:
    (folder / "one.html").write_text(page)
    (folder / "two.html").write_text('<h2 id="there now">two</h2><link rel="canonical" href="https://example.org/two">')
    return folder


def test_a_site_whose_links_lead_somewhere_has_no_problems(tmp_path):
    assert checks.problems(site(tmp_path, GOOD)) == []
    assert checks.write_external_links(tmp_path, tmp_path / "links.txt") == 1
    assert (tmp_path / "links.txt").read_text() == "https://example.org/\n"


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<a href="three.html">x</a>', "one.html: links to three.html, which is no file"),
        ('<a href="two.html#gone">x</a>', "one.html: links to two.html#gone, a place that the page does not have"),
        ('<a href="#gone">x</a>', "one.html: links to #gone, a place that the page does not have"),
        ('<script src="https://cdn.example.org/x.js"></script>', "one.html: loads https://cdn.example.org/x.js"),
        ('<img src="//example.org/x.png">', "one.html: loads //example.org/x.png"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "one.html: loads https://example.org/x.css"),
        ('<p style="background: url(https://example.org/x.png)">', "one.html: loads https://example.org/x.png"),
    ],
)
def test_a_broken_link_and_a_resource_of_another_host_are_named(tmp_path, page, problem):
    assert checks.problems(site(tmp_path, page)) == [problem]


def test_a_style_sheet_that_loads_from_another_host_is_named(tmp_path):
    (site(tmp_path, GOOD) / "site.css").write_text(
        '@import "https://example.org/x.css"; p { background: url(local.png) }'
    )
    assert checks.problems(tmp_path) == ["site.css: loads https://example.org/x.css"]


def test_the_version_to_cite_is_the_version():
    cited = yaml.safe_load((build.ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert (cited["version"], cited["license"]) == (vp.__version__, "Apache-2.0")
