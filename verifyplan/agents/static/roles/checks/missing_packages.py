"""Packages that the plan uses and that no manifest declares and no step adds."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.known import key
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene

_IMPORT = re.compile(
    r"^\s*(?:from\s+([A-Za-z_]\w*)[\w.]*\s+import\b|import\s+([A-Za-z_]\w*)[\w.]*\s*(?:as\s+\w+\s*)?(?:,|$))"
)
_IMPORT_JS = re.compile(r"""(?:\bfrom\s+|\brequire\(\s*|^\s*import\s+)["']((?:@[\w.-]+/)?[A-Za-z][\w.-]*)""")
_NAMED = re.compile(
    r"(?:\b(?:use|uses|using|with|via|through|by|import|imports)\s+)?`([A-Za-z@][\w./-]*)`\s+(?:package|library|module|sdk|gem|crate|client library)\b|\b(?:package|library|sdk|crate)\s+`([A-Za-z@][\w./-]*)`",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`([A-Za-z@][\w./-]{1,60})`|(?<![\w`/.@-])([A-Za-z][\w.-]{2,30}?)(?![\w/-]|\.\w|`)")
_ADDS = re.compile(
    r"\b(?:install|installs|add|adds|adding|added|require|requirements|depend|dependency|dependencies|declare|declares|manifest|pyproject|package\.json|go\.mod|cargo)\b",
    re.IGNORECASE,
)
_PYTHON = frozenset({"python", "py", "python3"})
_SCRIPT = frozenset({"js", "ts", "javascript", "typescript", "jsx", "tsx"})
_NODE = frozenset(
    "fs path http https url util crypto os stream events assert child_process zlib net tls dns process buffer".split()
)
DISTRIBUTION = {
    "yaml": "pyyaml", "PIL": "pillow", "bs4": "beautifulsoup4", "cv2": "opencv-python", "sklearn": "scikit-learn",
    "dotenv": "python-dotenv", "jwt": "pyjwt", "dateutil": "python-dateutil", "attr": "attrs", "OpenSSL": "pyopenssl",
    "git": "gitpython", "serial": "pyserial", "Crypto": "pycryptodome", "psycopg2": "psycopg2-binary", "magic": "python-magic",
    "jose": "python-jose", "slugify": "python-slugify", "docx": "python-docx", "pptx": "python-pptx", "MySQLdb": "mysqlclient",
}  # fmt: skip
"""Names under which a package is imported, where they are not its own."""


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each package that the plan's code or words use, but no manifest and no step brings.

    The standard libraries, the repository's own modules and what a line on installing or on manifests names are
    no packages that are missing. Silent where no manifest declares anything.
    """
    if scene.known.empty or not scene.known.packages:
        return
    for name, line in _used(scene).items():
        if not _known(scene, name) and not _added(scene, name):
            yield _issue(scene, name, line)


def _used(scene: Scene) -> dict[str, int]:
    """The packages that are used, each with the first line that does."""
    found: dict[str, int] = {}
    for block in scene.plan.blocks:
        if scene.reading.told(block.first):
            continue
        for at, line in enumerate(block.text.split("\n"), block.first + 1):
            for name in _imported(block.language, line[:300]):
                found.setdefault(name, at)
    for at, line in scene.reading.to_do:
        for match in _NAMED.finditer(line):
            name = match[1] or match[2]
            if not denied(line, match.start()) and scene.reading.block(at) is None:
                found.setdefault(name, at)
    for at, line in scene.reading.to_do:
        if scene.reading.block(at) is None:
            for name in _well_known(line):
                found.setdefault(name, at)
    for one in scene.reading.actions("package"):
        if one.intent == "use" and not denied(scene.plan.line(one.line)):
            found.setdefault(one.name, one.line)
    return found


@cache
def _names() -> tuple[frozenset[str], frozenset[str]]:
    """Well-known packages, and those among them whose names are words, too."""
    table = tomllib.loads(files(__package__ or "").joinpath("well_known.toml").read_text("utf-8"))
    ambiguous = frozenset(table.pop("ambiguous").split())
    return frozenset(name for text in table.values() for name in text.split()), ambiguous


def _well_known(line: str) -> list[str]:
    """Well-known packages that a line brings in: in backticks, or bare where the name is no other word."""
    known, ambiguous = _names()
    found = []
    for match in _TICKED.finditer(line):
        name = (match[1] or match[2]).lower()
        last = name.rpartition("/")[2]
        module = "/" in name and re.match(r"(?:[a-z]+\.)+[a-z]+/", name) is not None
        bare = match[2] is not None
        if (last if module else name) in known and not (bare and name in ambiguous) and not denied(line, match.start()):
            found.append(last if module else name)
    return found


def _imported(language: str, line: str) -> list[str]:
    if language in _PYTHON:
        match = _IMPORT.match(line)
        return [name for name in match.groups() if name] if match else []
    if language in _SCRIPT:
        return [name for name in _IMPORT_JS.findall(line) if name not in _NODE]
    return []


def _known(scene: Scene, name: str) -> bool:
    names = {key(name), key(DISTRIBUTION.get(name, name)), key(name.split("/")[0])}
    if names & scene.known.packages or names & scene.known.own:
        return True
    made = {path.rpartition("/")[2].partition(".")[0] for path in scene.plan.created}
    return name in sys.stdlib_module_names or name in _NODE or name in made or bool(scene.known.mentions(name))


def _added(scene: Scene, name: str) -> bool:
    """Whether a line names the package and speaks of adding it, or of a manifest."""
    names = {name, DISTRIBUTION.get(name, name)}
    lines = (scene.plan.line(at) for one in names for at, _ in scene.reading.naming(one))
    other = any(
        key(one.name) in map(key, names) and one.intent == "create"
        for one in scene.plan.references
        if one.kind == "package"
    )
    return other or any(_ADDS.search(line) for line in lines)


def _issue(scene: Scene, name: str, line: int) -> Issue:
    manifest = min((package.path for package in scene.known.declared), default="")
    first = min((package.line for package in scene.known.declared if package.path == manifest), default=1)
    return Issue(
        statement("package-missing", name),
        line,
        f"No manifest declares it, such as {manifest}, and no step adds it.",
        "SIGNIFICANT",
        "HIGH",
        scenario="The code that imports it fails wherever the package does not happen to be installed.",
        alternative=f"Add a step that declares `{name}` in `{manifest}`, with a version, or do without it.",
        beside=(Place(manifest, first),) if manifest else (),
    )
