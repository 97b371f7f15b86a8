import ast
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
import tree_sitter
import tree_sitter_go
import tree_sitter_typescript
import yaml

from verifyplan.datasets import plans as module
from verifyplan.datasets import sample
from verifyplan.datasets.plans import DefectKind, labelled_plans, plan_path
from verifyplan.datasets.sample import sample_repository
from verifyplan.errors import InputError

DATA = plan_path("readme-dbmate").parents[1]
HEAD = "831991adc1565d240dd4daca2e0dab3d64c8aa1f"  # changes with any byte of the sample repository or its history
ROOTS = "waybill|tests|migrations|config|docs|scripts|frontend|poller|\\.github"
PATHS = re.compile(rf"(?<![\w/.@-])(?:(?:{ROOTS})/[\w./-]*|(?:README|AGENTS|CONTRIBUTING)\.md|Makefile|openapi\.yaml)")
PLANS = labelled_plans()
DEFECTS = [(plan, defect) for plan in PLANS for defect in plan.defects]
LANGUAGES = {
    ".ts": tree_sitter_typescript.language_typescript(),
    ".tsx": tree_sitter_typescript.language_tsx(),
    ".go": tree_sitter_go.language(),
}


def each(values):
    return pytest.mark.parametrize(
        "plan, defect" if values is DEFECTS else "plan",
        values,
        ids=lambda one: getattr(one, "name", ""),
    )


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return sample_repository(tmp_path_factory.mktemp("sample") / "waybill")


@pytest.fixture(scope="module")
def texts(repository):
    names = git(repository, "ls-files").splitlines()
    return {name: (repository / name).read_text("utf-8") for name in names}


def test_there_are_enough_plans_of_every_kind_and_size():
    kinds = Counter(plan.kind for plan in PLANS)
    assert kinds["sound"] >= 10
    assert all(kinds[kind] >= 2 for kind in get_args(DefectKind))
    assert {plan.kind for plan in labelled_plans(held_out=True)} == {"sound", *get_args(DefectKind)}
    assert {plan.kind for plan in labelled_plans(held_out=False)} == {"sound", *get_args(DefectKind)}
    assert 0.2 < len(labelled_plans(held_out=True)) / len(PLANS) < 0.45
    assert len({plan.domain for plan in PLANS if plan.kind == "sound"}) >= 7
    assert {plan.verdict for plan in PLANS} == {"PROCEED", "REVISE", "RETHINK"}


def test_every_plan_is_labelled_once():
    names = [plan.name for plan in PLANS]
    assert sorted(names) == sorted(path.stem for path in (DATA / "plans").glob("*.md"))
    assert all(plan.path == plan_path(plan.name) for plan in PLANS)


@each(PLANS)
def test_plans_are_as_long_as_plans_are(plan):
    lines = len(plan.path.read_text("utf-8").splitlines())
    assert 20 <= lines <= 90 or plan.name == "readme-dbmate"


@each(DEFECTS)
def test_the_line_and_every_place_say_what_the_label_quotes(plan, defect, repository):
    places = {f"plan:{defect.line}": defect.quote} | {one.place: one.quote for one in defect.evidence}
    assert defect.cited == tuple(places)
    assert all(places.values())
    for place, quote in places.items():
        name, line = place.rsplit(":", 1)
        path = plan.path if name == "plan" else repository / name
        assert quote in path.read_text("utf-8").splitlines()[int(line) - 1]


@each(DEFECTS)
def test_every_needle_stands_in_the_plan_or_the_repository(plan, defect, texts):
    whole = "\n".join([plan.path.read_text("utf-8"), *texts, *texts.values()])
    assert [needle for needle in defect.needles if needle not in whole] == []
    assert any(needle in defect.finding for needle in defect.needles)


SAID = [(plan, said) for plan in PLANS for said in plan.challenges]


