"""Check a built site: every link within it leads to a place that is there, and no page loads from another host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_CSS_LOADS = re.compile(r"""(?:@import\s+|url\(\s*)["']?((?:https?:)?//[^"')\s]+)""")
_LOADED = {"src", "srcset", "data", "poster"}
_PASSIVE = {"canonical", "next", "prev", "search", "index", "genindex", "author", "copyright", "license"}


@dataclass
class Page(HTMLParser):
    """What one page of HTML links to, loads and can be linked to."""

    ids: set[str] = field(default_factory=set)
    """The places of the page that a link can name."""
    links: set[str] = field(default_factory=set)
    """The targets of its links."""
    loads: set[str] = field(default_factory=set)
    """The addresses of scripts, styles, pictures and frames."""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the ids, the links and the addresses of an element."""
        given = {name: value for name, value in attrs if value}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        elif tag == "link" and not set(given.get("rel", "").split()) & _PASSIVE:
            self.loads.add(given.get("href", ""))
        self.loads |= {given[name] for name in _LOADED & set(given)}
        self.loads |= set(_CSS_LOADS.findall(given.get("style", "")))


@cache
def page_of(path: Path) -> Page:
    """Return what a file of HTML holds."""
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def problems(site: Path) -> list[str]:
    """Return a sentence for each link that leads nowhere and for each resource of another host."""
    page_of.cache_clear()
    files = sorted(site.rglob("*.html"))
    return [
        *(f"{path.relative_to(site)}: {problem}" for path in files for problem in _problems_of(path)),
        *(
            f"{path.relative_to(site)}: loads {address}"
            for path in sorted(site.rglob("*.css"))
            for address in _CSS_LOADS.findall(path.read_text("utf-8"))
        ),
    ]


def _problems_of(path: Path) -> Iterator[str]:
    page = page_of(path)
    for address in sorted(page.loads):
        if urlsplit(address).netloc:
            yield f"loads {address}"
    for link in sorted(page.links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            yield f"links to {link}, which is no file"
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page_of(target).ids:
            yield f"links to {link}, a place that the page does not have"


def write_external_links(site: Path, file: Path) -> int:
    """Write the links to other hosts, one a line, each once; return how many there are."""
    links = {link for path in site.rglob("*.html") for link in page_of(path).links if urlsplit(link).netloc}
    file.write_text("".join(f"{link}\n" for link in sorted(links)), "utf-8")
    return len(links)
