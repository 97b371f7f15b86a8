"""Packages that the plan's code imports, and that no manifest declares, no code imports yet and no step installs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place, statement
from verifyplan.agents.static.roles.scene import CodeRead, Scene, code_blocks

ALIASES = {
    "yaml": "pyyaml",
    "PIL": "pillow",
    "cv2": "opencv",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "osgeo": "gdal",
    "jwt": "pyjwt",
    "git": "gitpython",
    "attr": "attrs",
    "serial": "pyserial",
    "magic": "python-magic",
    "pkg_resources": "setuptools",
}
"""Packages whose import name is not a part of the name under which they are declared."""

_REQUIRE = re.compile(r"\brequire\(\s*[\"']([^\"'\s]+)[\"']\s*\)")
_NODE = re.compile(
    r"(?:assert|buffer|child_process|cluster|crypto|dns|events|fs|https?|http2|module|net|os|path|perf_hooks|process"
    r"|querystring|readline|stream|string_decoder|timers|tls|tty|url|util|v8|vm|worker_threads|zlib|test)"
)


def check(scene: Scene) -> Iterator[Place | Issue]:
    """Hold each import of the plan's Python, JavaScript and Go against the manifests of that language.

    A language without a manifest is not looked at. A package counts as declared where a manifest holds its name in
    any spelling, or a longer name that begins with it.
    """
    for block in code_blocks(scene):
        manifests = scene.known.manifests(block.language)
        for line, module in _modules(block) if manifests else ():
            name = package_of(module, block.language)
            if name and not _own(scene, name):
                yield Place("", line)
                if not _declared(scene, name, manifests) and not _imported(scene, name) and not _installed(scene, name):
                    yield _issue(name, line, manifests[0])


def _modules(block: CodeRead) -> Iterator[tuple[int, str]]:
    """Line of the plan and module of each import, and of each `require` of JavaScript."""
    yield from ((block.above + one.line, one.module) for one in block.outline.imports)
    if block.language in ("javascript", "typescript", "tsx"):
        for at, line in enumerate(block.text.split("\n"), block.above + 1):
            yield from ((at, found) for found in _REQUIRE.findall(line) if not line.lstrip().startswith(("//", "*")))


def package_of(module: str, language: str) -> str:
    """The package that an import names; empty for the standard library, relative paths and aliases of paths.

    >>> package_of("yaml.nodes", "python"), package_of("json", "python"), package_of("@x/y/z", "typescript")
    ('yaml', '', '@x/y')
    """
    parts = module.split("/")
    if language == "python":
        top = module.split(".")[0]
        return "" if top in sys.stdlib_module_names else top
    if language == "go":
        return "/".join(parts[:3]) if "." in parts[0] else ""
    if module.startswith((".", "/", "~", "@/", "#", "$", "node:")) or ":" in module or _NODE.fullmatch(parts[0]):
        return ""
    return "/".join(parts[:2]) if module.startswith("@") else parts[0]


def _own(scene: Scene, name: str) -> bool:
    listed = any(name in path.split("/") or path.endswith(f"{name}.py") for path in scene.plan.files)
    return name in scene.known.own or listed


def _declared(scene: Scene, name: str, manifests: list[str]) -> bool:
    text = _squeezed(scene.known.texts(manifests))
    return _squeezed(ALIASES.get(name, name)) in text or _squeezed(name) in text


def _squeezed(text: str) -> str:
    return re.sub(r"[-_.]", "", text.lower())


def _imported(scene: Scene, name: str) -> bool:
    """Whether code of the repository imports it already, so that it comes from somewhere."""
    return any(
        re.split(r"[./]", one.module)[0] == re.split(r"[./]", name)[0] and one.module.startswith(name)
        for _, outline in scene.known.outlines(name)
        for one in outline.imports
    )


def _installed(scene: Scene, name: str) -> bool:
    wanted = {_squeezed(name), _squeezed(ALIASES.get(name, name))}
    added = {_squeezed(one.name) for one in scene.plan.references if one.kind == "package"}
    return (
        bool(wanted & added)
        or scene.other_plan_may_add(name)
        or any(scene.text.adds(one) for one in (name, ALIASES.get(name, name)))
    )


def _issue(name: str, line: int, manifest: str) -> Issue:
    return Issue(
        statement("package-missing", name),
        line,
        f"The plan's code imports it; {manifest} does not declare it, no code imports it yet, and no step adds it.",
        scenario="The code fails at its import wherever the project is installed anew.",
        alternative=f"Add a step that declares it in {manifest}, or use what is declared already.",
    )
