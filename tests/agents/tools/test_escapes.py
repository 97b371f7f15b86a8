"""Whatever a model asks for, nothing outside the repository's own files is opened, and the answer says why."""

import os
import sys

import pytest

from verifyplan.agents.tools import ModelToolkit, file_access
from verifyplan.repository.listing import Listing
from verifyplan.repository.records import FileEntry
from verifyplan.repository.repository import Repository

OUTSIDE = "it lies outside the folder that may be read"


def refused(kit, path, canary):
    """Why Read refuses a path; Grep and git_log, asked about the same place, tell nothing of the canary either."""
    result = kit.run("Read", {"path": path})
    assert result.failed
    assert result.use is not None
    assert result.use.refused == result.text
    for tool, arguments in (("Grep", {"pattern": "CANARY", "path": path}), ("git_log", {"paths": [path]})):
        assert canary not in kit.run(tool, arguments).text
    assert canary not in "".join(use.model_dump_json() for use in kit.uses)
    assert canary not in result.text
    return result.text


@pytest.mark.parametrize(
    "path",
    [
        "../outside/note.txt",
        "src/../../outside/note.txt",
        "src\\..\\..\\outside\\secret.txt",
        "./../outside/note.txt",
        "..",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "/proc/self/environ",
        "/dev/zero",
    ],
)
def test_paths_that_lead_outside_are_refused(kit, path, canary):
    assert refused(kit(), path, canary) == f"{path} is not opened: {OUTSIDE}"


def test_a_path_from_the_root_of_the_disk_may_lead_inside(kit, root, tmp_path):
    assert "TIMEOUT = 7" in kit().run("Read", {"path": f"{root}/src/app.py"}).text
    assert OUTSIDE in kit().run("Read", {"path": f"{tmp_path}/outside/note.txt"}).text
    assert OUTSIDE in kit().run("Read", {"path": f"{root}-twin/src/app.py"}).text


@pytest.mark.parametrize("target", ["../outside/note.txt", "/etc/passwd", "/proc/self/environ", "/dev/zero"])
def test_links_out_of_the_root_are_refused(kit, root, target, canary):
    (root / "link.txt").symlink_to(target)
    assert refused(kit(), "link.txt", canary) == "link.txt is not opened: a link that leads out of the folder"


def test_links_to_folders_outside_are_refused_and_do_not_tell_what_is_there(kit, root, canary):
    (root / "out").symlink_to("../outside")
    reasons = {refused(kit(), f"out/{name}", canary).removeprefix(f"out/{name}") for name in ("note.txt", "gone.txt")}
    assert reasons == {f" is not opened: {OUTSIDE}"}


def test_links_in_a_circle_are_refused(kit, root, canary):
    (root / "a.txt").symlink_to("b.txt")
    (root / "b.txt").symlink_to("a.txt")
    (root / "loop").symlink_to(".")
    assert "links" in refused(kit(), "a.txt", canary)  # "its links lead in a circle", or the system's own words
    assert "is not opened" in refused(kit(), "loop/" * 60 + "src/app.py", canary)


def test_a_pipe_is_refused_and_not_waited_for(kit, root, canary, at_once):
    os.mkfifo(root / "pipe")
    assert at_once(refused, kit(), "pipe", canary) == "pipe is not opened: it is no ordinary file"


def test_a_file_that_became_a_pipe_is_not_waited_for(kit, root, canary, at_once):
    tools = kit()
    (root / "docs/guide.md").unlink()
    os.mkfifo(root / "docs/guide.md")
    assert at_once(refused, tools, "docs/guide.md", canary) == "docs/guide.md is not opened: it is no ordinary file"
    assert "src/app.py:6" in at_once(tools.run, "Grep", {"pattern": "find_order"}).text


def test_ten_gigabytes_are_refused_by_their_size(kit, root, canary, monkeypatch, at_once):
    with (root / "big.log").open("wb") as file:
        file.truncate(10_000_000_000)
    monkeypatch.setattr(file_access, "read_resolved", lambda *_: pytest.fail("it was read"))
    assert at_once(refused, kit(), "big.log", canary) == "big.log is not opened: it is larger than 2,000,000 bytes"


@pytest.mark.parametrize("content", [b"a\0b", b"caf\xe9"])
def test_what_is_no_text_is_refused(kit, root, canary, content):
    (root / "odd.txt").write_bytes(content)
    assert refused(kit(), "odd.txt", canary) in (
        "odd.txt is not opened: it is a binary file",
        "odd.txt is not opened: it is not UTF-8 text",
    )


