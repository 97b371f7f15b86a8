"""The page docs/interface.md: which names it lists, and the sentences that it should have.

`python -m tests.interface_page` writes the sentences anew; a new name needs a row, such as ``| `vp.name` | |``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import verifyplan as vp

PAGE = Path(__file__).resolve().parents[1] / "docs" / "interface.md"
_ROW = re.compile(r"^\| (`vp\.[^|]*`) \|.*\|$", re.MULTILINE)


def public_objects() -> dict[str, object]:
    """Return every public name as a user writes it, such as `vp.analysis.queue`, and what it is."""
    found: dict[str, object] = {}
    for name in vp.__all__:
        value = found[f"vp.{name}"] = getattr(vp, name)
        if isinstance(value, ModuleType):
            found |= {f"vp.{name}.{inner}": getattr(value, inner) for inner in value.__all__}
    weights = {name for name in found if name.startswith("vp.analysis.weights")}  # listed as vp.weights
    return {name: value for name, value in found.items() if name not in weights}


def sentence(value: object) -> str:
    """Return the first line of an object's docstring."""
    return (inspect.getdoc(value) or "").partition("\n")[0]


def rows(page: str) -> Iterator[tuple[list[str], str]]:
    """Yield the names of each row of the page, and its text; an object under two names has one row."""
    for match in _ROW.finditer(page):
        yield re.findall(r"`(vp\.[\w.]+)`", match[1]), match[0]


def row(names: list[str], value: object) -> str:
    """Return a row as it should be."""
    return f"| {', '.join(f'`{name}`' for name in names)} | {sentence(value).replace('|', chr(92) + '|')} |"


def rewritten(page: str) -> str:
    """Return the page with the sentence of each row as the code has it; rows of names that are gone are dropped."""
    objects = public_objects()
    for names, text in rows(page):
        known = [name for name in names if name in objects]
        page = page.replace(f"{text}\n", f"{row(known, objects[known[0]])}\n" if known else "")
    return page


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
