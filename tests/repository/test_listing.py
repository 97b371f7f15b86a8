"""Which files a repository has: tracked or walked, links, hostile names and repositories."""

import os
import shutil
import subprocess

import pytest

from tests.repository.small_repositories import commit, git, tracked, walked, write
from verifyplan.errors import InputError
from verifyplan.repository import git as git_module
from verifyplan.repository.repository import Repository


def reasons(repository):
    return {one.path: one.reason for one in repository.skipped}


def test_tracked_and_new_files_are_listed_with_size_and_language_ignored_ones_are_not(tmp_path):
    repository = tracked(tmp_path / "r", {"src/b.py": "x = 1\n", "a.md": "hi", ".gitignore": "*.log\n"})
    write(tmp_path / "r", {"noise.log": "", "new.py": "untracked"})
    again = Repository.open(tmp_path / "r")
    assert list(again.files) == [".gitignore", "a.md", "new.py", "src/b.py"]
    assert (again.files["src/b.py"].size, again.files["src/b.py"].language) == (6, "python")
    assert again.folders == {"src"}
    assert repository.commit is not None
    assert len(repository.commit) == 40
    assert again.skipped == ()


def test_without_git_a_walk_leaves_out_what_nobody_wrote(tmp_path):
    files = [
        "a.py",
        "node_modules/x.js",
        ".venv/y.py",
        "b/__pycache__/z.pyc",
        "target/t",
        "dist/d",
        "build/e",
        "b/f.py",
    ]
    repository = walked(tmp_path, dict.fromkeys([*files, ".cursorrules", ".github/copilot-instructions.md"], ""))
    assert list(repository.files) == [".cursorrules", ".github/copilot-instructions.md", "a.py", "b/f.py"]
    assert (repository.commit, repository.skipped) == (None, ())


def test_an_empty_folder_is_fine_and_a_missing_one_is_not(tmp_path):
    empty = Repository.open(tmp_path)
    assert (dict(empty.files), empty.commit, empty.folders) == ({}, None, frozenset())
    assert empty.grep("x") == empty.history() == empty.outline("x").definitions == []
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "none", tmp_path / "file", "nul\0"):
        with pytest.raises(InputError, match="there is no such folder"):
            Repository.open(wrong)


def test_a_part_of_a_repository_has_its_own_paths(tmp_path):
    tracked(tmp_path / "r", {"top.py": "", "part/in.py": "def f(): pass\n", "part/deep/x.md": ""})
    commit(tmp_path / "r", "Change both", {"top.py": "1", "part/in.py": "def g(): pass\n"}, day=2)
    part = Repository.open(tmp_path / "r" / "part")
    assert list(part.files) == ["deep/x.md", "in.py"]
    assert [(one.subject, one.files) for one in part.history(["in.py"])] == [
        ("Change both", ("in.py",)),
        ("Begin", ("deep/x.md", "in.py")),
    ]


def test_a_repository_without_commits_lists_what_is_staged(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, {"a.py": ""})
    git(tmp_path, "add", "a.py")
    repository = Repository.open(tmp_path)
    assert (list(repository.files), repository.commit, repository.history()) == (["a.py"], None, [])


def test_a_folder_of_which_git_tracks_nothing_is_walked_and_says_so(tmp_path):
    tracked(tmp_path, {"a.py": ""})
    write(tmp_path, {"new/b.py": ""})
    repository = Repository.open(tmp_path / "new")
    assert list(repository.files) == ["b.py"]
    assert repository.commit is None
    assert reasons(repository) == {".": "git tracks nothing here, so the folder was walked"}


def test_a_bare_repository_is_walked_and_says_so(tmp_path):
    git(tmp_path, "init", "-q", "--bare")
    repository = Repository.open(tmp_path)
    assert "HEAD" in repository.files
    assert "without a working tree" in reasons(repository)["."]


