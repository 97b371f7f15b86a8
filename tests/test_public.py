"""What the package promises as a whole: its names, its import, its lists of dependencies, its parts."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import verifyplan as vp
from tests.processes import forked

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"pandas", "numpy", "altair", "ipywidgets", "pyarrow", "pydantic", "anthropic", "statsmodels", "vl_convert"}


MODULES = [name for name in vp.__all__ if isinstance(getattr(vp, name), ModuleType)]
LAZY = [vp, *(getattr(vp, name) for name in MODULES if name != "errors")]


def names_in_stub(module: ModuleType) -> set[str]:
    tree = ast.parse(Path(str(module.__file__)).with_suffix(".pyi").read_text())
    return {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


@pytest.mark.parametrize("module", LAZY, ids=lambda module: module.__name__)
def test_the_public_list_is_what_is_reachable(module):
    assert set(module.__all__) == names_in_stub(module) == set(dir(module))
    for name in names_in_stub(module):
        assert (getattr(module, name).__doc__ or "").strip(), name


def test_the_top_level_has_at_most_70_names():
    assert len(dir(vp)) <= 70
    assert len(MODULES) == 12


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        (vp, "compere", "; did you mean 'compare'?"),
        (vp, "ScriptedBackend", "; use verifyplan.agents.ScriptedBackend"),
        (vp, "rebalance", "; use verifyplan.weights.rebalance"),
        (vp, "qqq", "; dir(verifyplan) lists its names"),
        (vp, "_repr_html_", ""),
        (vp.protocol, "CrossRun", "; use verifyplan.results.CrossRun"),
        (vp.results, "compare", "; use verifyplan.compare"),
        (vp.charts, "export", "; use verifyplan.export"),
        (vp.results, "Comparisn", "; did you mean 'Comparison'?"),
    ],
)
def test_a_name_that_is_misspelt_or_elsewhere_says_what_was_meant(module, name, meant):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value) == f"{module.__name__} has no {name!r}{meant}"


def test_the_errors_module_shows_the_errors_alone():
    errors = [name for name in dir(vp.errors) if name != "Problem"]
    assert errors == sorted(errors)
    assert all(issubclass(getattr(vp.errors, name), vp.errors.VerifyplanError) for name in errors)


def test_an_analysis_is_reached_by_its_name_also_after_its_module_was_imported():
    code = (
        "import verifyplan as vp, verifyplan.analysis.compare, verifyplan.analysis.weights\n"
        "for name in vp.analysis.__all__: assert callable(getattr(vp.analysis, name)) == (name != 'weights'), name"
    )
    done = forked("libraries", "tests.fork_server", "python", code)
    assert done.returncode == 0, done.stderr


def test_the_function_that_writes_charts_is_named_also_after_it_was_used():
    code = (
        "import verifyplan as vp, verifyplan.charts.export as module\n"
        "from verifyplan.charts import export\n"
        "assert callable(vp.export) and module is export and module.export is vp.export\n"
        "try: vp.charts.export\n"
        "except AttributeError as error: print(error)"
    )
    done = forked("libraries", "tests.fork_server", "python", code)
    assert done.stdout.strip() == "verifyplan.charts has no 'export'; use verifyplan.export"


def test_importing_verifyplan_loads_nothing_heavy():
    code = "import sys, json, verifyplan; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert not {name.partition(".")[0] for name in loaded} & HEAVY


def test_the_rules_load_without_pandas():
    """Rules and protocol serve the live loop, which must not pay for tables."""
    code = "import sys, verifyplan.rules.classification, verifyplan.rules.grouping; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"


def test_environment_yml_offers_what_pyproject_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for group in project["optional-dependencies"].values() for one in group]
    asked = {one for one in [*project["dependencies"], *extras] if not one.startswith("verifyplan")}
    asked |= {f"python{project['requires-python']}", "pip"}
    lines = (ROOT / "environment.yml").read_text().partition("dependencies:")[2].splitlines()
    offered = {line.removeprefix("  - ").strip() for line in lines if line.startswith("  - ")} - {"pip:"}
    assert offered == asked


def test_constraints_are_names_and_versions_and_lock_every_dependency():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+", line) for line in lines), "no addresses, no paths"
    locked = {re.split("==", line)[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for group in project["optional-dependencies"].values() for one in group]
    asked = {re.split(r"[>=<\[]", one)[0].lower() for one in [*project["dependencies"], *extras]} - {"verifyplan"}
    assert asked <= locked


def test_the_version_stands_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert vp.__version__ == project["version"]


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_stored_without_output(path):
    cells = json.loads(path.read_text())["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
    asserts = [cell["id"] for cell in cells if "assert " in "".join(cell["source"])]
    assert asserts == [], "these belong into tests/browser/notebook_asserts.py"


def test_a_built_wheel_carries_the_bundled_sets(tmp_path):
    """An installed package must find its data without the checkout."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "-w",
            tmp_path,
            ROOT,
        ],
        check=True,
        capture_output=True,
    )
    wheel = next(tmp_path.glob("*.whl"))
    target = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, target], check=True)
    code = (
        "import verifyplan as vp; assert '_data' in str(vp.datasets.path('contract')); "
        "from verifyplan.cli.new import TEMPLATE; assert (TEMPLATE / 'Makefile').is_file(); "
        "print(len(vp.datasets.runs()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=target, capture_output=True, text=True, env={"PYTHONPATH": str(target)}
    )
    assert done.stdout.strip() == "24", done.stderr


def test_every_test_that_the_page_on_verdicts_names_is_there():
    page = (ROOT / "docs" / "verdicts.md").read_text("utf-8")
    named = set(re.findall(r"::(test_\w+)", page))
    tests = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 200
    assert named - set(re.findall(r"^(?:async )?def (test_\w+)", tests, re.MULTILINE)) == set()
