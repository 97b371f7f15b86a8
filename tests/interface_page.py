"""The page docs/interface.md: which names it lists, and the sentences that it should have.

`make interface` writes the names and sentences anew; the sections are made by hand.
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
    """Return the page with all names and sentences as the code has them; new ones follow those of their module."""
    objects = public_objects()
    missing = set(objects) - {name for names, _ in rows(page) for name in names}
    lines: list[str] = []
    for line in page.splitlines():
        names = [name for names, _ in rows(line) for name in names]
        known = [name for name in names if name in objects]
        lines += [row(known, objects[known[0]])] if known else [] if names else [line]
    for name in sorted(missing):
        module = name.rpartition(".")[0]
        last = max(at for at, line in enumerate(lines) if re.match(rf"\| `{module}\.\w+`", line))
        lines.insert(last + 1, row([name], objects[name]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