@pytest.mark.parametrize(("plan", "said"), SAID, ids=[f"{plan.name}-{said.needles[0]}" for plan, said in SAID])
def test_every_place_of_a_labelled_challenge_is_a_line_with_words(plan, said, repository):
    for place in (*said.cited, *([said.answer] if said.answer else ())):
        name, lines = place.rsplit(":", 1)
        path = plan.path if name == "plan" else repository / name
        text = path.read_text("utf-8").splitlines()
        assert all(text[int(line) - 1].strip() for line in lines.split("-"))
    assert said.answer, "the reason of every bundled label can be looked up"
    assert not set(said.needles) & {needle for defect in plan.defects for needle in defect.needles}


def test_there_are_labels_of_challenges_of_both_sorts():
    assert Counter(said.right for _, said in SAID) == {False: 20, True: 2}
    assert len({plan.name for plan, _ in SAID}) == 14


def unknown_paths(plan, repository):
    named = {found.group().rstrip(".") for found in PATHS.finditer(plan.path.read_text("utf-8"))}
    return {name for name in named if not (repository / name).exists()} - set(plan.creates) - set(plan.absent)


@each(PLANS)
def test_every_file_named_exists_or_is_created_but_for_the_seeded_ones(plan, repository):
    unknown = unknown_paths(plan, repository)
    assert bool(unknown) == (plan.kind == "missing-file")
    assert unknown <= {needle for defect in plan.defects for needle in defect.needles}
    assert not any((repository / name).exists() for name in plan.absent)


@each(PLANS)
def test_created_files_are_named_in_the_plan_and_new(plan, repository):
    text = plan.path.read_text("utf-8")
    there = [name for name in plan.creates if (repository / name).exists()]
    assert there == (["tests/test_purge.py"] if plan.name == "purge-window" else [])
    assert all(name in text for name in (*plan.creates, *plan.absent))


def test_what_is_said_to_be_missing_is_missing(texts):
    whole = "\n".join(texts.values())
    for gone in ("queue_mail", "History", "openpyxl", "integration-test", "e2e"):
        assert not re.search(rf"\b{gone}\b", whole), gone
    for there in ("def in_batches(", "def export_parcels(", "TIMEOUT = 5.0", "interval = 15 * time.Minute"):
        assert whole.count(there) == 1


def test_the_repository_parses(texts):
    for name, text in texts.items():
        suffix = Path(name).suffix
        if suffix == ".py":
            ast.parse(text, name)
            compile(text, name, "exec")
        elif suffix in LANGUAGES:
            parser = tree_sitter.Parser(tree_sitter.Language(LANGUAGES[suffix]))
            assert not parser.parse(text.encode()).root_node.has_error, name
        elif suffix == ".json":
            json.loads(text)
        elif suffix in {".yaml", ".yml"}:
            assert yaml.safe_load(text)
        elif suffix == ".sql":
            assert text.startswith("-- migrate:up")
            assert "\n-- migrate:down" in text
    assert {Path(name).suffix for name in texts} >= {".py", ".ts", ".tsx", ".go", ".sql", ".sh", ".md", ".yaml"}


def test_the_repository_keeps_its_own_rules(texts):
    httpx = [name for name, text in texts.items() if name.startswith("waybill/") and "import httpx" in text]
    assert httpx == ["waybill/http_client.py"]
    for name in ("waybill/api/parcels.py", "waybill/api/customers.py"):
        functions = [node for node in ast.parse(texts[name]).body if isinstance(node, ast.FunctionDef)]
        routes = [node for node in functions if node.decorator_list]
        assert routes
        open_ones = [node.name for node in routes if "require_role" not in ast.unparse(node.args)]
        assert open_ones == (["track"] if name.endswith("parcels.py") else [])
        assert not re.search(r"\b(SELECT|INSERT|UPDATE|DELETE) ", texts[name])


def test_the_bundled_folder_and_the_last_commit_are_the_same_files(texts):
    caches = {"__pycache__", ".ruff_cache"}
    found = {
        path.relative_to(DATA / "repository").as_posix(): path.read_text("utf-8")
        for path in (DATA / "repository").rglob("*")
        if path.is_file() and not caches & set(path.parts)
    }
    assert found == texts


