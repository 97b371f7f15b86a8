"""git_log: dates, subjects and files of commits, of what is in the repository only."""


def test_commits_are_shown_newest_first(kit, root, commit):
    commit(root, "Raise the timeout", {"src/app.py": "TIMEOUT = 9\n"})
    commit(root, "Touch many files", {f"docs/{n:02}.md": "x\n" for n in range(12)})
    tools = kit()
    result = tools.run("git_log", {"paths": ["src/app.py"], "serves": "U1"})
    first, newest, files, *_ = result.text.splitlines()
    assert first == "2 commits, newest first"
    assert newest.startswith("2024-01-02 ")
    assert newest.endswith(" Raise the timeout")
    assert files == "    src/app.py"
    assert (result.use.argument, result.use.serves, result.use.results) == ("src/app.py", "U1", 2)
    everything = tools.run("git_log", {"paths": []}).text
    assert everything.splitlines()[0] == "3 commits, newest first"
    assert "docs/09.md and 2 other files" in everything


def test_deleted_files_have_a_history(kit, root, commit):
    (root / "docs/guide.md").unlink()
    commit(root, "Remove the guide", {})
    assert "Remove the guide" in kit().run("git_log", {"paths": ["docs/guide.md"]}).text


def test_keys_in_subjects_are_taken_out_and_lines_stay_whole(kit, root, commit):
    commit(root, f"Use sk-ant-api03-{'a1B2' * 8} \x1b[2J now", {"src/app.py": "x\n"})
    text = kit().run("git_log", {"paths": ["src/app.py"]}).text
    assert "Use [redacted] \\x1b[2J now" in text


def test_what_lies_outside_is_refused_and_what_is_unknown_has_no_commits(kit):
    tools = kit()
    assert tools.run("git_log", {"paths": ["src/app.py", "../outside"]}).use.refused
    assert tools.run("git_log", {"paths": ["nowhere.py"]}).text == "No commit is known that touches this."
    assert tools.run("git_log", {"paths": [":(glob)**"]}).text == "No commit is known that touches this."
    assert tools.run("git_log", {"paths": ["--output=x"]}).text == "No commit is known that touches this."