def test_without_git_installed_the_folder_is_walked(tmp_path, monkeypatch):
    tracked(tmp_path / "r", {"a.py": ""})
    monkeypatch.setenv("PATH", str(tmp_path))
    repository = Repository.open(tmp_path / "r")
    assert (list(repository.files), repository.commit) == (["a.py"], None)
    assert reasons(repository) == {".": "git is not installed, so the folder was walked"}


def test_a_git_that_hangs_is_given_up_on(tmp_path, monkeypatch):
    tracked(tmp_path / "r", {"a.py": ""})
    write(tmp_path, {"bin/git": "#!/bin/sh\nexec sleep 60\n"})
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(git_module, "TIMEOUT_S", 0.2)
    repository = Repository.open(tmp_path / "r")
    assert list(repository.files) == ["a.py"]
    assert "took longer than 0.2 seconds" in reasons(repository)["."]


def test_a_repository_of_another_user_is_walked_and_says_why(tmp_path, monkeypatch):
    tracked(tmp_path / "r", {"a.py": ""})
    monkeypatch.setenv("HOME", str(tmp_path))
    real = git_module.subprocess.run

    def foreign(command, **given):
        given["env"] |= {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
        return real(command, **given)

    monkeypatch.setattr(git_module.subprocess, "run", foreign)
    repository = Repository.open(tmp_path / "r")
    assert list(repository.files) == ["a.py"]
    assert reasons(repository) == {
        ".": "git refuses the folder because it belongs to another user, so the folder was walked"
    }


def test_names_made_to_break_things_are_listed_or_told(tmp_path):
    files = {"-rf": "a", "line\nbreak.py": "def odd(): pass\n", "tab\there": "b", ' "quoted".py': "c", "--help.py": "d"}
    tracked(tmp_path, files)
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_bytes(b"x")
    git(tmp_path, "add", "-A")
    repository = Repository.open(tmp_path)
    assert set(repository.files) == set(files)
    assert reasons(repository) == {"caf\\xe9.py": "its name is not UTF-8"}
    assert [one.name for one in repository.outline("line\nbreak.py").definitions] == ["odd"]
    assert [one.files for one in repository.history(["-rf", "--help.py"])] == [tuple(sorted(files))]


def test_links_are_followed_within_the_root_only(tmp_path):
    write(tmp_path, {"secret/key.py": "KEY = 1\n", "secret/deep/x.py": ""})
    root = tmp_path / "r"
    write(root, {"a.py": "def f(): pass\n", "sub/b.py": "", "real.py": "def g(): pass\n"})
    for name, target in {
        "in.py": "a.py",
        "out.py": "../secret/key.py",
        "loop1": "loop2",
        "loop2": "loop1",
        "broken": "nowhere",
        "folder": "sub",
        "outside": "../secret",
    }.items():
        (root / name).symlink_to(target)
    repository = tracked(root, {})
    assert set(repository.files) == {"a.py", "in.py", "real.py", "sub/b.py"}
    told = reasons(repository)
    assert told["out.py"] == told["outside"] == "a link that leads out of the folder"
    assert told["folder"].startswith("a link to a folder")
    assert "circle" in told["loop1"] or "levels" in told["loop1"]
    assert told["broken"] == "it does not exist"
    assert repository.lines("in.py") == ("def f(): pass", "")
    assert repository.lines("out.py") is None
    assert [match.path for match in repository.grep("def f")] == ["a.py"]  # not told twice


def test_a_folder_that_became_a_link_after_the_listing_is_not_left(tmp_path):
    write(tmp_path, {"secret/b.py": "KEY = 1\n"})
    repository = tracked(tmp_path / "r", {"sub/b.py": "x = 1\n", "c.py": "y = 1\n"})
    shutil.rmtree(tmp_path / "r/sub")
    (tmp_path / "r/sub").symlink_to(tmp_path / "secret")
    (tmp_path / "r/c.py").unlink()
    (tmp_path / "r/c.py").symlink_to(tmp_path / "secret/b.py")
    assert repository.lines("sub/b.py") is None
    assert repository.lines("c.py") is None
    assert "lies outside the folder that may be read" in reasons(repository)["sub/b.py"]
    assert repository.grep("KEY") == []


def test_files_that_are_no_text_are_told_once_and_never_waited_for(tmp_path):
    root = tmp_path
    write(root, {"ok.py": "a = 1\n", "latin.py": b"caf\xe9\n", "binary.py": b"a\0b", "huge.py": b"x" * 2_000_001})
    os.mkfifo(root / "pipe.py")
    repository = Repository.open(root)
    assert "pipe.py" not in repository.files
    assert repository.has("huge.py")
    for _ in range(2):
        assert [repository.lines(path) for path in ("latin.py", "binary.py", "huge.py", "pipe.py")] == [None] * 4
    assert reasons(repository) == {
        "binary.py": "is a binary file",
        "huge.py": "is larger than 2,000,000 bytes",
        "latin.py": "is not UTF-8 text",
        "pipe.py": "no ordinary file",
    }


def test_missing_files_and_submodules_are_told(tmp_path):
    tracked(tmp_path / "inner", {"i.py": ""})
    tracked(tmp_path / "r", {"gone.py": "", "here.py": ""})
    git(tmp_path / "r", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "inner"), "mod")
    (tmp_path / "r/gone.py").unlink()
    repository = Repository.open(tmp_path / "r")
    assert set(repository.files) == {".gitmodules", "here.py"}
    assert reasons(repository) == {"gone.py": "it does not exist", "mod": "a submodule, which is not looked into"}