def test_the_history_is_the_same_everywhere(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TZ", "Pacific/Apia")
    again = sample_repository(tmp_path / "again")
    monkeypatch.delenv("GIT_DIR")
    assert [git(one, "rev-parse", "HEAD").strip() for one in (repository, again)] == [HEAD, HEAD]
    assert git(again, "status", "--porcelain") == ""
    assert git(again, "ls-files", "--stage", "scripts/deploy.sh").startswith("100755 ")
    assert not (tmp_path / "elsewhere").exists()


def test_the_history_says_something_of_the_files(repository):
    assert len(git(repository, "log", "--format=%H").splitlines()) == 12
    carriers = git(repository, "log", "--format=%s", "--", "waybill/services/carriers.py").splitlines()
    assert len(carriers) == 4
    assert carriers[1] == 'Revert "Cache carrier answers for ten minutes"'
    assert "_answers" in git(repository, "show", "HEAD~8:waybill/services/carriers.py")
    assert "waybill/api/webhooks.py" in git(repository, "log", "--diff-filter=D", "--name-only", "--format=")
    first = git(repository, "log", "--reverse", "--format=%aI %an <%ae>").splitlines()[0]
    assert first == "2025-01-13T09:12:00+00:00 Waybill Team <team@waybill.example>"


def test_every_commit_s_python_compiles(repository):
    for commit in git(repository, "log", "--format=%H").split():
        for name in git(repository, "ls-tree", "-r", "--name-only", commit).splitlines():
            if name.endswith(".py"):
                ast.parse(git(repository, "show", f"{commit}:{name}"), name)


def test_an_empty_folder_is_filled_and_a_full_one_refused(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert sample_repository(str(empty)) == empty
    assert (empty / "AGENTS.md").exists()
    assert sample_repository(empty) == empty  # it is there already, unchanged
    (empty / "more.txt").write_text("mine")
    with pytest.raises(InputError, match="empty: is neither empty nor the sample repository, unchanged"):
        sample_repository(empty)
    with pytest.raises(InputError, match="is neither empty nor the sample repository"):
        sample_repository(empty / "README.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty"]


def test_without_git_nothing_is_left_and_the_error_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="git: is not installed, or not on the PATH"):
        sample_repository(tmp_path / "a" / "b")
    assert list((tmp_path / "a").iterdir()) == []


def test_a_git_that_fails_is_told_in_its_own_words(tmp_path, monkeypatch):
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'disk is full' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    with pytest.raises(InputError, match="git init: disk is full"):
        sample_repository(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_unknown_plan_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"'return-mails' is not labelled \(did you mean 'return-mail'\?\)"):
        plan_path("return-mails")


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """Writes a changed labels.json or history.json that is read in place of the bundled one."""
    for reader in (module, sample):
        monkeypatch.setattr(reader, "plans_folder", lambda: tmp_path)
    module._labels.cache_clear()
    (tmp_path / "repository").symlink_to(DATA / "repository")

    def write(name, change):
        content = json.loads((DATA / name).read_text("utf-8"))
        change(content)
        (tmp_path / name).write_text(json.dumps(content), "utf-8")

    yield write
    module._labels.cache_clear()


def test_all_that_is_wrong_with_the_labels_is_told_at_once(damaged):
    def spoil(content):
        content["plans"][0]["verdict"] = "RETHINK"
        content["plans"][9]["defects"][0]["line"] = 0
        content["plans"][10]["colour"] = "red"

    damaged("labels.json", spoil)
    with pytest.raises(InputError) as raised:
        labelled_plans()
    text = str(raised.value)
    assert "labels.json: plans.0: Value error, kind must be 'not sound' for a label without defects" in text
    assert "plans.9.defects.0.line" in text
    assert "plans.10.colour" in text


def test_a_draft_that_no_longer_fits_is_an_error_and_leaves_nothing(damaged, tmp_path):
    def spoil(content):
        content["commits"][0]["files"]["README.md"] = [{"now": "no such words", "then": ""}]

    damaged("history.json", spoil)
    with pytest.raises(InputError, match=r"history.json: README.md: 'no such words' is not there once"):
        sample_repository(tmp_path / "out")
    assert not (tmp_path / "out").exists()
