"""What the package promises as a whole: its names, its import, its lists of dependencies, its parts."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import verifyplan as vp

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"pandas", "numpy", "altair", "ipywidgets", "pyarrow", "pydantic", "anthropic", "statsmodels", "vl_convert"}


def names_in_stub() -> set[str]:
    tree = ast.parse((ROOT / "verifyplan" / "__init__.pyi").read_text())
    return {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def test_the_public_list_is_what_is_reachable():
    assert set(vp.__all__) == names_in_stub() == set(dir(vp))
    for name in names_in_stub():
        assert getattr(vp, name) is not None


def test_a_name_that_is_not_there_is_told():
    with pytest.raises(AttributeError, match="No verifyplan attribute compere"):
        vp.compere  # noqa: B018  (looking it up is the test)


def test_every_public_function_says_what_it_does():
    for name in names_in_stub():
        assert (getattr(vp, name).__doc__ or "").strip(), name


def test_an_analysis_is_reached_by_its_name_also_after_its_module_was_imported():
    code = (
        "import verifyplan as vp, verifyplan.analysis.compare, verifyplan.analysis.weights\n"
        "for name in vp.analysis.__all__: assert callable(getattr(vp.analysis, name)) == (name != 'weights'), name"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


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
    assert any("assert " in "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


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
        "import verifyplan as vp; assert '_data' in str(vp.datasets.path('contract')); print(len(vp.datasets.runs()))"
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
