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
from verifyplan.agents.static.roles.wordsets import words

_IMPORT = re.compile(
    r"^\s*(?:from\s+([A-Za-z_]\w*)[\w.]*\s+import\b|import\s+([A-Za-z_]\w*)[\w.]*\s*(?:as\s+\w+\s*)?(?:,|$))"
)
_IMPORT_JS = re.compile(r"""(?:\bfrom\s+|\brequire\(\s*|^\s*import\s+)["']((?:@[\w.-]+/)?[A-Za-z][\w.-]*)""")
_NAMED = re.compile(
    r"(?:\b(?:use|uses|using|with|via|through|by|import|imports)\s+)?`([A-Za-z@][\w./-]*)`\s+(?:package"
    r"|library|module|sdk|gem|crate|client library)\b|\b(?:package|library|sdk|crate)\s+`([A-Za-z@][\w./-]*)`",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`([A-Za-z@][\w./-]{1,60})`|(?<![\w`/.@-])([A-Za-z][\w.-]{2,30}?)(?![\w/-]|\.\w|`)")
_BROUGHT = re.compile(
    r"\b(?:with|using|uses?|via|through|in|into|by|import|on|adopt|onto)\s+(?:an? |the )?$", re.IGNORECASE
)
_MANIFEST = re.compile(
    r"\b(?:pyproject\.toml|package\.json|go\.mod|cargo\.toml|requirements[\w-]*\.txt|pom\.xml|build\.gradle)",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:add|adds|added|gets?|gains?|put|lists?|listed|goes into|pin|pinned|extend|update)\b", re.IGNORECASE
)
_ADDS = re.compile(
    r"\b(?:install|installs|add|adds|adding|added|require|requirements|depend|dependency|dependencies|declare"
    r"|declares|manifest|pyproject|package\.json|go\.mod|cargo)\b",
    re.IGNORECASE,
)
_PYTHON = frozenset({"python", "py", "python3"})
_SCRIPT = frozenset({"js", "ts", "javascript", "typescript", "jsx", "tsx"})
_NODE = words(
    "node fs path http https url util crypto os stream events assert child_process zlib net tls dns process",
    "buffer",
)
_BROUGHT_BY = {
    "starlette": "fastapi",
    "anyio": "httpx",
    "numpy": "pandas",
    "werkzeug": "flask",
    "jinja2": "flask",
    "click": "typer",
}
_ECOSYSTEM = {"python": "pypi", "script": "npm", "go": "go", "rust": "crates"}
"""Of the tables of well-known packages."""
DISTRIBUTION = {
    "yaml": "pyyaml", "PIL": "pillow", "bs4": "beautifulsoup4", "cv2": "opencv-python",
    "sklearn": "scikit-learn", "dotenv": "python-dotenv", "jwt": "pyjwt", "dateutil": "python-dateutil",
    "attr": "attrs", "OpenSSL": "pyopenssl", "git": "gitpython", "serial": "pyserial", "Crypto": "pycryptodome",
    "psycopg2": "psycopg2-binary", "magic": "python-magic", "jose": "python-jose", "slugify": "python-slugify",
    "docx": "python-docx", "pptx": "python-pptx", "MySQLdb": "mysqlclient",
}  # fmt: skip
"""Names under which a package is imported, where they are not its own."""


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each package that the plan's code or words use, but no manifest and no step brings.

    The standard libraries, the repository's own modules and what a line on installing or on manifests names are
    no packages that are missing. Silent where no manifest declares anything.
    """
    if scene.known.empty or not scene.known.packages:
        return
    for name, line in ({} if _touches_manifest(scene) else _used(scene)).items():
        if not _known(scene, name) and not _added(scene, name):
            yield _issue(scene, name, line)


def _used(scene: Scene) -> dict[str, int]:
    """The packages that are used, each with the first line that does."""
    found: dict[str, int] = {}
    for name, line in (*_in_code(scene), *_in_words(scene), *_referred(scene)):
        found.setdefault(name, line)
    return found


def _in_code(scene: Scene) -> Iterator[tuple[str, int]]:
    for block in scene.plan.blocks:
        if not scene.reading.told(block.first):
            for at, line in enumerate(block.text.split("\n"), block.first + 1):
                yield from ((name, at) for name in _imported(block.language, line[:300]))


def _in_words(scene: Scene) -> Iterator[tuple[str, int]]:
    for at, line in scene.reading.to_do:
        if scene.reading.block(at) is None:
            named = (match for match in _NAMED.finditer(line) if not denied(line, match.start()))
            yield from ((match[1] or match[2], at) for match in named)
            yield from ((name, at) for name in _well_known(line))


def _referred(scene: Scene) -> Iterator[tuple[str, int]]:
    for one in scene.reading.actions("package"):
        if one.intent == "use" and not denied(scene.reading.sentence(one.line, one.name).text):
            yield one.name, one.line


@cache
def _names() -> tuple[frozenset[str], frozenset[str]]:
    """Well-known packages, and those among them whose names are words, too."""
    tables = _tables()
    return frozenset().union(*(names for table, names in tables.items() if table != "ambiguous")), tables["ambiguous"]


def _well_known(line: str) -> Iterator[str]:
    """Well-known packages that a line brings in: in backticks, or bare behind words such as "with" or "using"."""
    for match in _TICKED.finditer(line):
        if _is_package(match, line) and not denied(line, match.start()):
            yield (match[1] or match[2]).lower()


def _is_package(match: re.Match[str], line: str) -> bool:
    """Whether a name can be nothing but a package: scoped, a module's path, or well known and no word otherwise."""
    known, ambiguous = _names()
    name = (match[1] or match[2]).lower()
    if match[1] and (re.fullmatch(r"@[\w.-]+/[\w.-]+", name) or re.match(r"(?:[a-z0-9-]+\.)+[a-z]+/\w", name)):
        return not name.startswith("@types/")
    if name not in known:
        return False
    brought = _BROUGHT.search(line[max(match.start() - 40, 0) : match.start()]) is not None
    return (
        name in known
        and (brought or match[1] is not None)
        and (name not in ambiguous or (brought and match[1] is not None))
    )


def _imported(language: str, line: str) -> list[str]:
    if language in _PYTHON:
        match = _IMPORT.match(line)
        return [name for name in match.groups() if name] if match else []
    if language == "go":
        found: list[str] = re.findall(r'^\s*(?:import\s+)?(?:\w+\s+)?"((?:[a-z0-9-]+\.)+[a-z]+/[\w./-]+)"', line)
        return found
    if language in _SCRIPT:
        return [name for name in _IMPORT_JS.findall(line) if name not in _NODE]
    return []


def _known(scene: Scene, name: str) -> bool:
    names = {key(name), key(DISTRIBUTION.get(name, name))} | ({key(name.split("/")[0])} if "." not in name else set())
    if any(name.startswith(f"{one.name}/") for one in scene.known.declared):
        return True
    if key(_BROUGHT_BY.get(name, name)) in scene.known.packages:
        return True
    if names & scene.known.packages or names & scene.known.own:
        return True
    made = {path.rpartition("/")[2].partition(".")[0] for path in scene.plan.created}
    return name in sys.stdlib_module_names or name in _NODE or name in made or bool(scene.known.mentions(name))


def _added(scene: Scene, name: str) -> bool:
    """Whether a line names the package and speaks of adding it, or of a manifest."""
    names = {name, DISTRIBUTION.get(name, name)}
    lines = (sentence.text for one in names for sentence, _ in scene.reading.naming(one))
    other = any(
        key(one.name) in map(key, names) and one.intent == "create"
        for one in scene.plan.references
        if one.kind == "package"
    )
    return other or any(_ADDS.search(line) for line in lines)


def _touches_manifest(scene: Scene) -> bool:
    """Whether a step changes a manifest, so that what the plan uses is taken to be added there."""
    return any(_MANIFEST.search(line) and _CHANGES.search(line) and not denied(line) for _, line in scene.reading.to_do)


def _ecosystem(scene: Scene, name: str, line: int) -> str:
    """Whose package it is: of the language of the code that imports it, else of who knows the name."""
    block = scene.reading.block(line)
    language = block.language if block is not None else ""
    if language in _PYTHON:
        return "pypi"
    if language in _SCRIPT:
        return "npm"
    return next((of for table, of in _ECOSYSTEM.items() if name.lower() in _tables()[table]), language)


@cache
def _tables() -> dict[str, frozenset[str]]:
    """Well-known packages by ecosystem."""
    table = tomllib.loads(files(__package__ or "").joinpath("well_known.toml").read_text("utf-8"))
    return {name: frozenset(text.split()) for name, text in table.items()}


def _issue(scene: Scene, name: str, line: int) -> Issue:
    of_kind = _ecosystem(scene, name, line)
    paths = sorted((package.ecosystem != of_kind, package.path) for package in scene.known.declared)
    manifest = paths[0][1] if paths else ""
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