def test_a_shallow_clone_has_the_history_that_it_has(tmp_path):
    tracked(tmp_path / "r", {"a.py": ""})
    commit(tmp_path / "r", "Second", {"a.py": "1"}, day=2)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path / 'r'}", "clone")
    repository = Repository.open(tmp_path / "clone")
    assert [one.subject for one in repository.history(["a.py"])] == ["Second"]


def test_programs_that_a_repository_configures_do_not_run(tmp_path):
    root = tmp_path / "r"
    tracked(root, {"a.py": "x = 1\n", ".gitattributes": "*.py diff=evil filter=evil\n"})
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\n")
    trap.chmod(0o755)
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "gpg.program",
        "core.askPass",
        "credential.helper",
    ]:
        git(root, "config", key, str(trap))
    for key, value in {"log.showSignature": "true", "core.hooksPath": str(tmp_path), "diff.orderFile": "x"}.items():
        git(root, "config", key, value)
    repository = Repository.open(root)
    assert repository.commit
    assert [one.subject for one in repository.history(["a.py"])] == ["Begin"]
    assert not (tmp_path / "sprung").exists()


def test_git_is_not_led_elsewhere_by_the_environment(tmp_path, monkeypatch):
    tracked(tmp_path / "other", {"other.py": ""})
    tracked(tmp_path / "r", {"a.py": ""})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert list(Repository.open(tmp_path / "r").files) == ["a.py"]


def test_nothing_in_the_repository_is_changed(tmp_path):
    repository = tracked(tmp_path, {"a.py": "def f(): pass\n", "package.json": '{"scripts": {"x": "y"}}'})

    def state():
        return {path: path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*"))}

    before = state()
    repository = Repository.open(tmp_path)
    repository.outline("a.py"), repository.history(), repository.grep("f"), repository.ignored("a.py")
    assert state() == before


def test_git_gets_arguments_and_no_shell(tmp_path, monkeypatch):
    seen = []
    real = subprocess.run

    def watched(command, **given):
        seen.append((command, given))
        return real(command, **given)

    tracked(tmp_path, {"a.py": ""})
    monkeypatch.setattr(git_module.subprocess, "run", watched)
    Repository.open(tmp_path).history(["$(touch x)", "a.py; rm -rf"])
    assert seen
    for command, given in seen:
        assert isinstance(command, list)
        assert not given.get("shell")
        assert "--no-optional-locks" in command
        assert given["timeout"] > 0
        assert given["env"]["GIT_TERMINAL_PROMPT"] == "0"
