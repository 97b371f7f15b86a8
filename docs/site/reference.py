"""Write the pages of the reference: every public name, under the heading that docs/interface.md gives it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import verifyplan as vp

INTERFACE = Path(__file__).resolve().parents[1] / "interface.md"
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ROW = re.compile(r"^\| ((?:`vp\.[\w.]+`(?:, )?)+) \|", re.MULTILINE)
INDEX = """# Reference

Every public name with its whole help, in the order of [the interface](../docs/interface.md), which also says what may
change. Columns of tables are explained under [](tables.md), commands under [](../docs/command-line.md).

```{{toctree}}
:maxdepth: 1

Columns of every table <tables>
{pages}
All names on one page <../docs/interface>
Commands <../docs/command-line>
Words <../docs/glossary>
```
"""


def sections() -> dict[str, list[str]]:
    """Return the public names by the section of the interface's page that lists them first."""
    parts = _SECTION.split(INTERFACE.read_text("utf-8"))[1:]
    found: dict[str, list[str]] = {}
    seen: list[object] = []
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        names = [re.findall(r"vp\.([\w.]+)", row)[0] for row in _ROW.findall(text)]
        values = {name: value_of(name) for name in names}
        new = {name: value for name, value in values.items() if all(value is not old for old in seen)}
        kept = [name for name, value in new.items() if not inspect.ismodule(value)]
        seen += values.values()
        if kept:
            found[title] = kept
    return found


def introduction(title: str) -> str:
    """Return what a section of the interface's page says before its table, with links as they are on other pages.

    >>> introduction("Load and look")
    'These read runs and votes from files and tables, and explain their columns.'
    """
    text = INTERFACE.read_text("utf-8").split(f"\n## {title}\n")[1]
    return text.partition("\n|")[0].strip().replace("](", "](../docs/")


def value_of(name: str) -> object:
    """Return what a public name stands for."""
    value: object = vp
    for part in name.split("."):
        value = getattr(value, part)
    return value


def directive(name: str) -> str:
    """Return the lines that make Sphinx show a name: its signature, its docstring, and the members of a class.

    >>> directive("errors.InputError").splitlines()[1:3]
    ['.. autoexception:: verifyplan.errors.InputError', '   :show-inheritance:']
    """
    value = value_of(name)
    kind = "data"
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, Exception) else "class"
    elif callable(value):
        kind = "function"
    options = {"class": ["   :members:"], "exception": ["   :show-inheritance:"]}.get(kind, [])
    return "\n".join(["```{eval-rst}", f".. auto{kind}:: verifyplan.{name}", *options, "```", ""])


def write_reference(folder: Path) -> None:
    """Write a page for each section, and the page that lists them."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for title, names in sections().items():
        slug = re.sub(r"\W+", "-", title.lower()).strip("-")
        pages.append(slug)
        (folder / f"{slug}.md").write_text(
            "\n\n".join([f"# {title}", introduction(title), *map(directive, names)]), "utf-8"
        )
    (folder / "index.md").write_text(INDEX.format(pages="\n".join(pages)), "utf-8")
