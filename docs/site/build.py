"""Build the site of the documentation into out/site/html, offline: pages, executed notebooks, gallery and reference.

`make docs`, or by hand `python -m docs.site.build [--quick]`. Every page keeps its place relative to the others, so
that a link which works in the repository works on the site; those of `docs/site` stand at the top.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from docs.site.checks import problems, write_external_links
from docs.site.reference import write_reference
from docs.site.tables import write_tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "out" / "site"
PAGES = (
    "docs/*.md",
    "docs/questions/*.md",
    "notebooks/*.ipynb",
    "data/README.md",
    "data/*/README.md",
    "benchmarks/README.md",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
)
_LINK = re.compile(r"\]\(([^)#\s]+)")


def pages() -> list[Path]:
    """Return the files that are pages of the site or parts of one, but for those of `docs/site`."""
    return sorted(path for pattern in PAGES for path in ROOT.glob(pattern))


def linked_files(page: Path) -> Iterator[Path]:
    """Yield the files of the repository that a page links to or shows."""
    if page.suffix == ".md":
        for target in _LINK.findall(page.read_text("utf-8")):
            path = (page.parent / target).resolve()
            if path.is_file() and path.is_relative_to(ROOT):
                yield path


def assemble(source: Path) -> None:
    """Write all that Sphinx reads into a new folder `source`."""
    shutil.rmtree(source, ignore_errors=True)
    found = pages()
    for path in {*found, *(file for page in found for file in linked_files(page))}:
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for page in HERE.glob("*.md"):
        shutil.copyfile(page, source / page.name)
    write_reference(source / "reference")
    write_tables(source / "reference")


def main() -> int:
    """Build the site and check its links; return 1 if anything warns, a link is broken or a page asks another host."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="do not execute the notebooks and the gallery")
    os.environ["VERIFYPLAN_EXECUTE"] = "off" if parser.parse_args().quick else "force"
    source, html = OUT / "source", OUT / "html"
    assemble(source)
    shutil.rmtree(html, ignore_errors=True)
    jobs = str(min(4, os.cpu_count() or 1))
    options = ["--fail-on-warning", "-q", "-E", "-j", jobs, "-c", str(HERE), "-d", str(OUT / "doctrees")]
    failed = sphinx([*options, str(source), str(html)])
    found = problems(html)
    print(*found, sep="\n", file=sys.stderr)
    n_links = write_external_links(html, OUT / "external-links.txt")
    print(f"{html / 'index.html'}: {len(list(html.rglob('*.html')))} pages; {n_links} links to other hosts, not tried")
    return int(bool(failed or found))


if __name__ == "__main__":
    sys.exit(main())
