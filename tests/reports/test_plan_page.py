"""The pages of a plan's report: whole and accessible, and no text of anybody's changes how they are built."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

import mistune
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.longer import examples
from tests.reports.plan_events import ENDINGS, blocked, full, proceed
from tests.reports.plan_pages import plan_report, plan_report_frame, plan_report_html
from verifyplan.reports.plan import plan_summary

STRUCTURE = (
    "h1", "h2", "h3", "table", "tr", "th", "td", "section", "article", "li", "dt", "dd", "nav", "a", "strong", "code",
)  # fmt: skip
OURS = {
    *STRUCTURE, "html", "head", "meta", "title", "style", "body", "header", "div", "p", "ul", "main", "thead", "tbody",
    "bdi", "dl", "details", "summary", "footer",
}  # fmt: skip
VOID = {"meta"}
HOSTILE = (
    "<script>alert(1)</script>", "](javascript:alert(1))", "[x](javascript:alert(1))", "![x](http://example.org/x.png)",
    "<details open ontoggle=alert(1)>", "\"><img src=x onerror=alert(1)>", "</bdi></td></table>", "<!--", "]]>",
    "a|b|c\n| --- |", "\\|", "\\", "`` ` ```\n```", "~~~\ncode", "\n# heading\n", "# x #", "a\n===",
    "\n\n---\n\n- list\n1. one",
    "\r\n> quote", "\t- tab", "**bold** _it_ ~~no~~", "[^1]: note", "$x$", "&lt;b&gt;&#60;", "{{ page }}{% raw %}",
    "www.example.org a@example.org", "\u202etxt.exe\u2066\x00\x1b[2J", "\u2028# x", "\x85# x", "  ", "", "x" * 20_000,
)  # fmt: skip
JOINABLE = [one for one in HOSTILE if len(one) < 100]


class Page(HTMLParser):
    """The elements of a page as a browser finds them; `broken` lists what is not closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.headings: list[int] = []
        self.stack: list[str] = []
        self.broken: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs
        self.headings += [int(tag[1])] if re.fullmatch(r"h\d", tag) else []
        self.stack += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.broken.append(tag)

    def handle_data(self, data):
        self.words += data if not self.stack or self.stack[-1] != "style" else ""


def read_markdown(text: str) -> list[Counter[str]]:
    """The elements that two readers of Markdown, which know tables, make of it; raw HTML is let through by both."""
    readers = (MarkdownIt("commonmark").enable(["table", "strikethrough"]).render, mistune.create_markdown(
        escape=False, plugins=["table", "strikethrough", "footnotes"]))  # fmt: skip
    return [Page(str(reader(text))).tags for reader in readers]


def test_the_page_is_whole_accessible_and_asks_nobody_for_anything():
    for make in ENDINGS.values():
        text = plan_report_html(make(str).state)
        page = Page(text)
        assert not page.broken
        assert not page.stack
        assert page.headings[0] == 1
        assert page.headings.count(1) == 1
        assert all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:], strict=False)), "a level is left out"
        assert ("lang", "en") in page.attributes
        assert page.tags["th"] == sum(name == "scope" for name, _ in page.attributes)
        assert not re.search(r"https?:|url\(|@import|src=", text)
        names = [value for name, value in page.attributes if name == "id"]
        links = {value for name, value in page.attributes if name == "href"}
        assert len(set(names)) == len(names)
        assert links <= {f"#{name}" for name in names}, "a link that leads nowhere"


def test_a_frame_holds_the_whole_page_and_nothing_of_it_gets_out():
    state = full(lambda _: "\"><script>x</script>'").state
    frame = Page(plan_report_frame(state))
    assert frame.tags == {"iframe": 1}
    attributes = dict(frame.attributes)
    assert attributes["srcdoc"] == plan_report_html(state)
    assert "sandbox" in attributes
    assert attributes["title"].startswith("Plan verification: ")


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    whole = "".join(2 * one for one in digits) if len(digits) == 3 else digits
    channels = [int(whole[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_all_colours_of_text_have_contrast_in_both_themes_and_on_paper():
    themes = re.findall(r":root \{(.*?)\}", plan_report_html(proceed().state), re.DOTALL)
    assert len(themes) == 3
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#\w+)", theme))
        for text in ("ink", "faint", "link", "good", "fair", "bad", "none"):
            for ground in ("paper", "soft"):
                light, dark = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground, theme)


@pytest.fixture(scope="module")
def plain() -> dict[str, tuple[Counter[str], list[Counter[str]]]]:
    """What the pages are made of where every text is one word, and where every text is blank."""
    return {word: _structure(word) for word in ("word", "")}


def _structure(text: str) -> tuple[Counter[str], list[Counter[str]]]:
    state = full(lambda _: text).state
    page = Page(plan_report_html(state))
    assert not page.broken
    assert not page.stack
    assert set(page.tags) <= OURS
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "style", "action")]
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    readers = read_markdown(plan_report(state))
    for tags in readers:
        assert set(tags) <= {*OURS, "pre"}
        assert not tags["a"]
    return Counter({tag: page.tags[tag] for tag in STRUCTURE}), readers


@settings(max_examples=examples(40), deadline=None)
@given(st.text(max_size=80) | st.lists(st.sampled_from(JOINABLE), min_size=1, max_size=3).map("".join))
def test_no_text_changes_how_a_report_is_built(plain, text):
    assert _structure(text) == plain["word" if text.strip() else ""]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_one_by_one(plain, text):
    assert _structure(text) == plain["word" if text.strip() else ""]


@given(st.text(max_size=60))
@example("\u202e\u2066\x00\x1b[31m\u2028")
def test_nothing_hides_or_turns_the_text_round(text):
    state = blocked(lambda _: text).state
    for shown in (plan_report(state), plan_report_html(state), plan_summary(state)):
        rest = shown.replace("\n", "").replace("\u200c", "").replace("\u200d", "")
        assert rest.isprintable()
    assert len(plan_summary(state).splitlines()) <= 10


def test_texts_are_shown_as_they_are():
    text = "<b>x</b> | [y](z) `q` *s* &amp; # $1"
    state = full(lambda _: text).state
    assert text in Page(plan_report_html(state)).words
    rendered = MarkdownIt("commonmark").enable("table").render(plan_report(state))
    assert text in Page(rendered).words


def test_a_number_sign_at_the_end_of_a_title_is_kept():
    told = plan_report(full(lambda text: "Port to C #" if "cache before" in text else text).state)
    assert "<h1>Plan verification: Port to C #</h1>" in MarkdownIt("commonmark").render(told)


def test_long_texts_are_folded_in_the_page_and_cut_in_tables():
    told = full(lambda text: f"{text} {'long ' * 300}" if re.search("fails when|assumes", text) else text).state
    table = plan_report(told).split("\n## Challenges\n")[1].split("\n## ")[0]
    page = Page(plan_report_html(told))
    assert page.tags["details"] == 12, "claim and concern of each of six challenges"
    assert max(map(len, table.splitlines())) < 500
    assert "more characters; the run log has them" in plan_report(full(lambda _: "y" * 9_000).state)


def test_a_text_of_megabytes_makes_no_page_of_megabytes():
    state = full(lambda _: "x" * 200_000).state  # and there are many texts
    assert len(plan_report(state)) < 500_000
    assert len(plan_report_html(state)) < 500_000
    assert max(map(len, plan_summary(state).splitlines())) < 500
