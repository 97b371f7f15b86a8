"""Grep: what is found is the same with ripgrep and without, and hostile patterns, files and settings do no harm."""

import re
import shutil
import stat

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifyplan.agents.tools import ModelToolkit, sources
from verifyplan.agents.tools.sources import search
from verifyplan.agents.untrusted_text import MAX_ANSWER_CHARACTERS
from verifyplan.repository import grep
from verifyplan.repository.helper_process import HelperProcess

needs_ripgrep = pytest.mark.skipif(shutil.which("rg") is None, reason="needs ripgrep: apt-get install ripgrep")


@pytest.fixture
def found(kit):
    """What Grep answers in the small repository."""
    tools = kit()

    def asked(pattern, path=""):
        return tools.run("Grep", {"pattern": pattern, "path": path})

    return asked


@pytest.mark.usefixtures("engine")
def test_hits_have_path_line_and_text(found):
    result = found(r"find_\w+")
    assert result.text == (
        "2 hits in 2 files\nsrc/app.py:6: def find_order(number):\nsrc/deep/orders.py:1: from src.app import find_order"
    )
    assert (result.use.argument, result.use.results, result.failed) == (r"find_\w+", 2, False)


def test_documents_are_searched_first(found):
    assert found("^.. Change|TIMEOUT").text.splitlines()[1:] == [
        "plan.md:4: 2. Change `src/app.py`.",
        "src/app.py:3: TIMEOUT = 7",
    ]


def test_a_search_may_be_kept_to_a_folder_a_file_or_a_document(found):
    assert found("find_order", "src/deep").text.splitlines()[1:] == [
        "src/deep/orders.py:1: from src.app import find_order"
    ]
    assert found("find_order", "./src/app.py").use.argument == "find_order in ./src/app.py"
    assert found("Plan", "plan.md").text.splitlines()[1:] == ["plan.md:1: # Plan"]
    assert found("Plan", "src").text == "No line matches."


def test_a_place_that_is_not_there_is_said(found):
    assert found("x", "scr").text.startswith("scr does not exist. Near it: src")
    assert found("x", "../outside").use.refused
    assert found("x", ".env").use.refused


def test_a_link_is_searched_where_it_leads(kit, root):
    (root / "link.py").symlink_to("src/app.py")
    tools = kit()
    assert "src/app.py:3: TIMEOUT" in tools.run("Grep", {"pattern": "TIMEOUT", "path": "link.py"}).text
    assert tools.run("Grep", {"pattern": "TIMEOUT"}).text.startswith("1 hit in 1 file\n")


def test_a_pattern_that_is_none_is_an_answer(found):
    result = found("(")
    assert result.failed
    assert "unterminated subpattern" in result.text
    assert not result.use.refused


def test_no_pattern_takes_long(repository_with, plenty, monkeypatch, at_once):
    monkeypatch.setattr(grep, "TIMEOUT_S", 1.0)
    tools = ModelToolkit(repository_with({"a.txt": "a" * 900 + "!\n", "b.txt": "a" * 900 + "!\n"}), {}, plenty)
    result = at_once(tools.run, "Grep", {"pattern": "(a+)+$"})
    assert result.failed
    assert "longer than 1 second" in result.text


def test_a_search_that_finds_nothing_ends_in_time_too(repository_with, plenty, monkeypatch):
    monkeypatch.setattr(grep, "TIMEOUT_S", -1.0)
    tools = ModelToolkit(repository_with({f"{n}.txt": "x\n" for n in range(3)}), {}, plenty)
    assert "the search takes longer than" in tools.run("Grep", {"pattern": "nothing"}).text


