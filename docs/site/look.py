"""Picture every page of the built site, light and dark, 950 and 1,600 pixels wide (`make look`: out/browser/site/).

`index.html` there is a sheet of all pictures. Prints how many addresses elsewhere the pages asked for, and what axe
finds serious; ends with 1 unless both are none.
"""

from __future__ import annotations

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
MAX_HEIGHT_PX = 6000
"""The top of a page down to here is in its picture."""


def take_pictures(pages: list[Path]) -> Iterator[tuple[str, list[str], list[Violation]]]:
    """Yield of each picture its name, the addresses elsewhere that its page asked for, and what axe finds."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for theme, width in product(THEMES, WIDTHS_PX):
            context = browser.new_context(
                viewport={"width": width, "height": 1000}, color_scheme=theme, reduced_motion="reduce"
            )
            tab = context.new_page()
            for page in pages:
                name = f"{page.relative_to(HTML).with_suffix('').as_posix().replace('/', '-')}-{width}-{theme}.png"
                yield name, *picture(tab, page, PICTURES / name, first=width == WIDTHS_PX[0])
            context.close()
        browser.close()


def picture(tab: Page, page: Path, path: Path, *, first: bool) -> tuple[list[str], list[Violation]]:
    """Picture one page; axe looks at it at the `first` width only, as colours and names do not change with width."""
    asked: list[str] = []

    def keep(request: Request) -> None:
        asked.append(request.url)

    tab.on("request", keep)
    tab.goto(page.as_uri())
    tab.wait_for_load_state("load")
    size = tab.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
    clip: Any = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], MAX_HEIGHT_PX)}
    tab.screenshot(path=path, full_page=True, clip=clip)
    tab.remove_listener("request", keep)
    elsewhere = [url for url in asked if not url.startswith(("file:", "data:"))]
    return elsewhere, axe(cast(Any, SimpleNamespace(tab=tab)), "main") if first else []


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
    PICTURES.mkdir(parents=True, exist_ok=True)
    total = len(pages) * len(THEMES) * len(WIDTHS_PX)
    names: list[str] = []
    elsewhere: set[str] = set()
    grave: list[str] = []
    for name, asked, violations in take_pictures(pages):
        names.append(name)
        elsewhere |= set(asked)
        grave += [f"{name}: {each.id} ({each.impact}): {each.help}: {each.targets[0]}" for each in violations]
        print(f"\r{len(names):,} of {total:,} pictures", end="", file=sys.stderr, flush=True)
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
