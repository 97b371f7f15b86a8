"""The bundled `.planning` tree has the flaws that its README lists, and no others."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from verifyplan.datasets.bundled import planning_folder
from verifyplan.datasets.sample import sample_planning
from verifyplan.documents import check, load, plan_check

README = (planning_folder() / "README.md").read_text(encoding="utf-8")
FLAWS = re.findall(r"^\| `([\w./-]+)` \| [^|]+ \| `([\w/-]+)` \|$", README, re.MULTILINE)


def test_the_check_finds_what_the_readme_lists():
    found = [(violation.path, violation.rule) for violation in check(planning_folder()).violations]
    assert len(FLAWS) == len(found) == 6
    for name, rule in FLAWS:
        assert any(PurePath(path).match(name) and rule == broken for path, broken in found), (name, rule)


def test_the_plan_check_blocks_the_plan_that_lacks_an_element():
    (blocker,) = plan_check(planning_folder()).blockers
    assert (blocker.plan_id, blocker.dimension) == ("01-02", 2)


def test_the_tree_lies_in_the_repository_that_it_speaks_of(tmp_path: Path):
    made = sample_planning(tmp_path / "waybill")
    tree = load(made)
    assert len(tree) == 8
    (phase,) = tree.phases
    files = {path for plan in phase.plans for path in plan.files_modified}
    assert all((made / path).is_file() for path in files)
    assert all(document.write() == Path(document.path).read_bytes().decode() for document in tree)