@pytest.mark.usefixtures("engine")
def test_hits_are_limited_in_number_and_length(repository_with, plenty):
    files = {f"{n:03}.txt": "hit\n" * 2 for n in range(150)} | {"long.txt": f"{'needle ' * 900}\n" * 100}
    tools = ModelToolkit(repository_with(files), {}, plenty)
    many = tools.run("Grep", {"pattern": "hit"})
    assert many.use.results == 200
    assert many.text.startswith("The first 200 hits in 100 files; there may be more: ask for less, or give a path\n")
    assert many.text.splitlines()[-1] == "099.txt:2: hit"
    long = tools.run("Grep", {"pattern": "needle"})
    assert len(long.text) <= MAX_ANSWER_CHARACTERS
    assert long.text.startswith(f"The first {long.use.results} hits in 1 file; there may be more")


ODD = {
    "crlf.txt": b"alpha\r\nbeta\r\n",
    "mac.txt": b"alpha\rbeta\r",
    "bom.txt": b"\xef\xbb\xbfalpha\n",
    "utf16.txt": "alpha\n".encode("utf-16"),
    "binary.txt": b"alpha\n" * 9 + b"\0",
    "latin.txt": b"alph\xe9 alpha\n",
    "long.txt": b"x" * 1_500 + b" alpha\n",
    "empty.txt": b"",
    "blank.txt": b"\n",
    "no end.txt": b"alpha",
    "-e.txt": b"alpha beta\n",
    "sub/caf\xc3\xa9.txt".encode("latin-1").decode(): "Äpfel alpha\n".encode(),
    "big.txt": b"alpha\n" * 400_000,
}
PATTERNS = [
    "alpha", "^alpha$", "alph.", r"\balpha\b", "(?i)ALPHA", "(?i)äPFEL", "beta|Äpfel", "^$", "x*", "[[:alpha:]]lpha",
    r"(?<=a)lpha", "alpha beta", "a{1}lpha", "nowhere",
]  # fmt: skip


@needs_ripgrep
@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_engines_find_the_same_in_odd_files(repository_with, pattern, monkeypatch):
    repository = repository_with(ODD)
    paths = list(repository.files)
    with_it = search(repository, {}, paths, pattern, 200)
    monkeypatch.setenv("PATH", "")
    assert search(repository, {}, paths, pattern, 200) == with_it
    assert {"big.txt", "binary.txt", "latin.txt", "utf16.txt"}.isdisjoint(hit.path for hit in with_it)
    assert bool(with_it) == (pattern not in ("nowhere", "[[:alpha:]]lpha"))


WORDS = st.text(alphabet="ab1_ .iI\u0131\u017f\u212aé\u00e9-{}\r", max_size=12)
PIECES = st.sampled_from(
    ["a", "b", "1", "_", " ", "i", "é", ".", "\\.", "\\w", "\\d", "\\s", "\\b", "\\B", "^", "$", "[ab]", "[^a]", "[]a]",
     "(a|b)", "(?:ab)", "(?P<n>i)", "|", "*", "+", "?", "*?", "{2}", "{1,}", "{", "}", "{}", "{,2}", "\\{", "-", "\\-",
     "<", "\\<", "#", "&", "~", "]", "\\ ", "s", "k", "\\Z", "\\A", "(", ")", "(?=a)", "\\1"]
)  # fmt: skip
SIMPLE = st.lists(PIECES, min_size=1, max_size=5).map("".join)


@needs_ripgrep
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=4), SIMPLE, st.booleans())
def test_no_file_is_left_out_that_holds_a_match(tmp_path, files, pattern, caseless):
    """Ripgrep may name a file too many, never one too few."""
    pattern = f"(?i){pattern}" if caseless else pattern
    try:
        compiled = re.compile(pattern)
    except (re.error, FutureWarning):
        return
    for n, lines in enumerate(files):
        (tmp_path / f"{n}").write_bytes("".join(f"{line}\n" for line in lines).encode())
    holding = {
        f"{n}"
        for n, lines in enumerate(files)
        if any(compiled.search(part) for one in lines for part in one.split("\r"))
    }
    named = grep.rg_candidates(str(shutil.which("rg")), tmp_path, [f"{n}" for n in range(len(files))], pattern, 20)
    assert named is None or holding <= named


