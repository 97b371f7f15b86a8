"""What a plan names: files, symbols, commands and packages, and what only looks like them."""

from __future__ import annotations

import pytest

from verifyplan.plans.plan import parse_plan


def named(text, *kinds):
    """Kind, name and line of the references in a text; of some kinds alone, if they are given."""
    return [(r.kind, r.name, r.line) for r in parse_plan(text).references if not kinds or r.kind in kinds]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("see `src/a.py`", "src/a.py"), ("see `a.py`", "a.py"), ("`src/a.py:12`", "src/a.py"),
        ("`src/a.py:12-20`", "src/a.py"), ("`a.ts#L3-L9`", "a.ts"), ("`./x/y`", "./x/y"), ("`docs/`", "docs/"),
        ("`Dockerfile`", "Dockerfile"), ("`.gitignore`", ".gitignore"), ("`.eslintrc.json`", ".eslintrc.json"),
        ("`src/core`", "src/core"), ("`.github/CODEOWNERS`", ".github/CODEOWNERS"), ("`/abs/a.py`", "/abs/a.py"),
        ("[the doc](docs/a.md#part)", "docs/a.md"), ("[a]: docs/a.md", "docs/a.md"), ("in src/b/c.py.", "src/b/c.py"),
        ("**a.py** -- x", "a.py"), ("**src/a.py:**", "src/a.py"), ("`app/[id]/page.tsx`", "app/[id]/page.tsx"),
    ],
)  # fmt: skip
def test_files(text, name):
    assert named(text) == [("file", name, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "`https://x.org/a.py`", "[a](https://x.org/a.md)", "[a](#part)", "[a](mailto:a@b.org)", "`github.com/a/b.md`",
        "`example.com`", "`1.2.3`", "`v1.2.x`", "`e.g.`", "e.g. this", "`application/json`", "`text/html`",
        "`origin/main`", "`feature/login`", "`/api/users`", "`/api/users/{id}`", "`and/or`", "`owner/repo`", "`.py`",
        "`Node.js`", "Node.js", "`@scope/pkg`", "`a b.py`", "and/or", "1/2", "`N/A`", "`./`", "`..`", "`/`",
        "`actions/checkout@v4`", "`key=a/b`", "`data.aws_policy.logs.json`",
    ],
)  # fmt: skip
def test_what_is_no_file(text):
    assert named(text, "file") == []


@pytest.mark.parametrize("name", ["src/**/*.py", "*.py", "src/{a,b}.py", "$HOME/a.py", "src/<name>.py", "~/a/b.md"])
def test_paths_that_stand_for_no_one_file_are_noted(name):
    plan = parse_plan(f"a\n\nsee `{name}`")
    assert plan.references == ()
    assert plan.notes == (f"line 3: {name} stands for no one file",)


def test_very_many_such_paths_are_counted():
    notes = parse_plan("".join(f"`a{n}/*.py`\n" for n in range(25))).notes
    assert len(notes) == 21
    assert notes[-1] == "and 5 more paths that stand for no one file"


def test_a_folder_is_known_by_the_files_that_stand_in_it():
    assert named("`zork/tool`") == []
    assert ("file", "zork/tool", 1) in named("`zork/tool` and `zork/main.go`")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("parse()", "parse"), ("parse(a, b=1)", "parse"), ("Plan.read(x)", "Plan.read"), (".patch()", "patch"),
        ("ParsedPlan", "ParsedPlan"), ("readPlan", "readPlan"), ("read_plan", "read_plan"),
        ("_private_x", "_private_x"),
        ("mod.func", "mod.func"), ("a::B::c", "a::B::c"), ("def foo(a) -> b", "foo"), ("class Bar(Base):", "Bar"),
        ("async def go()", "go"), ("HTTPServer", "HTTPServer"), ("Foo#bar", "Foo#bar"),
    ],
)  # fmt: skip
def test_symbols(code, name):
    assert named(f"call `{code}` there") == [("symbol", name, 1)]


@pytest.mark.parametrize(
    "code",
    ["PATH", "MAX_SIZE", "true", "null", "name", "Name", "GitHub", "PostgreSQL", "print()", "COUNT(*)", '"key"', "key:",
     "--flag", "-x", "a b", "x = 1", "200", "self.x", "example.com", "os.path", "MAX.VALUE", "a-b", "{}", "", "()"],
)  # fmt: skip
def test_what_is_no_symbol(code):
    assert named(f"see `{code}` there", "symbol") == []


