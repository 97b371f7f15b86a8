"""Questions about paths: has, similar, lines."""

import pytest

from tests.repository.small_repositories import walked


@pytest.fixture
def repository(tmp_path):
    paths = ["src/app.py", "src/config/app.py", "lib/apps.py", "docs/guide.md", "Makefile", "src/back\\slash.py"]
    return walked(tmp_path, dict.fromkeys(paths, "one\r\ntwo\rthree\n"))


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "./src/app.py",
        "src",
        "src/",
        "./src/config/",
        "docs/../src/app.py",
        ".",
        "src\\app.py",
        "src//app.py",
    ],
)
def test_paths_are_found_in_any_plain_spelling(repository, path):
    assert repository.has(path)


@pytest.mark.parametrize(
    "path", ["", "src/none.py", "../src", "/src/app.py", "app.py", "SRC/app.py", "nul\0", "x" * 9999]
)
def test_what_is_not_there_is_not_there(repository, path):
    assert not repository.has(path)
    assert repository.lines(path) is None


def test_a_path_from_the_root_of_the_disk_is_found_below_the_root(repository):
    assert repository.has(f"{repository.root}/src/app.py")


def test_the_same_name_elsewhere_comes_before_a_like_name(repository):
    assert repository.similar("app/app.py", 3) == ["src/app.py", "src/config/app.py", "lib/apps.py"]
    assert repository.similar("src/app.py", 1) == ["src/config/app.py"]
    assert repository.similar("doc/guide.md", 1) == ["docs/guide.md"]
    assert repository.similar("zzzzzzzzzzzz") == []
    assert repository.similar("src/app.py", 0) == []


def test_lines_end_as_they_may(repository):
    assert repository.lines("./src/app.py") == ("one", "two", "three", "")
    assert repository.text("src/app.py") == "one\ntwo\nthree\n"
    assert repository.lines("src") is None
