"""The site that `make docs` built, in Chromium: no page asks another host, and axe finds nothing grave."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.browser.accessibility import axe
from tests.browser.conftest import REQUIRED
from tests.browser.notebook_files import ROOT

HTML = ROOT / "out" / "site" / "html"
PAGES = ("index.html", "gallery.html", "reference/analyse.html")


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    if not (HTML / "index.html").is_file():
        (pytest.fail if REQUIRED else pytest.skip)("there is no site to look at: make docs builds it")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_nothing_from_elsewhere_and_everybody_can_read_it(context, name, theme):
    tab, asked = context.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    tab.emulate_media(color_scheme=theme, reduced_motion="reduce")
    tab.goto((HTML / name).as_uri())
    tab.wait_for_load_state("load")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert axe(cast(Any, SimpleNamespace(tab=tab)), "main") == []
    tab.close()


def test_the_search_finds_without_a_server(context):
    tab = context.new_page()
    tab.goto((HTML / "search.html").as_uri() + "?q=false+consensus")
    tab.wait_for_selector("#search-results li")
    assert tab.locator("#search-results li").count() > 3
    tab.close()