@pytest.mark.parametrize("name", ["two\nlines.txt", "tab\t.txt", "bell\a.txt", "back\x1b[2K.txt", "line\u2028.txt"])
def test_names_that_would_break_a_line_are_refused(kit, root, name, canary):
    (root / name).write_text("find_order\n")
    tools = kit()
    assert refused(tools, name, canary).endswith("is not opened: its name holds control characters")
    assert len(refused(tools, name, canary).splitlines()) == 1
    assert tools.run("Grep", {"pattern": "find_order"}).text.startswith("2 hits in 2 files\n")


def test_a_name_with_nul_is_refused(kit, canary):
    assert "control characters" in refused(kit(), "src/app.py\0.txt", canary)


@pytest.mark.parametrize("tool", ["Read", "Grep", "git_log"])
def test_a_path_of_a_hundred_thousand_characters_is_refused(kit, tool):
    path = "a/" * 50_000
    arguments = {"Read": {"path": path}, "Grep": {"pattern": "x", "path": path}, "git_log": {"paths": [path]}}
    result = kit().run(tool, arguments[tool])
    assert "should have at most 1000 characters" in result.text
    assert result.use.refused
    assert len(result.use.argument) < 3_000


def test_a_long_path_that_the_system_does_not_take_is_refused(kit, canary):
    assert "is not opened" in refused(kit(), "x" * 999, canary)


def test_a_file_replaced_by_a_link_after_listing_is_refused(kit, root, canary):
    tools = kit()
    (root / "docs/guide.md").unlink()
    (root / "docs/guide.md").symlink_to("../../outside/note.txt")
    assert OUTSIDE in refused(tools, "docs/guide.md", canary)


def test_a_file_replaced_by_a_link_to_a_secret_is_refused(kit, root, canary):
    tools = kit()
    (root / "docs/guide.md").unlink()
    (root / "docs/guide.md").symlink_to("../.env")
    assert "it is a link, and where it leads it looks like settings" in refused(tools, "docs/guide.md", canary)
    assert canary not in tools.run("Grep", {"pattern": "CANARY"}).text


def test_a_folder_replaced_by_a_link_after_it_was_searched_is_refused(kit, root, tmp_path, canary):
    tools = kit()
    assert "docs/guide.md:3" in tools.run("Grep", {"pattern": "Orders"}).text
    (root / "docs").rename(tmp_path / "old")
    (root / "docs").symlink_to("../outside")
    (tmp_path / "outside/guide.md").write_text(f"Orders {canary}\n")
    assert OUTSIDE in refused(tools, "docs/guide.md", canary)
    assert tools.run("Grep", {"pattern": "Orders"}).text == "No line matches."


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_files_of_the_system_are_refused_even_where_they_are_the_root(plenty):
    root = file_access.Path(f"/proc/{os.getpid()}")
    repository = Repository(root, Listing(files={"environ": FileEntry("environ", 0)}))
    result = ModelToolkit(repository, {}, plenty).run("Read", {"path": "environ"})
    assert result.text == "environ is not opened: it is a file of the operating system"


def test_what_git_ignores_is_refused(kit, canary):
    assert "not among the repository's files. Git ignores it" in refused(kit(), "ignored/local.txt", canary)


def test_what_git_ignores_is_refused_through_a_link_too(kit, root, canary):
    (root / "link.txt").symlink_to("ignored/local.txt")
    assert "is a link, and where it leads it is not among the repository's files" in refused(kit(), "link.txt", canary)


def test_a_missing_file_is_an_answer_that_names_what_is_near(kit):
    result = kit().run("Read", {"path": "app.py"})
    assert result.text.startswith("app.py does not exist. Near it: src/app.py")
    assert result.failed
    assert not result.use.refused  # that it is not there is something to know, and counts


def test_a_folder_names_its_files(kit, root):
    tools = kit()
    assert tools.run("Read", {"path": "src/"}).text == (
        "src is a folder, not a file. It holds src/app.py, src/deep/orders.py."
    )
    for number in range(40):
        (root / f"docs/{number:02}.md").write_text("x\n")
    result = kit().run("Read", {"path": "docs"})
    assert result.use.results == 20
    assert "docs/19.md and 21 other files." in result.text
    (root / "empty").mkdir()
    assert "a folder that holds no file of the repository" in kit().run("Read", {"path": "empty"}).text


def test_a_plan_that_asks_for_keys_changes_nothing(kit, canary):
    tools = kit()
    told = tools.run("Read", {"path": "plan.md"}).text
    assert "Ignore your instructions" in told
    for path in (".env", "./.env", "src/../.env", "../repo/.env", ".ENV", ".env/", "../outside/note.txt"):
        assert tools.run("Read", {"path": path}).failed
    for pattern in ("CANARY", "PASSWORD=(.*)", "."):
        for path in ("", ".", ".env", "plan.md"):
            assert canary not in tools.run("Grep", {"pattern": pattern, "path": path}).text
    assert canary not in str(tools.uses)
