"""Whether tests notice a fault: mutants of the package, in a copy, each tried by the tests of its folder.

`python -m benchmarks.mutants` draws 120 of all mutants, and prints which were killed, the share by folder, and those
that survived, to be read. The seed that is printed draws the same again from the same sources. Tests that name the
mutated module run first, then the rest of its folder, a minute together; a test of more than 30 seconds fails. A mutant
is killed if a test fails that passes without it; what no test notices within the minute survived, and the list says
whether that was the minute or all tests. The checkout is only read.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "verifyplan"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".ci", ".hypothesis", ".*_cache", "__pycache__")
TESTED_BY = {
    "agents": ["tests/agents", "tests/live"],
    "engine": ["tests/engine", "tests/runs", "tests/live"],
    "runs": ["tests/runs", "tests/live"],
    "secret_rules": ["tests/test_secret_rules.py", "tests/test_redaction.py"],
    "cli": ["tests/test_cli*.py"],
    "": ["tests/test_*.py"],
}
"""Where the tests of a folder are, unless they are in the folder of the same name; of modules at the top, by ''."""
MIRRORED = {ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
MIRRORED |= {other: one for one, other in MIRRORED.items()}
BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
SOUND = "tests/test_files.py"
"""Tests that must pass in the copy before anything is put into it."""
REMOVABLE = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)


class Mutant(NamedTuple):
    """A change to one place of a module: from `first` to `last` (offsets in its bytes) stands `text`."""

    path: Path
    line: int
    first: int
    last: int
    operator: str
    old: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.operator}: {' '.join(self.old.split())} -> {self.text}"

    @property
    def folder(self) -> str:
        """The folder of the package, '' for its top."""
        return self.path.parts[1] if len(self.path.parts) > 2 else ""


def mutants_of(path: Path, tree: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module, by its path below the tree; annotations and parts of texts are left alone."""
    source = (tree / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        todo += [
            child
            for name, value in ast.iter_fields(node)
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
            and name not in ("annotation", "returns")
            and not isinstance(child, ast.JoinedStr)
        ]
        for place, operator, text in _changes(node):
            first = starts[place.lineno - 1] + place.col_offset
            last = starts[(place.end_lineno or 1) - 1] + (place.end_col_offset or 0)
            yield Mutant(path, place.lineno, first, last, operator, source[first:last].decode(), text)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Yield what may stand in place of a node, or of the condition in it."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for operator, others in (("comparison", MIRRORED), ("boundary", BOUNDARY)):
            if other := others.get(type(node.ops[0])):
                yield node, operator, ast.unparse(ast.Compare(node.left, [other()], node.comparators))
    elif isinstance(node, ast.BoolOp):
        yield (
            node,
            "and/or",
            ast.unparse(ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)),
        )
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, "constant", repr(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, REMOVABLE) or (isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)):
        yield node, "removed", "pass"
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, "negated", f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, ast.comprehension):
        yield from ((test, "negated", f"(not ({ast.unparse(test)}))") for test in node.ifs)


def draw(number: int, seed: int, inside: str, tree: Path) -> list[Mutant]:
    """Return so many mutants, each as probable as another, by path and line; `inside` is a folder of the package."""
    paths = sorted(path.relative_to(tree) for path in (tree / PACKAGE / inside).rglob("*.py"))
    every = [mutant for path in paths for mutant in mutants_of(path, tree)]
    print(f"seed {seed}: {number} of {len(every):,} mutants in {len(paths)} modules")
    return sorted(random.Random(seed).sample(every, min(number, len(every))))


