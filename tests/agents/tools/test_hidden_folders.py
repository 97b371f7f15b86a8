"""Hidden folders are never opened, tracked by git or not, through no door: read, search, history, links, evidence."""

from __future__ import annotations

import pytest

from tests.agents.tools.conftest import git, write
from verifyplan.agents.evidence import open_evidence
from verifyplan.agents.static.judging import SourceFiles
from verifyplan.agents.static.roles.context import open_repository, plain
from verifyplan.agents.tools import ModelToolkit
from verifyplan.protocol.call import Item
from verifyplan.repository.listing import HIDDEN_FOLDER
from verifyplan.repository.reading import UnreadableError, hidden_folder, read_lines
from verifyplan.repository.repository import Repository

CANARY = "CANARY-of-a-hidden-folder"
HIDDEN = (".vscode/settings.json", ".config/app.toml", "docs/.notes/plan.md", ".github/.private/x.md", ".aws/config")
OPEN = (".github/workflows/ci.yml", ".cursor/rules/a.md", ".planning/PLAN-01.md", ".editorconfig", "src/app.py")
LINKS = {"linked.md": "docs/.notes/plan.md", "settings.json": ".vscode/settings.json", "folder": ".config"}


@pytest.fixture(params=["tracked", "walked"])
def root(request, tmp_path):
    folder = write(tmp_path / "hidden", dict.fromkeys(HIDDEN, f"{CANARY}\n") | dict.fromkeys(OPEN, "open = 1\n"))
    for link, target in LINKS.items():
        (folder / link).symlink_to(target)
    if request.param == "tracked":
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", "-A", "-f")
        git(folder, "commit", "-qm", "Import all")
    return folder


@pytest.fixture
def tools(root, plenty):
    return ModelToolkit(Repository.open(root), {}, plenty)


def test_they_are_not_listed_and_the_named_ones_are(root):
    repository = Repository.open(root)
    assert sorted(repository.files) == sorted(OPEN)
    if repository.commit is not None:
        skipped = {entry.path for entry in repository.skipped if entry.reason == HIDDEN_FOLDER}
        assert skipped == {hidden_folder(path) for path in HIDDEN}


@pytest.mark.parametrize("path", [*HIDDEN, *LINKS, "folder/app.toml", "src/../.vscode/settings.json", ".vscode"])
def test_no_name_reads_or_searches_one(tools, path):
    for name in (path, f"./{path}", path.replace("/", "\\")):
        assert CANARY not in tools.run("Read", {"path": name}).text
        assert CANARY not in tools.run("Grep", {"pattern": "CANARY", "path": name}).text


def test_the_reason_is_said(tools):
    assert tools.run("Read", {"path": ".vscode/settings.json"}).text == (
        ".vscode/settings.json is not opened: it stands in a hidden folder"
    )
    assert "a link into a hidden folder" in tools.run("Read", {"path": "linked.md"}).text
    assert "where keys are kept" in tools.run("Read", {"path": "x/.ssh/config"}).text


def test_a_search_finds_what_is_open_alone(tools):
    assert tools.run("Grep", {"pattern": "CANARY"}).text == "No line matches."
    found = tools.run("Grep", {"pattern": "open"}).text
    assert all(path in found for path in OPEN)


def test_the_history_names_none_and_answers_for_none(tools, root):
    if not (root / ".git").exists():
        return
    told = tools.run("git_log", {"paths": []}).text
    assert "src/app.py" in told
    for path in HIDDEN:
        assert path not in told
        assert "is not opened" in tools.run("git_log", {"paths": [path]}).text


def test_no_name_of_one_is_proposed(tools):
    assert ".notes" not in tools.run("Read", {"path": "docs/notes/plan.md"}).text
    assert "settings.json" not in tools.run("Read", {"path": "vscode/setings.json"}).text.removeprefix("vscode")


def test_no_pattern_allows_one(root, plenty):
    allowed = Repository.open(root, allowed_files=["*", "settings.json", ".vscode/*", ".vscode/settings.json"])
    tools = ModelToolkit(allowed, {}, plenty)
    assert CANARY not in tools.run("Read", {"path": ".vscode/settings.json"}).text
    assert tools.run("Grep", {"pattern": "CANARY"}).text == "No line matches."


def test_evidence_that_cites_one_is_not_opened(root):
    item = Item(finding_id="F-1", summary="a claim", evidence=".vscode/settings.json:1 and linked.md:1, src/app.py:1")
    shown, uses = open_evidence([item], Repository.open(root), {})
    assert CANARY not in "".join(shown.values())
    assert "open = 1" in "".join(shown.values())
    assert ["hidden folder" in use.refused for use in uses] == [True, True, False]


def test_a_file_that_becomes_a_link_into_one_is_not_opened(root, plenty):
    repository = Repository.open(root)
    (root / "src/app.py").unlink()
    (root / "src/app.py").symlink_to("../.vscode/settings.json")
    tools = ModelToolkit(repository, {}, plenty)
    assert CANARY not in tools.run("Read", {"path": "src/app.py"}).text
    assert CANARY not in tools.run("Grep", {"pattern": "CANARY", "path": "src/app.py"}).text
    assert repository.text("src/app.py") is None


def test_static_agents_open_none_and_say_nothing_of_one(root):
    opened = open_repository(root, "# Plan\n\n1. Change `.vscode/settings.json`.\n")
    assert opened.text(".vscode/settings.json") is None
    assert opened.grep("CANARY") == []
    for path in (*HIDDEN, "linked.md"):
        with pytest.raises(UnreadableError, match="hidden folder"):
            read_lines(root, path)
        with pytest.raises(UnreadableError, match="hidden folder"):
            SourceFiles(root).open(path)
    assert not plain(".vscode/settings.json")  # so that no challenge says that it is missing
    assert plain(".github/workflows/ci.yml")
