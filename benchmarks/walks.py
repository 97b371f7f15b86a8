"""Measure the design of verifyplan: every figure of docs/design.md but the minutes of `make test`.

Run it with `python -m benchmarks.walks`; `--list` names the modules that each call crosses, small modules, and classes
of one name.
A call crosses the modules in which some function runs while `crossverify`, `verify` and `compare` work, offline agents
included, imports made beforehand: a reader who follows the call opens so many files.
"""

from __future__ import annotations

import ast
import re
import resource
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import verifyplan as vp
from tests.runs.plan.planning import run_of, script

PACKAGE = Path(vp.__file__).parent
MIN_MODULE_LINES = 40
"""Modules of fewer lines are small."""
N_NAMES = 10
"""The names bound most often that are shown."""
N_HELP_RUNS = 3
"""How often `verifyplan --help` is timed; the least counts."""
UNKNOWN_TEXTS = re.compile(r"\bSPEC\b|[Dd]ocument 00\d")
"""References to texts that readers do not have."""


def measures(shown: bool) -> Iterator[str]:
    """Yield the measures of the source text, one a line; with names where `shown`."""
    texts = {path.relative_to(PACKAGE): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = {path: len(text.splitlines()) for path, text in texts.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    small = [str(path) for path in texts if lines[path] < MIN_MODULE_LINES and path.name != "__init__.py"]
    modules: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                modules[node.name.lstrip("_")].add(str(path))
    several = {name: sorted(found) for name, found in modules.items() if len(found) > 1}
    docstrings = [
        ast.get_docstring(n)
        for n in nodes
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
    ]
    readme = (PACKAGE.parent / "README.md").read_text()
    prose = sum(len((text or "").splitlines()) for text in docstrings)
    blank = sum(not line.strip() for text in texts.values() for line in text.splitlines())
    yield f"lines {sum(lines.values()):,}, of which in docstrings {prose:,}, blank {blank:,}; modules {len(lines)}"
    yield f"modules under {MIN_MODULE_LINES} lines: {len(small)}" + (f": {', '.join(small)}" if shown else "")
    yield f"class names in more than one module: {len(several)}" + (f": {several}" if shown else "")
    yield f"docstrings that begin with 'What': {sum((text or '').startswith('What ') for text in docstrings)}"
    yield f"references to texts that readers do not have: {sum(len(UNKNOWN_TEXTS.findall(t)) for t in texts.values())}"
    yield f"import cycles: {_cycle(trees)}"
    yield f"names at the top level of verifyplan: {len(vp.__all__)}"
    yield f"words in the README: {len(readme.split())}"
    yield f"seconds of CPU of verifyplan --help: {min(_help_seconds() for _ in range(N_HELP_RUNS)):.2f}"
    yield f"names bound most: {', '.join(name for name, _ in _bound(nodes).most_common(N_NAMES))}"
    yield "folders:"
    folders = Counter(path.parts[0] if len(path.parts) > 1 else "(top)" for path in texts)
    for folder in sorted(folders):
        of_folder = sum(n for path, n in lines.items() if (path.parts[0] if len(path.parts) > 1 else "(top)") == folder)
        yield f"  {folder}: {folders[folder]}, {of_folder:,}"


def _bound(nodes: list[ast.AST]) -> Counter[str]:
    """Return how often each name is bound: as a variable or a parameter."""
    stored = (node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return Counter([*stored, *(node.arg for node in nodes if isinstance(node, ast.arg))])


def _cycle(trees: dict[Path, ast.Module]) -> str:
    """Return `none`, or the first cycle of imports found, those within functions and for types included."""
    names = {"verifyplan." + ".".join(path.with_suffix("").parts): path for path in trees}
    graph = {
        name: {
            target
            for node in ast.walk(trees[path])
            if isinstance(node, ast.ImportFrom) and node.module
            for target in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
            if target in names
        }
        for name, path in names.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " -> ".join(error.args[1])
    return "none"


def _help_seconds() -> float:
    """Return the seconds of CPU that `verifyplan --help` takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "verifyplan", "--help"], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def crossed(call: Callable[[], object]) -> list[str]:
    """Return the modules in which some function runs during a call, sorted."""
    files: set[str] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)) and frame.f_code.co_name != "<module>":
            files.add(name)

    call()  # imports what it needs
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(Path(name).relative_to(PACKAGE).with_suffix("").as_posix() for name in files)


def main() -> None:
    shown = "--list" in sys.argv
    for line in measures(shown):
        print(line)
    folder = Path(tempfile.mkdtemp())
    repository = vp.datasets.sample_repository(folder / "waybill")
    plan = vp.datasets.plan_path("purge-hour")
    claims = vp.datasets.stdlib_claims(8, seed=7)
    workers = ["syntax-tree", "window", "search", "quotation"]
    root = vp.datasets.stdlib_root()
    modes = [vp.datasets.runs(f"stdlib-claims/{mode}") for mode in ("collaborative", "adversarial")]
    calls: dict[str, Callable[[], object]] = {
        "crossverify": lambda: vp.crossverify(claims, workers, repo=root, log_dir=folder / "cross"),
        "verify, scripted agents": lambda: run_of(script()),
        "verify, static agents": lambda: vp.verify(plan, repository, log_dir=folder / "plans", progress=False),
        "compare": lambda: vp.compare(*modes),
    }
    for name, call in calls.items():
        modules = crossed(call)
        by_folder: dict[str, list[str]] = {}
        for module in modules:
            by_folder.setdefault(module.split("/")[0] if "/" in module else ".", []).append(module)
        print(f"{name}: {len(modules)} modules")
        if shown:
            for where, files in sorted(by_folder.items()):
                print(f"  {where} ({len(files)}): {', '.join(files)}")


if __name__ == "__main__":
    main()