@pytest.mark.parametrize(
    "text",
    ["the `timeout_ms` setting", "the `user_id`, `org_id` columns", "column `user_id`", "metrics (`a_b`, `c_d`)",
     "New metrics:\n- `a_total` by x", "| Field | What |\n|---|---|\n| `user_id` | who |"],
)  # fmt: skip
def test_names_of_settings_columns_and_the_like_are_no_symbols(text):
    assert named(text) == []


def test_a_call_is_a_symbol_whatever_the_noun():
    assert named("the `value()` setting") == [("symbol", "value", 1)]


@pytest.mark.parametrize(
    "code", ["npm test", "pytest -q", "pytest", "git status", "cargo build", ".venv/bin/python -m x", "docker ps"]
)
def test_inline_commands(code):
    assert named(f"then `{code}` now") == [("command", code, 1)]


def test_told_to_run_anything_is_a_command():
    assert named("Run: `bin/tool --go`") == [("command", "bin/tool --go", 1)]
    assert named("The `bin/tool --go` thing") == []


@pytest.mark.parametrize("code", ["git", "npm", "make", "docker"])
def test_the_bare_name_of_a_tool_is_no_command(code):
    assert named(f"we use `{code}` here") == []


def test_shell_fences_are_read_command_by_command():
    text = "```bash\n# note\n$ make a\noutput\n$ cp b \\\n    c\n```\n"
    assert named(text) == [("command", "make a", 3), ("command", "cp b \\\n    c", 5)]


def test_commands_over_several_lines_are_one():
    text = "```sh\npython -c \"\nimport a\n\"\ncat <<'EOF' > x\nls\nEOF\nmake b\nif true; then\nmake c\nfi\n```\n"
    assert [(name.split("\n")[0], line) for _, name, line in named(text)] == [
        ('python -c "', 2), ("cat <<'EOF' > x", 5), ("make b", 8), ("make c", 10),
    ]  # fmt: skip


def test_other_fences_name_nothing():
    text = "```python\nimport src.a  # `b.py`\nread_plan()\n```\n```\nmake a\n```\n    src/a.py\n"
    assert named(text, "symbol", "command", "package") == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pip install httpx==0.27 'pydantic[email]>=2'", ["httpx", "pydantic"]),
        ("python -m pip install -r requirements.txt rich", ["rich"]),
        ("npm install -D @types/node@20 lodash@^4", ["@types/node", "lodash"]),
        ("cd app && npm i ws && npm test", ["ws"]),
        ("go get github.com/a/b@v1.2", ["github.com/a/b"]),
        ("cargo add serde --features derive", ["serde"]),
        ("poetry add ./local git+https://x/y", []),
        ("npm install", []),
        ("npm ci", []),
        ("pip install -e .", []),
        ("uv pip install ${{ github.path }}/x", []),
    ],
)
def test_packages_of_commands(command, found):
    text = f"```sh\n{command}\n```"
    assert [name for _, name, _ in named(text, "package")] == found


@pytest.mark.parametrize(
    ("text", "intent"),
    [("Add the dependency `httpx`.", "create"), ("We use the `httpx` library.", "use"),
     ("Remove the `httpx` package.", "delete"), ("Upgrade the `httpx` library.", "change")],
)  # fmt: skip
def test_packages_of_sentences(text, intent):
    assert [(r.kind, r.name, r.intent) for r in parse_plan(text).references] == [("package", "httpx", intent)]


def test_every_mention_stands_on_its_line_with_its_quotation():
    text = "# T\n\nSee `a.py` and\n  `b.py`, or\n[c](c.py).\n\n| x | y |\n|---|---|\n| `d.py` | e |\n\n> 1. `f.py`\n"
    plan = parse_plan(text)
    assert [(r.name, r.line) for r in plan.references] == [
        ("a.py", 3), ("b.py", 4), ("c.py", 5), ("d.py", 9), ("f.py", 11),
    ]  # fmt: skip
    assert [r.quoted for r in plan.references] == [plan.line(r.line).strip() for r in plan.references]


def test_quotations_are_cut():
    assert len(parse_plan("`a.py` " + "x" * 500).references[0].quoted) == 200


def test_a_name_twice_on_a_line_with_one_intent_is_one_mention():
    assert len(parse_plan("`a.py` and `a.py`").references) == 1


def test_names_in_comments_are_not_read():
    assert named("<!-- `a.py` --> `b.py` `<!--` `c.py`\n<!--\n`d.py`\n-->") == [
        ("file", "b.py", 1),
        ("file", "c.py", 1),
    ]


def test_a_glob_that_begins_with_stars_is_not_a_bold_path():
    plan = parse_plan("# A\n\n1. Edit **/*.py and **src/c.py** now.\n")
    assert [one.name for one in plan.references] == ["src/c.py"]
