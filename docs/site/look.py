"""Picture every page of the built site, light and dark, 950 and 1,600 pixels wide (`make look`: out/browser/site/).

`index.html` there is a sheet of all pictures. Prints how many addresses elsewhere the pages asked for, and what axe
finds serious; ends with 1 unless both are none.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from html import escape
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

from playwright.sync_api import Page, Request, sync_playwright

from docs.site.build import OUT, ROOT
from tests.browser.accessibility import Violation, axe
from tests.browser.conftest import CHROMIUM, FLAGS, NO_BROWSER

HTML = OUT / "html"
PICTURES = ROOT / "out" / "browser" / "site"
WIDTHS_PX = (950, 1600)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MAX_HEIGHT_PX = 16_000
"""What is below is in a picture of its own: Chromium draws no larger ones."""
HEADER_PX = 80
"""What the header of the page covers of a picture: parts overlap by it."""
FRAME_DRAWN_MS = 1_000
SCROLLBARS_HIDDEN = ["--hide-scrollbars"]
"""Playwright passes this to Chromium unless told not to; readers see the bars by which they scroll."""


def take_pictures(pages: list[Path]) -> Iterator[tuple[str, list[str], list[Violation]]]:
    """Yield of each page and look its name, the addresses elsewhere that the page asked for, and what axe finds.

    Axe looks at the first width only, as colours and names do not change with the width.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, ignore_default_args=SCROLLBARS_HIDDEN
        )
        for theme, width in product(THEMES, WIDTHS_PX):
            context = browser.new_context(color_scheme=theme, reduced_motion="reduce")
            tab = context.new_page()
            for page in pages:
                name = f"{page.relative_to(HTML).with_suffix('').as_posix().replace('/', '-')}-{width}-{theme}"
                elsewhere = picture(tab, page, name, width)
                first = width == WIDTHS_PX[0]
                yield name, elsewhere, axe(cast(Any, SimpleNamespace(tab=tab)), "main") if first else []
            context.close()
        browser.close()


def picture(tab: Page, page: Path, name: str, width: int) -> list[str]:
    """Picture one page, in as many parts as it needs; return the addresses elsewhere that it asked for."""
    asked: list[str] = []

    def keep(request: Request) -> None:
        asked.append(request.url)

    tab.on("request", keep)
    tab.set_viewport_size({"width": width, "height": 1000})
    tab.goto(page.as_uri())
    tab.wait_for_load_state("load")
    height = tab.evaluate("document.documentElement.scrollHeight")
    for part, top in enumerate(range(0, max(1, height - HEADER_PX), MAX_HEIGHT_PX - HEADER_PX)):
        tab.set_viewport_size({"width": width, "height": min(height - top, MAX_HEIGHT_PX)})
        tab.evaluate("top => scrollTo(0, top)", top)
        if len(tab.frames) > 1:  # a frame is drawn by a process of its own, after the page
            tab.wait_for_timeout(FRAME_DRAWN_MS)
        tab.screenshot(path=PICTURES / f"{name}{f'-{part + 1}' if part else ''}.png")
    tab.remove_listener("request", keep)
    return [url for url in asked if not url.startswith(("file:", "data:"))]


def sheet(names: list[str]) -> str:
    """Return a page of all pictures, small, each a link to itself."""
    shown = "".join(
        f'<figure><a href="{escape(name)}"><img src="{escape(name)}" loading="lazy" alt=""></a>'
        f"<figcaption>{escape(name)}</figcaption></figure>"
        for name in sorted(names)
    )
    style = "body{font:12px sans-serif;columns:5}figure{margin:0 0 12px;break-inside:avoid}img{width:100%}"
    return f"<!doctype html><meta charset=utf-8><title>Pictures of the site</title><style>{style}</style>{shown}"


def main() -> int:
    """Picture the site; say what was asked elsewhere and what axe finds."""
    if CHROMIUM is None:
        print(NO_BROWSER, file=sys.stderr)
        return 1
    pages = sorted(path for path in HTML.rglob("*.html") if "_static" not in path.parts)
    if not pages:
        print("there is no site to look at: make docs builds it", file=sys.stderr)
        return 1
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    total = len(pages) * len(THEMES) * len(WIDTHS_PX)
    elsewhere: set[str] = set()
    grave: list[str] = []
    for n, (name, asked, violations) in enumerate(take_pictures(pages), start=1):
        elsewhere |= set(asked)
        grave += [f"{name}: {each.id} ({each.impact}): {each.help}: {each.targets[0]}" for each in violations]
        print(f"\r{n:,} of {total:,} pages pictured", end="", file=sys.stderr, flush=True)
    names = [path.name for path in PICTURES.glob("*.png")]
    (PICTURES / "index.html").write_text(sheet(names), "utf-8")
    print(file=sys.stderr)
    print(*sorted(elsewhere), *grave, sep="\n")
    print(
        f"{PICTURES / 'index.html'}: {len(names):,} pictures of {len(pages)} pages; requests to elsewhere: "
        f"{len(elsewhere)}; serious violations by axe: {len(grave)}"
    )
    return int(bool(elsewhere or grave))


if __name__ == "__main__":
    sys.exit(main())
