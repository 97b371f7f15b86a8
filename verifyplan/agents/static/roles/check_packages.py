"""Packages that the plan's code imports, and that no manifest declares, no code imports yet and no step installs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from verifyplan.agents.static.roles.context import ParsedBlock, RoleContext, code_blocks
from verifyplan.agents.static.roles.issues import CitedLine, StaticIssue, assertion

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


def check_packages(context: RoleContext) -> Iterator[CitedLine | StaticIssue]:
    """Compare each import of the plan's Python, JavaScript and Go with the manifests of that language.

    A language without a manifest is not looked at. A package counts as declared where a manifest holds its name in
    any spelling, or a longer name that begins with it.
    """
    for block in code_blocks(context):
        manifests = context.index.manifests(block.language)
        for line, module in _modules(block) if manifests else ():
            name = package_of(module, block.language)
            own = name in context.index.import_names
            own = own or any(name in path.split("/") or path.endswith(f"{name}.py") for path in context.plan.files)
            if name and not own:
                yield CitedLine("", line)
                if not _known(context, name, manifests):
                    manifest = manifests[0]
                    yield StaticIssue(
                        assertion("package-missing", name),
                        line,
                        f"The plan's code imports it; {manifest} does not declare it, no code imports it yet,"
                        " and no step adds it.",
                        scenario="The code fails at its import wherever the project is installed anew.",
                        alternative=f"Add a step that declares it in {manifest}, or use what is declared already.",
                    )


def _modules(block: ParsedBlock) -> Iterator[tuple[int, str]]:
    """Yield the line of the plan and the module of each import, and of each `require` of JavaScript."""
    yield from ((block.above + imported.line, imported.module) for imported in block.outline.imports)
    if block.language in ("javascript", "typescript", "tsx"):
        for at, line in enumerate(block.text.split("\n"), block.above + 1):
            if not line.lstrip().startswith(("//", "*")):
                yield from ((at, module) for module in _REQUIRE.findall(line))


def package_of(module: str, language: str) -> str:
    """Return the package that an import names; empty for the standard library, relative paths and aliases of paths.

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


def _known(context: RoleContext, name: str, manifests: list[str]) -> bool:
    """Whether a package is declared by a manifest, imported by code of the repository, or installed by the plan."""
    names = (name, ALIASES.get(name, name))
    squeezed = {_squeezed(spelling) for spelling in names}
    declared = _squeezed(context.index.texts(manifests))
    imports = (imported.module for _, outline in context.index.outlines(name) for imported in outline.imports)
    top = re.split(r"[./]", name)[0]
    added = {_squeezed(reference.name) for reference in context.plan.references if reference.kind == "package"}
    return (
        any(spelling in declared for spelling in squeezed)
        or any(re.split(r"[./]", module)[0] == top and module.startswith(name) for module in imports)
        or bool(squeezed & added)
        or context.other_plan_may_add(name)
        or any(context.text.adds(spelling) for spelling in names)
    )


def _squeezed(text: str) -> str:
    return re.sub(r"[-_.]", "", text.lower())