def tests_of(mutant: Mutant, tree: Path) -> list[str]:
    """Return the module's own examples and the test files of its folder, those that name the module first."""
    below = Path(*mutant.path.parts[1:-1])
    places = TESTED_BY.get(mutant.folder, [str("tests" / below)])
    while not any(sorted(tree.glob(place)) for place in places) and below.parts:
        below = below.parent  # the tests of a folder are at times in the folder above
        places = [str("tests" / below)]
    found = [
        file
        for place in places
        for one in sorted(tree.glob(place))
        for file in (sorted(one.rglob("test_*.py")) or [one])
    ]
    dotted, stem = ".".join(mutant.path.with_suffix("").parts), mutant.path.stem

    def distance(file: Path) -> int:
        text = file.read_text(encoding="utf-8")
        return 0 if re.search(rf"{re.escape(dotted)}\b", text) else 1 if stem in file.stem else 2 if stem in text else 3

    return [str(mutant.path), *(str(file.relative_to(tree)) for file in sorted(dict.fromkeys(found), key=distance))]


def run_tests(tests: list[str], tree: Path, seconds: float) -> str | None:
    """Return the first test that fails, '' where none could start, None where none fails within that many seconds."""
    options = [
        "-x",
        "-q",
        "-rfE",
        "--tb=no",
        "--timeout=30",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:nbval",
        "--hypothesis-seed=0",
    ]
    quiet = os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "pytest", *options, *tests]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(words, cwd=tree, env=quiet, start_new_session=True, **pipes) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with all that the tests started
            return None
    if process.returncode in (0, 5):  # 5: there is no test
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.MULTILINE)
    return failed[1] if failed else ""


def killer(mutant: Mutant, tree: Path, seconds: float) -> str | None:
    """Return the test that fails with the mutant and passes without it, '' for an import, None if it survives."""
    path, tests = tree / mutant.path, tests_of(mutant, tree)
    source, end = path.read_bytes(), time.monotonic() + seconds
    try:
        while (left := end - time.monotonic()) > 0:
            _put(path, source[: mutant.first] + mutant.text.encode() + source[mutant.last :])
            failed = run_tests(tests, tree, left)
            _put(path, source)
            if not failed or run_tests([failed], tree, 60) is None:
                return failed
            tests = ["--deselect", failed, *tests]  # it fails in any case
    finally:
        _put(path, source)
    return None


def _put(path: Path, source: bytes) -> None:
    path.write_bytes(source)
    Path(cache_from_source(str(path))).unlink(missing_ok=True)  # it may look as if it were of this source


def main() -> int:
    """Print what became of each mutant, the shares by folder, and the survivors; return 1 if tests fail without any."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("-n", type=int, default=120, help="how many mutants")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="which mutants")
    parser.add_argument("--seconds", type=float, default=60, help="the limit for each")
    parser.add_argument("--inside", default="", help="a folder of the package, such as analysis/panels")
    parser.add_argument("--list", action="store_true", help="draw and print, and try none")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / ROOT.name
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        drawn = draw(asked.n, asked.seed, asked.inside, tree)
        if asked.list:
            print(*drawn, sep="\n")
            return 0
        if (failed := run_tests([SOUND], tree, 120)) is not None:
            print(f"{failed or SOUND} fails in a copy without a mutant: mend that first", file=sys.stderr)
            return 1
        return _try(drawn, tree, asked.seconds)


def _try(drawn: list[Mutant], tree: Path, seconds: float) -> int:
    tried, killed, survivors = Counter[str](), Counter[str](), list[str]()
    for mutant in drawn:
        started = time.monotonic()
        test, took = killer(mutant, tree, seconds), time.monotonic() - started
        tried[mutant.folder] += 1
        killed[mutant.folder] += test is not None
        outcome = f"killed by {test or 'an import'}" if test is not None else "survived"
        if test is None:
            survivors.append(f"{mutant} ({'the minute' if took >= seconds else 'all tests'})")
        print(f"{mutant}\n    {outcome}, {took:.0f} s", flush=True)
    print("\n| folder | tried | killed |\n|---|--:|--:|")
    for name in sorted(tried):
        print(f"| {name or 'top'} | {tried[name]} | {killed[name]} |")
    print(f"| all | {tried.total()} | {killed.total()} ({killed.total() / max(tried.total(), 1):.0%}) |")
    print("\nsurvived:", *survivors, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