@needs_ripgrep
def test_ripgrep_is_really_asked(repository_with):
    root = repository_with({"a.txt": "alpha\n", ".hidden": "alpha\n", "b.txt": "beta\n", ".ignore": "a.txt\n"}).root
    rg = grep.rg_program(root)
    assert grep.rg_candidates(rg, root, ["a.txt", ".hidden", "b.txt"], "alpha", 20) == {"a.txt", ".hidden"}
    assert grep.rg_candidates(rg, root, ["a.txt", "gone.txt"], "alpha", 20) is None
    assert grep.rg_candidates(rg, root, ["a.txt"], "alpha", 0.0) is None
    assert grep.rg_candidates(rg, root, ["a.txt"], "(?:x{999}){999}", 20) is None
    assert grep.rg_candidates("/no/such/rg", root, ["a.txt"], "alpha", 20) is None


@needs_ripgrep
def test_settings_of_ripgrep_do_not_matter(repository_with, monkeypatch, tmp_path):
    """Its settings could name a program that is run on every file."""
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "rc").write_text(f"--pre={program}\n--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    repository = repository_with({"a.txt": "alpha\n", "b.txt": "beta\n"})
    assert [hit.path for hit in search(repository, {}, ["a.txt", "b.txt"], "alpha", 9)] == ["a.txt"]
    assert not ran.exists()


@needs_ripgrep
@pytest.mark.parametrize("letter", "\u0130\u0131\u017f\u212a")
def test_letters_whose_case_python_sees_otherwise_are_found(tmp_path, letter):
    (tmp_path / "a.txt").write_text(f"x{letter}\n", encoding="utf-8")
    asked = next(one for one in "isk" if re.search(f"(?i)x{one}", f"x{letter}"))
    assert grep.rg_candidates(str(shutil.which("rg")), tmp_path, ["a.txt"], f"(?i)x{asked}", 20) == {"a.txt"}


def test_no_program_in_a_relative_place_is_run(repository_with, monkeypatch, tmp_path):
    root = repository_with({"rg": "#!/bin/sh\n", "a.txt": "alpha\n"}).root
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/rg").write_text("#!/bin/sh\n")
    (tmp_path / "elsewhere/rg").chmod(0o755)
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("PATH", ".")
    assert shutil.which("rg")
    assert grep.rg_program(root) is None


@pytest.mark.parametrize("place", ["relative", "absolute"])
def test_no_program_of_the_repository_is_run(repository_with, monkeypatch, tmp_path, place):
    repository = repository_with({"rg": f"#!/bin/sh\ntouch {tmp_path}/ran\n", "a.txt": "alpha\n"})
    (repository.root / "rg").chmod(0o755)
    monkeypatch.chdir(repository.root)
    monkeypatch.setenv("PATH", "." if place == "relative" else str(repository.root))
    assert shutil.which("rg")
    assert grep.rg_program(repository.root) is None
    assert [hit.path for hit in search(repository, {}, ["a.txt", "rg"], "alpha", 9)] == ["a.txt"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("engine")
def test_many_files_are_asked_about_in_calls_that_are_short_enough(repository_with):
    names = [f"{'long' * 20}/{'name' * 20}-{n:04}.txt" for n in range(400)]
    repository = repository_with(dict.fromkeys(names, "x\n") | {names[7]: "alpha\n", names[-1]: "alpha\n"})
    assert len(grep.path_batches(names)) == 3
    assert [hit.path for hit in search(repository, {}, names, "alpha", 9)] == [names[7], names[-1]]


def test_a_search_leaves_no_process_behind(found, monkeypatch):
    before = psutil.Process().children()
    started = []
    monkeypatch.setattr(sources, "HelperProcess", lambda: started.append(1) or HelperProcess())
    assert "TIMEOUT" in found("TIMEOUT").text
    assert found("(").failed
    assert len(started) == 2
    assert psutil.Process().children() == before
